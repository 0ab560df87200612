from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.sources.wire.offsets import to_utf8, to_utf16, utf8_offsets, utf16_offsets

TEXT = st.text(st.characters())


@pytest.mark.parametrize(
    ("text", "offset", "units", "bytes_"),
    [
        ("", 0, 0, 0),
        ("abc", 2, 2, 2),
        ("a😀b", 1, 1, 1),
        ("a😀b", 2, 3, 5),
        ("e\u0301x", 2, 2, 3),
        ("👩\u200d👧", 3, 5, 11),
        ("مرحبا", 5, 5, 10),
        ("\ud800x", 1, 1, 3),
        ("abc", -1, 0, 0),
        ("a😀", 99, 3, 5),
    ],
)
def test_known_offsets(text: str, offset: int, units: int, bytes_: int) -> None:
    assert to_utf16(text, offset) == units
    assert to_utf8(text, offset) == bytes_


@given(TEXT)
def test_every_offset_is_that_of_the_text_before_it(text: str) -> None:
    places = list(range(len(text), -1, -1))
    before = [text[:place] for place in places]
    assert utf16_offsets(text, places) == [
        sum(1 + (character > "\uffff") for character in each) for each in before
    ]
    assert utf8_offsets(text, places) == [
        len("".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in each).encode())
        for each in before
    ]


@given(TEXT, st.lists(st.integers(-5, 50)))
def test_many_offsets_are_each_of_them(text: str, places: list[int]) -> None:
    assert utf16_offsets(text, places) == [to_utf16(text, place) for place in places]
    assert utf8_offsets(text, places) == [to_utf8(text, place) for place in places]


def test_every_offset_of_a_long_text_is_found_in_linear_time() -> None:
    text = "é😀" * 200_000
    began = perf_counter()
    units = utf16_offsets(text, range(len(text) + 1))
    assert perf_counter() - began < 20  # an hour, if each were counted from the beginning
    assert units[-1] == 600_000

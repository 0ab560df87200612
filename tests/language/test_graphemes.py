import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from evidentia.language.graphemes import boundary_after, boundary_before

CLUSTERS = (
    *("a", "é", "e\u0301", "\r\n", "👨\u200d👩\u200d👧", "🇸🇦", "🇫🇷", "한", "\u1112\u1161\u11ab"),
    *("क्षि", "क\u093f", "ش\u064e", "ـ", " ", "\n", "👍🏽", "1\ufe0f\u20e3", "\u0600\u0661"),
)


@given(st.lists(st.sampled_from(CLUSTERS), max_size=30), st.integers(0, 200))
def test_boundaries_never_fall_inside_a_character(clusters: list[str], index: int) -> None:
    text = "".join(clusters)
    index = min(index, len(text))
    allowed = [0, *(found.end() for found in regex.finditer(r"\X", text))]
    before, after = boundary_before(text, index), boundary_after(text, index)
    assert before <= index <= after
    assert before in allowed
    assert after in allowed


@given(st.text(max_size=40), st.integers(0, 60))
def test_any_text_has_boundaries(text: str, index: int) -> None:
    index = min(index, len(text))
    assert 0 <= boundary_before(text, index) <= index <= boundary_after(text, index) <= len(text)


@pytest.mark.parametrize("cluster", [c for c in CLUSTERS if len(c) > 1])
def test_a_character_of_several_code_points_is_kept_whole(cluster: str) -> None:
    text = f"x{cluster}y"
    for inside in range(2, 1 + len(cluster)):
        assert boundary_before(text, inside) == 1
        assert boundary_after(text, inside) == 1 + len(cluster)


def test_a_text_that_ends_in_a_character_of_several_code_points_ends_there() -> None:
    text = "x👨\u200d👩"
    assert boundary_after(text, 2) == len(text)
    assert boundary_before(text, len(text)) == len(text)


def test_flags_in_a_row_are_pairs_from_the_first() -> None:
    flags = "🇸🇦" * 200_000
    assert boundary_before(flags, 399_999) == 399_998
    assert boundary_after(f"x{flags}", 200_000) == 200_001
    assert boundary_before("\u0600🇸🇦🇫🇷", 2) == 0


def test_the_search_need_not_go_back_further_than_its_start() -> None:
    flags = "🇸🇦" * 5
    assert boundary_before(flags, 3, start=2) == 2
    assert boundary_after(flags, 3, start=2) == 4

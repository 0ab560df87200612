import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from bundles.making import TEXT
from evidentia.bundles.bounding import cut_to_bytes, kept_places


@given(TEXT, st.integers(0, 200))
def test_a_cut_is_the_longest_beginning_of_whole_characters(text: str, limit: int) -> None:
    cut = cut_to_bytes(text, limit)
    assert text.startswith(cut)
    assert len(cut.encode()) <= limit
    rest = text[len(cut) :]
    if rest:
        cluster = regex.match(r"\X", rest)
        assert cluster is not None
        if "\u094d" not in text:
            assert len((cut + cluster[0]).encode()) > limit


def test_text_that_fits_is_not_touched() -> None:
    assert cut_to_bytes("é", 2) == "é"
    assert cut_to_bytes("é", 1) == ""
    assert cut_to_bytes("ab", 100) == "ab"


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(-2, 2)), max_size=15),
    st.integers(0, 10),
    st.integers(0, 200),
)
def test_what_stays_is_within_the_limits_and_nothing_more_important_went(
    inputs: list[tuple[int, int]], max_items: int, max_total_bytes: int
) -> None:
    sizes, priorities = [size for size, _ in inputs], [priority for _, priority in inputs]
    kept = kept_places(sizes, priorities, max_items=max_items, max_total_bytes=max_total_bytes)
    assert kept == sorted(set(kept))
    assert len(kept) <= max_items
    assert sum(sizes[place] for place in kept) <= max_total_bytes
    rank = {place: (-priorities[place], place) for place in range(len(inputs))}
    gone = [rank[place] for place in range(len(inputs)) if place not in kept]
    assert not gone or all(rank[place] < min(gone) for place in kept)


@pytest.mark.parametrize("limit", range(6))
def test_another_limit_is_kept_too(limit: int) -> None:
    kept = kept_places(
        [1] * 5,
        [0] * 5,
        max_items=9,
        max_total_bytes=99,
        fits=lambda places: len(places) <= limit,
    )
    assert kept == list(range(min(limit, 5)))

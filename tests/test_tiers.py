"""The short form takes an even part of the cases, always the same; the whole form takes all."""

from collections.abc import Iterator

import pytest

import tiers


@pytest.fixture(autouse=True)
def _form_is_put_back() -> Iterator[None]:
    before = tiers.is_whole()
    yield
    tiers.choose(whole=before)


def test_the_short_form_takes_an_even_part_and_always_the_first() -> None:
    tiers.choose(whole=False)
    assert tiers.sample(range(100), 4) == [0, 25, 50, 75]
    assert tiers.sample("abcdefg", 3) == ["a", "c", "e"]
    assert tiers.sample("abc", 1) == ["a"]
    assert tiers.sample("abc", 5) == ["a", "b", "c"]
    assert tiers.count(2_000, short=100) == 100


def test_the_whole_form_takes_all() -> None:
    tiers.choose(whole=True)
    assert tiers.sample(range(100), 4) == list(range(100))
    assert tiers.count(2_000, short=100) == 2_000

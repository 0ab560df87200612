"""The short form takes an even part of the cases, always the same; the whole form takes all."""

from collections.abc import Callable, Iterator

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


def pairs(*, whole: bool) -> tuple[Callable[..., None], list[tuple[str, int]]]:
    tiers.choose(whole=whole)
    asked = []

    @tiers.one_test
    @pytest.mark.parametrize("letter", ["a", "b"])
    @pytest.mark.parametrize(("number", "limit"), [(1, 2), pytest.param(3, 2, id="over")])
    def within(letter: str, number: int, limit: int) -> None:
        asked.append((letter, number))
        assert number <= limit or letter == "a"

    return within, asked


def test_a_table_is_one_test_in_the_short_form_and_names_the_case_that_fails() -> None:
    table, asked = pairs(whole=False)
    with pytest.raises(AssertionError) as failed:
        table()
    assert asked == [("a", 1), ("b", 1), ("a", 3), ("b", 3)]
    assert failed.value.__notes__ == ["in the case {'number': 3, 'limit': 2, 'letter': 'b'}"]


def test_in_the_whole_form_each_case_is_a_test() -> None:
    table, asked = pairs(whole=True)
    table("a", 3, 2)
    assert asked == [("a", 3)]
    assert [mark.name for mark in vars(table)["pytestmark"]] == ["parametrize", "parametrize"]


def test_a_case_with_a_mark_of_its_own_is_no_part_of_a_table() -> None:
    tiers.choose(whole=False)
    case = pytest.param(1, marks=pytest.mark.whole)

    def alone(number: int) -> None: ...

    with pytest.raises(TypeError, match="a case with a mark of its own is a test of its own"):
        tiers.one_test(pytest.mark.parametrize("number", [case])(alone))

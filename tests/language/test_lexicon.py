import re
from calendar import day_name, month_abbr, month_name

import pytest

from evidentia.language import lexicon
from evidentia.language.lexicon import (
    AMOUNTS,
    ARABIC_HIJRI_MONTH_NAMES,
    ARABIC_MONTH_NAMES,
    ARABIC_WITH_FEMININE,
    ARABIC_WITH_MASCULINE,
    BOUNDING,
    CARDINALS,
    DAYS,
    DENIED_FORCES,
    FORCES,
    FREQUENCIES,
    HIJRI_MONTH_NAMES,
    MODALS,
    MONTH_NAMES,
    MONTHS,
    NATIONS,
    NEGATIONS,
    QUERY_WORDS,
    SAME_WORDS,
    SMALL_NUMBERS,
    STOP_WORDS,
    any_of,
)


def test_months_and_days_are_those_of_the_calendar() -> None:
    assert list(MONTH_NAMES) == list(month_name)[1:]
    assert [name.capitalize() for name in DAYS] == list(day_name)
    for number in range(1, 13):
        assert MONTHS[month_name[number].lower()] == MONTHS[month_abbr[number].lower()] == number
    assert MONTHS["sept"] == 9
    assert len(ARABIC_MONTH_NAMES) == len(HIJRI_MONTH_NAMES) == len(ARABIC_HIJRI_MONTH_NAMES) == 12


def test_numbers_stand_at_their_own_places() -> None:
    assert CARDINALS.index("zero") == 0
    assert CARDINALS.index("nineteen") == 19
    assert SMALL_NUMBERS["ninety"] == 90
    assert len(ARABIC_WITH_FEMININE) == len(ARABIC_WITH_MASCULINE) == len(range(3, 11))


def test_words_that_say_how_many_and_how_often_go_from_none_to_all() -> None:
    for table in (AMOUNTS, FREQUENCIES):
        assert min(table.values()) == 0
        assert max(table.values()) == 5
    assert FORCES.keys() >= DENIED_FORCES


def test_what_tells_nothing_in_a_query_tells_nothing_in_a_sentence() -> None:
    assert QUERY_WORDS < STOP_WORDS
    assert MODALS < STOP_WORDS


def test_no_word_stands_for_one_that_another_stands_for() -> None:
    assert SAME_WORDS.keys().isdisjoint(SAME_WORDS.values())


@pytest.mark.parametrize("told", ["no more than", "not later than", "no sooner than"])
def test_a_bound_is_none_of_the_denials(told: str) -> None:
    assert re.fullmatch(BOUNDING, told)
    assert told.split(maxsplit=1)[0] in NEGATIONS


def test_of_names_the_longest_is_found() -> None:
    assert re.findall(any_of(["a", "ab", "a.b"]), "ab a.b a") == ["ab", "a.b", "a"]


def test_a_country_and_its_people_are_one() -> None:
    assert NATIONS["france"] == NATIONS["french"] != NATIONS["german"]


def test_all_words_of_the_tables_are_in_lower_case() -> None:
    for name, table in vars(lexicon).items():
        if isinstance(table, dict | frozenset) and name.isupper():
            assert all(word == word.lower() for word in table), name

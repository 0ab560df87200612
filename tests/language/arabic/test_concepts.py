import pytest

from evidentia.language.arabic.concepts import arabic_keys, english_keys, in_other_language
from evidentia.language.arabic.opposites import OPPOSITES
from evidentia.language.arabic.places import places_of


@pytest.mark.parametrize(
    ("arabic", "english"),
    [
        ("الموظفين", "employees"),
        ("واجازته", "leave"),
        ("يدفع", "pays"),
        ("للمستاجر", "tenant"),
        ("المدارس", "school"),
    ],
)
def test_a_word_and_its_translation_share_a_key(arabic: str, english: str) -> None:
    assert arabic_keys(arabic) & english_keys(english)


def test_words_that_mean_different_things_share_none() -> None:
    assert not arabic_keys("حافله") & english_keys("school")


def test_a_claim_is_looked_for_by_the_words_of_the_other_language() -> None:
    assert "tenant" in in_other_language("يدفع المستأجر الأجرة (5 EUR)").split()
    assert "مستاجر" in in_other_language("The tenant pays the rent").split()


def test_towns_and_countries_are_named_in_both_languages() -> None:
    assert places_of("بالقاهرة") == places_of("Cairo,") == {("town", "Cairo")}
    assert places_of("في مصر 5") == {("country", "Egypt")}


def test_a_name_that_is_another_word_is_not_read() -> None:
    assert not places_of("حلب البقرة")


def test_no_word_is_on_both_sides_of_a_pair() -> None:
    assert all(first.isdisjoint(second) for first, second in OPPOSITES)

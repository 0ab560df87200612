import pytest

from evidentia.language.statements import read_statement
from evidentia.language.words import content_stems, coverage, stem, words


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("employees", "Employee"),
        ("submitted", "submit"),
        ("applications", "requests"),
        ("staff", "employees"),
        ("planned", "plan"),
        ("carries", "carry"),
        ("receives", "get"),
        ("Leave\u2019s", "leave"),
        ("الإجازة", "إجازة"),
    ],
)
def test_forms_of_a_word_have_one_stem(first: str, second: str) -> None:
    assert words(first)[0].stem == words(second)[0].stem


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("paid", "unpaid"),
        ("-5", "5"),
        ("15%", "15"),
        ("15", "16"),
        ("annual", "year"),
        ("need", "n"),
    ],
)
def test_different_words_keep_different_stems(first: str, second: str) -> None:
    assert words(first)[0].stem != words(second)[0].stem


def test_carrying_over_and_forward_is_one_word() -> None:
    assert stem("carryforward") == words("carried over")[0].stem == words("carry-forward")[0].stem
    assert [word.stem for word in words("carried over it")] == ["carryover", "it"]


def test_a_script_without_spaces_has_a_word_for_each_character() -> None:
    assert [word.text for word in words("员工15天")] == ["员", "工", "15", "天"]


def test_words_know_where_they_stand() -> None:
    text = "The  Manager\u2019s 1,500 days don't."
    for word in words(text):
        assert text[word.start : word.end].casefold().replace("\u2019", "'") == word.text


def test_function_words_and_numbers_carry_no_meaning() -> None:
    assert content_stems(words("The 15 days of paid leave")) == {"day", "paid", "leav"}
    assert coverage(frozenset({"a", "b"}), frozenset({"b"})) == 0.5
    assert coverage(frozenset(), frozenset({"b"})) == 0.0


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Leave is not paid", 1),
        ("Leave isn't paid and never was", 2),
        ("Leave may be no more than 5 days", 0),
        ("It shall not exceed 5 days", 0),
        ("Nobody is paid without a form", 2),
        ("Mitarbeiter haben keinen Anspruch", 1),
        ("员工不得携带宠物", 1),
        ("Leave is paid", 0),
    ],
)
def test_what_turns_a_statement_round_is_counted(text: str, count: int) -> None:
    assert read_statement(text).negations == count


def test_a_statement_is_read_once_and_without_its_markup() -> None:
    statement = read_statement("**15** days <!-- x -->of leave")
    assert statement is read_statement("**15** days <!-- x -->of leave")
    assert statement.text == "15 days of leave"
    assert statement.numbers == {"15"}
    assert [quantity.text for quantity in statement.quantities] == ["15 days"]
    assert statement.is_english
    assert not read_statement("Mitarbeiter haben Anspruch").is_english


def test_vowel_signs_do_not_part_an_arabic_word() -> None:
    assert [word.text for word in words("تُوزَّع الأرباحُ")] == ["توزع", "الأرباح"]

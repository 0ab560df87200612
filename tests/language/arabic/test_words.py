import pytest

from evidentia.language.arabic.words import (
    bare_forms,
    folded,
    has_arabic,
    is_arabic,
    roots,
    stems,
    tokens,
)


@pytest.mark.parametrize(
    ("written", "spelt"),
    [
        ("إجازةٌ", "اجازه"),
        ("أُسبوعٌ", "اسبوع"),
        ("مُسْتَشْفَى", "مستشفي"),
        ("الـمـوظـف", "الموظف"),
        ("مئة", "ميه"),
        ("مؤجر", "موجر"),
    ],
)
def test_vowel_signs_and_spellings_make_no_difference(written: str, spelt: str) -> None:
    assert folded(written) == spelt


def test_a_text_is_taken_apart_with_the_places_of_its_words() -> None:
    text = "بدل ٨٠٠ ريال (SAR)، و٥٪"
    found = tokens(text)
    assert [token.text for token in found] == [
        "بدل",
        "800",
        "ريال",
        "(",
        "sar",
        ")",
        "،",
        "و",
        "5",
        "%",
    ]
    assert text[found[2].start : found[2].end] == "ريال"


@pytest.mark.parametrize(
    ("text", "has", "mostly"),
    [
        ("The fee is 5 euros.", False, False),
        ("الرسم 5 EUR", True, True),
        ("The word ريال is Arabic for riyal.", True, False),
        ("15", False, False),
    ],
)
def test_arabic_is_told_by_its_letters(text: str, *, has: bool, mostly: bool) -> None:
    assert has_arabic(text) is has
    assert is_arabic(text) is mostly


@pytest.mark.parametrize(
    ("word", "without"),
    [
        ("والموظف", "موظف"),
        ("للموظف", "موظف"),
        ("بالبطاقه", "بطاقه"),
        ("وبموظف", "موظف"),
        ("لموظف", "موظف"),
    ],
)
def test_particles_and_the_article_are_taken_off(word: str, without: str) -> None:
    assert without in bare_forms(word)


def test_a_short_word_keeps_its_first_letter() -> None:
    assert bare_forms("وقت") == ("وقت",)


def test_endings_and_attached_pronouns_are_taken_off() -> None:
    assert stems("الموظفين") & stems("موظف")
    assert stems("اجازته") & stems("اجازتها")


@pytest.mark.parametrize(
    ("one", "other"),
    [("تخفيض", "ينخفض"), ("انتقال", "ينقل"), ("مدفوع", "يدفع"), ("اقتطاع", "قطع")],
)
def test_forms_of_a_verb_share_a_root(one: str, other: str) -> None:
    assert roots(one) & roots(other)


def test_words_of_different_roots_share_none() -> None:
    assert not roots("يدفع") & roots("تجديد")

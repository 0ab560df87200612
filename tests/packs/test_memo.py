# ruff: noqa: RUF001 - the marks and digits of both scripts are what these tests are about

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import tiers
from evidentia.packs.memo import (
    MAX_BODY_WORDS,
    MAX_SUMMARY_WORDS,
    BilingualMemo,
    first_words,
    inline_references,
    unmet_languages,
    unmet_references,
    word_count,
)

EXAMPLE = {
    "title_ar": "توصية الملاءمة - مستشفى الرياض",
    "title_en": "Fit Recommendation — Riyadh Hospital",
    "body_ar": "...",
    "body_en": "...",
    "executive_summary_ar": "الشركة تطابق ملفنا المستهدف بدرجة 0.84 (Tier A)...",
    "executive_summary_en": "Company matches our ICP at 0.84 (Tier A)...",
}
INVISIBLE = "\u200b\u200c\u200d\u200e\u200f\u061c\u2066\u2067\u2069\u202a\u202c\ufeff\u00ad"


def memo(**changes: str) -> BilingualMemo:
    return BilingualMemo(**{**EXAMPLE, **changes})


def refusal(**changes: str) -> str:
    with pytest.raises(ValidationError) as caught:
        memo(**changes)
    (error,) = caught.value.errors()
    return f"{error['loc'][0]}: {error['msg'].removeprefix('Value error, ')}"


def test_the_specified_example_is_a_memo() -> None:
    assert memo().model_dump() == EXAMPLE


@tiers.one_test
@pytest.mark.parametrize("name", EXAMPLE)
@pytest.mark.parametrize("blank", ["", " \n\t", "\u200b\u2066\u2069"])
def test_a_memo_has_every_text_in_both_languages(name: str, blank: str) -> None:
    assert refusal(**{name: blank}) == f"{name}: must not be blank: a memo has both languages"
    with pytest.raises(ValidationError, match=name):
        BilingualMemo.model_validate({key: EXAMPLE[key] for key in EXAMPLE if key != name})


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("body_ar", MAX_BODY_WORDS),
        ("body_en", MAX_BODY_WORDS),
        ("executive_summary_ar", MAX_SUMMARY_WORDS),
        ("executive_summary_en", MAX_SUMMARY_WORDS),
    ],
)
def test_a_text_past_its_limit_is_refused_with_the_field_the_count_and_the_limit(
    name: str, limit: int
) -> None:
    word = "والقرار " if name.endswith("ar") else "word "
    assert getattr(memo(**{name: word * limit + "— • …"}), name).startswith(word)
    assert refusal(**{name: word * (limit + 1)}) == (
        f"{name}: has {limit + 1} words, and {limit} at most are allowed: shorten it"
    )


def test_a_memo_cannot_be_changed_and_a_copy_is_checked() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        memo().body_en = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError, match="601 words"):
        memo().model_copy(update={"body_en": "word " * 601})


@tiers.one_test
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("...", 0),
        ("— … • – - / *", 0),
        ("0.84", 1),
        ("1,000.50", 1),
        ("84%", 1),
        ("(Tier A)", 2),
        ("[1] and [2, 3]", 4),
        ("Fit Recommendation — Riyadh Hospital", 4),
        ("Fit—Riyadh", 2),
        ("before--after", 2),
        ("wait...what", 2),
        ("wait…what", 2),
        ("well-known state-of-the-art", 2),
        ("2025–2026", 1),
        ("and/or", 1),
        ("hubspot://contacts/456?a=b", 1),
        ("don't won’t", 2),
        ("one,two;three", 3),
        ("one\ntwo\tthree\u00a0four\u3000five", 5),
        ("one\u2800two", 2),
        ("snake_case _ __", 1),
        ("القرار", 1),
        ("والقرار فالقرار بالقرار للقرار", 4),
        ("وبالقرار", 1),
        ("القرار و التوصية", 3),
        ("مُحَمَّدٌ", 1),
        ("مـــصدر", 1),
        ("ــــ", 0),
        ("ـ َ ً", 0),
        ("الأول،الثاني؛الثالث", 3),
        ("كتابٌ،قلمٌ", 2),
        ("الأول، الثاني", 2),
        ("١٥ مصدرًا", 2),
        ("٣٫٥", 1),
        ("«نص القرار»", 2),
        ("\u2066lead_xyz\u2069", 1),
        ("\u2066 \u2069", 0),
        ("zero\u200bwidth می\u200cخواهم", 2),
        ("الشركة تطابق ملفنا المستهدف بدرجة 0.84 (Tier A)...", 8),
    ],
)
def test_words_are_counted_as_a_reader_counts_them(text: str, count: int) -> None:
    assert word_count(text) == count


@given(st.lists(st.sampled_from(["word", "القرار", "0.84", "(Tier", "—", "ــ", "[1]"])), st.data())
def test_marks_that_cannot_be_seen_change_no_count(parts: list[str], data: st.DataObject) -> None:
    text = " ".join(parts)
    at = data.draw(st.integers(0, len(text)))
    mark = data.draw(st.sampled_from(INVISIBLE))
    assert word_count(text[:at] + mark + text[at:]) == word_count(text)


@given(st.text(), st.text())
def test_texts_that_white_space_parts_have_the_words_of_both(one: str, other: str) -> None:
    assert word_count(f"{one}\n{other}") == word_count(one) + word_count(other)


@given(st.text(alphabet=st.sampled_from("ab ,؛—-.ـم1\u200b\n")), st.integers(0, 5))
def test_the_first_words_of_a_text_are_as_many_as_asked_for(text: str, limit: int) -> None:
    assert word_count(first_words(text, limit)) == min(word_count(text), limit)


@tiers.one_test
@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", ()),
        ("none [a] [] (1) 1 [1.5] [-1] [12345]", ()),
        ("[1]", (1,)),
        ("[2] then [1] then [2]", (2, 1)),
        ("[1, 3]", (1, 3)),
        ("[1;3] [ 4 ,5 ]", (1, 3, 4, 5)),
        ("[1-3]", (1, 2, 3)),
        ("[1–3, 7]", (1, 2, 3, 7)),
        ("[3-1]", (1, 2, 3)),
        ("[0] [9999]", (0, 9999)),
        ("[1][2]", (1, 2)),
        ("[١]", (1,)),
        ("«[١، ٢]»", (1, 2)),
        ("[١؛ ٣-٥]", (1, 3, 4, 5)),
        ("[۱۲]", (12,)),
        ("[\u20661\u2069] [\u200f2]", (1, 2)),
    ],
)
def test_references_are_read_in_the_digits_of_both_languages(
    text: str, numbers: tuple[int, ...]
) -> None:
    assert inline_references(text) == numbers


def test_the_top_three_items_are_referred_to_in_both_languages() -> None:
    met = memo(executive_summary_ar="[١، ٢]", body_ar="[٣]", body_en="see [1-3]")
    assert unmet_references(met, 3) == []
    assert unmet_references(met, 30) == []
    assert unmet_references(memo(body_en="[1] [3]", body_ar="[2]"), 5) == [
        "Arabic: evidence item 1 is not referred to: write [1] in executive_summary_ar or body_ar",
        "Arabic: evidence item 3 is not referred to: write [3] in executive_summary_ar or body_ar",
        "English: evidence item 2 is not referred to: write [2] in executive_summary_en or body_en",
    ]


def test_fewer_items_than_three_are_all_referred_to() -> None:
    assert unmet_references(memo(body_en="[1]", body_ar="[1]"), 1) == []
    assert len(unmet_references(memo(), 2)) == 4
    assert unmet_references(memo(), 0) == []


def test_a_reference_beyond_the_evidence_is_named() -> None:
    assert unmet_references(memo(body_en="[1] [0]", body_ar="[١-٢]"), 1) == [
        "Arabic: [2] refers to no evidence item: there are 1",
        "English: [0] refers to no evidence item: there are 1",
    ]


def test_a_text_without_a_letter_of_its_language_is_named() -> None:
    assert unmet_languages(memo(body_ar="English again", body_en="نص")) == [
        "body_ar: there is no Arabic in it",
        "body_en: there is no English in it",
    ]
    assert unmet_languages(memo(body_ar="نص", body_en="text")) == []


def test_a_text_without_any_letter_is_of_no_other_language() -> None:
    assert unmet_languages(memo(body_ar="...", body_en="… 12")) == []


PIECES = ["a", "ب", "7", " ", "\n", "\u200b", "\u2067", "-", "—", ",", "،", ";", ".", "…", "ـ", "_"]


@given(st.lists(st.sampled_from(PIECES), min_size=90, max_size=320).map("".join))
def test_a_summary_is_taken_if_and_only_if_its_words_are_within_the_limit(text: str) -> None:
    text = f"x {text}"
    try:
        memo(executive_summary_en=text)
    except ValidationError:
        assert word_count(text) > MAX_SUMMARY_WORDS
    else:
        assert word_count(text) <= MAX_SUMMARY_WORDS

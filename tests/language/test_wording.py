# ruff: noqa: RUF001 - the words and marks of both scripts are what these tests are about

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiers
from evidentia.errors import InputError
from evidentia.language.digits import TO_WESTERN
from evidentia.language.wording import (
    DAY,
    HOUR,
    YEAR,
    Case,
    CountedNoun,
    byte_count,
    counted,
    counted_ar,
    counted_en,
    date_ar,
    date_en,
    digits,
    duration,
    list_ar,
    list_en,
    number,
    percent,
    quotable,
    western_number,
    western_percent,
)
from evidentia.packs.nouns import (
    CALL,
    CLAIM,
    CONTRADICTION,
    EFFECT,
    REVIEWER,
    SOURCE,
    TOOL,
    TOOL_CALL,
    VERSION,
)

MILLION = 1_000_000
SOURCES = {
    0: "لا توجد مصادر",
    1: "مصدر واحد",
    2: "مصدران",
    3: "ثلاثة مصادر",
    4: "أربعة مصادر",
    5: "خمسة مصادر",
    6: "ستة مصادر",
    7: "سبعة مصادر",
    8: "ثمانية مصادر",
    9: "تسعة مصادر",
    10: "عشرة مصادر",
    11: "11 مصدرًا",
    12: "12 مصدرًا",
    15: "15 مصدرًا",
    19: "19 مصدرًا",
    20: "20 مصدرًا",
    21: "21 مصدرًا",
    99: "99 مصدرًا",
    100: "100 مصدر",
    101: "101 مصدر",
    102: "102 مصدر",
    103: "103 مصادر",
    110: "110 مصادر",
    111: "111 مصدرًا",
    199: "199 مصدرًا",
    200: "200 مصدر",
    1_000: "1,000 مصدر",
    1_001: "1,001 مصدر",
    1_003: "1,003 مصادر",
    1_011: "1,011 مصدرًا",
    MILLION: "1,000,000 مصدر",
}
TOOLS = {
    0: "لا توجد أدوات",
    1: "أداة واحدة",
    2: "أداتان",
    3: "ثلاث أدوات",
    4: "أربع أدوات",
    5: "خمس أدوات",
    6: "ست أدوات",
    7: "سبع أدوات",
    8: "ثماني أدوات",
    9: "تسع أدوات",
    10: "عشر أدوات",
    11: "11 أداةً",
    100: "100 أداة",
    103: "103 أدوات",
}


@tiers.one_test
@pytest.mark.parametrize(("count", "written"), SOURCES.items())
def test_a_masculine_noun_follows_its_number(count: int, written: str) -> None:
    assert counted_ar(count, SOURCE) == written


@tiers.one_test
@pytest.mark.parametrize(("count", "written"), TOOLS.items())
def test_a_feminine_noun_turns_the_gender_of_its_number(count: int, written: str) -> None:
    assert counted_ar(count, TOOL) == written


@pytest.mark.parametrize(
    ("noun", "forms"),
    [
        (SOURCE, "مصدر واحد|مصدران|ثلاثة مصادر|11 مصدرًا|100 مصدر"),
        (TOOL, "أداة واحدة|أداتان|ثلاث أدوات|11 أداةً|100 أداة"),
        (CALL, "استدعاء واحد|استدعاءان|ثلاثة استدعاءات|11 استدعاءً|100 استدعاء"),
        (CONTRADICTION, "تعارض واحد|تعارضان|ثلاثة تعارضات|11 تعارضًا|100 تعارض"),
        (CLAIM, "ادعاء واحد|ادعاءان|ثلاثة ادعاءات|11 ادعاءً|100 ادعاء"),
        (EFFECT, "أثر واحد|أثران|ثلاثة آثار|11 أثرًا|100 أثر"),
        (HOUR, "ساعة واحدة|ساعتان|ثلاث ساعات|11 ساعةً|100 ساعة"),
        (DAY, "يوم واحد|يومان|ثلاثة أيام|11 يومًا|100 يوم"),
        (YEAR, "سنة واحدة|سنتان|ثلاث سنوات|11 سنةً|100 سنة"),
        (VERSION, "نسخة واحدة|نسختان|ثلاث نسخ|11 نسخةً|100 نسخة"),
        (REVIEWER, "مراجع واحد|مراجعان|ثلاثة مراجعين|11 مراجعًا|100 مراجع"),
    ],
)
def test_every_noun_has_its_forms(noun: CountedNoun, forms: str) -> None:
    assert [counted_ar(count, noun) for count in (1, 2, 3, 11, 100)] == forms.split("|")


@pytest.mark.parametrize(
    ("count", "noun", "case", "written"),
    [
        (1, SOURCE, "genitive", "مصدر واحد"),
        (1, SOURCE, "accusative", "مصدرًا واحدًا"),
        (1, TOOL, "accusative", "أداةً واحدةً"),
        (1, TOOL_CALL, "accusative", "استدعاءً واحدًا للأدوات"),
        (2, SOURCE, "genitive", "مصدرين"),
        (2, SOURCE, "accusative", "مصدرين"),
        (2, HOUR, "genitive", "ساعتين"),
        (2, CLAIM, "accusative", "ادعاءين"),
        (8, HOUR, "accusative", "ثماني ساعات"),
        (15, SOURCE, "genitive", "15 مصدرًا"),
        (103, SOURCE, "accusative", "103 مصادر"),
    ],
)
def test_one_and_two_follow_the_case(
    count: int, noun: CountedNoun, case: Case, written: str
) -> None:
    assert counted_ar(count, noun, case) == written


def test_of_people_there_are_none_in_the_plural_of_people() -> None:
    assert counted_ar(0, REVIEWER) == "لا يوجد مراجعون"


@pytest.mark.parametrize(
    ("count", "written"),
    [
        (0, "لا توجد استدعاءات للأدوات"),
        (1, "استدعاء واحد للأدوات"),
        (2, "استدعاءان للأدوات"),
        (3, "ثلاثة استدعاءات للأدوات"),
        (11, "11 استدعاءً للأدوات"),
        (100, "100 استدعاء للأدوات"),
    ],
)
def test_a_complement_comes_after_noun_and_number(count: int, written: str) -> None:
    assert counted_ar(count, TOOL_CALL) == written


@given(st.integers(11, MILLION))
def test_beside_digits_the_last_two_decide(count: int) -> None:
    digits, noun = counted_ar(count, SOURCE).split(" ")
    assert int(digits.replace(",", "")) == count
    if count % 100 <= 2:
        assert noun == "مصدر"
    elif count % 100 <= 10:
        assert noun == "مصادر"
    else:
        assert noun == "مصدرًا"


@pytest.mark.parametrize(
    ("count", "written"),
    [
        (0, "no tool calls"),
        (1, "one tool call"),
        (2, "two tool calls"),
        (10, "ten tool calls"),
        (11, "11 tool calls"),
        (1_001, "1,001 tool calls"),
    ],
)
def test_english_writes_numbers_up_to_ten_in_words(count: int, written: str) -> None:
    assert counted_en(count, TOOL_CALL) == written


def test_less_than_nothing_cannot_be_counted() -> None:
    for told in (counted_en, counted_ar):
        with pytest.raises(InputError, match="-1 is not a count"):
            told(-1, SOURCE)


@pytest.mark.parametrize(
    ("value", "written"),
    [(0, "0"), (100, "100"), (12_345, "12,345"), (0.84, "0.84"), (0.5, "0.5"), (1e3, "1,000"),
     (2.005, "2"), (1234.567, "1,234.57")],
)  # fmt: skip
def test_numbers_have_two_decimals_at_most(value: float, written: str) -> None:
    assert western_number(value) == written


@pytest.mark.parametrize(
    ("share", "written"),
    [(0, "0%"), (1, "100%"), (0.84, "84%"), (0.29, "29%"), (0.699, "69.9%"), (0.6999, "69.9%"),
     (0.99999, "99.9%"), (0.0001, "0%"), (1e-300, "0%")],
)  # fmt: skip
def test_a_share_is_never_more_than_it_is(share: float, written: str) -> None:
    assert western_percent(share) == written


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), float("inf")])
def test_what_is_no_share_is_refused(share: float) -> None:
    with pytest.raises(InputError, match="must be from 0 to 1"):
        western_percent(share)


def test_arabic_texts_hold_to_western_digits() -> None:
    written = counted_ar(1_234, SOURCE) + date_ar("2026-11-15") + western_percent(0.5)
    assert not any("٠" <= each <= "٩" for each in written)


@pytest.mark.parametrize(
    ("timestamp", "english", "arabic"),
    [
        ("2026-11-15T09:30:00Z", "15 November 2026", "15 نوفمبر 2026م"),
        ("2026-11-15T23:59:59.999999+03:00", "15 November 2026", "15 نوفمبر 2026م"),
        ("2026-01-01", "1 January 2026", "1 يناير 2026م"),
        ("2024-02-29T00:00:00", "29 February 2024", "29 فبراير 2024م"),
        ("2026-06-30T00:00:00Z", "30 June 2026", "30 يونيو 2026م"),
        ("2026-12-31T00:00:00Z", "31 December 2026", "31 ديسمبر 2026م"),
    ],
)
def test_a_date_is_written_in_words(timestamp: str, english: str, arabic: str) -> None:
    assert (date_en(timestamp), date_ar(timestamp)) == (english, arabic)


@pytest.mark.parametrize("wrong", ["", "yesterday", "2026-13-01", "2026-02-30T00:00:00Z"])
def test_what_is_no_time_is_refused(wrong: str) -> None:
    with pytest.raises(InputError, match="is not a time as ISO 8601 writes it"):
        date_ar(wrong)


@pytest.mark.parametrize(
    ("items", "english", "arabic"),
    [
        ([], "", ""),
        (["أ"], "أ", "أ"),
        (["أ", "ب"], "أ and ب", "أ وب"),
        (["أ", "ب", "ج"], "أ, ب and ج", "أ وب وج"),
    ],
)
def test_a_list_reads_as_a_sentence(items: list[str], english: str, arabic: str) -> None:
    assert (list_en(items), list_ar(items)) == (english, arabic)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("a\r\n b\t\u2028c", "a b c"),
        ("pay\u202e 10\u200b0\x00", "pay 100"),
        ("[7] “x” «y» „z“", "(7) 'x' 'y' 'z'"),
        (" \n ", ""),
    ],
)
def test_a_text_from_outside_is_made_fit_to_be_quoted(text: str, quoted: str) -> None:
    assert quotable(text) == quoted


@given(st.integers(0, 10**12) | st.floats(0, 1e12))
def test_both_languages_write_the_same_number(value: float) -> None:
    assert number(value, "ar").translate(TO_WESTERN) == number(value, "en")


def test_numbers_have_marks() -> None:
    assert number(1200.5, "en") == "1,200.5"
    assert number(1200.5, "ar") == "١٬٢٠٠٫٥" == digits("1,200.5", "ar")
    assert percent(0.125, "en") == "12.5%"
    assert percent(0.125, "ar") == "١٢٫٥٪"


@pytest.mark.parametrize(
    ("count", "english", "arabic"),
    [
        (0, "0 sources", "٠ مصادر"),
        (1, "1 source", "مصدر واحد"),
        (2, "2 sources", "مصدران"),
        (3, "3 sources", "٣ مصادر"),
        (10, "10 sources", "١٠ مصادر"),
        (11, "11 sources", "١١ مصدرًا"),
        (1_100, "1,100 sources", "١٬١٠٠ مصدر"),
    ],
)
def test_counts_agree_with_their_noun(count: int, english: str, arabic: str) -> None:
    assert counted(count, SOURCE, "en") == english
    assert counted(count, SOURCE, "ar") == arabic
    assert counted(3, HOUR, "ar") == "٣ ساعات"


@tiers.one_test
@pytest.mark.parametrize(
    ("seconds", "english", "arabic"),
    [
        (0, "0 seconds", "٠ ثوانٍ"),
        (0.34, "340 ms", "٣٤٠ مللي ثانية"),
        (0.9996, "1 second", "ثانية واحدة"),
        (2.54, "2.5 seconds", "٢٫٥ ثانية"),
        (5, "5 seconds", "٥ ثوانٍ"),
        (59.96, "1 minute", "دقيقة واحدة"),
        (61, "1 minute 1 second", "دقيقة واحدة وثانية واحدة"),
        (90.4, "1 minute 30 seconds", "دقيقة واحدة و٣٠ ثانيةً"),
        (3_600, "1 hour", "ساعة واحدة"),
        (7_500, "2 hours 5 minutes", "ساعتان و٥ دقائق"),
        (86_400 * 3 + 59, "3 days", "٣ أيام"),
        (86_400 * 11 + 3_600, "11 days 1 hour", "١١ يومًا وساعة واحدة"),
    ],
)
def test_durations_have_their_two_largest_units(seconds: float, english: str, arabic: str) -> None:
    assert duration(seconds, "en") == english
    assert duration(seconds, "ar") == arabic


@pytest.mark.parametrize("seconds", [-1, math.nan, math.inf])
def test_what_is_no_length_of_time_is_refused(seconds: float) -> None:
    with pytest.raises(InputError, match="is not a length of time"):
        duration(seconds, "ar")


@pytest.mark.parametrize(
    ("size", "english", "arabic"),
    [
        (1, "1 byte", "بايت واحد"),
        (512, "512 bytes", "٥١٢ بايتًا"),
        (1_000, "1 kB", "١ كيلوبايت"),
        (12_400, "12.4 kB", "١٢٫٤ كيلوبايت"),
        (999_949, "999.9 kB", "٩٩٩٫٩ كيلوبايت"),
        (999_950, "1 MB", "١ ميغابايت"),
        (2_500_000_000, "2.5 GB", "٢٫٥ غيغابايت"),
        (10**16, "10,000 TB", "١٠٬٠٠٠ تيرابايت"),
    ],
)
def test_sizes_are_told_in_units_of_a_thousand(size: int, english: str, arabic: str) -> None:
    assert byte_count(size, "en") == english
    assert byte_count(size, "ar") == arabic

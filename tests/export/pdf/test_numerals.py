# ruff: noqa: RUF001 - the digits of Arabic are what these tests are about

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.errors import InputError
from evidentia.export.pdf.numerals import (
    byte_count,
    counted,
    digits,
    duration,
    in_prose,
    number,
    percent,
)
from evidentia.packs.wording import HOUR, SOURCE

TEXTS = st.lists(
    st.sampled_from([*"0129٠٥٫٬٪%.,:-–/ aب§+()", "رقم ", "الإصدار ", "12.5", "1,200"]) | st.text()
).map("".join)
TO_WESTERN = str.maketrans("٠١٢٣٤٥٦٧٨٩٫٬٪؉", "0123456789.,%‰")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("بنسبة 12.5%", "بنسبة ١٢٫٥٪"),
        ("مبلغ 1,200 ريال", "مبلغ ١٬٢٠٠ ريال"),
        ("مبلغ 1,250,000.75 ريال", "مبلغ ١٬٢٥٠٬٠٠٠٫٧٥ ريال"),
        ("في عام 2026", "في عام ٢٠٢٦"),
        ("15 نوفمبر 2026م", "١٥ نوفمبر ٢٠٢٦م"),
        ("الساعة 09:30", "الساعة ٠٩:٣٠"),
        ("المادة 5 (ص. 14) [1]", "المادة ٥ (ص. ١٤) [١]"),
        ("نسبة 1.84، ثم 24 شهرًا.", "نسبة ١٫٨٤، ثم ٢٤ شهرًا."),
        ("تراجع -5% و0.5", "تراجع -٥٪ و٠٫٥"),
        ("بين 10–15% و3–4", "بين ١٠–١٥٪ و٣–٤"),
        ("و12 سببًا", "و١٢ سببًا"),
        ("12", "١٢"),
    ],
)
def test_quantities_of_arabic_sentences_have_arabic_digits(written: str, expected: str) -> None:
    assert in_prose(written, "ar") == expected
    assert in_prose(written, "en") == written


@pytest.mark.parametrize(
    "written",
    [
        "السجل 1010-445-221",
        "بتاريخ 2026-11-01",
        "بتاريخ 31/3/2027",
        "الفاتورة INV-2026/0042",
        "البريد a1@b2.example",
        "المصدر https://x.example/2026/1?a=2",
        f"البصمة {'0f' * 32}",
        "الحزمة pack_0123456789abcdef",
        "وفق ISO 27001 وبحجم 15 MB",
        "المصدر S2 والإصدار v4.2",
        "الإصدار 4.2 وللإصدار: 4.3",
        "والقسم 3.2 والبند 7.1",
        "§3.2 و4.2.1",
        "الهاتف +966 50 123 4567 أو 0501234567",
        "سجل رقم 1010 ورقمه: 42",
        "القيد 1010445221",
        "العميل 007",
        "خلال 5-10 أيام",
        "القيمة 1.200,50 والقيمة 1,20",
        "بمبلغ USD 12.5 و$1,200",
        "في ٢٠٢٦ و١٢٫٥٪",
    ],
)
def test_names_stay_as_they_are_written(written: str) -> None:
    assert in_prose(written, "ar") == written


def test_english_has_western_digits_except_among_arabic_words() -> None:
    written = "In ٢٠٢٦ it was ١٢٫٥٪, as المادة ٥ says"
    assert in_prose(written, "en") == "In 2026 it was 12.5%, as المادة ٥ says"


@given(TEXTS)
def test_only_digits_and_their_marks_ever_change(text: str) -> None:
    for lang in ("ar", "en"):
        shown = in_prose(text, lang)
        assert shown.translate(TO_WESTERN) == text.translate(TO_WESTERN)
        assert in_prose(shown, lang) == shown


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

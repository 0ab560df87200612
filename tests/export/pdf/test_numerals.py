# ruff: noqa: RUF001 - the digits of Arabic are what these tests are about

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.export.pdf.numerals import in_prose
from evidentia.language.digits import TO_WESTERN

TEXTS = st.lists(
    st.sampled_from([*"0129٠٥٫٬٪%.,:-–/ aب§+()", "رقم ", "الإصدار ", "12.5", "1,200"]) | st.text()
).map("".join)


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

"""Texts as templates take them."""

# ruff: noqa: RUF001 - digits and letters of Arabic, as they are printed

import pytest

from evidentia.export.pdf.fields import code, count, day, english, field, plain, prose, short, time


def bare(text: str) -> str:
    return text.translate(dict.fromkeys((0x200B, 0x2066, 0x2067, 0x2069)))


@pytest.mark.parametrize(
    ("text", "direction"),
    [("Current ratio 1.84.", "ltr"), ("نسبة التداول 1.84.", "rtl"), ("", "ltr"), ("12 / 9", "ltr")],
)
def test_a_text_runs_as_its_first_letter_says_and_keeps_its_digits(
    text: str, direction: str
) -> None:
    shown = field(text)
    assert (bare(shown["t"]), shown["d"]) == (text, direction)


def test_what_was_written_in_arabic_runs_so_from_its_first_word_on() -> None:
    shown = prose("«Gulf Cables»: درجة الثقة 98%.", "ar")
    assert shown["d"] == "rtl"
    assert bare(shown["t"]) == "«Gulf Cables»: درجة الثقة ٩٨٪."
    assert prose("«كابلات» is the company.", "en")["d"] == "ltr"


def test_what_has_no_letter_of_its_language_runs_as_it_is() -> None:
    assert prose("Raise the limit.", "ar")["d"] == "ltr"
    assert prose("رفع الحد.", "en")["d"] == "rtl"
    assert prose("رفع الحد الائتماني لشركة Gulf.", "en")["d"] == "rtl"
    assert prose("Raise the limit of the company خليج.", "ar")["d"] == "ltr"
    assert prose("", "ar") == {"t": "", "d": "rtl"}


def test_what_the_program_says_is_english_whatever_it_quotes() -> None:
    told = english('السجل 12 was meant, "سدد الفاتورة 7" was done')
    assert told["d"] == "ltr"
    assert "\u2067سدد الفاتورة 7\u2069" in told["t"]


def test_a_long_word_can_be_broken_wherever_it_stands() -> None:
    for made in (code("a" * 64), field("a" * 64), prose("a" * 64, "en")):
        assert max(map(len, made["t"].split("\u200b"))) == 8
        assert bare(made["t"]) == "a" * 64


def test_a_number_in_an_arabic_name_is_not_turned_around() -> None:
    assert code("ملف 1010-445-221 نهائي")["t"].count("\u20661010-445-221\u2069") == 1


def test_numbers_and_days_are_written_in_both_languages() -> None:
    assert count(1234) == {"ar": "١٬٢٣٤", "en": "1,234"}
    assert day("2026-11-15T08:30:00Z") == {
        "ar": "١٥ نوفمبر ٢٠٢٦م \u2013 ٥ جمادى الآخرة ١٤٤٨هـ",
        "en": "15 November 2026 \u2013 5 Jumada al-Akhirah 1448 AH",
    }


def test_what_is_no_time_is_printed_as_it_is_but_not_all_of_it() -> None:
    assert day("soon\u202e #x")["en"] == "soon #x"
    assert len(time("x" * 100_000)["en"]) == 40


def test_a_title_is_cut_where_there_is_little_room() -> None:
    assert short("A title") == {"t": "A title", "d": "ltr"}
    assert bare(short("word " * 40)["t"]).endswith("word…")
    assert bare(short("بند 12 من العقد", "ar")["t"]) == "بند ١٢ من العقد"
    assert len(plain("x" * 100_000)) == 400

# ruff: noqa: RUF001 - letters and marks of other scripts are what is tested

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiers
from evidentia.language.direction import (
    detect_direction,
    detect_language,
    isolated,
    runs_leftwards,
)

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@tiers.one_test
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "All permanent employees shall receive 15 days of leave, and it is to be approved."),
        (
            "fr",
            "Les salariés ont droit à des congés et la demande est faite par écrit dans un mois.",
        ),
        (
            "de",
            "Die Mitarbeiter haben Anspruch auf Urlaub, und der Antrag ist bei der Leitung.",
        ),
        ("es", "Los empleados tienen derecho a vacaciones y la solicitud se presenta en un plazo."),
        (
            "it",
            "I dipendenti hanno diritto alle ferie e la domanda si presenta per iscritto.",
        ),
        ("pt", "O funcionário tem direito a férias e não pode vender os dias que são da empresa."),
        ("nl", "De werknemers hebben recht op verlof en het verzoek is door de leiding te keuren."),
        (
            "tr",
            "Çalışanlar yıllık izin için bir dilekçe ile başvurur ve bu izin ücretli olarak.",
        ),
        (
            "id",
            "Karyawan yang bekerja di perusahaan ini dan tidak sakit dapat cuti dengan izin.",
        ),
        ("ar", "يحق لكل موظف الحصول على إجازة من الشركة في كل سنة"),
        ("ar", "يَحِقُّ لِكُلِّ مُوَظَّفٍ الحُصُولُ عَلَى إِجَازَةٍ مِن الشَّرِكَةِ فِي كُلِّ سَنَةٍ"),
        ("fa", "هر کارمند باید از این قانون پیروی کند و برای آن به شرکت درخواست را با امضا بدهد"),
        ("ur", "ہر ملازم کو سال میں ایک بار چھٹی کا حق ہے اور اس کے لیے درخواست دینی ہو گی"),
        ("ru", "Сотрудники имеют право на отпуск, и это не зависит от того, как они работают."),
        ("uk", "Працівники мають право на відпустку, і це не залежить від того, як вони працюють."),
        ("ja", "社員は年次有給休暇を取得することができる。"),
        ("zh", "员工有权享受年假。每年十五天的带薪假期。"),
        ("ko", "직원은 매년 유급 휴가를 받을 권리가 있습니다."),
        ("he", "העובדים זכאים לחופשה שנתית בתשלום."),
        ("el", "Οι εργαζόμενοι δικαιούνται ετήσια άδεια."),
        ("th", "พนักงานมีสิทธิลาพักร้อนประจำปี"),
        ("hi", "कर्मचारियों को वार्षिक अवकाश का अधिकार है।"),
    ],
)
def test_languages_are_told_by_their_script_and_small_words(language: str, text: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "A woman wearing a shirt is on a crowded street.",
        "He can play either as a right forward or as a central midfielder.",
        "I need to work hard to accomplish my goals.",
        "A & E is a cable and satellite television network .",
        "She never did, but her friends do so when they can.",
    ],
)
def test_short_english_is_not_taken_for_another_language(text: str) -> None:
    assert detect_language(text) in ("en", None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "15 / 20 = 75 %",
        "of the",
        "Acme Corp Ltd Revenue EBITDA Margin Q3 Q4 FY24 Total Net Gross Tax",
        "abcdefghij абвгдежзий",
        "ᐃᓄᒃᑎᑐᑦ ᐃᓄᒃᑎᑐᑦ ᐃᓄᒃᑎᑐᑦ",
    ],
)
def test_a_text_that_does_not_show_its_language_has_none(text: str) -> None:
    assert detect_language(text) is None


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("", "ltr"),
        ("12345 !?", "ltr"),
        ("Annual leave", "ltr"),
        ("Congés", "ltr"),
        ("السياسة Policy الإجازات", "rtl"),
        ("The word إجازة means leave", "ltr"),
        ("חופשה", "rtl"),
        ("١٢٣ —", "ltr"),
        ("\u202eevil", "ltr"),
    ],
)
def test_direction_is_that_of_most_letters(text: str, direction: str) -> None:
    assert detect_direction(text) == direction


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("lead_xyz789", "\u2066lead_xyz789\u2069"),
        ("12 (3)", "\u206612 (3)\u2069"),
        ("", "\u2066\u2069"),
        ("Tier أ", "\u2066Tier أ\u2069"),
        ("تقرير 2026.pdf", "\u2067تقرير 2026.pdf\u2069"),
        ("1. דוח", "\u20671. דוח\u2069"),
        ("a\u2069\u202eb", "\u2066ab\u2069"),
    ],
)
def test_a_name_keeps_its_direction_to_itself(text: str, marked: str) -> None:
    assert isolated(text) == marked


@given(st.text())
def test_nothing_within_ends_an_isolation(text: str) -> None:
    marked = isolated(text)
    assert marked[0] in "\u2066\u2067"
    assert marked[-1] == "\u2069"
    assert not set(marked[1:-1]) & set(BIDI)


def test_it_is_known_which_scripts_run_leftwards() -> None:
    assert runs_leftwards("Bank الراجحي")
    assert runs_leftwards("דוח")
    assert not runs_leftwards("Café 2026 …")

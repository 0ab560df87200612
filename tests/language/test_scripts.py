# ruff: noqa: RUF001 - Arabic, its digits and its punctuation are what these tests are about

import json
import unicodedata
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pypdfium2  # type: ignore[import-untyped]
import pytest
import regex
import typst
from hypothesis import given
from hypothesis import strategies as st
from pypdfium2 import raw as pdfium

import tiers
from evidentia.export import pdf
from evidentia.export.pdf.breaking import BREAK, breakable
from evidentia.export.pdf.printing import FAMILIES, printable
from evidentia.language.direction import END, LEFT_TO_RIGHT, RIGHT_TO_LEFT, Direction
from evidentia.language.scripts import direction, enclosed, with_isolates

FONTS = Path(pdf.__file__).parent / "fonts"
ADDED = str.maketrans("", "", LEFT_TO_RIGHT + RIGHT_TO_LEFT + END + BREAK)
SEEN = str.maketrans({LEFT_TO_RIGHT: "⟨", RIGHT_TO_LEFT: "⟪", END: "⟩"})
SHA_256 = "0123456789abcdef" * 4
IDENTIFIERS = (
    "1010-445-221",
    "2026-11-01",
    "2026-11-01 14:30 UTC",
    "2026-11-01T14:30:00Z",
    "31/3/2027",
    "INV-2026/0042",
    "BP-07/2024",
    "a@b.example",
    "https://x.example/a-1/(b)?c=2&d=3#e",
    "s3://bucket/2026/report-1.pdf",
    "urn:simah:report:2026:99812",
    "HR_Policy_2024.pdf",
    "/etc/passwd",
    SHA_256,
    f"sha256:{SHA_256}",
    "pack_0123456789abcdef",
    "12.5%",
    "-5",
    "$1,200.50",
    "§3.2",
    "#12",
    "v4.2.1",
    "4.2",
    "1,200",
    "09:30",
    "+966 50 123 4567",
    "ISO 27001",
    "15 MB",
    "C++",
    "10.0.0.1/8",
    "٢٠٢٦-١١-٠١",
)
SENTENCES = (
    "{}",
    "رقم {}",
    "{} تم",
    "سُجّل برقم {} وتم.",
    "الفاتورة ({}) مدفوعة؛ وانظر {}، و«{}».",
    "قيمة ١٢٫٥٪ و{} و٢٠٢٦/١١/٠١ {}",
    "(رقم {}",
    "شركة Gulf Cables (ش.م.م) {} [نص]",
    "The contract ({}) with شركة الخليج، رقم {} تم, is {}.",
)
PIECES = st.sampled_from(
    [*IDENTIFIERS, *"()[]{}«»“”\"'.,;:!?-–/%،؛؟٪٥ \n", "شركة", "Gulf", "Co.", "و", "٢٠٢٦-١١-٠١"]
)
TEXTS = (st.lists(PIECES | st.text(max_size=3)).map("".join)).map(
    lambda text: printable(text, lines=True)
)


def shown(texts: Sequence[str], base: Direction, folder: Path) -> list[str]:
    """Typeset each text on a page of its own; return its characters from left to right."""
    source = folder / "page.typ"
    source.write_text(
        '#set document(title: "Texts")\n#let data = json(bytes(sys.inputs.data))\n'
        "#set page(width: 900mm, height: 20mm, margin: 4mm)\n"
        "#set text(font: data.families, fallback: false, lang: data.lang)\n"
        '#set text(dir: if data.base == "rtl" { rtl } else { ltr })\n'
        "#data.texts.map(text).join(pagebreak())\n",
        "utf-8",
    )
    fonts = typst.Fonts(
        include_system_fonts=False, include_embedded_fonts=False, font_paths=[str(FONTS)]
    )
    lang = {"rtl": "ar", "ltr": "en"}[base]
    data = json.dumps({"families": FAMILIES, "texts": texts, "base": base, "lang": lang})
    compiler = typst.Compiler(str(source), font_paths=fonts, sys_inputs={"data": data})
    pdf = compiler.compile(format="pdf", pdf_standards=["a-3a", "ua-1"])
    with pypdfium2.PdfDocument(pdf) as document:
        assert len(document) == len(texts)
        return [_from_left(page.get_textpage()) for page in document]


def _from_left(page: pypdfium2.PdfTextPage) -> str:
    places = (
        (page.get_charbox(at, loose=True)[0], chr(pdfium.FPDFText_GetUnicode(page, at)))
        for at in range(page.count_chars())
    )
    seen = "".join(character for _, character in sorted(places))
    return regex.sub(r"[\r\n\u200b\u2066-\u2069]", "", seen)  # PDFium adds line ends of its own


@pytest.mark.parametrize("base", ["rtl", "ltr"])
def test_identifiers_are_shown_in_their_order_whatever_is_around_them(
    base: Direction, tmp_path: Path
) -> None:
    pairs = list(product(IDENTIFIERS, SENTENCES))
    texts = [breakable(with_isolates(text.format(*[name] * 3), base)) for name, text in pairs]
    for (name, text), seen in zip(pairs, shown(texts, base, tmp_path), strict=True):
        assert seen.count(name) == text.count("{}"), (name, text, seen)


@pytest.mark.parametrize("base", ["rtl", "ltr"])
def test_the_words_of_an_address_are_shown_in_its_order(base: Direction, tmp_path: Path) -> None:
    address = "https://x.example/دد/سس/1?q=كك&r=2"
    (seen,) = shown([with_isolates(f"رقم {address} تم", base)], base, tmp_path)
    assert address in seen


def test_without_isolates_they_would_be_reversed(tmp_path: Path) -> None:
    texts = ["رقم 1010-445-221 تم", with_isolates("رقم 1010-445-221 تم", "rtl")]
    bare, kept = shown(texts, "rtl", tmp_path)
    assert "221-445-1010" in bare
    assert "1010-445-221" in kept


@tiers.one_test
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("رقم 1010-445-221؛ ثم.", "رقم ⟨1010-445-221⟩؛ ثم."),
        ("البريد: cfo@nakhla.example.", "البريد: ⟨cfo@nakhla.example⟩."),
        ("شركة Gulf Cables Co. (سجل 10-4)", "شركة ⟨Gulf Cables Co.⟩ (سجل ⟨10-4⟩)"),
        ("شركة Gulf Cables Co.", "شركة ⟨Gulf Cables Co.⟩"),
        ("راجع p.", "راجع ⟨p⟩."),
        ("الملف source_name_ هنا", "الملف ⟨source_name_⟩ هنا"),
        ("شركة Gulf (CR 10-4) و", "شركة ⟨Gulf (CR 10-4)⟩ و"),
        ("شركة Gulf (CR, 2026) و", "شركة ⟨Gulf (CR, 2026)⟩ و"),
        ("شركة Gulf (CR]) و", "شركة ⟨Gulf (CR])⟩ و"),
        ("شركة Gulf (CR] A) و", "شركة ⟨Gulf (CR] A)⟩ و"),
        ("شركة (Gulf) A (B شيء C)", "شركة (⟨Gulf⟩) ⟨A⟩ (⟨B⟩ شيء ⟨C⟩)"),
        ("شركة Gulf (شيء) A", "شركة ⟨Gulf⟩ (شيء) ⟨A⟩"),
        ("شيء [U+1F600] شيء", "شيء ⟨[U+1F600]⟩ شيء"),
        ("شركة Gulf () شيء", "شركة ⟨Gulf ()⟩ شيء"),
        ("قيمة 12, 15 أو 12 MB أو 2026 Gulf", "قيمة 12, 15 أو ⟨12 MB⟩ أو 2026 ⟨Gulf⟩"),
        ("وفق ISO 27001، وSAMA", "وفق ⟨ISO 27001⟩، و⟨SAMA⟩"),
        ("Gulf\nSAMA", "⟨Gulf⟩\n⟨SAMA⟩"),
        ("١٢٫٥٪ و-٥ و١٠–١٥ و1,200.5", "١٢٫٥٪ و-٥ و١٠–١٥ و1,200.5"),
        ("في ٢٠٢٦-١١-٠١", "في ⟨⟪٢٠٢٦⟩-⟪١١⟩-⟪٠١⟩⟩"),
        ("https://x.sa/تقرير/مالي/1. ثم", "⟨https://x.sa/⟪تقرير⟩/⟪مالي⟩/1⟩. ثم"),
        ('#eval("1+1") نص', '⟨#eval("1+1")⟩ نص'),
        ("نص عربي.", "نص عربي."),
        ("", ""),
    ],
)
def test_what_runs_rightwards_is_isolated_in_arabic(text: str, expected: str) -> None:
    assert with_isolates(text, "rtl").translate(SEEN) == expected


@tiers.one_test
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The شركة الخليج, 2026.", "The ⟪شركة الخليج⟩, 2026."),
        ("(شركة (ش.م.م)) says", "(⟪شركة (ش.م.م)⟩) says"),
        ("a رقم 10-4 تم b", "a ⟪رقم ⟨10-4⟩ تم⟩ b"),
        ("a ريال (شهر) b", "a ⟪ريال (شهر)⟩ b"),
        ("in ٢٠٢٦ or ٥٪ on ٢٠٢٦-١١", "in ⟪٢٠٢٦⟩ or ⟪٥٪⟩ on ⟪⟨⟪٢٠٢٦⟩-⟪١١⟩⟩⟩"),
        ("https://x.sa/تقرير/مالي/1 x", "https://x.sa/⟪تقرير⟩/⟪مالي⟩/1 x"),
        ("No Arabic: 1010-445-221.", "No Arabic: 1010-445-221."),
        ("Payment (دفعة 3 من 5) due", "Payment (⟪دفعة 3 من 5⟩) due"),
        ('from "الساعة 08:00 إلى 16:00"?', 'from "⟪الساعة 08:00 إلى 16:00⟩"?'),
        ("«العقد رقم: 12/2026», b", "«⟪العقد رقم: ⟨12/2026⟩⟩», b"),
        ("a سداد INV-26/04 بمبلغ 5 ريال b", "a ⟪سداد ⟨INV-26/04⟩ بمبلغ 5 ريال⟩ b"),
        ("a شركة Gulf بمبلغ b", "a ⟪شركة⟩ Gulf ⟪بمبلغ⟩ b"),
        ("a شركة 12 was, شركة Gulf.", "a ⟪شركة⟩ 12 was, ⟪شركة⟩ Gulf."),
        ("راسل a@b.example", "⟪راسل ⟨a@b.example⟩⟩"),
        ("a “شركة Gulf تدفع Gulf” b", "a “⟪شركة ⟨Gulf⟩ تدفع ⟨Gulf⟩⟩” b"),
        ('"شركة" or "Gulf"', '"⟪شركة⟩" or "Gulf"'),
        ("“شركة Gulf\nand ”", "“⟪شركة⟩ Gulf\nand ”"),
    ],
)
def test_what_runs_leftwards_is_isolated_in_english(text: str, expected: str) -> None:
    assert with_isolates(text, "ltr").translate(SEEN) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Gulf Cables شركة", "ltr"),
        ("شركة Gulf", "rtl"),
        ("INV-2026/0042 مدفوعة", "rtl"),
        ("a@b.example: بريد", "rtl"),
        ("[U+FFFC] شركة", "rtl"),
        ("S2", "ltr"),
        ("(«12») شركة", "rtl"),
    ],
)
def test_a_field_runs_as_its_first_letter_outside_identifiers(text: str, expected: str) -> None:
    assert direction(text) == direction(text, "rtl") == expected


def test_letters_of_the_fonts_have_the_direction_that_unicode_gives_them() -> None:
    table = json.loads((FONTS / "coverage.json").read_text("utf-8"))
    codes = {
        code for rows in table.values() for start, end in rows for code in range(start, end + 1)
    }
    for each in map(chr, sorted(codes)):
        expected = {"L": "ltr", "R": "rtl", "AL": "rtl"}.get(unicodedata.bidirectional(each))
        if unicodedata.category(each) != "Cn":
            found = {direction(each, base) for base in ("ltr", "rtl")}
            assert found == ({expected} if expected else {"ltr", "rtl"}), ascii(each)


def test_a_field_without_letters_runs_as_it_is_told_to() -> None:
    assert direction("12.5% ١٢") == "ltr"
    assert direction("12.5% ١٢", "rtl") == "rtl"


def test_a_text_within_a_sentence_keeps_its_direction_to_itself() -> None:
    assert enclosed("نص Gulf.").translate(SEEN) == "⟪نص ⟨Gulf⟩.⟩"
    assert enclosed("Text نص.").translate(SEEN) == "⟨Text ⟪نص⟩.⟩"
    assert enclosed("12", "rtl").translate(SEEN) == "⟪12⟩"


@pytest.mark.parametrize("base", ["rtl", "ltr"])
@given(text=TEXTS)
def test_only_balanced_isolates_are_added(base: Direction, text: str) -> None:
    made = with_isolates(text, base)
    assert made.translate(ADDED) == text
    depth = 0
    for each in made:
        depth += (each in LEFT_TO_RIGHT + RIGHT_TO_LEFT) - (each == END)
        assert 0 <= depth <= 3
        assert depth == 0 or each != "\n"
    assert depth == 0
    assert not regex.search(f"[{LEFT_TO_RIGHT}{RIGHT_TO_LEFT}]{END}", made)


@given(text=st.text())
def test_no_text_raises(text: str) -> None:
    assert with_isolates(text, direction(text)).startswith(text[:0])
    assert breakable(enclosed(text)).endswith(END)


def test_hostile_lengths_take_no_more_than_their_length() -> None:
    for unit in ("a", "a (b ", "ب a) ", "1-", "http://", "(", "A.", "ب", "+1 ", "]ب[", "-"):
        text = unit * (tiers.count(100_000, short=30_000) // len(unit))
        assert with_isolates(text, "rtl").translate(ADDED) == text
        assert with_isolates(text, "ltr").translate(ADDED) == text
        assert breakable(text).translate(ADDED) == text

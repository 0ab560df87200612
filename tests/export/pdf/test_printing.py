# ruff: noqa: RUF001 - other scripts are what these tests are about

import importlib.util
import json
import unicodedata
from pathlib import Path
from types import ModuleType

import pytest
import regex
import typst
from hypothesis import given
from hypothesis import strategies as st

from evidentia.export.pdf import printing
from evidentia.export.pdf.printing import FAMILIES, printable

ROOT = Path(__file__).parents[3]
FONTS = Path(printing.__file__).parent / "fonts"
COVERAGE = {
    family: {chr(code) for first, last in ranges for code in range(first, last + 1)}
    for family, ranges in json.loads((FONTS / "coverage.json").read_text("utf-8")).items()
}
HOUSE = sorted(
    each for each in COVERAGE["IBM Plex Sans Arabic"] if unicodedata.is_normalized("NFC", each)
)
JOINERS = "\u200c\u200d"
REORDERING = regex.compile(r"\p{Bidi_Control}")
CLUSTER = regex.compile(r"(?s:.)\p{M}*")
HOSTILE = st.lists(
    st.sampled_from(
        [
            *"\u200b\u200c\u200d\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067",
            *"\u2068\u2069\ufeff\ufffc\ufffd\ufe0f\ue000\x00\x1b\x85\u2028\t\n\r \u00a0\u3000",
            *"aé]می٥✓\u0301\u0303\u0338\u064b\u06d6\u06dd\u20c1\U0001f600\U0001f469中א",
        ]
    )
    | st.text(max_size=5)
).map("".join)


def typeset(texts: list[str], folder: Path) -> None:
    """Set texts as PDF/A-3a and PDF/UA-1, which raises for a glyph that no font has."""
    source = folder / "page.typ"
    source.write_text(
        '#set document(title: "Texts")\n#let data = json(bytes(sys.inputs.data))\n'
        "#set text(font: data.families, fallback: false)\n"
        "#for each in data.texts [#text(each) #parbreak()]\n",
        "utf-8",
    )
    fonts = typst.Fonts(
        include_system_fonts=False, include_embedded_fonts=False, font_paths=[str(FONTS)]
    )
    data = json.dumps({"families": FAMILIES, "texts": texts})
    compiler = typst.Compiler(str(source), font_paths=fonts, sys_inputs={"data": data})
    compiler.compile(format="pdf", pdf_standards=["a-3a", "ua-1"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Plain, and عربي ١٢٫٥٪ ✓", "Plain, and عربي ١٢٫٥٪ ✓"),
        ("invoice \u202egnp.exe\u202c", "invoice gnp.exe"),
        ("\u2067a\u2069\u200e\u200f\u061c", "a"),
        ("pay 10\u200b0\x00\x1b\ufeff", "pay 100"),
        ("e\u0301", "é"),
        ("😀 中 \ue000 \ufffc", "[U+1F600] [U+4E2D] [U+E000] [U+FFFC]"),
        ("👩\u200d👩", "[U+1F469][U+1F469]"),
        ("✓\ufe0f", "✓"),
        ("❤\ufe0f", "[U+2764]"),
        ("א", "[U+05D0]"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("ه\u200dـ a\u200db", "ه\u200dـ ab"),
        ("a\u3000b\u2003c\u00a0d\u202fe", "a b c\u00a0d\u00a0e"),
        ("\u1e22", "H\u0307"),
        ("م\u200dक", "م[U+0915]"),
        ("q\u20dd", "q[U+20DD]"),
        ("q" + 6 * "\u0301", "q" + 4 * "\u0301" + "[U+0301][U+0301]"),
        ("中\u0301", "[U+4E2D][U+0301]"),
        ("\u20c1 12", "\u20c1 12"),
        ("", ""),
    ],
)
def test_text_is_made_fit_to_print(text: str, expected: str) -> None:
    assert printable(text) == expected


def test_line_ends_stay_where_a_field_has_lines() -> None:
    text = "one\r\ntwo\u2028three\tfour 😀\n"
    assert printable(text, lines=True) == "one\ntwo\nthree four [U+1F600]\n"
    assert printable(text) == "one two three four [U+1F600] "


@given(HOSTILE, st.booleans())
def test_what_is_printed_is_in_the_fonts_and_stays_as_it_is(text: str, lines: bool) -> None:  # noqa: FBT001
    shown = printable(text, lines=lines)
    assert printable(shown, lines=lines) == shown
    assert not REORDERING.search(shown)
    assert lines or "\n" not in shown
    bare = regex.sub(f"[\n{JOINERS}]", "", shown)
    for cluster in CLUSTER.findall(bare):
        assert any(family.issuperset(cluster) for family in COVERAGE.values()), ascii(cluster)


@given(st.text(st.sampled_from(HOUSE)))
def test_what_the_house_font_has_stays(text: str) -> None:
    assert unicodedata.normalize("NFC", printable(text)) == unicodedata.normalize("NFC", text)


def test_every_character_of_the_table_can_be_typeset(tmp_path: Path) -> None:
    typeset(["".join(sorted(family)) for family in COVERAGE.values()], tmp_path)
    marked = [base + mark for base in "a]م✓" for mark in "\u0301\u064b\u06d6\u0338\u08d3"]
    typeset([printable(text) for text in marked], tmp_path)


def test_isolates_joiners_and_zero_width_spaces_can_be_typeset(tmp_path: Path) -> None:
    typeset(["a\u2066b\u2069 \u2067م\u2069 c\u200bd می\u200cخ ه\u200dـ"], tmp_path)


def test_the_table_tells_what_the_fonts_have() -> None:
    pytest.importorskip("fontTools")
    assert font_coverage().coverage(FONTS) == (FONTS / "coverage.json").read_text("utf-8")


def font_coverage() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "font_coverage", ROOT / "scripts/font_coverage.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

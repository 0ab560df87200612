from collections.abc import Mapping
from io import BytesIO

import pptx
import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from docx_writing import zip_bytes
from evidentia.documents.chunking import chunk_document
from evidentia.documents.model import ReadDocument
from evidentia.documents.reading.document import PPTX, read_document
from evidentia.errors import DocumentError
from xlsx_writing import relationships

P = "xmlns:p='p' xmlns:a='a' xmlns:r='x/relationships'"


def read(data: bytes) -> ReadDocument:
    return read_document(data, "deck.pptx")


def deck() -> bytes:
    """Return a real presentation: a title, bullets, a table, notes, a chart, a hidden slide."""
    made = pptx.Presentation()
    made.core_properties.title = "Leave in short"
    first = made.slides.add_slide(made.slide_layouts[1])
    first.shapes.title.text = "Annual leave"
    frame = first.placeholders[1].text_frame
    frame.text = "All employees receive 15 days."
    inner = frame.add_paragraph()
    inner.text = "Managers too."
    inner.level = 1
    first.notes_slide.notes_text_frame.text = "Say that it is paid."
    second = made.slides.add_slide(made.slide_layouts[6])
    place = Inches(1), Inches(1), Inches(4), Inches(2)
    table = second.shapes.add_table(2, 2, *place).table
    for row, texts in enumerate((("Country", "Days"), ("Oman", "15"))):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    data = CategoryChartData()
    data.categories = ["a"]
    data.add_series("s", (1,))
    second.shapes.add_chart(XL_CHART_TYPE.PIE, *place, data)
    third = made.slides.add_slide(made.slide_layouts[5])
    third.shapes.title.text = "Hidden words"
    third._element.set("show", "0")
    saved = BytesIO()
    made.save(saved)
    return saved.getvalue()


def test_each_slide_is_a_page_with_its_title_texts_tables_and_notes() -> None:
    document = read(deck())
    assert document.media_type == PPTX
    assert document.title == "Leave in short"
    assert [page.text for page in document.pages] == [
        "Annual leave\n\nAll employees receive 15 days.\n  - Managers too.\n\nSay that it is paid.",
        "Country | Days\nOman | 15",
        "",
    ]
    chunks = chunk_document(document, "doc_1")
    assert [(chunk.page, chunk.heading_path) for chunk in chunks] == [
        (1, ("Slide 1: Annual leave",)),
        (2, ("Slide 2",)),
    ]


def test_what_is_not_read_is_said() -> None:
    assert read(deck()).warnings == (
        "1 hidden slide is left out: 3",
        "1 chart is not read",
    )


def by_hand(*slides: str, parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """Return a presentation whose slides have that XML."""
    ids = "".join(f"<p:sldId id='{at}' r:id='r{at}'/>" for at in range(len(slides)))
    targets = {f"r{at}": f"slide slides/slide{at}.xml" for at in range(len(slides))}
    written: dict[str, str | bytes] = {
        "ppt/presentation.xml": f"<p:presentation {P}>{ids}</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relationships(**targets),
        **{
            f"ppt/slides/slide{at}.xml": f"<p:sld {P}>{xml}</p:sld>"
            for at, xml in enumerate(slides)
        },
        **(parts or {}),
    }
    return zip_bytes(written)


def shape(*texts: str, kind: str = "") -> str:
    placeholder = f"<p:ph type='{kind}'/>" if kind else ""
    paragraphs = "".join(f"<a:p>{text}</a:p>" for text in texts)
    return f"<p:sp>{placeholder}<p:txBody>{paragraphs}</p:txBody></p:sp>"


def run(text: str) -> str:
    return f"<a:r><a:t>{text}</a:t></a:r>"


def test_what_stands_on_every_slide_is_left_out() -> None:
    data = by_hand(
        shape(run("Two"), run("lines"), kind="ctrTitle")
        + shape(run("1 January"), kind="dt")
        + shape(run("ACME, confidential"), kind="ftr")
        + shape(run("7"), kind="sldNum")
        + shape(run("Body") + "<a:br/>" + run("goes on."), "<a:pPr lvl='xx'/>" + run("More."))
    )
    document = read(data)
    assert document.pages[0].text == "Two\n\nlines\n\nBody\ngoes on.\nMore."
    assert document.headings[0].text == "Slide 1: Two lines"
    assert document.warnings == (
        "3 pieces of slide furniture (date, footer, slide number) are left out",
    )


def test_a_drawing_for_old_programs_is_not_read_twice() -> None:
    data = by_hand(
        f"<m:Choice xmlns:m='m'>{shape(run('Once.'))}</m:Choice>"
        f"<m:Fallback xmlns:m='m'>{shape(run('Twice.'))}</m:Fallback>"
        "<p:graphicFrame><d:relIds xmlns:d='d'/></p:graphicFrame>"
        "<p:graphicFrame><d:relIds xmlns:d='d'/></p:graphicFrame>"
    )
    document = read(data)
    assert document.pages[0].text == "Once."
    assert document.warnings == ("2 diagrams are not read",)


def test_loose_text_and_empty_rows_say_nothing() -> None:
    data = by_hand(
        "<a:t>loose</a:t><a:br/></p:sld>".replace("</p:sld>", "")
        + "<a:tbl><a:tr><a:tc><a:p/></a:tc></a:tr></a:tbl></a:tc>".replace(
            "</a:tbl></a:tc>", "</a:tbl>"
        )
        + shape(run("Text."))
    )
    assert read(data).pages[0].text == "Text."


def test_several_hidden_slides_are_named() -> None:
    hidden = f"<p:sld {P} show='0'>{shape(run('x'))}</p:sld>"
    data = by_hand(
        shape(run("Text.")),
        "",
        "",
        parts={"ppt/slides/slide1.xml": hidden, "ppt/slides/slide2.xml": hidden},
    )
    assert read(data).warnings == ("2 hidden slides are left out: 2, 3",)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (
            by_hand("<x>"),
            r"a broken PowerPoint presentation \(ppt/slides/slide0.xml: mismatched tag",
        ),
        (
            by_hand(
                "", parts={"ppt/slides/slide0.xml": "<!DOCTYPE d [<!ENTITY a 'a'>]><d>&a;</d>"}
            ),
            "document type declaration",
        ),
        (by_hand("", parts={"ppt/slides/slide0.xml": b"<d>" + b" " * 2**26}), "a zip bomb"),
        (
            by_hand(
                "",
                parts={
                    "ppt/_rels/presentation.xml.rels": relationships(r0="slide ../../etc/passwd")
                },
            ),
            "slide 1 is missing",
        ),
        (
            by_hand("", parts={"ppt/_rels/presentation.xml.rels": relationships()}),
            "slide 1 is missing",
        ),
        (deck()[:-100], "a broken PowerPoint presentation"),
        (by_hand(), "an empty document"),
        (b"not one", r"named .pptx and is no PowerPoint \(PPTX\) file"),
    ],
)
def test_a_hostile_or_broken_presentation_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=rf"^deck.pptx: .*{says}"):
        read(data)

import zipfile
from io import BytesIO

import pytest

from docx_writing import core, docx_bytes, paragraph, part, zip_bytes
from evidentia.documents.model import ReadDocument
from evidentia.documents.reading import archive, limits
from evidentia.documents.reading.document import DOCX, read_document
from evidentia.documents.reading.docx import read_docx
from evidentia.documents.reading.numbering import ListNumbers, NumberLevel, written
from evidentia.errors import DocumentError


def read(body: str, **more: str) -> ReadDocument:
    return read_document(docx_bytes(body, parts=more), "policy.docx")


def text_of(document: ReadDocument) -> str:
    return "\f".join(page.text for page in document.pages)


def test_paragraphs_are_parted_by_blank_lines() -> None:
    document = read(paragraph("One  fine day.") + paragraph("") + paragraph("Two &amp; three."))
    assert document.media_type == DOCX
    assert text_of(document) == "One  fine day.\n\nTwo & three."


def test_headings_are_found_by_style_whatever_the_language_of_word() -> None:
    document = read(
        paragraph("Leave policy", style="Titel")
        + paragraph("Annual leave", style="berschrift1")
        + paragraph("Body text.")
        + paragraph("Carry over", style="Mine")
        + paragraph("A clause", style="Outlined")
        + paragraph("By hand", properties='<w:outlineLvl w:val="3"/>')
        + paragraph("Not one", style="berschrift1", properties='<w:outlineLvl w:val="9"/>')
        + paragraph("Unknown style", style="Nowhere")
        + paragraph("", style="berschrift1")
    )
    assert [(h.level, h.text) for h in document.headings] == [
        (1, "Leave policy"),
        (1, "Annual leave"),
        (2, "Carry over"),
        (3, "A clause"),
        (4, "By hand"),
    ]
    text = document.pages[0].text
    assert all(text.startswith(h.text, h.start) for h in document.headings)
    assert document.title == "Leave policy"


def test_styles_that_are_based_on_each_other_end() -> None:
    circle = (
        '<w:style w:styleId="A"><w:name w:val="a"/><w:basedOn w:val="B"/></w:style>'
        '<w:style w:styleId="B"><w:name w:val="b"/><w:basedOn w:val="A"/></w:style>'
    )
    data = docx_bytes(paragraph("Text.", style="A"), styles=circle)
    assert read_document(data, "a.docx").headings == ()


NUMBERING = part(
    "numbering",
    """
<w:abstractNum w:abstractNumId="1">
  <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
  <w:lvl w:ilvl="1"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/></w:lvl>
</w:abstractNum>
<w:abstractNum w:abstractNumId="2">
  <w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="&#xF0B7;"/></w:lvl>
</w:abstractNum>
<w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="8"><w:abstractNumId w:val="2"/></w:num>
<w:num w:numId="9"><w:abstractNumId w:val="1"/>
  <w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>
""",
)


def item(text: str, list_id: int, level: int = 0) -> str:
    number = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>'
    return paragraph(text, properties=number)


def test_list_items_carry_the_numbers_that_word_shows() -> None:
    document = read(
        item("First", 7)
        + item("Second", 7)
        + item("Deeper", 7, 1)
        + item("Deeper still", 7, 1)
        + item("Third", 7)
        + item("Again", 7, 1)
        + paragraph("Between.")
        + item("Bullet", 8)
        + item("Fifth", 9)
        + item("Unknown list", 99)
        + item("Too deep", 8, 12)
        + item("Out of its list", 0),
        **{"word/numbering.xml": NUMBERING},
    )
    assert text_of(document) == (
        "1. First\n2. Second\n  2.1 Deeper\n  2.2 Deeper still\n3. Third\n  3.1 Again\n\n"
        "Between.\n\n- Bullet\n5. Fifth\n- Unknown list\n                - Too deep\n\n"
        "Out of its list"
    )


def test_numbered_headings_have_their_numbers() -> None:
    styles = (
        '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/>'
        '<w:pPr><w:numPr><w:numId w:val="7"/></w:numPr></w:pPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/>'
        '<w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="7"/></w:numPr></w:pPr></w:style>'
    )
    body = paragraph("Leave", style="H1") + paragraph("Carry over", style="H2") + paragraph("x.")
    data = docx_bytes(body, styles=styles, parts={"word/numbering.xml": NUMBERING})
    document = read_document(data, "a.docx")
    assert [h.text for h in document.headings] == ["1. Leave", "1.1 Carry over"]


def cell(inside: str) -> str:
    return f"<w:tc>{inside}</w:tc>"


def test_a_table_is_one_line_per_row() -> None:
    nested = f"<w:tbl><w:tr>{cell(paragraph('in'))}{cell(paragraph('ner'))}</w:tr></w:tbl>"
    document = read(
        paragraph("Before.")
        + "<w:tbl><w:tr>"
        + cell(paragraph("Grade", style="berschrift1"))
        + cell(paragraph("Days") + paragraph("a year"))
        + "</w:tr><w:tr>"
        + cell(paragraph("A"))
        + cell(paragraph("15") + nested)
        + "</w:tr><w:tr>"
        + cell(paragraph(""))
        + "</w:tr></w:tbl>"
        + cell(paragraph("A stray cell."))
    )
    assert text_of(document) == "Before.\n\nGrade | Days a year\nA | 15 in ner\n\nA stray cell."
    assert document.headings == ()


def test_a_page_begins_where_word_broke_it_and_no_paragraph_is_cut() -> None:
    document = read(
        "<w:p><w:r><w:br w:type='page'/></w:r></w:p>"
        + paragraph("First page.")
        + "<w:p><w:r><w:t>It goes </w:t><w:lastRenderedPageBreak/><w:t>on.</w:t></w:r></w:p>"
        + paragraph("Second page.")
        + "<w:p><w:r><w:br w:type='page'/></w:r></w:p>"
        + "<w:p><w:r><w:lastRenderedPageBreak/><w:t>Third page.</w:t></w:r></w:p>"
        + paragraph("Fourth page.", properties="<w:pageBreakBefore/>")
        + paragraph("Still fourth.", properties='<w:pageBreakBefore w:val="0"/>')
        + paragraph("Headed", style="berschrift1", properties="<w:pageBreakBefore/>")
    )
    assert [page.text for page in document.pages] == [
        "First page.\n\nIt goes on.",
        "Second page.",
        "Third page.",
        "Fourth page.\n\nStill fourth.",
        "Headed",
    ]
    assert [page.number for page in document.pages] == [1, 2, 3, 4, 5]
    assert (document.headings[0].page, document.headings[0].start) == (5, 0)


def test_marks_within_a_paragraph_are_kept() -> None:
    document = read(
        "<w:p><w:pPr><w:tabs><w:tab w:val='left' w:pos='720'/></w:tabs></w:pPr>"
        "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:cr/><w:t>d</w:t>"
        "<w:noBreakHyphen/><w:t>e</w:t><w:instrText>PAGE</w:instrText></w:r></w:p>"
    )
    assert text_of(document) == "a\tb\nc\nd-e"


def test_deleted_moved_and_hidden_text_is_left_out() -> None:
    document = read(
        "<w:p><w:r><w:t>Kept. </w:t></w:r>"
        "<w:del><w:r><w:delText>Deleted.</w:delText></w:r></w:del>"
        "<w:moveFrom><w:r><w:t>Moved.</w:t></w:r></w:moveFrom>"
        "<w:ins><w:r><w:t>Inserted.</w:t></w:r></w:ins>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>Hidden.</w:t></w:r>"
        "<w:r><w:rPr><w:vanish w:val='false'/></w:rPr><w:t> Shown.</w:t></w:r></w:p>"
    )
    assert text_of(document) == "Kept. Inserted. Shown."
    assert document.warnings == ("hidden text is left out",)


def test_what_a_paragraph_was_before_a_change_does_not_count() -> None:
    before = "<w:pPrChange><w:pPr><w:pStyle w:val='berschrift1'/></w:pPr></w:pPrChange>"
    assert read(paragraph("Now body text.", properties=before)).headings == ()


def test_a_text_box_is_read_once() -> None:
    box = "<w:txbxContent>" + paragraph("In the box.") + "</w:txbxContent>"
    document = read(
        "<w:p><w:r><mc:AlternateContent>"
        f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
        "</mc:AlternateContent><w:t>Around it.</w:t></w:r></w:p>"
    )
    assert text_of(document) == "In the box.\n\nAround it."


def test_notes_follow_the_paragraph_that_refers_to_them() -> None:
    notes = part(
        "footnotes",
        '<w:footnote w:type="separator" w:id="0"><w:p><w:r><w:t>rule</w:t></w:r></w:p></w:footnote>'
        f'<w:footnote w:id="1">{paragraph("Except")}{paragraph("in May.")}</w:footnote>',
    )
    reference = '<w:r><w:footnoteReference w:id="{}"/></w:r>'
    document = read(
        f"<w:p><w:r><w:t>Leave is paid.</w:t></w:r>{reference.format(1)}{reference.format(5)}</w:p>"
        + paragraph("Next.")
        + f"<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Cell</w:t></w:r>{reference.format(1)}</w:p></w:tc>"
        "</w:tr></w:tbl>",
        **{"word/footnotes.xml": notes},
    )
    assert text_of(document) == ("Leave is paid.\n\nExcept in May.\n\nNext.\n\nCell Except in May.")


def test_the_files_own_properties_are_read() -> None:
    properties = core(
        title=" Leave policy ",
        creator=" ",
        created="2023-01-02T08:00:00Z",
        modified="2024-02-30",
        language="xx",
    )
    document = read(paragraph("15"), **{"docProps/core.xml": properties})
    assert document.title == "Leave policy"
    assert (document.created, document.modified) == ("2023-01-02", None)
    assert document.language == "xx"


def test_a_word_file_without_styles_or_properties_is_read() -> None:
    data = zip_bytes({"word/document.xml": part("document", paragraph("Text."))})
    assert text_of(read_document(data, "a.docx")) == "Text."


@pytest.mark.parametrize(
    ("number", "style", "shown"),
    [
        (1, "decimal", "1"),
        (7, "decimalZero", "07"),
        (1, "lowerLetter", "a"),
        (28, "upperLetter", "BB"),
        (0, "lowerLetter", "0"),
        (1994, "upperRoman", "MCMXCIV"),
        (4, "lowerRoman", "iv"),
        (5000, "lowerRoman", "5000"),
        (3, "arabicAlpha", "3"),
    ],
)
def test_numbers_are_written_in_words_styles(number: int, style: str, shown: str) -> None:
    assert written(number, style) == shown


def test_a_level_without_number_or_text_still_marks_its_items() -> None:
    levels = {("1", 0): NumberLevel("none"), ("2", 0): NumberLevel("decimal", " ")}
    assert [ListNumbers(levels).mark(list_id, 0) for list_id in ("1", "2")] == ["", "-"]


def test_a_zip_without_a_document_is_no_word_file() -> None:
    with pytest.raises(DocumentError, match=r"it has no word/document.xml"):
        read_docx(zip_bytes({"a": "b"}), "a.docx")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (docx_bytes(paragraph("")), "an empty document"),
        (docx_bytes("<w:p>"), "a broken Word file .word/document.xml: mismatched tag"),
        (docx_bytes(paragraph("x"))[:-30], "a broken Word file"),
        (
            zip_bytes({"word/document.xml": '<!DOCTYPE d [<!ENTITY a "aaa">]><d>&a;</d>'}),
            "document type declaration",
        ),
        (docx_bytes("<w:x>" * 600 + "</w:x>" * 600), "nested more than 512 deep"),
    ],
)
def test_a_broken_file_is_named_with_what_to_do(data: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=rf"^policy.docx: .*{says}"):
        read_document(data, "policy.docx")


def test_entities_cannot_expand() -> None:
    laughs = '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
    )
    data = zip_bytes({"word/document.xml": f"{laughs}]><d>&j;</d>"})
    with pytest.raises(DocumentError, match="document type declaration"):
        read_document(data, "a.docx")


def test_a_zip_bomb_is_not_opened() -> None:
    data = zip_bytes({"word/document.xml": b"<d>" + b" " * (64 * 2**20)})
    assert len(data) < 100_000
    with pytest.raises(
        DocumentError, match=r"^a.docx: a zip bomb: word/document.xml unpacks to more than"
    ):
        read_document(data, "a.docx")


def test_parts_share_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_EXPANDED_BYTES", 4_000)
    data = docx_bytes(
        paragraph("Text."), parts={"word/numbering.xml": part("numbering", " " * 3_000)}
    )
    with pytest.raises(DocumentError, match="a zip bomb"):
        read_document(data, "a.docx")


def test_too_many_parts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_ARCHIVE_MEMBERS", 2)
    with pytest.raises(DocumentError, match="an archive of more than 2 files"):
        read_document(docx_bytes(paragraph("Text.")), "a.docx")


def test_an_encrypted_part_is_said_to_be_so() -> None:
    data = bytearray(docx_bytes(paragraph("Text.")))
    with zipfile.ZipFile(BytesIO(bytes(data))) as found:
        offset = found.getinfo("word/document.xml").header_offset
    data[offset + 6] |= 1
    central = data.find(b"PK\x01\x02")
    while data[central + 46 : central + 46 + 17] != b"word/document.xml":
        central = data.find(b"PK\x01\x02", central + 1)
    data[central + 8] |= 1
    with pytest.raises(DocumentError, match="encrypted with a password: open it"):
        read_document(bytes(data), "a.docx")


def test_a_foreign_compression_is_refused() -> None:
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_BZIP2) as written:
        written.writestr("word/document.xml", part("document", paragraph("Text.")))
    with pytest.raises(DocumentError, match="packed in a way that no such file uses"):
        read_document(data.getvalue(), "a.docx")


def test_damaged_bytes_inside_a_part_are_a_broken_file() -> None:
    data = bytearray(docx_bytes(paragraph("Some text that is long enough to damage. " * 20)))
    with zipfile.ZipFile(BytesIO(bytes(data))) as found:
        offset = found.getinfo("word/document.xml").header_offset
    for at in range(offset + 60, offset + 90):
        data[at] ^= 0xFF
    with pytest.raises(DocumentError, match="a broken Word file"):
        read_document(bytes(data), "a.docx")


def test_a_heading_longer_than_any_heading_is_body_text() -> None:
    long = "word " * limits.MAX_HEADING_CHARACTERS
    document = read(paragraph(long, style="berschrift1"))
    assert document.headings == ()


def test_headers_and_footers_of_pages_are_left_out_and_said() -> None:
    parts = {
        "word/header1.xml": part("hdr", paragraph("ACME") + paragraph("Leave policy")),
        "word/footer1.xml": part("ftr", paragraph("Page 1")),
        "word/footer2.xml": part("ftr", "<w:p>\n<w:r/></w:p>"),
    }
    document = read(paragraph("All get 15 days."), **parts)
    assert text_of(document) == "All get 15 days."
    assert document.warnings == (
        "2 headers or footers of the pages are left out, such as “Page 1”, “ACME Leave policy”",
    )

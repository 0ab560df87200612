import hashlib
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiers
from docx_writing import docx_bytes, paragraph, zip_bytes
from evidentia.documents.reading import document as reading
from evidentia.documents.reading.document import (
    CSV,
    DOCX,
    EMAIL,
    HTML,
    MARKDOWN,
    NOTEBOOK,
    PDF,
    RST,
    TEXT,
    XLSX,
    read_document,
)
from evidentia.errors import DocumentError, InputError
from pdf_writing import Line, pdf_bytes
from xlsx_writing import relationships, sheet_bytes

SENTENCE = "All permanent employees shall receive 15 days of paid annual leave."
PDF_FILE = pdf_bytes([[Line(SENTENCE)]])
DOCX_FILE = docx_bytes(paragraph(SENTENCE))
WORKBOOK = sheet_bytes(
    "<sheetData><row r='1'><c r='A1'><v>15</v></c></row></sheetData>",
    parts={"xl/media/picture.png": bytes(range(256)) * 8},
)
CELL = {"cell_type": "markdown", "source": ["# Leave\n", f"{SENTENCE}\n" * 20]}
BOOK = zip_bytes(
    {
        "META-INF/container.xml": "<c><rootfile full-path='b.opf'/></c>",
        "b.opf": "<p><item id='a' href='a.html'/><itemref idref='a'/></p>",
        "a.html": f"<h1>Leave</h1><p>{SENTENCE}</p>",
    }
)
DECK = zip_bytes(
    {
        "ppt/presentation.xml": "<p xmlns:r='x/relationships'><sldId r:id='a'/></p>",
        "ppt/_rels/presentation.xml.rels": relationships(a="slide slides/a.xml"),
        "ppt/slides/a.xml": f"<sld><sp><p><t>{SENTENCE}</t></p></sp></sld>",
    }
)
MAIL = (
    b"From: a@example.org\nSubject: Leave\nContent-Type: multipart/mixed; boundary=x\n\n--x\n"
    b"Content-Type: text/html\n\n<p>15 days</p>\n--x\nContent-Type: message/rfc822\n\n"
    b"Subject: =?utf-8?b?w7Y=?=\n\nText.\n--x--\n"
)
HTML_FILE = f"<!DOCTYPE html><p>{SENTENCE}</p>".encode()


@pytest.mark.parametrize(
    ("data", "filename", "media_type"),
    [
        (PDF_FILE, "a.pdf", PDF),
        (PDF_FILE, "a.txt", PDF),
        (PDF_FILE, "a", PDF),
        (DOCX_FILE, "a.docx", DOCX),
        (DOCX_FILE, "a.zip", DOCX),
        (HTML_FILE, "a.html", HTML),
        (HTML_FILE, "a.pdf", HTML),
        (b"<!-- saved --> <HTML><p>text", "a", HTML),
        (b"<p>a fragment</p>", "a.htm", HTML),
        (b"# text", "a.MD", MARKDOWN),
        (b"# text", "a.txt", TEXT),
        (b"# text", "README", TEXT),
        (b"a,b\n1,2\n", "a.csv", CSV),
        (b"a\tb\n1\t2\n", "a.TSV", CSV),
        (b"a,b\n1,2\n", "a.txt", TEXT),
        (WORKBOOK, "a.docx", XLSX),
        (b"Text.\n", "a.rst", RST),
        (b'{"cells": [{"cell_type": "raw", "source": "x"}]}', "a.ipynb", NOTEBOOK),
        (b"Subject: Leave\n\nText.", "a.eml", EMAIL),
        (b"A text that speaks of %PDF-1.7 files", "a.txt", TEXT),
    ],
)
def test_content_tells_the_format_first_and_the_name_next(
    data: bytes, filename: str, media_type: str
) -> None:
    document = read_document(data, filename)
    assert document.media_type == media_type
    assert document.filename == filename
    assert document.sha256 == hashlib.sha256(data).hexdigest()


def test_the_same_bytes_give_an_equal_document() -> None:
    for data in (PDF_FILE, DOCX_FILE, HTML_FILE):
        assert read_document(data, "a") == read_document(data, "a")


@pytest.mark.parametrize(
    ("data", "filename", "says"),
    [
        (b"", "a.txt", "an empty file"),
        (b" \n\t ", "a.md", "an empty file"),
        ("\ufeff \u00a0".encode(), "a.txt", "an empty document: it has no text"),
        (b"not one", "a.pdf", "named .pdf and is no PDF file: it is broken, cut short"),
        (b"not one", "a.docx", r"named .docx and is no Word \(DOCX\) file"),
        (b"{\\rtf1 x}", "a.rtf", r"not supported: a rich text \(RTF\) file: save it as DOCX"),
        (b"\x89PNG\r\n\x1a\n", "a.png", "not supported: a picture: run OCR"),
        (b"\x1f\x8b\x08", "a.gz", "not supported: a gzip archive: unpack it first"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1....", "a.doc", "an old Word, Excel or PowerPoint"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            "a.docx",
            "a Word file encrypted with a password",
        ),
        (zip_bytes({"content.xml": "x"}), "a.ods", "an OpenDocument file: save it as DOCX, XLSX"),
        (zip_bytes({"a.txt": "x"}), "a.zip", "a ZIP archive: unpack it"),
        (b"PK\x03\x04 not a zip", "a.docx", "a broken Word file"),
        (b"\x7fELF\x00\x00\x00", "a.bin", "no format that is read, which are PDF, DOCX"),
    ],
)
def test_what_cannot_be_read_says_what_it_is_and_what_to_do(
    data: bytes, filename: str, says: str
) -> None:
    with pytest.raises(DocumentError, match=rf"^{filename}: .*{says}") as caught:
        read_document(data, filename)
    assert isinstance(caught.value, InputError)
    assert "\n" not in str(caught.value)


def test_a_name_that_does_not_print_is_escaped() -> None:
    with pytest.raises(DocumentError) as caught:
        read_document(b"", "\x1b[31m\u202egpj.exe")
    assert str(caught.value).startswith(r"'\x1b[31m\u202egpj.exe': an empty file")
    with pytest.raises(DocumentError, match=r"^'': an empty file"):
        read_document(b"", "")


def test_a_file_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_BYTES", 10)
    with pytest.raises(DocumentError, match="11 bytes, 10 at most: split the file"):
        read_document(b"01234567890", "a.txt")


@pytest.mark.parametrize(
    ("filename", "data"),
    [
        ("a.txt", b"short\n" + b"word " * 9),
        ("a.txt", b"word " * 3_000),
        ("a.md", b"# Title\n\n" + b"word " * 9),
        ("a.html", b"<html><p>" + b"word " * 9),
        ("a.docx", docx_bytes(paragraph("word " * 9))),
    ],
)
def test_a_line_that_no_one_could_read_is_refused(
    monkeypatch: pytest.MonkeyPatch, filename: str, data: bytes
) -> None:
    monkeypatch.setattr(reading, "MAX_LINE_CHARACTERS", 20)
    with pytest.raises(DocumentError, match="a line of more than 20 characters: no reader could"):
        read_document(data, filename)
    monkeypatch.setattr(reading, "MAX_LINE_CHARACTERS", 20_000)
    assert read_document(data, filename)


def test_a_file_of_many_lines_is_read_whatever_ends_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_LINE_CHARACTERS", 20)
    for end in ("\n", "\r", "\r\n"):
        text = end.join(["eighteen letters x"] * 100)
        assert read_document(text.encode(), "a.txt").pages[0].text == text


def test_language_and_direction_come_of_all_pages() -> None:
    pages = [[Line("Contents")], *([[Line(SENTENCE)]] * 100), []]
    document = read_document(pdf_bytes(pages), "a.pdf")
    assert (document.language, document.direction) == ("en", "ltr")


def test_text_after_many_blank_pages_is_seen() -> None:
    pages: list[list[Line]] = [[] for _ in range(200)]
    pages[151] = [Line("Only here.")]
    assert read_document(pdf_bytes(pages), "a.pdf").pages[151].text == "Only here."


@given(
    st.binary(max_size=400),
    st.sampled_from(["", *(f"a.{ending}" for ending in reading.EXTENSIONS)]),
)
def test_any_bytes_are_read_or_refused_with_a_reason(data: bytes, filename: str) -> None:
    try:
        document = read_document(data, filename)
    except DocumentError:
        return
    assert any(page.text.strip() for page in document.pages)


@pytest.mark.parametrize(
    ("data", "filename", "rounds"),
    [
        (pdf_bytes([[Line("Title", 20), Line(SENTENCE)], [Line(SENTENCE)]]), "a.pdf", 1_500),
        (DOCX_FILE, "a.docx", 1_500),
        (HTML_FILE * 3, "a.html", 1_500),
        (b"# A\n\n- b\n\n> c\n\n| d |\n|---|\n" * 5, "a.md", 400),
        (WORKBOOK, "a.xlsx", 1_500),
        (DECK, "a.pptx", 1_500),
        (BOOK, "a.epub", 1_500),
        (MAIL, "a.eml", 1_500),
        (json.dumps({"cells": [CELL]}).encode(), "a.ipynb", 1_500),
        (b'Country,Days\nOman,15\n"a, b",2\n' * 3, "a.csv", 1_500),
        (b"A\n=\n\n.. note:: b\n\n- c |d| `e`_ :f:`g`\n\n" * 3, "a.rst", 200),
    ],
)
def test_damaged_files_are_read_or_refused_with_a_reason(
    data: bytes, filename: str, rounds: int
) -> None:
    chance = random.Random(20)
    refused = 0
    rounds = tiers.count(rounds, short=rounds // 6)
    for _ in range(rounds):
        try:
            read_document(mutated(data, chance), filename)
        except DocumentError:
            refused += 1
    assert refused < rounds


def mutated(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randrange(1, 8)):
        at = chance.randrange(len(changed))
        match chance.randrange(4):
            case 0:
                changed[at] = chance.randrange(256)
            case 1:
                del changed[at : at + chance.randrange(1, 20)]
            case 2:
                changed[at:at] = chance.randbytes(chance.randrange(1, 9))
            case _:
                other = chance.randrange(len(changed))
                changed[at:at] = changed[other : other + chance.randrange(1, 40)]
        changed = changed or bytearray(b"x")
    return bytes(changed)

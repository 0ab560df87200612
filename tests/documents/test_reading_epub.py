from collections.abc import Mapping

import pytest

from docx_writing import zip_bytes
from evidentia.documents.chunking import chunk_document
from evidentia.documents.model import ReadDocument
from evidentia.documents.reading import epub
from evidentia.documents.reading.document import EPUB, read_document
from evidentia.errors import DocumentError

CONTAINER = (
    "<container><rootfiles><rootfile full-path='OEBPS/book.opf'/><rootfile full-path='x'/>"
    "</rootfiles></container>"
)
CHAPTER = "<?xml version='1.0'?><!DOCTYPE html><html xmlns='http://www.w3.org/1999/xhtml'><body>{}</body></html>"
NCX = (
    "<?xml version='1.0'?><!DOCTYPE ncx PUBLIC '-//NISO//DTD ncx 2005-1//EN' 'http://x/ncx.dtd'>"
    "<ncx><navMap><navPoint><navLabel><text>The first\n chapter</text></navLabel>"
    "<content src='text/one%20.xhtml#top'/><navPoint><navLabel><text>Within</text></navLabel>"
    "<content src='text/one%20.xhtml#in'/></navPoint></navPoint></navMap></ncx>"
)
NAV = (
    "<html><body><nav><ol><li><a href='text/one%20.xhtml'>Chapter <b>one</b></a></li>"
    "<li><a href='text/two.xhtml'></a></li></ol></nav></body></html>"
)


def package(items: str, order: str, more: str = "") -> str:
    return (
        "<package xmlns:dc='d'><metadata><dc:title>A book</dc:title><dc:title>Sub</dc:title>"
        f"<dc:language>en</dc:language><dc:date>2020-01-02</dc:date>{more}</metadata>"
        f"<manifest>{items}</manifest><spine>{order}</spine></package>"
    )


ITEMS = (
    "<item id='a' href='text/one%20.xhtml' media-type='application/xhtml+xml'/>"
    "<item id='b' href='text/two.xhtml' media-type='application/xhtml+xml'/>"
    "<item id='ncx' href='toc.ncx' media-type='application/x-dtbncx+xml'/>"
)
NAV_ITEM = "<item id='nav' href='nav.xhtml' properties='nav' media-type='application/xhtml+xml'/>"
ORDER = "<itemref idref='b'/><itemref idref='a'/><itemref idref='a'/><itemref idref='gone'/>"


def book(parts: Mapping[str, str | bytes] | None = None) -> bytes:
    written: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package(ITEMS, ORDER),
        "OEBPS/toc.ncx": NCX,
        "OEBPS/text/one .xhtml": CHAPTER.format("<h2>Leave</h2><p>All get 15 days.</p>"),
        "OEBPS/text/two.xhtml": CHAPTER.format("<p>A preface&nbsp;of words.</p>"),
        **(parts or {}),
    }
    return zip_bytes(written)


def read(data: bytes) -> ReadDocument:
    return read_document(data, "book.epub")


def test_chapters_are_pages_in_their_reading_order_and_go_by_their_names() -> None:
    document = read(book())
    assert document.media_type == EPUB
    assert (document.title, document.created, document.language) == ("A book", "2020-01-02", "en")
    chunks = chunk_document(document, "doc_1")
    assert [(chunk.page, chunk.heading_path, chunk.text) for chunk in chunks] == [
        (1, ("Chapter 1",), "A preface\u00a0of words."),
        (2, ("The first chapter", "Leave"), "Leave\n\nAll get 15 days."),
    ]


def test_the_newer_table_of_contents_names_chapters_too_and_is_no_chapter() -> None:
    more = "<meta property='dcterms:modified'>2021-02-03T00:00:00Z</meta><meta name='cover'/>"
    parts = {
        "OEBPS/nav.xhtml": NAV,
        "OEBPS/book.opf": package(
            ITEMS + NAV_ITEM, "<itemref idref='nav'/>" + ORDER + "<itemref idref='ncx'/>", more
        ),
    }
    document = read(book(parts))
    assert [h.text for h in document.headings] == ["Chapter 1", "Chapter one", "Leave"]
    assert document.modified == "2021-02-03"
    assert document.warnings == ("the table of contents is left out",)


def test_the_older_guide_names_the_table_of_contents_too() -> None:
    guide = "<guide><reference type='toc' href='text/two.xhtml'/><reference type='cover'/></guide>"
    made = package(ITEMS, ORDER).replace("</package>", f"{guide}</package>")
    document = read(book({"OEBPS/book.opf": made}))
    assert [page.text for page in document.pages] == ["Leave\n\nAll get 15 days."]
    assert document.warnings == ("the table of contents is left out",)
    alone = package(ITEMS, "<itemref idref='b'/>").replace("</package>", f"{guide}</package>")
    assert read(book({"OEBPS/book.opf": alone})).pages[0].text == "A preface\u00a0of words."


def test_space_between_tags_says_nothing() -> None:
    parts = {
        "OEBPS/toc.ncx": NCX.replace("><", ">\n <"),
        "OEBPS/book.opf": package(ITEMS, ORDER).replace("><", ">\n <"),
    }
    spaced, as_before = read(book(parts)), read(book())
    assert (spaced.pages, spaced.headings) == (as_before.pages, as_before.headings)
    assert (spaced.title, spaced.created) == (as_before.title, as_before.created)


def test_a_book_without_a_table_of_contents_is_read() -> None:
    parts = {"OEBPS/toc.ncx": "<ncx/>"}
    assert [h.text for h in read(book(parts)).headings] == ["Chapter 1", "Chapter 2", "Leave"]
    parts = {"OEBPS/book.opf": package(ITEMS.replace("toc.ncx", "gone.ncx"), ORDER)}
    assert [h.text for h in read(book(parts)).headings] == ["Chapter 1", "Chapter 2", "Leave"]


def test_what_is_listed_and_not_there_is_said_and_nothing_outside_is_opened() -> None:
    items = ITEMS.replace("text/two.xhtml", "../../../../etc/passwd")
    document = read(book({"OEBPS/book.opf": package(items, ORDER)}))
    assert [page.text for page in document.pages] == ["", "Leave\n\nAll get 15 days."]
    assert document.warnings == ("1 chapter is listed and not in the book",)
    items = items.replace("text/one%20.xhtml", "file:///etc/passwd")
    with pytest.raises(DocumentError, match="an empty document"):
        read(book({"OEBPS/book.opf": package(items, ORDER)}))


def test_hidden_parts_of_a_chapter_are_left_out_and_said() -> None:
    hidden = CHAPTER.format("<p hidden=''>secret</p><p>seen</p>")
    document = read(book({"OEBPS/text/two.xhtml": hidden}))
    assert document.pages[0].text == "seen"
    assert document.warnings == ("1 chapter has hidden parts or page furniture, which is left out",)


def test_fonts_may_be_encrypted_and_chapters_not() -> None:
    encrypted = "<encryption><CipherData><CipherReference URI='{}'/></CipherData></encryption>"
    font = encrypted.format("OEBPS/font.otf")
    assert read(book({"META-INF/encryption.xml": font})).pages
    chapter = encrypted.format("OEBPS/text/one%20.xhtml")
    with pytest.raises(DocumentError, match=r"protected against copying \(DRM\)"):
        read(book({"META-INF/encryption.xml": chapter}))


def test_more_chapters_than_are_read_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epub, "MAX_PAGES", 1)
    with pytest.raises(DocumentError, match="2 chapters, 1 at most"):
        read(book())


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (book({"META-INF/container.xml": "<c/>"}), r"a broken EPUB book \(it has no list"),
        (
            book({"OEBPS/book.opf": "<!DOCTYPE p [<!ENTITY a 'a'>]><p>&a;</p>"}),
            "document type declaration",
        ),
        (book({"OEBPS/text/two.xhtml": b"<p>" + b" " * 2**26}), "a zip bomb"),
        (book({"OEBPS/text/two.xhtml": b"<html><p>\xff\xfe\xe9</p>"}), "not .* text"),
        (book({"OEBPS/text/two.xhtml": "<div>" * 600}), "nested more than 512 deep"),
        (book()[:-60], "a broken EPUB book"),
        (book({"OEBPS/book.opf": package("", "")}), "an empty document"),
        (b"not one", "named .epub and is no EPUB file"),
    ],
)
def test_a_hostile_or_broken_book_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(DocumentError, match=rf"^book.epub: .*{says}"):
        read(data)

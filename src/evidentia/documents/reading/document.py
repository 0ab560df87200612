"""Reading any document: the format is told by what is in the file, then by its name."""

import re
from importlib import import_module
from typing import Final, Protocol

from evidentia.canonical import sha256_hex
from evidentia.documents.model import Heading, Page, ReadDocument
from evidentia.documents.reading.archive import EPUB as EPUB_BOOK
from evidentia.documents.reading.archive import (
    EPUB_CONTAINER,
    EXCEL,
    EXCEL_WORKBOOK,
    POWERPOINT,
    POWERPOINT_PRESENTATION,
    WORD,
    WORD_DOCUMENT,
    Archive,
    ArchiveKind,
)
from evidentia.documents.reading.contents import Contents, problem
from evidentia.documents.reading.limits import MAX_BYTES, MAX_LINE_CHARACTERS
from evidentia.language.direction import SAMPLE_SIZE, detect_direction, detect_language

PDF: Final = "application/pdf"
DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
PPTX: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
EPUB: Final = "application/epub+zip"
NOTEBOOK: Final = "application/x-ipynb+json"
EMAIL: Final = "message/rfc822"
HTML: Final = "text/html"
MARKDOWN: Final = "text/markdown"
RST: Final = "text/x-rst"
CSV: Final = "text/csv"
TEXT: Final = "text/plain"

_READERS: Final = {
    PDF: "pdf:read_pdf",
    DOCX: "docx:read_docx",
    XLSX: "xlsx:read_xlsx",
    PPTX: "pptx:read_pptx",
    EPUB: "epub:read_epub",
    NOTEBOOK: "notebook:read_notebook",
    EMAIL: "mail:read_mail",
    HTML: "html:read_html",
    MARKDOWN: "markdown:read_markdown",
    RST: "rst:read_rst",
    CSV: "csv:read_csv",
    TEXT: "text:read_text",
}
"""Where each format's reader lives; it is imported when the first such file is read."""

_EXTRAS: Final = {"rst": "evidentia[rst]"}
"""Readers that need what not everyone has, and what brings it."""
EXTENSIONS: Final = {
    "pdf": PDF,
    "docx": DOCX,
    "docm": DOCX,
    "dotx": DOCX,
    "xlsx": XLSX,
    "xlsm": XLSX,
    "xltx": XLSX,
    "pptx": PPTX,
    "pptm": PPTX,
    "ppsx": PPTX,
    "potx": PPTX,
    "epub": EPUB,
    "ipynb": NOTEBOOK,
    "eml": EMAIL,
    "html": HTML,
    "htm": HTML,
    "xhtml": HTML,
    "md": MARKDOWN,
    "markdown": MARKDOWN,
    "mdx": MARKDOWN,
    "rst": RST,
    "rest": RST,
    "csv": CSV,
    "tsv": CSV,
    "txt": TEXT,
    "text": TEXT,
}
"""What a name's ending says of a file; what is in the file comes first."""
FORMATS: Final = (
    "PDF, DOCX, PPTX, XLSX, CSV, HTML, EPUB, Markdown, RST, Jupyter notebooks, e-mail and text"
)
"""What is read, as people are told it."""
_PLAIN: Final = frozenset({MARKDOWN, RST, CSV, EMAIL, TEXT})
_BINARY: Final = {
    PDF: "PDF",
    DOCX: "Word (DOCX)",
    XLSX: "Excel (XLSX)",
    PPTX: "PowerPoint (PPTX)",
    EPUB: "EPUB",
}

_OTHERS: Final = (
    (b"{\\rtf", "a rich text (RTF) file: save it as DOCX or PDF"),
    (b"\x89PNG", "a picture: run OCR and give the PDF or text that it makes"),
    (b"\xff\xd8\xff", "a picture: run OCR and give the PDF or text that it makes"),
    (b"GIF8", "a picture: run OCR and give the PDF or text that it makes"),
    (b"II*\x00", "a picture: run OCR and give the PDF or text that it makes"),
    (b"MM\x00*", "a picture: run OCR and give the PDF or text that it makes"),
    (b"\x1f\x8b", "a gzip archive: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
    (b"Rar!", "a RAR archive: unpack it first"),
    (b"SQLite format 3\x00", "a SQLite database, which has no pages to read"),
)
_ZIP: Final = b"PK\x03\x04"
_ZIP_TYPES: Final = (
    (WORD_DOCUMENT, DOCX),
    (EXCEL_WORKBOOK, XLSX),
    (POWERPOINT_PRESENTATION, PPTX),
    (EPUB_CONTAINER, EPUB),
)
_ZIP_NAMED: Final = {XLSX: EXCEL, PPTX: POWERPOINT, EPUB: EPUB_BOOK}
_ZIP_KINDS: Final = (
    ("xl/workbook.bin", "a binary Excel workbook (XLSB): save it as XLSX"),
    ("content.xml", "an OpenDocument file: save it as DOCX, XLSX, PPTX or PDF"),
)
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
_PDF_MARK: Final = b"%PDF-"
_PDF_MARK_WITHIN: Final = 1024
"""How far into a file PDF readers look for its mark; mail and web servers put lines before it."""
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*)*"
    rb"<(?:!doctype\s+html|html|head|body)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_LANGUAGE = re.compile(r"[a-z]{2}(?=[-_]|\Z)")
_SAMPLED_PAGES: Final = 40
_MOST_BYTES: Final = 4
"""How many bytes a character takes at most, in any encoding that is read."""


class _Reader(Protocol):
    def __call__(self, data: bytes, filename: str) -> Contents: ...


def read_document(data: bytes, filename: str) -> ReadDocument:
    """Read a document; the name tells the format only where the content does not.

    Raises `DocumentError`, which names the file and says what to do, for whatever cannot be read.
    """
    if not data.strip():
        raise problem(filename, "an empty file: nothing is in it")
    if len(data) > MAX_BYTES:
        raise problem(filename, f"{len(data):,} bytes, {MAX_BYTES:,} at most: split the file")
    media_type = _media_type(data, filename)
    reader = _reader(media_type, filename)
    if media_type in _PLAIN:  # before it is decoded, for it may be large
        _check_lines(data, filename, MAX_LINE_CHARACTERS * _MOST_BYTES)
    contents = reader(data, filename)
    for page in contents.pages:
        _check_lines(page.text, filename, MAX_LINE_CHARACTERS)
    sample = _sample(contents.pages)
    if not sample:
        raise problem(filename, "an empty document: it has no text")
    return ReadDocument(
        filename=filename,
        media_type=media_type,
        sha256=sha256_hex(data),
        pages=contents.pages,
        headings=contents.headings,
        language=detect_language(sample) or _declared(contents.language),
        direction=detect_direction(sample),
        title=contents.title or _top_heading(contents.headings),
        created=contents.created,
        modified=contents.modified,
        warnings=contents.warnings,
        effective=contents.effective,
    )


def _reader(media_type: str, filename: str) -> _Reader:
    """Return a format's reader; raise `DocumentError` if what it needs is not installed."""
    module, _, name = _READERS[media_type].partition(":")
    try:
        found: _Reader = getattr(import_module(f"evidentia.documents.reading.{module}"), name)
    except ModuleNotFoundError as error:
        package = _EXTRAS.get(module, "evidentia")
        raise problem(filename, f"reading it needs {error.name}: pip install '{package}'") from None
    return found


def _check_lines(text: str | bytes, filename: str, most: int) -> None:
    """Refuse a text of which one line is longer than anyone could read; `most` is in its units."""
    marks: tuple[str, ...] | tuple[bytes, ...] = (
        ("\n", "\r") if isinstance(text, str) else (b"\n", b"\r")
    )
    start = 0
    while len(text) - start > most:
        end = max(text.rfind(mark, start, start + most + 1) for mark in marks)  # type: ignore[arg-type]  # of one kind both
        if end < 0:
            raise problem(
                filename,
                f"a line of more than {MAX_LINE_CHARACTERS:,} characters: no reader could read it; "
                "break it into lines",
            )
        start = end + 1


def _media_type(data: bytes, filename: str) -> str:
    """Tell the format, or raise an error that says what the file is instead."""
    extension = filename.rpartition(".")[2].lower() if "." in filename else ""
    named = EXTENSIONS.get(extension)
    if data.lstrip().startswith(_PDF_MARK):
        return PDF
    if named == PDF and _PDF_MARK in data[:_PDF_MARK_WITHIN]:
        return PDF
    if data.startswith(_ZIP):
        return _zip_type(data, filename, _ZIP_NAMED.get(named or "", WORD))
    if _HTML_START.match(data):
        return HTML
    other = _other_kind(data, _ZIP_NAMED.get(named or "", WORD))
    if other:
        raise problem(filename, f"not supported: {other}")
    if named in _BINARY:
        raise problem(
            filename,
            f"named .{extension} and is no {_BINARY[named]} file: it is broken, cut short, "
            "or has the wrong name",
        )
    if named is None and b"\x00" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise problem(
            filename, f"not supported: no format that is read, which are {FORMATS}; convert it"
        )
    return named or TEXT


def _zip_type(data: bytes, filename: str, called: ArchiveKind) -> str:
    names = Archive(data, filename, called).names()
    for part, media_type in _ZIP_TYPES:
        if part in names:
            return media_type
    kind = next((kind for part, kind in _ZIP_KINDS if part in names), "a ZIP archive: unpack it")
    raise problem(filename, f"not supported: {kind}")


def _other_kind(data: bytes, called: ArchiveKind) -> str | None:
    if data.startswith(_OLE):
        if _OLE_ENCRYPTED in data:
            article = "an" if called.name[0] in "AEIO" else "a"
            return (
                f"{article} {called.name} encrypted with a password; open it, remove the password "
                "and save it"
            )
        return "an old Word, Excel or PowerPoint file: save it as DOCX, XLSX, PPTX or PDF"
    return next((kind for mark, kind in _OTHERS if data.startswith(mark)), None)


def _sample(pages: tuple[Page, ...]) -> str:
    """Return text from all over the document, to tell its language by."""
    step = len(pages) // _SAMPLED_PAGES + 1
    share = SAMPLE_SIZE // min(len(pages), _SAMPLED_PAGES)
    texts = (page.text[page.start : page.start + share] for page in pages[::step])
    sample = "\n".join(texts).strip()
    return sample or "".join(page.text[page.start :] for page in pages).strip()[:SAMPLE_SIZE]


def _declared(language: str | None) -> str | None:
    found = _LANGUAGE.match((language or "").lower())
    return found[0] if found else None


def _top_heading(headings: tuple[Heading, ...]) -> str | None:
    """Return the first of the highest headings, which serves as a title where there is none."""
    headings = tuple(heading for heading in headings if heading.written)
    top = min((heading.level for heading in headings), default=0)
    return next((heading.text for heading in headings if heading.level == top), None)

"""PDF, by PDFium: the text of each page line by line, with the size, weight and place of each line.

Text outside of the page, which no reader sees, is left out; text without visible glyphs, which is
what OCR adds to a scan, is kept. Pages that are pictures without text are read by OCR where the
extra is installed, and said in the warnings.
"""

import re
from math import sqrt
from threading import Lock
from typing import Any, Final

import pypdfium2  # type: ignore[import-untyped]
from pypdfium2 import raw as pdfium

from evidentia.documents.model import Page
from evidentia.documents.reading.contents import Contents, iso_date, problem
from evidentia.documents.reading.limits import (
    MAX_OCR_PAGES,
    MAX_OCR_PIXELS,
    MAX_PAGE_CHARACTERS,
    MAX_PAGES,
    MAX_PICTURE_PIXELS,
    MAX_TABLE_PAGES,
)
from evidentia.documents.reading.pdf_furniture import leave_out_furniture
from evidentia.documents.reading.pdf_layout import layout
from evidentia.documents.reading.pdf_lines import PdfLine, Rules
from evidentia.documents.reading.pdf_measuring import PageLines
from evidentia.documents.reading.pdf_regions import arrange
from evidentia.documents.reading.pdf_streams import check_streams
from evidentia.documents.reading.recognising import EXTRA, Recogniser, recogniser
from evidentia.documents.reading.seen import confidence_of, write_seen
from evidentia.errors import DocumentError
from evidentia.language.counting import agreed, counted

PDFIUM: Final = Lock()
"""PDFium is not safe for threads; processes do not share it."""

_FILE_NAME = re.compile(r"\.(?:docx?|pdf|pptx?|xlsx?|indd|rtf|odt|tex)\s*\Z", re.IGNORECASE)
"""What programs write as a title when nobody gave one."""
_OBJECTS_LOOKED_AT: Final = 50
_SAID: Final = 3
_NEEDS_OCR: Final = " is a picture without text: it needs OCR"
_DEPTH: Final = 4
"""How deep a picture is looked for in forms within forms."""
_SHARP, _BLURRED = 200 / 72, 1.0
"""How many dots to a point a page is drawn with for OCR, and with how few it is not worth it."""


def read_pdf(data: bytes, filename: str) -> Contents:
    """Read a PDF; `DocumentError` if it is encrypted, broken, or has no text to read."""
    check_streams(data, filename)
    with PDFIUM:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            raise _unopened(error, filename) from None
        try:
            return _read(document, filename)
        finally:
            document.close()


def _unopened(error: Any, filename: str) -> DocumentError:
    if error.err_code in {pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY}:
        return problem(filename, "encrypted with a password: open it and save it without one")
    return problem(
        filename, "a broken PDF: open it in a PDF viewer and save or print it to a new file"
    )


def _read(document: Any, filename: str) -> Contents:
    count = len(document)
    if count > MAX_PAGES:
        raise problem(filename, f"{count:,} pages, {MAX_PAGES:,} at most: split the file")
    pages: list[list[PdfLine]] = []
    drawn: list[Rules] = []
    warnings = []
    if count > MAX_TABLE_PAGES:
        warnings.append(
            f"tables and columns are read line by line, for it has more than {MAX_TABLE_PAGES:,} "
            "pages: split the file to have them in order"
        )
    scans = []
    pictures = False
    for number in range(1, count + 1):
        lines, rules, warning = _page(document, number, filename)
        pages.append(lines)
        drawn.append(rules)
        if warning == _NEEDS_OCR:
            scans.append(number)
        elif warning:
            warnings.append(f"page {number}{warning}")
        pictures = pictures or (not lines and warning is not None)
    seen, said = _recognised(document, scans, recogniser())
    if not any(pages) and not seen:
        if pictures:
            raise problem(
                filename,
                f"a scanned PDF: {counted(count, 'page')} of pictures and no text; "
                f"{'; '.join(said[:_SAID]) or 'open it in a PDF viewer'}",
            )
        raise problem(filename, f"an empty PDF: no text on its {counted(count, 'page')}")
    warnings += [f"page {number}{_NEEDS_OCR}" for number in scans if number not in seen]
    pages, furniture = leave_out_furniture(pages)
    warnings += [furniture] if furniture else []
    written, headings = layout(
        [arrange(lines, rules) for lines, rules in zip(pages, drawn, strict=True)]
    )
    written = tuple(seen.get(page.number, page) for page in written)
    title = _metadata(document, "Title")
    return Contents(
        pages=written,
        headings=headings,
        title=None if title is None or _FILE_NAME.search(title) else title,
        created=iso_date(_metadata(document, "CreationDate")),
        modified=iso_date(_metadata(document, "ModDate")),
        warnings=(*warnings, *said),
    )


def _recognised(
    document: Any, scans: list[int], see: Recogniser | None
) -> tuple[dict[int, Page], list[str]]:
    """Read pages by OCR; return those on which it saw text, and what is to be said of the rest."""
    if not scans:
        return {}, []
    if see is None:
        return {}, [f"run OCR first, or have pictures read: {EXTRA}"]
    if len(scans) > MAX_OCR_PAGES:
        return {}, [f"{len(scans):,} pages need OCR, {MAX_OCR_PAGES} at most: split the file"]
    pages: dict[int, Page] = {}
    said: list[str] = []
    for number in scans:
        drawn = _drawn(document[number - 1])
        if isinstance(drawn, str):
            said.append(f"page {number} {drawn}")
            continue
        page = write_seen(number, see(drawn))
        if page.text:
            pages[number] = page
        else:
            said.append(f"OCR saw no text on page {number}")
    if pages:
        were = agreed(len(pages), "was", "were")
        said.append(
            f"{counted(len(pages), 'page')} {were} read by OCR, "
            f"{confidence_of(pages.values()):.0%} sure: {', '.join(map(str, pages))}"
        )
    return pages, said


def _drawn(page: Any) -> Any:
    """Draw a page for OCR, and close it; say instead why it cannot be drawn."""
    try:
        width, height = page.get_size()
        scale = min(_SHARP, sqrt(MAX_OCR_PIXELS / max(width * height, 1.0)))
        if scale < _BLURRED:
            return f"is too large to be read by OCR ({width:,.0f} by {height:,.0f} points)"
        for item in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=_DEPTH):
            across, down = item.get_px_size()
            if across * down > MAX_PICTURE_PIXELS:
                return f"has a picture too large to be read by OCR ({across:,} by {down:,} pixels)"
        bitmap = page.render(scale=scale, rev_byteorder=True, draw_annots=False)
        return bitmap.to_numpy()[:, :, :3].copy()
    except pypdfium2.PdfiumError:
        return "cannot be drawn, to be read by OCR"
    finally:
        page.close()


def _metadata(document: Any, key: str) -> str | None:
    try:
        value: str = document.get_metadata_value(key)
    except UnicodeDecodeError:
        return None
    return " ".join(value.split()) or None


def _page(document: Any, number: int, filename: str) -> tuple[list[PdfLine], Rules, str | None]:
    """Return a page's lines, what is drawn there, and what is said of it behind its number."""
    try:
        page = document[number - 1]
    except pypdfium2.PdfiumError:
        return [], Rules(), " is broken and left out"
    try:
        text_page = page.get_textpage()
    except pypdfium2.PdfiumError:
        page.close()
        return [], Rules(), " is broken and left out"
    try:
        count = text_page.count_chars()
        if count > MAX_PAGE_CHARACTERS:
            raise problem(
                filename,
                f"page {number} has {count:,} characters, {MAX_PAGE_CHARACTERS:,} at most: "
                "no reader could read it",
            )
        reader = PageLines(page, text_page, count, regions=len(document) <= MAX_TABLE_PAGES)
        lines, rules = reader.lines()
        if reader.outside:
            outside = counted(reader.outside, "line")
            are = agreed(reader.outside, "is", "are")
            return lines, rules, f": {outside} outside of the page {are} left out"
        if not lines and _has_pictures(page):
            return [], rules, _NEEDS_OCR
        return lines, rules, None
    finally:
        text_page.close()
        page.close()


def _has_pictures(page: Any) -> bool:
    count = min(pdfium.FPDFPage_CountObjects(page.raw), _OBJECTS_LOOKED_AT)
    kinds = (
        pdfium.FPDFPageObj_GetType(pdfium.FPDFPage_GetObject(page.raw, n)) for n in range(count)
    )
    return any(kind in {pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM} for kind in kinds)

"""PDF, by PDFium: the text of each page line by line, with the size, weight and place of each line.

Text outside of the page, which no reader sees, is left out; text without visible glyphs, which is
what OCR adds to a scan, is kept. Pages that are pictures without text are read by OCR where the
extra is installed, and said in the warnings.
"""

import re
from collections.abc import Iterator
from ctypes import c_double, c_int, create_string_buffer
from math import hypot, sqrt
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
)
from evidentia.documents.reading.pdf_layout import PdfLine, layout
from evidentia.documents.reading.pdf_streams import check_streams
from evidentia.documents.reading.recognising import EXTRA, Recogniser, recogniser
from evidentia.documents.reading.seen import confidence_of, write_seen
from evidentia.errors import DocumentError
from evidentia.language.counting import agreed, counted

PDFIUM: Final = Lock()
"""PDFium is not safe for threads; processes do not share it."""

_FILE_NAME = re.compile(r"\.(?:docx?|pdf|pptx?|xlsx?|indd|rtf|odt|tex)\s*\Z", re.IGNORECASE)
"""What programs write as a title when nobody gave one."""
_HYPHEN: Final = "\ufffe"
"""What PDFium writes for a hyphen at a line's end, where it joins the two lines."""
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f\u2060\ufeff\uffff]")
_WIDE = re.compile("[\U00010000-\U0010ffff]")
_BOLD_NAME = re.compile(rb"bold|black|heavy|demi", re.IGNORECASE)
_BOLD: Final = 700
_SEMIBOLD: Final = 500
_NAME_BYTES: Final = 128
_ALEF_LAM = re.compile("[\u0627\u0623\u0625\u0622]\u0644")
"""Alef before lam: two letters, or the one glyph of lam and alef that PDFium turned around."""
_OBJECTS_LOOKED_AT: Final = 50
_BEYOND: Final = 1.0
"""How many points outside of the page text may stand."""
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
    pages = []
    warnings = []
    scans = []
    pictures = False
    for number in range(1, count + 1):
        lines, warning = _page(document, number, filename)
        pages.append(lines)
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
    written, headings = layout(pages)
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


def _page(document: Any, number: int, filename: str) -> tuple[list[PdfLine], str | None]:
    """Return a page's lines, and what is said of it behind its number: what they do not hold."""
    try:
        page = document[number - 1]
    except pypdfium2.PdfiumError:
        return [], " is broken and left out"
    try:
        text_page = page.get_textpage()
    except pypdfium2.PdfiumError:
        page.close()
        return [], " is broken and left out"
    try:
        reader = _Lines(page, text_page, number, filename)
        lines = list(reader.lines())
        if reader.outside:
            outside = counted(reader.outside, "line")
            are = agreed(reader.outside, "is", "are")
            return lines, f": {outside} outside of the page {are} left out"
        if not lines and _has_pictures(page):
            return [], _NEEDS_OCR
        return lines, None
    finally:
        text_page.close()
        page.close()


def _has_pictures(page: Any) -> bool:
    count = min(pdfium.FPDFPage_CountObjects(page.raw), _OBJECTS_LOOKED_AT)
    kinds = (
        pdfium.FPDFPageObj_GetType(pdfium.FPDFPage_GetObject(page.raw, n)) for n in range(count)
    )
    return any(kind in {pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM} for kind in kinds)


class _Lines:
    """Reads the lines of one page with the size, weight and place of their first and last letter.

    PDFium counts UTF-16 units, which Python's text is measured in here too.
    """

    def __init__(self, page: Any, text_page: Any, number: int, filename: str) -> None:
        self.outside = 0
        count = text_page.count_chars()
        if count > MAX_PAGE_CHARACTERS:
            raise problem(
                filename,
                f"page {number} has {count:,} characters, {MAX_PAGE_CHARACTERS:,} at most: "
                "no reader could read it",
            )
        self._handle = text_page.raw
        self._text: str = text_page.get_text_range(errors="replace") if count else ""
        self._wide = _WIDE.search(self._text) is not None
        self._ligatures = _ALEF_LAM.search(self._text) is not None
        self._shifted = self._units(self._text) != count
        left, bottom, right, top = page.get_bbox()
        self._across = (float(left) - _BEYOND, float(right) + _BEYOND)
        self._upright = (float(bottom) - _BEYOND, float(top) + _BEYOND)
        self._x, self._y = c_double(), c_double()
        self._matrix = pdfium.FS_MATRIX()
        self._name = create_string_buffer(_NAME_BYTES)
        self._flags = c_int()

    def lines(self) -> Iterator[PdfLine]:
        """Give the lines that stand on the page, without blank ones."""
        at = 0
        for line in self._text.split("\r\n"):
            units = self._units(line)
            if not line.isspace() and line:
                found = self._line(line, at)
                if found:
                    yield found
                else:
                    self.outside += 1
            at += units + 2

    def _line(self, line: str, start: int) -> PdfLine | None:
        """Measure a line at its first letter and in its middle: its end may be a note's number."""
        text = line.strip()
        first = start + len(line) - len(line.lstrip())
        last = first + self._units(text) - 1
        x, y = self._origin(first)
        if not self._is_inside(x, y) and not self._is_inside(*self._origin(last)):
            return None
        half = len(text) // 2
        while text[half].isspace():
            half -= 1
        middle = first + self._units(text[:half])
        return PdfLine(
            self._clean(text, first),
            self._size(middle),
            self._line_weight(first, middle),
            y,
            self._origin(last)[1] if _HYPHEN in text else y,
            x,
        )

    def _units(self, text: str) -> int:
        return len(text.encode("utf-16-le")) // 2 if self._wide else len(text)

    def _index(self, unit: int) -> int:
        """Return PDFium's number of a letter; it leaves some of its letters out of the text."""
        if self._shifted:
            return int(pdfium.FPDFText_GetCharIndexFromTextIndex(self._handle, unit))
        return unit

    def _origin(self, unit: int) -> tuple[float, float]:
        pdfium.FPDFText_GetCharOrigin(self._handle, self._index(unit), self._x, self._y)
        return self._x.value, self._y.value

    def _is_inside(self, x: float, y: float) -> bool:
        return self._across[0] <= x <= self._across[1] and self._upright[0] <= y <= self._upright[1]

    def _size(self, unit: int) -> float:
        """Return the size a letter is seen in, to half a point."""
        index = self._index(unit)
        size = float(pdfium.FPDFText_GetFontSize(self._handle, index))
        known = pdfium.FPDFText_GetMatrix(self._handle, index, self._matrix)
        scale = hypot(self._matrix.c, self._matrix.d) if known else 1.0
        return round(size * scale * 2) / 2

    def _line_weight(self, first: int, middle: int) -> int:
        weight = self._weight(first)
        return weight if weight < _SEMIBOLD else min(weight, self._weight(middle))

    def _weight(self, unit: int) -> int:
        """Return the weight of a letter's font, by its measure or its name."""
        index = self._index(unit)
        weight = int(pdfium.FPDFText_GetFontWeight(self._handle, index))
        if weight < _BOLD:
            self._name.value = b""
            pdfium.FPDFText_GetFontInfo(self._handle, index, self._name, _NAME_BYTES, self._flags)
            if _BOLD_NAME.search(self._name.value):
                return _BOLD
        return weight

    def _clean(self, text: str, first: int) -> str:
        """Return a line as it reads: hyphens at line ends joined, turned ligatures turned back."""
        if self._ligatures:
            text = self._with_ligatures(text, first)
        if _HYPHEN in text:
            text = _joined(text)
        return _CONTROLS.sub("", text)

    def _with_ligatures(self, text: str, first: int) -> str:
        """Put lam before alef where both are of one glyph, and so stand at one place."""
        letters = list(text)
        for found in _ALEF_LAM.finditer(text):
            at = found.start()
            unit = first + self._units(text[:at])
            if self._origin(unit) == self._origin(unit + 1):
                letters[at], letters[at + 1] = letters[at + 1], letters[at]
        return "".join(letters)


def _joined(text: str) -> str:
    """Join words that were hyphenated at a line's end; a hyphen before a capital is the word's."""
    before, *rest = text.split(_HYPHEN)
    for after in rest:
        parted = before[-1:].islower() and after[:1].islower()
        before += after if parted else f"-{after}"
    return before

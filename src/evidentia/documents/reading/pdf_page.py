"""One page of a PDF as a person sees it: its letters with their places, and its picture."""

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_double, c_int
from dataclasses import dataclass
from io import BytesIO
from math import sqrt
from typing import Any, Final

import pypdfium2  # type: ignore[import-untyped]
from pypdfium2 import raw as pdfium

from evidentia.documents.placing import Glyph, Placed, Rectangle, Word, place, words
from evidentia.documents.reading.limits import MAX_PAGE_CHARACTERS, MAX_PICTURE_PIXELS
from evidentia.documents.reading.pdf import PDFIUM
from evidentia.errors import DocumentError

LEAST_SCALE, MOST_SCALE = 0.5, 4.0
COLOURS: Final = 16
_MOST_PIXELS: Final = 8_000_000
"""How large a picture is at most, whatever scale is asked for."""
_FAR: Final = 1_000_000
"""How finely places are asked for, which are whole numbers."""
_STEP: Final = 100.0
_HALVES, _HIGH, _LOW, _BITS = 0xFFFFFC00, 0xD800, 0xDC00, 0x3FF
_BEYOND: Final = 0x10000
"""A character beyond 16 bits is written in two halves."""
_DEPTH: Final = 4


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words of a page with their places; width and height are in points, as it is seen."""

    width: float
    height: float
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class PlacedSpans:
    """Where parts of a page's text stand, in their order, and its words, read with them."""

    spans: tuple[Placed, ...]
    page: PageWords


def draw_page(data: bytes, number: int, scale: float) -> bytes:
    """Return a page as a PNG of 16 colours; a scale of 1 has 72 dots to an inch."""
    with _page(data, number) as page:
        for item in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=_DEPTH):
            across, down = item.get_px_size()
            if across * down > MAX_PICTURE_PIXELS:
                raise DocumentError(
                    f"page {number} has a picture too large to be drawn ({across:,} by {down:,} "
                    "pixels)"
                )
        width, height = page.get_size()
        most = sqrt(_MOST_PIXELS / max(width * height, 1.0))
        bitmap = page.render(scale=min(max(scale, LEAST_SCALE), MOST_SCALE, most))
        drawn = bitmap.to_pil().convert("RGB").quantize(COLOURS, method=2, dither=0)
        found = BytesIO()
        drawn.save(found, "PNG")  # optimising takes ten times as long, for two bytes of a hundred
        return found.getvalue()


def read_words(data: bytes, number: int) -> PageWords:
    """Return the words of a page, each with its place in shares."""
    with _page(data, number) as page:
        return _words(page.get_size(), _glyphs(page, number))


def place_spans(
    data: bytes, number: int, text: str, spans: tuple[tuple[int, int], ...]
) -> PlacedSpans:
    """Return where parts of a page's text stand on it, in shares, and its words.

    Finding its letters takes most of the time: who marks a passage also shows the words.
    """
    with _page(data, number) as page:
        size = page.get_size()
        glyphs = _glyphs(page, number)
        shares = (
            Placed(tuple(one.of_page(*size) for one in span.rectangles), span.reason)
            for span in place(glyphs, text, spans)
        )
        return PlacedSpans(tuple(shares), _words(size, glyphs))


def _words(size: tuple[float, float], glyphs: list[Glyph]) -> PageWords:
    shares = tuple(one._replace(place=one.place.of_page(*size)) for one in words(glyphs))
    return PageWords(*size, shares)


@contextmanager
def _page(data: bytes, number: int) -> Iterator[Any]:
    with PDFIUM:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError:
            raise DocumentError("the file cannot be opened as a PDF any more") from None
        try:
            if not 1 <= number <= len(document):
                raise DocumentError(f"there is no page {number}: it has {len(document)}")
            page = document[number - 1]
            yield page
        except pypdfium2.PdfiumError:
            raise DocumentError(f"page {number} is broken: it cannot be drawn") from None
        finally:
            document.close()


def _glyphs(page: Any, number: int) -> list[Glyph]:
    """Return the letters of a page in the order of its text, placed as the page is seen."""
    text_page = page.get_textpage()
    count = text_page.count_chars()
    if count > MAX_PAGE_CHARACTERS:
        raise DocumentError(f"page {number} has more letters than are looked at ({count:,})")
    handle, see = text_page.raw, _seen_by(page)
    box, tight = pdfium.FS_RECTF(), tuple(c_double() for _ in range(4))
    units, places = [], []
    for index in range(count):
        units.append(pdfium.FPDFText_GetUnicode(handle, index))
        if pdfium.FPDFText_GetLooseCharBox(handle, index, box):
            places.append(see(box.left, box.bottom, box.right, box.top))
        else:
            pdfium.FPDFText_GetCharBox(handle, index, tight[0], tight[2], tight[1], tight[3])
            places.append(see(*(one.value for one in tight)))
    text_page.close()
    return list(map(Glyph, _characters(units), places))


def _characters(units: list[int]) -> Iterator[str]:
    """Give a text for each unit; a character of two units stands with the second."""
    high = 0
    for unit in units:
        is_high, is_low = unit & _HALVES == _HIGH, unit & _HALVES == _LOW
        if is_low and high:
            yield chr(_BEYOND + ((high & _BITS) << 10) + (unit & _BITS))
        else:
            yield "\0" if is_high or is_low else chr(unit)
        high = unit if is_high else 0


def _seen_by(page: Any) -> Any:
    """Return what tells where something stands on a page as it is seen, cropped and turned."""
    width, height = page.get_size()
    across, down = c_int(), c_int()

    def at(x: float, y: float) -> tuple[float, float]:
        pdfium.FPDF_PageToDevice(page.raw, 0, 0, _FAR, _FAR, 0, x, y, across, down)
        return across.value / _FAR * width, down.value / _FAR * height

    (x0, y0), (x1, y1), (x2, y2) = at(0, 0), at(_STEP, 0), at(0, _STEP)
    a, b, c, d = ((one / _STEP) for one in (x1 - x0, y1 - y0, x2 - x0, y2 - y0))

    def see(left: float, bottom: float, right: float, top: float) -> Rectangle:
        x, y = x0 + a * left + c * bottom, y0 + b * left + d * bottom
        other_x, other_y = x0 + a * right + c * top, y0 + b * right + d * top
        return Rectangle(min(x, other_x), min(y, other_y), max(x, other_x), max(y, other_y))

    return see

"""What PDFium knows of a page's lines: their text, size, weight and place, and what is drawn there.

Words are measured only where a page seems to have tables or columns: it takes as long as all else.
"""

import re
from collections.abc import Iterator, Sequence
from ctypes import c_double, c_float, c_int, create_string_buffer
from itertools import pairwise
from math import hypot
from operator import itemgetter
from statistics import median
from typing import Any, Final, NamedTuple

from pypdfium2 import raw as pdfium  # type: ignore[import-untyped]

from evidentia.documents.reading.pdf_lines import (
    HYPHEN,
    PdfLine,
    Piece,
    Rule,
    Rules,
    join_hyphens,
)

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f\u2060\ufeff\uffff]")
_WIDE = re.compile("[\U00010000-\U0010ffff]")
_BOLD_NAME = re.compile(rb"bold|black|heavy|demi", re.IGNORECASE)
_BOLD: Final = 700
_SEMIBOLD: Final = 500
_NAME_BYTES: Final = 128
_ALEF_LAM = re.compile("[\u0627\u0623\u0625\u0622]\u0644")
"""Alef before lam: two letters, or the one glyph of lam and alef that PDFium turned around."""
_BEYOND: Final = 1.0
"""How many points outside of the page text may stand."""
_WORD = re.compile(f"[^\\s{HYPHEN}]+{HYPHEN}?")
_GAP: Final = 0.8
"""How many times its size the space between two words is wide that parts a line into pieces."""
_WIDEST: Final = 0.62
"""How many times its size a letter of a line is wide on average, at most; typewriters have 0.6."""
_WIDER: Final = 1.2
"""How many times the usual width of a letter tells that a line of one run has a gap."""
_MEASURABLE: Final = 12
"""Of fewer letters, the width says nothing."""
_SAMPLED: Final = 2
"""Each second line is measured to see whether a page has wide gaps."""
_MOST_OBJECTS: Final = 5_000
_MOST_POINTS: Final = 20_000
"""How much of what is drawn on a page is looked at."""
_STRAIGHT: Final = 0.5
_SHORTEST_RULE: Final = 4.0


_Span = tuple[float, float]


class _Word(NamedTuple):
    start: int
    end: int
    left: float
    right: float


class _Set(NamedTuple):
    """A line with the text and the place in PDFium's text that it was made of."""

    line: PdfLine
    raw: str
    first: int


class PageLines:
    """Reads the lines of one page with the size, weight and place of their first and last letter.

    With `regions`, it is measured what tables and columns are found by. PDFium counts UTF-16 units,
    which Python's text is measured in here too.
    """

    def __init__(self, page: Any, text_page: Any, count: int, *, regions: bool) -> None:
        self.outside = 0
        self._regions = regions
        self._page = page
        self._handle = text_page.raw
        self._text: str = text_page.get_text_range(errors="replace") if count else ""
        self._wide = _WIDE.search(self._text) is not None
        self._ligatures = _ALEF_LAM.search(self._text) is not None
        self._shifted = self._units(self._text) != count
        left, bottom, right, top = page.get_bbox()
        self._across = (float(left) - _BEYOND, float(right) + _BEYOND)
        self._upright = (float(bottom) - _BEYOND, float(top) + _BEYOND)
        self._x, self._y = c_double(), c_double()
        self._box = c_double(), c_double(), c_double(), c_double()
        self._matrix = pdfium.FS_MATRIX()
        self._name = create_string_buffer(_NAME_BYTES)
        self._flags = c_int()

    def lines(self) -> tuple[list[PdfLine], Rules]:
        """Return the lines that stand on the page, without blank ones, and what is drawn there.

        Lines have pieces, and rules are looked for, only where the page may have tables or columns.
        """
        lines = list(self._lines())
        sampled = lines[1:-1:_SAMPLED]  # the first and last are often running heads, with gaps
        if not self._regions or not _have_gaps([(line, self._runs(line)) for line in sampled]):
            return [line.line for line in lines], Rules()
        rules = find_rules(self._page)
        pieces = (tuple(self._pieces(line, rules)) for line in lines)
        return [line.line._replace(pieces=next(pieces)) for line in lines], rules

    def _lines(self) -> Iterator[_Set]:
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

    def _line(self, line: str, start: int) -> _Set | None:
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
        measured = PdfLine(
            join_hyphens(self._clean(text, first)),
            self._size(middle),
            self._line_weight(first, middle),
            y,
            self._origin(last)[1] if HYPHEN in text else y,
            x,
        )
        return _Set(measured, text, first)

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

    def _edges(self, unit: int) -> tuple[float, float]:
        """Return the left and right edge of a letter."""
        pdfium.FPDFText_GetCharBox(self._handle, self._index(unit), *self._box)
        return self._box[0].value, self._box[1].value

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
        """Return a line as it reads: turned ligatures turned back, nothing that does not print."""
        if self._ligatures:
            text = self._with_ligatures(text, first)
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

    def _runs(self, line: _Set) -> list[_Span]:
        """Return from where to where the runs of a line go that a file writes at once, by place."""
        last = line.first + self._units(line.raw) - 1
        first = self._index(line.first)
        count = pdfium.FPDFText_CountRects(self._handle, first, self._index(last) - first + 1)
        left, top, right, bottom = self._box
        found = []
        for number in range(count):
            pdfium.FPDFText_GetRect(self._handle, number, left, top, right, bottom)
            found.append((left.value, right.value))
        return sorted(found)

    def _measured(self, line: _Set, start: int, end: int) -> Iterator[_Word]:
        raw, edges = line.raw, self._edges
        for found in _WORD.finditer(raw, start, end):
            at, after = found.span()
            first = line.first + (self._units(raw[:at]) if self._wide else at)
            left, right = edges(first)
            last = after - 1 if raw[after - 1] != HYPHEN else after - 2
            if last > at:
                other, far = edges(line.first + (self._units(raw[:last]) if self._wide else last))
                left, right = min(left, other), max(right, far)
            yield _Word(at, after, left, right)

    def _pieces(self, line: _Set, rules: Rules) -> Iterator[Piece]:
        """Give the pieces of a line, and of those that a hyphen joined to it, in their order."""
        start = 0
        while start < len(line.raw):
            found = line.raw.find(HYPHEN, start)
            end = found + 1 if found >= 0 else len(line.raw)
            words = list(self._measured(line, start, end))
            if words:
                yield from self._parted(line, words, rules)
            start = end

    def _parted(self, line: _Set, words: list[_Word], rules: Rules) -> Iterator[Piece]:
        """Give the pieces that wide gaps and upright rules part words of one height into."""
        y = self._origin(line.first + self._units(line.raw[: words[0].start]))[1]
        upright = [rule.at for rule in rules.upright if rule.low <= y + 1 <= rule.high]
        ordered = sorted(words, key=itemgetter(2))
        gap = _GAP * line.line.size
        groups = [ordered[:1]]
        reach = ordered[0].right
        for word in ordered[1:]:
            if word.left - reach >= gap or any(reach <= at <= word.left for at in upright):
                groups.append([])
            groups[-1].append(word)
            reach = max(reach, word.right)
        for group in groups:
            yield self._piece(line, sorted(group), y)

    def _piece(self, line: _Set, words: list[_Word], y: float) -> Piece:
        """Return words as a piece, in the order of the text."""
        if words[0].start == 0 and words[-1].end == len(line.raw) and HYPHEN not in line.raw:
            left, right = min(word.left for word in words), max(word.right for word in words)
            return Piece(line.line.text, left, right, y, line.line.size, line.line.weight)
        text = []
        for place, word in enumerate(words):
            first = line.first + self._units(line.raw[: word.start])
            text += [" " if place else "", self._clean(line.raw[word.start : word.end], first)]
        unit = line.first + self._units(line.raw[: words[0].start])
        return Piece(
            "".join(text),
            min(word.left for word in words),
            max(word.right for word in words),
            y,
            self._size(unit),
            self._weight(unit),
        )


def _have_gaps(lines: Sequence[tuple[_Set, Sequence[_Span]]]) -> bool:
    """Whether some line has a wide gap between its runs, or is wider for its letters than most."""
    widths = []
    for line, runs in lines:
        reach = runs[0][1] if runs else 0.0
        for left, right in runs:
            if left - reach >= _GAP * line.line.size:
                return True
            reach = max(reach, right)
        if len(line.raw) >= _MEASURABLE:
            width = sum(right - left for left, right in runs)
            widths.append(width / len(line.raw) / max(line.line.size, 1.0))
    return bool(widths) and max(widths) > min(_WIDEST, _WIDER * median(widths))


def find_rules(page: Any) -> Rules:
    """Return the straight lines that are drawn on a page, and the edges of filled boxes."""
    across: list[Rule] = []
    upright: list[Rule] = []
    left_over = _MOST_POINTS
    for number in range(min(pdfium.FPDFPage_CountObjects(page.raw), _MOST_OBJECTS)):
        drawn = pdfium.FPDFPage_GetObject(page.raw, number)
        if pdfium.FPDFPageObj_GetType(drawn) == pdfium.FPDF_PAGEOBJ_PATH and left_over > 0:
            points = list(_points(drawn, left_over))
            left_over -= len(points)
            for (x, y, _), (other_x, other_y, goes_on) in pairwise(points):
                if not goes_on:
                    continue
                if abs(y - other_y) <= _STRAIGHT and abs(x - other_x) >= _SHORTEST_RULE:
                    across.append(Rule(y, min(x, other_x), max(x, other_x)))
                elif abs(x - other_x) <= _STRAIGHT and abs(y - other_y) >= _SHORTEST_RULE:
                    upright.append(Rule(x, min(y, other_y), max(y, other_y)))
    return Rules(tuple(across), tuple(upright))


def _points(drawn: Any, most: int) -> Iterator[tuple[float, float, bool]]:
    """Give the points of a path on the page, each with whether a line leads to it."""
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(drawn, matrix)
    x, y = c_float(), c_float()
    begun = (0.0, 0.0)
    for place in range(min(pdfium.FPDFPath_CountSegments(drawn), most)):
        segment = pdfium.FPDFPath_GetPathSegment(drawn, place)
        if not pdfium.FPDFPathSegment_GetPoint(segment, x, y):
            return
        at = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        is_line = pdfium.FPDFPathSegment_GetType(segment) == pdfium.FPDF_SEGMENT_LINETO
        if not is_line:
            begun = at
        yield *at, is_line
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield *begun, True

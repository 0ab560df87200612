"""Lines of a PDF become paragraphs and headings, by how they are set compared with the rest."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from evidentia.documents.model import Heading, Page
from evidentia.documents.reading.contents import MAX_HEADING_LEVEL
from evidentia.documents.reading.pdf_lines import LEADERS, PdfLine

_LARGER: Final = 1.08
"""How many times the body's size a heading is set in; sizes are known to half a point."""
_BOLDER: Final = 150
"""How much heavier than the body a heading is; a font's bold is 200 to 400 above its regular."""
_WIDER_GAP: Final = 1.25
"""How many times the usual distance between lines parts two paragraphs."""
_USUAL_QUARTER: Final = 4
"""The usual distance is the one that a quarter of the lines do not exceed: lines of paragraphs."""
_LEADING_RANGE: Final = (0.7, 3.0)
"""Distances between lines of running text, as multiples of their size."""
_MAX_TITLE_LINE: Final = 200
_MAX_BOLD_LINE: Final = 100
_REPEATED_PAGES: Final = 3
_REPEATED_SHARE: Final = 0.2
"""A line at the top or bottom of that many pages is a running head, not a heading."""
_EDGE_LINES: Final = 2

_NUMBERED = re.compile(r"\d{1,3}(\.\d{1,3}){0,4}\.?\s")
_ENTRIES: Final = 3
"""That many titles with their pages make a table of contents."""
_LEVEL: Final = 1.0
"""How many points two letters may be apart that stand at one height, or one below the other."""
_ROW_LINES: Final = 8
"""How many lines a table's row may have."""
_DIGITS = re.compile(r"\d+")


class _Body(NamedTuple):
    """How most of the document is set."""

    size: float
    weight: int
    leading: float


class _Title(NamedTuple):
    """A heading before its level is known."""

    page: int
    start: int
    text: str
    size: float
    weight: int


def layout(pages: Sequence[Sequence[PdfLine]]) -> tuple[tuple[Page, ...], tuple[Heading, ...]]:
    """Write each page's lines as text with blank lines between paragraphs, and find headings."""
    pages = [_rows(lines) for lines in pages]
    body = _body(pages)
    running = _running_heads(pages)
    contents = _contents(pages, body)
    written = []
    titles: list[_Title] = []
    for number, lines in enumerate(pages, 1):
        text, found = _page(number, lines, body, running, contents[number - 1])
        written.append(Page(number, text))
        titles += found
    return tuple(written), _with_levels(titles)


def _rows(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Return the lines with the rows of tables put together where a cell has several lines.

    Such a row is read cell by cell: down the lines of one, and up again to the next.
    """
    found: list[PdfLine] = []
    for line in lines:
        first = _row_start(found, line)
        if first is None:
            found.append(line)
        else:
            found[first:] = [_joined([*found[first:], line])]
    return found


def _joined(row: Sequence[PdfLine]) -> PdfLine:
    """Return the lines of a row as one."""
    text = " ".join(line.text for line in row)
    return row[0]._replace(text=text, last_y=min(line.last_y for line in row))


def _row_start(above: Sequence[PdfLine], line: PdfLine) -> int | None:
    """Return which line above begins the row that a line is a cell of; None if it is of none."""
    left = line.x
    for at in reversed(range(max(len(above) - _ROW_LINES, 0), len(above))):
        part = above[at]
        if part.row or line.row or (part.size, part.weight) != (line.size, line.weight):
            return None
        height = part.first_y - line.first_y
        if height < -_LEVEL:  # a line of the cell between the row's first and this one
            left = min(left, part.x)
            continue
        is_last = at == len(above) - 1
        goes_on = is_last and part.last_y < part.first_y and part.last_y <= line.first_y + _LEVEL
        begins = not is_last and height <= _LEVEL
        return at if (begins or goes_on) and part.x < left - _LEVEL else None
    return None


def _body(pages: Sequence[Sequence[PdfLine]]) -> _Body:
    """Measure the document: the size and weight that most characters have, and the leading."""
    styles: Counter[tuple[float, int]] = Counter()
    for lines in pages:
        for line in lines:
            styles[line.size, line.weight] += len(line.text)
    size, weight = max(styles, key=lambda style: (styles[style], style), default=(0.0, 0))
    low, high = _LEADING_RANGE
    distances = sorted(
        (above.last_y - below.first_y) / size
        for lines in pages
        for above, below in pairwise(lines)
        if above.size == below.size == size
        and low * size <= above.last_y - below.first_y <= high * size
    )
    usual = distances[len(distances) // _USUAL_QUARTER] if distances else high
    return _Body(size, weight, usual)


def _running_heads(pages: Sequence[Sequence[PdfLine]]) -> frozenset[tuple[str, float]]:
    """Return the lines that stand at the edges of many pages, without their numbers."""
    found: Counter[tuple[str, float]] = Counter()
    for lines in pages:
        found.update({_unnumbered(line) for line in _edges(lines)})
    least = max(_REPEATED_PAGES, _REPEATED_SHARE * len(pages))
    return frozenset(line for line, count in found.items() if count >= least)


def _contents(pages: Sequence[Sequence[PdfLine]], body: _Body) -> list[frozenset[str]]:
    """Return for each page the lines of a table of contents: titles with their pages.

    A page has one if several such lines have its dots, or name what is set as a heading there or
    further on.
    """
    titles: set[str] = set()
    found: list[frozenset[str]] = []
    for lines in reversed(pages):
        titles |= {line.text for line in lines if _is_title(line, body, opens=True)}
        entries = {line.text: _entry(line.text) for line in lines if _entry(line.text)}
        sure = sum(
            title in titles or LEADERS.search(text) is not None for text, title in entries.items()
        )
        found.append(frozenset(entries if sure >= _ENTRIES else ()))
    return found[::-1]


def _entry(text: str) -> str:
    """Return the title that a line of a table of contents names; "" if it does not end so."""
    title = text.rstrip("0123456789")
    bare = title.rstrip(" \xa0.…")
    return bare if len(bare) < len(title) < len(text) else ""


def _edges(lines: Sequence[PdfLine]) -> list[PdfLine]:
    return [*lines[:_EDGE_LINES], *lines[_EDGE_LINES:][-_EDGE_LINES:]]


def _unnumbered(line: PdfLine) -> tuple[str, float]:
    """Return a line's text without numbers, and its size: a title may be set as large but once."""
    return _DIGITS.sub("", line.text).strip(), line.size


def _page(
    number: int,
    lines: Sequence[PdfLine],
    body: _Body,
    running: frozenset[tuple[str, float]],
    contents: frozenset[str],
) -> tuple[str, list[_Title]]:
    """Write one page, and give its headings; those on several lines in a row are one."""
    parts: list[str] = []
    titles: list[_Title] = []
    at = 0
    above: PdfLine | None = None
    above_is_title = False
    for line in lines:
        parted = above is None or _is_parted(above, line, body)
        is_title = (
            _is_title(line, body, opens=parted or above_is_title)
            and _unnumbered(line) not in running
            and line.text not in contents
        )
        goes_on = (
            above is not None
            and is_title
            and above_is_title
            and (above.size, above.weight) == (line.size, line.weight)
            and not parted
        )
        if above is not None:
            gap = "\n\n" if parted or is_title != above_is_title else "\n"
            parts.append(gap)
            at += len(gap)
        if goes_on:
            last = titles.pop()
            titles.append(last._replace(text=f"{last.text} {line.text}"))
        elif is_title:
            titles.append(_Title(number, at, line.text, line.size, line.weight))
        parts.append(line.text)
        at += len(line.text)
        above, above_is_title = line, is_title
    return "".join(parts), titles


def _is_parted(above: PdfLine, below: PdfLine, body: _Body) -> bool:
    """Whether more space than usual is between two lines, or they are set in different sizes."""
    if above.row or below.row:
        return not (above.row and below.row)
    if above.size != below.size:
        return True
    return above.last_y - below.first_y > body.leading * _WIDER_GAP * max(above.size, 1.0)


def _is_title(line: PdfLine, body: _Body, *, opens: bool) -> bool:
    """Whether a line is set as a heading: larger than the body, or bold and by itself."""
    if line.row:
        return False
    text = line.text
    larger = line.size >= body.size * _LARGER and len(text) <= _MAX_TITLE_LINE
    bolder = (
        opens
        and line.weight >= body.weight + _BOLDER
        and line.size >= body.size
        and len(text) <= _MAX_BOLD_LINE
        and not text.endswith((".", ",", ";"))
    )
    return (larger or bolder) and any(map(str.isalpha, text)) and not LEADERS.search(text)


def _with_levels(titles: Sequence[_Title]) -> tuple[Heading, ...]:
    """Give headings their levels: larger first, then bolder, then the shorter number."""
    ranks = [(-title.size, -title.weight, _depth(title.text)) for title in titles]
    levels = {rank: at for at, rank in enumerate(sorted(set(ranks)), 1)}
    return tuple(
        Heading(min(levels[rank], MAX_HEADING_LEVEL), title.text, title.page, title.start)
        for title, rank in zip(titles, ranks, strict=True)
    )


def _depth(text: str) -> int:
    """Return how many parts a heading's number has: 2 for `4.2 Leave`, 1 for none."""
    found = _NUMBERED.match(text)
    return len(_DIGITS.findall(found[0])) if found else 1

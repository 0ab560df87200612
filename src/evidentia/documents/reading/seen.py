"""Lines that OCR saw on a page become the page's text, with how sure each of them is."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import fmean, median
from typing import Final, NamedTuple

from evidentia.documents.model import Page, SeenSpan
from evidentia.language.direction import detect_direction

_GUTTER: Final = 0.8
"""How many times a line's height the space between two columns of text is wide."""
_COLUMN_LINES: Final = 4
_COLUMN_CHARACTERS: Final = 20
"""Columns have lines of some length; shorter ones are cells of a table, which is read by rows."""
_PARAGRAPH: Final = 0.8
"""How many times a line's height parts two paragraphs."""


class SeenLine(NamedTuple):
    """A line that OCR saw: how sure it is from 0 to 1, and its edges, from the page's top left."""

    text: str
    confidence: float
    left: float
    top: float
    right: float
    bottom: float


def write_seen(number: int, lines: Iterable[SeenLine]) -> Page:
    """Write a page column by column, each of them row by row; a wider gap parts paragraphs."""
    lines = [line._replace(text=" ".join(line.text.split())) for line in lines]
    lines = [line for line in lines if line.text]
    if not lines:
        return Page(number, "")
    height = median(line.bottom - line.top for line in lines)
    backwards = detect_direction("\n".join(line.text for line in lines)) == "rtl"
    parts: list[str] = []
    spans: list[SeenSpan] = []
    at = 0
    for column in _columns(lines, height, backwards=backwards):
        below = float("-inf")
        for row in _rows(column):
            row.sort(key=lambda line: -line.right if backwards else line.left)
            top = min(line.top for line in row)
            gap = "\n" if top - below <= _PARAGRAPH * height else "\n\n"
            for line in row:
                parts.append(gap if parts else "")
                at += len(parts[-1])
                spans.append(SeenSpan(at, at + len(line.text), line.confidence))
                parts.append(line.text)
                at += len(line.text)
                gap = " "
            below = max(line.bottom for line in row)
    return Page(number, "".join(parts), seen=tuple(spans))


def confidence_of(pages: Iterable[Page]) -> float:
    """Return how sure the lines are that OCR saw on pages, all in all."""
    return fmean([span.confidence for page in pages for span in page.seen] or [0.0])


def _columns(lines: Sequence[SeenLine], height: float, *, backwards: bool) -> list[list[SeenLine]]:
    """Part lines where a space runs down between two columns of text, and nothing crosses it."""
    ordered = sorted(lines, key=lambda line: line.left)
    reach = float("-inf")
    for place, (before, line) in enumerate(pairwise(ordered), 1):
        reach = max(reach, before.right)
        if line.left - reach >= _GUTTER * height:
            sides = [ordered[:place], ordered[place:]]
            if all(map(_is_column, sides)):
                first, second = (_columns(side, height, backwards=backwards) for side in sides)
                return [*second, *first] if backwards else [*first, *second]
    return [list(lines)]


def _is_column(lines: Sequence[SeenLine]) -> bool:
    return (
        len(lines) >= _COLUMN_LINES
        and median(len(line.text) for line in lines) >= _COLUMN_CHARACTERS
    )


def _rows(lines: Iterable[SeenLine]) -> list[list[SeenLine]]:
    """Put lines that stand at one height together, from the top down."""
    rows: list[list[SeenLine]] = []
    for line in sorted(lines, key=lambda line: (line.top + line.bottom, line.left)):
        if rows and line.top < (rows[-1][0].top + rows[-1][0].bottom) / 2:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows

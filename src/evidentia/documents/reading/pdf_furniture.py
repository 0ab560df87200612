"""Page furniture of a PDF: running heads, footers and page numbers, which are of no passage.

A line is furniture if it is short, stands alone at the top or bottom of the page, and stands at the
same place on most pages, whatever its numbers. A number alone must count the pages. What is not
sure is text.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final, NamedTuple

from evidentia.documents.reading.pdf_lines import PdfLine
from evidentia.language.counting import agreed, counted

_FEWEST_PAGES: Final = 3
_MOST: Final = 0.5
"""Which part of the pages has something at the place where furniture stands, at least."""
_EDGE_LINES: Final = 3
_LONGEST: Final = 150
_PLACE: Final = 3.0
"""How many points apart the same thing may stand on two pages."""
_APART: Final = 0.6
"""How many times its size is free between furniture and text; between lines, a third of it is."""
_RISE: Final = 0.8
"""Which part of its size a letter stands above its line."""
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"\W{0,3}(\d{1,5})\W{0,3}")
_NAMED: Final = 3
_SHOWN: Final = 60

_Key = tuple[bool, str, float]
"""What repeats: whether it is at the top, what it says but for its numbers, and its size."""


class _Edge(NamedTuple):
    """A line at the edge of a page: its page, its place among the lines, and what it may repeat."""

    page: int
    line: int
    y: float
    key: _Key


def leave_out_furniture(
    pages: Sequence[Sequence[PdfLine]],
) -> tuple[list[list[PdfLine]], str | None]:
    """Return the pages without their furniture, and what is said of it."""
    repeated = _repeated(pages)
    kept = []
    left_out: Counter[_Key] = Counter()
    shown: dict[_Key, str] = {}
    for number, lines in enumerate(pages, 1):
        dropped = {
            edge.line: edge.key
            for top in (True, False)
            for edge in _alone(lines, _edges(number, lines, top=top), repeated)
        }
        if len(dropped) == len(lines):  # it frames no text, so it may be the text
            dropped = {}
        kept.append([line for at, line in enumerate(lines) if at not in dropped])
        for at, key in dropped.items():
            left_out[key] += 1
            shown.setdefault(key, lines[at].text)
    return kept, _said(left_out, shown)


def _edges(page: int, lines: Sequence[PdfLine], *, top: bool) -> list[_Edge]:
    """Return the outermost lines of a page from its edge inwards."""
    order = sorted(range(len(lines)), key=lambda at: lines[at].first_y, reverse=top)
    return [
        _Edge(page, at, lines[at].first_y, (top, _repeats(lines[at].text, page), lines[at].size))
        for at in order[:_EDGE_LINES]
    ]


def _repeats(text: str, page: int) -> str:
    """Return what a line says on each page: its text without numbers; of a number, how it counts.

    Nothing is repeated by what is long.
    """
    number = _NUMBER.fullmatch(text)
    if number:
        return f"{int(number[1]) - page:+}"
    return _DIGITS.sub("", text).strip() if len(text) <= _LONGEST else ""


def _repeated(pages: Sequence[Sequence[PdfLine]]) -> frozenset[tuple[int, int]]:
    """Return the pages and lines of what repeats at a place where most pages have such a line."""
    by_key: defaultdict[_Key, list[_Edge]] = defaultdict(list)
    for number, lines in enumerate(pages, 1):
        for top in (True, False):
            for edge in _edges(number, lines, top=top):
                by_key[edge.key].append(edge)
    groups = []
    for (top, said, _), edges in by_key.items():
        usual = median(edge.y for edge in edges)
        same = [edge for edge in edges if abs(edge.y - usual) <= _PLACE]
        if said and len({edge.page for edge in same}) >= _FEWEST_PAGES:
            groups.append((top, usual, same))
    found = set()
    for top, usual, same in groups:
        there = {
            edge.page
            for other_top, other, edges in groups
            if other_top == top and abs(other - usual) <= _PLACE
            for edge in edges
        }
        if len(there) > _MOST * len(pages):
            found |= {(edge.page, edge.line) for edge in same}
    return frozenset(found)


def _alone(
    lines: Sequence[PdfLine], edges: Sequence[_Edge], repeated: frozenset[tuple[int, int]]
) -> Iterator[_Edge]:
    """Give the lines from the edge inwards that repeat, up to where space parts them from text."""
    inwards = [lines[edge.line] for edge in edges]
    until = 0
    for at, edge in enumerate(edges):
        if (edge.page, edge.line) not in repeated:
            break
        if at + 1 < len(inwards):
            line, following = inwards[at : at + 2]
            lower, upper = sorted((line, following), key=lambda one: one.first_y)
            space = upper.first_y - lower.first_y - _RISE * lower.size - (1 - _RISE) * upper.size
            if space >= _APART * line.size:
                until = at + 1
    yield from edges[:until]


def _said(left_out: Counter[_Key], shown: dict[_Key, str]) -> str | None:
    count = left_out.total()
    if not count:
        return None
    named = [f"“{shown[key][:_SHOWN]}”" for key, _ in left_out.most_common(_NAMED)]
    return (
        f"{counted(count, 'line')} of page furniture (running heads, footers, page numbers) "
        f"{agreed(count, 'is', 'are')} left out, such as {', '.join(named)}"
    )

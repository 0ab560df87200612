"""The picture of a page with what lies over it: the words that can be selected, and the marks.

Places are in points from the upper left corner, as the drawing over the picture has them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from evidentia.documents.placing import Rectangle, Word
from evidentia.documents.reading.pdf_page import PageWords

_COMMON: Final = 0.5
"""Which share of the lower one's height two words of a line have in common."""
_FAR: Final = 4.0
"""How many times its height a word is away that is in another column."""
_BASE: Final = 0.8
"""How far below the top of its box a word's line is."""
_SIZE: Final = 0.86
"""How large letters are whose box is so high."""


class Box(NamedTuple):
    """A rectangle: its corner and its size."""

    x: float
    y: float
    width: float
    height: float


class PlacedText(NamedTuple):
    """A word: where it begins, its line, the size of its letters, and how long it is."""

    text: str
    x: float
    y: float
    size: float
    length: float


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page of a PDF: its size in points, the lines of its text, the boxes of each mark."""

    width: float
    height: float
    lines: tuple[tuple[PlacedText, ...], ...]
    passage: tuple[Box, ...] = ()
    cited: tuple[Box, ...] = ()


def sheet_of(
    page: PageWords, passage: Iterable[Rectangle] = (), cited: Iterable[Rectangle] = ()
) -> Sheet:
    """Return a page with its words in lines, and marks that are given in shares of its size."""
    size = page.width, page.height
    lines = tuple(
        tuple(_placed(word.text, _box(word.place, size)) for word in line)
        for line in _lines(page.words)
    )
    return Sheet(
        page.width,
        page.height,
        lines,
        tuple(_box(one, size) for one in passage),
        tuple(_box(one, size) for one in cited),
    )


def _lines(words: Sequence[Word]) -> list[list[Word]]:
    """Return words in lines: in each, those beside each other in the order of the text."""
    found: list[list[Word]] = []
    for word in words:
        if found and _is_beside(found[-1][-1].place, word.place):
            found[-1].append(word)
        else:
            found.append([word])
    return found


def _is_beside(before: Rectangle, one: Rectangle) -> bool:
    height = min(before.bottom - before.top, one.bottom - one.top)
    common = min(before.bottom, one.bottom) - max(before.top, one.top)
    gap = max(one.left - before.right, before.left - one.right)
    return common >= _COMMON * height and gap <= _FAR * height


def _box(place: Rectangle, size: tuple[float, float]) -> Box:
    width, height = size
    return Box(
        round(place.left * width, 2),
        round(place.top * height, 2),
        round((place.right - place.left) * width, 2),
        round((place.bottom - place.top) * height, 2),
    )


def _placed(text: str, box: Box) -> PlacedText:
    y = round(box.y + _BASE * box.height, 2)
    return PlacedText(text, box.x, y, round(_SIZE * box.height, 2), max(box.width, 0.01))

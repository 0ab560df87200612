"""Lines of a PDF's page as they are set, with the pieces that wide gaps part them into."""

import re
from typing import Final, NamedTuple

HYPHEN: Final = "\ufffe"
"""What PDFium writes for a hyphen at a line's end, where it joins the two lines."""


LEADERS = re.compile(r"(?:\. ?){4}|…{2}")
"""The dots of a table of contents."""


class Piece(NamedTuple):
    """Words of a line with no wide gap between them: a cell, or a line of one column."""

    text: str
    left: float
    right: float
    y: float
    size: float
    weight: int


class PdfLine(NamedTuple):
    """A line as it is set: its size and weight (the lesser of its ends), baselines, left edge.

    A word that was hyphenated, or a table's row with a cell of several lines, joins lines into
    one, which then ends lower than it begins. `pieces` are there on pages that have wide gaps;
    `row` says that the line is a table's row, which stands by itself.
    """

    text: str
    size: float
    weight: int
    first_y: float
    last_y: float
    x: float = 0.0
    pieces: tuple[Piece, ...] = ()
    row: bool = False


class Rule(NamedTuple):
    """A line that is drawn: where it is, and from where to where it goes."""

    at: float
    low: float
    high: float


class Rules(NamedTuple):
    """The lines that are drawn on a page, or the edges of what is filled."""

    across: tuple[Rule, ...] = ()
    upright: tuple[Rule, ...] = ()


def join_hyphens(text: str) -> str:
    """Join words that were hyphenated at a line's end; a hyphen before a capital is the word's."""
    before, *rest = text.split(HYPHEN)
    for after in rest:
        parted = before[-1:].islower() and after[:1].islower()
        before += after if parted else f"-{after}"
    return before

"""Where on a page a text stands: a document's text against the letters that a page is drawn with.

The two are not the same text: lines are joined and parted, hyphens go, ligatures are letters or
one glyph, columns and the rows of tables are put in order, and a row names its columns. So both are
compared by their letters alone, line by line, and each letter of the page is used once. A line that
stands in several places is found by the lines before and behind it. What is still unsure has no
place: nothing is marked rather than something wrong.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

SURE: Final = 0.9
"""Which share of a passage's letters has a place where the passage has one."""
_SHORTEST: Final = 8
"""How many letters a part of a line has at least that is looked for by itself."""
_SAME_LINE: Final = 0.5
"""Which share of their height two letters of one line have in common."""
_ALIKE: Final = 0.5
"""How many times the height of the higher one the lower of two letters of a line has at least."""
_GAP: Final = 2.0
"""How many times its height a gap is wide that parts a rectangle."""
_LEFT_OUT = re.compile(
    r"[\s\u00ad\u2010\u2011\u2043\ufe63\uff0d\-\u0640\ufffe\uffff\ufeff\u200b-\u200f\u2060\u202a-\u202e\u2066-\u2069\x00-\x1f\x7f]+"
)
"""What is no letter: spaces, hyphens, the stretching of Arabic words, marks of direction."""
_CELLS: Final = " | "
_LABEL = re.compile(r"[^|]{1,200}?: ")
_ALEFS: Final = frozenset("\u0627\u0623\u0625\u0622")
_LAM: Final = "\u0644"
NOT_FOUND: Final = "its text was not found among the letters of the page"
NOTHING: Final = "there is no text to look for"


class Rectangle(NamedTuple):
    """A place on a page as it is seen, from its upper left corner: in points, or in shares."""

    left: float
    top: float
    right: float
    bottom: float

    def of_page(self, width: float, height: float) -> "Rectangle":
        """Return a place in points as shares of a page's width and height, 0 to 1."""
        sizes = width, height, width, height
        shares = (one / size for one, size in zip(self, sizes, strict=True))
        return Rectangle(*(round(min(max(share, 0.0), 1.0), 5) for share in shares))


class Glyph(NamedTuple):
    """A letter as a page is drawn with it, or a space or line's end, and its place."""

    text: str
    place: Rectangle


class Word(NamedTuple):
    """A word of a page, and where it stands."""

    text: str
    place: Rectangle


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a part of a text stands, line by line; if nowhere, why."""

    rectangles: tuple[Rectangle, ...] = ()
    reason: str | None = None


def words(glyphs: Sequence[Glyph]) -> list[Word]:
    """Return the words of a page as they are drawn, in the order of its text."""
    if _is_sideways(glyphs):
        return [Word(text, _swapped(place)) for text, place in words(_turned_page(glyphs))]
    found: list[Word] = []
    letters: list[Glyph] = []
    for glyph in [*glyphs, Glyph(" ", Rectangle(0, 0, 0, 0))]:
        parts = letters and not _goes_on(letters[-1].place, glyph.place)
        if glyph.text.strip(" \r\n\t\0\ufffe\xa0") and not parts:
            letters.append(glyph)
            continue
        if letters:
            text = "".join(letter.text for letter in letters)
            found.append(Word(text, _around([letter.place for letter in letters])))
        letters = [glyph] if glyph.text.strip(" \r\n\t\0\ufffe\xa0") else []
    return found


def place(
    glyphs: Sequence[Glyph], text: str, spans: Sequence[tuple[int, int]]
) -> tuple[Placed, ...]:
    """Return where parts of a page's text stand, each given by where it begins and ends.

    `text` is all that is known of the page's text, also around the parts: it tells apart what
    stands there several times.
    """
    if _is_sideways(glyphs):
        return tuple(
            Placed(tuple(map(_swapped, one.rectangles)), one.reason)
            for one in place(_turned_page(glyphs), text, spans)
        )
    drawn = _Drawn(_turned(glyphs))
    lines = [_Line.of(found.group(), found.start()) for found in re.finditer(r"[^\n]+", text)]
    alignment = _Alignment(drawn, lines)
    return tuple(_placed(glyphs, alignment, span) for span in spans)


def _placed(glyphs: Sequence[Glyph], alignment: "_Alignment", span: tuple[int, int]) -> Placed:
    found, total = alignment.within(*span)
    if not total:
        return Placed(reason=NOTHING)
    if len(found) < SURE * total:
        return Placed(reason=NOT_FOUND)
    return Placed(tuple(_lines_of(glyphs[one].place for one in found)))


# Letters


class _Letters(NamedTuple):
    """A text's letters, and of each where it comes from."""

    text: str
    origins: list[int]

    @classmethod
    def of(cls, pieces: Iterable[tuple[int, str]]) -> "_Letters":
        found: list[str] = []
        origins: list[int] = []
        for origin, piece in pieces:
            for letter in _folded(piece):
                found.append(letter)
                origins.append(origin)
        return cls("".join(found), origins)


@lru_cache(4_096)
def _folded(character: str) -> str:
    """Return the letters of a character: of a ligature several, of a space, hyphen or mark none."""
    composed = unicodedata.normalize("NFKC", character).casefold()
    letters = _LEFT_OUT.sub("", unicodedata.normalize("NFKD", composed))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _turned(glyphs: Sequence[Glyph]) -> list[tuple[int, str]]:
    """Return the letters with their numbers; lam comes before alef where both are one glyph."""
    found = [(number, glyph.text) for number, glyph in enumerate(glyphs)]
    for number in range(len(glyphs) - 1):
        first, second = glyphs[number], glyphs[number + 1]
        if first.text in _ALEFS and second.text == _LAM and first.place == second.place:
            found[number], found[number + 1] = (number, _LAM), (number + 1, first.text)
    return found


class _Drawn:
    """The letters of a page, and which of them a line has taken."""

    def __init__(self, pieces: Sequence[tuple[int, str]]) -> None:
        self.letters = _Letters.of(pieces)
        self._taken = bytearray(len(self.letters.text))
        spaces = {number for number, text in pieces if not text.strip(" \r\n\t\0\xa0\ufffe")}
        origins = self.letters.origins
        self._begins = {
            place
            for place, origin in enumerate(origins)
            if not place or origin - 1 in spaces or origin - origins[place - 1] > 1
        }

    def places(self, text: str) -> list[int]:
        """Return where letters stand that no line has taken; where words begin and end if so."""
        found: list[int] = []
        at = self.letters.text.find(text)
        while at >= 0:
            if not any(self._taken[at : at + len(text)]):
                found.append(at)
            at = self.letters.text.find(text, at + 1)
        size = len(self.letters.text)
        whole = [
            one
            for one in found
            if one in self._begins and (one + len(text) in self._begins or one + len(text) == size)
        ]
        return whole or found

    def take(self, start: int, length: int) -> None:
        """Note that letters are a line's."""
        self._taken[start : start + length] = b"\1" * length


class _Spelling(NamedTuple):
    """How a line may be written on a page: its letters, and where in the text they come from."""

    text: str
    origins: list[int]


@dataclass(slots=True)
class _Line:
    """A line of the text: how it may be written, and what is found of it."""

    spellings: list[_Spelling]
    found: dict[int, int]
    """The page's letter of each place in the text that has one."""
    first: int = -1
    after: int = -1
    """Where among the page's letters it begins and ends, where it stands there whole."""
    used: int = 0

    @classmethod
    def of(cls, text: str, start: int) -> "_Line":
        ways = [[(0, text)]]
        if _CELLS in text:  # a row of a table, which names its columns
            ways.append([])
            at = 0
            for cell in text.split(_CELLS):
                label = _LABEL.match(cell)
                skipped = label.end() if label else 0
                ways[1].append((at + skipped, cell[skipped:]))
                at += len(cell) + len(_CELLS)
        spellings = []
        for way in ways:
            letters = _Letters.of(
                (start + at + place, letter)
                for at, part in way
                for place, letter in enumerate(part)
            )
            spellings.append(_Spelling(*letters))
        return cls(spellings, {})

    @property
    def is_found(self) -> bool:
        return self.first >= 0


class _Alignment:
    """The lines of a text, each with its place among the letters of a page if that is sure."""

    def __init__(self, drawn: _Drawn, lines: Sequence[_Line]) -> None:
        self._drawn = drawn
        self._lines = [line for line in lines if line.spellings[0].text]
        # the longest first: what is long stands in one place, and leaves fewer for the rest
        by_length = sorted(self._lines, key=lambda line: -len(line.spellings[0].text))
        alike = Counter(line.spellings[0].text for line in self._lines)
        for line in by_length:
            if alike[line.spellings[0].text] == 1:
                self._place_sole(line)
        self._place_all_beside()
        self._place_in_order()
        self._place_all_beside()
        for line in [self._lines[at] for at in self._open()]:
            if alike[line.spellings[0].text] == 1:
                self._place_parts(line)
        self._known = {
            place: letter for line in self._lines for place, letter in line.found.items()
        }
        self._asked = sorted(
            place for line in self._lines for place in line.spellings[line.used].origins
        )

    def within(self, start: int, end: int) -> tuple[list[int], int]:
        """Return the page's glyphs of a part of the text, and how many letters that has."""
        first, after = bisect_left(self._asked, start), bisect_left(self._asked, end)
        asked = self._asked[first:after]
        origins = self._drawn.letters.origins
        return [origins[self._known[one]] for one in asked if one in self._known], len(asked)

    def _open(self) -> list[int]:
        return [at for at, line in enumerate(self._lines) if not line.is_found]

    def _set(self, line: _Line, used: int, first: int) -> None:
        spelling = line.spellings[used]
        line.used, line.first, line.after = used, first, first + len(spelling.text)
        line.found = {origin: first + at for at, origin in enumerate(spelling.origins)}
        self._drawn.take(first, len(spelling.text))

    def _places(self, line: _Line) -> Iterator[tuple[int, list[int]]]:
        """Give the spellings of a line with the places in which they stand, if in any."""
        for used, spelling in enumerate(line.spellings):
            found = self._drawn.places(spelling.text) if spelling.text else []
            if found:
                yield used, found

    def _place_sole(self, line: _Line) -> None:
        for used, found in self._places(line):
            if len(found) == 1 and len(line.spellings[used].text) >= _SHORTEST:
                self._set(line, used, found[0])
            return

    def _place_all_beside(self) -> None:
        is_known = True
        while is_known:  # each that is placed may tell where its neighbours are
            placed = [self._place_beside(at) for at in self._open()]
            is_known = any(placed)

    def _place_beside(self, at: int) -> bool:
        """Place a line that stands directly behind the one before it, or before the next."""
        before = self._lines[at - 1].after if at else -1
        behind = self._lines[at + 1].first if at + 1 < len(self._lines) else -1
        for used, found in self._places(self._lines[at]):
            length = len(self._lines[at].spellings[used].text)
            beside = [one for one in found if one == before or one + length == behind]
            chosen = beside if len(beside) == 1 else [one for one in beside if one == before]
            if chosen:
                self._set(self._lines[at], used, chosen[0])
                return True
        return False

    def _place_in_order(self) -> None:
        """Place lines that the text has as often as the page, in the order of both."""
        alike: dict[str, list[_Line]] = {}
        for at in self._open():
            alike.setdefault(self._lines[at].spellings[0].text, []).append(self._lines[at])
        for text, lines in alike.items():
            found = self._drawn.places(text)
            if len(found) == len(lines):
                for line, first in zip(lines, found, strict=True):
                    self._set(line, 0, first)

    def _place_parts(self, line: _Line) -> None:
        """Place those parts of a line that stand in one place each, the longest from each start."""
        line.used = len(line.spellings) - 1
        text, origins = line.spellings[line.used]
        at = 0
        while at < len(text):
            length = self._longest(text, at)
            found = self._drawn.places(text[at : at + length]) if length >= _SHORTEST else []
            if len(found) == 1:
                self._drawn.take(found[0], length)
                for step in range(length):
                    line.found[origins[at + step]] = found[0] + step
            at += max(length, 1) if len(found) == 1 else 1

    def _longest(self, text: str, at: int) -> int:
        """Return how many letters from a place on stand together on the page."""
        low, high = 0, len(text) - at
        while low < high:
            middle = (low + high + 1) // 2
            if text[at : at + middle] in self._drawn.letters.text:
                low = middle
            else:
                high = middle - 1
        return low


# Rectangles


def _lines_of(places: Iterable[Rectangle]) -> Iterator[Rectangle]:
    """Give one rectangle for the letters of each line, which touch or nearly so."""
    line: list[Rectangle] = []
    for one in places:
        if line and not _goes_on(line[-1], one):
            yield _around(line)
            line = []
        line.append(one)
    yield _around(line)


def _goes_on(before: Rectangle, one: Rectangle) -> bool:
    """Whether a letter stands in the line of another, on either side of it and not far away."""
    heights = sorted((before.bottom - before.top, one.bottom - one.top))
    common = min(before.bottom, one.bottom) - max(before.top, one.top)
    gap = max(one.left - before.right, before.left - one.right)
    # one that is much higher, as a capital of three lines, would reach into other lines
    return (
        common >= _SAME_LINE * heights[0]
        and heights[0] >= _ALIKE * heights[1]
        and gap <= _GAP * heights[1]
    )


def _is_sideways(glyphs: Sequence[Glyph]) -> bool:
    """Whether most letters of a page stand below each other: it is seen turned."""
    letters = [glyph.place for glyph in glyphs if _folded(glyph.text)]
    upright = sum(
        abs(one.top - other.top) > abs(one.left - other.left) for one, other in pairwise(letters)
    )
    return 2 * upright > len(letters)


def _turned_page(glyphs: Iterable[Glyph]) -> list[Glyph]:
    return [Glyph(text, _swapped(place)) for text, place in glyphs]


def _swapped(place: Rectangle) -> Rectangle:
    """Return a place with across for down."""
    return Rectangle(place.top, place.left, place.bottom, place.right)


def _around(places: Sequence[Rectangle]) -> Rectangle:
    return Rectangle(
        min(one.left for one in places),
        min(one.top for one in places),
        max(one.right for one in places),
        max(one.bottom for one in places),
    )

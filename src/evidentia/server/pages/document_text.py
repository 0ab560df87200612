"""A page's text as blocks to be read: headings, paragraphs, lists and tables, with parts marked.

Markdown is shown without its signs. Each piece of text has its shade: of the cited sentence, of the
passage around it, or none. Values in, values out.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from evidentia.documents.model import DocumentChunk
from evidentia.workspace.passages import page_text

Shade = Literal["", "passage", "cited"]
Span = tuple[int, int]
Kind = Literal["heading", "named", "item", "table", "code", "text"]
Pieces = list[tuple[Shade, str]]

PART: Final = 20_000
"""How many characters of a page are shown at once, about; pages of most formats have fewer."""
MARKDOWN: Final = "text/markdown"
_HEADING: Final = re.compile(r"(#{1,6})\s+")
_ITEM: Final = re.compile(r"\s*(?:[-*+•‣▪]|\d{1,3}[.)])\s+")
_SIGN: Final = re.compile(r"\s*[-*+•‣▪]\s+")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_RULE: Final = re.compile(r"\s*\|?[\s:|-]*-{3}[\s:|-]*$")
_CELL: Final = re.compile(r"(?<!\\)\|")
_SIGNS: Final = re.compile(
    r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|`+|\\(?=[!-/:-@\[-`{-~])"
    r"|!?\[(?=[^\]\n]*\]\([^)\n]*\))|(?<=[^\s\[])\]\([^)\n]*\)"
)
"""What only styles Markdown: signs of bold and code, backslashes, where links lead."""
_DEEPEST: Final = 6


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page: its pieces, or the cells of each row of a table.

    A heading that is `named` is not written there: a row or a slide is called so. An item with a
    `level` has a sign before it, and no number.
    """

    kind: Kind
    pieces: Pieces
    level: int = 0
    rows: tuple[tuple[Pieces, ...], ...] = ()
    shade: Shade = ""
    """The strongest shade in it."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Which parts of a page's text are marked, by where they begin and end."""

    passage: tuple[Span, ...] = ()
    cited: tuple[Span, ...] = ()

    def shade(self, at: int) -> Shade:
        """Return the shade of a character."""
        if any(start <= at < end for start, end in self.cited):
            return "cited"
        return "passage" if any(start <= at < end for start, end in self.passage) else ""

    @property
    def bounds(self) -> list[int]:
        """Where shades may change."""
        return sorted({at for span in (*self.passage, *self.cited) for at in span})


def parts_of(chunks: Sequence[DocumentChunk], page: int) -> list[list[DocumentChunk]]:
    """Return the passages of a page in parts that are shown one at a time."""
    parts: list[list[DocumentChunk]] = []
    for chunk in sorted((one for one in chunks if one.page == page), key=lambda one: one.start):
        if not parts or chunk.end - parts[-1][0].start > PART:
            parts.append([])
        parts[-1].append(chunk)
    return parts


def blocks_of(chunks: Sequence[DocumentChunk], marks: Marks, *, markdown: bool) -> list[Block]:
    """Return passages of one page as blocks; marks are by offsets of the page."""
    page = page_text(chunks, chunks[0].page)
    written = {
        (heading, level) for chunk in chunks for level, heading in enumerate(chunk.heading_path, 1)
    }
    reading = _Reading(page.text, page.start, marks, dict(written), markdown=markdown)
    named = _named(chunks, page.text, page.start, markdown=markdown)
    found: list[Block] = []
    for start, block in reading.blocks():
        while named and named[0][0] <= start + page.start:
            found.append(named.pop(0)[1])
        found.append(block)
    return found


def plain_text(chunk: DocumentChunk, *, markdown: bool) -> str:
    """Return the text of a passage in a row, without signs: how a search shows it."""
    if not markdown:
        return chunk.text
    found = []
    for block in blocks_of([chunk], Marks(), markdown=True):
        lines = [block.pieces, *(cell for row in block.rows for cell in row)]
        found += ["".join(text for _, text in line) for line in lines]
    return " ".join(one for one in found if one)


def _named(
    chunks: Sequence[DocumentChunk], text: str, start: int, *, markdown: bool
) -> list[tuple[int, Block]]:
    """Return the headings that name what begins somewhere and are not in the text."""
    if markdown:
        return []
    lines = {line.strip() for line in text.split("\n")}
    found: list[tuple[int, Block]] = []
    before: tuple[str, ...] = ()
    for chunk in chunks:
        path = chunk.heading_path
        if path and path != before and path[-1].strip() not in lines:
            pieces: Pieces = [("", path[-1])]
            level = min(len(path), _DEEPEST)
            found.append((max(chunk.start, start), Block("named", pieces, level)))
        before = path
    return found


class _Reading:
    """A page's text, read line by line."""

    def __init__(
        self, text: str, start: int, marks: Marks, headings: dict[str, int], *, markdown: bool
    ) -> None:
        self._text = text
        self._start = start
        self._marks = marks
        self._bounds = [one - start for one in marks.bounds]
        self._headings = headings
        self._markdown = markdown

    def blocks(self) -> Iterator[tuple[int, Block]]:
        """Give the blocks, each with where it begins."""
        lines: list[Span] = []
        kind: Kind = "text"
        is_code = False
        for found in re.finditer(r"[^\n]*(?:\n|$)", self._text):
            line = found.group().rstrip("\n")
            span = found.start(), found.start() + len(line)
            if self._markdown and _FENCE.match(line):
                yield from self._block(kind, lines)
                lines, kind, is_code = [], "code" if not is_code else "text", not is_code
                continue
            own = "code" if is_code else self._kind(line)
            joins = lines and (own == kind or (own == "text" and kind == "item"))
            if not is_code and (not line.strip() or not joins or own in ("heading", "item")):
                yield from self._block(kind, lines)
                lines = []
            if line.strip() or is_code:
                kind = own if not lines else kind
                lines.append(span)
        yield from self._block(kind, lines)

    def _kind(self, line: str) -> Kind:
        if self._markdown:
            if _HEADING.match(line):
                return "heading"
        elif line.strip() in self._headings:
            return "heading"
        if _ITEM.match(line):
            return "item"
        bar = "|" if self._markdown and line.lstrip().startswith("|") else " | "
        return "table" if bar in line else "text"

    def _block(self, kind: Kind, lines: Sequence[Span]) -> Iterator[tuple[int, Block]]:
        if not lines:
            return
        start, end = lines[0][0], lines[-1][1]
        first = self._text[start : lines[0][1]]
        if kind == "table":
            yield start, self._table(lines)
            return
        level, skipped = 0, 0
        if kind == "heading":
            sign = _HEADING.match(first) if self._markdown else None
            level = len(sign[1]) if sign else self._headings[first.strip()]
            skipped = sign.end() if sign else 0
        elif kind == "item" and (sign := _SIGN.match(first)):
            level, skipped = 1, sign.end()
        pieces = self._pieces(start + skipped, end, plain=kind == "code")
        yield start, Block(kind, pieces, min(level, _DEEPEST), shade=_strongest(pieces))

    def _table(self, lines: Sequence[Span]) -> Block:
        rows: list[tuple[Pieces, ...]] = []
        for start, end in lines:
            line = self._text[start:end]
            if self._markdown and _RULE.fullmatch(line):
                continue
            rows.append(tuple(self._pieces(start + a, start + b) for a, b in _cells(line)))
        shade = _strongest(piece for row in rows for cell in row for piece in cell)
        return Block("table", [], rows=tuple(rows), shade=shade)

    def _pieces(self, start: int, end: int, *, plain: bool = False) -> Pieces:
        """Return a part of the text in pieces of one shade each, without signs of Markdown."""
        hidden = (
            []
            if plain or not self._markdown
            else [one.span() for one in _SIGNS.finditer(self._text, start, end)]
        )
        cuts = {start, end, *(one for one in self._bounds if start < one < end)}
        cuts |= {one for span in hidden for one in span}
        places = sorted(cuts)
        signs = {first for first, _ in hidden}
        found: Pieces = []
        for first, last in pairwise(places):
            if first in signs or not self._text[first:last]:
                continue
            shade = self._marks.shade(first + self._start)
            if found and found[-1][0] == shade:
                found[-1] = (shade, found[-1][1] + self._text[first:last])
            else:
                found.append((shade, self._text[first:last]))
        return found


def _cells(line: str) -> list[Span]:
    """Return where the cells of a row of a table begin and end, without the space around them."""
    bars = [one.start() for one in _CELL.finditer(line)]
    cuts = [-1, *bars, len(line)]
    spans = []
    for first, last in pairwise(cuts):
        cell = line[first + 1 : last]
        begin = first + 1 + len(cell) - len(cell.lstrip())
        spans.append((begin, begin + len(cell.strip())))
    if line.lstrip().startswith("|"):
        spans = spans[1:]
    if line.rstrip().endswith("|"):
        spans = spans[:-1]
    return spans


def _strongest(pieces: Iterable[tuple[Shade, str]]) -> Shade:
    shades = {shade for shade, _ in pieces}
    return "cited" if "cited" in shades else "passage" if "passage" in shades else ""

"""The blocks of a Markdown answer: paragraphs, list items, table rows, headings, code.

A block's slice of the answer is exact. Nothing is rendered: markup inside a line stays where it
is. What no renderer shows (comments) and what only points elsewhere (references) are blocks too.
"""

import re
from dataclasses import dataclass, replace
from typing import Final, Literal

from evidentia.language.markup import cell_spans, comments, masked, plain_text, trimmed
from evidentia.language.predicates import says_something

BlockKind = Literal["paragraph", "item", "row", "header", "heading", "code", "reference", "comment"]

_LINE = re.compile(r"[^\n]*\n?")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(?P<text>[^\n]*\S)")
_CLOSING_MARKS = re.compile(r"[ \t]+#+$")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
"""What begins code; within a list item it is further in."""
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦▪]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?P<text>\S.*)")
_RULE = re.compile(r"[ ]{0,3}(?:[-*_=][ \t]*){3,}")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:-{2,}|={2,})[ \t]*")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_NOTE = re.compile(r"[ ]{0,3}\[\^?[^\]\s]{1,64}\]:")
_SENTENCE_END = re.compile(r"[.!?…。؟:;][\"'”\u2019)*_]*$")
_STOP = re.compile(r"[.!…。][\"'”\u2019)]*$")
_REFERENCES = re.compile(
    r"(?:sources?|references?|citations?|footnotes?|bibliography|works cited|المصادر|المراجع)\s*:?",
    re.IGNORECASE,
)
_BOLD = re.compile(r"(?:\*{2,3}[^*\n]+\*{2,3}|__[^_\n]+__):?")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of an answer: `answer[start:end]`.

    A table's row knows its columns' names, a list item how far it is indented and if it has a
    number.
    """

    kind: BlockKind
    start: int
    end: int
    columns: tuple[str, ...] = ()
    indent: int = 0
    numbered: bool = False


def find_blocks(answer: str) -> list[Block]:
    """Take an answer apart into blocks, in order; comments may lie within another block."""
    blocks = _Scanner(answer).scan()
    blocks += [Block("comment", start, end) for start, end in comments(answer)]
    return sorted(blocks, key=lambda block: (block.start, block.end))


def cells(row: str) -> tuple[str, ...]:
    """Return a table row's cells as plain text."""
    return tuple(plain_text(row[start:end].replace("\\|", "|")) for start, end in cell_spans(row))


def is_bold_title(line: str) -> bool:
    """Whether a line is in bold from end to end, and is a title and no sentence."""
    if not _BOLD.fullmatch(line):
        return False
    title = plain_text(line)
    return title.endswith((":", "?")) or not (_STOP.search(title) or says_something(title))


class _Scanner:
    """Goes through the lines and keeps the block that is open."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.blocks: list[Block] = []
        self.open: tuple[BlockKind, int, int] | None = None
        self.indent = 0
        self.numbered = False
        self.columns: tuple[str, ...] = ()
        self.in_table = False
        self.fence = ""
        self.in_references = False

    def scan(self) -> list[Block]:
        text = masked(self.answer)
        lines = [
            (match.start(), match[0].rstrip("\r\n")) for match in _LINE.finditer(text) if match[0]
        ]
        for place, (start, line) in enumerate(lines):
            following = lines[place + 1][1] if place + 1 < len(lines) else ""
            if not self._in_code(line, start):
                self._line(line, start, following)
        self._close()
        return self.blocks

    def _line(self, line: str, start: int, following: str) -> None:
        if not line.strip():
            self._close()
            self.columns, self.in_table = (), False
        elif self._is_underline(line):
            kind, begins, ends = self.open or ("heading", start, start)
            self.open = ("heading" if kind == "paragraph" else kind, begins, ends)
            self._close()
        elif _RULE.fullmatch(line):
            self._close()
        elif heading := _HEADING.match(line):
            self._heading(line, start, heading.start("text"))
        elif _NOTE.match(line):
            self._single("reference", *self._span(line, start, 0))
        elif self._is_row(line, following):
            self._row(line, start, following)
        elif item := _ITEM.match(line):
            self._begin("item", *self._span(line, start, item.start("text")))
            self.indent = len(line) - len(line.lstrip())
            self.numbered = line.lstrip()[0].isdigit()
        elif self._stands_for_heading(line.strip()):
            self._heading(line, start, 0)
        else:
            self._continue(*self._span(line, start, 0))

    def _span(self, line: str, start: int, at: int) -> tuple[int, int]:
        first, last = trimmed(line, at, len(line))
        return start + first, start + last

    def _in_code(self, line: str, start: int) -> bool:
        fence = _FENCE.match(line)
        if self.fence:
            if fence and fence[1].startswith(self.fence) and not line.strip().strip("`~"):
                self.fence = ""
            self._continue(start, start + len(line))
            if not self.fence:
                self._close()
            return True
        if fence:
            self.fence = fence[1]
            self._begin("code", start, start + len(line))
        return bool(fence)

    def _is_underline(self, line: str) -> bool:
        """Whether the line makes a heading of the one above: a title, not a finished sentence."""
        if self.open is None or self.open[0] != "paragraph" or not _UNDERLINE.fullmatch(line):
            return False
        above = self.answer[self.open[1] : self.open[2]]
        return "\n" not in above and not _SENTENCE_END.search(above)

    def _stands_for_heading(self, line: str) -> bool:
        """Whether a line names what follows: a title in bold alone, or "Sources"."""
        if self.open and not _SENTENCE_END.search(self.answer[self.open[1] : self.open[2]]):
            return False
        return is_bold_title(line) or (not self.open and _REFERENCES.fullmatch(line) is not None)

    def _is_row(self, line: str, following: str) -> bool:
        if "|" not in line:
            return False
        starts_table = _DELIMITER.fullmatch(following) and "|" in following
        return bool(self.in_table or starts_table or _ROW.fullmatch(line))

    def _row(self, line: str, start: int, following: str) -> None:
        self._close()
        if _DELIMITER.fullmatch(line):
            return
        if not self.in_table and _DELIMITER.fullmatch(following):
            self.in_table = True
            self.columns = cells(self.answer[start : start + len(line)])
            self._single("header", *self._span(line, start, 0))
        else:
            self.blocks.append(Block("row", *self._span(line, start, 0), self.columns))

    def _heading(self, line: str, start: int, at: int) -> None:
        begins, ends = self._span(_CLOSING_MARKS.sub("", line.rstrip()), start, at)
        if begins < ends:  # "# #" is a heading without a title
            self._single("heading", begins, ends)
        else:
            self._close()
        title = plain_text(self.answer[begins:ends])
        self.in_references = _REFERENCES.fullmatch(title) is not None

    def _single(self, kind: BlockKind, start: int, end: int) -> None:
        self._close()
        self._add(kind, start, end)

    def _begin(self, kind: BlockKind, start: int, end: int) -> None:
        self._close()
        self.open = (kind, start, end)

    def _continue(self, start: int, end: int) -> None:
        """Add a line to the open paragraph or list item."""
        if self.open:
            self.open = (self.open[0], self.open[1], end)
        else:
            self._begin("paragraph", start, end)

    def _close(self) -> None:
        if self.open:
            self._add(*self.open)
        self.open = None

    def _add(self, kind: BlockKind, start: int, end: int) -> None:
        if self.in_references and kind in _REFERRING:
            kind = "reference"
        block = Block(kind, start, end)
        if kind == "item":
            block = replace(block, indent=self.indent, numbered=self.numbered)
        self.blocks.append(block)


_REFERRING: Final = ("paragraph", "item")

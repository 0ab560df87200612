"""Word documents (DOCX): paragraphs, headings by style, lists with their numbers, tables as rows.

Deleted, moved-away and hidden text is left out. A page begins where Word broke it, but at the next
paragraph, so that no sentence is cut; notes follow the paragraph that refers to them. Headers and
footers of pages are left out, and it is said.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from evidentia.documents.reading.archive import (
    WORD,
    WORD_DOCUMENT,
    Archive,
    Attributes,
    parse_part,
)
from evidentia.documents.reading.contents import Block, Contents, compose
from evidentia.documents.reading.numbering import MAX_LEVELS, ListNumbers
from evidentia.documents.reading.office import OFF, read_properties
from evidentia.documents.reading.word_styles import WordLists, WordStyles, small_number
from evidentia.language.counting import agreed, counted

_LEFT_OUT: Final = frozenset({"del", "moveFrom", "pPrChange", "rPrChange", "Fallback"})
"""Deleted and moved-away text, how it was set before a change, and drawings for old programs."""
_RUNNING = re.compile(r"word/(?:header|footer)\d*\.xml")
_NAMED: Final = 3
_SHOWN: Final = 60


def read_docx(data: bytes, filename: str) -> Contents:
    """Read a Word document; `DocumentError` if it is broken, encrypted or made to do harm."""
    archive = Archive(data, filename, WORD)
    styles = WordStyles()
    parse_part(archive, "word/styles.xml", styles)
    lists = WordLists()
    parse_part(archive, "word/numbering.xml", lists)
    notes: dict[str, str] = {}
    for kind in ("footnote", "endnote"):
        reader = _Notes(kind)
        parse_part(archive, f"word/{kind}s.xml", reader)
        notes |= {f"{kind}{number}": text for number, text in reader.found.items()}
    body = _Body(styles, ListNumbers(lists.levels()), notes)
    if not parse_part(archive, WORD_DOCUMENT, body):
        raise archive.broken("it has no word/document.xml")
    properties = read_properties(archive)
    pages, headings = compose(body.blocks)
    return Contents(
        pages=pages,
        headings=headings,
        title=properties.title,
        created=properties.created,
        modified=properties.modified,
        language=properties.language,
        warnings=(*(("hidden text is left out",) if body.hidden else ()), *_furniture(archive)),
    )


def _furniture(archive: Archive) -> list[str]:
    """Say which headers and footers of pages are left out."""
    shown = []
    for name in sorted(filter(_RUNNING.fullmatch, archive.names())):
        reader = _Running()
        parse_part(archive, name, reader)
        shown += [text] if (text := " ".join("".join(reader.parts).split())) else []
    if not shown:
        return []
    named = ", ".join(f"“{text[:_SHOWN]}”" for text in list(dict.fromkeys(shown))[:_NAMED])
    what = counted(len(shown), "header or footer", "headers or footers")
    return [f"{what} of the pages {agreed(len(shown), 'is', 'are')} left out, such as {named}"]


class _Running:
    """Reads the text of a header or footer."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._in_text = False

    def start(self, tag: str, _attributes: Attributes) -> None:
        self._in_text = tag == "t"
        if tag in {"p", "tab", "br"}:
            self.parts.append(" ")

    def end(self, _tag: str) -> None:
        self._in_text = False

    def text(self, text: str) -> None:
        if self._in_text:
            self.parts.append(text)


class _Notes:
    """Reads footnotes or endnotes by their number."""

    def __init__(self, kind: str) -> None:
        self.found: dict[str, str] = {}
        self._kind = kind
        self._id = ""
        self._parts: list[str] | None = None
        self._in_text = False

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == self._kind and "type" not in attributes:  # the typed ones are rules and lines
            self._id, self._parts = attributes.get("id", ""), []
        elif tag == "p" and self._parts is not None:
            self._parts.append(" ")
        self._in_text = tag == "t"

    def end(self, tag: str) -> None:
        self._in_text = False
        if tag == self._kind and self._parts is not None:
            self.found[self._id] = " ".join("".join(self._parts).split())
            self._parts = None

    def text(self, text: str) -> None:
        if self._in_text and self._parts is not None:
            self._parts.append(text)


@dataclass(slots=True)
class _Paragraph:
    style: str = ""
    outline: int | None = None
    list_id: str | None = None
    list_level: int | None = None
    parts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    has_text: bool = False
    page_before: bool = False
    page_after: bool = False


class _Body:
    """Writes the blocks of a document's body as its elements come by."""

    def __init__(self, styles: WordStyles, numbers: ListNumbers, notes: Mapping[str, str]) -> None:
        self.blocks: list[Block] = []
        self.hidden = False
        self._styles = styles
        self._numbers = numbers
        self._notes = notes
        self._open: list[_Paragraph] = []  # text boxes hold paragraphs within paragraphs
        self._rows: list[list[str]] = []  # of the open tables, the row that is being read
        self._cells: list[list[str]] = []
        self._left_out = 0
        self._run_hidden = False
        self._in_text = False
        self._new_page = False
        self._in_list = False
        self._in_table = False

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag in _LEFT_OUT or self._left_out:
            self._left_out += 1
            return
        self._in_text = tag == "t"
        value = attributes.get("val", "")
        match tag:
            case "p":
                self._open.append(_Paragraph())
            case "tbl":
                self._in_table = bool(self._rows)
                self._rows.append([])
            case "tc" if self._rows:
                self._cells.append([])
            case "r":
                self._run_hidden = False
            case "vanish":
                self._run_hidden = value not in OFF
            case _ if self._open:
                self._in_paragraph(self._open[-1], tag, value, attributes)

    def _in_paragraph(
        self, paragraph: _Paragraph, tag: str, value: str, attributes: Attributes
    ) -> None:
        match tag:
            case "tab" if "pos" not in attributes:  # a tab stop of the paragraph's style has one
                paragraph.parts.append("\t")
            case "br" if attributes.get("type") != "page":
                paragraph.parts.append("\n")
            case "br" | "lastRenderedPageBreak":
                self._break(paragraph)
            case "footnoteReference" | "endnoteReference":
                paragraph.notes.append(tag.removesuffix("Reference") + attributes.get("id", ""))
            case "cr" | "noBreakHyphen":
                paragraph.parts.append("\n" if tag == "cr" else "-")
            case _:
                _set_property(paragraph, tag, value)

    @staticmethod
    def _break(paragraph: _Paragraph) -> None:
        """Begin a page here: with this paragraph if it has no text yet, else with the next."""
        if paragraph.has_text:
            paragraph.page_after = True
        else:
            paragraph.page_before = True

    def end(self, tag: str) -> None:
        if self._left_out:
            self._left_out -= 1
            return
        self._in_text = False
        match tag:
            case "p" if self._open:
                self._end_paragraph(self._open.pop())
            case "tc" if self._rows:
                self._rows[-1].append(" ".join(self._cells.pop()))
            case "tr" if self._rows:
                self._end_row()
            case "tbl" if self._rows:
                self._rows.pop()
                self._in_table = bool(self._rows)

    def text(self, text: str) -> None:
        if not self._in_text or self._left_out or not self._open:
            return
        if self._run_hidden:
            self.hidden = True
            return
        paragraph = self._open[-1]
        paragraph.parts.append(text)
        paragraph.has_text = paragraph.has_text or not text.isspace()

    def _end_row(self) -> None:
        row = self._rows[-1]
        if any(row):
            if self._cells:  # a table within a table is read as its cell's text
                self._cells[-1].append(" ".join(row))
            else:
                self._add(Block(" | ".join(row), close=self._in_table))
                self._in_table = True
        self._rows[-1] = []

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        text = "\n".join(line.strip() for line in "".join(paragraph.parts).split("\n")).strip()
        self._new_page = self._new_page or (paragraph.page_before and bool(self.blocks))
        notes = [self._notes[note] for note in paragraph.notes if self._notes.get(note)]
        if self._cells:
            self._cells[-1] += filter(None, [" ".join(text.split()), *notes])
        elif text:
            level = self._level(paragraph)
            mark, depth = self._mark(paragraph)
            if level:
                self._add(Block(f"{mark} {text}".strip(), level))
            else:
                indent = "  " * depth if mark else ""
                item = f"{indent}{mark} {text}" if mark else text
                self._add(Block(item, close=bool(mark) and self._in_list))
            self._in_list = bool(mark) and not level
            for note in notes:
                self._add(Block(note))
        self._new_page = self._new_page or paragraph.page_after

    def _add(self, block: Block) -> None:
        if self._new_page:
            block = Block(block.text, block.level, new_page=True)
            self._new_page = False
        self.blocks.append(block)

    def _level(self, paragraph: _Paragraph) -> int:
        if paragraph.outline is not None:
            return paragraph.outline + 1 if paragraph.outline < MAX_LEVELS else 0
        return self._styles.level(paragraph.style)

    def _mark(self, paragraph: _Paragraph) -> tuple[str, int]:
        """Return a paragraph's number or bullet and how deep in its list it is."""
        list_id, level = self._styles.numbering(paragraph.style)
        if paragraph.list_id is not None:
            list_id = paragraph.list_id
        if paragraph.list_level is not None:
            level = paragraph.list_level
        if list_id in {"", "0"}:  # 0 takes a paragraph out of its style's list
            return "", 0
        level = min(level, MAX_LEVELS - 1)
        return self._numbers.mark(list_id, level), level


def _set_property(paragraph: _Paragraph, tag: str, value: str) -> None:
    match tag:
        case "pStyle":
            paragraph.style = value
        case "outlineLvl":
            paragraph.outline = small_number(value)
        case "numId":
            paragraph.list_id = value
        case "ilvl":
            paragraph.list_level = small_number(value)
        case "pageBreakBefore":
            paragraph.page_before = paragraph.page_before or value not in OFF

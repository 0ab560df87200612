"""What a DOCX says of its styles and lists: which paragraphs are headings, and their numbers."""

from dataclasses import dataclass
from typing import Final

from evidentia.documents.reading.archive import Attributes
from evidentia.documents.reading.numbering import MAX_LEVELS, NumberLevel

_MAX_NUMBER: Final = 1_000_000
_MAX_BASES: Final = 20
"""How far styles are followed to what they are based on: they may go in circles."""


def small_number(text: str) -> int:
    """Return a small number of the file; what is none, or is absurd, is 0."""
    plain = text.isascii() and text.isdecimal() and len(text) < len(str(_MAX_NUMBER))
    return int(text) if plain else 0


@dataclass(slots=True)
class _Style:
    name: str = ""
    based_on: str = ""
    outline: int | None = None
    list_id: str = ""
    list_level: int = 0


class WordStyles:
    """Reads the styles: which of them are headings, and which number their paragraphs."""

    def __init__(self) -> None:
        self._styles: dict[str, _Style] = {}
        self._current: _Style | None = None

    def start(self, tag: str, attributes: Attributes) -> None:
        """Take the start of an element."""
        value = attributes.get("val", "")
        if tag == "style" and attributes.get("type", "paragraph") == "paragraph":
            self._current = self._styles.setdefault(attributes.get("styleId", ""), _Style())
        elif self._current is None:
            return
        elif tag == "name":
            self._current.name = value.lower()
        elif tag == "basedOn":
            self._current.based_on = value
        elif tag == "outlineLvl":
            self._current.outline = small_number(value)
        elif tag == "numId":
            self._current.list_id = value
        elif tag == "ilvl":
            self._current.list_level = small_number(value)

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        if tag == "style":
            self._current = None

    def text(self, text: str) -> None:
        """Take text, of which this part has none."""

    def level(self, style_id: str) -> int:
        """Return the heading level of a style, through what it is based on; 0 if it is none."""
        for style in self._line(style_id):
            if style.name == "title":
                return 1
            if style.name.startswith("heading ") and style.name[8:].isdecimal():
                return small_number(style.name[8:])
            if style.outline is not None:
                return style.outline + 1 if style.outline < MAX_LEVELS else 0
        return 0

    def numbering(self, style_id: str) -> tuple[str, int]:
        """Return the list that a style numbers its paragraphs by, and the level in it."""
        for style in self._line(style_id):
            if style.list_id:
                return style.list_id, style.list_level
        return "", 0

    def _line(self, style_id: str) -> list[_Style]:
        """Return a style and what it is based on, in that order."""
        line: list[_Style] = []
        style = self._styles.get(style_id)
        while style is not None and len(line) < _MAX_BASES:
            line.append(style)
            style = self._styles.get(style.based_on)
        return line


class WordLists:
    """Reads the list definitions: how each level of each list writes its numbers."""

    def __init__(self) -> None:
        self._abstract: dict[tuple[str, int], NumberLevel] = {}
        self._lists: dict[str, str] = {}
        self._starts: dict[tuple[str, int], int] = {}
        self._in = ""
        self._of = ""
        self._level = 0
        self._fields: dict[str, str] = {}

    def start(self, tag: str, attributes: Attributes) -> None:
        """Take the start of an element."""
        value = attributes.get("val", "")
        if tag == "abstractNum":
            self._in, self._of = tag, attributes.get("abstractNumId", "")
        elif tag == "num":
            self._in, self._of = tag, attributes.get("numId", "")
        elif tag == "abstractNumId":
            self._lists[self._of] = value
        elif tag in {"lvl", "lvlOverride"}:
            self._level = small_number(attributes.get("ilvl", ""))
            self._fields = {}
        elif tag == "startOverride":
            self._starts[self._of, self._level] = small_number(value)
        elif tag in {"numFmt", "lvlText", "start"}:
            self._fields[tag] = value

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        if tag == "lvl" and self._in == "abstractNum":
            fields = self._fields
            self._abstract[self._of, self._level] = NumberLevel(
                fields.get("numFmt", "decimal"),
                fields.get("lvlText", ""),
                small_number(fields.get("start", "1")),
            )

    def text(self, text: str) -> None:
        """Take text, of which this part has none."""

    def levels(self) -> dict[tuple[str, int], NumberLevel]:
        """Return the rule of each level of each list."""
        found = {}
        for list_id, abstract in self._lists.items():
            for level in range(MAX_LEVELS):
                rule = self._abstract.get((abstract, level))
                if rule:
                    start = self._starts.get((list_id, level), rule.start)
                    found[list_id, level] = NumberLevel(rule.format, rule.text, start)
        return found

"""PowerPoint presentations (PPTX): each slide is a page, with its title, its texts and its notes.

Texts come in the order in which the file has them, tables row by row. Hidden slides are left out,
and so is what stands on every slide: date, footer, slide number. Charts, diagrams and pictures are
not read.
"""

from typing import Final

from evidentia.documents.model import Heading, Page
from evidentia.documents.reading.archive import (
    POWERPOINT,
    POWERPOINT_PRESENTATION,
    Archive,
    Attributes,
    parse_part,
)
from evidentia.documents.reading.contents import Block, Contents, compose
from evidentia.documents.reading.office import (
    OFF,
    read_properties,
    read_relationships,
    related_part,
)
from evidentia.language.counting import agreed, counted

_TITLES: Final = frozenset({"title", "ctrTitle"})
_FURNITURE: Final = frozenset({"dt", "ftr", "sldNum", "hdr", "sldImg"})
_SLIDE: Final = "slide"
_NOTES: Final = "notesSlide"
_DRAWN: Final = {"chart": "chart", "relIds": "diagram"}
"""What a slide shows that is drawn from data of its own, by the element that refers to it."""
_LEVELS: Final = frozenset("012345678")


def read_pptx(data: bytes, filename: str) -> Contents:
    """Read a presentation; `DocumentError` if it is broken, encrypted or made to do harm."""
    archive = Archive(data, filename, POWERPOINT)
    presentation = _Presentation()
    parse_part(archive, POWERPOINT_PRESENTATION, presentation)
    related = read_relationships(archive, POWERPOINT_PRESENTATION)
    pages: list[Page] = []
    headings: list[Heading] = []
    hidden: list[int] = []
    drawn: list[str] = []
    furniture = 0
    for number, slide_id in enumerate(presentation.slides, 1):
        part = related.get(slide_id)
        slide = _Slide()
        if not part or part.type != _SLIDE or not parse_part(archive, part.part, slide):
            raise archive.broken(f"slide {number} is missing")
        if slide.hidden:
            hidden.append(number)
            pages.append(Page(number, ""))
            continue
        drawn += slide.drawn
        furniture += slide.furniture
        blocks = [*slide.blocks, *_notes(archive, part.part)]
        ((page,), _) = compose(blocks)
        pages.append(Page(number, page.text))
        title = " ".join(slide.title.split())
        called = f"Slide {number}: {title}" if title else f"Slide {number}"
        headings.append(Heading(1, called, number, 0, written=False))
    properties = read_properties(archive)
    return Contents(
        pages=tuple(pages) or (Page(1, ""),),
        headings=tuple(headings),
        title=properties.title,
        created=properties.created,
        modified=properties.modified,
        language=properties.language,
        warnings=(*_hidden(hidden), *_left_out(furniture), *_not_read(drawn)),
    )


def _hidden(numbers: list[int]) -> list[str]:
    if not numbers:
        return []
    is_are = "is" if len(numbers) == 1 else "are"
    named = ", ".join(map(str, numbers))
    return [f"{counted(len(numbers), 'hidden slide')} {is_are} left out: {named}"]


def _left_out(furniture: int) -> list[str]:
    if not furniture:
        return []
    pieces = counted(furniture, "piece")
    is_are = agreed(furniture, "is", "are")
    return [f"{pieces} of slide furniture (date, footer, slide number) {is_are} left out"]


def _not_read(drawn: list[str]) -> list[str]:
    found = []
    for kind in sorted(set(drawn)):
        number = drawn.count(kind)
        is_are = "is" if number == 1 else "are"
        found.append(f"{counted(number, kind)} {is_are} not read")
    return found


def _notes(archive: Archive, slide: str) -> list[Block]:
    """Return what a slide's speaker has noted on it."""
    part = related_part(read_relationships(archive, slide), _NOTES)
    notes = _Slide()
    if part:
        parse_part(archive, part, notes)
    return notes.blocks


class _Presentation:
    """Reads the slides in their order, by the relationships that lead to them."""

    def __init__(self) -> None:
        self.slides: list[str] = []

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == "sldId":
            self.slides.append(attributes.get("r:id", ""))

    def end(self, _tag: str) -> None:
        """Take the end of an element, which says nothing here."""

    def text(self, _text: str) -> None:
        """Take text, of which there is none."""


class _Slide:
    """Writes the blocks of a slide as its elements come by."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.title = ""
        self.hidden = False
        self.furniture = 0
        self.drawn: list[str] = []
        self._placeholder = ""
        self._paragraph: list[str] | None = None
        self._in_text = False
        self._indent = 0
        self._cell: list[str] | None = None
        self._row: list[str] = []
        self._close = False
        self._left_out = 0

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == "Fallback" or self._left_out:
            self._left_out += 1
            return
        self._in_text = tag == "t"
        match tag:
            case "sld":
                self.hidden = attributes.get("show", "1") in OFF
            case "sp" | "graphicFrame":
                self._placeholder = ""
                self._close = False
            case "ph":
                self._placeholder = attributes.get("type", "body")
            case "chart" | "relIds":
                self.drawn.append(_DRAWN[tag])
            case _:
                self._start_text(tag, attributes)

    def _start_text(self, tag: str, attributes: Attributes) -> None:
        match tag:
            case "p":
                self._paragraph = []
                self._indent = 0
            case "pPr":
                level = attributes.get("lvl", "")
                self._indent = int(level) if level in _LEVELS else 0
            case "br" if self._paragraph is not None:
                self._paragraph.append("\n")
            case "tc":
                self._cell = []
            case "tr":
                self._row = []

    def end(self, tag: str) -> None:
        if self._left_out:
            self._left_out -= 1
            return
        self._in_text = False
        match tag:
            case "p" if self._paragraph is not None:
                self._end_paragraph("".join(self._paragraph))
                self._paragraph = None
            case "tc" if self._cell is not None:
                self._row.append(" ".join(self._cell))
                self._cell = None
            case "tr":
                if any(self._row):
                    self._add(" | ".join(self._row))

    def text(self, text: str) -> None:
        if self._in_text and not self._left_out and self._paragraph is not None:
            self._paragraph.append(text)

    def _end_paragraph(self, written: str) -> None:
        text = "\n".join(" ".join(line.split()) for line in written.split("\n")).strip()
        if not text:
            return
        if self._placeholder in _FURNITURE:
            self.furniture += 1
            return
        if self._cell is not None:
            self._cell.append(" ".join(text.split()))
        elif self._placeholder in _TITLES:
            self.title = f"{self.title} {text}"
            self.blocks.append(Block(text))
        else:
            self._add(f"{'  ' * self._indent}- {text}" if self._indent else text)

    def _add(self, text: str) -> None:
        self.blocks.append(Block(text, close=self._close))
        self._close = True

"""Documents as they are read: pages, headings, chunks. Offsets are code points of a page's text."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from evidentia.documents.effective import EVER, Effective
from evidentia.language.direction import Direction


class SeenSpan(NamedTuple):
    """A part of a page's text that was read by OCR, and how sure that reading is, from 0 to 1."""

    start: int
    end: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Page:
    """One page, counted from 1; formats without pages have one.

    What stands before `start` is front matter: it is part of the file, and of no passage. `seen`
    has the lines that were read by OCR.
    """

    number: int
    text: str
    start: int = 0
    seen: tuple[SeenSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its level from 1, its text, and where its line begins on its page.

    One that is not `written` names what begins there, a row or a slide, and is not in the text.
    """

    level: int
    text: str
    page: int
    start: int
    written: bool = True


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document as it was read; the same bytes and name always give an equal one.

    `created` and `modified` are ISO dates from the file's own metadata, as the file claims them.
    `warnings` say what of the file is not in its pages' text. `effective` is what the file says of
    when it holds.
    """

    filename: str
    media_type: str
    sha256: str
    pages: tuple[Page, ...]
    headings: tuple[Heading, ...]
    language: str | None
    direction: Direction
    title: str | None
    created: str | None
    modified: str | None
    warnings: tuple[str, ...] = ()
    effective: Effective = EVER


@dataclass(frozen=True, slots=True)
class DocumentChunk:
    """A passage of one page: `page.text[start:end] == chunk.text`, to the code point.

    `chunk_id` follows from the document, the digest of its bytes and the place; `chunk_hash` is
    the full hash that citation anchors begin with, and equal passages share it. `ocr` says how
    sure the reading is, from 0 to 1, of a passage that was read by OCR.
    """

    chunk_id: str
    document_id: str
    index: int
    text: str
    page: int
    heading_path: tuple[str, ...]
    start: int
    end: int
    chunk_hash: str
    ocr: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the chunk as a JSON object; `ocr` is there only if it was read by OCR."""
        fields = {
            "chunk_id": self.chunk_id,
            "document_id": self.document_id,
            "index": self.index,
            "text": self.text,
            "page": self.page,
            "heading_path": list(self.heading_path),
            "start": self.start,
            "end": self.end,
            "chunk_hash": self.chunk_hash,
        }
        return fields if self.ocr is None else {**fields, "ocr": self.ocr}


@dataclass(frozen=True, slots=True)
class ReadFile:
    """What became of a file: what is kept of the document, and its chunks.

    Where pieces were asked for, they are there, too.
    """

    media_type: str
    sha256: str
    language: str | None
    direction: Direction
    title: str | None
    dated: str | None
    pages: int
    warnings: tuple[str, ...]
    chunks: tuple[DocumentChunk, ...]
    effective: Effective = EVER
    reader: int = 0
    """The version of the readers that read it."""
    pieces: tuple[DocumentChunk, ...] = ()
    around: tuple[tuple[str, str], ...] = ()

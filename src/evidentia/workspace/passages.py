"""Passages to be read by a person: found by their words, with their anchors, and whole pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from evidentia.documents.model import DocumentChunk
from evidentia.errors import InputError, NotFoundError
from evidentia.store.search import Within
from evidentia.store.sql.library import IssuedAnchors, StoredDocument, corpus_id
from evidentia.workspace.acting import Acting
from evidentia.workspace.corpora import Part, shelf_of

MOST: Final = 100
"""How many different texts a search gives."""
_LONGEST: Final = 10_000
"""How many characters a text has that is searched for."""


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that was found: the version of a document that it is of, and its anchor."""

    document: StoredDocument
    chunk: DocumentChunk
    anchor: str

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            **self.chunk.as_json(),
            "document_id": self.document.id,
            "version": self.document.version,
            "collection": self.document.collection,
            "filename": self.document.filename,
            "anchor": self.anchor,
        }


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page as its passages have it; `start` is where on the page it begins."""

    page: int
    start: int
    text: str


def search(
    acting: Acting,
    text: str,
    limit: int,
    collections: frozenset[str] | None = None,
    as_of: date | None = None,
) -> list[FoundPassage]:
    """Return the passages with the best texts, in the first few places of each."""
    if not text.strip() or len(text) > _LONGEST:
        raise InputError(f"a search needs a text, of at most {_LONGEST:,} characters")
    if not 1 <= limit <= MOST:
        raise InputError(f"a search gives 1 to {MOST} texts")
    shelf = shelf_of(acting)
    with shelf.pinned() as pin:
        part = Part(Within(None, collections), as_of)
        chunks = shelf.corpus(pin, part, (), lambda _done, _total: None).nearest(text, limit)
        documents = {corpus_id(one): one for one in pin.used(chunk.document_id for chunk in chunks)}
        issued = IssuedAnchors(pin.connection, acting.tenant)
        return [
            FoundPassage(documents[chunk.document_id], chunk, issued.of(chunk.chunk_hash))
            for chunk in chunks
        ]


def page_text(chunks: Sequence[DocumentChunk], page: int) -> PageText:
    """Return a page's text of a document's passages, of which some may overlap."""
    here = sorted((one for one in chunks if one.page == page), key=lambda one: one.start)
    if not here:
        raise NotFoundError(f"page {page} is not there, or has no text")
    start = end = here[0].start
    parts: list[str] = []
    for one in here:
        if one.end > end:
            parts += ["\n" * max(0, one.start - end), one.text[max(0, end - one.start) :]]
            end = one.end
    return PageText(page, start, "".join(parts))

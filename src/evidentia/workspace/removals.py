"""What the trail says of documents that were taken out: when, by whom, why, and what was erased."""

from dataclasses import dataclass

from evidentia.documents.recording import ERASED, REMOVED
from evidentia.store.sql.library import StoredDocument
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting


@dataclass(frozen=True, slots=True)
class DocumentRemoval:
    """The last time that a document was taken out, with its versions up to `through`.

    `erased` is the version up to which its text was erased, then or before; 0 if it never was.
    """

    entry: int
    at: str
    by: str
    reason: str
    through: int
    erased: int

    def took_out(self, version: StoredDocument) -> bool:
        """Whether a version was taken out."""
        return version.version <= self.through

    def erased_text(self, version: StoredDocument) -> bool:
        """Whether the text of a version was erased."""
        return version.version <= self.erased


def last_removal(acting: Acting, document_id: str) -> DocumentRemoval | None:
    """Return the last removal of a document, from proved entries; None if it was never removed."""
    found = acting.entries(EntryKind.DOCUMENT, f"{REMOVED}{document_id}")
    if not found:
        return None
    erased = [int(one.body["through"]) for one in found if one.body.get("text") == ERASED]
    last = found[-1]
    return DocumentRemoval(
        entry=last.entry.seq,
        at=last.entry.at,
        by=str(last.body.get("by", "")),
        reason=str(last.body["reason"]),
        through=int(last.body["through"]),
        erased=max(erased, default=0),
    )

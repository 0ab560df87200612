"""How entries of the trail are put into words: their kinds, and their bodies as rows to read."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from evidentia.server.translating import N_
from evidentia.trail.entry import is_time

KINDS: Final[dict[str, str]] = {
    "evidence_record": N_("Evidence record"),
    "status_change": N_("Status change"),
    "document": N_("Document"),
    "bundle": N_("Bundle"),
    "run": N_("Run"),
    "ledger": N_("Ledger"),
    "decision": N_("Decision"),
    "tool_call": N_("Tool call"),
    "pack": N_("Pack"),
    "review": N_("Review"),
    "export": N_("Export"),
    "access": N_("Access"),
    "retention": N_("Retention"),
    "erasure": N_("Erasure"),
    "key": N_("Key"),
    "request": N_("Request"),
    "verdict": N_("Verdict"),
    "assignment": N_("Assignment"),
}
"""What kinds of entries are called."""
FIELDS: Final[dict[str, str]] = {
    "action": N_("Action"),
    "actual_action": N_("What was done"),
    "agent_name": N_("Agent"),
    "amendment_history": N_("Amendments"),
    "anchor": N_("Anchor"),
    "applied": N_("Was cut"),
    "approval": N_("Approval"),
    "approval_class": N_("Approval class"),
    "approved_by": N_("Approved by"),
    "assignee": N_("Assigned to"),
    "bounded_size": N_("Size after"),
    "bounding": N_("How it was cut"),
    "bundle_id": N_("Bundle"),
    "bundle_sha256": N_("SHA-256 of the bundle"),
    "by": N_("By"),
    "call": N_("Call"),
    "chunk_index": N_("Passage"),
    "chunks": N_("Passages"),
    "chunks_sha256": N_("SHA-256 of the passages"),
    "claim_id": N_("Claim"),
    "claims_root": N_("Root of the claims"),
    "collection": N_("Collection"),
    "collection_id": N_("Id of the collection"),
    "confidence": N_("Confidence"),
    "corpus": N_("The library then"),
    "created_at": N_("Made"),
    "decided_at": N_("Decided"),
    "decision_id": N_("Decision"),
    "decision_sha256": N_("SHA-256 of the decision"),
    "did": N_("Action"),
    "digest": N_("Digest"),
    "doc_filename": N_("File"),
    "doc_id": N_("Document"),
    "document_id": N_("Document"),
    "documents": N_("Documents"),
    "due": N_("Due"),
    "end": N_("End"),
    "entity_id": N_("Entity"),
    "entry": N_("Entry"),
    "evidence_coverage": N_("Coverage"),
    "expires_at": N_("Ends"),
    "extraction_model": N_("Extracted by"),
    "field": N_("Field"),
    "filename": N_("File"),
    "format": N_("Format"),
    "full_ref": N_("The whole"),
    "granted_at": N_("Granted"),
    "granted_by": N_("Granted by"),
    "heading_path": N_("Under the headings"),
    "intended_action": N_("What was meant"),
    "judged": N_("The judge's verdict"),
    "key": N_("Key"),
    "kind": N_("Kind"),
    "lake_uri": N_("In the store"),
    "leaf": N_("Leaf hash"),
    "media_type": N_("Type of file"),
    "metadata": N_("Properties"),
    "name": N_("Name"),
    "new_status": N_("New status"),
    "note": N_("Note"),
    "obligation_id": N_("Obligation"),
    "old_status": N_("Old status"),
    "original_size": N_("Size before"),
    "outcome": N_("Outcome"),
    "page": N_("Page"),
    "page_number": N_("Page"),
    "pages": N_("Pages"),
    "path": N_("Address"),
    "placeholder": N_("Stands there instead"),
    "predicate_type": N_("Type of statement"),
    "previous_ledger_id": N_("Ledger before it"),
    "reason": N_("Reason"),
    "redactions": N_("Redactions"),
    "removed": N_("Taken out"),
    "replaces": N_("Replaces"),
    "request_id": N_("Request"),
    "requirement": N_("Whether a pack is needed"),
    "reversibility_class": N_("Reversibility class"),
    "role": N_("Role"),
    "root": N_("Root"),
    "rules": N_("Rules"),
    "run_id": N_("Run"),
    "sampling": N_("How it was sampled"),
    "section_reference": N_("Section"),
    "sensitivity_class": N_("Sensitivity class"),
    "session_id": N_("Session"),
    "sha256": N_("SHA-256"),
    "signature": N_("Signature"),
    "source_clause": N_("Clause"),
    "source_uri": N_("Source"),
    "start": N_("Beginning"),
    "statement_sha256": N_("SHA-256 of the statement"),
    "summary": N_("Summary"),
    "tier": N_("Tier"),
    "title": N_("Title"),
    "token_id": N_("Token"),
    "tool_name": N_("Tool"),
    "total_claims": N_("Claims"),
    "trace_id": N_("Trace"),
    "truncation_point": N_("Cut at byte"),
    "unsupported_rate": N_("Unsupported rate"),
    "user": N_("User"),
    "verdict": N_("Verdict"),
    "verification_model": N_("Verified by"),
    "verification_result": N_("Result of verification"),
    "version": N_("Version"),
}
"""What fields of bodies are called; another is shown by its own name."""
_FIRST: Final = (
    "action",
    "source_clause",
    "doc_filename",
    "filename",
    "page_number",
    "section_reference",
    "verification_result",
    "confidence",
    "verdict",
    "outcome",
    "reason",
    "note",
    "user",
    "role",
    "version",
    "summary",
    "call",
)
"""What a reader looks for first in a body, in this order."""
_LAST: Final = ("corpus", "predicate_type", "signature")
Form = Literal["group", "text", "time", "digest", "number", "none"]
MOST_ROWS: Final = 300
LONGEST: Final = 4_000
"""How many characters of a value are shown; the proof has all."""
_DEEPEST: Final = 5
_DIGEST: Final = re.compile(r"(?:[0-9a-f]{2}){16,64}")
_PLACES: Final = (
    (re.compile(r"doc_[0-9a-f]{16}"), "/documents/"),
    (re.compile(r"led_[0-9a-f]{16}"), "/ledgers/"),
    (re.compile(r"pack_[0-9a-f]{16}"), "/packs/"),
    (re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "/bundles/"),
)
_ENTRIES: Final = frozenset({"entry", "approval", "superseded_by_entry"})
"""Fields whose numbers are those of entries."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a body: how deep, what it is called, and its value in one form."""

    depth: int
    name: str
    form: Form
    value: str = ""
    address: str | None = None

    @property
    def label(self) -> str | None:
        """What the field is called, in English; None if it has only its own name."""
        return FIELDS.get(self.name)

    @property
    def indent(self) -> int:
        """By how much the line is set in."""
        return min(self.depth, _DEEPEST)


def rows_of(body: Any) -> Iterator[Row]:
    """Give a body line by line; lists by the places of what is in them."""
    if isinstance(body, Mapping):
        body = dict(sorted(body.items(), key=_rank))
    yield from _rows("", body, -1)


def address_of(name: str) -> str | None:
    """Return the page of what an id names; None if there is none."""
    bare = name.rpartition("/")[2]
    return next((f"{at}{bare}" for form, at in _PLACES if form.fullmatch(bare)), None)


def _rank(field: tuple[str, Any]) -> tuple[int, int, str]:
    """Return where a field of a body stands: what says most first, what says nothing last."""
    name, value = field
    if value in (None, "", [], {}):
        return 4, 0, name
    if name in _FIRST:
        return 0, _FIRST.index(name), name
    is_proof = name in _LAST or (isinstance(value, str) and _DIGEST.fullmatch(value) is not None)
    return (3 if is_proof else 1), 0, name


def _rows(name: str, value: Any, depth: int) -> Iterator[Row]:
    if isinstance(value, Mapping | list):
        items = value.items() if isinstance(value, Mapping) else enumerate(value, 1)
        if depth >= 0:
            yield Row(depth, name, "group" if value else "none")
        for key, one in items:
            yield from _rows(str(key), one, depth + 1)
    else:
        yield _row(max(depth, 0), name, value)


def _row(depth: int, name: str, value: Any) -> Row:
    match value:
        case None | "":
            return Row(depth, name, "none")
        case bool():
            return Row(depth, name, "text", "true" if value else "false")
        case int() | float():
            address = f"/trail/entries/{value}" if name in _ENTRIES else None
            return Row(depth, name, "number", f"{value:,}", address)
    text = str(value)
    if is_time(text):
        return Row(depth, name, "time", text)
    if _DIGEST.fullmatch(text):
        return Row(depth, name, "digest", text)
    shown = text if len(text) <= LONGEST else text[:LONGEST] + "…"
    return Row(depth, name, "text", shown, address_of(text))

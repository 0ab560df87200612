"""Verifying an exported pack: what a proof shows, and that the file is the one that was written."""

from dataclasses import replace
from typing import Any

from evidentia.canonical import canonical_json, parse_json
from evidentia.errors import ProofError
from evidentia.packs.memo import unmet_limits
from evidentia.packs.model import EvidencePack
from evidentia.packs.statement import PREDICATE_TYPES, from_statement
from evidentia.proof.plain import reordered
from evidentia.proof.statement import Statement
from evidentia.proof.succession import NEWER
from evidentia.proof.verification import PACK, Check, ProofReport
from evidentia.trail.entry import Entry, EntryKind

FILE = "file"
"""The name of the check whether a file is unchanged since it was exported."""
WHAT_A_PACK_CANNOT_SHOW = (
    "whether the sources say what is true: it shows that they were cited as they are here",
    "whether the reviewer read it: it shows that a review was recorded in their name",
    NEWER,
)


def written(document: object) -> bytes:
    """Return an exported pack's bytes: canonical JSON, and a newline."""
    return canonical_json(document) + b"\n"


def with_pack_checks(data: bytes, report: ProofReport) -> ProofReport:
    """Return a report with what is to be looked at if the file is an exported pack."""
    statement, entry = report.statement, report.entry
    types = PREDICATE_TYPES.values()
    if statement is None or entry is None or statement.predicate_type not in types:
        return report
    pack, check = _pack(statement, entry, report.body)
    return replace(
        report,
        checks=(*report.checks, _form(data), check),
        findings=(*report.findings, *(findings(pack) if pack else ())),
        cannot_know=(
            *report.cannot_know,
            *(one for one in WHAT_A_PACK_CANNOT_SHOW if one != NEWER or not report.later),
        ),
    )


def without_its_pack(report: ProofReport) -> ProofReport:
    """Return a report that says so if what is proved is a pack, and the pack is not here.

    Whoever takes the envelope out of an exported pack leaves a good proof that something was
    recorded, which says nothing of the pack. Where the body is not here either, as of a pack that
    was erased, the report says so already.
    """
    if report.entry is None or report.body is None:
        return report
    if report.entry.kind not in {EntryKind.PACK, EntryKind.REVIEW}:
        return report
    says = (
        "the pack itself is not here: its envelope was left out or taken away; what is here shows "
        "only that a pack was recorded"
    )
    return replace(report, checks=(*report.checks, Check(PACK, holds=None, says=says)))


def findings(pack: EvidencePack) -> list[str]:
    """Say what the rules as they are now would not let pass; a pack keeps what it was sealed with.

    It may have been sealed under other rules, or by something else than Evidentia.
    """
    calls = enumerate(pack.tool_calls, start=1)
    unflagged = [
        f"tool call {number}, {call.tool_name!r}, is not flagged, and by the rules of this version "
        f"it is a contradiction: {found.reason}"
        for number, call in calls
        if not call.contradiction_flag and (found := call.compared()).contradiction
    ]
    return [*unflagged, *(f"memo.{said}" for said in unmet_limits(pack.memo))]


def _form(data: bytes) -> Check:
    document = parse_json(data)
    if data == written(document):
        return Check(FILE, holds=True, says="unchanged since export")
    where = reordered(document)
    how = "edited, or saved by another program"
    why = how if where is None else f"the fields of {where} are in another order"
    return Check(FILE, holds=False, says=f"changed since export: {why}")


def _pack(statement: Statement, entry: Entry, body: Any) -> tuple[EvidencePack | None, Check]:
    try:
        pack = from_statement(statement)
        _agrees(pack, entry, body)
    except ProofError as error:
        return None, Check(PACK, holds=False, says=str(error))
    named = f"{pack.pack_id}, version {pack.version}, of decision {pack.decision_id!r}"
    own = "; a self-review: who made it recorded the review" if is_self_review(body) else ""
    return pack, Check(PACK, holds=True, says=f"{named}: its parts agree{own}")


def is_self_review(body: Any) -> bool:
    """Whether the body of a review's entry says that who made the version reviewed it."""
    return isinstance(body, dict) and body.get("self_review") is True


def _agrees(pack: EvidencePack, entry: Entry, body: Any) -> None:
    """Raise `ProofError` unless the entry is of this pack and of its tenant, and says the same."""
    if (entry.subject, entry.tenant) != (pack.pack_id, pack.tenant_id):
        raise ProofError(
            f"the entry is about {entry.subject!r} of tenant {entry.tenant!r}, the pack is "
            f"{pack.pack_id} of {pack.tenant_id!r}"
        )
    kind = EntryKind.PACK if pack.reviewer_id is None else EntryKind.REVIEW
    if entry.kind != kind:
        raise ProofError(
            f"the entry is of kind {entry.kind!r}, and such a pack is recorded by one of kind "
            f"{kind.value!r}"
        )
    told = body if isinstance(body, dict) else {}
    for name in ("decision_id", "version", "replaces"):
        here, there = getattr(pack, name), told.get(name)
        if name not in told or canonical_json(here) != canonical_json(there):
            raise ProofError(
                f"the entry's {name} is {there!r}, the pack's is {here!r}: it records another pack"
            )
    outcome = None if pack.review_outcome is None else pack.review_outcome.value
    if "outcome" in told and told["outcome"] != outcome:
        raise ProofError(
            f"the entry says that the review came to {told['outcome']!r}, the pack {outcome!r}"
        )

"""A ledger as JSON, in the export form: grouped for programs that read it elsewhere."""

from typing import Any, Final

from evidentia.export.shown import counted
from evidentia.ledger.model import Claim, LedgerEntry, SourceDocument, Verdict
from evidentia.ledger.session import LedgerSession

_ALWAYS: Final = frozenset(Verdict) - {Verdict.NOT_JUDGED}


def to_json(session: LedgerSession) -> dict[str, Any]:
    """Return the ledger's export form; `not_judged` is counted only where it occurs."""
    ledger = session.ledger
    summary = ledger.summary
    claims = session.claims_by_id()
    counts = counted(summary, _ALWAYS)
    by_support = {} if summary.by_support is None else {"by_support": dict(summary.by_support)}
    return {
        "ledger_id": ledger.id,
        "session_id": ledger.session_id,
        "generated_at": ledger.created_at,
        "summary": {
            "total_claims": summary.total_claims,
            "evidence_coverage": summary.evidence_coverage,
            "by_verdict": {verdict.value: count for verdict, count in counts.items()},
            "by_importance": dict(summary.by_importance),
            "unsupported_rate": summary.unsupported_rate,
            **by_support,
        },
        "entries": [
            _entry(entry, claims[entry.claim_id]) | _origins(session, entry)
            for entry in ledger.entries
        ],
        "risk_flags": [
            {
                "type": flag.type.value,
                "severity": flag.severity.value,
                "description": flag.description,
                "affected_claims": list(flag.affected_claim_ids),
            }
            for flag in ledger.risk_flags
        ],
        "follow_up_questions": list(ledger.follow_up_questions),
        **_contexts(session),
    }


def _contexts(session: LedgerSession) -> dict[str, Any]:
    """Return the contexts without their texts, and the bundle; nothing where there are none."""
    found: dict[str, Any] = {}
    if session.contexts is not None:
        told = {"id", "sha256", "title", "page", "metadata", "metadata_left_out"}
        found["contexts"] = [one.model_dump(mode="json", include=told) for one in session.contexts]
    if session.bundle is not None:
        found["bundle"] = session.bundle.model_dump(mode="json")
    return found


def _origins(session: LedgerSession, entry: LedgerEntry) -> dict[str, Any]:
    return {} if session.contexts is None else {"evidence_from": list(session.origins(entry))}


def _entry(entry: LedgerEntry, claim: Claim) -> dict[str, Any]:
    """Return an entry; why it is weak, and what came nearest, only where there is something."""
    found = _first_form(entry, claim)
    if entry.support:
        found["support"] = entry.support.value
    if entry.nearest:
        found["nearest"] = {
            "snippet": entry.nearest.snippet,
            "source": _source(entry.nearest.source),
        }
    return found


def _first_form(entry: LedgerEntry, claim: Claim) -> dict[str, Any]:
    return {
        "claim_id": entry.claim_id,
        "claim_text": entry.claim_text,
        "claim_type": entry.claim_type.value,
        "importance": entry.claim_importance.value,
        "start": claim.start,
        "end": claim.end,
        "verdict": entry.verdict.value,
        "confidence_score": entry.confidence_score,
        "evidence": {
            "chunk_ids": list(entry.evidence_chunk_ids),
            "snippet": entry.evidence_snippet,
            "source": _source(entry.source_document) if entry.source_document else None,
        },
        "judge": entry.judge,
        "notes": entry.notes,
    }


def _source(source: SourceDocument) -> dict[str, Any]:
    """Return where the evidence stands, with page and headings only where there are any."""
    found: dict[str, Any] = {"document_id": source.id, "filename": source.filename}
    if source.page_number is not None:
        found["page_number"] = source.page_number
    if source.heading_path:
        found["heading_path"] = list(source.heading_path)
    return found

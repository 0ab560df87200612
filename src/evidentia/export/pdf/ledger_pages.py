"""What the pages of a ledger print: its claims and verdicts, and what follows from them."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from evidentia.export.pdf.fields import (
    code,
    count,
    day,
    english,
    field,
    plain,
    share,
    short,
    spoken,
)
from evidentia.language.wording import Lang, number
from evidentia.ledger.contexts import CheckedContext
from evidentia.ledger.model import (
    EvidenceLedger,
    LedgerEntry,
    RiskFlag,
    RiskType,
    SourceDocument,
    Verdict,
)
from evidentia.ledger.session import CheckedDocument, LedgerSession

_SECTIONS: Final = (
    "overview",
    "claims",
    "risks",
    "actions",
    "questions",
    "documents",
    "provenance",
)
_NONE: Final = "\u2013"
_SMALL: Final = 900
"""The characters up to which a row of a table stays on one page."""
_OF_VERDICTS: Final = {
    Verdict.CONTRADICTED: "correct",
    Verdict.NOT_FOUND: "find",
    Verdict.WEAK: "qualify",
    Verdict.NOT_JUDGED: "judge",
}
_OF_SOURCES: Final = {
    RiskType.CONFLICTING_SOURCES: "settle",
    RiskType.OUTDATED_SOURCE: "renew",
    RiskType.AMBIGUOUS_EVIDENCE: "clarify",
}
"""What is to be done about claims by their verdicts, and about sources by their risks."""


def pages(session: LedgerSession) -> dict[str, Any]:
    """Return the data of a ledger's pages."""
    ledger = session.ledger
    numbers = {entry.claim_id: at for at, entry in enumerate(ledger.entries, start=1)}
    return {
        "kind": "ledger",
        "title": plain(session.title) or ledger.id,
        "author": "",
        "description": f"Evidence ledger {plain(ledger.id)}",
        "sections": [
            name for name in _SECTIONS if name != "questions" or ledger.follow_up_questions
        ],
        "compact": sum(map(len, (*session.judges, session.id, ledger.id, session.program)))
        < _SMALL,
        "id": code(ledger.id),
        "running": dict.fromkeys(("ar", "en"), short(session.title)),
        "classification": None,
        "name": field(session.title or ledger.id),
        "question": field(session.query or ""),
        "checked": day(ledger.created_at),
        "session": code(session.id),
        "answer": code(session.answer_name),
        "judges": [code(name) for name in session.judges],
        "program": code(session.program),
        "previous": None if ledger.previous_ledger_id is None else code(ledger.previous_ledger_id),
        "total": count(ledger.summary.total_claims),
        "coverage": _of_claims(ledger, ledger.summary.evidence_coverage),
        "unsupported": _of_claims(ledger, ledger.summary.unsupported_rate),
        "counts": [
            {"verdict": verdict.value, "count": count(found), "weight": found}
            for verdict, found in _counts(ledger)
        ],
        "entries": [_entry(at, entry) for at, entry in enumerate(ledger.entries, start=1)],
        "risks": [_risk(flag, numbers) for flag in ledger.risk_flags],
        "actions": list(_actions(ledger, numbers)),
        "questions": [english(question) for question in ledger.follow_up_questions],
        "documents": [
            *(_context(at, one) for at, one in enumerate(session.contexts or (), start=1)),
            *(_document(one) for one in session.documents),
        ],
        "document_count": count(session.document_count + len(session.contexts or ())),
        "unread": [
            {"name": code(one.filename), "problem": english(one.problem)} for one in session.unread
        ],
    }


def _of_claims(ledger: EvidenceLedger, value: float) -> dict[str, str]:
    """Return a share of the claims; of none there is none."""
    return share(value) if ledger.summary.total_claims else spoken(lambda _: _NONE)


def _counts(ledger: EvidenceLedger) -> Iterator[tuple[Verdict, int]]:
    for verdict in Verdict:
        yield verdict, int(ledger.summary.by_verdict[verdict.value])


def _entry(at: int, entry: LedgerEntry) -> dict[str, Any]:
    return {
        "number": count(at),
        "claim": field(entry.claim_text),
        "type": entry.claim_type.value,
        "importance": entry.claim_importance.value,
        "verdict": entry.verdict.value,
        "said": f"weak-{entry.support.value}" if entry.support else entry.verdict.value,
        "confidence": share(entry.confidence_score),
        "quote": field(entry.evidence_snippet),
        "place": None if entry.source_document is None else _place(entry.source_document),
        "note": english(_without_quote(entry)),
        "keep": len(entry.claim_text) + len(entry.evidence_snippet) + len(entry.notes) < _SMALL,
    }


def _without_quote(entry: LedgerEntry) -> str:
    """Return what is noted of a verdict; the passage that it quotes stands beside it already."""
    quote = f'"{" ".join(entry.evidence_snippet.split())}"'
    return entry.notes.replace(f" by: {quote}", "").replace(f": {quote}", "")


def _place(source: SourceDocument) -> dict[str, Any]:
    path = source.heading_path or ()
    return {
        "file": code(source.filename),
        "page": None if source.page_number is None else count(source.page_number),
        "section": field(path[-1] if path else ""),
    }


def _risk(flag: RiskFlag, numbers: dict[str, int]) -> dict[str, Any]:
    return {
        "type": flag.type.value,
        "severity": flag.severity.value,
        "description": english(flag.description),
        "claims": _listed(flag.affected_claim_ids, numbers),
        "keep": len(flag.description) < _SMALL,
    }


def _actions(ledger: EvidenceLedger, numbers: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Yield what to do, the most pressing first, each with the claims that it concerns."""
    for verdict, action in _OF_VERDICTS.items():
        if concerned := [one.claim_id for one in ledger.entries if one.verdict is verdict]:
            yield {"action": action, "claims": _listed(concerned, numbers)}
    for flag in ledger.risk_flags:
        if flag.type in _OF_SOURCES:
            yield {
                "action": _OF_SOURCES[flag.type],
                "claims": _listed(flag.affected_claim_ids, numbers),
            }


def _listed(claims: Sequence[str], numbers: dict[str, int]) -> dict[str, str]:
    """Return the numbers of claims in a row; a claim that is not in the ledger has none."""
    known = [numbers[claim] for claim in claims if claim in numbers]

    def listed(lang: Lang) -> str:
        return ("، " if lang == "ar" else ", ").join(number(one, lang) for one in known)

    return spoken(listed)


def _document(one: CheckedDocument) -> dict[str, Any]:
    return {
        "name": code(one.filename),
        "type": code(one.media_type),
        "version": count(one.version),
        "dated": None if one.dated is None else code(one.dated),
        "superseded": one.superseded,
        "digest": code(one.sha256),
        "keep": len(one.filename) + len(one.media_type) < _SMALL,
    }


def _context(at: int, one: CheckedContext) -> dict[str, Any]:
    """Return a passage that the model was given as a row among the documents."""
    name = one.name(at)
    return {
        "name": code(name),
        "type": code("text/plain"),
        "version": count(1),
        "dated": None,
        "superseded": False,
        "digest": code(one.sha256),
        "keep": len(name) < _SMALL,
    }

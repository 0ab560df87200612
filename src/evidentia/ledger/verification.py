"""What the trail's entry says of a ledger, and whether it is what the ledger's statement says."""

from dataclasses import replace
from typing import Any, Final

from evidentia.errors import ProofError
from evidentia.ledger.commitment import CORPUS
from evidentia.ledger.pages import ledger_pages, pages_root
from evidentia.ledger.session import THIRD_TYPE, LedgerSession
from evidentia.proof.verification import Check, ProofReport

CLAIMS_ROOT: Final = "claims_root"
"""The field of an entry's body that names the root over the ledger's pages."""


def recorded_of(session: LedgerSession) -> dict[str, Any]:
    """Return what the body of a ledger's entry says of it."""
    ledger = session.ledger
    said: dict[str, Any] = {
        "predicate_type": session.predicate_type,
        "session_id": session.id,
        "previous_ledger_id": ledger.previous_ledger_id,
        "summary": ledger.summary.model_dump(mode="json"),
    }
    if session.predicate_type == THIRD_TYPE:
        if session.corpus is not None:
            said[CORPUS] = session.corpus.named().model_dump(mode="json")
        said[CLAIMS_ROOT] = pages_root(ledger_pages(session)).hex()
    return said


def with_ledger_checks(_: bytes, report: ProofReport) -> ProofReport:
    """Add to a ledger's report that its entry says otherwise of it, where it does."""
    failed = any(check.holds is False for check in report.checks)
    if failed or report.statement is None or not isinstance(report.body, dict):
        return report
    try:
        said = recorded_of(LedgerSession.from_statement(report.statement))
    except ProofError:  # which whoever reads the statement is told
        return report
    differing = [name for name, value in said.items() if report.body.get(name) != value]
    if not differing:
        return report
    says = f"the entry's {differing[0]} is not what follows from the statement"
    return replace(report, checks=(*report.checks, Check("ledger", holds=False, says=says)))

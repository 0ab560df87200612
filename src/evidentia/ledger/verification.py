"""What the trail's entry says of a ledger, and whether it is what the ledger's statement says."""

from dataclasses import replace
from typing import Any, Final

from evidentia.errors import ProofError
from evidentia.language.counting import counted
from evidentia.ledger.commitment import CORPUS
from evidentia.ledger.membership import with_corpus_check
from evidentia.ledger.pages import ledger_pages, pages_root
from evidentia.ledger.session import THIRD_TYPE, LedgerSession
from evidentia.proof.verification import Check, ProofReport

CLAIMS_ROOT: Final = "claims_root"
"""The field of an entry's body that names the root over the ledger's pages."""
CONTEXTS: Final = "contexts"
"""The name of the check whether passages stand in the contexts that they are said to be from."""


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


def with_ledger_checks(data: bytes, report: ProofReport) -> ProofReport:
    """Return a report with what is to be looked at in a ledger: its corpus, contexts and entry."""
    return with_entry_check(with_context_checks(with_corpus_check(data, report)))


def with_context_checks(report: ProofReport) -> ProofReport:
    """Return a report that says whether what a ledger cites stands in the contexts it has."""
    statement = report.statement
    if statement is None or statement.predicate_type != THIRD_TYPE:
        return report
    if CONTEXTS not in statement.predicate:
        return report
    try:
        number = len(LedgerSession.from_statement(statement).contexts or ())
    except ProofError as error:
        check = Check(CONTEXTS, holds=False, says=str(error))
    else:
        of = counted(number, "context has its digest", "contexts have their digests")
        check = Check(CONTEXTS, holds=True, says=f"{of}, and what is cited of them stands there")
    return replace(report, checks=(*report.checks, check))


def with_entry_check(report: ProofReport) -> ProofReport:
    """Add to a ledger's report that its entry says otherwise of it, where it does."""
    failed = any(check.holds is False for check in report.checks)
    if failed or report.statement is None or not isinstance(report.body, dict):
        return report
    try:
        said = recorded_of(LedgerSession.from_statement(report.statement))
    except ProofError:  # which whoever reads the statement is told
        return report
    body = report.body
    differing = [name for name, value in said.items() if name in body and body[name] != value]
    if not differing:
        return report
    says = f"the entry's {differing[0]} is not what follows from the statement"
    return replace(report, checks=(*report.checks, Check("ledger", holds=False, says=says)))

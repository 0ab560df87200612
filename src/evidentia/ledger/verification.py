"""Verifying a ledger: what is to be looked at beside its proof, where it has its contexts in it."""

from dataclasses import replace

from evidentia.errors import ProofError
from evidentia.language.counting import counted
from evidentia.ledger.session import THIRD_TYPE, LedgerSession
from evidentia.proof.verification import Check, ProofReport

CONTEXTS = "contexts"
"""The name of the check whether passages stand in the contexts that they are said to be from."""


def with_context_checks(_data: bytes, report: ProofReport) -> ProofReport:
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

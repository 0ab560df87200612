"""Verifying a ledger: what its entry says of it is what its statement says."""

from typing import Any

import pytest

from evidentia.ledger.verification import recorded_of, with_entry_check, with_ledger_checks
from evidentia.proof.statement import Statement
from evidentia.proof.verification import Check, ProofReport, Verdict
from ledger.test_commitment import SESSION
from ledger.test_contexts import GIVEN
from ledger.test_pages import SESSION as EARLIER

HOLDS = (Check("entry", holds=True, says="it holds"),)


def report_of(body: Any, statement: Statement | None) -> ProofReport:
    return with_ledger_checks(b"", ProofReport(HOLDS, body=body, statement=statement))


def test_an_entry_that_says_what_the_statement_says_holds() -> None:
    for session in (SESSION, EARLIER):
        assert report_of(recorded_of(session), session.to_statement()).holds
    assert "claims_root" in recorded_of(SESSION)
    assert "claims_root" not in recorded_of(EARLIER)
    assert {"claims_root", "corpus"} & recorded_of(GIVEN).keys() == {"claims_root"}


@pytest.mark.parametrize("name", ["session_id", "previous_ledger_id", "summary", "claims_root"])
def test_an_entry_that_says_otherwise_does_not_hold(name: str) -> None:
    report = report_of({**recorded_of(SESSION), name: "x"}, SESSION.to_statement())
    assert report.verdict is Verdict.DOES_NOT_HOLD
    assert report.checks[-1].says == (f"the entry's {name} is not what follows from the statement")


def test_what_cannot_be_compared_is_left_as_it_is() -> None:
    statement = SESSION.to_statement()
    broken = Statement(statement.predicate_type, statement.subjects, {})
    for body, one in ((None, statement), ({}, None), ({}, broken), ({}, statement)):
        assert with_entry_check(ProofReport(HOLDS, body=body, statement=one)).checks == HOLDS
    failed = ProofReport((Check("entry", holds=False, says="not"),), body={}, statement=statement)
    assert with_entry_check(failed) == failed

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evidentia.canonical import sha256_hex
from evidentia.errors import InputError
from evidentia.export.forms import Form, export_ledger
from evidentia.kinds import verify_pdf
from evidentia.ledger.model import Verdict
from evidentia.ledger.session import LedgerSession
from evidentia.proof.document import Proof
from evidentia.proof.envelope import Envelope
from evidentia.proof.keys import TrustedKey
from evidentia.proof.statement import Statement
from export.sessions import every_verdict
from proofs import KEY, make_proof

SPEC = Path(__file__).parents[2] / "spec" / "v1"
RECORDED = Statement.parse((SPEC / "vectors/ledger/statement.json").read_bytes())


def proof_of(session: LedgerSession) -> Proof:
    """Return the proof of a ledger in a small log."""
    statement = session.to_statement().encode()
    proof = make_proof(body={"statement_sha256": sha256_hex(statement)})
    return replace(proof, envelope=Envelope.sign(statement, KEY))


def test_each_form_is_written_by_its_name() -> None:
    session = every_verdict().model_copy(update={"program": "evidentia 1.2.3"})
    assert export_ledger(session, "markdown").startswith("## Evidence Ledger\n")
    assert json.loads(export_ledger(session, Form.JSON))["ledger_id"] == session.ledger.id
    driver = json.loads(export_ledger(session, "sarif"))["runs"][0]["tool"]["driver"]
    assert driver["version"] == "1.2.3"
    assert 'failures="3"' in export_ledger(session, "junit")
    assert 'failures="1"' in export_ledger(session, "junit", fail_on=[Verdict.WEAK])


def test_a_proof_of_a_ledger_is_written_as_its_session_is() -> None:
    session = LedgerSession.from_statement(RECORDED)
    proof = proof_of(session)
    for form in ("markdown", "json", "sarif", "junit"):
        assert export_ledger(proof, form) == export_ledger(session, form)


def test_a_pdf_is_made_of_a_ledgers_proof_and_verifies() -> None:
    pytest.importorskip("typst", reason="PDFs are made by Typst: install the extra pdf")
    proof = proof_of(LedgerSession.from_statement(RECORDED))
    pdf = export_ledger(proof, "pdf", lang="en")
    assert pdf.startswith(b"%PDF-")
    assert verify_pdf(pdf, [TrustedKey(KEY.verifier.public_key)]).holds
    assert pdf != export_ledger(proof, Form.PDF)


def test_a_pdf_of_a_session_alone_is_refused_with_what_to_give() -> None:
    with pytest.raises(InputError, match=r"give ws\.ledgers\.prove\(ID\) in place"):
        export_ledger(every_verdict(), "pdf")


def test_a_proof_without_a_ledger_is_refused() -> None:
    with pytest.raises(InputError, match="no signed ledger"):
        export_ledger(make_proof(), "markdown")


def test_a_form_that_is_unknown_is_refused() -> None:
    with pytest.raises(InputError, match="no form 'word' of a ledger: use markdown, json, sarif"):
        export_ledger(every_verdict(), "word")

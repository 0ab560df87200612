"""A ledger in a notebook: a table, in which nothing runs."""

import json
import re
from pathlib import Path
from typing import Final

from evidentia.export.html.notebook import SHOWN, ledger_cell
from evidentia.ledger.session import LedgerSession
from evidentia.proof.statement import Statement

VECTORS: Final = Path(__file__).resolve().parents[3] / "spec/v1/vectors/ledger"


def _session(**changes: object) -> LedgerSession:
    statement = Statement.parse((VECTORS / "statement-second.json").read_bytes())
    return LedgerSession.from_statement(statement).model_copy(update=changes)


def test_a_cell_has_the_title_the_counts_and_the_claims() -> None:
    session = _session()
    cell = ledger_cell(session)
    assert "Leave Policy Q&amp;A" in cell
    assert f"of {len(session.claims)} claims" in cell
    assert cell.count("<tr>") == 1 + len(session.claims)


def test_a_cell_says_on_which_page_the_evidence_stands() -> None:
    session = _session()
    source = next(one.source_document for one in session.ledger.entries if one.source_document)
    told = source.model_copy(update={"page_number": 12})
    entry = session.ledger.entries[0].model_copy(update={"source_document": told})
    ledger = session.ledger.model_copy(update={"entries": [entry]})
    assert f"{source.filename}, page 12" in ledger_cell(_session(ledger=ledger))


def test_text_in_a_cell_is_no_markup() -> None:
    hostile = '<script>alert(1)</script><img src=x onerror="alert(1)">'
    session = _session()
    entry = session.ledger.entries[0].model_copy(update={"claim_text": hostile})
    ledger = session.ledger.model_copy(update={"entries": [entry], "id": hostile})
    cell = ledger_cell(_session(title=hostile, ledger=ledger))
    assert not re.search(r"<(?:script|img)", cell)
    assert cell.count("&lt;script&gt;") == len(("title", "id", "claim"))


def test_a_long_ledger_says_how_much_is_left() -> None:
    session = _session()
    entries = [session.ledger.entries[0]] * (SHOWN + 5)
    long = entries[0].model_copy(update={"claim_text": "word " * 200})
    cell = ledger_cell(
        _session(ledger=session.ledger.model_copy(update={"entries": [long, *entries[1:]]}))
    )
    assert cell.count("<tr>") == 1 + SHOWN
    assert "… and 5 more claims" in cell
    assert "word word…</td>" in cell


def test_a_ledger_without_claims_is_shown_too() -> None:
    empty = json.loads((VECTORS / "statement-second.json").read_text())["predicate"]["ledger"]
    session = _session()
    summary = session.ledger.summary.model_copy(
        update={"total_claims": 0, "by_verdict": dict.fromkeys(empty["summary"]["by_verdict"], 0)}
    )
    ledger = session.ledger.model_copy(update={"entries": [], "summary": summary})
    assert "of 0 claims: none" in ledger_cell(_session(ledger=ledger))

"""What a check leaves in the database: rows that follow from the ledger, within their limits."""

import json
from pathlib import Path
from typing import Any

import pytest

from evidentia.canonical import sha256_hex
from evidentia.errors import EnvironmentProblem, EvidentiaError, IntegrityError, NotFoundError
from evidentia.ledger.model import EvidenceLedger
from evidentia.store.database import run
from evidentia.workspace import Workspace
from places import Place, lake_of
from workspace.policies import (
    ANSWER,
    NOT_FOUND,
    SUPPORTED,
    VERDICTS,
    count,
    read_here,
    rows,
    verdicts,
    write_policies,
)


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


@pytest.fixture
def filled(workspace: Workspace, tmp_path: Path) -> Workspace:
    workspace.ingest(write_policies(tmp_path / "docs"))
    return workspace


def check(workspace: Workspace) -> EvidenceLedger:
    ledger = workspace.check(
        ANSWER, title="Leave", query="How many days?", answer_name="a.md", mode="review"
    )
    assert verdicts(ledger) == VERDICTS
    return ledger


def test_every_value_of_a_ledger_has_its_row(filled: Workspace) -> None:
    ledger = check(filled)
    session = filled.ledgers.get(ledger.id).session
    (row,) = rows(filled, "SELECT * FROM sessions")
    assert row == {
        "tenant": "default",
        "id": ledger.session_id,
        "workspace_id": "default",
        "title": "Leave",
        "query": "How many days?",
        "mode": "review",
        "answer_name": "a.md",
        "answer": ANSWER,
        "answer_sha256": sha256_hex(ANSWER.encode()),
        "created_at": ledger.created_at,
    }
    found = rows(filled, "SELECT * FROM claims ORDER BY start_offset")
    for row, claim in zip(found, session.claims, strict=True):
        assert row == {
            "tenant": "default",
            "session_id": ledger.session_id,
            "id": claim.id,
            "claim_text": claim.text,
            "claim_type": claim.type.value,
            "importance": claim.importance.value,
            "requires_citation": int(claim.requires_citation),
            "start_offset": claim.start,
            "end_offset": claim.end,
            "created_at": ledger.created_at,
        }
        assert ANSWER[row["start_offset"] : row["end_offset"]] == claim.source_text
    (row,) = rows(filled, "SELECT * FROM ledgers")
    statement = row.pop("statement_sha256")
    assert json.loads(row.pop("summary")) == ledger.summary.model_dump(mode="json")
    assert json.loads(row.pop("risk_flags")) == [
        flag.model_dump(mode="json") for flag in ledger.risk_flags
    ]
    assert json.loads(row.pop("follow_up_questions")) == list(ledger.follow_up_questions)
    assert row == {
        "tenant": "default",
        "id": ledger.id,
        "session_id": ledger.session_id,
        "previous_id": None,
        "trail_seq": filled.trail.size - 1,
        "created_at": ledger.created_at,
    }
    assert lake_of(filled).get(statement) == session.to_statement().encode()
    judged = {row["id"]: row for row in rows(filled, "SELECT * FROM evidence_ledger")}
    assert len(judged) == len(ledger.entries) == 3
    for entry in ledger.entries:
        row = judged[entry.id]
        anchors = row.pop("chunk_ids")  # a list of its own where the database has lists
        if filled.opened.database.is_sqlite:
            anchors = json.loads(anchors)
        assert anchors == list(entry.evidence_chunk_ids)
        assert row == {
            "tenant": "default",
            "id": entry.id,
            "ledger_id": ledger.id,
            "session_id": ledger.session_id,
            "claim_id": entry.claim_id,
            "verdict": entry.verdict.value,
            "confidence_score": entry.confidence_score,
            "evidence_snippet": entry.evidence_snippet,
            "notes": entry.notes,
            "created_at": ledger.created_at,
        }


BAD_VALUES: list[tuple[str, dict[str, Any]]] = [
    ("evidence_ledger", {"id": "x", "claim_id": "other", "verdict": "true"}),
    ("evidence_ledger", {"id": "x", "claim_id": "other", "verdict": "SUPPORTED"}),
    ("evidence_ledger", {"id": "x", "claim_id": "other", "verdict": ""}),
    ("evidence_ledger", {"id": "x", "claim_id": "other", "confidence_score": 1.1}),
    ("evidence_ledger", {"id": "x", "claim_id": "other", "confidence_score": -0.1}),
    ("evidence_ledger", {"id": "x", "claim_id": "other", "confidence_score": float("inf")}),
    ("evidence_ledger", {"id": "x", "claim_id": "no such claim"}),
    ("evidence_ledger", {"id": "x", "ledger_id": "no such ledger"}),
    ("evidence_ledger", {"id": "x"}),  # the same claim of the same ledger
    ("evidence_ledger", {"claim_id": "other"}),  # the same id
    ("evidence_ledger", {"id": "x", "claim_id": "other", "notes": None}),
    ("claims", {"id": "x", "claim_type": "opinion"}),
    ("claims", {"id": "x", "importance": "high"}),
    ("claims", {"id": "x", "session_id": "no such session"}),
    ("ledgers", {"id": "x", "trail_seq": 9, "session_id": "no such session"}),
    ("ledgers", {"id": "x"}),  # the same entry of the trail
    ("ledgers", {"trail_seq": 9}),  # the same id
    ("documents", {"version": 2, "status": "pending"}),
    ("documents", {"version": 2, "direction": "up"}),
    ("documents", {"version": 1}),
    ("citation_anchors", {"anchor": "x"}),
    ("document_chunks", {"id": "x"}),
]
GOOD_VALUES: list[tuple[str, dict[str, Any]]] = [
    ("evidence_ledger", {"id": "x", "claim_id": "other", "confidence_score": 1.0}),
    ("evidence_ledger", {"id": "x", "claim_id": "other", "verdict": "not_judged"}),
    ("claims", {"id": "x", "claim_type": "policy"}),
    ("ledgers", {"id": "x", "trail_seq": 9}),
    ("documents", {"version": 2, "direction": "rtl"}),
]


def insert_like(workspace: Workspace, table: str, changes: dict[str, Any]) -> None:
    """Insert a copy of a row, with some values changed, and a claim that no ledger has judged."""
    row = rows(workspace, f"SELECT * FROM {table} LIMIT 1")[0] | changes
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        run(
            connection,
            "INSERT INTO claims SELECT tenant, session_id, 'other', claim_text, claim_type, "
            "importance, requires_citation, start_offset, end_offset, created_at FROM claims "
            "ORDER BY id LIMIT 1",
        )
        columns, marks = ", ".join(row), ", ".join("?" for _ in row)
        sql = f"INSERT INTO {table} ({columns}) VALUES ({marks})"
        run(connection, sql.replace("query,", '"query",'), tuple(row.values()))


def test_rows_that_contradict_the_ledgers_rules_are_refused(filled: Workspace) -> None:
    check(filled)
    tables = sorted({table for table, _ in BAD_VALUES})
    before = {table: count(filled, table) for table in tables}
    for table, changes in BAD_VALUES:
        with pytest.raises((IntegrityError, EnvironmentProblem)) as refused:
            insert_like(filled, table, changes)
        words = ("constraint", "append-only", "duplicate key", "null value")
        assert any(word in str(refused.value) for word in words), (table, changes)
    assert {table: count(filled, table) for table in tables} == before


@pytest.mark.parametrize(("table", "changes"), GOOD_VALUES)
def test_rows_within_the_rules_are_taken(
    sqlite_place: Place, tmp_path: Path, table: str, changes: dict[str, Any]
) -> None:
    workspace = sqlite_place.open()
    workspace.ingest(write_policies(tmp_path / "docs"))
    check(workspace)
    insert_like(workspace, table, changes)


def test_a_session_that_is_checked_again_is_kept_once(filled: Workspace) -> None:
    first, second = check(filled), check(filled)
    assert first.session_id == second.session_id
    assert (count(filled, "sessions"), count(filled, "claims")) == (1, 3)
    assert (count(filled, "ledgers"), count(filled, "evidence_ledger")) == (2, 6)
    (row,) = rows(filled, "SELECT created_at FROM sessions")
    assert row["created_at"] == first.created_at


def test_ledgers_are_listed_newest_first_and_in_pages(filled: Workspace) -> None:
    ids = [filled.check(f"{SUPPORTED} Part {number}.").id for number in range(5)]
    newest = list(reversed(ids))
    assert [item.id for item in filled.ledgers.list()] == newest
    first = filled.ledgers.list(limit=2)
    assert [item.id for item in first] == newest[:2]
    rest = filled.ledgers.list(before=first[-1].entry)
    assert [item.id for item in rest] == newest[2:]
    assert filled.ledgers.list(before=0) == filled.ledgers.list(limit=0) == []
    assert filled.ledgers.list(before=rest[0].entry, limit=1) == rest[1:2]


def test_a_listed_ledger_says_whose_it_is(filled: Workspace) -> None:
    ledger = check(filled)
    (listed,) = filled.ledgers.list()
    assert listed == filled.ledgers.find(ledger.id) == filled.ledgers.find(ledger.session_id)
    assert listed.as_json() == {
        "id": ledger.id,
        "session_id": ledger.session_id,
        "previous_id": None,
        "title": "Leave",
        "query": "How many days?",
        "answer_name": "a.md",
        "summary": ledger.summary.model_dump(mode="json"),
        "statement_sha256": listed.statement_sha256,
        "entry": filled.trail.size - 1,
        "created_at": ledger.created_at,
    }


def test_a_session_and_the_word_latest_name_the_newest_ledger(filled: Workspace) -> None:
    with pytest.raises(NotFoundError, match=r"there is no ledger latest: .* has no ledgers yet"):
        filled.ledgers.find("latest")
    first, second = check(filled), check(filled)
    assert filled.ledgers.find(first.session_id).id == second.id
    assert filled.ledgers.find(first.id).id == first.id
    other = filled.check(NOT_FOUND)
    assert filled.ledgers.find("latest").id == other.id
    assert filled.ledgers.find(first.session_id).id == second.id


def test_a_ledger_that_is_not_there_is_not_found(filled: Workspace) -> None:
    check(filled)
    for name in ("", "led_0", "%", "' OR ''='", "led_\0", "\ud800", "漢", "x" * 10_000, "?"):
        with pytest.raises(NotFoundError, match=r"there is no ledger .* of tenant 'default'") as no:
            filled.ledgers.find(name)
        assert len(str(no.value)) < 600


def test_ledgers_of_another_tenant_are_not_found(place: Place, tmp_path: Path) -> None:
    docs = write_policies(tmp_path / "docs")
    one, other = place.open("one"), place.open("other")
    ledger = one.check(ANSWER, against=docs)
    assert other.ledgers.list() == []
    with pytest.raises(EvidentiaError):
        other.ledgers.get(ledger.id)
    assert other.check(ANSWER, against=docs).previous_ledger_id is None

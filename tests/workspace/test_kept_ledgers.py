"""Ledgers that were kept: in the trail, in a chain, as they were checked, proven to a stranger."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evidentia import __version__
from evidentia.canonical import canonical_json, sha256_hex
from evidentia.errors import EvidentiaError, InputError, IntegrityError, NotFoundError, ProofError
from evidentia.judges import available_judges
from evidentia.ledger.pages import ledger_pages, pages_root
from evidentia.ledger.session import THIRD_TYPE, LedgerSession
from evidentia.proof.document import Proof
from evidentia.proof.envelope import Envelope
from evidentia.proof.keys import SigningKey
from evidentia.store.database import run
from evidentia.verifying import verify
from evidentia.workspace import Workspace
from evidentia.workspace import ledgers as ledgers_part
from evidentia.workspace.signing import current_key
from places import Place, record
from vandal import Vandal, vandal_at
from workspace.policies import (
    ANSWER,
    BY_RULES,
    NOT_FOUND,
    SUPPORTED,
    VERDICTS,
    lake_files,
    read_here,
    verdicts,
    write_policies,
)


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


@pytest.fixture
def filled(workspace: Workspace, tmp_path: Path) -> Workspace:
    workspace.append(record(1))
    workspace.ingest(write_policies(tmp_path / "docs"))
    return workspace


def statement_file(workspace: Workspace, name: str) -> Path:
    digest = workspace.ledgers.find(name).statement_sha256
    (path,) = [path for path in lake_files(workspace) if path.name == digest]
    return path


# In the trail


def test_a_ledger_is_an_entry_of_the_trail(filled: Workspace) -> None:
    size = filled.trail.size
    ledger = filled.check(ANSWER, judges=BY_RULES)
    listed = filled.ledgers.find(ledger.id)
    assert listed.entry == size
    logged = filled.trail.entry(listed.entry)
    assert (logged.entry.kind, logged.entry.subject) == ("ledger", ledger.id)
    assert logged.body == {
        "statement_sha256": sha256_hex(
            filled.ledgers.get(ledger.id).session.to_statement().encode()
        ),
        "predicate_type": THIRD_TYPE,
        "session_id": ledger.session_id,
        "previous_ledger_id": None,
        "by": "owner",
        "summary": ledger.summary.model_dump(mode="json"),
        "claims_root": pages_root(ledger_pages(ledger.session)).hex(),
        "corpus": ledger.session.corpus and ledger.session.corpus.named().model_dump(mode="json"),
    }
    assert ANSWER not in json.dumps(logged.body)  # what was said can be erased with its files
    assert filled.trail.size == size + 1
    assert filled.trail.audit().holds


def test_a_check_that_cannot_be_recorded_leaves_no_rows(
    filled: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise EvidentiaError("in the way")

    with monkeypatch.context() as patched:
        patched.setattr("evidentia.store.sql.ledgers.insert_ledger", fail)
        with pytest.raises(EvidentiaError, match="in the way"):
            filled.check(ANSWER, judges=BY_RULES)
    assert (filled.trail.entries(kind="ledger"), filled.ledgers.list()) == ([], [])
    assert verdicts(filled.check(ANSWER, judges=BY_RULES)) == VERDICTS
    assert filled.trail.audit().holds


def test_a_ledger_too_large_to_be_proven_is_refused_and_not_recorded(
    filled: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = replace(ledgers_part.LEDGERS, most_bytes=1_000)
    monkeypatch.setattr(ledgers_part, "LEDGERS", small)
    with pytest.raises(InputError, match=r"the ledger has .* bytes, 1,000 at most"):
        filled.check(ANSWER, judges=BY_RULES)
    assert (filled.trail.entries(kind="ledger"), filled.ledgers.list()) == ([], [])


# In a chain


def test_the_same_answer_checked_again_points_to_the_ledger_before(filled: Workspace) -> None:
    first = filled.check(ANSWER, judges=BY_RULES)
    second = filled.check(ANSWER, judges=BY_RULES)
    other = filled.check(f"{ANSWER}{NOT_FOUND}", judges=BY_RULES)
    third = filled.check(
        ANSWER, title="Another title", query="Why?", answer_name="b.md", judges=BY_RULES
    )
    fourth = filled.check(ANSWER, judges=BY_RULES)
    assert first.previous_ledger_id is other.previous_ledger_id is None
    assert second.previous_ledger_id == first.id
    assert third.previous_ledger_id == second.id
    assert fourth.previous_ledger_id == third.id
    assert third.session_id != second.session_id == fourth.session_id
    assert len({first.id, second.id, third.id, fourth.id}) == 4
    listed = {item.id: item.previous_id for item in filled.ledgers.list()}
    assert listed[fourth.id] == third.id
    entry = filled.trail.entry(filled.ledgers.find(fourth.id).entry)
    assert entry.body["previous_ledger_id"] == third.id
    assert filled.ledgers.get(first.id) == first


# As they were checked


def test_a_session_is_read_as_it_was_checked(filled: Workspace) -> None:
    greeting = "Hello!\n\n"
    ledger = filled.check(
        f"{greeting}{ANSWER}", query="¿Cuántos?", title="Leave é", mode="review", answer_name="a"
    )
    session = filled.ledgers.get(ledger.id).session
    assert session.ledger == ledger == filled.ledgers.get(ledger.id)
    assert session.id == ledger.session_id
    assert (session.query, session.title, session.mode) == ("¿Cuántos?", "Leave é", "review")
    assert (session.answer_name, session.answer) == ("a", f"{greeting}{ANSWER}")
    assert session.judges == list(available_judges())
    assert session.program == f"evidentia {__version__}"
    assert [piece.text for piece in session.left_out] == ["Hello!"]
    assert {(item.id, item.sha256) for item in session.documents} == {
        (item.id, item.sha256) for item in filled.documents.list()
    }
    assert [claim.id for claim in session.claims] == [entry.claim_id for entry in ledger.entries]
    assert filled.ledgers.get(ledger.session_id).session == session


def test_a_title_is_the_answers_name_where_none_is_given(filled: Workspace) -> None:
    session = filled.ledgers.get(
        filled.check(SUPPORTED, answer_name="a.md", judges=BY_RULES).id
    ).session
    assert (session.title, session.query) == ("a.md", None)


def test_another_workspace_on_the_same_data_reads_the_same(place: Place, tmp_path: Path) -> None:
    ledger = place.open().check(ANSWER, against=write_policies(tmp_path / "docs"), judges=BY_RULES)
    assert place.open().ledgers.get(ledger.id) == ledger


# What was tampered with


def test_a_changed_statement_is_found(filled: Workspace) -> None:
    ledger = filled.check(ANSWER, judges=BY_RULES)
    path = statement_file(filled, ledger.id)
    path.write_bytes(path.read_bytes().replace(b'"contradicted"', b'"supported"'))
    for read in (filled.ledgers.get, filled.ledgers.prove):
        with pytest.raises(IntegrityError, match="its bytes were changed since they were kept"):
            read(ledger.id)


def test_a_missing_statement_is_found(filled: Workspace) -> None:
    ledger = filled.check(ANSWER, judges=BY_RULES)
    statement_file(filled, ledger.id).unlink()
    with pytest.raises(IntegrityError, match="gone from the lake; bring it back from a copy"):
        filled.ledgers.get(ledger.id)
    (problem,) = filled.ledgers.audit()
    assert problem.startswith(f"ledger {ledger.id}: ")


def _another_statement(workspace: Workspace, vandal: Vandal, one: str, other: str) -> None:
    digest = workspace.ledgers.find(other).statement_sha256
    vandal.change("UPDATE ledgers SET statement_sha256 = ? WHERE id = ?", digest, one)


def _another_entry(workspace: Workspace, vandal: Vandal, one: str, other: str) -> None:
    entry = workspace.ledgers.find(other).entry
    vandal.change("UPDATE ledgers SET trail_seq = -1 WHERE id = ?", other)
    vandal.change("UPDATE ledgers SET trail_seq = ? WHERE id = ?", entry, one)


def _an_entry_of_another_kind(workspace: Workspace, vandal: Vandal, one: str, other: str) -> None:
    vandal.change("UPDATE ledgers SET trail_seq = 0 WHERE id = ?", one)


@pytest.mark.parametrize("tamper", [_another_statement, _another_entry, _an_entry_of_another_kind])
def test_a_row_that_disagrees_with_the_trail_is_found(
    place: Place, tmp_path: Path, tamper: Callable[[Workspace, Vandal, str, str], None]
) -> None:
    workspace = place.open()
    workspace.append(record(1))
    workspace.ingest(write_policies(tmp_path / "docs"))
    one, other = (
        workspace.check(ANSWER, judges=BY_RULES),
        workspace.check(SUPPORTED, judges=BY_RULES),
    )
    with vandal_at(place.url or place.home.database, "seed") as vandal:
        tamper(workspace, vandal, one.id, other.id)
    for read in (workspace.ledgers.get, workspace.ledgers.prove):
        with pytest.raises(IntegrityError, match=f"ledger {one.id}: the database and the trail's"):
            read(one.id)


def test_a_ledger_whose_rows_were_deleted_is_missed_by_the_audit(
    place: Place, tmp_path: Path
) -> None:
    workspace = place.open()
    workspace.ingest(write_policies(tmp_path / "docs"))
    one, other = (
        workspace.check(ANSWER, judges=BY_RULES),
        workspace.check(SUPPORTED, judges=BY_RULES),
    )
    assert workspace.ledgers.audit() == []
    with vandal_at(place.url or place.home.database, "seed") as vandal:
        for table, column in (("evidence_ledger", "ledger_id"), ("ledgers", "id")):
            vandal.change(f"DELETE FROM {table} WHERE {column} = ?", one.id, rows=None)
    assert [listed.id for listed in workspace.ledgers.list()] == [other.id]
    missing = f"entry {one.entry} of the trail records it, and the database does not have it"
    assert workspace.ledgers.audit() == [f"ledger {one.id}: {missing}"]
    with pytest.raises(IntegrityError, match=missing):
        workspace.ledgers.get(one.id)
    erased = workspace.ledgers.find(other.id).entry
    workspace.trail.erase(erased, reason="law", by="counsel")
    assert len(workspace.ledgers.audit()) == 1  # what was erased is not missed


def test_changed_rows_of_entries_do_not_change_what_is_read(place: Place, tmp_path: Path) -> None:
    workspace = place.open()
    ledger = workspace.check(ANSWER, against=write_policies(tmp_path / "docs"), judges=BY_RULES)
    with vandal_at(place.url or place.home.database, "seed") as vandal:
        sql = "UPDATE evidence_ledger SET verdict = 'supported', confidence_score = 1"
        vandal.change(sql, rows=3)
        vandal.change("UPDATE sessions SET answer = 'other'")
    assert workspace.ledgers.get(ledger.id) == ledger
    assert workspace.ledgers.get(ledger.id).session.answer == ANSWER


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        (
            "UPDATE evidence_ledger SET verdict = 'supported' WHERE verdict <> 'supported'",
            "verdicts",
        ),
        ("UPDATE evidence_ledger SET notes = 'looked at'", "verdicts"),
        ("DELETE FROM evidence_ledger WHERE verdict <> 'supported'", "verdicts"),
        ("UPDATE ledgers SET summary = replace(summary, '1', '2')", "ledger"),
        ("UPDATE ledgers SET risk_flags = '[]'", "ledger"),
        ("UPDATE claims SET claim_text = 'All is well'", "claims"),
        ("UPDATE sessions SET answer = 'other'", "session"),
    ],
)
def test_rows_that_say_otherwise_than_what_was_recorded_are_found(
    place: Place, tmp_path: Path, sql: str, what: str
) -> None:
    workspace = place.open()
    ledger = workspace.check(ANSWER, against=write_policies(tmp_path / "docs"), judges=BY_RULES)
    workspace.check(SUPPORTED, judges=BY_RULES)
    assert workspace.ledgers.audit() == []
    with vandal_at(place.url or place.home.database, "seed") as vandal:
        vandal.change(sql, rows=None)
    problem = f"ledger {ledger.id}: the rows of its {what} are not what was recorded"
    assert problem in workspace.ledgers.audit()


def rows_left(workspace: Workspace) -> dict[str, int]:
    tables = ("sessions", "claims", "ledgers", "evidence_ledger")
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        return {
            table: run(connection, f"SELECT count(*) FROM {table}").scalar_one() for table in tables
        }


def test_an_erased_ledger_is_gone_from_everywhere_and_said_to_be(filled: Workspace) -> None:
    before = rows_left(filled)
    ledger = filled.check(ANSWER, judges=BY_RULES)
    listed = filled.ledgers.find(ledger.id)
    kept = statement_file(filled, ledger.id)
    filled.trail.erase(listed.entry, reason="law", by="counsel")
    for read in (filled.ledgers.get, filled.ledgers.prove):
        with pytest.raises(NotFoundError, match=rf"{ledger.id} .entry {listed.entry}. was erased"):
            read(ledger.id)
    assert rows_left(filled) == before
    assert not kept.exists()
    assert filled.trail.audit().holds
    assert filled.ledgers.audit() == []
    assert filled.check(ANSWER, judges=BY_RULES).previous_ledger_id is None


def test_a_session_stays_as_long_as_a_ledger_of_it_does(filled: Workspace) -> None:
    first, second = filled.check(ANSWER, judges=BY_RULES), filled.check(ANSWER, judges=BY_RULES)
    filled.trail.erase(filled.ledgers.find(first.id).entry, reason="law", by="counsel")
    assert filled.ledgers.get(second.id).session.answer == ANSWER
    left = rows_left(filled)
    assert (left["sessions"], left["ledgers"]) == (1, 1)
    assert left["claims"] == left["evidence_ledger"] == len(second.entries)
    filled.trail.erase(filled.ledgers.find(second.id).entry, reason="law", by="counsel")
    assert set(rows_left(filled).values()) == {0}


@pytest.mark.as_owner
def test_rows_of_a_ledger_that_was_not_erased_cannot_be_removed(filled: Workspace) -> None:
    filled.check(ANSWER, judges=BY_RULES)
    before = rows_left(filled)
    for table in before:
        with (
            pytest.raises(IntegrityError, match=f"{table} is append-only: no delete"),
            filled.opened.database.of(filled.tenant).write(sequencing=True) as connection,
        ):
            run(connection, f"DELETE FROM {table}")
    assert rows_left(filled) == before


def test_progress_of_an_audit_of_ledgers_is_told(filled: Workspace) -> None:
    filled.check(ANSWER, judges=BY_RULES)
    told: list[tuple[int, int]] = []
    assert filled.ledgers.audit(progress=lambda done, total: told.append((done, total))) == []
    assert told == [(1, 1)]


# Proven to a stranger


def proof_bytes(proof: Proof) -> bytes:
    return canonical_json(proof.as_json())


def test_a_proven_ledger_holds_with_the_right_key_alone(filled: Workspace) -> None:
    ledger = filled.check(ANSWER, judges=BY_RULES)
    proof = filled.ledgers.prove(ledger.id)
    data = proof_bytes(proof)
    key = filled.trail.public_key()
    report = verify(data, key=key)
    assert report.holds
    assert [check.name for check in report.checks] == [
        "format",
        "content",
        "place",
        "signature",
        "statement",
        "corpus",
    ]
    assert report.statement is not None
    assert LedgerSession.from_statement(report.statement) == filled.ledgers.get(ledger.id).session
    assert not verify(data).holds
    assert verify(data).verdict.value == "consistent, signer unknown"
    other = SigningKey.from_seed(key.name, bytes(32)).verifier
    assert {check.name for check in verify(data, key=other).checks if not check.holds} == {
        "signature",
        "statement",
    }
    assert Proof.parse(data) == proof


def test_a_proof_by_a_session_and_after_a_new_key_holds(filled: Workspace) -> None:
    ledger = filled.check(ANSWER, judges=BY_RULES)
    old = filled.trail.public_key()
    new = filled.trail.rotate_key()
    data = proof_bytes(filled.ledgers.prove(ledger.session_id))
    assert verify(data, key=new).holds
    assert not verify(data, key=old).holds


def test_a_changed_payload_is_caught_whoever_signed_it(sqlite_place: Place, tmp_path: Path) -> None:
    workspace = sqlite_place.open()
    ledger = workspace.check(ANSWER, against=write_policies(tmp_path / "docs"), judges=BY_RULES)
    proof = workspace.ledgers.prove(ledger.id)
    key = workspace.trail.public_key()
    assert proof.envelope is not None
    changed = proof.envelope.payload.replace(b'"verdict":"contradicted"', b'"verdict":"supported"')
    assert changed != proof.envelope.payload
    forged = Envelope.sign(changed, current_key(workspace._acting))
    for envelope in (replace(proof.envelope, payload=changed), forged):
        report = verify(proof_bytes(replace(proof, envelope=envelope)), key=key)
        assert [check.name for check in report.checks if not check.holds] == ["statement"]


def test_a_statement_of_another_ledger_is_caught(sqlite_place: Place, tmp_path: Path) -> None:
    workspace = sqlite_place.open()
    one = workspace.check(ANSWER, against=write_policies(tmp_path / "docs"), judges=BY_RULES)
    other = workspace.check(SUPPORTED, judges=BY_RULES)
    proof = workspace.ledgers.prove(one.id)
    swapped = replace(proof, envelope=workspace.ledgers.prove(other.id).envelope)
    report = verify(proof_bytes(swapped), key=workspace.trail.public_key())
    assert [check.name for check in report.checks if not check.holds] == ["statement"]


def _without_claims(predicate: dict[str, Any]) -> None:
    predicate["claims"] = []


def _another_answer(predicate: dict[str, Any]) -> None:
    predicate["answer"] = "Something else."


def _another_verdict(predicate: dict[str, Any]) -> None:
    predicate["ledger"]["entries"][0]["verdict"] = "true"


@pytest.mark.parametrize("tamper", [_without_claims, _another_answer, _another_verdict])
def test_a_statement_that_was_recorded_wrong_is_not_read(
    sqlite_place: Place,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tamper: Callable[[dict[str, Any]], None],
) -> None:
    workspace = sqlite_place.open()
    written = LedgerSession.to_statement

    def tampered(session: LedgerSession) -> object:
        statement = written(session)
        predicate = dict(statement.predicate)
        tamper(predicate)
        return replace(statement, predicate=predicate)

    with monkeypatch.context() as patched:
        patched.setattr(LedgerSession, "to_statement", tampered)
        ledger = workspace.check(ANSWER, against=write_policies(tmp_path / "docs"), judges=BY_RULES)
    with pytest.raises(ProofError):
        workspace.ledgers.get(ledger.id)

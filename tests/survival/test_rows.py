"""What an insider does to rows beside the log decides nothing, and is named."""

from dataclasses import replace
from pathlib import Path

import pysqlite3
import pytest

import evidentia as ev
from evidentia.errors import ConflictError, InputError, IntegrityError, SealingError
from evidentia.proof.keys import SigningKey
from evidentia.store.database import run
from evidentia.store.sql import log
from evidentia.trail.entry import Entry, body_commitment
from evidentia.workspace import Workspace, sealing
from insider import without_guards
from packing import decision, memo
from places import Place, lake_of, record
from workspace.policies import read_here

pytestmark = pytest.mark.as_owner


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


def change(workspace: Workspace, sql: str, *values: object) -> None:
    without_guards(workspace, lambda connection: run(connection, sql, values))


def test_who_names_a_decision_does_not_act_on_the_pack_of_another(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    packs = [
        workspace.assemble(decision(decision_id=name), memo=memo())
        for name in ("dec_held", "dec_other")
    ]
    workspace.packs.hold("dec_held", reason="a case")
    swapped = "UPDATE evidence_packs SET decision_id = ? WHERE id = ?"
    change(workspace, swapped, "dec_swap", packs[0].pack_id)
    change(workspace, swapped, "dec_held", packs[1].pack_id)
    change(workspace, swapped, "dec_other", packs[0].pack_id)
    again = sqlite_place.open()
    for attempt in (
        lambda: again.packs.release("dec_other", reason="done"),
        lambda: again.packs.review("dec_other", "approved", reviewer="bob"),
        lambda: again.packs.approve_export("dec_other"),
    ):
        with pytest.raises(IntegrityError):
            attempt()
    assert packs[0].pack_id in again.packs.held()


def test_a_role_that_was_taken_away_stays_so_in_a_tail_without_its_checkpoint(
    sqlite_place: Place,
) -> None:
    workspace = sqlite_place.open()
    workspace.access.grant("dave", "admin")
    workspace.access.revoke("dave", "admin")
    newest = "DELETE FROM trail_checkpoints WHERE size = (SELECT max(size) FROM trail_checkpoints)"
    change(workspace, newest)
    assert [one.user for one in sqlite_place.open().access.grants()] == []


def test_an_index_that_took_a_reserved_name_is_named(tmp_path: Path) -> None:
    with ev.open(tmp_path / "home") as workspace:
        workspace.access.grant("dave", "admin")
    connection = pysqlite3.connect(tmp_path / "home" / "evidentia.db")
    connection.execute("CREATE UNIQUE INDEX evil ON trail_entries(tenant) WHERE kind = 'no'")
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(
        "UPDATE sqlite_master SET name = 'sqlite_evil', "
        "sql = replace(sql, 'evil', 'sqlite_evil') WHERE name = 'evil'"
    )
    connection.commit()
    connection.close()
    with ev.open(tmp_path / "home") as workspace:
        assert "sqlite_evil" in str(workspace.audit().findings)


def test_documents_that_someone_planted_are_not_recorded_by_ingesting_them(
    sqlite_place: Place, tmp_path: Path
) -> None:
    workspace = sqlite_place.open()
    for name, text in (("a.md", "Leave is 15 days."), ("b.md", "Gifts are refused.")):
        (tmp_path / name).write_text(text)
    workspace.ingest(tmp_path / "a.md")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("evidentia.workspace.library.Recorder.record", lambda *_: None)
        workspace.ingest(tmp_path / "b.md")
    again = sqlite_place.open()
    size = again.trail.size
    with pytest.raises(IntegrityError, match="no entry of the trail records it"):
        again.ingest(tmp_path / "b.md")
    assert again.trail.size == size
    ledger = again.check("Gifts are refused.", judges=["quote"])
    assert [entry.verdict for entry in ledger.entries] == ["not_found"]
    assert "no entry of the trail records it" in "".join(again.audit().findings)
    again.opened.home.search(again.tenant).joinpath("state.json").unlink()
    with pytest.raises(IntegrityError, match="no entry of the trail records it"):
        sqlite_place.open().check("Gifts are refused.", judges=["quote"])


def test_an_index_that_hides_the_entry_of_a_document_changes_no_answer(
    sqlite_place: Place, tmp_path: Path
) -> None:
    workspace = sqlite_place.open()
    (tmp_path / "docs").mkdir()
    for name, text in (("a.md", "Leave is 15 days."), ("b.md", "Gifts are refused.")):
        (tmp_path / "docs" / name).write_text(text)
    workspace.ingest(tmp_path / "docs")
    before = workspace.check("Gifts are refused.", judges=["quote"]).session.corpus
    seqs = "SELECT seq FROM trail_entries WHERE kind = 'document' ORDER BY seq DESC LIMIT 1"
    hidden = f"UPDATE trail_entries SET kind = 'run', subject = 'x' WHERE seq = ({seqs})"
    change(workspace, hidden)
    again = sqlite_place.open()
    size = again.trail.size
    again.ingest(tmp_path / "docs")
    assert again.trail.size == size
    assert again.check("Gifts are refused.", judges=["quote"]).session.corpus == before
    assert not again.audit().holds


def test_hidden_entries_about_documents_hide_no_document(
    sqlite_place: Place, tmp_path: Path
) -> None:
    """What the signed map has is there for all who ask, whatever a column says of its entry."""
    workspace = sqlite_place.open()
    (tmp_path / "docs").mkdir()
    for name, text in (("a.md", "Leave is 15 days."), ("b.md", "Gifts are refused.")):
        (tmp_path / "docs" / name).write_text(text)
    workspace.ingest(tmp_path / "docs")
    ledger = workspace.check("Gifts are refused.", judges=["quote"])
    first, second = workspace.documents.list()
    (anchor,) = ledger.entries[0].evidence_chunk_ids
    hidden = "UPDATE trail_entries SET kind = 'run', subject = 'x' WHERE kind = 'document'"
    change(workspace, hidden)
    again = sqlite_place.open()
    assert again.documents.chunks(second)[0].text == "Gifts are refused."
    assert again.documents.resolve(anchor).places
    assert again.ledgers.corpus(ledger.id).documents == 2
    bundle = again.bundle({}, {"documents": [{"document_id": first.id}]})
    assert bundle.items
    (removed,) = again.documents.remove(second.id, reason="outdated")
    assert removed.document == second
    change(again, hidden)
    last = sqlite_place.open()
    assert last.documents.chunks(second)[0].text == "Gifts are refused."
    with pytest.raises(InputError, match="the library has no document"):
        last.bundle({}, {"documents": [{"document_id": second.id}]})


def test_an_altered_entry_about_a_document_lets_nothing_be_believed(
    sqlite_place: Place, tmp_path: Path
) -> None:
    workspace = sqlite_place.open()
    (tmp_path / "a.md").write_text("Leave is 15 days.")
    workspace.ingest(tmp_path / "a.md")
    altered = 'CAST(replace(CAST(entry AS TEXT), \'"at":"20\', \'"at":"19\') AS BLOB)'
    change(workspace, f"UPDATE trail_entries SET entry = {altered} WHERE kind = 'document'")
    again = sqlite_place.open()
    with pytest.raises(IntegrityError, match="do not lead to the root that is signed"):
        again.check("Leave is 15 days.", judges=["quote"])


# What an erasure removes


@pytest.mark.parametrize("kind", ["ledger", "bundle", "pack"])
def test_an_erasure_takes_the_files_that_the_entry_names_and_not_those_of_a_row(
    sqlite_place: Place, tmp_path: Path, kind: str
) -> None:
    workspace = sqlite_place.open()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Leave\n\nLeave is paid.\n")
    if kind == "ledger":
        made = [
            workspace.check(f"Leave is paid {word}.", against=tmp_path / "docs", judges=["quote"])
            for word in ("here", "there")
        ]
        entry, other = made[0].entry, made[1]
        digest = workspace.ledgers.find(other.id).statement_sha256
        sql = "UPDATE ledgers SET statement_sha256 = ? WHERE trail_seq = ?"
    elif kind == "pack":
        first = workspace.assemble(decision(decision_id="dec_1"), memo=memo())
        second = workspace.assemble(decision(decision_id="dec_2"), memo=memo())
        entry = workspace.packs.find(first.pack_id).entry
        digest = workspace.packs.find(second.pack_id).statement_sha256
        sql = "UPDATE evidence_packs SET statement_sha256 = ? WHERE trail_seq = ?"
    else:
        texts = [{"extra_params": {"evidence": [word]}} for word in ("one", "two")]
        bundles = [workspace.bundle(job) for job in texts]
        entry = workspace.bundles.find(bundles[0].bundle_id).entry
        digest = workspace.bundles.find(bundles[1].bundle_id).lake_uri
        sql = "UPDATE evidence_bundle SET lake_uri = ? WHERE trail_seq = ?"
    files = set(lake_of(workspace).digests())
    change(workspace, sql, digest, entry)
    again = sqlite_place.open()
    with pytest.raises(IntegrityError, match=rf"{kind} .*: the database and the trail's entry"):
        again.trail.erase(entry, reason="law", by="counsel")
    assert set(lake_of(again).digests()) == files
    assert not again.trail.entry(entry).erased


def test_an_erased_pack_is_recorded_as_its_entry_said(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    pack = workspace.assemble(decision(decision_id="dec_1"), memo=memo())
    found = workspace.packs.find(pack.pack_id)
    change(workspace, "UPDATE evidence_packs SET decision_id = 'dec_9', version = 7")
    again = sqlite_place.open()
    again.trail.erase(found.entry, reason="law", by="counsel")
    (removed,) = [
        one.body
        for one in again.trail.entries(kind="retention")
        if one.body.get("action") == "removed"
    ]
    assert (removed["decision_id"], removed["version"]) == ("dec_1", 1)
    assert found.statement_sha256 not in set(lake_of(again).digests())


# Versions of packs


def test_a_row_that_was_altered_lets_no_second_version_be_sealed(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    pack = workspace.assemble(decision(decision_id="dec_1"), memo=memo())
    newer = workspace.packs.review(pack.pack_id, "rejected", reviewer="ann")
    change(
        workspace,
        "UPDATE evidence_packs SET replaces_id = 'pack_x', decision_id = 'dec_x' WHERE id = ?",
        newer.pack_id,
    )
    again = sqlite_place.open()
    with pytest.raises(ConflictError, match=f"has a newer version already, {newer.pack_id}"):
        again.packs.review(pack.pack_id, "approved", reviewer="bob")
    with pytest.raises(ConflictError, match="has a newer version already"):
        again.packs.revise(pack.pack_id, {"memo": memo(title_en="Other").model_dump()})
    change(workspace, "UPDATE evidence_packs SET decision_id = 'dec_y' WHERE id = ?", pack.pack_id)
    with pytest.raises(SealingError, match=f"dec_1 has pack {pack.pack_id} already"):
        sqlite_place.open().assemble(decision(decision_id="dec_1"), memo=memo())


def test_two_versions_that_replace_the_same_one_are_named_and_not_exported(
    sqlite_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = sqlite_place.open()
    pack = workspace.assemble(decision(decision_id="dec_1"), memo=memo())
    one = workspace.packs.review(pack.pack_id, "rejected", reviewer="ann")
    change(workspace, "UPDATE evidence_packs SET replaces_id = NULL WHERE id = ?", one.pack_id)
    with monkeypatch.context() as patched:  # written past what refuses it
        patched.setattr(sealing, "_refuse_another", lambda *_: None)
        other = workspace.packs.review(pack.pack_id, "approved", reviewer="bob")
    again = sqlite_place.open()
    said = [problem for problem in again.packs.audit().problems if "both replace it" in problem]
    assert len(said) == 1
    assert one.pack_id in said[0]
    assert other.pack_id in said[0]
    for name in (pack, one, other):
        with pytest.raises(IntegrityError, match="both replace it: nothing is exported"):
            again.packs.export(name.pack_id, tmp_path / "board.json")


# What is shown


def forge_entry(workspace: Workspace, seq: int, body: bytes) -> None:
    """Give an entry another body, and another commitment that fits it."""
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        row = log.entry_at(connection, workspace.tenant, seq)
    entry = replace(Entry.decode(row[3]), body=body_commitment(row[4] or b"", body))
    change(workspace, "UPDATE trail_entries SET entry = ? WHERE seq = ?", entry.encode(), seq)
    change(workspace, "UPDATE trail_bodies SET body = ? WHERE seq = ?", body, seq)


def test_an_entry_that_was_rewritten_with_its_body_is_neither_shown_nor_proved(
    sqlite_place: Place,
) -> None:
    workspace = sqlite_place.open()
    for number in range(5):
        workspace.append(record(number))
    forge_entry(workspace, 2, b'{"forged":true}')
    again = sqlite_place.open()
    for attempt in (
        lambda: again.trail.entry(2),
        lambda: again.trail.prove(2),
        again.trail.records,
    ):
        with pytest.raises(IntegrityError, match="entry 2"):
            attempt()
    assert again.trail.entry(3).entry.seq == 3


def test_a_body_that_was_changed_is_not_disclosed_by_a_proof(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    workspace.append(record(1))
    change(workspace, "UPDATE trail_bodies SET body = CAST('{}' AS BLOB) WHERE seq = 0")
    again = sqlite_place.open()
    with pytest.raises(IntegrityError, match="entry 0: its body is not what it commits to"):
        again.trail.prove(0)
    assert again.trail.prove(0, disclose=False).disclosure is None


def test_a_key_that_nothing_vouches_for_is_named_as_such(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    for number in range(3):
        workspace.append(record(number))
    (own,) = workspace.trail.keys()
    assert own.vouched
    evil = SigningKey.from_seed(own.key.name, b"e" * 32).verifier
    change(
        workspace,
        "INSERT INTO trail_keys (tenant, seq, key_id, public_key) VALUES ('default', 2, ?, ?)",
        evil.key_id,
        evil.public_key,
    )
    keys = sqlite_place.open().trail.keys()
    assert [key.vouched for key in keys] == [True, False]

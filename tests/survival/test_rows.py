"""What an insider does to rows beside the log decides nothing, and is named."""

from pathlib import Path

import pysqlite3
import pytest

import evidentia as ev
from evidentia.errors import IntegrityError
from evidentia.store.database import run
from evidentia.workspace import Workspace
from insider import without_guards
from packing import decision, memo
from places import Place


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
    (tmp_path / "docs").mkdir()
    for name, text in (("a.md", "Leave is 15 days."), ("b.md", "Gifts are refused.")):
        (tmp_path / "docs" / name).write_text(text)
    workspace.ingest(tmp_path / "docs")
    seqs = "SELECT seq FROM trail_entries WHERE kind = 'document' ORDER BY seq DESC LIMIT 1"
    hidden = f"UPDATE trail_entries SET kind = 'run', subject = 'x' WHERE seq = ({seqs})"
    change(workspace, hidden)
    again = sqlite_place.open()
    size = again.trail.size
    again.ingest(tmp_path / "docs")
    assert again.trail.size == size
    with pytest.raises(IntegrityError):
        again.check("Gifts are refused.", judges=["quote"])


def test_an_altered_entry_about_a_document_lets_nothing_be_believed(
    sqlite_place: Place, tmp_path: Path
) -> None:
    workspace = sqlite_place.open()
    (tmp_path / "a.md").write_text("Leave is 15 days.")
    workspace.ingest(tmp_path / "a.md")
    altered = 'CAST(replace(CAST(entry AS TEXT), \'"at":"20\', \'"at":"19\') AS BLOB)'
    change(workspace, f"UPDATE trail_entries SET entry = {altered} WHERE kind = 'document'")
    again = sqlite_place.open()
    with pytest.raises(IntegrityError, match="is not what was signed"):
        again.check("Leave is 15 days.", judges=["quote"])

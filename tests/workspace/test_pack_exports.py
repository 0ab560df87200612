"""Exported packs: with an approval, on record, and verified by a stranger."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import evidentia as ev
from evidentia.canonical import sha256_hex
from evidentia.errors import AccessError, EnvironmentProblem, InputError, NotFoundError
from evidentia.packs.statement import from_statement
from evidentia.proof.keys import SigningKey
from evidentia.workspace import Workspace
from packing import decision, make_pack, memo, opened
from places import Place


@pytest.fixture
def workspace(place: Place) -> Workspace:
    """Give two packs and two approvers, on each kind of database in turn."""
    found = opened(place)
    found.assemble(decision(1), memo=memo(), attachments={"a.txt": b"hello"})
    make_pack(found, 2)
    for user in ("ann", "bob"):
        found.access.grant(user, "approver")
    return found


def exports(workspace: Workspace) -> list[dict[str, object]]:
    return [logged.body for logged in workspace.trail.entries(kind="export")]


def test_the_owners_export_is_its_own_approval_and_on_record(
    workspace: Workspace, tmp_path: Path
) -> None:
    file = workspace.packs.export("dec_1", tmp_path / "pack.json")
    assert exports(workspace) == [
        {
            "action": "export",
            "approval": None,
            "approval_class": "A1",
            "approved_by": "owner",
            "sensitivity_class": "S2",
            "superseded_by": None,
            "by": "owner",
            "format": "json",
            "sha256": sha256_hex(file.read_bytes()),
        }
    ]
    assert file.stat().st_mode & 0o777 == 0o600
    assert (
        workspace.trail.entries(kind="export")[0].entry.subject
        == workspace.packs.get("dec_1").pack_id
    )
    workspace.packs.export("dec_1", tmp_path / "again.json")
    assert len(exports(workspace)) == 2
    assert workspace.trail.audit().holds


def test_an_exported_pack_verifies_with_the_right_key_alone(
    workspace: Workspace, tmp_path: Path
) -> None:
    pack = workspace.packs.get("dec_1")
    file = workspace.packs.export("dec_1", tmp_path / "pack.json")
    key = workspace.trail.public_key()
    report = ev.verify(file, key=key)
    assert report.holds
    assert [check.name for check in report.checks] == [
        "format",
        "content",
        "place",
        "signature",
        "statement",
        "plain",
        "attachment",
        "file",
        "pack",
    ]
    assert report.statement is not None
    assert from_statement(report.statement) == pack
    unknown = ev.verify(file)
    assert (unknown.holds, unknown.verdict.value) == (False, "consistent, signer unknown")
    wrong = SigningKey.from_seed(key.name, bytes(32)).verifier
    assert {one.name for one in ev.verify(file, key=wrong).checks if not one.holds} == {
        "signature",
        "statement",
    }


def test_an_export_without_attachments_has_their_digests(
    workspace: Workspace, tmp_path: Path
) -> None:
    file = workspace.packs.export("dec_1", tmp_path / "pack.json", attachments=False)
    report = ev.verify(file, key=workspace.trail.public_key())
    assert report.holds
    assert "attachments" not in json.loads(file.read_bytes())
    assert any("'a.txt' is unchanged: only its digest is here" in one for one in report.cannot_know)


def test_an_older_version_and_one_under_a_new_key_are_exported(
    workspace: Workspace, tmp_path: Path
) -> None:
    old = workspace.packs.get("dec_1")
    workspace.packs.review("dec_1", "approved")
    new = workspace.trail.rotate_key()
    assert ev.verify(workspace.packs.export(old.pack_id, tmp_path / "old.json"), key=new).holds
    assert ev.verify(workspace.packs.export("dec_1", tmp_path / "new.json"), key=new).holds


def test_a_user_needs_an_approval(workspace: Workspace, tmp_path: Path) -> None:
    ann, bob = workspace.acting_as("ann"), workspace.acting_as("bob")
    file = tmp_path / "pack.json"
    with pytest.raises(AccessError, match="needs an approval: 'evidentia pack approve-export pack"):
        ann.packs.export("dec_1", file)
    approval = bob.packs.approve_export("dec_1", approval_class="A2", note="for the board")
    assert exports(workspace) == [
        {"action": "approve", "approval_class": "A2", "by": "bob", "note": "for the board"}
    ]
    ann.packs.export("dec_1", file, approval=approval)
    done = exports(workspace)[1]
    assert (done["by"], done["approval"]) == ("ann", approval)
    assert (done["approval_class"], done["approved_by"]) == ("A2", "bob")
    assert ev.verify(file, key=workspace.trail.public_key()).holds
    with pytest.raises(AccessError, match=f"entry {approval} was used already: ask for another"):
        ann.packs.export("dec_1", tmp_path / "again.json", approval=approval)
    assert not (tmp_path / "again.json").exists()
    assert len(exports(workspace)) == 2


def test_an_approval_of_something_else_is_none(workspace: Workspace, tmp_path: Path) -> None:
    ann, file = workspace.acting_as("ann"), tmp_path / "pack.json"
    of_other = workspace.packs.approve_export("dec_2")
    exported = workspace.trail.size
    workspace.packs.export("dec_1", tmp_path / "owners.json")
    for entry in (of_other, 0, exported, workspace.trail.size, -1, 10**9):
        with pytest.raises(AccessError, match=f"entry {entry} is no approval to export pack"):
            ann.packs.export("dec_1", file, approval=entry)
    workspace.packs.review("dec_2", "approved")
    with pytest.raises(AccessError, match="is no approval"):  # it was for the version before
        ann.packs.export("dec_2", file, approval=of_other)
    assert not file.exists()


def test_an_approval_is_used_once_by_exports_at_once(place: Place, tmp_path: Path) -> None:
    maker = opened(place)
    make_pack(maker)
    approval = maker.packs.approve_export("dec_1")
    others = [place.open() for _ in range(3)]

    def export(workspace: Workspace) -> bool:
        file = tmp_path / f"{others.index(workspace)}.json"
        try:
            workspace.packs.export("dec_1", file, approval=approval)
        except AccessError:
            return False
        return True

    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(export, others)) == 1
    assert len(list(tmp_path.glob("*.json"))) == 1


@pytest.mark.parametrize("given", ["A0", "A4", "a1", ""])
def test_an_approval_is_of_class_a1_or_higher(sqlite_place: Place, given: str) -> None:
    workspace = opened(sqlite_place)
    make_pack(workspace)
    with pytest.raises(InputError, match="an approval of A1, A2 or A3"):
        workspace.packs.approve_export("dec_1", approval_class=given)


def test_a_file_that_cannot_be_written_is_said_before_anything_is_recorded(
    sqlite_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = opened(sqlite_place)
    make_pack(workspace)
    there = tmp_path / "there.json"
    there.write_text("mine")
    for file, says in (
        (there, "is there already: name another file, or overwrite it"),
        (tmp_path, "is a folder: name a file"),
        (tmp_path / "no" / "where.json", "there is no such folder"),
    ):
        with pytest.raises(InputError, match=says):
            workspace.packs.export("dec_1", file)
    assert there.read_text() == "mine"
    monkeypatch.setattr("evidentia.workspace.exporting.MAX_PROOF_BYTES", 1_000)
    with pytest.raises(InputError, match="export it without its attachments"):
        workspace.packs.export("dec_1", tmp_path / "large.json")
    assert exports(workspace) == []
    monkeypatch.undo()
    workspace.packs.export("dec_1", there, overwrite=True)
    assert ev.verify(there, key=workspace.trail.public_key()).holds


def test_what_left_is_on_record_even_if_the_disk_fails(
    sqlite_place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = opened(sqlite_place)
    make_pack(workspace)

    def fail(*_: object, **__: object) -> None:
        raise EnvironmentProblem("the disk is full")

    monkeypatch.setattr("evidentia.workspace.exporting.write_durably", fail)
    with pytest.raises(EnvironmentProblem, match="the disk is full"):
        workspace.packs.export("dec_1", tmp_path / "pack.json")
    assert len(exports(workspace)) == 1


def test_a_pack_is_proven_by_the_owner(workspace: Workspace) -> None:
    proof = workspace.packs.prove("dec_1")
    assert proof.envelope is not None
    assert proof.entry.subject == workspace.packs.get("dec_1").pack_id
    with pytest.raises(NotFoundError):
        workspace.packs.prove("dec_3")

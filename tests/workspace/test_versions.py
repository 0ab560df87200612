"""Versions that are known to be old, and keys that were retired: what verifying tells of them."""

import json
from pathlib import Path
from typing import Any

import pytest

import evidentia as ev
from evidentia.canonical import canonical_json
from evidentia.errors import InputError
from evidentia.packs.verification import written
from evidentia.proof.keys import SigningKey
from evidentia.store.proving import prove_entry
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.workspace import Workspace
from packing import make_pack, opened
from places import Place, record


@pytest.fixture
def workspace(sqlite_place: Place) -> Workspace:
    return opened(sqlite_place)


def approved_then_rejected(workspace: Workspace) -> tuple[str, str]:
    """Return the ids of a version that was approved, and of the one that rejects it."""
    make_pack(workspace)
    approved = workspace.packs.review("dec_1", "approved", reviewer="ann")
    rejected = workspace.packs.review("dec_1", "rejected", reviewer="bob")
    return approved.pack_id, rejected.pack_id


def test_a_version_that_was_approved_and_later_rejected_says_so_in_its_file(
    workspace: Workspace, tmp_path: Path
) -> None:
    approved, rejected = approved_then_rejected(workspace)
    key = workspace.trail.public_key()
    assert [one.outcome for one in workspace.packs.later(approved)] == ["rejected"]
    assert workspace.packs.later(rejected) == ()
    file = workspace.packs.export(approved, tmp_path / "old.json")
    report = ev.verify(file, key=key)
    assert report.holds
    assert report.superseded is not None
    assert f"superseded by version 3 ({rejected}, a review: rejected" in report.superseded
    assert json.loads(file.read_bytes())["v"] == 3
    (done,) = (one.body for one in workspace.trail.entries(kind="export"))
    assert done["superseded_by"] == rejected
    newest = workspace.packs.export(rejected, tmp_path / "new.json")
    assert (ev.verify(newest, key=key).superseded, json.loads(newest.read_bytes())["v"]) == (
        None,
        2,
    )


def test_a_file_whose_later_entries_were_changed_or_taken_out_does_not_hold(
    workspace: Workspace, tmp_path: Path
) -> None:
    approved, _ = approved_then_rejected(workspace)
    key = workspace.trail.public_key()
    file = workspace.packs.export(approved, tmp_path / "old.json")
    document: dict[str, Any] = json.loads(file.read_bytes())
    document["later"][0]["body"]["outcome"] = "approved"
    assert not ev.verify(written(document), key=key).holds
    # without them the file is one that was never written so, but nothing in it is false
    taken_out = {name: value for name, value in document.items() if name != "later"}
    report = ev.verify(written({**taken_out, "v": 2}), key=key, workspace=workspace)
    assert report.superseded is not None


def test_a_file_from_before_is_told_by_the_workspace_the_log_and_a_later_proof(
    workspace: Workspace, tmp_path: Path
) -> None:
    make_pack(workspace)
    early = workspace.packs.export("dec_1", tmp_path / "early.json")
    key = workspace.trail.public_key()
    assert ev.verify(early, key=key).superseded is None
    newest = workspace.packs.review("dec_1", "rejected", reviewer="bob")
    entry = workspace.packs.find(newest.pack_id).entry
    later = canonical_json(workspace.prove(entry).as_json())
    workspace.trail.publish(tmp_path / "plain")
    workspace.trail.publish(tmp_path / "public", versions=True)
    home = workspace.opened.home.folder
    for told in (
        ev.verify(early, key=key, workspace=workspace),
        ev.verify(early, key=key, workspace=home),
        ev.verify(early, key=key, log=tmp_path / "public"),
        ev.verify(early, key=key, later=later),
    ):
        assert told.holds, told
        assert told.superseded is not None
        assert "a review: rejected" in told.superseded
    unsaid = ev.verify(early, key=key, log=tmp_path / "plain")
    assert (unsaid.holds, unsaid.superseded) == (True, None)
    assert "of 1 later pack or review it is not published" in unsaid.cannot_know[-1]


def test_another_log_or_workspace_tells_nothing_and_does_not_hold(
    workspace: Workspace, tmp_path: Path
) -> None:
    make_pack(workspace)
    early = workspace.packs.export("dec_1", tmp_path / "early.json")
    key = workspace.trail.public_key()
    with ev.open(tmp_path / "other") as other:
        make_pack(other)
        report = ev.verify(early, key=key, workspace=other)
        assert (report.holds, report.checks[-1].name) == (False, "workspace")
        other.trail.publish(tmp_path / "elsewhere")
    assert not ev.verify(early, key=key, log=tmp_path / "elsewhere").holds
    with ev.open(tmp_path / "empty") as empty:
        assert not ev.verify(early, key=key, workspace=empty).holds


def test_a_proof_newer_than_a_rotation_by_the_retired_key_does_not_hold(
    workspace: Workspace, tmp_path: Path
) -> None:
    workspace.trail.append_many([record(number) for number in range(4)])
    old = workspace.trail.public_key()
    before = canonical_json(workspace.prove(2).as_json())
    retired = workspace.opened.keys.load(workspace.tenant, old.key_id, old.name)
    assert isinstance(retired, SigningKey)
    new = workspace.trail.rotate_key()
    announced = canonical_json(
        workspace.trail.prove(workspace.trail.size - 1, signed_by=old.key_id).as_json()
    )
    workspace.append(record(9))
    now, _ = read_checkpoint(workspace.trail.checkpoint())
    stolen = Checkpoint(now.origin, now.size, now.root).sign(retired.private_key)
    tiles = workspace.opened.tiles
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        proof = prove_entry(connection, workspace.tenant, stolen, 2, tiles, disclose=True)
    forged = canonical_json(proof.as_json())
    workspace.trail.publish(tmp_path / "public")
    both = [old, new]
    assert ev.verify(forged, key=old).holds  # the file alone cannot show it
    for told in (
        ev.verify(forged, key=both, log=tmp_path / "public"),
        ev.verify(forged, key=old, later=announced),
        ev.verify(forged, key=old, workspace=workspace),
    ):
        assert [one.name for one in told.checks if one.holds is False] == ["rotation"]
    for good in (
        ev.verify(before, key=both, log=tmp_path / "public"),
        ev.verify(before, key=old, later=announced),
        ev.verify(before, key=old, workspace=workspace),
    ):
        assert good.holds, good


def test_what_does_not_go_together_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    workspace.append(record(1))
    proof = canonical_json(workspace.prove(0).as_json())
    workspace.trail.publish(tmp_path / "public")
    with pytest.raises(InputError, match="is compared with a published log"):
        ev.verify(proof, since=workspace.trail.checkpoint())
    with pytest.raises(InputError, match="log goes with a file of evidence, not with a published"):
        ev.verify(tmp_path / "public", log=tmp_path / "public")
    with pytest.raises(InputError, match="neither a folder nor a URL"):
        ev.verify(proof, log=tmp_path / "nothing")
    with pytest.raises(InputError, match=r"not the public key of a witness.* no file of that name"):
        ev.verify(proof, witnesses=["nonsense"])
    with pytest.raises(InputError, match="needs the keys of witnesses"):
        ev.verify(proof, quorum=1)

"""Published copies of a log, compared with it by the audit."""

import shutil
from pathlib import Path

import pytest

from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.auditing import AuditedPart
from insider import cut_back
from places import Place, record

BEFORE = 300


@pytest.fixture
def workspace(sqlite_place: Place) -> Workspace:
    opened = sqlite_place.open()
    opened.trail.append_many([record(number) for number in range(BEFORE)])
    return opened


@pytest.fixture
def folder(workspace: Workspace, tmp_path: Path) -> Path:
    workspace.trail.publish(tmp_path / "public", versions=True)
    return tmp_path / "public"


def audited(workspace: Workspace, *places: Path, quick: bool = False) -> AuditedPart:
    return workspace.audit(published=places, quick=quick).part("published")


def test_without_a_name_published_copies_are_said_not_to_be_looked_at(
    workspace: Workspace, folder: Path
) -> None:
    left = "copies of the log that were published: name them with --published"
    assert left in workspace.audit().not_looked_at
    assert left not in workspace.audit(published=[folder]).not_looked_at


def test_a_copy_of_the_log_holds_also_when_the_log_has_grown_since(
    workspace: Workspace, folder: Path
) -> None:
    workspace.append(record(1))
    workspace.trail.rotate_key()
    part = audited(workspace, folder)
    assert part.findings == ()
    assert part.looked_at == f"{folder}: 301 of 303 entries: entries, tiles, the checkpoint"
    quick = audited(workspace, folder, quick=True)
    assert quick.findings == ()
    assert quick.not_looked_at == (f"entries and tiles of {folder}: --quick",)


@pytest.mark.parametrize("kind", ["tile/0", "tile/entries", "checkpoint", "body"])
def test_a_file_of_a_copy_that_was_changed_is_named(
    workspace: Workspace, folder: Path, kind: str
) -> None:
    path = folder / kind
    file = path if path.is_file() else next(one for one in path.rglob("*") if one.is_file())
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert audited(workspace, folder).findings
    assert not workspace.audit(published=[folder]).holds


def test_a_file_of_a_copy_that_is_gone_is_named(workspace: Workspace, folder: Path) -> None:
    shutil.rmtree(folder / "tile" / "entries")
    (entries, _) = audited(workspace, folder).findings
    assert "tile/entries/000" in entries
    shutil.rmtree(folder)
    assert "neither a folder nor a URL" in audited(workspace, folder).findings[0]
    folder.mkdir()
    assert "no published log" in audited(workspace, folder).findings[0]


@pytest.mark.parametrize("quick", [False, True])
def test_a_log_that_was_cut_back_with_all_that_is_kept_at_home_is_seen_by_its_copy(
    workspace: Workspace, folder: Path, sqlite_place: Place, *, quick: bool
) -> None:
    cut_back(workspace, 250)
    shutil.rmtree(sqlite_place.home.folder / "checkpoints")
    (finding,) = audited(workspace, folder, quick=quick).findings
    assert "301 entries are published, the log has 250: entries 250 to 300 are gone" in finding


@pytest.mark.parametrize("quick", [False, True])
def test_another_past_than_the_published_one_is_seen(tmp_path: Path, *, quick: bool) -> None:
    """Whoever has the key can sign two histories: only what left the house tells."""
    with open_workspace(tmp_path / "home") as workspace:
        workspace.append(record(1))
    shutil.copytree(tmp_path / "home", tmp_path / "other")
    with open_workspace(tmp_path / "home") as workspace:
        workspace.append(record(2))
        workspace.trail.publish(tmp_path / "public")
    with open_workspace(tmp_path / "other") as other:
        other.trail.append_many([record(3), record(4)])
        assert other.audit().holds
        (finding,) = audited(other, tmp_path / "public", quick=quick).findings
    assert "rewritten: its first 3 entries are not those that were published" in finding


def test_a_copy_of_another_log_is_named(workspace: Workspace, folder: Path, tmp_path: Path) -> None:
    with open_workspace(tmp_path / "other") as other:
        other.append(record(1))
        assert "it is of another log" in audited(other, folder).findings[0]
    assert audited(workspace, folder).holds


def test_a_workspace_without_a_log_has_no_copies(tmp_path: Path, folder: Path) -> None:
    with open_workspace(tmp_path / "empty") as empty:
        assert "no log" in audited(empty, folder).findings[0]

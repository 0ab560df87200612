"""Where documents were read from, and what became of the files since."""

import os
from pathlib import Path

import pytest

from evidentia.loading.places import FileChange, Places
from evidentia.workspace import Workspace
from places import Place
from workspace.policies import LEAVE, POLICIES, read_here, write_policies


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write_policies(tmp_path / "docs")


def changes(workspace: Workspace) -> list[tuple[str, str]]:
    return [(one.filename, one.change) for one in found(workspace)]


def found(workspace: Workspace) -> tuple[FileChange, ...]:
    places = Places(workspace.opened.home.places(workspace.tenant))
    return places.changes(workspace.documents.list(all_versions=True))


def test_files_that_are_as_they_were_read_are_not_told(workspace: Workspace, docs: Path) -> None:
    workspace.ingest(docs)
    assert changes(workspace) == []
    os.utime(docs / "leave.md", (1, 1))
    assert changes(workspace) == []


def test_a_file_that_is_gone_or_changed_is_told_with_its_place(
    workspace: Workspace, docs: Path
) -> None:
    workspace.ingest(docs)
    (docs / "leave.md").unlink()
    (docs / "travel.md").write_text("Something else.")
    assert changes(workspace) == [("leave.md", "gone"), ("travel.md", "changed")]
    gone = found(workspace)[0]
    assert gone.path == gone.read_again == str(docs / "leave.md")
    assert gone.document_id in {document.id for document in workspace.documents.list()}


def test_a_file_of_the_same_size_is_compared_by_its_content(
    workspace: Workspace, docs: Path
) -> None:
    workspace.ingest(docs)
    (docs / "leave.md").write_text(LEAVE.replace("15 days", "16 days"))
    assert changes(workspace) == [("leave.md", "changed")]


def test_a_folder_in_the_place_of_a_folder_or_a_file_is_no_file(
    workspace: Workspace, docs: Path
) -> None:
    write_policies(docs, {"hr/sick.md": LEAVE})
    workspace.ingest(docs)
    (docs / "leave.md").unlink()
    (docs / "leave.md").mkdir()
    (docs / "hr" / "sick.md").unlink()
    (docs / "hr").rmdir()
    (docs / "hr").write_text("a file now")
    assert changes(workspace) == [("hr/sick.md", "gone"), ("leave.md", "gone")]


def test_what_cannot_be_looked_at_is_said_to_be_so(workspace: Workspace, docs: Path) -> None:
    workspace.ingest(docs)
    leave = docs / "leave.md"
    leave.unlink()
    leave.symlink_to(leave)
    assert changes(workspace) == [("leave.md", "unreadable")]


def test_reading_a_file_again_from_elsewhere_is_its_place_from_then_on(
    workspace: Workspace, docs: Path, tmp_path: Path
) -> None:
    workspace.ingest(docs)
    (tmp_path / "new").mkdir()
    moved = docs.rename(tmp_path / "new" / "docs")
    assert len(changes(workspace)) == len(POLICIES)
    workspace.ingest(moved)
    assert changes(workspace) == []
    (moved / "leave.md").write_text("Employees receive nothing.")
    workspace.ingest(moved)
    assert changes(workspace) == []


def test_what_reads_a_file_again_is_the_file_or_the_folder_that_it_was_read_with(
    workspace: Workspace, docs: Path
) -> None:
    write_policies(docs, {"hr/sick.md": LEAVE})
    workspace.ingest(docs)
    for name in ("hr/sick.md", "leave.md"):
        (docs / name).write_text(f"Nobody is sick. {name}")
    sick, leave = found(workspace)
    assert (sick.read_again, leave.read_again) == (str(docs), str(docs / "leave.md"))
    for one in (sick, leave):
        workspace.ingest(one.read_again)
    assert changes(workspace) == []
    assert len(workspace.documents.list()) == 4


def test_a_place_is_known_on_the_machine_that_read_the_file_alone(
    place: Place, docs: Path, tmp_path: Path
) -> None:
    here = place.open()
    here.ingest(docs)
    elsewhere = place.open(home=tmp_path / "elsewhere")
    (docs / "leave.md").unlink()
    assert changes(here) == [("leave.md", "gone")]
    assert changes(elsewhere) == []


@pytest.mark.parametrize("damaged", [b"", b"\xff", b"[]", b"{}", b'{"path": 1}'])
def test_a_damaged_note_says_nothing_and_is_written_anew(
    workspace: Workspace, docs: Path, damaged: bytes
) -> None:
    workspace.ingest(docs)
    notes = sorted(workspace.opened.home.places(workspace.tenant).iterdir())
    assert len(notes) == len(POLICIES) + 1  # and which collection the folder is
    for note in notes:
        note.write_bytes(damaged)
    (docs / "leave.md").unlink()
    assert changes(workspace) == []
    workspace.ingest(docs)
    (docs / "travel.md").unlink()
    assert changes(workspace) == [("travel.md", "gone")]


def test_a_name_that_is_no_unicode_is_a_place_too(workspace: Workspace, docs: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(docs) + b"/\xff.md"))
    odd.write_text(LEAVE)
    workspace.ingest(docs)
    odd.unlink()
    assert changes(workspace) == [("\\xff.md", "gone")]

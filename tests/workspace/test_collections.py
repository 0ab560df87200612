"""Collections: two folders of one name are two, and each can be named."""

import shutil
from pathlib import Path

import pytest

import evidentia
from evidentia.documents.recording import collection_id
from evidentia.errors import InputError, NotFoundError
from evidentia.loading.shelving import Folders
from evidentia.store.sql.library import document_id
from evidentia.workspace import Workspace
from evidentia.workspace.library import audited_documents
from packing import opened
from places import Place

LEAVE = "Leave is 15 days a year.\n"
OTHER = "Leave is 20 days a year.\n"
JUDGES = ("quote", "numbers")

pytestmark = pytest.mark.usefixtures("_read_here")


@pytest.fixture
def workspace(place: Place) -> Workspace:
    return opened(place)


def written(folder: Path, text: str, name: str = "leave.txt") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder


@pytest.fixture
def two(workspace: Workspace, tmp_path: Path) -> tuple[Path, Path]:
    """Ingest two folders that are called the same."""
    folders = (
        written(tmp_path / "a" / "policies", LEAVE),
        written(tmp_path / "b" / "policies", OTHER),
    )
    for folder in folders:
        workspace.ingest(folder)
    return folders


def labels(workspace: Workspace) -> list[str]:
    return [one.label for one in workspace.documents.collections()]


def test_two_folders_of_one_name_are_two_collections(
    workspace: Workspace, two: tuple[Path, Path]
) -> None:
    first, second = workspace.documents.collections()
    assert (first.id, first.label) == (collection_id("policies"), "policies (1)")
    assert (second.id, second.label) == (
        collection_id("policies", str(two[1].resolve())),
        "policies (2)",
    )
    one, other = workspace.documents.list()
    assert (one.id, one.version) == (document_id("policies", "leave.txt"), 1)
    assert (other.id, other.version) == (document_id(second.id, "leave.txt"), 1)
    assert (one.collection, other.collection) == ("policies", "policies")
    for folder in two:
        assert [done.outcome for done in workspace.ingest(folder).results] == ["unchanged"]
    (two[1] / "leave.txt").write_text("Leave is 25 days a year.\n")
    (changed,) = workspace.ingest(two[1]).documents
    assert (changed.id, changed.version) == (other.id, 2)
    assert list(audited_documents(workspace.documents._acting, quick=False)) == []


@pytest.mark.usefixtures("two")
def test_each_is_listed_checked_and_removed_by_its_label_or_id(workspace: Workspace) -> None:
    first, second = workspace.documents.collections()
    for name in (second.id, "policies (2)"):
        (found,) = workspace.documents.list(collection=name)
        assert found.collection_id == second.id
        ledger = workspace.check(LEAVE, collections=[name], judges=JUDGES)
        assert ledger.entries[0].verdict == "contradicted"
        corpus = ledger.session.corpus
        assert corpus is not None
        assert corpus.filter.collections == [second.id]
        assert (corpus.used, corpus.documents) == (1, 2)
    both = workspace.check(LEAVE, collections=[first.id, second.id], judges=JUDGES)
    assert both.session.document_count == 2
    with pytest.raises(InputError, match="2 collections are called 'policies'"):
        workspace.documents.list(collection="policies")
    for name in ("policies/leave.txt", "policies"):
        with pytest.raises(InputError, match="2 collections are called 'policies'"):
            workspace.documents.named(name)
    with pytest.raises(InputError, match=f"'policies \\(2\\)' is {second.id}"):
        workspace.documents.named(folder="policies")
    workspace.documents.remove("policies (2)/leave.txt", reason="replaced")
    (left,) = workspace.documents.list()
    assert left.collection_id == first.id
    assert workspace.documents.named(folder=first.id) == [left]
    with pytest.raises(NotFoundError, match="no document of the library is in"):
        workspace.documents.named(folder=second.id)
    with pytest.raises(NotFoundError, match="has no collection 'other'"):
        workspace.check(LEAVE, collections=["other"], judges=JUDGES)
    with pytest.raises(InputError, match="no documents to check against"):
        workspace.check(LEAVE, collections=[second.id], judges=JUDGES)
    with pytest.raises(InputError, match="not both"):
        workspace.check(LEAVE, collections=[first.id], against=[left], judges=JUDGES)


def test_syncing_one_leaves_the_other(workspace: Workspace, two: tuple[Path, Path]) -> None:
    written(two[1], "Gifts are reported.\n", "gifts.txt")
    planned = workspace.documents.sync(two[1])
    assert (planned.added, planned.removed) == (("gifts.txt",), ())
    (two[1] / "leave.txt").unlink()
    gone = workspace.documents.sync(two[1], limit=1).removed
    assert [one.collection_id for one in gone] == [workspace.documents.collections()[1].id]
    assert [one.filename for one in workspace.documents.list()] == ["leave.txt", "gifts.txt"]


def test_a_folder_that_was_moved_goes_on_as_the_same_collection(
    workspace: Workspace, tmp_path: Path
) -> None:
    before = written(tmp_path / "a" / "policies", LEAVE)
    workspace.ingest(before)
    (tmp_path / "new").mkdir()
    after = tmp_path / "new" / "policies"
    before.rename(after)
    assert [one.outcome for one in workspace.ingest(after).results] == ["unchanged"]
    assert labels(workspace) == ["policies"]


def test_where_both_were_moved_it_must_be_said_which_is_which(
    workspace: Workspace, two: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "new").mkdir()
    two[0].rename(tmp_path / "new" / "policies")
    two[1].rename(tmp_path / "policies")
    first, second = workspace.documents.collections()
    with pytest.raises(
        InputError, match=r"can.t be told which collection it is: .*--collection ID"
    ):
        workspace.ingest(tmp_path / "policies")
    (result,) = workspace.ingest(tmp_path / "policies", collection=second.id).results
    assert (result.outcome, result.document.collection_id) == ("unchanged", second.id)
    (result,) = workspace.ingest(tmp_path / "new" / "policies").results
    assert (result.outcome, result.document.collection_id) == ("unchanged", first.id)
    assert len(workspace.documents.collections()) == 2


def test_a_collection_can_be_given_a_name_and_its_folder_goes_on_with_it(
    workspace: Workspace, tmp_path: Path
) -> None:
    folder = written(tmp_path / "policies", LEAVE)
    (result,) = workspace.ingest(folder, collection="HR rules").results
    assert (result.document.collection, result.document.id) == (
        "HR rules",
        document_id("HR rules", "leave.txt"),
    )
    assert [one.outcome for one in workspace.ingest(folder).results] == ["unchanged"]
    other = written(tmp_path / "more", OTHER, "more.txt")
    workspace.ingest(other, collection="HR rules")
    assert labels(workspace) == ["HR rules"]
    assert len(workspace.documents.list(collection="HR rules")) == 2
    assert workspace.documents.sync(other, collection="HR rules", dry_run=True).removed
    for wrong in ("", " x", "a/b", "a\nb", "x" * 201):
        with pytest.raises(InputError):
            workspace.ingest(folder, collection=wrong)
    with pytest.raises(NotFoundError, match="no collection 'col_0123456789abcdef'"):
        workspace.ingest(folder, collection="col_0123456789abcdef")


def test_without_notes_of_folders_the_places_of_documents_tell(
    workspace: Workspace, two: tuple[Path, Path]
) -> None:
    notes = workspace.opened.home.places(workspace.tenant) / "collections.json"
    for damaged in (None, "[]", "{", '{"x": 1}'):
        notes.unlink() if damaged is None else notes.write_text(damaged)
        for folder in two:
            assert [one.outcome for one in workspace.ingest(folder).results] == ["unchanged"]
        assert len(Folders(notes.parent, notes.parent).noted()) == 2


def test_on_a_machine_that_read_none_of_it_a_folder_goes_on_with_the_one_of_its_name(
    workspace: Workspace, tmp_path: Path
) -> None:
    workspace.ingest(written(tmp_path / "a" / "policies", LEAVE))
    shutil.rmtree(workspace.opened.home.places(workspace.tenant))
    (result,) = workspace.ingest(written(tmp_path / "b" / "policies", OTHER)).results
    assert (result.outcome, result.document.version) == ("changed", 2)


def test_a_workspace_that_is_copied_with_its_documents_knows_them_again(tmp_path: Path) -> None:
    project = tmp_path / "project"
    written(project / "policies", LEAVE)
    with evidentia.open(project / ".evidentia") as workspace:
        workspace.ingest(project / "policies")
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    with evidentia.open(copy / ".evidentia") as workspace:
        assert [one.outcome for one in workspace.ingest(copy / "policies").results] == ["unchanged"]
        assert labels(workspace) == ["policies"]

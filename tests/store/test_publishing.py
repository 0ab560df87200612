import os
import shutil
from pathlib import Path

import pytest

from evidentia.errors import EnvironmentProblem, IntegrityError, ProofError
from evidentia.store import files, publishing, tree
from evidentia.trail import tiles as tree_tiles
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.tiles import body_path
from evidentia.workspace import Workspace, open_workspace
from places import Place, record
from tiled_log import TiledLog


def published(workspace: Workspace, folder: Path) -> TiledLog:
    return TiledLog(folder, str(workspace.trail.public_key()))


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "public"


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 511, 512, 700])
def test_a_stranger_rebuilds_the_root_from_the_tiles_and_from_the_entries(
    workspace: Workspace, folder: Path, size: int
) -> None:
    workspace.trail.public_key()
    workspace.trail.append_many([record(number) for number in range(size - 1)])
    done = workspace.trail.publish(folder)
    assert (done.before, done.size) == (0, size)
    assert published(workspace, folder).check() == size
    assert done.files == len(content(folder))


def test_publishing_again_without_growth_writes_nothing(workspace: Workspace, folder: Path) -> None:
    workspace.append(record(1))
    workspace.trail.publish(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    done = workspace.trail.publish(folder)
    assert done.files == 0
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_a_published_log_grows_and_full_tiles_stay_as_they_were(
    workspace: Workspace, folder: Path
) -> None:
    workspace.trail.public_key()
    full: dict[str, bytes] = {}
    for step in (3, 200, 52, 1, 255, 256, 300, 1):
        workspace.trail.append_many([record(number) for number in range(step)])
        workspace.trail.publish(folder)
        assert published(workspace, folder).check() == workspace.trail.size
        now = content(folder)
        assert full.items() <= now.items()
        full = {
            name: data for name, data in now.items() if ".p/" not in name and name != "checkpoint"
        }


def test_partial_tiles_go_once_the_full_ones_are_there(workspace: Workspace, folder: Path) -> None:
    workspace.trail.append_many([record(number) for number in range(100)])
    for _ in range(2):
        workspace.trail.publish(folder)
        workspace.trail.append_many([record(number) for number in range(60)])
    workspace.trail.publish(folder)
    assert [name for name in content(folder) if ".p/" in name] == [
        "tile/0/000.p/101",
        "tile/0/000.p/161",
        "tile/0/000.p/221",
        "tile/entries/000.p/101",
        "tile/entries/000.p/161",
        "tile/entries/000.p/221",
    ]
    workspace.trail.append_many([record(number) for number in range(60)])
    workspace.trail.publish(folder)
    assert sorted(content(folder)) == [
        "checkpoint",
        "tile/0/000",
        "tile/0/001.p/25",
        "tile/1/000.p/1",
        "tile/entries/000",
        "tile/entries/001.p/25",
    ]
    assert not (folder / "tile" / "0" / "000.p").exists()


def test_the_checkpoint_is_written_after_what_it_covers(
    workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    write = files.write_durably

    def noted(path: Path, data: bytes, *, aside: Path) -> None:
        written.append(str(path.relative_to(folder)))
        write(path, data, aside=aside)

    monkeypatch.setattr(publishing, "write_durably", noted)
    workspace.trail.append_many([record(number) for number in range(300)])
    workspace.trail.publish(folder)
    assert written[-1] == "checkpoint"
    assert written.count("checkpoint") == 1


def test_what_an_interrupted_run_left_is_taken_up(
    workspace: Workspace, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.trail.append_many([record(number) for number in range(300)])
    write, count = files.write_durably, [0]

    def interrupted(path: Path, data: bytes, *, aside: Path) -> None:
        count[0] += 1
        if count[0] == 3:
            raise EnvironmentProblem("no space")
        write(path, data, aside=aside)

    with monkeypatch.context() as broken:
        broken.setattr(publishing, "write_durably", interrupted)
        with pytest.raises(EnvironmentProblem, match="no space"):
            workspace.trail.publish(folder)
    assert not (folder / "checkpoint").exists()
    workspace.append(record(1))
    workspace.trail.publish(folder)
    assert published(workspace, folder).check() == 302


def test_what_is_published_is_durable_before_a_checkpoint_names_it(
    sqlite_place: Place, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = sqlite_place.open()
    workspace.trail.append_many([record(number) for number in range(300)])
    fsync, done = os.fsync, list[str]()

    def noted(handle: int) -> None:
        synced = Path(f"/proc/self/fd/{handle}").readlink()
        if synced.is_relative_to(folder):
            done.append(str(synced.relative_to(folder)))
        fsync(handle)

    with monkeypatch.context() as watched:
        watched.setattr(os, "fsync", noted)
        workspace.trail.publish(folder)
    last = len(done) - 1 - done[::-1].index(".")
    folders = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_dir()}
    assert folders <= set(done[:last])


def test_what_a_killed_process_left_is_removed(workspace: Workspace, folder: Path) -> None:
    workspace.append(record(1))
    folder.mkdir()
    (folder / ".evidentia-writing-abc").write_bytes(b"half")
    (folder / ".htaccess").write_bytes(b"someone else's")
    workspace.trail.publish(folder)
    assert not (folder / ".evidentia-writing-abc").exists()
    assert (folder / ".htaccess").exists()


def test_progress_counts_the_files(workspace: Workspace, folder: Path) -> None:
    workspace.trail.append_many([record(number) for number in range(300)])
    seen: list[int] = []
    done = workspace.trail.publish(folder, progress=seen.append)
    assert seen == list(range(1, done.files))


def test_a_log_of_past_65536_entries_has_tiles_of_level_two(
    large_home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # here it is the layout that matters
    with open_workspace(large_home) as workspace:
        workspace.trail.publish(folder)
        log, report = published(workspace, folder), workspace.trail.audit()
    _, size, root = log.checkpoint()
    assert size == 70_001
    assert len(log.tile(0, 272, size)) == 8192
    assert len(log.tile(0, 273, size)) == 113 * 32
    assert len(log.tile(1, 1, size)) == 17 * 32
    assert len(log.tile(2, 0, size)) == 32
    assert log.check() == size
    assert root.hex() == report.root


# What is refused


class Alive(list[list[bytes]]):
    """An expanded tile that is counted for as long as anyone has it."""

    now = most = 0

    def __init__(self, rows: list[list[bytes]]) -> None:
        super().__init__(rows)
        Alive.now += 1
        Alive.most = max(Alive.most, Alive.now)

    def __del__(self) -> None:
        Alive.now -= 1


def test_a_long_log_is_published_with_no_more_memory_than_a_short_one(
    sqlite_place: Place, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "expand", lambda data: Alive(tree_tiles.expand(data)))
    monkeypatch.setattr(publishing, "_KEPT_TILES", 2)
    workspace = sqlite_place.open()
    workspace.trail.append_many([record(0)] * 10 * 256)
    assert workspace.trail.publish(folder).size == 2_561
    assert 0 < Alive.most <= 4
    assert published(workspace, folder).check() == 2_561


def test_many_bodies_are_published_some_at_a_time(
    sqlite_place: Place, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "_BODIES_AT_ONCE", 2)
    workspace = sqlite_place.open()
    for _ in range(3):
        workspace.trail.rotate_key()
    workspace.trail.publish(folder, versions=True)
    keys = [logged.entry.seq for logged in workspace.trail.entries(kind="key")]
    assert len(keys) == 3
    assert all((folder / body_path(seq)).exists() for seq in keys)


def test_another_log_is_not_published_over_the_first(place: Place, folder: Path) -> None:
    one, other = place.open("one"), place.open("other")
    one.trail.publish(folder)
    before = content(folder)
    with pytest.raises(IntegrityError, match=r"holds another log .*folder of its own"):
        other.trail.publish(folder)
    assert content(folder) == before


def test_a_log_that_was_cut_back_is_not_published(sqlite_place: Place, folder: Path) -> None:
    workspace = sqlite_place.open()
    workspace.trail.append_many([record(number) for number in range(10)])
    workspace.trail.checkpoint()
    sqlite_place.close()
    copy = folder.with_name("copy")
    shutil.copytree(sqlite_place.home.folder, copy)
    workspace = sqlite_place.open()
    workspace.append(record(11))
    workspace.trail.publish(folder)
    before = content(folder)
    older = Place(copy).open()
    with pytest.raises(IntegrityError, match=r"holds 12 entries that this log does not begin with"):
        older.trail.publish(folder)
    older.trail.append_many([record(12), record(13), record(14)])
    with pytest.raises(IntegrityError, match=r"cut back or rewritten; nothing was published"):
        older.trail.publish(folder)
    assert content(folder) == before
    older.close()


def test_a_published_file_that_differs_is_not_overwritten(
    workspace: Workspace, folder: Path
) -> None:
    workspace.trail.append_many([record(number) for number in range(300)])
    tile = folder / "tile" / "0" / "000"
    tile.parent.mkdir(parents=True)
    tile.write_bytes(b"something else")
    with pytest.raises(IntegrityError, match=r"tile/0/000: was published before with other"):
        workspace.trail.publish(folder)
    assert tile.read_bytes() == b"something else"
    assert not (folder / "checkpoint").exists()


def test_a_checkpoint_that_cannot_be_read_stops_publishing(
    workspace: Workspace, folder: Path
) -> None:
    folder.mkdir()
    (folder / "checkpoint").write_text("nonsense")
    with pytest.raises(ProofError, match="not a signed note"):
        workspace.trail.publish(folder)
    (folder / "checkpoint").write_bytes(b"\xff\xfe")
    with pytest.raises(EnvironmentProblem, match="checkpoint: cannot be read"):
        workspace.trail.publish(folder)
    (folder / "checkpoint").unlink()
    (folder / "tile" / "entries" / "000.p" / "1").mkdir(parents=True)
    with pytest.raises(EnvironmentProblem, match=r"000\.p/1: cannot be read"):
        workspace.trail.publish(folder)


def test_a_folder_that_cannot_be_written_is_named(workspace: Workspace, folder: Path) -> None:
    folder.parent.mkdir(exist_ok=True)
    folder.touch()
    with pytest.raises(EnvironmentProblem, match="public"):
        workspace.trail.publish(folder)


def test_a_forged_larger_checkpoint_in_the_folder_is_refused(
    workspace: Workspace, folder: Path
) -> None:
    workspace.trail.publish(folder)
    note = (folder / "checkpoint").read_text()
    checkpoint = read_checkpoint(note)[0]
    forged = Checkpoint(checkpoint.origin, checkpoint.size, bytes(32))
    (folder / "checkpoint").write_text(note.replace(checkpoint.text, forged.text))
    workspace.append(record(1))
    with pytest.raises(IntegrityError, match="does not begin with"):
        workspace.trail.publish(folder)


@pytest.mark.parametrize(
    "change", ["DELETE FROM trail_entries WHERE seq = 5", "UPDATE trail_entries SET entry = x'00'"]
)
def test_entries_that_are_not_what_the_tree_is_made_of_are_not_published(
    sqlite_place: Place, folder: Path, change: str
) -> None:
    workspace = sqlite_place.open()
    workspace.trail.append_many([record(number) for number in range(10)])
    workspace.trail.public_key()
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        connection.exec_driver_sql("DROP TRIGGER trail_entries_update")
        connection.exec_driver_sql("DROP TRIGGER trail_entries_delete")
        connection.exec_driver_sql(change)
    with pytest.raises(IntegrityError, match=r"entries 0 to 10 are not what the tree is made of"):
        workspace.trail.publish(folder)
    assert not (folder / "checkpoint").exists()

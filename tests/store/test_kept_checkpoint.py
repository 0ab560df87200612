"""The checkpoint that is kept apart from the database, written over with each append."""

import os
import threading
from functools import partial
from pathlib import Path

import pytest

from evidentia.proof.keys import SigningKey
from evidentia.store import turns
from evidentia.store.home import Home
from evidentia.store.turns import FairLock
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from forking import Child

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")

KEY = SigningKey.from_seed("evidentia/0123456789abcdef/default", bytes(32))


def note(size: int, origin: str = KEY.name) -> str:
    """Return a signed checkpoint of a log of that many entries."""
    return Checkpoint(origin, size, bytes(32)).sign(KEY.private_key)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def put(home: Home, signed: str) -> None:
    """Keep a checkpoint as an append does."""
    home.kept("default").keep(read_checkpoint(signed)[0], signed, durably=False)


def keep(home: Home, *sizes: int) -> None:
    for size in sizes:
        put(home, note(size))


def kept(home: Home) -> int | None:
    found = home.kept_checkpoint("default")
    return None if found is None else read_checkpoint(found)[0].size


def test_the_newest_is_kept_and_no_other_file_stays(home: Home) -> None:
    keep(home, 1, 2, 9, 10, 11, 99, 100)
    assert home.kept_checkpoint("default") == note(100)
    names = {file.name for file in home.checkpoint_file("default").parent.iterdir()}
    assert names == {"default.txt", ".turns"}


def test_one_as_long_as_the_last_is_written_over_it_and_another_takes_its_place(home: Home) -> None:
    keep(home, 8)
    file = home.checkpoint_file("default").stat().st_ino
    keep(home, 9)
    assert home.checkpoint_file("default").stat().st_ino == file
    with home.checkpoint_file("default").open() as still_open:
        keep(home, 10)
        assert still_open.read() == note(9), "a reader must not see one half and the other"
    assert kept(home) == 10


def test_one_that_a_sector_does_not_hold_is_not_written_over(home: Home) -> None:
    long = f"evidentia/0123456789abcdef/{'a' * 300}"
    put(home, note(8, long))
    with home.checkpoint_file("default").open() as still_open:
        put(home, note(9, long))
        assert still_open.read() == note(8, long)
    assert kept(home) == 9


def test_a_smaller_one_takes_no_larger_ones_place_whoever_kept_it(home: Home) -> None:
    other = Home(home.folder)
    keep(home, 20)
    keep(other, 30)
    keep(home, 21, 30, 29)
    assert kept(home) == 30
    keep(home, 31)
    keep(other, 30)
    assert kept(other) == 31


def test_one_of_another_log_takes_the_place(home: Home) -> None:
    keep(home, 30)
    put(home, note(20, "evidentia/fedcba9876543210/default"))
    assert kept(home) == 20


def test_what_is_no_checkpoint_is_replaced(home: Home) -> None:
    keep(home, 30)
    for damaged in (b"", b"\0" * len(note(20)), note(30).encode()[:-1], b"x" * len(note(20))):
        home.checkpoint_file("default").write_bytes(damaged)
        keep(home, 20)
        assert kept(home) == 20


def test_where_only_half_can_be_written_over_the_whole_takes_its_place(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(home, 20)
    write = os.pwrite
    with monkeypatch.context() as short:
        short.setattr(os, "pwrite", lambda file, data, at: write(file, data[: len(data) // 2], at))
        keep(home, 21)
    assert home.kept_checkpoint("default") == note(21)


def test_a_folder_that_was_removed_is_made_again(home: Home) -> None:
    keep(home, 20)
    folder = home.checkpoint_file("default").parent
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    keep(home, 21)
    assert kept(home) == 21


def test_processes_that_keep_at_once_leave_the_largest(home: Home) -> None:
    keep(home, 1_000)

    def every(first: int) -> None:
        keep(Home(home.folder), *range(1_000 + first, 1_400, 4))

    children = [Child(partial(every, first)) for first in range(4)]
    for child in children:
        child.end()
    assert kept(home) == 1_399


def test_who_reads_while_others_write_over_it_reads_one_of_them(home: Home) -> None:
    notes = [note(size) for size in range(1_000, 1_400)]
    keep(home, 1_000)
    ended = threading.Event()

    def write() -> None:
        for one in notes:
            put(home, one)
        ended.set()

    writer = threading.Thread(target=write)
    writer.start()
    found = []
    while not ended.is_set():
        found.append(Home(home.folder).kept_checkpoint("default"))
    writer.join()
    assert set(found) <= set(notes)
    assert found == sorted(found, key=lambda one: read_checkpoint(one or "")[0].size)


def test_without_locks_between_processes_nothing_is_written_over(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "_SET_AND_WAIT", None)
    keep(home, 20)
    with home.checkpoint_file("default").open() as still_open:
        keep(home, 21)
        assert still_open.read() == note(20)
    assert kept(home) == 21


def test_who_reads_waits_until_all_of_it_is_written(home: Home) -> None:
    keep(home, 20)
    found: list[int | None] = []
    reader = threading.Thread(target=lambda: found.append(kept(Home(home.folder))))
    with FairLock(home.checkpoint_file("default").with_name(".turns")).moment():
        reader.start()
        reader.join(0.1)
        assert found == []
    reader.join()
    assert found == [20]

import errno
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest

from evidentia.errors import EnvironmentProblem
from evidentia.store import turns
from evidentia.store.turns import FairLock
from forking import Child

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")


Hold = Callable[[FairLock], AbstractContextManager[None]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "database.turns"


def until(happened: Callable[[], object]) -> None:
    """Wait for something that is bound to happen."""
    deadline = time.monotonic() + 20
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.001)


def drawn(path: Path) -> int:
    """Return how many numbers were drawn so far."""
    return int.from_bytes(path.read_bytes()[:8], "big") if path.exists() else 0


def has_drawn(path: Path, number: int) -> bool:
    return drawn(path) >= number


def marker(path: Path, mark: str, lock: FairLock | None = None) -> Callable[[], None]:
    """Give work that takes a turn and leaves its mark in a file."""

    def work() -> None:
        with (lock or FairLock(path)).turn(), path.with_suffix(".marks").open("a") as marks:
            marks.write(mark)

    return work


def marks(path: Path) -> str:
    file = path.with_suffix(".marks")
    return file.read_text() if file.exists() else ""


def holder(path: Path) -> Callable[[], None]:
    """Give work that takes a turn and never ends it."""

    def work() -> None:
        with FairLock(path).turn():
            path.with_suffix(".held").touch()
            time.sleep(60)

    return work


def test_processes_are_served_in_the_order_they_came(path: Path) -> None:
    children = []
    with FairLock(path).turn():
        for number, mark in enumerate("abcdefgh", start=2):
            children.append(Child(marker(path, mark)))
            until(partial(has_drawn, path, number))
        time.sleep(0.05)
        assert marks(path) == ""
    for child in children:
        child.end()
    assert marks(path) == "abcdefgh"


def test_no_one_overtakes_a_process_that_came_first_and_is_slow(path: Path) -> None:
    turn = FairLock(path).turn()
    turn.__enter__()
    with Child(marker(path, "s")) as slow:
        until(partial(has_drawn, path, 2))
        with Child(marker(path, "q")) as quick:
            until(partial(has_drawn, path, 3))
            os.kill(slow.pid, signal.SIGSTOP)
            assert os.WIFSTOPPED(os.waitpid(slow.pid, os.WUNTRACED)[1])
            turn.__exit__(None, None, None)
            time.sleep(0.1)
            assert marks(path) == ""
            os.kill(slow.pid, signal.SIGCONT)
            slow.end()
            quick.end()
    assert marks(path) == "sq"


@pytest.mark.parametrize("hold", [FairLock.turn, FairLock.moment])
def test_only_one_process_has_its_turn_at_a_time(path: Path, hold: Hold) -> None:
    count = path.with_suffix(".count")
    count.write_text("0")

    def work() -> None:
        lock = FairLock(path)
        for number in range(100):
            with (lock.turn if number % 2 else partial(hold, lock))():
                found = int(count.read_text())
                os.sched_yield()
                count.write_text(str(found + 1))

    children = [Child(work) for _ in range(4)]
    for child in children:
        child.end()
    assert count.read_text() == "400"


@pytest.mark.parametrize("hold", [FairLock.turn, FairLock.moment])
def test_only_one_thread_has_its_turn_at_a_time(path: Path, hold: Hold) -> None:
    lock = FairLock(path)
    count = [0]

    def work() -> None:
        for _ in range(100):
            with hold(lock):
                found = count[0]
                os.sched_yield()
                count[0] = found + 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count == [600]


def test_a_killed_holder_does_not_block_those_who_wait(path: Path) -> None:
    with Child(holder(path)) as held:
        until(path.with_suffix(".held").exists)
        before = drawn(path)
        with Child(marker(path, "w")) as waiter:
            until(lambda: drawn(path) > before)
            time.sleep(0.05)
            assert marks(path) == ""
            held.kill()
            waiter.end()
    assert marks(path) == "w"


def test_a_killed_waiter_neither_blocks_nor_lets_two_in_at_once(path: Path) -> None:
    with FairLock(path).turn():
        with Child(marker(path, "x")) as first:
            until(lambda: drawn(path) == 2)
            last = Child(marker(path, "y"))
            until(lambda: drawn(path) == 3)
            first.kill()
        time.sleep(0.1)
        assert marks(path) == ""
    last.end()
    assert marks(path) == "y"


def test_a_process_killed_while_it_drew_a_number_blocks_no_one(path: Path) -> None:
    def work() -> None:
        lock = FairLock(path)
        lock._file = lock._open()
        lock._lock(turns._COUNTER)
        path.with_suffix(".held").touch()
        time.sleep(60)

    with Child(work) as drawing:
        until(path.with_suffix(".held").exists)
        waiter = Child(marker(path, "w"))
        time.sleep(0.05)
        assert marks(path) == ""
        drawing.kill()
    waiter.end()
    assert marks(path) == "w"


def test_a_forked_child_waits_for_its_parents_turn_to_end(path: Path) -> None:
    lock = FairLock(path)
    with lock.turn():
        child = Child(marker(path, "c", lock))
        until(lambda: drawn(path) == 2)
        time.sleep(0.05)
        assert marks(path) == ""
    child.end()
    assert marks(path) == "c"


def test_a_child_forked_inside_a_turn_does_not_end_it_on_its_way_out(path: Path) -> None:
    lock = FairLock(path)
    turn = lock.turn()
    with turn:
        Child(lambda: turn.__exit__(None, None, None)).end()
        waiter = Child(marker(path, "w"))
        until(lambda: drawn(path) == 2)
        time.sleep(0.05)
        assert marks(path) == ""
    waiter.end()


def test_a_turn_does_not_outlive_its_holder_in_the_holders_children(path: Path) -> None:
    def parent() -> None:
        with FairLock(path).turn():
            Child(lambda: time.sleep(5))
            path.with_suffix(".held").touch()
            time.sleep(60)

    with Child(parent) as held:
        until(path.with_suffix(".held").exists)
        held.kill()
        began = time.monotonic()
        marker(path, "w")()
    assert time.monotonic() - began < 4


def test_a_turn_that_fails_is_over(path: Path) -> None:
    lock = FairLock(path)
    with pytest.raises(ValueError, match="within"), lock.turn():
        raise ValueError("within")
    marker(path, "n", lock)()
    assert marks(path) == "n"


def test_a_closed_lock_opens_again(path: Path) -> None:
    lock = FairLock(path)
    for mark in "ab":
        marker(path, mark, lock)()
        lock.close()
        lock.close()
    assert marks(path) == "ab"
    assert drawn(path) == 2


def test_the_numbers_begin_anew_after_the_last(path: Path) -> None:
    path.write_bytes(turns._NUMBERS.to_bytes(8, "big"))
    marker(path, "a")()
    marker(path, "b")()
    assert marks(path) == "ab"
    assert drawn(path) == 2


def test_a_place_that_cannot_hold_the_lock_is_named(tmp_path: Path) -> None:
    lock = FairLock(tmp_path / "absent" / "database.turns")
    with pytest.raises(EnvironmentProblem, match=r"absent/database\.turns: cannot be used"):
        lock.turn().__enter__()


def test_where_the_system_has_no_such_locks_turns_are_not_taken(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "_SET_AND_WAIT", None)
    marker(path, "a")()
    assert marks(path) == "a"
    assert not path.exists()


def test_a_full_disk_is_named_when_a_turn_cannot_be_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    lock = FairLock(tmp_path / "database.turns")
    monkeypatch.setattr(os, "pwrite", full)
    says = r"turns: .* \(No space left on device\)"
    with pytest.raises(EnvironmentProblem, match=says), lock.turn():
        pass
    monkeypatch.undo()
    with lock.turn():
        pass
    lock.close()


# Looking


def looker(path: Path, mark: str) -> Callable[[], None]:
    """Give work that looks and leaves its mark in a file."""

    def work() -> None:
        with FairLock(path).looking(), path.with_suffix(".marks").open("a") as marks:
            marks.write(mark)

    return work


def test_who_looks_waits_for_whoever_has_the_lock(path: Path) -> None:
    with FairLock(path).moment(), Child(looker(path, "l")) as child:
        time.sleep(0.05)
        assert marks(path) == ""
    child = Child(looker(path, "l"))
    child.end()
    assert marks(path) == "l"


def test_no_one_gets_the_lock_while_someone_looks_and_others_look_too(path: Path) -> None:
    with FairLock(path).moment():
        pass
    with FairLock(path).looking():
        child = Child(looker(path, "l"))
        child.end()
        with Child(marker(path, "t")) as writer:
            until(partial(has_drawn, path, 1))
            time.sleep(0.05)
            assert marks(path) == "l"
            writer.kill()
    marker(path, "t")()
    assert marks(path) == "lt"


def test_looking_makes_no_file_and_needs_none(path: Path) -> None:
    with FairLock(path).looking():
        assert not path.exists()
    missing = FairLock(path.parent / "missing" / "turns")
    with missing.looking():
        assert not path.parent.joinpath("missing").exists()


def test_a_child_forked_while_its_parent_looks_keeps_no_one_from_the_lock(path: Path) -> None:
    lock = FairLock(path)
    marker(path, "a", lock)()
    with lock.looking():
        sleeper = Child(partial(time.sleep, 60))
    with sleeper:
        marker(path, "b", lock)()
    assert marks(path) == "ab"


def test_a_lock_that_is_not_known_to_the_system_is_none(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "_SET_AND_WAIT", None)
    lock = FairLock(path)
    with lock.moment(), lock.looking():
        assert not lock.is_open

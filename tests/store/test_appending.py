import gc
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import Connection

from evidentia.errors import (
    ConflictError,
    EnvironmentProblem,
    InputError,
    IntegrityError,
    NotFoundError,
)
from evidentia.store import sequencer
from evidentia.store.appending import HeldLog
from evidentia.store.database import run
from evidentia.store.lines import Request
from evidentia.store.sequencer import Sequencer
from evidentia.store.sql import log
from evidentia.store.sql.log import Receipt
from evidentia.trail.entry import EntryKind, genesis_prev
from evidentia.trail.waiting import MAX_INDEXED_BYTES
from evidentia.workspace import Workspace
from evidentia.workspace.trail import MAX_BATCH
from forking import Child
from places import Place, record, status_change

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")

NOT_STORABLE = [
    pytest.param("a" * 2_001, id="too long"),
    pytest.param("a\0b", id="with NUL"),
    pytest.param("\ud800", id="lone surrogate"),
    pytest.param("", id="empty"),
]


def leaves(receipts: list[Receipt]) -> list[str]:
    return [receipt.leaf for receipt in receipts]


def test_a_record_gets_the_next_number_and_comes_back_as_it_was(workspace: Workspace) -> None:
    receipts = [workspace.append(record(number)) for number in range(3)]
    assert [receipt.seq for receipt in receipts] == [0, 2, 3]  # entry 1 announces the log's key
    assert not any(receipt.repeated for receipt in receipts)
    assert workspace.trail.size == 4
    assert workspace.trail.records() == [record(0), record(1), record(2)]
    assert workspace.trail.records("ob-0001") == [record(1)]
    assert workspace.trail.entry(2).leaf == receipts[1].leaf


def test_a_status_change_keeps_the_old_record(workspace: Workspace) -> None:
    workspace.trail.append_many([record(1), status_change(1), record(2)])
    assert workspace.trail.records("ob-0001") == [record(1), status_change(1)]
    kinds = [logged.entry.kind for logged in workspace.trail.entries()]
    assert kinds == ["evidence_record", "status_change", "evidence_record", "key"]


def test_each_entry_names_the_one_before_and_the_first_names_the_log(workspace: Workspace) -> None:
    workspace.trail.append_many([record(number) for number in range(5)])
    workspace.append(record(5))
    logged = workspace.trail.entries()
    for before, after in pairwise(logged):
        assert after.entry.prev == before.leaf
    assert logged[0].entry.prev == genesis_prev(workspace.trail.audit().origin)


@pytest.mark.parametrize("size", [1, 255, 256, 257, 700])
def test_a_batch_and_single_appends_give_the_same_tree_whatever_the_size(
    workspace: Workspace, size: int
) -> None:
    receipts = workspace.trail.append_many([record(number) for number in range(size)])
    assert [receipt.seq for receipt in receipts] == list(range(size))
    receipts += [
        workspace.append(record(size)),
        *workspace.trail.append_many([record(size + 1)] * 3),
    ]
    logged = workspace.trail.entries()
    assert logged.pop(size).entry.kind == "key"
    assert leaves(receipts) == [one.leaf for one in logged]
    report = workspace.trail.audit()
    assert report.holds
    assert report.size == size + 5


def test_an_empty_batch_is_nothing(workspace: Workspace) -> None:
    assert workspace.trail.append_many([]) == []
    assert workspace.trail.size == 0


def test_a_batch_past_the_limit_is_refused_whole(workspace: Workspace) -> None:
    with pytest.raises(InputError, match=rf"{MAX_BATCH} at most"):
        workspace.trail.append_many([record()] * (MAX_BATCH + 1))
    assert workspace.trail.size == 0


def test_a_batch_larger_than_a_group_is_still_one_transaction(workspace: Workspace) -> None:
    count = sequencer.MAX_TOGETHER + 1
    assert len(workspace.trail.append_many([record()] * count)) == count
    assert workspace.trail.size == count + 1


OWN_METHOD = (
    EntryKind.EVIDENCE_RECORD,
    EntryKind.STATUS_CHANGE,
    EntryKind.ERASURE,
    EntryKind.KEY,
)


def test_every_other_kind_of_entry_can_be_recorded(workspace: Workspace) -> None:
    kinds = [kind for kind in EntryKind if kind not in OWN_METHOD]
    for kind in kinds:
        workspace._acting.record(
            kind, f"about {kind}", {"by": "owner", "kind": kind.value, "numbers": [1, 0.5, None]}
        )
    recorded = [logged.entry.kind for logged in workspace.trail.entries()]
    assert recorded == [kinds[0], EntryKind.KEY, *kinds[1:]]
    assert workspace.trail.entries(kind="pack")[0].body == {
        "by": "owner",
        "kind": "pack",
        "numbers": [1, 0.5, None],
    }
    assert workspace.trail.audit().holds


@pytest.mark.parametrize("subject", NOT_STORABLE)
def test_a_subject_that_not_every_database_could_store_is_refused(
    workspace: Workspace, subject: str
) -> None:
    workspace.append(record())
    with pytest.raises(InputError):
        workspace._acting.record(EntryKind.PACK, subject, {})
    assert workspace.trail.size == 2


def test_the_longest_subjects_and_keys_can_be_stored_and_found(workspace: Workspace) -> None:
    subject = "".join(chr(0x20000 + number * 7) for number in range(499))
    key = os.urandom(1000).hex()
    one = record(obligation_id=subject)
    first = workspace.append(one, idempotency_key=key)
    assert len(subject.encode()) + 4 == MAX_INDEXED_BYTES == len(key)
    assert workspace.append(one, idempotency_key=key) == first._replace(repeated=True)
    assert [logged.entry.subject for logged in workspace.trail.entries(subject=subject)] == [
        subject
    ]
    assert workspace.trail.audit().holds


def test_a_body_that_is_not_json_is_refused(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="cannot be recorded"):
        workspace._acting.record(EntryKind.PACK, "a pack", {"value": float("nan")})
    assert workspace.trail.size == 0


def test_tenants_have_logs_of_their_own_in_one_database(place: Place) -> None:
    one, other = place.open("one"), place.open("other")
    one.trail.append_many([record(1), record(2)])
    other.append(record(3))
    one.append(record(4))
    assert one.trail.records() == [record(1), record(2), record(4)]
    assert other.trail.records() == [record(3)]
    assert one.trail.audit().origin != other.trail.audit().origin
    assert one.trail.checkpoint() != other.trail.checkpoint()
    assert one.trail.audit().holds
    assert other.trail.audit().holds


def test_a_tenant_without_a_log_is_said_to_have_none(place: Place) -> None:
    place.open("known").append(record())
    stranger = place.open("stranger")
    assert stranger.trail.size == 0
    assert stranger.trail.entries() == []
    assert stranger.trail.records() == []
    assert stranger.trail.keys() == []
    # Tenants of a server are not told each other's names.
    others = "logs here: known" if place.is_sqlite else "others have one here"
    for ask in (lambda: stranger.trail.entry(0), stranger.trail.audit):
        with pytest.raises(NotFoundError, match=f"'stranger' has no log; {others}"):
            ask()


def test_a_name_that_is_no_tenants_is_refused(place: Place) -> None:
    with pytest.raises(InputError, match="is not a name"):
        place.open("../etc")


def test_an_entry_that_is_not_there_is_said_to_be_missing(workspace: Workspace) -> None:
    workspace.append(record())
    for seq in (-1, 2, 10**12):
        with pytest.raises(NotFoundError, match=f"no entry {seq}"):
            workspace.trail.entry(seq)


def test_entries_are_found_by_kind_subject_and_place(workspace: Workspace) -> None:
    workspace.trail.append_many([record(number % 3) for number in range(9)])
    workspace.append(status_change(1))

    def numbers(**query: Any) -> list[int]:
        return [logged.entry.seq for logged in workspace.trail.entries(**query)]

    assert numbers(subject="ob-0001") == [1, 4, 7, 10]
    assert numbers(kind="status_change") == [10]
    assert numbers(kind="key") == [9]
    assert numbers(kind="evidence_record", subject="ob-0001") == [1, 4, 7]
    assert numbers(after=6) == [7, 8, 9, 10]
    assert numbers(before=3) == [0, 1, 2]
    assert numbers(after=2, before=6, limit=2) == [3, 4]
    assert numbers(newest_first=True, limit=3) == [10, 9, 8]
    assert numbers(kind="nothing") == []


def test_what_one_workspace_appends_another_reads(place: Place) -> None:
    writer, reader = place.open(), place.open()
    writer.append(record(1))
    assert reader.trail.records() == [record(1)]
    reader.append(record(2))
    assert writer.trail.records() == [record(1), record(2)]


# Idempotency


def test_a_retry_is_a_no_op_that_returns_the_first_receipt(workspace: Workspace) -> None:
    first = workspace.append(record(1), idempotency_key="a")
    workspace.append(record(2))
    again = workspace.append(record(1), idempotency_key="a")
    assert again == first._replace(repeated=True)
    assert workspace.trail.size == 3


def test_a_retried_batch_gives_all_the_first_receipts(workspace: Workspace) -> None:
    records, keys = [record(number) for number in range(700)], [f"key-{n}" for n in range(700)]
    first = workspace.trail.append_many(records, idempotency_keys=keys)
    again = workspace.trail.append_many(records, idempotency_keys=keys)
    assert again == [receipt._replace(repeated=True) for receipt in first]
    assert workspace.trail.size == 701


def test_a_batch_may_mix_new_records_and_retried_ones(workspace: Workspace) -> None:
    workspace.trail.append_many([record(1), record(2)], idempotency_keys=["a", "b"])
    mixed = workspace.trail.append_many(
        [record(3), record(2), record(4)], idempotency_keys=["c", "b", "d"]
    )
    assert [(receipt.seq, receipt.repeated) for receipt in mixed] == [
        (3, False),
        (1, True),
        (4, False),
    ]
    assert workspace.trail.audit().holds


def test_the_same_key_twice_in_a_batch_is_one_entry(workspace: Workspace) -> None:
    receipts = workspace.trail.append_many(
        [record(1), record(2), record(1)], idempotency_keys=["a", "b", "a"]
    )
    assert [(receipt.seq, receipt.repeated) for receipt in receipts] == [
        (0, False),
        (1, False),
        (0, True),
    ]
    assert receipts[2].leaf == receipts[0].leaf
    assert workspace.trail.size == 3


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(record(1, confidence=0.5), id="another body"),
        pytest.param(record(2), id="another subject"),
        pytest.param(status_change(1), id="another kind"),
    ],
)
def test_a_key_used_for_something_else_is_a_conflict_before_anything_is_written(
    workspace: Workspace, other: Any
) -> None:
    workspace.append(record(1), idempotency_key="a")
    with pytest.raises(ConflictError, match=r"'a' was used for entry 0.*use a new key"):
        workspace.trail.append_many([record(7), other], idempotency_keys=["new", "a"])
    assert workspace.trail.size == 2
    assert workspace.append(record(7), idempotency_key="new").seq == 2
    assert workspace.trail.audit().holds


def test_the_same_key_for_two_contents_in_a_batch_is_a_conflict(workspace: Workspace) -> None:
    with pytest.raises(ConflictError):
        workspace.trail.append_many([record(1), record(2)], idempotency_keys=["a", "a"])
    assert workspace.trail.size == 0


def test_a_retry_after_erasure_appends_nothing(workspace: Workspace) -> None:
    first = workspace.append(record(1), idempotency_key="a")
    workspace.trail.erase(0, reason="GDPR 17", by="counsel")
    assert workspace.append(record(1), idempotency_key="a") == first._replace(repeated=True)
    with pytest.raises(ConflictError):
        workspace.append(record(2), idempotency_key="a")
    assert workspace.trail.size == 3
    assert workspace.trail.audit().holds


def test_keys_of_tenants_are_apart(place: Place) -> None:
    one, other = place.open("one"), place.open("other")
    one.append(record(1), idempotency_key="a")
    assert not other.append(record(2), idempotency_key="a").repeated


def test_a_batch_needs_as_many_keys_as_records(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="2 records, but 1 idempotency key: give one for each"):
        workspace.trail.append_many([record(1), record(2)], idempotency_keys=["a"])


@pytest.mark.parametrize("key", NOT_STORABLE)
def test_a_key_that_not_every_database_could_store_is_refused(
    workspace: Workspace, key: str
) -> None:
    with pytest.raises(InputError, match="idempotency key"):
        workspace.append(record(1), idempotency_key=key)
    assert workspace.trail.size == 0


# All or nothing


def test_a_batch_that_fails_at_its_last_row_leaves_nothing(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.append(record(0))

    def fail(*_: object) -> None:
        raise IntegrityError("the disk is gone")

    with monkeypatch.context() as broken:
        broken.setattr(log, "move_head", fail)
        with pytest.raises(IntegrityError, match="the disk is gone"):
            workspace.trail.append_many([record(number) for number in range(1, 600)])
    assert workspace.trail.size == 2
    assert len(workspace.trail.entries()) == 2
    assert workspace.append(record(1)).seq == 2
    assert workspace.trail.audit().holds


def test_a_head_that_moved_meanwhile_is_not_overwritten(place: Place) -> None:
    workspace = place.open()
    workspace.append(record(0))
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        stale = log.require_head(connection, "default")
    workspace.append(record(1))
    with (
        pytest.raises(IntegrityError, match="moved while entries were appended"),
        workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection,
    ):
        log.move_head(connection, stale, log.Head("default", stale.origin, 9, b"r", b"e"))
    assert workspace.trail.size == 3


def test_no_transaction_is_held_in_memory_once_it_ended(workspace: Workspace) -> None:
    for number in range(20):
        workspace.append(record(number))
        workspace.trail.rotate_key()
    gc.collect()
    there = Counter(type(one) for one in gc.get_objects() if isinstance(one, HeldLog | Connection))
    assert there.total() < 20


# Threads


class Background(threading.Thread):
    """A thread that does not keep a failed test from ending."""

    def __init__(self, work: Callable[..., object], *given: object) -> None:
        super().__init__(target=work, args=given, daemon=True)


def in_threads(works: list[Callable[[], None]]) -> None:
    """Run all at once; raise what any of them raised."""
    failures: list[BaseException] = []
    start = threading.Barrier(len(works))

    def guarded(work: Callable[[], None]) -> None:
        try:
            start.wait()
            work()
        except BaseException as error:  # noqa: BLE001 - raised again below
            failures.append(error)

    threads = [Background(guarded, work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_threads_append_at_once_and_each_gets_its_own_receipts(workspace: Workspace) -> None:
    found: dict[int, list[Receipt]] = {}

    def appender(thread: int) -> Callable[[], None]:
        def work() -> None:
            found[thread] = [workspace.append(record(thread * 1000 + n)) for n in range(30)]
            batch = [record(thread * 1000 + n) for n in range(30, 60)]
            found[thread] += workspace.trail.append_many(batch)

        return work

    in_threads([appender(thread) for thread in range(8)])
    (announced,) = workspace.trail.entries(kind="key")
    given = {receipt.seq for part in found.values() for receipt in part}
    assert given | {announced.entry.seq} == set(range(481))
    assert len(given) == 8 * 60
    assert workspace.trail.size == 481
    for thread, receipts in found.items():
        for number, receipt in enumerate(receipts):
            logged = workspace.trail.entry(receipt.seq)
            assert logged.leaf == receipt.leaf
            assert logged.entry.subject == f"ob-{thread * 1000 + number:04d}"
    assert workspace.trail.audit().holds


class Interruption(BaseException):
    """Stands for Ctrl-C."""


@contextmanager
def held_up(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the next commit wait for the end of the block, so that others gather behind it."""
    entered, release = threading.Event(), threading.Event()
    lock_head = log.lock_head

    def slow(connection: Connection, tenant: str, new_origin: log.NewOrigin) -> log.Head:
        head = lock_head(connection, tenant, new_origin)
        if not entered.is_set():
            entered.set()
            release.wait(10)
        return head

    monkeypatch.setattr(log, "lock_head", slow)

    def lead() -> None:
        with suppress(EnvironmentProblem, Interruption):
            workspace.append(record(999))

    leader = Background(lead)
    leader.start()
    assert entered.wait(10)
    yield
    release.set()
    leader.join()


def wait_until_queued(workspace: Workspace, count: int) -> None:
    while queued(workspace) < count:
        time.sleep(0.002)


def queued(workspace: Workspace) -> int:
    """How many wait for the commit that is under way."""
    return sum(len(line.queue) for line in workspace.opened.sequencer._lines.values())


def test_appends_that_come_during_a_commit_share_the_next_one(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits: list[int] = []
    commit = Sequencer._commit

    def counted(self: Sequencer, line: Any, requests: Any, begin: Any) -> bool:
        commits.append(len(requests))
        return commit(self, line, requests, begin)

    monkeypatch.setattr(Sequencer, "_commit", counted)
    threads = [Background(workspace.append, record(n)) for n in range(6)]
    with held_up(workspace, monkeypatch):
        for thread in threads:
            thread.start()
        wait_until_queued(workspace, 6)
    for thread in threads:
        thread.join()
    assert commits == [1, 6]
    assert workspace.trail.size == 8
    assert workspace.trail.audit().holds


def test_a_request_that_conflicts_does_not_hurt_those_in_the_same_commit(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.append(record(0), idempotency_key="taken")
    outcomes: dict[str, object] = {}

    def append(name: str, number: int, key: str) -> None:
        try:
            outcomes[name] = workspace.append(record(number), idempotency_key=key).seq
        except ConflictError as error:
            outcomes[name] = error

    asked = [("good", 1, "x"), ("bad", 2, "taken"), ("twin", 1, "x"), ("late", 3, "y")]
    threads = [Background(append, *item) for item in asked]
    with held_up(workspace, monkeypatch):
        for count, thread in enumerate(threads, start=1):
            thread.start()
            wait_until_queued(workspace, count)
    for thread in threads:
        thread.join()
    assert isinstance(outcomes.pop("bad"), ConflictError)
    assert outcomes == {"good": 3, "twin": 3, "late": 4}
    assert workspace.trail.size == 5
    assert workspace.trail.audit().holds


def test_a_request_that_cannot_be_stored_fails_before_it_joins_the_others(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = Background(workspace.append, record(1))
    with held_up(workspace, monkeypatch):
        good.start()
        wait_until_queued(workspace, 1)
        with pytest.raises(InputError):
            workspace.append(record(2), idempotency_key="\0")
        assert queued(workspace) == 1
    good.join()
    assert workspace.trail.size == 3


def test_a_commit_that_fails_is_told_to_all_who_took_part_and_the_next_one_works(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures: list[Exception] = []

    def append() -> None:
        try:
            workspace.append(record(1))
        except EnvironmentProblem as error:
            failures.append(error)

    def fail(*_: object) -> None:
        raise EnvironmentProblem("the disk is full")

    threads = [Background(append) for _ in range(3)]
    with held_up(workspace, monkeypatch):
        monkeypatch.setattr(log, "move_head", fail)
        for thread in threads:
            thread.start()
        wait_until_queued(workspace, 3)
    for thread in threads:
        thread.join()
    assert [str(error) for error in failures] == ["the disk is full"] * 3
    monkeypatch.undo()
    workspace.append(record(2))
    assert workspace.append(record(3)).seq == workspace.trail.size - 1
    assert workspace.trail.audit().holds


class InterruptedEvent(threading.Event):
    """Raises once it was waited for, at most as long as `patience`."""

    patience: float | None = None

    def wait(self, timeout: float | None = None) -> bool:
        super().wait(timeout or self.patience)
        raise Interruption


@contextmanager
def interrupted_requests(
    monkeypatch: pytest.MonkeyPatch, *, patience: float | None = None
) -> Iterator[None]:
    """Interrupt whoever begins to append in this block, while it waits or when its wait is over."""

    class InterruptedRequest(Request):
        def __init__(self, *asked: Any) -> None:
            super().__init__(*asked)
            self.ready = InterruptedEvent()
            self.ready.patience = patience

    with monkeypatch.context() as patched:
        patched.setattr(sequencer, "Request", InterruptedRequest)
        yield


def test_whoever_is_interrupted_while_waiting_leaves_and_others_go_on(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    others: list[Receipt] = []
    with held_up(workspace, monkeypatch):
        with (
            interrupted_requests(monkeypatch, patience=0.01),
            pytest.raises(Interruption),
        ):
            workspace.append(record(1))
        other = Background(lambda: others.append(workspace.append(record(2))))
        other.start()
        wait_until_queued(workspace, 1)
    other.join(10)
    assert [receipt.seq for receipt in others] == [2]
    assert workspace.trail.records() == [record(999), record(2)]


def test_whoever_is_interrupted_after_being_made_leader_hands_over(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes: list[object] = []

    def interrupted() -> None:
        with pytest.raises(Interruption):
            workspace.append(record(1))
        outcomes.append("interrupted")

    def append() -> None:
        outcomes.append(workspace.append(record(2)).seq)

    threads = [Background(interrupted), Background(append)]
    with held_up(workspace, monkeypatch):
        with interrupted_requests(monkeypatch):
            threads[0].start()
            wait_until_queued(workspace, 1)
        threads[1].start()
        wait_until_queued(workspace, 2)
    for thread in threads:
        thread.join(10)
    assert sorted(map(str, outcomes)) == ["2", "interrupted"]
    assert workspace.append(record(3)).seq == 3


def test_a_leader_that_is_interrupted_tells_those_it_commits_for(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Exception] = []
    interrupted: list[str] = []

    def append() -> None:
        try:
            workspace.append(record(1))
        except EnvironmentProblem as error:
            told.append(error)
        except Interruption:
            interrupted.append("here")

    def interrupt(*_: object) -> None:
        raise Interruption

    threads = [Background(append) for _ in range(2)]
    with held_up(workspace, monkeypatch):
        for thread in threads:
            thread.start()
        wait_until_queued(workspace, 2)
        monkeypatch.setattr(log, "move_head", interrupt)
    for thread in threads:
        thread.join()
    assert interrupted == ["here"]
    assert ["interrupted before it was confirmed" in str(error) for error in told] == [True]
    monkeypatch.undo()
    workspace.append(record(2))
    assert workspace.trail.audit().holds


# Processes


def test_a_forked_child_and_its_parent_both_append(workspace: Workspace) -> None:
    workspace.append(record(0))

    def work() -> None:
        for number in range(20):
            workspace.append(record(100 + number))

    with Child(work) as child:
        for number in range(20):
            workspace.append(record(200 + number))
        child.end()
    assert workspace.trail.size == 42
    assert workspace.trail.audit().holds


def test_what_a_forked_child_appends_survives_that_its_parent_closes(place: Place) -> None:
    workspace = place.open()
    workspace.append(record(0))
    child_is_ready, parent_has_closed = os.pipe(), os.pipe()

    def work() -> None:
        workspace.append(record(1))
        os.write(child_is_ready[1], b".")
        os.read(parent_has_closed[0], 1)
        for number in range(2, 22):
            workspace.append(record(number))

    with Child(work) as child:
        os.read(child_is_ready[0], 1)
        place.close()
        other = place.open()
        other.append(record(99))
        os.write(parent_has_closed[1], b".")
        child.end()
    assert other.trail.size == 24
    assert other.trail.audit().holds
    for end in (*child_is_ready, *parent_has_closed):
        os.close(end)


def test_a_child_forked_during_a_commit_is_not_held_up_by_it(
    sqlite_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = sqlite_place.open()
    elsewhere = Place(sqlite_place.home.folder.with_name("other"))
    other = elsewhere.open()
    other.append(record(0))
    with (
        held_up(workspace, monkeypatch),
        Child(lambda: other.append(record(1))) as child,
    ):
        child.end()
    assert other.trail.size == 3
    elsewhere.close()


def test_a_log_that_lost_its_head_is_not_begun_anew_over_its_rows(
    sqlite_place: Place,
) -> None:
    workspace = sqlite_place.open()
    workspace.append(record(0))
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        run(connection, "DROP TRIGGER trail_heads_delete")
        run(connection, "DELETE FROM trail_heads")
    with pytest.raises(IntegrityError, match="append-only"):
        workspace.append(record(1))

"""Processes that append at once: no gap, no fork, no lost record."""

import random
from functools import partial
from pathlib import Path

import pytest

import tiers
from evidentia.errors import ConflictError
from forking import Child
from places import Place, record

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")

PROCESSES = 4


def append_in_processes(place: Place, folder: Path, *, each: int, single: int) -> None:
    """Let processes append so many records each, some singly and the rest in small batches."""

    def worker(number: int) -> None:
        workspace = place.open()
        chance = random.Random(number)
        receipts = workspace.trail.append_many([])
        while len(receipts) < each:
            left = each - len(receipts)
            batch = 1 if len(receipts) % each < single else min(left, chance.randint(2, 20))
            subject = f"{number}/{len(receipts)}/{batch}"
            receipts += workspace.trail.append_many([record(0, obligation_id=subject)] * batch)
        lines = [f"{receipt.seq} {receipt.leaf}\n" for receipt in receipts]
        (folder / f"{number}.receipts").write_text("".join(lines))
        workspace.close()

    children = [Child(partial(worker, number)) for number in range(PROCESSES)]
    for child in children:
        child.end()


def check(place: Place, folder: Path, *, each: int) -> None:
    workspace = place.open()
    assert workspace.trail.size == PROCESSES * each + 1  # one of them announced the key
    there = workspace.trail.entries()
    assert [logged.entry.seq for logged in there] == list(range(PROCESSES * each + 1))
    assert [logged.entry.kind for logged in there].count("key") == 1
    seen: set[int] = set()
    for number in range(PROCESSES):
        lines = (folder / f"{number}.receipts").read_text().splitlines()
        assert len(lines) == each
        for line in lines:
            seq, leaf = line.split()
            seen.add(int(seq))
            assert there[int(seq)].leaf == leaf
            assert there[int(seq)].entry.subject.startswith(f"{number}/")
    assert len(seen) == PROCESSES * each
    report = workspace.trail.audit()
    assert report.findings == ()
    assert report.size == PROCESSES * each + 1


def test_four_processes_append_five_thousand_records_each(
    sqlite_place: Place, tmp_path: Path
) -> None:
    each = tiers.count(5_000, short=500)
    append_in_processes(sqlite_place, tmp_path, each=each, single=each * 2 // 5)
    check(sqlite_place, tmp_path, each=each)


def test_four_processes_append_a_thousand_records_each_on_the_server(
    postgres_place: Place, tmp_path: Path
) -> None:
    each = tiers.count(1_000, short=200)
    append_in_processes(postgres_place, tmp_path, each=each, single=each // 2)
    check(postgres_place, tmp_path, each=each)


def test_a_log_can_be_begun_by_several_processes_at_once(place: Place, tmp_path: Path) -> None:
    for number in range(tiers.count(5, short=2)):
        tenant = f"tenant-{number}"

        def work(tenant: str = tenant) -> None:
            with place.open(tenant) as workspace:
                workspace.append(record(1))
                workspace.trail.checkpoint()

        children = [Child(work) for _ in range(PROCESSES)]
        for child in children:
            child.end()
        workspace = place.open(tenant)
        assert len(workspace.trail.records()) == PROCESSES
        assert len(workspace.trail.keys()) == 1
        assert workspace.trail.audit().findings == ()


def test_a_log_holds_at_every_moment_others_append_to_it(place: Place) -> None:
    def work() -> None:
        with place.open() as workspace:
            for number in range(60):
                receipts = workspace.trail.append_many([record(number)] * 9)
                if number % 5 == 0:
                    workspace.trail.checkpoint()
                if number % 5 == 1:
                    workspace.trail.erase(receipts[3].seq, reason="law", by="counsel")
                if number % 20 == 2:
                    workspace.trail.rotate_key()

    place.open().append(record(0))
    with Child(work) as child:
        sizes = set()
        auditor = place.open()
        while auditor.trail.size < 500:
            report = auditor.trail.audit()
            assert report.findings == ()
            sizes.add(report.size)
        child.end()
    assert sizes
    assert auditor.trail.audit().findings == ()


def test_keys_rotated_at_once_and_signed_with_meanwhile_leave_a_log_that_holds(
    place: Place, tmp_path: Path
) -> None:
    place.open().append(record(0))
    place.open().trail.checkpoint()

    def work(number: int) -> None:
        workspace = place.open()
        rotated = 0
        for turn in range(4):
            workspace.append(record(turn))
            if number % 2:
                workspace.trail.checkpoint()
                continue
            try:
                workspace.trail.rotate_key()
            except ConflictError:
                continue
            rotated += 1
        (tmp_path / f"{number}.rotated").write_text(str(rotated))
        workspace.close()

    children = [Child(partial(work, number)) for number in range(PROCESSES)]
    for child in children:
        child.end()
    workspace = place.open()
    rotated = sum(int(path.read_text()) for path in tmp_path.glob("*.rotated"))
    assert len(workspace.trail.keys()) == 1 + rotated > 1
    assert workspace.trail.audit().findings == ()

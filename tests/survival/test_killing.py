"""`kill -9` at random moments: what was acknowledged is there, and nothing is half-written."""

import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest

import tiers
from evidentia.workspace import Workspace
from forking import Child
from places import Place, record

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")

GROUPS = 5
KILLS = 10
TENANT = "default"


class Appender:
    """Appends single records and batches, and notes each receipt once it has it."""

    def __init__(self, place: Place, notes: Path, seed: str) -> None:
        self.place = place
        self.notes = notes
        self.random = random.Random(seed)
        self.seed = seed

    def work(self) -> None:
        """Go on until killed."""
        workspace = self.place.open()
        acknowledged = os.open(self.notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        for step in range(1_000_000):
            count = self.random.choice([1, 1, 1, 2, 7, 40, 300])
            batch = [record(0, obligation_id=f"{self.seed}/{step}/{count}") for _ in range(count)]
            receipts = workspace.trail.append_many(batch)
            lines = [f"{r.seq} {r.leaf} {self.seed}/{step}/{count}\n" for r in receipts]
            os.write(acknowledged, "".join(lines).encode())
            if step % 9 == 4:
                workspace.trail.checkpoint()
            if step % 9 == 8:
                workspace.trail.erase(receipts[0].seq, reason="law", by="counsel")


def check_what_is_there(workspace: Workspace, acknowledged: list[str]) -> None:
    """Check that every acknowledged entry is there, and every batch whole or not at all."""
    there = {logged.entry.seq: logged for logged in workspace.trail.entries()}
    assert sorted(there) == list(range(len(there)))
    for line in acknowledged:
        seq, leaf, subject = line.split(" ")
        assert (there[int(seq)].leaf, there[int(seq)].entry.subject) == (leaf, subject)
    kinds = {"evidence_record"}
    batches = Counter(item.entry.subject for item in there.values() if item.entry.kind in kinds)
    for subject, count in batches.items():
        assert count == int(subject.rpartition("/")[2]), f"{subject} is half-written"
    assert workspace.trail.audit().findings == ()


def survive(place: Place, notes: Path, seed: str, *, kills: int) -> None:
    """Kill one of one to three processes at a random moment, again and again."""
    chance = random.Random(seed)
    notes.touch()
    for round_number in range(kills):
        before = notes.stat().st_size
        appenders = [
            Appender(place, notes, f"{seed}.{round_number}.{number}")
            for number in range(chance.choice([1, 1, 2, 3]))
        ]
        children = [Child(appender.work) for appender in appenders]
        deadline = time.monotonic() + 30
        while notes.stat().st_size == before and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.15))
        for child in children:
            child.kill()
        assert notes.stat().st_size > before, "no process got to append"
    check_what_is_there(place.open(), notes.read_text().splitlines())


@pytest.mark.parametrize("group", tiers.sample(range(GROUPS), 1))
def test_what_was_acknowledged_survives_kill_9(
    sqlite_place: Place, tmp_path: Path, group: int
) -> None:
    survive(sqlite_place, tmp_path / "notes", f"group {group}".replace(" ", "-"), kills=KILLS)


def test_there_are_fifty_kills() -> None:
    assert GROUPS * KILLS >= 50


def test_what_the_server_acknowledged_survives_kill_9(
    postgres_place: Place, tmp_path: Path
) -> None:
    survive(postgres_place, tmp_path / "notes", "server", kills=tiers.count(KILLS, short=3))

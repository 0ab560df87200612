"""Whoever has the log's turn may die or be stopped: another process takes it, and goes on."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from evidentia.workspace import Workspace
from places import Place

HOLDERS = (
    "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid "
    "WHERE l.locktype = 'advisory' AND l.granted AND a.datname = current_database()"
)
TESTS = Path(__file__).parents[1]

pytestmark = pytest.mark.timeout(120)


class Writing:
    """A process that appends, and what it said was acknowledged."""

    def __init__(self, place: Place, name: str) -> None:
        self.name = name
        self.said: list[str] = []
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "machines.writing",
                f"{place.url}&application_name={name}",
                str(place.home.folder),
                name,
            ],
            env={**os.environ, "PYTHONPATH": str(TESTS)},
            stdout=subprocess.PIPE,
            text=True,
        )
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said.append(line.rstrip("\n"))

    def send(self, how: signal.Signals) -> None:
        self._process.send_signal(how)

    def goes_on(self, count: int = 20) -> None:
        """Wait until so many more are acknowledged."""
        least = len(self.said) + count
        while len(self.said) < least:
            assert self._process.poll() is None, f"{self.name} ended"
            time.sleep(0.01)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reading.join()
        assert self._process.stdout is not None
        self._process.stdout.close()


@contextmanager
def writing(place: Place, *names: str) -> Iterator[dict[str, Writing]]:
    """Have processes append at once."""
    found = {name: Writing(place, name) for name in names}
    try:
        for one in found.values():
            one.goes_on(5)
        yield found
    finally:
        for one in found.values():
            one.end()


def having_the_turn(place: Place, names: Collection[str]) -> str:
    """Return which of some processes has the log's turn."""
    assert place.url is not None
    with psycopg.connect(place.url, autocommit=True) as connection:
        while True:
            for (name,) in connection.execute(HOLDERS):
                if (first := name.split(" ")[0]) in names:  # what follows is its schema
                    return str(first)
            time.sleep(0.001)


def compare(workspace: Workspace, written: dict[str, Writing]) -> None:
    """Check that all that was acknowledged is there once, where it was said to be."""
    there: dict[str, list[int]] = {}
    for one in workspace.trail.entries(kind="evidence_record"):
        there.setdefault(one.entry.subject, []).append(one.entry.seq)
    for process in written.values():
        for line in process.said:
            seq, subject = line.split(" ")
            assert there[subject] == [int(seq)]
    assert all(len(places) == 1 for places in there.values())
    assert workspace.trail.audit().holds


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_others_go_on_when_whoever_has_the_turn_dies_or_is_stopped(
    postgres_place: Place, how: signal.Signals
) -> None:
    workspace = postgres_place.open()
    workspace.trail.checkpoint()
    with writing(postgres_place, "one", "two") as processes:
        first = having_the_turn(postgres_place, processes)
        (other,) = {*processes} - {first}
        processes[first].send(how)
        processes[other].goes_on()
        if how == signal.SIGSTOP:
            processes[first].send(signal.SIGCONT)
            processes[first].goes_on()
            processes[other].goes_on()
    compare(workspace, processes)

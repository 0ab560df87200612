"""Bulk work: how two workers compare with one, and what it costs where workers are killed.

A Ray cluster begins on this machine, where Ray is installed; it has a worker for each core.
"""

import random
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psutil
from benchmarks.many import CLAIMS, POLICIES, Answers
from benchmarks.measuring import (
    Line,
    Section,
    Spread,
    interleaved,
    number,
    ratios,
    seconds_of,
)

from evidentia.jobs.ray_workers import RayWorkers
from evidentia.loading.pieces import WORKER
from evidentia.workspace import Workspace, open_workspace

ROUNDS = {"full": 5, "quick": 3, "tiny": 1}
RULES = {"full": 800, "quick": 200, "tiny": 4}
ALL = {"full": 80, "quick": 30, "tiny": 2}
KILL_SECONDS = {"full": 10.0, "quick": 10.0, "tiny": 60.0}
RUN_SECONDS = {"full": 60.0, "quick": 40.0, "tiny": 1.0}
KILL_ROUNDS = {"full": 3, "quick": 1, "tiny": 1}
LEAST = 0.85
"""What two workers should reach of twice one."""
MOST = 1.3
"""How much longer it may take where a worker is killed every ten seconds."""


def measure_workers(size: str, folder: Path) -> Section:
    """Measure two workers against one: by a cluster where there is Ray, and by processes."""
    lines = []
    for whom, judges, many in (("all judges", None, ALL), ("rules", ("quote", "numbers"), RULES)):
        for kind in _kinds(size):
            with _opened(folder / f"{whom} {kind}", kind) as workspace:
                lines.append(_two_against_one(workspace, many[size], judges, ROUNDS[size]))
            lines[-1] = _named(lines[-1], f"{whom}, {kind}", whom == "all judges")
    return Section(
        "bulk workers",
        "Bulk checks by two workers",
        f"`check_many` of {ALL[size]:,} answers by all judges, and of {RULES[size]:,} by the "
        f"rules, {CLAIMS} claims each, from the call to the last ledger in the trail: its speed "
        "with two workers, as a share of twice that with one. Workers of a cluster are there "
        "already, and what they judged is recorded by the process that asks; processes are "
        "started, and record what they judged themselves.",
        lines,
    )


def measure_kills(size: str, folder: Path) -> Section:
    """Measure a run in which a worker is killed every ten seconds against one in which none is."""
    lines: list[Line] = []
    for kind in _kinds(size):
        with _opened(folder / f"kills {kind}", kind) as workspace:
            lines += _killed(workspace, size, kind)
    return Section(
        "bulk kills",
        "Bulk checks while workers are killed",
        f"`check_many` by two workers and all judges, of as many answers as take some "
        f"{RUN_SECONDS[size]:.0f} seconds, while one of the workers is killed every "
        f"{KILL_SECONDS[size]:g} seconds, against the same with none killed. Lost is an answer "
        "without a ledger, or with two.",
        lines,
    )


def _kinds(size: str) -> tuple[str, ...]:
    """Return who does the work; to try the script out, a cluster would take long to begin."""
    has_ray = find_spec("ray") is not None and size != "tiny"
    return ("Ray", "processes") if has_ray else ("processes",)


@contextmanager
def _opened(home: Path, kind: str) -> Iterator[Workspace]:
    with open_workspace(home) as workspace:
        workspace.ingest(POLICIES)
        bulk = RayWorkers("local") if kind == "Ray" else None
        workspace.opened.bulk = bulk
        try:
            yield workspace
        finally:
            if bulk is not None:
                bulk.close()


def _two_against_one(
    workspace: Workspace, many: int, judges: Sequence[str] | None, rounds: int
) -> Line:
    answers, numbers = Answers(workspace, many), count()

    def check(workers: int) -> object:
        fresh = answers.fresh(next(numbers))
        checked = workspace.check_many(fresh, judges=judges, workers=workers)
        assert len(checked.checked) == len(fresh), checked.failed[0].problem
        return checked

    check(2)  # what is loaded and started once
    taken = interleaved(
        rounds,
        {
            "one": lambda: seconds_of(partial(check, 1)),
            "two": lambda: seconds_of(partial(check, 2)),
        },
    )
    each = {name: f"{number(many / Spread.of(took).median)}/s" for name, took in taken.items()}
    found = ratios(taken["one"], [2 * one for one in taken["two"]])
    return Line("", "twice one worker", each["two"], each["one"], found, "%", target=LEAST)


def _named(line: Line, what: str, has_target: bool) -> Line:  # noqa: FBT001 - one use, beside it
    return Line(
        what,
        line.against,
        line.ours,
        line.theirs,
        line.figure,
        line.unit,
        target=line.target if has_target else None,
    )


def _killed(workspace: Workspace, size: str, kind: str) -> list[Line]:
    numbers, lost = count(), 0

    def check(many: int) -> float:
        nonlocal lost
        fresh = Answers(workspace, many).fresh(next(numbers))
        before = len(workspace.ledgers.list(limit=10**9))
        started = time.perf_counter()
        checked = workspace.check_many(fresh, workers=2)
        took = time.perf_counter() - started
        kept = len(workspace.ledgers.list(limit=10**9)) - before
        lost += abs(kept - many) + len(checked.failed)
        return took

    check(2)
    probe = 4 if size == "tiny" else 40
    many = max(probe, int(probe * RUN_SECONDS[size] / check(probe)))
    killed = 0

    def with_kills() -> float:
        nonlocal killed
        with _killing(kind, KILL_SECONDS[size]) as kills:
            took = check(many)
        killed += kills[0]
        return took

    taken = interleaved(KILL_ROUNDS[size], {"none": lambda: check(many), "kills": with_kills})
    each = {name: f"{number(Spread.of(took).median)} s" for name, took in taken.items()}
    return [
        Line(
            f"time, {kind}",
            f"none killed, {many:,} answers",
            f"{each['kills']}, {killed} killed",
            each["none"],
            ratios(taken["kills"], taken["none"]),
            "times",
            target=MOST,
            at_most=True,
        ),
        Line(
            f"lost or doubled, {kind}",
            "",
            number(lost),
            "",
            Spread(lost, lost, lost),
            "answers",
            target=0,
            at_most=True,
        ),
    ]


@contextmanager
def _killing(kind: str, seconds: float) -> Iterator[list[int]]:
    """Kill one of the workers every so many seconds; say how many were."""
    ended, kills, chance = threading.Event(), [0], random.Random(7)

    def kill() -> None:
        while not ended.wait(seconds):
            found = _workers(kind)
            if found:
                with suppress(psutil.NoSuchProcess):
                    chance.choice(found).send_signal(signal.SIGKILL)
                    kills[0] += 1

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    try:
        yield kills
    finally:
        ended.set()
        killer.join()


def _workers(kind: str) -> list[psutil.Process]:
    found = []
    for one in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            command = one.cmdline()
            if WORKER in command or (kind == "Ray" and command[:1] == ["ray::RayWorker.do"]):
                found.append(one)
    return found

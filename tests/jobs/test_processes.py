"""Worker processes that run functions: what happens in one is no trouble of the others."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from pathlib import Path
from typing import Any

import psutil
import pytest

import worker_processes
from evidentia.canonical import canonical_json
from evidentia.errors import BusyError, CanonicalError, EnvironmentProblem
from evidentia.jobs.processes import WORKER, Processes, TaskWorkers
from evidentia.jobs.tasks import Limits
from evidentia.loading.workers import WorkerEndedError

LIMITS = Limits(2**28)
LONG = 1_000


@pytest.fixture(scope="module")
def workers() -> Iterator[TaskWorkers]:
    """One worker for all: what a test does to it, the next must not notice."""
    with TaskWorkers(1, LIMITS) as made:
        yield made


def children() -> set[psutil.Process]:
    return set(worker_processes.running(WORKER))


def until(happens: Any) -> None:
    """Wait for something that will be so; the test's own limit ends it otherwise."""
    while not happens():
        time.sleep(0.02)


def test_a_function_runs_in_another_process_that_is_kept(workers: TaskWorkers) -> None:
    first, second = workers.run(os.getpid), workers.run(os.getpid)
    assert first == second != os.getpid()
    assert workers.run(sorted, [3, 1, 2]) == [1, 2, 3]


def test_an_error_of_ours_is_raised_to_who_asked(workers: TaskWorkers) -> None:
    before = workers.run(os.getpid)
    with pytest.raises(CanonicalError):
        workers.run(canonical_json, {1: "no text is the key"})
    assert workers.run(os.getpid) == before


def test_another_error_ends_the_worker_and_says_what_it_was(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with TaskWorkers(1, LIMITS) as own, pytest.raises(WorkerEndedError) as raised:
        own.run(os.listdir, "/no such folder")
    assert raised.value.why == "crashed (exit status 1)"
    assert "FileNotFoundError" in capfd.readouterr().err


def test_a_crash_costs_its_own_task_alone(workers: TaskWorkers) -> None:
    crashing, next_one = workers.submit(os.abort), workers.submit(sorted, [2, 1])
    with pytest.raises(WorkerEndedError) as raised:
        crashing.result()
    assert raised.value.why == "crashed (SIGABRT)"
    assert next_one.result() == [1, 2]


def test_more_memory_than_a_worker_may_have_ends_it(workers: TaskWorkers) -> None:
    before = workers.run(os.getpid)
    with pytest.raises(WorkerEndedError) as raised:
        workers.run(bytearray, 2**29)
    assert raised.value.why == "needed more memory than it may have"
    assert workers.run(os.getpid) != before


def test_a_task_that_takes_too_long_is_stopped_and_its_neighbours_go_on() -> None:
    with TaskWorkers(2, LIMITS) as two:
        endless = two.submit(time.sleep, LONG, seconds=0.1)
        beside = [two.submit(os.getpid) for _ in range(4)]
        with pytest.raises(WorkerEndedError) as raised:
            endless.result()
        assert raised.value.why == "took too long, and was stopped"
        assert all(one.result() for one in beside)


def test_what_takes_long_can_be_waited_for_a_while(workers: TaskWorkers) -> None:
    slow = workers.submit(time.sleep, 0.3)
    with pytest.raises(NotYet):
        slow.result(0.01)
    assert slow.result() is None


def test_where_too_much_waits_more_is_refused_until_some_is_done() -> None:
    with TaskWorkers(1, LIMITS, most_waiting=1) as one:
        running = one.submit(time.sleep, 0.3)
        waiting = one.submit(os.getpid)
        with pytest.raises(BusyError, match=r"2 pieces of work .* try again"):
            one.submit(os.getpid)
        admitted: Future[Any] = one.submit(os.getpid, patient=True)
        assert running.result() is None
        assert waiting.result() == admitted.result()
        until(lambda: _is_let_in(one))


def _is_let_in(workers: TaskWorkers) -> bool:
    try:
        return bool(workers.run(os.getpid))
    except BusyError:
        return False


def test_none_is_started_before_it_is_needed_and_none_is_left() -> None:
    before = children()
    made = Processes.of(2)
    assert children() == before
    made.judging.run(os.getpid)
    assert len(children() - before) == 1
    made.close()
    assert children() == before
    with pytest.raises(EnvironmentProblem, match="were ended"):
        made.judging.run(os.getpid)


def test_a_worker_with_nothing_to_do_ends_and_another_comes_when_there_is_work() -> None:
    with TaskWorkers(1, LIMITS, idle_seconds=0.1) as one:
        process = psutil.Process(one.run(os.getpid))
        until(lambda: not process.is_running())
        assert one.run(os.getpid) != process.pid


def test_a_worker_that_was_killed_while_idle_is_replaced(workers: TaskWorkers) -> None:
    process = psutil.Process(workers.run(os.getpid))
    process.kill()
    until(lambda: os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT))
    assert workers.run(os.getpid) != process.pid


PARENT = """
import os, time
from evidentia.jobs.processes import TaskWorkers
from evidentia.jobs.tasks import Limits

workers = TaskWorkers(2, Limits(2**28))
running = workers.submit(time.sleep, 1_000, seconds=1_000)
print(workers.run(os.getpid), flush=True)
running.result()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no such signal")
def test_workers_end_with_a_parent_that_is_killed_also_those_at_work(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        found = psutil.Process(parent.pid).children()
        assert len(found) == 2
        parent.send_signal(signal.SIGKILL)
    until(lambda: not any(_runs(one) for one in found))


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE  # no one may be there to bury it
    except psutil.NoSuchProcess:
        return False

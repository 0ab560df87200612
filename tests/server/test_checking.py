"""Checks of the server are judged in other processes: what serves goes on with all else."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from evidentia.errors import AccessError, BusyError
from evidentia.jobs.processes import TaskWorkers
from evidentia.jobs.tasks import Limits
from evidentia.loading.workers import OUT_OF_MEMORY, WorkerEndedError
from evidentia.server.checking import is_judged
from server.house import PROCESSES, House, busy

SESSIONS = "/api/v1/sessions"
TEXT = "Permanent employees receive 15 days of leave."


class Elsewhere:
    """Stands in for processes: what is asked of them comes to an end of its own."""

    def __init__(self, end: Callable[[], Any]) -> None:
        self.end = end

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        found: Future[Any] = Future()
        try:
            found.set_result(self.end())
        except WorkerEndedError as error:
            found.set_exception(error)
        return found


def raising(error: Exception) -> Callable[[], Any]:
    def end() -> Any:
        raise error

    return end


def submitted(house: House, answer: str = TEXT) -> Any:
    return house.post(SESSIONS, "approver", json={"answer": answer, "judges": ["quote"]})


def test_other_requests_are_answered_while_an_answer_is_checked(
    sqlite_house: House, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(1) as threads:
        with busy(PROCESSES.judging, tmp_path):
            checking = threads.submit(submitted, sqlite_house)
            for path in ("/api/v1/ledgers", "/api/v1/documents", "/healthz"):
                assert sqlite_house.get(path).status_code == 200
            assert not checking.done()
        assert checking.result().status_code == 201


def test_checks_that_are_waited_for_hold_no_thread(sqlite_house: House, tmp_path: Path) -> None:
    """Few answers that take long would keep everyone else from being answered."""
    many = sqlite_house.running.threads + 1
    with ThreadPoolExecutor(many) as threads:
        with busy(PROCESSES.judging, tmp_path):
            checking = [threads.submit(submitted, sqlite_house) for _ in range(many)]
            assert sqlite_house.get("/api/v1/ledgers").status_code == 200
            assert sqlite_house.get("/readyz").status_code == 200
            assert not any(one.done() for one in checking)
        assert {one.result().status_code for one in checking} == {201}


def test_a_check_is_waited_for_without_a_thread_and_goes_on_after(
    sqlite_house: House, tmp_path: Path
) -> None:
    ledgers = sqlite_house.workspace.ledgers
    with busy(PROCESSES.judging, tmp_path):
        started = ledgers.begin(TEXT, judges=["quote"])
        assert not asyncio.run(is_judged(started, 0.01))
        assert not started.wait(0.01)
    assert asyncio.run(is_judged(started, 60))
    assert started.wait()
    assert ledgers.finish(started).entries[0].verdict == "supported"


def test_a_check_without_processes_is_judged_when_it_is_waited_for(sqlite_house: House) -> None:
    sqlite_house.running.opened.judging = None
    started = sqlite_house.workspace.ledgers.begin(TEXT, judges=["quote"])
    assert asyncio.run(is_judged(started, 0))
    assert not started.cancel()
    assert sqlite_house.workspace.ledgers.finish(started).entries[0].verdict == "supported"


def test_a_check_that_waits_can_be_given_up(sqlite_house: House, tmp_path: Path) -> None:
    with busy(PROCESSES.judging, tmp_path):
        started = sqlite_house.workspace.ledgers.begin(TEXT, judges=["quote"])
        assert started.cancel()


def test_where_too_many_answers_wait_the_server_says_when_to_try_again(
    sqlite_house: House, tmp_path: Path
) -> None:
    with TaskWorkers(1, Limits(2**30), most_waiting=0) as one, busy(one, tmp_path):
        sqlite_house.running.opened.judging = one
        with pytest.raises(BusyError):
            sqlite_house.workspace.ledgers.begin(TEXT, judges=["quote"])
        refused = submitted(sqlite_house)
    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "5"
    assert "try again in a few seconds" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (WorkerEndedError(-11), 503, "The server cannot do this now"),
        (WorkerEndedError(1, is_unready=True), 503, "The server cannot do this now"),
        (WorkerEndedError(-9, took_too_long=True), 422, "took too long, and was stopped: check it"),
        (WorkerEndedError(OUT_OF_MEMORY), 422, "needed more memory than it may have: check it"),
    ],
    ids=["crashed", "not started", "too long", "too much"],
)
def test_a_process_that_ends_fails_its_own_check_and_says_why(
    sqlite_house: House, error: WorkerEndedError, status: int, said: str
) -> None:
    size = sqlite_house.workspace.trail.size
    sqlite_house.running.opened.judging = Elsewhere(raising(error))
    refused = submitted(sqlite_house)
    assert (refused.status_code, said in refused.json()["detail"]) == (status, True)
    assert sqlite_house.workspace.trail.size == size


def test_a_check_is_finished_by_whoever_began_it(sqlite_house: House) -> None:
    workspace = sqlite_house.workspace
    started = sqlite_house.running.opened.for_("default", "approver").ledgers.begin(
        TEXT, judges=["quote"]
    )
    with pytest.raises(AccessError, match="whoever began it finishes it"):
        workspace.ledgers.finish(started)


def test_what_is_judged_elsewhere_is_what_is_judged_here(sqlite_house: House) -> None:
    workspace = sqlite_house.workspace
    elsewhere = workspace.check(TEXT)
    sqlite_house.running.opened.judging = None
    here = workspace.check(TEXT)
    assert here.session.judges == elsewhere.session.judges
    said = [
        [entry.model_dump(exclude={"id"}) for entry in one.entries] for one in (here, elsewhere)
    ]
    assert said[0] == said[1]
    assert workspace.ledgers.audit() == []

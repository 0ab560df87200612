"""Jobs go on: after a kill, after a stop, in another process; and nothing is recorded twice."""

import base64
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from evidentia.access.actions import Action, Authorizer, Role
from evidentia.errors import InputError, UndecidedError
from evidentia.jobs import queue
from evidentia.jobs.runner import Runner
from evidentia.jobs.work import DOING, Kind, Lost, Work, batches
from evidentia.store import listing
from evidentia.store.database import Database
from evidentia.store.sql import jobs as rows
from evidentia.trail.entry import EntryKind
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.jobs import Job
from evidentia.workspace.opened import Opened
from jobs.runs import PACE
from places import Place
from postgres import PostgresServer

SECONDS = 60.0


def asked(count: int) -> list[dict[str, Any]]:
    return [
        {"answer": f"Leave has {number} days.", "judges": ["quote"], "contexts": ["Leave."]}
        for number in range(count)
    ]


def until(holds: Callable[[], Any]) -> Any:
    """Wait until something holds; return it."""
    ends = time.monotonic() + SECONDS
    while not (found := holds()):
        assert time.monotonic() < ends
        time.sleep(0.02)
    return found


def ended(workspace: Workspace, job: Job) -> Job:
    def look() -> Job | None:
        found = workspace.jobs.get(job.id)
        return found if found.has_ended else None

    found: Job = until(look)
    return found


@pytest.fixture
def begin(place: Place) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Give what starts another process that does jobs."""
    started: list[subprocess.Popen[bytes]] = []

    def begin() -> subprocess.Popen[bytes]:
        script = Path(__file__).with_name("runs.py")
        command = [sys.executable, str(script), str(place.home.folder), place.url or ""]
        process = subprocess.Popen(command)
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()


def recorded(workspace: Workspace) -> Counter[str]:
    """Return how many entries of the trail there are of each answer's session."""
    found = [one for one in workspace.trail.entries() if one.entry.kind == EntryKind.LEDGER]
    return Counter(workspace.ledgers.get(one.entry.subject).session.answer for one in found)


def test_the_jobs_of_a_process_that_was_killed_are_gone_on_with_by_another(
    place: Place, begin: Callable[[], subprocess.Popen[bytes]]
) -> None:
    """Each answer is recorded once, whatever was begun when the first one was killed."""
    workspace, first, answers = place.open(), begin(), asked(25)
    job = workspace.jobs.start("checks", {}, total=len(answers), files=batches(answers))
    until(lambda: workspace.jobs.get(job.id).row.done >= 3)
    first.kill()
    first.wait()
    behind = workspace.jobs.get(job.id).row.done
    assert behind < len(answers), "it was killed in the middle"
    begin()
    found = ended(workspace, job)
    assert (found.state, found.row.done) == ("done", len(answers)), found.problem
    assert [one["number"] for one in found.result["results"]] == list(range(1, len(answers) + 1))
    assert recorded(workspace) == Counter(one["answer"] for one in answers)
    numbers = [one.number for one in workspace.jobs.events(job.id)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_process_that_is_stopped_gives_its_job_back(
    place: Place, begin: Callable[[], subprocess.Popen[bytes]]
) -> None:
    workspace, first, answers = place.open(), begin(), asked(25)
    job = workspace.jobs.start("checks", {}, total=len(answers), files=batches(answers))
    until(lambda: workspace.jobs.get(job.id).row.done >= 3)
    first.send_signal(signal.SIGTERM)
    assert first.wait(SECONDS) == 0
    left = workspace.jobs.get(job.id)
    assert (left.state, left.row.runner) == ("queued", None), "no one's, at once"
    begin()
    assert ended(workspace, job).state == "done"
    assert recorded(workspace) == Counter(one["answer"] for one in answers)
    assert not [one for one in psutil.Process().children() if one.pid == first.pid]


@pytest.fixture
def runner(place: Place) -> Iterator[Runner]:
    found = Runner(place.open().opened, pace=PACE)
    found.start()
    yield found
    found.close()


def test_what_was_recorded_and_not_noted_is_not_recorded_again(place: Place) -> None:
    """As after a kill between the two."""
    workspace, answers = place.open(), asked(3)
    job = workspace.jobs.start("checks", {}, total=3, files=batches(answers))
    opened = workspace.opened
    with opened.database.of("default").write() as connection:
        row = rows.find(connection, ("default", job.id), held=True)
        assert row is not None
        rows.give_to(connection, row, "run_gone")
    killed = Work(opened, "run_gone", workspace.jobs.get(job.id))
    ledger = killed.workspace(2).ledgers.check(
        answers[1]["answer"], judges=["quote"], contexts=["Leave."]
    )
    runner = Runner(opened, pace=PACE)
    runner.start()
    found = ended(workspace, job)
    runner.close()
    assert found.result["results"][1]["ledger_id"] == ledger.id
    assert recorded(workspace) == Counter(one["answer"] for one in answers)


def test_a_runner_that_lost_its_job_records_nothing_more(place: Place) -> None:
    workspace = place.open()
    job = workspace.jobs.start("checks", {}, total=1, files=batches(asked(1)), runner="run_a")
    lost = Work(workspace.opened, "run_a", job)
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        rows.give_to(connection, job.row, "run_b")
    with pytest.raises(Lost):
        lost.workspace(1).ledgers.check("It is so.", judges=["quote"], contexts=["It is so."])
    with pytest.raises(Lost):
        lost.note(1, {})
    assert recorded(workspace) == Counter()


def test_a_job_that_runs_is_cancelled_before_its_next_step(
    place: Place, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, goes_on = threading.Event(), threading.Event()

    def part(_: Work, number: int) -> None:
        begun.set()
        assert number == 0
        goes_on.wait(SECONDS)

    monkeypatch.setitem(DOING, "sweep", Kind(lambda _: 2, part, lambda _: None))
    workspace = place.open()
    job = workspace.jobs.start("sweep", {"dry_run": True})
    begun.wait(SECONDS)
    assert workspace.jobs.cancel(job.id).state == "running"
    goes_on.set()
    assert ended(workspace, job).state == "cancelled"
    assert runner.problem is None


class Away(Authorizer):
    """Stands in for an OpenFGA that allows all, and does not answer while it is away."""

    def __init__(self) -> None:
        self.is_away = False
        self.unanswered: list[tuple[str, Action, str]] = []

    def may(self, user: str, action: Action, on: str) -> bool:
        if self.is_away:
            self.unanswered.append((user, action, on))
            raise UndecidedError("OpenFGA answered 503: denied")
        return user == "ann"


def a_users_job(opened: Opened, outside: Authorizer) -> tuple[Workspace, Job]:
    workspace = opened.for_("default")
    workspace.access.grant("ann", Role.APPROVER)
    opened.authorizer = outside
    answers = asked(12)
    ann = workspace.acting_as("ann")
    return workspace, ann.jobs.start("checks", {}, total=len(answers), files=batches(answers))


@pytest.mark.sqlite_suffices
def test_a_job_waits_while_no_one_says_whether_it_may_go_on(runner: Runner) -> None:
    outside = Away()
    workspace, job = a_users_job(runner._opened, outside)
    until(lambda: workspace.jobs.get(job.id).row.done >= 2)
    outside.is_away = True
    until(lambda: len(outside.unanswered) >= 3 or workspace.jobs.get(job.id).has_ended)
    assert workspace.jobs.get(job.id).state == "running"
    outside.is_away = False
    found = ended(workspace, job)
    assert (found.state, found.row.done) == ("done", 12), found.problem
    assert not [one for one in found.result["results"] if one["problem"]]
    assert set(recorded(workspace).values()) == {1}


@pytest.mark.sqlite_suffices
@pytest.mark.parametrize(("undecided", "state"), [(SECONDS, "cancelled"), (0.5, "failed")])
def test_a_job_that_no_one_decides_on_can_be_cancelled_and_ends_at_last(
    place: Place, undecided: float, state: str
) -> None:
    outside, opened = Away(), place.open().opened
    workspace, job = a_users_job(opened, outside)
    outside.is_away = True
    runner = Runner(opened, pace=replace(PACE, undecided=undecided))
    runner.start()
    if state == "cancelled":
        until(lambda: len(outside.unanswered) >= 2 or workspace.jobs.get(job.id).has_ended)
        workspace.jobs.cancel(job.id)
    found = ended(workspace, job)
    runner.close()
    assert found.state == state
    if state == "failed":
        said = {"error": "UndecidedError", "detail": "OpenFGA answered 503: denied"}
        assert found.problem == said


def test_what_no_one_foresaw_ends_a_job_and_not_the_others(
    place: Place, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def part(_: Work, __: int) -> None:
        raise RuntimeError("a secret of the machine")

    monkeypatch.setitem(DOING, "sweep", Kind(lambda _: 1, part, lambda _: None))
    workspace = place.open()
    found = ended(workspace, workspace.jobs.start("sweep", {"dry_run": True}))
    assert (found.state, found.problem) == (
        "failed",
        {
            "error": "EnvironmentProblem",
            "detail": "it ended with RuntimeError: see the server's log",
        },
    )
    assert ended(workspace, workspace.jobs.start("audit", {"quick": True})).state == "done"
    assert runner.is_working


def queued(place: Place) -> list[tuple[Any, ...]]:
    """Return all that DBOS has written down, in all of its tables."""
    if place.url is None:
        with closing(sqlite3.connect(place.home.folder / queue.FILE)) as found:
            sql = "SELECT name FROM sqlite_master WHERE type = 'table'"
            names = [name for (name,) in found.execute(sql).fetchall()]
            return [row for name in names for row in found.execute(f"SELECT * FROM {name}")]
    with psycopg.connect(place.url) as connection:
        sql = "SELECT tablename FROM pg_tables WHERE schemaname = %s"
        names = [name for (name,) in connection.execute(sql, (queue.SCHEMA,)).fetchall()]
        return [
            row
            for name in names
            for row in connection.execute(f"SELECT * FROM {queue.SCHEMA}.{name}".encode())
        ]


def test_why_a_job_failed_is_written_down_for_its_tenant_alone(
    place: Place, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue is of all tenants, and no wall is in it."""

    def part(_: Work, number: int) -> None:
        if number:
            raise InputError("document 'merger with Contoso.pdf': page 3 cannot be read")

    monkeypatch.setitem(DOING, "sweep", Kind(lambda _: 2, part, lambda _: None))
    workspace = place.open()
    job = workspace.jobs.start("sweep", {"dry_run": True})
    found = ended(workspace, job)
    assert found.problem is not None
    assert "merger with Contoso" in found.problem["detail"]
    assert runner.is_working
    until(lambda: any("SUCCESS" in map(str, row) for row in queued(place)))
    written = [str(value) for row in queued(place) for value in row]
    assert any(job.id in one for one in written)
    for one in written:
        with suppress(ValueError):
            one += str(base64.b64decode(one, validate=True))  # noqa: PLW2901 - as it is unpacked
        assert "Contoso" not in one


def test_a_role_that_may_make_no_tables_does_jobs_once_the_owner_made_them(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    with postgres.fresh_database() as url, postgres.fresh_role(url) as (role, as_role):
        owner = Database.server(url)
        listing.grant(owner, role)
        queue.migrate(owner, role)
        owner.close()
        with open_workspace(as_role, home=tmp_path) as workspace:
            assert not workspace.opened.database.of(workspace.tenant).ask(
                rows.may_make_schema, queue.SCHEMA
            )
            runner = Runner(workspace.opened, pace=PACE)
            runner.start()
            job = workspace.jobs.start("checks", {}, total=2, files=batches(asked(2)))
            assert ended(workspace, job).state == "done"
            runner.close()

"""Has the jobs of a workspace done, a few at once, and takes over those of runners that are gone.

Nothing is begun before there is a job: DBOS takes half a second and 30 MB to load. A process has
one runner that works at a time, since DBOS is one for each process.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, Literal

from evidentia.errors import EnvironmentProblem, EvidentiaError, UndecidedError, UsageError
from evidentia.jobs.queue import Queue
from evidentia.jobs.work import DOING, Cancelled, Kind, Lost, Work
from evidentia.logs import get_logger
from evidentia.store.database import unhurried
from evidentia.store.sql import across
from evidentia.store.sql import jobs as rows
from evidentia.store.sql.jobs import CANCELLED, DONE, FAILED, QUEUED, RUNNING, Change, Named
from evidentia.times import utc_text
from evidentia.workspace.jobs import Job

if TYPE_CHECKING:
    from evidentia.workspace.opened import Opened

KEPT_DAYS: Final = 30
"""How long a job that has ended can be looked at."""
FILES_KEPT_SECONDS: Final = 3_600
"""How long the files are kept that a job made: links to them end sooner."""
_TIDIED_SECONDS: Final = 600.0
_TRIED_AGAIN_SECONDS: Final = 10.0
_LONGEST: Final = 2_000
_EXPORTS: Final = frozenset({"ledger_export", "pack_export"})
_log = get_logger("jobs")


class GivenBack(BaseException):
    """Ends what is done of a job here, so that another runner goes on with it.

    It is no error: those DBOS writes down, and the job would have ended.
    """


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a runner looks, in seconds, and after how long without a sign it counts as gone."""

    looks: float = 2.0
    renews: float = 5.0
    lapses: int = 20
    ends: float = 20.0
    """How long one that is stopped waits for the parts that it is in."""
    undecided: float = 600.0
    """How long a part is begun again where no one says whether it may be done."""


class Runner:
    """Has the jobs of what is opened done. Start it once; close it before what is opened.

    Where DBOS cannot be started, `problem` says why, jobs wait, and it is tried again. `kinds` says
    how jobs are done; those of other kinds are left to runners that know them.
    """

    def __init__(
        self,
        opened: "Opened",
        *,
        at_once: int = 2,
        pace: Pace | None = None,
        kinds: Mapping[str, Kind] = DOING,
    ) -> None:
        self.id = f"run_{token_hex(8)}"
        self.at_once = at_once
        self.problem: str | None = None
        self._opened = opened
        self._pace = pace or Pace()
        self._kinds = kinds
        self._queue: Queue | None = None
        self._stop, self._wake = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._here: dict[str, threading.Event] = {}
        self._renewed = self._tidied = 0.0

    @property
    def state(self) -> Literal["ready", "waiting", "elsewhere"]:
        """Whether jobs are done here: `waiting` if they cannot be, `elsewhere` if others do."""
        if not self.at_once:
            return "elsewhere"
        return "ready" if self.problem is None else "waiting"

    @property
    def is_working(self) -> bool:
        """Whether DBOS runs here."""
        return self._queue is not None

    def start(self) -> None:
        """Begin to look for jobs, in a thread; one that does none at once leaves them to others."""
        if not self.at_once:
            return
        self._thread = threading.Thread(target=self._look, name="evidentia-jobs", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Look at once: there is a new job."""
        self._wake.set()

    def close(self) -> None:
        """Begin nothing more, wait a while for the parts that are being done, give the rest back.

        What is given back goes on where it was, in another process.
        """
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(self._pace.ends)
        ends = time.monotonic() + self._pace.ends
        for left in list(self._here.values()):
            left.wait(max(0.0, ends - time.monotonic()))
        if self._queue is not None:
            self._queue.close()
            self._queue = None
        if self._renewed:
            with suppress(EvidentiaError):
                self._leave()

    def _leave(self) -> None:
        """Note that what this runner had is no one's, and that it has ended."""
        database = self._opened.database
        for one in database.ask(across.open_jobs):
            if one.runner == self.id:
                with database.of(one.tenant).write() as connection:
                    row = rows.find(connection, (one.tenant, one.id), held=True)
                    if row is not None and row.runner == self.id:
                        rows.give_to(connection, row, None)
        with database.write() as connection:
            rows.leave(connection, self.id)

    # Looking

    def _look(self) -> None:
        waits = self._pace.looks
        while not self._stop.is_set():
            try:
                self._look_once()
                waits = self._pace.looks
            except UsageError:  # it was closed
                return
            except Exception as error:  # noqa: BLE001 - whatever it is: jobs wait, and it is tried again
                if self.problem is None:
                    _log.error("jobs_waiting", reason=f"{type(error).__name__}: {error}")
                self.problem, waits = str(error)[:_LONGEST], _TRIED_AGAIN_SECONDS
            self._wake.wait(waits)
            self._wake.clear()

    def _look_once(self) -> None:
        database = self._opened.database
        self._tidy()
        if self._queue is None and self._here:
            self._renew()
        if self._queue is None and all(
            row.runner == self.id for row in database.ask(across.open_jobs)
        ):
            self.problem = None
            return
        with self._lock:
            if self._queue is None and self._stop.is_set():
                return
            if self._queue is None:
                self._renew(now=True)
                self._queue = Queue.launched(self._opened, self.id, self.at_once, self._do)
        self._renew()
        self.problem = None
        with database.read() as connection:
            waiting = across.open_jobs(connection)
            alive = rows.living(connection, self._pace.lapses)
        self._queue.adopt(alive)
        for row in waiting:
            is_left = row.state == RUNNING and row.runner not in alive
            if row.kind in self._kinds and (is_left or row.state != RUNNING):
                self._queue.add((row.tenant, row.id), again=is_left)

    def _renew(self, *, now: bool = False) -> None:
        if now or time.monotonic() - self._renewed >= self._pace.renews:
            with self._opened.database.write() as connection:
                rows.renew(connection, self.id)
            self._renewed = time.monotonic()

    def _tidy(self) -> None:
        """Now and then, remove jobs that ended long ago, and files that no one fetches."""
        if self._tidied and time.monotonic() - self._tidied < _TIDIED_SECONDS:
            return
        self._tidied = time.monotonic()
        opened = self._opened
        before = datetime.fromisoformat(opened.now()) - timedelta(days=KEPT_DAYS)
        for named in opened.database.ask(across.jobs_ended, utc_text(before)):
            with opened.database.of(named[0]).write() as connection:
                rows.forget(connection, named)
        files = opened.job_files
        for named in files.older(FILES_KEPT_SECONDS):
            row = opened.database.of(named[0]).ask(rows.find, named)
            if row is None or row.has_ended:
                files.remove(*named)

    # Checks that someone waited for

    def hold(self, work: Work) -> None:
        """Renew also for a job that is done here without the queue."""
        self._here[work.job.id] = threading.Event()
        self._renewed = time.monotonic()
        self.wake()

    def end_held(self, work: Work, error: BaseException | None) -> None:
        """Write down how a job ended that was done here without the queue."""
        try:
            match error:  # while it stops, an error may be of that: another server does it again
                case None:
                    self._end(work, DONE, result=self._kinds[work.job.kind].result(work))
                case Lost():
                    pass
                case Cancelled():
                    self._end(work, CANCELLED)
                case EvidentiaError() if not self._stop.is_set():
                    self._fail(work, error)
                case Exception() if not self._stop.is_set():
                    self._fail(work, _unforeseen(work, error))
        finally:
            self._here.pop(work.job.id, threading.Event()).set()

    # Doing

    def _do(self, named: Named, step: Callable[[str, Callable[[], None]], None]) -> None:
        """Do a job; `step` does a part of it, unless that was done before."""
        left = self._here[named[1]] = threading.Event()
        try:
            work = self._claimed(named)
            if work is not None:
                self._done(work, step)
        except GivenBack:
            self._give_back(named)
            raise
        finally:
            left.set()
            self._here.pop(named[1], None)

    def _give_back(self, named: Named) -> None:
        """Note that a job waits again, for whoever takes it."""
        with suppress(EvidentiaError), self._opened.database.of(named[0]).write() as connection:
            row = rows.find(connection, named, held=True)
            if row is not None and row.runner == self.id and not row.has_ended:
                rows.give_to(connection, row, None)
                rows.change(connection, row, Change(state=QUEUED), self._opened.now())

    def _claimed(self, named: Named) -> Work | None:
        """Take a job; None if it has ended, or a runner that lives has it."""
        with self._opened.database.of(named[0]).write() as connection:
            row = rows.find(connection, named, held=True)
            if row is None or row.has_ended:
                return None
            others = rows.living(connection, self._pace.lapses) - {self.id}
            if row.state == RUNNING and row.runner in others:
                return None
            rows.renew(connection, self.id)
            rows.give_to(connection, row, self.id)
            row = rows.change(connection, row, Change(state=RUNNING), self._opened.now())
        return Work(self._opened, self.id, Job(row))

    def _done(self, work: Work, step: Callable[[str, Callable[[], None]], None]) -> None:
        job, kind = work.job, self._kinds[work.job.kind]
        try:
            for part in range(kind.parts(work)):
                self._go_on(work)
                step(f"{job.kind}.{part}", lambda part=part: self._apart(work, part))  # type: ignore[misc]  # bound now
            self._end(work, DONE, result=kind.result(work))
        except Lost:
            _log.info("job_lost", tenant=job.row.tenant, job=job.id)
        except Cancelled:
            self._end(work, CANCELLED)
        except UsageError as error:
            if self._stop.is_set():
                raise GivenBack from error
            self._fail(work, error)
        except EvidentiaError as error:
            self._fail(work, error)
        except Exception as error:  # noqa: BLE001 - one job's trouble is not the others'
            self._fail(work, _unforeseen(work, error))

    def _go_on(self, work: Work) -> None:
        """Raise unless the next part is to be done here."""
        if self._stop.is_set():
            raise GivenBack
        work.go_on()

    def _apart(self, work: Work, part: int) -> None:
        """Do a part in a thread that this process does not wait for when it ends."""
        raised: list[BaseException] = []
        done = threading.Event()

        def doing() -> None:
            try:
                with unhurried():
                    self._decided(work, part)
            except BaseException as error:  # noqa: BLE001 - it is raised below
                raised.append(error)
            finally:
                done.set()

        threading.Thread(target=doing, name=f"evidentia-{work.job.id}", daemon=True).start()
        stopped: float | None = None
        while not done.wait(0.2):
            if self._stop.is_set():
                stopped = stopped or time.monotonic()
                if time.monotonic() - stopped > self._pace.ends / 2:
                    raise GivenBack
        if raised:
            raise raised[0]

    def _decided(self, work: Work, part: int) -> None:
        """Do a part; while whoever decides does not answer, wait, and begin it again."""
        ends = time.monotonic() + self._pace.undecided
        while True:
            try:
                return self._kinds[work.job.kind].do(work, part)
            except UndecidedError as error:
                if time.monotonic() > ends or self._stop.wait(self._pace.looks):
                    raise
                _log.warning("job_undecided", job=work.job.id, reason=str(error))
                work.go_on()

    def _fail(self, work: Work, error: EvidentiaError) -> None:
        problem = {"error": type(error).__name__, "detail": str(error)[:_LONGEST]}
        _log.warning("job_ended", tenant=work.job.row.tenant, job=work.job.id, **problem)
        self._end(work, FAILED, problem=problem)

    def _end(
        self,
        work: Work,
        state: str,
        *,
        result: Any = None,
        problem: dict[str, str] | None = None,
    ) -> None:
        """Write down how a job ended, and remove what it was given to work on."""
        change = Change(
            state=state,
            done=work.row().total  # type: ignore[union-attr]
            if state == DONE
            else None,
            result=None if result is None else json.dumps(result, ensure_ascii=False),
            problem=None if problem is None else json.dumps(problem, ensure_ascii=False),
        )
        with suppress(Lost):
            work.tell(change)
            if state != DONE or work.job.kind not in _EXPORTS:
                work.files.remove(*work.named)


def _unforeseen(work: Work, error: Exception) -> EnvironmentProblem:
    said = f"{type(error).__name__}: {error}"
    _log.error("job_failed", tenant=work.job.row.tenant, job=work.job.id, error=said)
    return EnvironmentProblem(f"it ended with {type(error).__name__}: see the server's log")

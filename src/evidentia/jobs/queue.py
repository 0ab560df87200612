"""DBOS Transact: the queue of jobs, which parts of each are done, and who is to go on with one.

Its tables are in a file of their own beside the embedded database (`jobs.db`), and in a schema of
their own on PostgreSQL.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from evidentia.errors import EnvironmentProblem, EvidentiaError
from evidentia.store.sql.jobs import Named

if TYPE_CHECKING:
    from evidentia.store.database import Database
    from evidentia.workspace.opened import Opened

SCHEMA: Final = "evidentia_jobs"
FILE: Final = "jobs.db"
_QUEUE: Final = "evidentia_jobs"
_APPLICATION: Final = "evidentia"
_VERSION: Final = "1"
"""Of how jobs are divided into parts: one that another version began is not gone on with."""
_POLLED_SECONDS: Final = 0.1
_MORE_THREADS: Final = 6
_THERE: Final = frozenset({"ENQUEUED", "DELAYED", "PENDING"})

Step = Callable[[str, Callable[[], None]], None]
Do = Callable[[Named, Step], None]

_one_at_a_time = threading.Lock()
_doing: Do | None = None
_registered: Any = None


class Queue:
    """The queue of a process that runs jobs; a process has one at a time."""

    def __init__(self, dbos: Any) -> None:
        self._dbos = dbos
        self._added: set[Named] = set()

    @classmethod
    def launched(cls, opened: "Opened", runner: str, at_once: int, do: Do) -> "Queue":
        """Start DBOS; `do` is called, in a thread, for each job whose turn it is."""
        global _doing  # noqa: PLW0603 - DBOS is one for each process, and so is what it calls
        try:
            from dbos import DBOS  # noqa: PLC0415 - takes half a second
        except ImportError as error:
            raise EnvironmentProblem(
                f"jobs need more packages ({error.name}): pip install 'evidentia[server]'"
            ) from None
        if not _one_at_a_time.acquire(timeout=60):
            raise EnvironmentProblem("this process runs the jobs of another workspace already")
        try:
            _register(DBOS)
            _doing = do
            DBOS(
                config={
                    "name": _APPLICATION,
                    "system_database_url": url_of(opened.database, opened.home.folder / FILE),
                    "dbos_system_schema": SCHEMA,
                    "executor_id": runner,
                    "application_version": _VERSION,
                    "run_migrations": opened.database.is_sqlite or _may_migrate(opened.database),
                    "sys_db_pool_size": at_once + 3,
                    "max_executor_threads": at_once + _MORE_THREADS,
                    "scheduler_polling_interval_sec": 3_600.0,
                    "log_level": "CRITICAL",
                }
            )
            DBOS.launch()
            DBOS.register_queue(
                _QUEUE, worker_concurrency=at_once, polling_interval_sec=_POLLED_SECONDS
            )
        except Exception as error:
            DBOS.destroy()
            _one_at_a_time.release()
            raise EnvironmentProblem(f"jobs cannot be run: {error}") from error
        return cls(DBOS)

    def add(self, named: Named, *, again: bool = False) -> None:
        """Have a job done, unless it is in the queue already, of this process or another.

        `again` looks whether it still is there: one that was left before its end is added anew.
        """
        if named in self._added and not again:
            return
        from dbos import SetWorkflowID  # noqa: PLC0415 - as above

        tries = 1
        while (known := self._dbos.get_workflow_status(_name(named, tries))) is not None:
            if known.status in _THERE:
                break
            tries += 1
        else:
            with SetWorkflowID(_name(named, tries)):
                self._dbos.enqueue_workflow(_QUEUE, _registered, *named)
        self._added.add(named)

    def adopt(self, alive: set[str]) -> None:
        """Put back into the queue what runners had begun that do not live any more."""
        begun = self._dbos.list_workflows(status="PENDING", load_input=False, load_output=False)
        gone = sorted({one.executor_id for one in begun if one.executor_id not in alive})
        if gone:
            self._dbos._recover_pending_workflows(gone)  # noqa: SLF001 - its own service calls it so

    def close(self) -> None:
        """Stop: what runs is to have ended, or is given back."""
        self._dbos.destroy()
        _one_at_a_time.release()


def url_of(database: "Database", file: Any) -> str:
    """Return where DBOS keeps its tables."""
    return f"sqlite:///{file.absolute()}" if database.is_sqlite else database.address


def migrate(database: "Database", role: str | None = None) -> None:
    """Make or bring up to date the tables on PostgreSQL, and let a role use them.

    They have no tenants' rows but ids of jobs, and row-level security is not theirs.
    """
    from dbos import DBOS  # noqa: PLC0415 - as above

    try:
        with database.translated():
            DBOS.migrate(database.address, schema=SCHEMA, application_role=role)
    except EvidentiaError as error:
        raise EnvironmentProblem(
            f"the tables of the queue of jobs cannot be made: {error}"
        ) from error


def _may_migrate(database: "Database") -> bool:
    """Whether the role that connects may make the tables: else `evidentia db upgrade` did."""
    from evidentia.store.sql.jobs import may_make_schema  # noqa: PLC0415 - PostgreSQL alone

    return database.ask(may_make_schema, SCHEMA)


def _name(named: Named, tries: int) -> str:
    return "/".join((*named, str(tries)))


def _register(dbos: Any) -> None:
    """Tell DBOS, once, what a job is."""
    global _registered  # noqa: PLW0603 - as above
    if _registered is None:
        _registered = dbos.workflow(name="evidentia_job")(_job)


def _job(tenant: str, job_id: str) -> None:
    if _doing is None:
        raise EnvironmentProblem("no runner is there")
    _doing((tenant, job_id), _step)


class _Ended(BaseException):
    """Ends a part that failed. DBOS writes errors down, where no wall between tenants is."""


def _step(name: str, part: Callable[[], None]) -> None:
    """Do a part, unless it was done before; one that fails is not done."""
    from dbos import DBOS  # noqa: PLC0415 - as above

    raised: list[Exception] = []

    def unwritten() -> None:
        try:
            part()
        except Exception as error:
            raised.append(error)
            raise _Ended from error

    try:
        DBOS.run_step({"name": name}, unwritten)
    except _Ended:
        raise raised[0] from None

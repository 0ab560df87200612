"""A check that someone waits for, and that goes on as a job if it takes too long.

Until then it is a check like others. Then its job is written down, so that another server does it
again if this one ends; it is recorded by one of them alone.
"""

import json
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection

from evidentia.errors import EvidentiaError
from evidentia.jobs.runner import Runner
from evidentia.jobs.work import Work, answer_outcome, check_asked

if TYPE_CHECKING:
    from evidentia.workspace import Workspace
    from evidentia.workspace.jobs import Job
    from evidentia.workspace.ledgers import RecordedLedger
    from evidentia.workspace.recorded import Progress

_LOOKS_AGAIN_SECONDS: Final = 0.5


class WaitedCheck:
    """A check of one answer, in a thread of its own."""

    def __init__(self, runner: Runner, workspace: "Workspace", asked: Mapping[str, Any]) -> None:
        self._runner, self._workspace, self._asked = runner, workspace, asked
        self._recording, self._is_recording = threading.Lock(), False
        self._work: Work | None = None
        self._told: Progress | None = None
        self._going_on: threading.Semaphore | None = None
        self._ended = threading.Event()
        self._ledger: RecordedLedger | None = None
        self._error: BaseException | None = None
        threading.Thread(target=self._check, name="evidentia-check", daemon=True).start()

    def result(self, seconds: float, going_on: threading.Semaphore) -> "RecordedLedger | Job":
        """Return the ledger, or the job that goes on if it is not there after so many seconds.

        Raise what the check raised. `going_on` says how many may go on at once: where there are as
        many already, it is waited for longer.
        """
        is_there = self._ended.wait(seconds)
        while not is_there:
            if going_on.acquire(blocking=False):
                with self._recording:  # whoever records now is waited for: it is all but done
                    if not self._ended.is_set():
                        self._going_on = going_on
                        return self._go_on().job
                going_on.release()
            is_there = self._ended.wait(_LOOKS_AGAIN_SECONDS)
        if self._error is not None:
            raise self._error
        assert self._ledger is not None  # noqa: S101 - it ended without an error
        return self._ledger

    def _go_on(self) -> Work:
        runner, workspace = self._runner, self._workspace
        job = workspace.jobs.start(
            "check", {}, files=[json.dumps(dict(self._asked)).encode()], runner=runner.id
        )
        work = Work(workspace.opened, runner.id, job)
        runner.hold(work)
        self._work, self._told = work, work.progress()
        return work

    def _check(self) -> None:
        raised: BaseException | None = None
        try:
            workspace = self._workspace.within(self._record)
            self._ledger = check_asked(workspace, self._asked, self._progress)
        except BaseException as error:  # noqa: BLE001 - whoever waits gets it
            raised = self._error = error
        finally:
            self._ended.set()
            if self._is_recording:
                self._recording.release()
        with self._recording:
            work = self._work
        if work is not None:
            self._end(work, raised)

    def _end(self, work: Work, raised: BaseException | None) -> None:
        try:
            if raised is None and self._ledger is not None:
                work.note(1, answer_outcome(1, self._ledger), counts=False)
            self._runner.end_held(work, raised)
        except EvidentiaError:  # the database is not there: another server does it again
            return
        finally:
            if self._going_on is not None:
                self._going_on.release()

    def _record(self, connection: Connection) -> None:
        """Let no job be made of it while it is recorded; if there is one, its entry is noted."""
        if not self._is_recording:
            self._recording.acquire()
            self._is_recording = True
        if self._work is not None:
            self._work.fence(connection, 1)

    def _progress(self, done: int, total: int) -> None:
        if self._told is not None:
            self._told(done, total)

"""The recorder: what a framework's callbacks tell of a running program, recorded in the background.

Two lines in a program: make a `Recorder`, and hand it to the framework's adapter. What is begun on
it is copied at once; a finished run waits in a queue until one background thread records it.

- **Nothing is raised into the host**, whatever it hands over: what could not be taken is a loss of
  the run, what could not be recorded is in `failures` and is logged once.
- **Any thread and any task** may call it. The current run and the current tool call are context
  variables: tasks take them along by themselves, threads by `contextvars.copy_context().run`.
- **Back-pressure**: at most `max_waiting` runs wait. One that finds no room is left out, counted,
  and told as a run of its own, `lost runs`, once there is room: so the trail says how many.
- **A host that dies** loses the runs that were open or waiting: nothing of them was stored. One
  that ends in order (also by an exception) has the open runs recorded, with the error
  `unfinished`, and the queue emptied, at most `closing_seconds` long.
"""

import atexit
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Lock, Thread
from time import monotonic
from types import TracebackType
from typing import Any, Final, Self
from weakref import WeakMethod

from pydantic import ValidationError

from evidentia.integrations.open_runs import OpenCall, OpenRun, problem_of, this_call, this_run
from evidentia.integrations.policy import RecordingPolicy
from evidentia.integrations.recording import USUAL, Recorded, record
from evidentia.integrations.run import Addendum, Loss, Run
from evidentia.logs import get_logger
from evidentia.times import utc_text
from evidentia.workspace import Workspace, open_workspace

CLOSING_SECONDS: Final = 30.0
_LOST: Final = "lost runs"
_MOST_FAILURES: Final = 100
_log = get_logger("integrations")


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that could not be recorded, or not all of it, and why."""

    run: str
    problem: str


class Recorder:
    """Records runs of a program in a workspace, given open or by its folder or URL.

    Use it as a context manager, or call `close`; a process that ends closes it as well. `clock`
    gives the time; by default it is the machine's.
    """

    def __init__(
        self,
        workspace: Workspace | str | Path | None = None,
        policy: RecordingPolicy = USUAL,
        *,
        clock: Callable[[], str] | None = None,
        closing_seconds: float = CLOSING_SECONDS,
    ) -> None:
        self.policy = policy
        self.closing_seconds = closing_seconds
        self.clock = clock or _now
        self._owned = not isinstance(workspace, Workspace)
        self._workspace = (
            workspace if isinstance(workspace, Workspace) else open_workspace(workspace)
        )
        self._changed = Condition(Lock())
        self._waiting: deque[Callable[[], Run | Addendum]] = deque()
        self._open: dict[int, OpenRun] = {}
        self._busy = False
        self._closed = False
        self._lost = 0
        self._failures: list[Failure] = []
        self._recorded: list[Recorded] = []
        self._thread: Thread | None = None
        close = WeakMethod(self.close)
        atexit.register(lambda: (found := close()) and found())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Runs

    def begin_run(
        self,
        name: str,
        *,
        query: Any = "",
        session: str | None = None,
        trace_id: str | None = None,
        agent: str | None = None,
    ) -> OpenRun:
        """Begin a run that ends with its `end`; it becomes current only by its `active`.

        Without a `trace_id` it has that of the current OpenTelemetry span, or one of its own.
        """
        run = OpenRun(self, name, query=query, session=session, trace_id=trace_id, agent=agent)
        with self._changed:
            self._open[id(run)] = run
        return run

    def run(
        self,
        name: str,
        *,
        query: Any = "",
        session: str | None = None,
        trace_id: str | None = None,
        agent: str | None = None,
    ) -> OpenRun:
        """Begin a run for `with`: it is the current one within, and ends with the block."""
        return self.begin_run(name, query=query, session=session, trace_id=trace_id, agent=agent)

    def current(self) -> OpenRun | None:
        """Return the run of this recorder that is current here; None outside of one."""
        run = this_run.get()
        return run if run is not None and run.recorder is self else None

    def record(self, run: Run | Addendum) -> None:
        """Have a finished run recorded, as one who reads traces makes it."""
        self.take(lambda: run)

    # Events of the current run; outside of one, a call is a run of its own

    def model(self, provider: str, model: str, messages: Any, **asked: Any) -> OpenCall:
        """Begin a request to a model, as `OpenRun.model` does."""
        return self._here(provider).model(provider, model, messages, **asked)

    def tool(self, name: str, arguments: Any, **asked: Any) -> OpenCall:
        """Begin a call of a tool, as `OpenRun.tool` does."""
        return self._here(name).tool(name, arguments, **asked)

    def retrieval(self, query: Any, **asked: Any) -> OpenCall:
        """Begin a question to a retriever, as `OpenRun.retrieval` does."""
        return self._here("retrieval").retrieval(query, **asked)

    def decision(self, decision: str, **weight: Any) -> None:
        """Say what the current run decided, as `OpenRun.decision` does."""
        run = self.current()
        if run is not None:
            run.decision(decision, **weight)
        else:
            self.failed("decision", "it was made outside of a run: make it within recorder.run(…)")

    def answer(self, text: Any, citations: Any = ()) -> None:
        """Say what the current run answered, as `OpenRun.answer` does."""
        run = self.current()
        if run is not None:
            run.answer(text, citations)
        else:
            self.failed("answer", "it was given outside of a run: give it within recorder.run(…)")

    def check(self, *, checked: bool = True) -> None:
        """Ask for the current run's answer to be checked, whatever the policy says."""
        run = self.current()
        if run is not None:
            run.check(checked=checked)

    def effect(
        self,
        *,
        action: str | None = None,
        side_effects: Any = (),
        name: str | None = None,
        arguments: Any = None,
    ) -> None:
        """Say, within a tool, what it really does; outside of a recorded call nothing happens."""
        call = this_call.get()
        if call is not None:
            call.did(action=action, side_effects=side_effects, name=name, arguments=arguments)

    def _here(self, name: str) -> OpenRun:
        run = self.current()
        return run if run is not None else self.begin_run(name).of_one_call()

    # What waits, and what became of it

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What could not be recorded, the newest hundred."""
        with self._changed:
            return tuple(self._failures)

    @property
    def recorded(self) -> tuple[Recorded, ...]:
        """What was made of the newest hundred runs."""
        with self._changed:
            return tuple(self._recorded)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until every finished run is recorded; return whether that came in time."""
        until = None if timeout is None else monotonic() + timeout
        with self._changed:
            while self._waiting or self._busy or self._lost:
                if not self._start():
                    return False
                left = None if until is None else until - monotonic()
                if left is not None and left <= 0:
                    return False
                self._changed.wait(left)
        return True

    def close(self) -> None:
        """End the runs that are open as unfinished, record what waits, and stop."""
        with self._changed:
            if self._closed:
                return
            still_open = list(self._open.values())
        for run in still_open:
            run.end(error="unfinished: the recorder was closed before the run ended")
        if not self.flush(self.closing_seconds):
            with self._changed:
                left = len(self._waiting) + self._lost + self._busy
            self.failed(_LOST, f"{left} runs were not recorded before the recorder was closed")
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(self.closing_seconds)
        if self._owned:
            self._workspace.close()

    def take(self, made: Callable[[], Run | Addendum]) -> bool:
        """Queue a run that is made in the background; return whether there was room."""
        with self._changed:
            if self._closed or len(self._waiting) >= self.policy.max_waiting:
                self._lost += 1
                return False
            self._waiting.append(made)
            self._start()
            self._changed.notify_all()
        return True

    def ended(self, run: OpenRun) -> None:
        """Forget an open run, as it has ended."""
        with self._changed:
            self._open.pop(id(run), None)

    def failed(self, run: str, problem: str) -> None:
        """Note what could not be recorded; the log is told of the first."""
        with self._changed:
            first = not self._failures
            self._failures.append(Failure(run, problem))
            del self._failures[:-_MOST_FAILURES]
        if first:
            _log.warning("run_not_recorded", run=run, problem=problem)

    def _start(self) -> bool:
        """Start the background thread, unless it is there; a fork has none of its parent's.

        Return whether it is there: a process that ends, or has too many, starts no more threads.
        """
        if self._thread is None or not self._thread.is_alive():
            thread = Thread(target=self._work, name="evidentia-recorder", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # what waits is tried again with the next run
                return False
            self._thread = thread
        return True

    def _work(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                while not (self._waiting or self._lost or self._closed):
                    self._changed.wait()
                if self._waiting:
                    made = self._waiting.popleft()
                elif self._lost:
                    made = self._lost_runs()
                else:
                    return
                self._busy = True
            self._record(made)

    def _lost_runs(self) -> Callable[[], Run | Addendum]:
        """Return how the runs that found no room are told of, as a run that says so."""
        count, self._lost = self._lost, 0
        at = self.clock()
        loss = Loss(what="runs", why="queue_full", count=count)
        return lambda: Run(name=_LOST, started_at=at, ended_at=at, losses=[loss])

    def _record(self, made: Callable[[], Run | Addendum]) -> None:
        name = "a run"
        try:
            of = made()
            name = of.run_id
            done = record(self._workspace, of, self.policy)
        except ValidationError as error:  # its own words quote what was given
            self.failed(name, f"{type(error).__name__}: {problem_of(error)}")
            return
        except Exception as error:  # noqa: BLE001 - the host goes on, whatever recording meets
            self.failed(name, f"{type(error).__name__}: {error}")
            return
        with self._changed:
            self._recorded.append(done)
            del self._recorded[:-_MOST_FAILURES]
        for problem in done.problems:
            self.failed(name, problem)


def _now() -> str:
    from datetime import UTC, datetime  # noqa: PLC0415 - here alone

    return utc_text(datetime.now(UTC))  # noqa: TID251 - what a running program does has a time

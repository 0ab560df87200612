"""Worker processes: fresh interpreters that run one module and answer what they are asked.

Started as commands of their own, so that neither a caller's script is run again nor a caller's
threads are forked. Pipes carry pickles. A worker may have read a hostile file, so that its answers
are read as data: values of ours that only hold others, and never something that is called. It ends
with the process that asks, however that ends.
"""

import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import is_dataclass
from enum import Enum
from itertools import islice
from queue import SimpleQueue
from typing import IO, Any, Final, NamedTuple, NoReturn, Protocol, Self

from evidentia.errors import BusyError, EnvironmentProblem, EvidentiaError

TRIES: Final = 3
"""How often a question is asked whose worker ends, before that is its answer."""
_OUT_OF_TIME = {signal.SIGXCPU} if hasattr(signal, "SIGXCPU") else set()
"""What a system ends a process with that has computed for longer than it may."""
ONE_THREAD: Final = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""One thread for arithmetic in each worker: there are as many workers as cores."""
SETTINGS: Final = "EVIDENTIA_"
# Ctrl-C on a terminal is for the process that asks, which ends its workers.
_APART: Final[dict[str, Any]] = {"process_group": 0} if hasattr(os, "setpgid") else {}
_LOOK_SECONDS = 0.5
"""How often is looked for workers that take too long, or have had nothing to do for long."""
OUT_OF_MEMORY: Final = 77
"""The exit status of a worker that asked for more memory than it may have."""


class WorkerEndedError(Exception):
    """A worker ended before it had answered: it crashed, or took too long and was stopped.

    `is_unready` says that it had not even taken in what all are told first; `said` is how it ended,
    where that is known by no exit status.
    """

    def __init__(
        self,
        status: int,
        *,
        took_too_long: bool = False,
        is_unready: bool = False,
        said: str | None = None,
    ) -> None:
        super().__init__(said or f"exit status {status}")
        self.status = status
        self.said = said
        self.took_too_long = took_too_long
        self.is_unready = is_unready

    @property
    def is_beyond_limits(self) -> bool:
        """Whether it would have needed more time or memory than there is for a question."""
        return self.took_too_long or self.status == OUT_OF_MEMORY

    @property
    def why(self) -> str:
        """Say how it ended, in words that follow "it": "took too long", say."""
        if self.took_too_long:
            return "took too long, and was stopped"
        if self.status == OUT_OF_MEMORY:
            return "needed more memory than it may have"
        try:
            return f"crashed ({signal.Signals(-self.status).name})"
        except ValueError:
            return f"crashed ({self})"

    @property
    def how(self) -> str:
        """Say how its process ended, in words that stand alone."""
        try:
            return f"killed by {signal.Signals(-self.status).name}"
        except ValueError:
            return str(self)


class Apart(Protocol):
    """Runs functions in processes of their own; `jobs.processes` has what does.

    A function and its arguments go there as pickles, and what it returns comes back as plain
    values. `WorkerEndedError` is raised for one whose process ended, and `BusyError` where too much
    waits already, unless `patient`: for what goes on with something that was let in.
    """

    def submit(
        self, function: Callable[..., Any], *arguments: Any, seconds: float, patient: bool = False
    ) -> Future[Any]:
        """Run a function, for so long at most once it has begun; return its result to come."""


class Done(NamedTuple):
    """A question, its answer, and how often it was asked."""

    question: Any
    answer: Any
    tries: int


class Bulk(Protocol):
    """Has many pieces of work done, by workers that may be on other machines.

    `loading.pieces` has what starts processes here, and `jobs.ray_workers` what asks a Ray cluster.
    A piece whose worker ended is done again, `TRIES` times in all; then `WorkerEndedError` is its
    answer, and the others go on. So none is lost, and one that ends every worker ends nothing else.
    """

    is_elsewhere: bool
    """Whether workers may be on machines that have none of this one's folders."""

    def size(self) -> int:
        """Return how many pieces are done at once."""

    def run(
        self,
        ready: Callable[[Any], Callable[[Any], Any]],
        told: Any,
        pieces: Iterable[Any],
        *,
        most: int | None = None,
    ) -> Generator[Done, None, None]:
        """Have pieces done, by `most` workers at the most; give each once it is done.

        Each worker gets ready once, by what it is `told`, and does pieces by what it got. `ready`
        is found there by its module and name, and all that goes there can be pickled. Pieces are
        taken only a few ahead. An error of ours is an answer; one of getting ready is raised.
        """

    def close(self) -> None:
        """End all workers, whatever they do."""


def done_by(
    submit: Callable[[Any], "Future[Any]"],
    questions: Iterable[Any],
    ahead: int,
    tries: int = TRIES,
) -> Generator[Done, None, None]:
    """Ask questions, some ahead; give each with its answer, as `Workers.run` says.

    `submit` has one asked, and gives its answer to come: an error of ours too is an answer.
    """
    left = iter(questions)
    asked: dict[Future[Any], tuple[Any, int]] = {}
    unready = 0

    def ask(question: Any, tried: int) -> None:
        asked[submit(question)] = question, tried

    for question in islice(left, ahead):
        ask(question, 1)
    while asked:
        done, _ = wait(asked, return_when=FIRST_COMPLETED)
        for future in done:
            question, tried = asked.pop(future)
            answer = future.result()
            if isinstance(answer, Refusal):
                raise answer.error
            is_ended = isinstance(answer, WorkerEndedError)
            unready = unready + 1 if is_ended and answer.is_unready else 0
            if unready >= tries:
                raise EnvironmentProblem(
                    f"worker processes end before they can be asked anything ({answer}): is "
                    "there too little memory?"
                )
            if is_ended and (answer.is_unready or tried < tries):
                ask(question, tried + (not answer.is_unready))
                continue
            for following in islice(left, 1):
                ask(following, 1)
            yield Done(question, answer, tried)


class Refusal(NamedTuple):
    """What a worker answered to what all are told first, where that was an error of ours."""

    error: EvidentiaError


class Workers:
    """As many workers as asked for, started when they are needed; one that ended is replaced.

    Each is told `first` before it is asked anything, if there is something to tell: what to load
    once, say. `seconds` is how long an answer may take, `idle_seconds` how long a worker is kept
    that is asked nothing, and `most_waiting` how many questions of `submit` may wait for one. None
    is left when the block is left, however that happens. Threads may share it.
    """

    def __init__(
        self,
        module: str,
        count: int,
        *,
        seconds: float | None = None,
        first: Any = None,
        idle_seconds: float | None = None,
        most_waiting: int | None = None,
    ) -> None:
        self._module = module
        self._count = count
        self._seconds = seconds
        self._first = first
        self._idle_seconds = idle_seconds
        self._most = None if most_waiting is None else count + most_waiting
        self._threads = ThreadPoolExecutor(count)
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._free: list[tuple[subprocess.Popen[bytes], float]] = []
        self._submitted = 0
        self._due: dict[subprocess.Popen[bytes], float] = {}
        self._late: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._is_watched = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all workers, whatever they do; what was asked of them has no answer."""
        self._ending.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in list(self._processes):
            process.kill()  # no one waits for what it is still asked
        self._threads.shutdown()
        for process in list(self._processes):
            self._end(process)

    def submit(
        self, question: Any, *, seconds: float | None = None, patient: bool = False
    ) -> Future[Any]:
        """Ask a question of the next worker that is free; return its answer to come.

        An error of ours, and `WorkerEndedError`, are raised by that. `BusyError` is raised here if
        too many wait already, unless `patient`.
        """
        with self._lock:
            if not patient and self._most is not None and self._submitted >= self._most:
                raise BusyError(
                    f"{self._submitted} pieces of work are being done or wait already: try again "
                    "in a few seconds"
                )
            self._submitted += 1
        try:
            future = self._threads.submit(self._answered, question, seconds)
        except RuntimeError:  # closed
            self._leave()
            raise EnvironmentProblem("the worker processes were ended: start again") from None
        future.add_done_callback(self._leave)
        return future

    def _leave(self, _: object = None) -> None:
        with self._lock:
            self._submitted -= 1

    def _answered(self, question: Any, seconds: float | None) -> Any:
        answer = self._ask(question, seconds)
        if isinstance(answer, Refusal):
            raise answer.error
        if isinstance(answer, WorkerEndedError | EvidentiaError):
            raise answer
        return answer

    def map(self, questions: Iterable[Any]) -> Iterator[Any]:
        """Ask each question of some worker; give the answers in order.

        An error of ours, and `WorkerEndedError`, are given as answers and not raised. Questions are
        taken only a few ahead of their answers: they may be large.
        """
        asked: deque[Future[Any]] = deque()
        for question in questions:
            asked.append(self._threads.submit(self._ask, question))
            if len(asked) > self._count:
                yield asked.popleft().result()
        while asked:
            yield asked.popleft().result()

    def run(self, questions: Iterable[Any], *, tries: int = TRIES) -> Iterator[Done]:
        """Ask each question of some worker; give each with its answer once that is there.

        A question whose worker ended is asked again, of a new one, `tries` times in all; then
        `WorkerEndedError` is its answer, and the others go on. An error of ours is an answer too;
        one that a worker gives to what it is told first is raised, as nothing can go on then.
        """
        yield from done_by(
            lambda question: self._threads.submit(self._ask, question),
            questions,
            2 * self._count,
            tries,
        )

    def _ask(self, question: Any, seconds: float | None = None) -> Any:
        process = self._taken()
        if process is None:
            process = self._start()
            if self._first is not None:
                told = self._talk(process, self._first, self._seconds)
                if isinstance(told, WorkerEndedError):
                    told.is_unready = True
                    return told
                if isinstance(told, EvidentiaError):
                    self._end(process)
                    return Refusal(told)
        answer = self._talk(process, question, seconds or self._seconds)
        if not isinstance(answer, WorkerEndedError):
            with self._lock:
                self._free.append((process, time.monotonic()))
        return answer

    def _taken(self) -> subprocess.Popen[bytes] | None:
        """Take the worker that was asked last, so that others may end; None if none is free."""
        while True:
            with self._lock:
                if not self._free:
                    return None
                process, _ = self._free.pop()
            if process.poll() is None:
                return process
            self._end(process)  # it ended while it had nothing to do

    def _talk(self, process: subprocess.Popen[bytes], question: Any, seconds: float | None) -> Any:
        if process.stdin is None or process.stdout is None:
            raise EnvironmentProblem("a worker process has no pipes")
        if seconds:
            self._due[process] = time.monotonic() + seconds
            self._look_after()
        try:
            _send(process.stdin, question)
            return Answers(process.stdout).load()
        except (OSError, EOFError, pickle.UnpicklingError):
            self._end(process)
            status = process.returncode
            took_too_long = process in self._late or -status in _OUT_OF_TIME
            self._late.discard(process)
            return WorkerEndedError(status, took_too_long=took_too_long)
        finally:
            self._due.pop(process, None)

    def _look_after(self) -> None:
        """Let one thread watch all workers: one for each question would cost more than most do."""
        with self._lock:
            if self._is_watched:
                return
            self._is_watched = True
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        """Stop workers that take too long, and end those that have nothing to do for long."""
        while not self._ending.wait(min(_LOOK_SECONDS, (self._seconds or math.inf) / 10)):
            for process, due in list(self._due.items()):
                if time.monotonic() > due and self._due.get(process) == due:
                    self._late.add(process)
                    process.kill()
            if self._idle_seconds is not None:
                self._end_idle(time.monotonic() - self._idle_seconds)
            with self._lock:
                if not self._processes:
                    self._is_watched = False
                    return

    def _end_idle(self, since: float) -> None:
        with self._lock:
            idle = [process for process, free in self._free if free < since]
            self._free = [one for one in self._free if one[0] not in idle]
        for process in idle:
            self._end(process)

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(  # noqa: S603 - our own module, in our own interpreter
            [sys.executable, "-P", "-m", self._module],  # no module out of the current folder
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(),
            **_APART,
        )
        with self._lock:
            self._processes.add(process)
        if self._idle_seconds is not None:
            self._look_after()
        if self._ending.is_set():  # too late to be among those that are killed
            process.kill()
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.communicate()
        with self._lock:
            self._processes.discard(process)


def _environment() -> dict[str, str]:
    """Return a worker's environment: without our settings, among which are a key's secrets."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    return own | ONE_THREAD


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def serve(answer: Callable[[Any], Any]) -> None:
    """Answer questions from standard input; what is printed meanwhile is an error.

    When the process that asks is gone, this one ends, also in the middle of an answer.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    asked: SimpleQueue[Any] = SimpleQueue()
    questions = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    threading.Thread(target=_take, args=(questions, asked), daemon=True).start()
    try:
        while True:
            question = asked.get()
            try:
                result = answer(question)
            except EvidentiaError as error:
                result = error
            _send(answers, result)
    except BaseException:  # noqa: BLE001 - it ends here, and says why
        traceback.print_exc()
        os._exit(1)  # at once: a thread waits for questions that will not come


def _take(questions: IO[bytes], asked: SimpleQueue[Any]) -> NoReturn:
    """Take in questions until there are no more."""
    status = 1
    try:
        while True:
            asked.put(pickle.load(questions))  # noqa: S301 - our own process at the other end
    except EOFError:
        status = 0
    except BaseException:  # noqa: BLE001 - the same
        traceback.print_exc()
    os._exit(status)


def _send(pipe: IO[bytes], value: object) -> None:
    pickle.dump(value, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()


class Answers(pickle.Unpickler):
    """Reads answers that are made of built-in values, our values and our errors alone."""

    def find_class(self, module: str, name: str) -> Any:
        """Return one of the classes that an answer may have; raise `UnpicklingError` if not."""
        if (module, name) in {("array", "array"), ("array", "_array_reconstructor")}:
            return super().find_class(module, name)
        if module.startswith("evidentia.") and "." not in name:
            found = super().find_class(module, name)
            if isinstance(found, type) and (
                is_dataclass(found) or issubclass(found, tuple | Enum | EvidentiaError)
            ):
                return found
        raise pickle.UnpicklingError(f"an answer must not have {module}.{name}")

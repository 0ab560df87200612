"""Worker processes: fresh interpreters that run one module and answer what they are asked.

Started as commands of their own, so that neither a caller's script is run again nor a caller's
threads are forked. Pipes carry pickles. A worker may have read a hostile file, so that its answers
are read as data: values of ours that only hold others, and never something that is called.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import is_dataclass
from enum import Enum
from itertools import islice
from typing import IO, Any, Final, NamedTuple, Self

from evidentia.errors import EnvironmentProblem, EvidentiaError

TRIES: Final = 3
"""How often a question is asked whose worker ends, before that is its answer."""
_OUT_OF_TIME = {signal.SIGXCPU} if hasattr(signal, "SIGXCPU") else set()
"""What a system ends a process with that has computed for longer than it may."""
_ONE_THREAD: Final = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
"""One thread for arithmetic in each worker: there are as many workers as cores."""
# Ctrl-C on a terminal is for the process that asks, which ends its workers.
_APART: Final[dict[str, Any]] = {"process_group": 0} if hasattr(os, "setpgid") else {}
_LOOK_SECONDS = 0.5
"""How often is looked for workers that take too long."""


class WorkerEndedError(Exception):
    """A worker ended before it had answered: it crashed, or took too long and was stopped.

    `is_unready` says that it had not even taken in what all are told first.
    """

    def __init__(
        self, status: int, *, took_too_long: bool = False, is_unready: bool = False
    ) -> None:
        super().__init__(f"exit status {status}")
        self.status = status
        self.took_too_long = took_too_long
        self.is_unready = is_unready


class Done(NamedTuple):
    """A question, its answer, and how often it was asked."""

    question: Any
    answer: Any
    tries: int


class _Refusal(NamedTuple):
    """What a worker answered to what all are told first, where that was an error."""

    error: EvidentiaError


class Workers:
    """As many workers as asked for; one that ended is replaced by a new one.

    Each is told `first` before it is asked anything, if there is something to tell: what to load
    once, say. None is left when the block is left, however that happens.
    """

    def __init__(
        self, module: str, count: int, *, seconds: float | None = None, first: Any = None
    ) -> None:
        self._module = module
        self._count = count
        self._seconds = seconds
        self._first = first
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._mine = threading.local()
        self._ending = False
        self._due: dict[subprocess.Popen[bytes], float] = {}
        self._late: set[subprocess.Popen[bytes]] = set()
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        self._threads = ThreadPoolExecutor(self._count)
        if self._seconds:
            threading.Thread(target=self._watch, args=(self._seconds,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending = True
        self._ended.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in list(self._processes):
            process.kill()  # no one waits for what it is still asked
        self._threads.shutdown()
        for process in list(self._processes):
            self._end(process)

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
        left = iter(questions)
        asked: dict[Future[Any], tuple[Any, int]] = {}
        unready = 0

        def ask(question: Any, tried: int) -> None:
            asked[self._threads.submit(self._ask, question)] = question, tried

        for question in islice(left, 2 * self._count):
            ask(question, 1)
        while asked:
            done, _ = wait(asked, return_when=FIRST_COMPLETED)
            for future in done:
                question, tried = asked.pop(future)
                answer = future.result()
                if isinstance(answer, _Refusal):
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

    def _ask(self, question: Any) -> Any:
        process = getattr(self._mine, "process", None)
        if process is None:
            process = self._start()
            if self._first is not None:
                told = self._talk(process, self._first)
                if isinstance(told, WorkerEndedError):
                    told.is_unready = True
                    return told
                if isinstance(told, EvidentiaError):
                    return _Refusal(told)
        return self._talk(process, question)

    def _talk(self, process: Any, question: Any) -> Any:
        pipes = process.stdin, process.stdout
        if self._seconds:
            self._due[process] = time.monotonic() + self._seconds
        try:
            _send(pipes[0], question)
            return _Answers(pipes[1]).load()
        except (OSError, EOFError, pickle.UnpicklingError):
            self._mine.process = None
            self._end(process)
            status = process.returncode
            took_too_long = process in self._late or -status in _OUT_OF_TIME
            return WorkerEndedError(status, took_too_long=took_too_long)
        finally:
            self._due.pop(process, None)

    def _watch(self, seconds: float) -> None:
        """Stop workers that take too long; a thread for each question would cost more than most."""
        while not self._ended.wait(min(seconds / 10, _LOOK_SECONDS)):
            for process, due in list(self._due.items()):
                if time.monotonic() > due and self._due.get(process) == due:
                    self._late.add(process)
                    process.kill()

    def _start(self) -> Any:
        process = subprocess.Popen(  # noqa: S603 - our own module, in our own interpreter
            [sys.executable, "-P", "-m", self._module],  # no module out of the current folder
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | _ONE_THREAD,
            **_APART,
        )
        self._processes.add(process)
        self._mine.process = process
        if self._ending:  # too late to be among those that are killed
            process.kill()
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.communicate()
        self._processes.discard(process)


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def serve(answer: Callable[[Any], Any]) -> None:
    """Answer questions from standard input until it ends; what is printed meanwhile is an error."""
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    while True:
        try:
            question = pickle.load(questions)  # noqa: S301 - our own process at the other end
        except EOFError:
            return
        try:
            result = answer(question)
        except EvidentiaError as error:
            result = error
        _send(answers, result)


def _send(pipe: IO[bytes], value: object) -> None:
    pickle.dump(value, pipe, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.flush()


class _Answers(pickle.Unpickler):
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

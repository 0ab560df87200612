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
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import is_dataclass
from enum import Enum
from typing import IO, Any, Self

from evidentia.errors import EvidentiaError

_OUT_OF_TIME = {signal.SIGXCPU} if hasattr(signal, "SIGXCPU") else set()
"""What a system ends a process with that has computed for longer than it may."""
_LOOK_SECONDS = 0.5
"""How often is looked for workers that take too long."""


class WorkerEndedError(Exception):
    """A worker ended before it had answered: it crashed, or took too long and was stopped."""

    def __init__(self, status: int, *, took_too_long: bool = False) -> None:
        super().__init__(f"exit status {status}")
        self.took_too_long = took_too_long


class Workers:
    """As many workers as asked for; one that ended is replaced by a new one."""

    def __init__(self, module: str, count: int, *, seconds: float | None = None) -> None:
        self._module = module
        self._count = count
        self._seconds = seconds
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

    def _ask(self, question: Any) -> Any:
        process = getattr(self._mine, "process", None) or self._start()
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
            [sys.executable, "-m", self._module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
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

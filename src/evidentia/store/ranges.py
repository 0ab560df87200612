"""Checking a stored log's entries by ranges: in this process, or shared out to others."""

import os
import pickle
import subprocess
import sys
import threading
from array import array
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Any, Self

from sqlalchemy import Connection

from evidentia.errors import EnvironmentProblem, EvidentiaError, IntegrityError
from evidentia.store import log
from evidentia.store.database import Database, any_text, damage
from evidentia.trail.audit import RangeAudit, audit_range
from evidentia.trail.tiles import TILE_WIDTH

RANGE = 128 * TILE_WIDTH
"""How many entries are checked at a time; smaller logs are checked in this process."""

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Reading:
    """The log that is read; `any_text` also reads text that is not UTF-8, which takes longer."""

    database: Database
    tenant: str
    any_text: bool = False

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Give a connection; report a file that holds what no column can hold as damaged."""
        with self.database.read() as connection, ExitStack() as stack:
            if self.any_text:
                stack.enter_context(any_text(connection))
            try:
                yield connection
            except (TypeError, ValueError, MemoryError) as error:
                problem = damage(connection)
                if problem is None:
                    raise
                raise IntegrityError(f"the database file is damaged: {problem}") from error


def audit_entries(
    reading: Reading,
    connection: Connection,
    size: int,
    *,
    workers: int | None,
    progress: Progress | None,
) -> list[RangeAudit]:
    """Check the entries below `size`; return the ranges in order."""
    spans = [(start, min(start + RANGE, size)) for start in range(0, size, RANGE)]
    count = min(workers or _cores(), len(spans))
    ranges: list[RangeAudit] = []
    with ExitStack() as stack:
        audits: Iterator[RangeAudit]
        if count > 1:
            audits = stack.enter_context(_Workers(reading, count)).map(spans)
        else:
            audits = (_audit_span(connection, reading.tenant, *span) for span in spans)
        for audit in audits:
            ranges.append(audit)
            if progress:
                progress(audit.end)
    if count > 1:
        _leave_out_later_erasures(reading, ranges, size)
    return ranges


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _audit_span(connection: Connection, tenant: str, start: int, end: int) -> RangeAudit:
    full = end // TILE_WIDTH
    tiles = list(log.tiles_between(connection, tenant, 0, start // TILE_WIDTH, full))
    rows = log.entries_between(connection, tenant, start, end)
    return audit_range(tenant, start, end, rows, tiles)


def _leave_out_later_erasures(reading: Reading, ranges: list[RangeAudit], size: int) -> None:
    """Forget the bodies that were erased while workers read: the entries that say so are later."""
    if not any(part.missing_bodies for part in ranges):
        return
    with reading.connection() as connection:
        erased = log.erased_since(connection, reading.tenant, size)
    for part in ranges:
        part.missing_bodies = array(
            "q", [seq for seq in part.missing_bodies if log.erasure_subject(seq) not in erased]
        )


class _Workers:
    """Worker processes that check ranges; each is a fresh interpreter and opens its own database.

    Started as commands of their own, so that neither a caller's script is run again nor a
    caller's threads are forked.
    """

    def __init__(self, reading: Reading, count: int) -> None:
        self._setup = (reading.database.address, reading.tenant, reading.any_text)
        self._count = count
        self._processes: list[subprocess.Popen[bytes]] = []
        self._mine = threading.local()

    def __enter__(self) -> Self:
        self._threads = ThreadPoolExecutor(self._count, initializer=self._start)
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            process.kill()
            process.communicate()

    def map(self, spans: Iterable[tuple[int, int]]) -> Iterator[RangeAudit]:
        """Check the spans; give the results in order."""
        yield from self._threads.map(self._check, spans)

    def _start(self) -> None:
        process = subprocess.Popen(  # noqa: S603 - our own module, in our own interpreter
            [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._processes.append(process)
        self._mine.process = process

    def _check(self, span: tuple[int, int]) -> RangeAudit:
        process = self._mine.process
        try:
            _send(process.stdin, (*self._setup, *span))
            answer = _receive(process.stdout)
        except OSError:
            answer = None
        if isinstance(answer, EvidentiaError):
            raise answer
        if not isinstance(answer, RangeAudit):
            raise EnvironmentProblem(
                f"an audit worker ended unexpectedly at entries from {span[0]}"
            )
        return answer


def _send(pipe: IO[bytes], value: object) -> None:
    pickle.dump(value, pipe)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    try:
        return pickle.load(pipe)  # noqa: S301 - our own process at the other end
    except EOFError:
        return None


def _work() -> None:
    """Check ranges as they are asked for on standard input, until it ends."""
    database: Database | None = None
    while asked := _receive(sys.stdin.buffer):
        address, tenant, anything, start, end = asked
        try:
            database = database or Database.at(address)
            with Reading(database, tenant, any_text=anything).connection() as connection:
                answer: object = _audit_span(connection, tenant, start, end)
        except EvidentiaError as error:
            answer = error
        _send(sys.stdout.buffer, answer)


if __name__ == "__main__":
    _work()

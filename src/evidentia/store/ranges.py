"""Checking a stored log's entries by ranges: in this process, or shared out to others.

Who runs the others is handed in: `loading.auditor` does.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection

from evidentia.errors import IntegrityError
from evidentia.store.database import Database, any_text, damage
from evidentia.store.sql import log
from evidentia.trail.audit import RangeAudit, audit_range
from evidentia.trail.tiles import TILE_WIDTH

RANGE = 128 * TILE_WIDTH
"""How many entries are checked at a time; smaller logs are checked in this process."""

Progress = Callable[[int], None]
Spans = Sequence[tuple[int, int]]


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


class Share(Protocol):
    """Has ranges checked by `workers` others, or by as many as there are cores."""

    def __call__(self, reading: Reading, spans: Spans, workers: int) -> Iterator[RangeAudit]:
        """Give what was found of each range, in order."""


def audit_entries(
    reading: Reading,
    connection: Connection,
    size: int,
    *,
    share: Share,
    workers: int,
    progress: Progress | None,
) -> list[RangeAudit]:
    """Check the entries below `size`; return the ranges in order."""
    spans = [(start, min(start + RANGE, size)) for start in range(0, size, RANGE)]
    count = min(workers, len(spans))
    ranges: list[RangeAudit] = []
    audits: Iterator[RangeAudit]
    if count > 1:
        audits = share(reading, spans, count)
    else:
        audits = (audit_span(connection, reading.tenant, *span) for span in spans)
    for audit in audits:
        ranges.append(audit)
        if progress:
            progress(audit.end)
    if count > 1:
        _leave_out_later_erasures(reading, ranges, size)
    return ranges


def audit_span(connection: Connection, tenant: str, start: int, end: int) -> RangeAudit:
    """Check the entries from `start` to `end` (not included)."""
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

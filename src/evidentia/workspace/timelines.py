"""Timelines of the log, by the page: what is about a thing, and the checkpoints that cover it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Final

from evidentia.errors import InputError, IntegrityError
from evidentia.store.database import is_storable
from evidentia.store.sql import log, timeline
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.entry import KINDS, Entry
from evidentia.workspace.acting import Acting
from evidentia.workspace.logged import LoggedEntry, read_logged
from evidentia.workspace.witnessing import cosigned

if TYPE_CHECKING:
    from sqlalchemy import Connection

MOST: Final = 1_000
_LONGEST: Final = 2_000
"""How many characters a name has that a timeline is asked of."""


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """An entry of a timeline; `problem` says why it is not what was signed, where it is not.

    `is_signed` is false for one behind all checkpoints, with which nothing can be compared.
    """

    logged: LoggedEntry
    problem: str | None = None
    is_signed: bool = True


@dataclass(frozen=True, slots=True)
class KeptCheckpoint:
    """A checkpoint that is kept: of how many entries, by which key, and the note itself.

    `cosigners` are the names under which others cosigned it, `at` when its last entry was made.
    """

    size: int
    key_id: str
    note: str
    cosigners: tuple[str, ...]
    at: str


def find(
    acting: Acting,
    about: str | None,
    kind: str | None,
    days: tuple[date | None, date | None],
    bounds: tuple[int | None, int | None],
    *,
    limit: int,
    newest_first: bool,
) -> list[TimelineEntry]:
    """Return entries about a thing, each compared with what was signed."""
    if about is not None and (not is_storable(about) or len(about) > _LONGEST):
        raise InputError(
            "the name has a character that no entry's subject can have, or is too long"
        )
    if kind is not None and kind not in KINDS:
        raise InputError(f"{kind[:40]!r} is no kind of entries")
    if not 1 <= limit <= MOST:
        raise InputError(f"a page of a timeline has 1 to {MOST:,} entries")
    with acting.database.read() as connection:
        head = log.read_head(connection, acting.tenant)
        if head is None:
            return []
        before, after = _within(connection, head, days, bounds)
        subjects = timeline.subjects_about(connection, acting.tenant, about) if about else []
        found = timeline.numbers(
            connection,
            acting.tenant,
            subjects=subjects,
            kind=kind,
            before=before,
            after=after,
            limit=limit,
            newest_first=newest_first,
        )
        signed, _ = acting.opened.appending.signed_size(connection, acting.tenant)
        return [_compared(acting, connection, seq, is_signed=seq < signed) for seq in found]


def checkpoints(acting: Acting, before: int | None, limit: int) -> list[KeptCheckpoint]:
    """Return the newest checkpoints of a log, or those of fewer entries than `before`."""
    if not 1 <= limit <= MOST:
        raise InputError(f"a page of checkpoints has 1 to {MOST:,} of them")
    with acting.database.read() as connection:
        head = log.read_head(connection, acting.tenant)
        if head is None:
            return []
        largest = head.size if before is None else min(head.size, before - 1)
        return list(islice(_kept(acting, connection, largest), limit))


def _kept(acting: Acting, connection: "Connection", largest: int) -> Iterator[KeptCheckpoint]:
    for size, key_id, stored in log.newest_checkpoints(connection, acting.tenant, largest):
        note = cosigned(acting, stored)
        checkpoint, parsed = read_checkpoint(note)
        others = (one.name for one in parsed.signatures if one.name != checkpoint.origin)
        last = log.entry_at(connection, acting.tenant, size - 1)[3] if size else None
        at = Entry.decode(last).at if last is not None else ""
        yield KeptCheckpoint(size, key_id, note, tuple(dict.fromkeys(others)), at)


def _within(
    connection: "Connection",
    head: log.Head,
    days: tuple[date | None, date | None],
    bounds: tuple[int | None, int | None],
) -> tuple[int | None, int | None]:
    """Return the bounds of a page, narrowed to the entries of some days."""
    (since, until), (before, after) = days, bounds
    if since is not None:
        first = timeline.first_since(connection, head.tenant, head.size, since.isoformat())
        after = max(first - 1, -1 if after is None else after)
    if until is not None and until < date.max:
        next_day = (until + timedelta(days=1)).isoformat()
        end = timeline.first_since(connection, head.tenant, head.size, next_day)
        before = end if before is None else min(end, before)
    return before, after


def _compared(
    acting: Acting, connection: "Connection", seq: int, *, is_signed: bool
) -> TimelineEntry:
    """Return an entry as it was proved; else as it stands there, and what is wrong with it."""
    try:
        return TimelineEntry(acting.entry_within(connection, seq), is_signed=is_signed)
    except IntegrityError as error:
        stands = read_logged(log.entry_at(connection, acting.tenant, seq))
        return TimelineEntry(stands, str(error), is_signed=is_signed)

"""The SQL of what OpenFGA is still to hear of, and of who tells it.

The trail itself is what is told: an entry that changes who may do what is committed with what it
says. These rows remember how far it was read, and what did not get through yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from evidentia.store.database import fetch, run, run_many
from evidentia.trail.entry import ERASED_PREFIX, EntryKind

CHANGING: Final = (EntryKind.ACCESS, EntryKind.PACK, EntryKind.REVIEW, EntryKind.ERASURE)
"""The kinds of entries that can change what OpenFGA is to know."""
_PACKS: Final = (EntryKind.PACK, EntryKind.REVIEW)
_PACK: Final = "SELECT id, decision_id, agent_name, conflicted FROM evidence_packs WHERE tenant = ?"
USER: Final = "user/"
"""What the subject of an entry about a user begins with."""


@dataclass(frozen=True, slots=True)
class Pending:
    """Someone or something that OpenFGA is to hear of: by which entry, and what was in the way."""

    subject: str
    entry: int
    tries: int = 0
    problem: str | None = None


def followed(connection: Connection, tenant: str, store: str) -> int | None:
    """Return how many entries of a log a store was told of; None if it was told nothing yet."""
    sql = "SELECT entries FROM openfga_followed WHERE tenant = ? AND store = ?"
    found = fetch(connection, sql, (tenant, store))
    return int(found[0][0]) if found and found[0][0] >= 0 else None


def claim(connection: Connection, of: tuple[str, str], holder: str, now: str, until: str) -> bool:
    """Take it on to tell a store of a log, or go on with it, unless another process has."""
    run(
        connection,
        "INSERT INTO openfga_followed (tenant, store, entries, holder, until) "
        "VALUES (?, ?, -1, '', '') ON CONFLICT (tenant, store) DO NOTHING",
        of,
    )
    sql = (
        "UPDATE openfga_followed SET holder = ?, until = ? "
        "WHERE tenant = ? AND store = ? AND (holder = ? OR until <= ?)"
    )
    return bool(run(connection, sql, (holder, until, *of, holder, now)).rowcount)


def go_on(connection: Connection, of: tuple[str, str], holder: str, entries: int) -> None:
    """Note how many entries were looked at, unless another process has taken over."""
    sql = (
        "UPDATE openfga_followed SET entries = ? "
        "WHERE tenant = ? AND store = ? AND holder = ? AND entries < ?"
    )
    run(connection, sql, (entries, *of, holder, entries))


def changed(
    connection: Connection, tenant: str, between: tuple[int, int], most: int
) -> tuple[list[Pending], int]:
    """Return whom and what entries changed, and up to which entry these are, `most` at once.

    `between` are the number of the first and of the one behind the last. An entry that erases is
    of the pack whose entry it erases.
    """
    first, end = between
    marks = ", ".join("?" for _ in CHANGING)
    sql = (
        "SELECT seq, kind, subject FROM trail_entries WHERE tenant = ? "  # noqa: S608 - marks are question marks
        f"AND kind IN ({marks}) AND seq >= ? AND seq < ? ORDER BY seq LIMIT ?"
    )
    rows = fetch(connection, sql, (tenant, *CHANGING, first, end, most))
    of_packs = _erased_packs(connection, tenant, [row[2] for row in rows if row[1] == "erasure"])
    found: dict[str, Pending] = {}
    for seq, kind, subject in rows:
        told = of_packs.get(subject) if kind == EntryKind.ERASURE else subject
        if told is not None and (kind != EntryKind.ACCESS or subject.startswith(USER)):
            found[told] = Pending(told, seq)
    return list(found.values()), int(rows[-1][0]) + 1 if len(rows) == most else end


def _erased_packs(connection: Connection, tenant: str, subjects: Sequence[str]) -> dict[str, str]:
    """Return the ids of packs whose entries were erased, by the subjects of the erasures."""
    sql = "SELECT subject FROM trail_entries WHERE tenant = ? AND seq = ? AND kind IN (?, ?)"
    found: dict[str, str] = {}
    for subject in subjects:
        number = subject.removeprefix(ERASED_PREFIX)
        if number.isascii() and number.isdigit():
            for (pack_id,) in fetch(connection, sql, (tenant, int(number), *_PACKS)):
                found[subject] = pack_id
    return found


def put(connection: Connection, of: tuple[str, str], pending: Sequence[Pending], now: str) -> None:
    """Have a store hear of some; what is new of one that waits already is tried at once."""
    run_many(
        connection,
        "INSERT INTO openfga_outbox (tenant, store, subject, entry, tries, next_at) "
        "VALUES (?, ?, ?, ?, 0, ?) ON CONFLICT (tenant, store, subject) DO UPDATE "
        "SET entry = excluded.entry, tries = 0, next_at = excluded.next_at, problem = NULL",
        [(*of, one.subject, one.entry, now) for one in pending],
    )


def due(connection: Connection, of: tuple[str, str], now: str, most: int) -> list[Pending]:
    """Return what is to be told now, in the order of the entries."""
    sql = (
        "SELECT subject, entry, tries, problem FROM openfga_outbox "
        "WHERE tenant = ? AND store = ? AND next_at <= ? ORDER BY entry, subject LIMIT ?"
    )
    return [Pending(*row) for row in fetch(connection, sql, (*of, now, most))]


def waiting(connection: Connection, of: tuple[str, str]) -> list[Pending]:
    """Return all that a store is still to hear of, as far as entries were looked at."""
    sql = (
        "SELECT subject, entry, tries, problem FROM openfga_outbox "
        "WHERE tenant = ? AND store = ? ORDER BY entry, subject"
    )
    return [Pending(*row) for row in fetch(connection, sql, of)]


def told(connection: Connection, of: tuple[str, str], done: Sequence[Pending]) -> None:
    """Forget what was told, unless an entry has changed it since."""
    sql = "DELETE FROM openfga_outbox WHERE tenant = ? AND store = ? AND subject = ? AND entry <= ?"
    run_many(connection, sql, [(*of, one.subject, one.entry) for one in done])


def told_all(connection: Connection, of: tuple[str, str], entries: int) -> None:
    """Forget all that entries before one had changed."""
    sql = "DELETE FROM openfga_outbox WHERE tenant = ? AND store = ? AND entry < ?"
    run(connection, sql, (*of, entries))


def put_off(
    connection: Connection, of: tuple[str, str], one: Pending, until: str, problem: str
) -> None:
    """Try one again at a time, unless an entry has changed it since; say what was in the way."""
    sql = (
        "UPDATE openfga_outbox SET tries = tries + 1, next_at = ?, problem = ? "
        "WHERE tenant = ? AND store = ? AND subject = ? AND entry = ?"
    )
    run(connection, sql, (until, problem, *of, one.subject, one.entry))


def all_packs(connection: Connection, tenant: str) -> list[tuple[str, str, str, bool]]:
    """Return the ids of all packs, their decisions, who made those, and if they are conflicted."""
    found = fetch(connection, f"{_PACK} ORDER BY trail_seq", (tenant,))
    return [(*row[:3], bool(row[3])) for row in found]


def chain_of(connection: Connection, tenant: str, pack_id: str) -> list[tuple[str, str, str, bool]]:
    """Return what `all_packs` does, of all versions of one pack."""
    sql = (
        f"{_PACK} AND decision_id IN (SELECT decision_id FROM evidence_packs "  # noqa: S608 - names are ours
        "WHERE tenant = ? AND id = ?) ORDER BY trail_seq"
    )
    found = fetch(connection, sql, (tenant, tenant, pack_id))
    return [(*row[:3], bool(row[3])) for row in found]

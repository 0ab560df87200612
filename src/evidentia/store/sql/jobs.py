"""Jobs: what was asked for, by whom, how far it is, and which server does it.

Whoever changes a job holds its row first, so that its events have numbers without a gap. A job
that has ended does not change any more. Times of runners are the database's own, in seconds: the
clocks of two servers may differ.
"""

from dataclasses import astuple, dataclass, replace
from typing import Final

from sqlalchemy import Connection

from evidentia.store.database import fetch, hold, insert_rows, is_sqlite, row_lock, run

QUEUED: Final = "queued"
RUNNING: Final = "running"
DONE: Final = "done"
FAILED: Final = "failed"
CANCELLED: Final = "cancelled"
STATES: Final = (QUEUED, RUNNING, DONE, FAILED, CANCELLED)
_COLUMNS: Final = (
    "tenant, id, number, kind, actor, asked, state, done, total, events, cancelled, runner, "
    "result, problem, created_at, updated_at, ended_at"
)
Named = tuple[str, str]
"""A tenant, and the id of a job."""


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as the database has it, counted in its tenant by `number`.

    `asked`, `result` and `problem` are JSON.
    """

    tenant: str
    id: str
    number: int
    kind: str
    actor: str
    asked: str
    state: str
    done: int
    total: int
    events: int
    cancelled: int
    runner: str | None
    result: str | None
    problem: str | None
    created_at: str
    updated_at: str
    ended_at: str | None

    @property
    def has_ended(self) -> bool:
        """Whether nothing more is done for it."""
        return self.state not in (QUEUED, RUNNING)


@dataclass(frozen=True, slots=True)
class JobEvent:
    """How far a job was at a time; `number` counts from 1."""

    number: int
    at: str
    state: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class JobItem:
    """One thing of those that a job does, from 1: the entry that records it, and what it became."""

    number: int
    entry: int | None
    outcome: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """What changes of a job; None leaves it as it is."""

    state: str | None = None
    done: int | None = None
    total: int | None = None
    result: str | None = None
    problem: str | None = None


def insert(connection: Connection, row: JobRow) -> JobRow:
    """Write down a job that begins now, with its first event; return it with its number."""
    hold(connection, f"jobs/{row.tenant}")
    sql = "SELECT COALESCE(MAX(number), 0) + 1 FROM jobs WHERE tenant = ?"
    row = replace(row, number=fetch(connection, sql, (row.tenant,))[0][0])
    insert_rows(connection, "jobs", _COLUMNS.split(", "), [astuple(row)])
    _told(connection, row, row.created_at)
    return row


def find(connection: Connection, named: Named, *, held: bool = False) -> JobRow | None:
    """Return a job, or None; `held` lets no one else change it before the transaction ends."""
    lock = row_lock(connection) if held else ""
    sql = f"SELECT {_COLUMNS} FROM jobs WHERE tenant = ? AND id = ?{lock}"  # noqa: S608 - the same
    for row in fetch(connection, sql, named):
        return JobRow(*row)
    return None


def page(
    connection: Connection,
    tenant: str,
    *,
    state: str | None,
    kind: str | None,
    before: int | None,
    limit: int | None,
) -> list[JobRow]:
    """Return jobs of a tenant, the newest first; of a state or a kind, if one is given."""
    wanted = {"state": state, "kind": kind}
    where: list[str] = ["tenant = ?"]
    values: list[str | int] = [tenant]
    for name, value in wanted.items():
        if value is not None:
            where.append(f"{name} = ?")
            values.append(value)
    if before is not None:
        where.append("number < ?")
        values.append(before)
    sql = (
        f"SELECT {_COLUMNS} FROM jobs WHERE {' AND '.join(where)} "  # noqa: S608 - the same
        "ORDER BY number DESC"
    )
    some = [] if limit is None else [limit]
    return [
        JobRow(*row)
        for row in fetch(connection, sql + (" LIMIT ?" if some else ""), [*values, *some])
    ]


def change(connection: Connection, row: JobRow, changed: Change, at: str) -> JobRow:
    """Change a job that is held, and note the event; return it as it is now.

    What changes nothing is no event.
    """
    given = {name: getattr(changed, name) for name in Change.__slots__}
    after = replace(row, **{name: one for name, one in given.items() if one is not None})
    if after == row:
        return row
    ended = at if after.has_ended else None
    after = replace(after, events=row.events + 1, updated_at=at, ended_at=ended)
    run(
        connection,
        "UPDATE jobs SET state = ?, done = ?, total = ?, events = ?, result = ?, problem = ?, "
        "updated_at = ?, ended_at = ? WHERE tenant = ? AND id = ?",
        (
            after.state,
            after.done,
            after.total,
            after.events,
            after.result,
            after.problem,
            after.updated_at,
            after.ended_at,
            after.tenant,
            after.id,
        ),
    )
    _told(connection, after, at)
    return after


def ask_to_cancel(connection: Connection, row: JobRow, at: str) -> None:
    """Note that a job that is held is to end before its next step."""
    sql = "UPDATE jobs SET cancelled = 1, updated_at = ? WHERE tenant = ? AND id = ?"
    run(connection, sql, (at, row.tenant, row.id))


def give_to(connection: Connection, row: JobRow, runner: str | None) -> None:
    """Note who does a job that is held; None: no one any more."""
    sql = "UPDATE jobs SET runner = ? WHERE tenant = ? AND id = ?"
    run(connection, sql, (runner, row.tenant, row.id))


def events(connection: Connection, named: Named, after: int, limit: int) -> list[JobEvent]:
    """Return the events of a job behind a number, the oldest first."""
    sql = (
        "SELECT number, at, state, done, total FROM job_events "
        "WHERE tenant = ? AND job_id = ? AND number > ? ORDER BY number LIMIT ?"
    )
    return [JobEvent(*row) for row in fetch(connection, sql, (*named, after, limit))]


def items(connection: Connection, named: Named) -> list[JobItem]:
    """Return what is known of the things that a job does, in their order."""
    sql = (
        "SELECT number, entry, outcome FROM job_items WHERE tenant = ? AND job_id = ? "
        "ORDER BY number"
    )
    return [JobItem(*row) for row in fetch(connection, sql, named)]


def item(connection: Connection, named: Named, number: int) -> JobItem | None:
    """Return what is known of one thing that a job does."""
    sql = (
        "SELECT number, entry, outcome FROM job_items "
        "WHERE tenant = ? AND job_id = ? AND number = ?"
    )
    for row in fetch(connection, sql, (*named, number)):
        return JobItem(*row)
    return None


def note_entry(connection: Connection, named: Named, number: int, entry: int) -> None:
    """Note the entry that this transaction appends for one thing that a job does."""
    sql = (
        "INSERT INTO job_items (tenant, job_id, number, entry) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (tenant, job_id, number) DO UPDATE SET entry = excluded.entry"
    )
    run(connection, sql, (*named, number, entry))


def note_outcome(connection: Connection, named: Named, number: int, outcome: str) -> None:
    """Note what one thing became that a job does."""
    sql = (
        "INSERT INTO job_items (tenant, job_id, number, outcome) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (tenant, job_id, number) DO UPDATE SET outcome = excluded.outcome"
    )
    run(connection, sql, (*named, number, outcome))


def forget(connection: Connection, named: Named) -> None:
    """Remove a job, with what is known of it."""
    for table in ("job_events", "job_items"):
        run(connection, f"DELETE FROM {table} WHERE tenant = ? AND job_id = ?", named)  # noqa: S608 - the same
    run(connection, "DELETE FROM jobs WHERE tenant = ? AND id = ?", named)


# Runners


def seconds_now(connection: Connection) -> int:
    """Return the time by the database's clock, in seconds."""
    sql = (
        "SELECT CAST(strftime('%s', 'now') AS INTEGER)"
        if is_sqlite(connection)
        else "SELECT floor(extract(epoch FROM clock_timestamp()))::bigint"
    )
    return int(fetch(connection, sql)[0][0])


def renew(connection: Connection, runner: str) -> None:
    """Note that a runner lives."""
    sql = (
        "INSERT INTO job_runners (id, renewed) VALUES (?, ?) "
        "ON CONFLICT (id) DO UPDATE SET renewed = excluded.renewed"
    )
    run(connection, sql, (runner, seconds_now(connection)))


def living(connection: Connection, lapse: int) -> set[str]:
    """Return the runners that noted that they live within the last `lapse` seconds."""
    sql = "SELECT id FROM job_runners WHERE renewed >= ?"
    return {one for (one,) in fetch(connection, sql, (seconds_now(connection) - lapse,))}


def leave(connection: Connection, runner: str) -> None:
    """Note that a runner has ended: it has given back what it had."""
    run(connection, "DELETE FROM job_runners WHERE id = ?", (runner,))


def may_make_schema(connection: Connection, name: str) -> bool:
    """Whether this role of PostgreSQL owns a schema, or may make it where it is not there."""
    sql = (
        "SELECT COALESCE((SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace "
        "WHERE nspname = ?), has_database_privilege(current_database(), 'CREATE'))"
    )
    return bool(fetch(connection, sql, (name,))[0][0])


def _told(connection: Connection, row: JobRow, at: str) -> None:
    run(
        connection,
        "INSERT INTO job_events (tenant, job_id, number, at, state, done, total) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (row.tenant, row.id, row.events, at, row.state, row.done, row.total),
    )

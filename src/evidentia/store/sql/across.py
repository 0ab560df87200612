"""What is asked of all tenants at once: which there are, and of whom something is to be done.

Nothing else looks beyond one tenant. What is found is done tenant by tenant. On PostgreSQL each
question is a function of the schema: no role of the program can ask another one.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection

from evidentia.store.database import fetch, is_sqlite
from evidentia.store.sql.jobs import Named
from evidentia.store.tables import metadata

_WORK: Final = frozenset(
    {
        "jobs",
        "job_items",
        "job_events",
        "job_runners",
        "lake_removals",
        "openfga_followed",
        "openfga_outbox",
        "trail_heads",
        "trail_inbox",
        "trail_receipts",
        "waiting_spans",
        "waiting_traces",
    }
)
_HELD_TO_LOGS: Final = tuple(sorted(metadata.tables.keys() - _WORK))
"""The tables with rows of tenants who have a log: what is to be done may be its beginning."""
_MAYBE_WITHOUT_LOG: Final = ("idempotency", "trail_inbox", "waiting_traces")
"""The tables in which something may wait for a tenant whose log has not begun."""


class OpenJob(NamedTuple):
    """A job that has not ended: what kind it is, how far, and who does it."""

    tenant: str
    id: str
    kind: str
    state: str
    runner: str | None


class DueTrace(NamedTuple):
    """A trace that is to be closed: who sent it, and within which scopes."""

    tenant: str
    trace_id: str
    actor: str
    scopes: str | None


def can_be_asked(connection: Connection) -> bool:
    """Whether the schema has the functions; one that has none, as before 0019, hides no rows."""
    sql = "SELECT to_regprocedure('trail_tenants()') IS NOT NULL"
    return is_sqlite(connection) or bool(fetch(connection, sql)[0][0])


def tenants(connection: Connection) -> list[str]:
    """Return the names of the tenants that have a log."""
    sql = "SELECT tenant FROM trail_heads ORDER BY tenant"
    return [one for (one,) in _asked(connection, "trail_tenants", sql)]


def waiting(connection: Connection) -> list[str]:
    """Return the names of the tenants that have no log yet, and of whom something waits for one."""
    names = ", ".join(f"'{table}'" for table in _MAYBE_WITHOUT_LOG)
    sql = f"SELECT DISTINCT tenant FROM trail_strays() WHERE in_table IN ({names}) ORDER BY tenant"  # noqa: S608 - names are ours
    if is_sqlite(connection):
        found = " UNION ".join(f"SELECT tenant FROM {table}" for table in _MAYBE_WITHOUT_LOG)  # noqa: S608 - names are ours
        sql = f"{found} EXCEPT SELECT tenant FROM trail_heads ORDER BY tenant"  # noqa: S608 - the same
    return [one for (one,) in fetch(connection, sql)]


def open_jobs(connection: Connection) -> list[OpenJob]:
    """Return the jobs that have not ended, the oldest first."""
    sql = (
        "SELECT tenant, id, kind, state, runner FROM jobs WHERE state IN ('queued', 'running') "
        "ORDER BY created_at, id"
    )
    return [OpenJob(*row) for row in _asked(connection, "trail_open_jobs", sql)]


def jobs_ended(connection: Connection, before: str) -> list[Named]:
    """Return the jobs that ended before a time."""
    sql = "SELECT tenant, id FROM jobs WHERE ended_at < ?"
    return [
        (tenant, identity)
        for tenant, identity in _asked(connection, "trail_jobs_ended", sql, before)
    ]


def traces_due(connection: Connection, now: str, most: int) -> list[DueTrace]:
    """Return traces that are to be closed by now, the longest due first."""
    sql = (
        "SELECT tenant, trace_id, actor, scopes FROM waiting_traces WHERE closes_at <= ? "
        "ORDER BY closes_at, tenant, trace_id LIMIT ?"
    )
    return [DueTrace(*row) for row in _asked(connection, "trail_traces_due", sql, now, most)]


def traces_left(connection: Connection) -> list[str]:
    """Return the tenants with traces whose job ended without them."""
    sql = (
        "SELECT DISTINCT tenant FROM waiting_traces AS t WHERE job_id IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM jobs AS j WHERE j.tenant = t.tenant AND j.id = t.job_id "
        "AND j.state IN ('queued', 'running')) ORDER BY tenant"
    )
    return [one for (one,) in _asked(connection, "trail_traces_left", sql)]


def traces_recorded(connection: Connection, before: str) -> list[str]:
    """Return the tenants with traces of which everything was recorded before a time."""
    sql = (
        "SELECT DISTINCT tenant FROM waiting_traces WHERE recorded >= spans "
        "AND closes_at IS NULL AND job_id IS NULL AND recorded_at < ? ORDER BY tenant"
    )
    return [one for (one,) in _asked(connection, "trail_traces_recorded", sql, before)]


def requests_answered(connection: Connection, before: str) -> list[str]:
    """Return the tenants with requests that were written down before a time."""
    sql = "SELECT DISTINCT tenant FROM idempotency WHERE created_at < ? ORDER BY tenant"
    return [one for (one,) in _asked(connection, "trail_requests_answered", sql, before)]


def strays(connection: Connection) -> list[tuple[str, str]]:
    """Return tables and tenants that have rows, and no log that the rows could be of."""
    if not is_sqlite(connection):
        rows = fetch(connection, "SELECT in_table, tenant FROM trail_strays() ORDER BY 1, 2")
        return [(table, tenant) for table, tenant in rows if table in _HELD_TO_LOGS]
    found = []
    for table in _HELD_TO_LOGS:
        # From each tenant to the next one through the index, not through all rows.
        sql = (
            f"WITH RECURSIVE names(tenant) AS (SELECT MIN(tenant) FROM {table} UNION ALL "  # noqa: S608 - names are ours
            f"SELECT (SELECT MIN(tenant) FROM {table} t WHERE t.tenant > names.tenant) "
            "FROM names WHERE names.tenant IS NOT NULL) "
            "SELECT tenant FROM names WHERE tenant IS NOT NULL "
            "AND tenant NOT IN (SELECT tenant FROM trail_heads)"
        )
        found += [(table, tenant) for (tenant,) in fetch(connection, sql)]
    return found


def _asked(connection: Connection, function: str, sql: str, *values: Any) -> Sequence[Any]:
    """Return what a question's function gives; in the embedded database, what its SQL does."""
    if not is_sqlite(connection):
        sql = f"SELECT * FROM {function}({', '.join('?' for _ in values)})"  # noqa: S608 - names are ours
    return fetch(connection, sql, values)

"""What a database finds wrong with itself: damaged pages, indexes that disagree with their tables.

An index that says other than its table decides what a query gives, and statistics decide which
index is asked. Neither shows in a row, so the database is asked to compare them itself.
"""

from typing import Final

from sqlalchemy import Connection

from evidentia.errors import EnvironmentProblem, IntegrityError
from evidentia.store import listing
from evidentia.store.database import Database, fetch
from evidentia.store.sql import log
from evidentia.store.tables import metadata

MAX_PROBLEMS: Final = 100
_STATISTICS: Final = "+table sqlite_stat"
_INDEXES: Final = """
    SELECT i.indexrelid::bigint, c.relname, n.relname FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class n ON n.oid = i.indrelid
    JOIN pg_am a ON a.oid = c.relam AND a.amname = 'btree'
    JOIN pg_namespace s ON s.oid = n.relnamespace
    WHERE s.nspname IN (current_schema(), 'llm') AND n.relkind = 'r' ORDER BY 2"""


def schema_problems(connection: Connection) -> list[str]:
    """Return what is in the schema and should not be, or the reverse; statistics too."""
    return [
        f"schema: {line}"
        + (
            ": statistics decide which index is believed; if you made them, drop that table"
            if line.startswith(_STATISTICS)
            else ""
        )
        for line in listing.differences(connection)
    ]


def tenants_without_log(connection: Connection) -> list[str]:
    """Return tables that hold rows of a tenant which has no log."""
    known = set(log.tenants(connection))
    problems = []
    for table in sorted(metadata.tables):
        if table.startswith("trail_"):
            continue  # an audit of the log looks there
        sql = f"SELECT DISTINCT tenant FROM {table}"  # noqa: S608 - names are ours
        strangers = sorted(row[0] for row in fetch(connection, sql) if row[0] not in known)
        problems += [
            f"table {table}: it has rows of tenant {name[:80]!r}, which has no log"
            for name in strangers
        ]
    return problems


def own_check(database: Database) -> tuple[list[str], str | None]:
    """Return what the database itself finds wrong, and what it could not be asked.

    SQLite compares every page, row, index and reference. PostgreSQL compares indexes with tables
    where its extension amcheck is installed.
    """
    if database.is_sqlite:
        with database.read() as connection:
            return _sqlite(connection), None
    return _postgresql(database)


def _sqlite(connection: Connection) -> list[str]:
    found = [row[0] for row in fetch(connection, f"PRAGMA integrity_check({MAX_PROBLEMS})")]
    problems = [f"SQLite finds: {line}" for line in found if line != "ok"]
    for table, _, parent, _ in fetch(connection, "PRAGMA foreign_key_check")[:MAX_PROBLEMS]:
        problems.append(f"table {table}: a row refers to one of {parent} that is not there")
    return problems


def _postgresql(database: Database) -> tuple[list[str], str | None]:
    missing = (
        "indexes against tables: PostgreSQL's extension amcheck is not installed, or is not for "
        "this role; an owner installs it with 'CREATE EXTENSION amcheck'"
    )
    with database.read() as connection:
        if not fetch(connection, "SELECT 1 FROM pg_extension WHERE extname = 'amcheck'"):
            return [], missing
        indexes = fetch(connection, _INDEXES)
    problems: list[str] = []
    for oid, name, table in indexes:
        try:
            with database.read() as connection:
                fetch(connection, "SELECT bt_index_check(?::bigint::oid::regclass, true)", (oid,))
        except (EnvironmentProblem, IntegrityError) as error:
            if "permission denied" in str(error):
                return problems, missing
            problems.append(f"index {name} of table {table}: {error}")
    return problems, None

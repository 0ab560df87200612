"""What a database finds wrong with itself: damaged pages, indexes that disagree with their tables.

An index that says other than its table decides what a query gives, and statistics decide which
index is asked. Neither shows in a row, so the database is asked to compare them itself.
"""

from typing import Final

from sqlalchemy import Connection

from evidentia.errors import EnvironmentProblem, IntegrityError
from evidentia.store import listing
from evidentia.store.database import Database, fetch
from evidentia.store.sql import across

MAX_PROBLEMS: Final = 100
_STATISTICS: Final = "+table sqlite_stat"
_INDEXES: Final = """
    SELECT i.indexrelid::bigint, c.relname, n.relname FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class n ON n.oid = i.indrelid
    JOIN pg_am a ON a.oid = c.relam AND a.amname = 'btree'
    JOIN pg_namespace s ON s.oid = n.relnamespace
    WHERE s.nspname IN (current_schema(), 'llm') AND n.relkind = 'r' ORDER BY 2"""

_TABLES: Final = """
    SELECT c.oid::bigint, c.relname FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
    WHERE s.nspname IN (current_schema(), 'llm') AND c.relkind = 'r' ORDER BY 2"""
_AMCHECK: Final = """
    SELECT quote_ident(n.nspname) FROM pg_extension e
    JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'amcheck'"""
_UNASKED: Final = (
    "pages, and indexes against tables: PostgreSQL's extension amcheck {}; a superuser installs it "
    "with 'CREATE EXTENSION amcheck', and lets a role use it by granting EXECUTE on "
    "bt_index_check(regclass, boolean) and verify_heapam"
)
_NOT_ALLOWED: Final = "permission denied"
_NOT_THERE: Final = "does not exist"


def schema_problems(connection: Connection) -> tuple[list[str], listing.Compared]:
    """Return what is in the schema and should not be, or the reverse; statistics too.

    And how it was compared: what could not be judged makes no schema sound.
    """
    found = listing.compared(connection)
    problems = [
        f"schema: {line}"
        + (
            ": statistics decide which index is believed; if you made them, drop that table"
            if line.startswith(_STATISTICS)
            else ""
        )
        for line in found.wrong
    ]
    return problems + ([] if found.left is None else [found.left]), found


def tenants_without_log(connection: Connection) -> list[str]:
    """Return tables that hold rows of a tenant which has no log."""
    return [
        f"table {table}: it has rows of tenant {name[:80]!r}, which has no log"
        for table, name in across.strays(connection)
        if not table.startswith("trail_")  # an audit of the log looks there
    ]


def own_check(database: Database) -> tuple[list[str], str | None]:
    """Return what the database itself finds wrong, and what it could not be asked.

    SQLite compares every page, row, index and reference. PostgreSQL checks the pages of tables,
    and indexes against tables, where its extension amcheck is installed and this role may use it.
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
    with database.read() as connection:
        installed = fetch(connection, _AMCHECK)
        indexes, tables = fetch(connection, _INDEXES), fetch(connection, _TABLES)
    if not installed:
        return [], _UNASKED.format("is not installed")
    (where,) = installed[0]
    index_sql = f"SELECT {where}.bt_index_check(?::bigint::oid::regclass, true)"
    table_sql = f"SELECT blkno, msg FROM {where}.verify_heapam(?::bigint::oid::regclass)"  # noqa: S608 - the extension's own place
    problems: list[str] = []
    try:
        for oid, name in tables:
            with database.read() as connection:
                for block, said in fetch(connection, table_sql, (oid,))[:MAX_PROBLEMS]:
                    problems.append(f"table {name}, block {block}: PostgreSQL finds: {said}")
        for oid, name, table in indexes:
            problems += _compared(database, index_sql, oid, f"index {name} of table {table}")
    except EnvironmentProblem as error:
        if _NOT_ALLOWED in str(error):
            return problems, _UNASKED.format("is not for this role")
        if _NOT_THERE in str(error):
            return problems, _UNASKED.format("is older than version 1.3, of PostgreSQL 14")
        raise
    return problems, None


def _compared(database: Database, sql: str, oid: int, name: str) -> list[str]:
    """Return what PostgreSQL finds wrong with an index; raise if it can't be asked."""
    try:
        with database.read() as connection:
            fetch(connection, sql, (oid,))
    except (EnvironmentProblem, IntegrityError) as error:
        if _NOT_ALLOWED in str(error):
            raise
        return [f"{name}: {error}"]
    return []

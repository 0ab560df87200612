"""Reading from databases that belong to others: what a statement may do there, and what not.

SQLite and PostgreSQL are told to refuse whatever writes. Of other databases, which may commit some
statements by themselves, only what is plainly a query is asked.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import Connection

from evidentia.errors import InputError

_PLAIN_QUERY: Final = re.compile(
    r"(?:\s|\(|--[^\n]*\n|/\*.*?\*/)*(?:select|with|values)\b", re.DOTALL | re.IGNORECASE
)
_DOUBTFUL: Final = re.compile(
    r";|\b(?:insert|update|delete|merge|into|call|exec|execute|drop|alter|create|truncate)\b",
    re.IGNORECASE,
)
_ALLOWED, _DENIED = 0, 1
_PRAGMA, _TRANSACTION, _ATTACH, _DETACH, _FUNCTION, _SAVEPOINT = 19, 22, 24, 25, 31, 32
"""SQLite's own numbers for what a statement is about to do."""
_HARMLESS_PRAGMAS: Final = frozenset(
    {"data_version", "foreign_key_list", "index_info", "index_list", "index_xinfo"}
    | {"table_info", "table_list", "table_xinfo"}
)


@contextmanager
def only_reading(
    connection: Connection, sql: str, name: str, seconds: float
) -> Iterator[Callable[[], object]]:
    """Give what stops a running statement, inside a transaction in which nothing can be changed.

    The connection is afterwards as it was. A statement that writes fails when it is run.
    """
    if connection.dialect.name == "sqlite":
        with _sqlite(connection) as interrupt:
            yield interrupt
        return
    if connection.dialect.name == "postgresql":
        connection.execution_options(isolation_level="READ COMMITTED", postgresql_readonly=True)
    if connection.dialect.driver != "psycopg":  # which sends one statement at a time
        _refuse_doubtful(sql, name)
    with connection.begin() as transaction:
        if connection.dialect.name == "postgresql":
            milliseconds = max(1, min(int(seconds * 1000), 2**31 - 1))
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = {milliseconds}")
        try:
            yield lambda: None
        finally:
            transaction.rollback()


@contextmanager
def _sqlite(connection: Connection) -> Iterator[Callable[[], object]]:
    driver: Any = connection.connection.driver_connection
    (before,) = driver.execute("PRAGMA query_only").fetchone()
    driver.execute("PRAGMA query_only = ON")
    driver.set_authorizer(_authorise)
    try:
        yield driver.interrupt
    finally:
        driver.set_authorizer(None)
        driver.execute(f"PRAGMA query_only = {before}")
        connection.rollback()


def _authorise(action: int, first: str | None, second: str | None, *_: object) -> int:
    """Deny what `query_only` does not: other files, its own end, and a longer transaction."""
    if action == _PRAGMA:
        return _ALLOWED if (first or "").lower() in _HARMLESS_PRAGMAS else _DENIED
    if action == _FUNCTION:
        return _DENIED if (second or "").lower() == "load_extension" else _ALLOWED
    return _DENIED if action in (_TRANSACTION, _ATTACH, _DETACH, _SAVEPOINT) else _ALLOWED


def _refuse_doubtful(sql: str, name: str) -> None:
    """Refuse what may not be a single query, even if a word stands only in a literal."""
    statement = sql.strip().removesuffix(";")
    found = _DOUBTFUL.search(statement)
    if found or not _PLAIN_QUERY.match(statement):
        reason = f"{found[0]!r} stands in it" if found else "it does not begin with SELECT"
        raise InputError(
            f"{name}: this database may let the statement write ({reason}): give one plain query, "
            "and what it compares with as parameters"
        )

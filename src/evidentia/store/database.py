"""The database: one object for SQLite and PostgreSQL, and the only place that tells them apart.

SQLite runs in WAL mode with full synchronisation: what is committed survives a power cut. Writes
take turns (see `turns`). PostgreSQL needs neither, its server does both.
"""

import importlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from sqlalchemy import Connection, CursorResult, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from evidentia.errors import EnvironmentProblem, InputError, IntegrityError
from evidentia.store.turns import FairLock

_WRITES = "evidentia_writes"
_BUSY_SECONDS = 60.0
# The releases in which SQLite mended the WAL-reset bug, which could corrupt a database that is
# written and checkpointed at once: each branch from its own patch on.
_SAFE_BRANCHES = {(3, 44): 6, (3, 50): 7, (3, 51): 3}
_SAFE_FROM = (3, 52, 0)


class Database:
    """Connections to one database, for reading and for writing; `where` names it in messages."""

    def __init__(self, engine: Engine, where: str, turns: FairLock | None = None) -> None:
        self.engine = engine
        self.where = where
        self._turns = turns
        self._pid = os.getpid()

    @classmethod
    def sqlite(cls, path: Path, *, read_only: bool = False) -> "Database":
        """Open an embedded database file; `read_only` never creates or changes it."""
        mode = "ro" if read_only else "rwc"
        engine = _sqlite_engine(f"{path.absolute().as_uri()}?mode={mode}", read_only=read_only)
        turns = None if read_only else FairLock(path.with_name(f"{path.name}.turns"))
        return cls(engine, str(path), turns)

    @classmethod
    def server(cls, url: str) -> "Database":
        """Connect to PostgreSQL by its URL."""
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise InputError("the database URL cannot be read: use postgresql://user@host/name") from None
        if parsed.get_backend_name() != "postgresql":
            raise InputError(
                f"a {parsed.get_backend_name()!r} database is not supported: use a folder "
                "(SQLite) or a postgresql:// URL"
            )
        try:
            engine = create_engine(
                parsed.set(drivername="postgresql+psycopg"), pool_pre_ping=True, pool_size=10
            )
        except (ImportError, NoSuchModuleError):
            raise EnvironmentProblem(
                "PostgreSQL needs the psycopg driver: pip install 'evidentia[postgres]'"
            ) from None
        return cls(engine, parsed.render_as_string(hide_password=True))

    @classmethod
    def at(cls, address: str) -> "Database":
        """Open for reading what another process calls `address`."""
        if address.startswith("postgresql"):
            return cls.server(address)
        return cls.sqlite(Path(address), read_only=True)

    @property
    def address(self) -> str:
        """What another process needs to open the same database; it may hold a password."""
        if self.is_sqlite:
            return self.where
        return self.engine.url.render_as_string(hide_password=False)

    @property
    def is_sqlite(self) -> bool:
        """Whether this is the embedded database."""
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a connection inside one consistent view of the data."""
        self._after_fork()
        with self._translated(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Give a connection inside a transaction that is durable once the block is left."""
        self._after_fork()
        with self._turns.turn() if self._turns else nullcontext(), self._translated():
            with self.engine.connect() as connection:
                connection = connection.execution_options(**{_WRITES: True})
                with connection.begin():
                    yield connection

    def close(self) -> None:
        """Close all connections; the last one to leave an SQLite file tidies its WAL, in turn."""
        with self._turns.turn() if self._turns else nullcontext():
            self.engine.dispose()
        if self._turns:
            self._turns.close()

    def _after_fork(self) -> None:
        if self._pid != os.getpid():  # connections of a parent process must not be used or closed
            self.engine.dispose(close=False)
            self._pid = os.getpid()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn the driver's errors into ours: damaged, unreachable, or refused by a guard."""
        try:
            yield
        except DBAPIError as error:
            message = str(error.orig).strip().splitlines()[0] if error.orig else str(error)
            if "append-only" in message:
                raise IntegrityError(f"the database refused a change: {message}") from error
            if any(word in message for word in ("malformed", "not a database", "disk image")):
                raise IntegrityError(f"the database file is damaged: {message}") from error
            raise EnvironmentProblem(f"the database {self.where} failed: {message}") from error
        except SQLAlchemyError as error:
            raise EnvironmentProblem(f"the database {self.where} failed: {error}") from error


def run(connection: Connection, sql: str, values: Sequence[Any] = ()) -> CursorResult[Any]:
    """Run one statement; `?` stands for each value, whatever the database calls it."""
    return connection.exec_driver_sql(_dialect_sql(sql, connection.dialect.paramstyle), tuple(values))


def insert_rows(
    connection: Connection, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert rows, given as tuples in the order of the columns."""
    if rows:
        sql = _insert_sql(table, tuple(columns))
        connection.exec_driver_sql(_dialect_sql(sql, connection.dialect.paramstyle), list(rows))


def stream(connection: Connection, sql: str, values: Sequence[Any]) -> Iterator[Any]:
    """Run a query and give its rows one by one, in constant memory."""
    options = connection.execution_options(stream_results=True)
    cursor = run(options, sql, values).cursor
    yield from cursor or ()


@cache
def _dialect_sql(sql: str, paramstyle: str) -> str:
    return sql if paramstyle == "qmark" else sql.replace("?", "%s")


@cache
def _insert_sql(table: str, columns: tuple[str, ...]) -> str:
    marks = ", ".join("?" for _ in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - names are ours


def _sqlite_engine(uri: str, *, read_only: bool) -> Engine:
    module = _sqlite_module()

    def connect() -> Any:
        return module.connect(
            uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )

    engine = create_engine(
        "sqlite://", module=module, creator=connect, poolclass=QueuePool, max_overflow=20
    )

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: object) -> None:
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA cell_size_check=ON")
        if not read_only:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _sqlite_module() -> ModuleType:
    """Return an SQLite without the WAL-reset bug, or say what to install."""
    found = []
    for name in ("pysqlite3.dbapi2", "sqlite3"):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        if is_safe_sqlite(module.sqlite_version_info):
            return module
        found.append(f"{name} has {module.sqlite_version}")
    raise EnvironmentProblem(
        "no safe SQLite: releases before 3.51.3 can corrupt a database under concurrent writing "
        f"({'; '.join(found)}): pip install 'pysqlite3>=0.6.1'"
    )


def is_safe_sqlite(version: tuple[int, int, int]) -> bool:
    """Whether an SQLite release is free of the WAL-reset bug."""
    branch_patch = _SAFE_BRANCHES.get(version[:2])
    return version >= _SAFE_FROM or (branch_patch is not None and version[2] >= branch_patch)

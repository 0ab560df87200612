"""The database: one object for SQLite and PostgreSQL, and the only place that tells them apart.

SQLite runs in WAL mode with full synchronisation: what is committed survives a power cut. Writes
take turns (see `turns`). PostgreSQL needs neither, its server does both.

On PostgreSQL each transaction says, as it begins, of which tenant it is: it sees and writes rows of
that one alone. It is said for the transaction and with its BEGIN, so that no connection takes it
along to who uses it next, and nothing is waited for.
"""

import importlib
import json
import os
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import UTC
from functools import cache, partial
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from sqlalchemy import Connection, CursorResult, Dialect, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    InvalidatePoolError,
    NoSuchModuleError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import QueuePool

from evidentia.errors import (
    EnvironmentProblem,
    EvidentiaError,
    InputError,
    IntegrityError,
    UsageError,
)
from evidentia.store.arrays import Column, column, column_dumper
from evidentia.store.hearing import said_at
from evidentia.store.readable import ReadableCopy
from evidentia.store.replica import Replica, has_written, is_asked
from evidentia.store.seeing import Changes
from evidentia.store.tables import BUNDLE_SCHEMA, metadata
from evidentia.store.turns import FairLock
from evidentia.trail.entry import check_tenant

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_BEGIN = "evidentia_begin"
_SEQUENCING = "evidentia_sequencing"
_IS_KEPT = "evidentia_is_kept"
_SEQUENCER = "evidentia_sequencer"
_USED = "evidentia_used"
_FRESH_SECONDS = 1.0
"""For how long a connection is there still, unless its server said that it is not."""
_POLICIES = "evidentia_policies"
_BUSY_SECONDS = 60.0
_LOCK_SECONDS = 60
"""How long a write waits for another connection: as long on PostgreSQL as on SQLite."""
_FETCHED_AT_ONCE = 1_000
_DAMAGE = ("malformed", "not a database", "disk image", "Could not decode")
_UNOPENED = "unable to open database file"
_WAITED = "lock timeout"
_STAMP = "evidentia "
_DIGITS = 9
_READ_ONLY = "25006"
_RECOVERY = "read-write mode during recovery"
_NO_TIME = "timestamp too "
"""What the driver says of PostgreSQL's infinite times, and of those before Christ."""
_STANDBY = (
    "the server takes no writes: it is a standby, or became one. Try again, name the primary in "
    "EVIDENTIA_DATABASE_URL, or all hosts ('?host=one,two'): the one that takes writes is asked"
)
_FULL = (
    "it has no connection left: raise its max_connections, or let each program have fewer "
    "(EVIDENTIA_DATABASE_CONNECTIONS), or put a pooler in session mode before it"
)
_TOLD = {
    "statement timeout": (
        "a statement took longer than it may (statement_timeout; EVIDENTIA_DATABASE_STATEMENT_"
        "SECONDS), and nothing was changed: ask for less at once, or have it done as a job"
    ),
    "in a read-only transaction": _STANDBY,
    "during recovery": _STANDBY,
    "remaining connection slots are reserved": _FULL,
    "too many clients already": _FULL,
}
"""What to do about what PostgreSQL says, in place of it."""
_HINTS = {
    r"password authentication failed|no password supplied": (
        "look at the user and the password, in the URL or where else the driver reads it "
        "(PGPASSWORD, PGPASSFILE, ~/.pgpass)"
    ),
    r'database "[^"]*" does not exist': "make it ('createdb'), or correct its name in the URL",
    (
        r"Connection refused|resolve host|timeout expired|timed out|No route to|is unreachable|"
        r"on socket .* failed: No such file"
    ): "is that where PostgreSQL is, and does it run?",
    r"invalid connection option|invalid \S+ value:": (
        "correct what stands behind the '?' of the URL"
    ),
    r"permission denied for (schema|table|database|sequence|function)|must be owner of": (
        "connect as a role that may: servers as the application, what makes and upgrades tables as "
        "their owner or a superuser, what audits and backs up as the auditor. 'evidentia db roles "
        "--run' gives these their rights"
    ),
}
"""What to do about what PostgreSQL says, behind it."""
# The releases in which SQLite mended the WAL-reset bug, which could corrupt a database that is
# written and checkpointed at once: each branch from its own patch on.
_SAFE_BRANCHES = {(3, 44): 6, (3, 50): 7, (3, 51): 3}
_SAFE_FROM = (3, 52, 0)

_SETTINGS = (
    "SET search_path = pg_catalog, pg_temp; SET row_security = on; SET client_encoding = 'UTF8'; "
    "SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET extra_float_digits = 1; "
    "SET standard_conforming_strings = on; SET quote_all_identifiers = off; "
    "SET transform_null_equals = off; SET array_nulls = on; "
    "SELECT set_config('synchronous_commit', 'on', false) "
    "WHERE current_setting('synchronous_commit') = 'off'"
)
"""What a session goes by: a role or a database may have been given other defaults."""
_SCHEMAS_WITH_TABLES = """
    SELECT n.nspname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = 'alembic_version' AND n.nspname::text = ANY(%s)"""

TENANT_SETTING = "evidentia.tenant"
"""The setting of a transaction that says of which tenant it is."""
ACROSS_SETTING = "evidentia.across"
"""The one by which who owns the tables says that rows of all tenants are meant."""

_TABLES = {
    schema: ", ".join(f"'{one.name}'" for one in metadata.sorted_tables if one.schema == schema)
    for schema in (None, BUNDLE_SCHEMA)
}
_ROLE_AND_POLICIES = f"""
    SELECT (
        SELECT quote_ident(r.rolname) FROM pg_roles r
        JOIN pg_class c ON c.relname = 'trail_entries' AND c.relkind = 'r' AND c.relowner <> r.oid
        JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
        WHERE NOT r.rolsuper AND pg_has_role(r.oid, 'MEMBER')
        AND NOT has_table_privilege(c.oid, 'INSERT')
        AND has_table_privilege(r.oid, c.oid, 'INSERT') ORDER BY 1 LIMIT 1
    ), (
        SELECT min(c.relname || COALESCE(', policy ' || y.polname, ', no policy')) FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        LEFT JOIN pg_policy y ON y.polrelid = c.oid
        WHERE ((n.nspname = current_schema() AND c.relname IN ({_TABLES[None]}))
        OR (n.nspname = '{BUNDLE_SCHEMA}' AND c.relname IN ({_TABLES[BUNDLE_SCHEMA]})))
        AND c.relrowsecurity AND (y.oid IS NULL
        OR NOT EXISTS (SELECT FROM pg_policy o WHERE o.polrelid = c.oid AND o.polname = 'of_tenant')
        OR NOT (y.polpermissive AND (
        (y.polname = 'of_tenant' AND y.polcmd = '*' AND y.polroles = '{{0}}'
        AND pg_get_expr(y.polqual, y.polrelid)
        = '(tenant = current_setting(''evidentia.tenant''::text, true))'
        AND pg_get_expr(y.polwithcheck, y.polrelid) = pg_get_expr(y.polqual, y.polrelid))
        OR (y.polname = 'across_tenants' AND y.polroles = ARRAY[c.relowner])
        OR (y.polname = 'all_tenants' AND y.polcmd = 'r'))))
    )"""  # noqa: S608 - names are ours
"""Who may append to logs, if another role than who connects; and a policy that is none of ours."""


class Insert(NamedTuple):
    """Rows for a table, whose columns are named with PostgreSQL's types; no value is None."""

    table: str
    columns: Mapping[str, str]
    rows: Sequence[tuple[Any, ...]]


Transactions = Callable[[], AbstractContextManager[Connection]]
"""Begins a transaction, and gives its connection."""

# So that the server notices within seconds that a client was killed, or its machine is gone, and
# ends what that held; and the client likewise.
_NOTICE = (
    "SELECT set_config('client_connection_check_interval', '2s', false); "
    "SELECT set_config('tcp_keepalives_idle', '30', false), "
    "set_config('tcp_keepalives_interval', '10', false), "
    "set_config('tcp_keepalives_count', '3', false)"
)
COMMIT_SOON = "SELECT set_config('synchronous_commit', 'off', true)"
"""Has a transaction of PostgreSQL end without waiting for the disk: a crash may undo it."""
# What waits in turn changes faster than what PostgreSQL knows of its tables' sizes: a plan by that
# may read a whole table for each batch.
_BY_INDEX = (
    "set_config('enable_seqscan', 'off', {0}), set_config('enable_bitmapscan', 'off', {0}), "
    "set_config('enable_hashjoin', 'off', {0}), set_config('enable_mergejoin', 'off', {0})"
)
_KEEPALIVES = {
    "keepalives": 1,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
_CHECKS_CLIENTS = 140_000
_KEPT_OPEN = 10
"""How many connections stay open while no one asks; the others close once they are given back."""
_POOL_SECONDS = 30
_REPLICA_SECONDS = 2
_NAME_LETTERS = 48

_unhurried: ContextVar[bool] = ContextVar("unhurried", default=False)
_under_any_policy: ContextVar[bool] = ContextVar("under_any_policy", default=False)
_databases: "weakref.WeakSet[Database]" = weakref.WeakSet()
_explaining: ContextVar[bool] = ContextVar("explaining", default=False)


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How PostgreSQL is connected to. What the URL says of the same counts more.

    `connections` is how many there are at most, `statement_seconds` how long one statement may take
    that no one said may take long (0: any time). `schema` is the newest that the program knows,
    which others see by the connection's name. `read_url` is a replica that what may be old is read
    from.
    """

    connections: int = 30
    connect_seconds: int = 10
    lock_seconds: int = 60
    statement_seconds: int = 0
    schema: str | None = None
    read_url: str | None = field(default=None, repr=False)

    def of_replica(self) -> "ServerOptions":
        """Return how a replica is connected to: it is passed over soon where it is gone."""
        seconds = min(self.connect_seconds, _REPLICA_SECONDS)
        return replace(self, read_url=None, connect_seconds=seconds)

    def of_worker(self) -> "ServerOptions":
        """Return how a worker connects: its statements take as long as they need.

        It is told of no replica: that address may hold a password, and nothing is shown by it.
        """
        return replace(self, read_url=None, statement_seconds=0)

    def url(self, url: URL) -> URL:
        """Return an address with all that is said to the driver as it connects."""
        given = url.query
        hosts = given.get("host", "")
        several = isinstance(hosts, tuple) or "," in hosts
        said = str(given.get("application_name", "evidentia"))[:_NAME_LETTERS]
        if self.schema is not None:
            said = f"{said.partition(' schema ')[0]} schema {self.schema}"
        wanted: dict[str, Any] = {
            "connect_timeout": self.connect_seconds,
            **_KEEPALIVES,
            **({"target_session_attrs": "read-write"} if several else {}),
        }
        wanted = {name: str(value) for name, value in wanted.items() if name not in given}
        return url.update_query_dict({**wanted, "application_name": said})


@contextmanager
def unhurried() -> Iterator[None]:
    """Let statements take as long as they need: audits, jobs, exports, whatever reads it all."""
    token = _unhurried.set(True)
    try:
        yield
    finally:
        _unhurried.reset(token)


@contextmanager
def under_any_policy() -> Iterator[None]:
    """Read also where rows could be hidden: an audit does, and says what differs in the schema."""
    token = _under_any_policy.set(True)
    try:
        yield
    finally:
        _under_any_policy.reset(token)


class LockWaitError(EnvironmentProblem):
    """Another connection held a lock for longer than was waited for it; nothing was changed."""


class Database:
    """Connections to one database, for reading and for writing; `where` names it in messages.

    A process may fork while no other thread of it is inside a transaction. Once it is closed, it
    stays closed: whoever was inside a transaction ends it, and everyone else is told.
    """

    def __init__(
        self,
        engine: Engine,
        where: str,
        turns: FairLock | None = None,
        copied: "ReadableCopy | None" = None,
        changes: Changes | None = None,
    ) -> None:
        self.engine = engine
        self.where = where
        self._turns = turns
        self._copy = copied
        self._changes = changes
        self._closed = threading.Event()
        self._tenant: str | None = None
        self._is_across = False
        self._whole = self
        self._hurries = False
        self._copied: Database | None = None
        self.worker_options: ServerOptions | None = None
        """How workers that are told the `address` connect to its server; None if it has none."""
        self.replica: Replica | None = None
        """What is read that may be old, where there is one."""
        self.explain: Callable[[Database], str | None] = lambda _: None
        """Says why statements fail here, where that is known: another schema than was opened."""
        _databases.add(self)

    @classmethod
    def sqlite(cls, path: Path, *, read_only: bool = False) -> "Database":
        """Open an embedded database file; `read_only` never creates or changes it.

        Where nothing can be written beside it, which SQLite needs to read a file with a WAL, a
        copy of both is read.
        """
        if not read_only:
            uri = path.absolute().as_uri()
            engine = _sqlite_engine(f"{uri}?mode=rwc", read_only=False)
            turns = FairLock(path.with_name(f"{path.name}.turns"))
            return cls(engine, str(path), turns, changes=Changes(_sqlite_module(), uri))
        copied = ReadableCopy.if_needed(path, _sqlite_module())
        uri = (path if copied is None else copied.file).absolute().as_uri()
        mode = "ro" if copied is None else "rw"  # SQLite takes the WAL in, in the copy
        return cls(_sqlite_engine(f"{uri}?mode={mode}", read_only=True), str(path), copied=copied)

    @classmethod
    def copied(cls, path: Path) -> "Database":
        """Open a copy of an embedded database, which may be written to; it goes when closed."""
        copied = ReadableCopy.made(path)
        engine = _sqlite_engine(f"{copied.file.absolute().as_uri()}?mode=rw", read_only=False)
        return cls(engine, str(path), copied=copied)

    @classmethod
    def server(cls, url: str, options: "ServerOptions | None" = None) -> "Database":
        """Connect to PostgreSQL by its URL."""
        options = options or ServerOptions()
        try:
            parsed = make_url(url)
        except (ArgumentError, ValueError):
            raise InputError(
                "the database URL cannot be read: use postgresql://user@host/name"
            ) from None
        if "@" in f"{parsed.host}{parsed.database}":  # which would be shown, with what is behind it
            raise InputError(
                "the database URL has an '@' too many: use postgresql://user:password@host/name, "
                "with %40 for an '@' in the password (%2F for '/', %3A for ':', %3F for '?', %25 "
                "for '%')"
            )
        if parsed.get_backend_name() != "postgresql":
            raise InputError(
                f"a {parsed.get_backend_name()!r} database is not supported: use a folder "
                "(SQLite) or a postgresql:// URL"
            )
        try:
            engine = create_engine(
                options.url(parsed.set(drivername="postgresql+psycopg")),
                pool_size=min(_KEPT_OPEN, options.connections),
                max_overflow=options.connections - min(_KEPT_OPEN, options.connections),
                pool_timeout=_POOL_SECONDS,
            )
        except (ImportError, NoSuchModuleError):
            raise EnvironmentProblem(
                "PostgreSQL needs the psycopg driver: pip install 'evidentia[postgres]'"
            ) from None
        event.listen(engine, "connect", partial(_prepare_server, options))
        event.listen(engine, "checkin", _note_use)
        event.listen(engine, "checkout", partial(_require_connected, engine.dialect))
        event.listen(engine, "begin", _begin)
        event.listen(engine, "handle_error", _leave_standby)
        database = cls(engine, _without_secrets(parsed))
        database._hurries = options.statement_seconds > 0
        database.worker_options = options.of_worker()
        if options.read_url is not None:
            database._read_also(cls.server(options.read_url, options.of_replica()))
        return database

    def _read_also(self, copied: "Database") -> None:
        """Read from a replica what may be old; it is closed with this."""
        self._copied = copied
        error = copied.engine.dialect.loaded_dbapi.Error
        self.replica = Replica(copied._connected, copied.where, error)  # noqa: SLF001 - its like

    @classmethod
    def at(cls, address: str, options: "ServerOptions | None" = None) -> "Database":
        """Open for reading what another process calls `address`, as its `worker_options` say."""
        if address.startswith("postgresql"):
            return cls.server(address, options)
        return cls.sqlite(Path(address), read_only=True)

    def of(self, tenant: str) -> "Database":
        """Return this database as one tenant has it: no row of another is seen or written by it.

        Both share connections, and are closed together. The embedded database is all of its user's.
        """
        if self.is_sqlite or self._tenant == tenant:
            return self
        bound = copy(self)
        bound._tenant = check_tenant(tenant)  # noqa: SLF001 - it is one of these
        bound._is_across = False  # noqa: SLF001 - the same
        return bound

    @property
    def unbound(self) -> "Database":
        """This database as no tenant's: for the schema, and what finds out which tenants there are.

        Where row-level security is in force, no tenant's row is seen by it.
        """
        return self._whole

    @property
    def across(self) -> "Database":
        """This database with the rows of all tenants, where its role owns the tables.

        Migrations, backups and what restores them need it; nothing that serves a tenant does.
        """
        if self.is_sqlite:
            return self
        opened = copy(self._whole)
        opened._is_across = True  # noqa: SLF001 - it is one of these
        return opened

    @property
    def address(self) -> str:
        """What another process needs to open the same database; it may hold a password."""
        if self.is_sqlite:
            return self.where if self._copy is None else str(self._copy.file)
        return self.engine.url.render_as_string(hide_password=False)

    @property
    def connections(self) -> int:
        """How many connections there are at most; whoever asks for one more waits."""
        pool = self.engine.pool
        assert isinstance(pool, QueuePool)  # noqa: S101 - both kinds of engines above have one
        return pool.size() + pool._max_overflow  # noqa: SLF001 - the pool tells it in no other way

    @property
    def is_sqlite(self) -> bool:
        """Whether this is the embedded database."""
        return self.engine.dialect.name == "sqlite"

    def state(self) -> tuple[int, int] | None:
        """Return what is another value once anyone has changed anything in the database.

        None if that can't be told in no time, as in PostgreSQL: then take it for changed.
        """
        return None if self._changes is None or self._closed.is_set() else self._changes.state()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Give a connection inside one consistent view of the data.

        Inside of `replica.may_be_old`, and nowhere else, it may be a replica's.
        """
        begin = "BEGIN" if self.is_sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self.translated(), self._reading() as connection:
            connection.execution_options(**{_BEGIN: self._beginning(begin)})
            with connection.begin():
                yield connection

    @contextmanager
    def write(self, *, sequencing: bool = False) -> Iterator[Connection]:
        """Give a connection inside a transaction that is durable once the block is left.

        One for `sequencing` may append to a log: on PostgreSQL as the role that may, if another.
        """
        has_written()
        # On PostgreSQL a locked head is read as it is, not as it was when the transaction began.
        begin = "BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN ISOLATION LEVEL READ COMMITTED"
        with ExitStack() as stack:
            if self._turns:
                stack.enter_context(self._turns.turn())
            stack.enter_context(self.translated())
            connection = stack.enter_context(self._connected())
            connection.execution_options(
                **{_BEGIN: self._beginning(begin), _SEQUENCING: sequencing}
            )
            stack.enter_context(connection.begin())
            yield connection

    @contextmanager
    def keeping(self) -> Iterator[Transactions]:
        """Give what begins one transaction after the other, all on one connection of PostgreSQL.

        It has what its session was given, and goes when the block is left.
        """
        begin = self._beginning("BEGIN ISOLATION LEVEL READ COMMITTED")
        with self.translated(), self._connected() as connection:
            connection.execution_options(**{_BEGIN: begin, _SEQUENCING: True, _IS_KEPT: True})

            @contextmanager
            def transaction() -> Iterator[Connection]:
                with self.translated(), connection.begin():
                    yield connection

            try:
                yield transaction
            finally:
                if not connection.invalidated:
                    connection.detach()

    def ask(
        self,
        query: Callable[Concatenate[Connection, Arguments], Result],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        """Return what one query gives, in a view of its own."""
        with self.read() as connection:
            return query(connection, *arguments, **named)

    @contextmanager
    def apart(self) -> Iterator[Any]:
        """Give PostgreSQL's own connection, outside of the pool and of any transaction."""
        with self.translated():
            self.require_open()
            pooled = self.engine.raw_connection()
            connection: Any = pooled.driver_connection
            pooled.detach()
            with closing(connection):
                connection.autocommit = True
                yield connection

    def settle(self) -> None:
        """Empty SQLite's WAL file, where deleted content stands until then, if no one reads."""
        self.require_open()
        if self._turns is not None:
            with self._turns.turn(), self.translated(), self._connected() as connection:
                driver: Any = connection.connection.driver_connection
                driver.execute("PRAGMA busy_timeout=0")  # readers are not waited for in our turn
                driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                driver.execute(f"PRAGMA busy_timeout={int(_BUSY_SECONDS * 1000)}")

    def close(self) -> None:
        """Close all connections; the last one to leave an SQLite file tidies its WAL, in turn.

        Closing again does nothing.
        """
        if self._closed.is_set():
            return
        self._closed.set()
        if self._copied is not None:
            self._copied.close()
        if self._changes is not None:
            self._changes.close()
        if self._turns is None:
            self.engine.dispose()
            if self._copy is not None:
                self._copy.remove()
            return
        try:
            with self._turns.turn():
                self.engine.dispose()
        except EnvironmentProblem:  # no room even for a turn: nothing is written by closing
            self.engine.dispose()
        finally:
            self._turns.close()

    def require_open(self) -> None:
        """Raise `UsageError` if this was closed."""
        if self._closed.is_set():
            raise UsageError(
                f"the workspace {self.where} is closed: open it again, or call this before the "
                "block of 'with' ends"
            )

    def _beginning(self, begin: str) -> str:
        """Return what begins a transaction; of PostgreSQL's, with whose it is: '' is no tenant."""
        if self.is_sqlite:
            return begin
        takes = "; SET LOCAL statement_timeout = 0" if self._hurries and _unhurried.get() else ""
        across = f"; SET LOCAL {ACROSS_SETTING} = 'on'" if self._is_across else ""
        return f"{begin}; SET LOCAL {TENANT_SETTING} = '{self._tenant or ''}'{across}{takes}"

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """Give a connection that is not kept for others if this was closed meanwhile."""
        self.require_open()
        with self.engine.connect() as connection:
            try:
                yield connection
            finally:
                if self._closed.is_set() and not connection.invalidated:
                    connection.detach()

    def _reading(self) -> AbstractContextManager[Connection]:
        """Give a connection to read by: the replica's, where there is one and it may be used."""
        if self.replica is None or not is_asked():
            return self._connected()
        return self.replica.reading(self._connected)

    def before_fork(self) -> None:
        """Close idle connections: a child that inherits one takes its parent's locks for its own.

        SQLite keeps its locks per process. In a child, it would believe to hold what the parent
        holds, and the parent's closing would remove the WAL file under the child's feet.
        """
        if self._changes is not None:
            self._changes.close()
        self.engine.dispose()

    def after_fork(self) -> None:
        """Give a child a pool of its own; the parent's connections are neither used nor closed."""
        self.engine.dispose(close=False)

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn the driver's errors into ours: damaged, unreachable, or refused by a guard.

        For this object's own transactions, and around those who connect to its server by
        themselves.
        """
        try:
            yield
        except (DBAPIError, self.engine.dialect.loaded_dbapi.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            message = next(iter(str(cause).strip().splitlines()), type(cause).__name__)
            raise self._problem(message) from error
        except UnicodeDecodeError as error:  # the driver fails on messages that quote the damage
            raise IntegrityError(f"the database file is damaged: {error}") from error
        except PoolTimeoutError as error:
            raise EnvironmentProblem(
                f"all {self.connections} connections of this process to {self.where} have been in "
                f"use for {_POOL_SECONDS} seconds: try again, ask for less at once, or let it have "
                "more (EVIDENTIA_DATABASE_CONNECTIONS)"
            ) from error
        except SQLAlchemyError as error:
            raise EnvironmentProblem(f"the database {self.where} failed: {error}") from error

    def _problem(self, message: str) -> EvidentiaError:
        """Return what the driver said as an error of ours, with what to do."""
        if "append-only" in message:
            return IntegrityError(f"the database refused a change: {message}")
        if any(word in message for word in _DAMAGE):
            return IntegrityError(f"the database file is damaged: {message}")
        if _NO_TIME in message:
            said = f"the database {self.where} has a time that was never recorded: {message}"
            return IntegrityError(said)
        if _WAITED in message:
            return LockWaitError(f"the database {self.where} failed: {_waited_too_long()}")
        if (known := self._explained()) is not None:
            return EnvironmentProblem(known)
        if _UNOPENED in message:
            message += f" ({_why_unopened(self.where)})"
        message = next((told for known, told in _TOLD.items() if known in message), message)
        hint = next((f": {hint}" for said, hint in _HINTS.items() if re.search(said, message)), "")
        return EnvironmentProblem(f"the database {self.where} failed: {message}{hint}")

    def _explained(self) -> str | None:
        """Return what is known of why a statement failed."""
        if _explaining.get() or self._closed.is_set():
            return None
        token = _explaining.set(True)
        try:
            return self.explain(self)
        finally:
            _explaining.reset(token)


def run(
    connection: Connection, sql: str, values: Sequence[Any] = ()
) -> CursorResult[*tuple[Any, ...]]:
    """Run one statement; `?` stands for each value, whatever the database calls it."""
    return connection.exec_driver_sql(
        _dialect_sql(sql, connection.dialect.paramstyle), tuple(values)
    )


def fetch(connection: Connection, sql: str, values: Sequence[Any] = ()) -> list[Any]:
    """Run a query and return the driver's own rows: others would cost more to wrap than to read."""
    cursor: Any = connection.connection.cursor()
    cursor.execute(_dialect_sql(sql, connection.dialect.paramstyle), tuple(values))
    rows: list[Any] = cursor.fetchall()
    return rows


def insert_rows(
    connection: Connection, table: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Insert rows, given as tuples in the order of the columns."""
    run_many(connection, _insert_sql(table, tuple(columns)), rows)


def insert_together(
    connection: Connection, inserts: Sequence[Insert], then: tuple[str, Sequence[Any]] | None = None
) -> int:
    """Insert rows into several tables, and run a statement then; return how many rows it found.

    A server is asked once for all of it, as one statement: so nothing of it may look at the rest.
    """
    wanted = [insert for insert in inserts if insert.rows]
    if is_sqlite(connection):
        for insert in wanted:
            insert_rows(connection, insert.table, tuple(insert.columns), insert.rows)
        return -1 if then is None else run(connection, *then).rowcount
    if not wanted:
        return -1 if then is None else run(connection, *then).rowcount
    parts = [_insert_arrays_sql(one.table, tuple(one.columns.items())) for one in wanted]
    values = [
        column(kind, given)
        for one in wanted
        for kind, given in zip(one.columns.values(), zip(*one.rows, strict=True), strict=True)
    ]
    sql, given = then or (None, ())
    if sql is None:
        *parts, last = parts
    else:
        last = _dialect_sql(sql, connection.dialect.paramstyle)
    named = ", ".join(f"part_{at} AS ({part})" for at, part in enumerate(parts))
    statement = f"WITH {named} {last}" if named else last
    return connection.exec_driver_sql(statement, (*values, *given)).rowcount


def run_many(connection: Connection, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Run one statement for each row of values."""
    if rows:
        connection.exec_driver_sql(_dialect_sql(sql, connection.dialect.paramstyle), list(rows))


def stream(connection: Connection, sql: str, values: Sequence[Any]) -> Iterator[Any]:
    """Run a query and give its rows one by one, in constant memory."""
    if is_sqlite(connection):
        # The driver's own rows: SQLAlchemy's would cost more to wrap than to read.
        rows: Any = run(connection, sql, values).cursor
        yield from chain(rows)  # chained, so that ending this early does not close the cursor
        return
    with connection.exec_driver_sql(
        _dialect_sql(sql, connection.dialect.paramstyle),
        tuple(values),
        execution_options={"yield_per": _FETCHED_AT_ONCE},
    ) as result:
        yield from result


def is_sqlite(connection: Connection) -> bool:
    """Whether a connection is to the embedded database."""
    return connection.dialect.name == "sqlite"


def row_lock(connection: Connection) -> str:
    """Return what ends a query whose rows are held to the transaction's end.

    In SQLite whoever writes is alone.
    """
    return "" if is_sqlite(connection) else " FOR UPDATE"


def hold(connection: Connection, what: str | int) -> None:
    """Let no one else pass here under the same name before this transaction ends.

    In SQLite whoever writes is alone.
    """
    if not is_sqlite(connection):
        key = "?" if isinstance(what, int) else "hashtextextended(?, 0)"
        run(connection, f"SELECT pg_advisory_xact_lock({key})", (what,))


def wait_for_locks(connection: Connection, seconds: float) -> None:
    """Have this transaction give up where a lock is not had in some seconds.

    In SQLite whoever writes is alone.
    """
    if not is_sqlite(connection):
        run(connection, "SELECT set_config('lock_timeout', ?, true)", (f"{seconds:g}s",))


def stamp(connection: Connection, number: int) -> None:
    """Have the database keep a number beside its schema; whoever owns the tables may set it."""
    if is_sqlite(connection):
        run(connection, f"PRAGMA user_version = {number:d}")
    else:
        run(connection, f"COMMENT ON TABLE alembic_version IS '{_STAMP}{number:d}'")


def stamped(connection: Connection) -> int | None:
    """Return the number that the database keeps beside its schema; None if it has none."""
    if is_sqlite(connection):
        return int(run(connection, "PRAGMA user_version").scalar() or 0) or None
    sql = "SELECT obj_description('alembic_version'::regclass, 'pg_class')"
    said = str(run(connection, sql).scalar())
    number = said.removeprefix(_STAMP)
    is_ours = said != number and number.isascii() and number.isdigit() and len(number) <= _DIGITS
    return int(number) if is_ours else None


def has_turn(connection: Connection, what: str, seconds: float) -> bool:
    """Whether no one else is where only one may be under a name, before this transaction ends.

    Whoever takes the turn and then does nothing for some seconds loses it, and the transaction.
    """
    if is_sqlite(connection):
        return True
    sql = (
        "SELECT pg_try_advisory_xact_lock(hashtextextended(?, 0)), "
        f"set_config('idle_in_transaction_session_timeout', ?, true), {_BY_INDEX.format('true')}"
    )
    return bool(fetch(connection, sql, (what, f"{seconds:g}s"))[0][0])


def limit_idle(connection: Connection, seconds: float) -> None:
    """Have a transaction end, and undo what it did, if nothing is asked in it for some seconds.

    In SQLite nothing ends it but its process.
    """
    if not is_sqlite(connection):
        sql = "SELECT set_config('idle_in_transaction_session_timeout', ?, true)"
        run(connection, sql, (f"{seconds:g}s",))


def keep_turn(connection: Connection, what: str, idle: float, within: float) -> bool:
    """Whether no one else is where only one may be under a name, for as long as this connection is.

    It goes with the turn when nothing is said for some seconds, between transactions or within one.
    PostgreSQL only.
    """
    sql = (
        "SELECT pg_try_advisory_lock(hashtextextended(?, 0)), "
        "set_config('idle_session_timeout', ?, false), "
        f"set_config('idle_in_transaction_session_timeout', ?, false), {_BY_INDEX.format('false')}"
    )
    return bool(fetch(connection, sql, (what, f"{idle:g}s", f"{within:g}s"))[0][0])


def speak_for(connection: Connection, tenant: str) -> None:
    """Have the rest of a transaction be a tenant's, where it is one after the other's.

    The embedded database is all of its user's.
    """
    if not is_sqlite(connection):
        fetch(connection, "SELECT set_config(?, ?, true)", (TENANT_SETTING, check_tenant(tenant)))


def erase_rows(
    connection: Connection,
    function: str,
    of: tuple[str, int],
    deletions: Sequence[tuple[str, tuple[Any, ...]]],
) -> None:
    """Remove what belongs to an entry of a tenant, which the trail must say was erased.

    In SQLite by the given statements, whose triggers look for that; in PostgreSQL, where the role
    of the program may delete nothing, by a function that does.
    """
    if is_sqlite(connection):
        for sql, values in deletions:
            run(connection, sql, values)
    else:
        run(connection, f"SELECT {function}(?, ?)", of)


def texts(connection: Connection, values: Sequence[str]) -> Any:
    """Return texts as a column of them takes them: PostgreSQL has arrays, SQLite keeps JSON."""
    if is_sqlite(connection):
        return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))
    return list(values)


def quoted(connection: Connection, name: str) -> str:
    """Return a name as SQL writes it."""
    return connection.dialect.identifier_preparer.quote(name)


def is_storable(text: str) -> bool:
    """Whether every database could hold a text."""
    return "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


@contextmanager
def any_text(connection: Connection) -> Iterator[None]:
    """Read text that is not UTF-8 too, with U+FFFD in its place: damage must not stop an audit."""
    if not is_sqlite(connection):  # PostgreSQL stores none
        yield
        return
    driver: Any = connection.connection.driver_connection
    driver.text_factory = lambda data: data.decode(errors="replace")
    try:
        yield
    finally:
        driver.text_factory = str


def damage(connection: Connection) -> str | None:
    """Return the first thing that SQLite itself finds wrong with its file, or None."""
    if not is_sqlite(connection):
        return None
    found = run(connection, "PRAGMA quick_check(1)").scalar()
    return None if found == "ok" else str(found)


@cache
def _dialect_sql(sql: str, paramstyle: str) -> str:
    """Return SQL as a database takes it; SQLite, the one with question marks, has no schemas."""
    return sql.replace("llm.", "") if paramstyle == "qmark" else sql.replace("?", "%s")


@cache
def _insert_sql(table: str, columns: tuple[str, ...]) -> str:
    marks = ", ".join("?" for _ in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - names are ours


@cache
def _insert_arrays_sql(table: str, columns: tuple[tuple[str, str], ...]) -> str:
    names = ", ".join(name for name, _ in columns)
    arrays = ", ".join(f"%b::{kind}[]" for _, kind in columns)  # as binary, or bytes go as text
    return f"INSERT INTO {table} ({names}) SELECT * FROM unnest({arrays})"  # noqa: S608 - names are ours


def _without_secrets(url: URL) -> str:
    """Return the URL for messages: no password, and of the options only where the server is."""
    query = {name: value for name, value in url.query.items() if name in ("host", "port")}
    return url.set(query=query).render_as_string(hide_password=True)


def _prepare_server(options: ServerOptions, connection: Any, record: Any) -> None:
    """Have PostgreSQL answer as it should, whatever the database or the role has set otherwise.

    One schema is asked, that of our tables, and PostgreSQL's own names come before those in it.
    What a policy that isn't ours could hide or show is an error. What is committed is on the disk.
    And no one waits for ever behind a transaction that was left open.
    """
    connection.adapters.register_loader("timestamptz", _time_loader())
    connection.adapters.register_dumper(Column, column_dumper())
    connection.autocommit = True  # the driver begins no transaction by itself: `_begin` does
    ((path,),) = connection.execute("SELECT pg_catalog.current_schemas(false)").fetchall()
    connection.execute(_SETTINGS)
    if path:
        rows = connection.execute(_SCHEMAS_WITH_TABLES, (path,)).fetchall()
        having = {name for (name,) in rows}
        ours = next((name for name in path if name in having), path[0])
        connection.execute(
            "SELECT set_config('search_path', quote_ident(%s) || ', pg_temp', false)", (ours,)
        )
    for name, seconds in (
        ("lock_timeout", options.lock_seconds),
        ("statement_timeout", options.statement_seconds),
    ):  # unless the server, the role or the URL says another
        connection.execute(
            "SELECT set_config(%s, %s, false) WHERE current_setting(%s) = '0'",
            (name, f"{seconds}s", name),
        )
    if connection.info.server_version >= _CHECKS_CLIENTS:
        connection.execute(_NOTICE)
    found = connection.execute(_ROLE_AND_POLICIES).fetchone()
    record.info[_SEQUENCER], record.info[_POLICIES] = found


def _note_use(_connection: Any, record: Any) -> None:
    """Note when a connection was used last."""
    record.info[_USED] = time.monotonic()


def _require_connected(dialect: Dialect, connection: Any, record: Any, _pooled: object) -> None:
    """Have a connection made again that was lost while no one used it.

    Of one that was used just now the server is not asked: a server that ended it has said so, which
    is seen here.
    """
    used = record.info.get(_USED)
    if used is None:  # it was made just now
        return
    try:
        if time.monotonic() - used < _FRESH_SECONDS and not said_at([connection.pgconn.socket], 0):
            return
        dialect.do_ping(connection)
    except dialect.loaded_dbapi.Error as error:
        raise InvalidatePoolError from error


def _begin(connection: Connection) -> None:
    """Begin a transaction as its options say; on another connection, if this one was lost."""
    if connection.dialect.name == "sqlite":
        driver: Any = connection.connection.driver_connection
        driver.execute(connection.get_execution_options().get(_BEGIN, "BEGIN"))
        return
    try:
        _begin_on_server(connection)
    except connection.dialect.loaded_dbapi.OperationalError:
        if not connection.invalidated or connection.get_execution_options().get(_IS_KEPT):
            raise
        _begin_on_server(connection)  # nothing was asked yet that could have been lost


def _begin_on_server(connection: Connection) -> None:
    driver: Any = connection.connection.driver_connection
    statement = connection.get_execution_options().get(_BEGIN, "BEGIN")
    sequencer, policies = connection.info.get(_SEQUENCER), connection.info.get(_POLICIES)
    is_bound = f"{TENANT_SETTING} = ''" not in statement
    if policies and is_bound and not _under_any_policy.get():
        connection.invalidate()  # the next connection looks again
        raise EnvironmentProblem(
            f"row-level security is not as the program made it (table {policies}): rows could be "
            "hidden, or others' be shown. 'evidentia db status' says what differs; undo that"
        )
    if sequencer and connection.get_execution_options().get(_SEQUENCING):
        statement += f"; SET LOCAL ROLE {sequencer}"
    try:
        driver.execute(statement, prepare=False)  # some in one: PostgreSQL prepares one at a time
    except connection.dialect.loaded_dbapi.OperationalError:
        connection.invalidate()
        raise


def _leave_standby(context: Any) -> None:
    """Have connections to a server that became a standby made again: they may lead elsewhere."""
    if getattr(context.original_exception, "sqlstate", None) == _READ_ONLY or (
        _RECOVERY in str(context.original_exception)
    ):
        context.is_disconnect = True


@cache
def _time_loader() -> type:
    from psycopg.types.datetime import TimestamptzLoader  # noqa: PLC0415 - not all have the driver

    class TimeLoader(TimestamptzLoader):
        def load(self, data: Any) -> Any:
            moment = super().load(data).astimezone(UTC)
            return moment.isoformat(timespec="microseconds")[:-6] + "Z"

    return TimeLoader


def _waited_too_long() -> str:
    return (
        "another connection held a lock for longer than was waited for it "
        f"(lock_timeout, {_LOCK_SECONDS} seconds if none is set), and nothing was changed: end the "
        "transaction that holds it (pg_stat_activity and pg_blocking_pids() name it, "
        "pg_prepared_xacts if it is a prepared one), then try "
        "again"
    )


def _why_unopened(path: str) -> str:
    """Say why SQLite cannot open its files, which it does not say itself."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
    except OSError as error:
        return str(error.strerror)
    return (
        "look whether its folder can be written, and whether this process may have more open files "
        "('ulimit -n')"
    )


def _sqlite_engine(uri: str, *, read_only: bool) -> Engine:
    module = _sqlite_module()

    def connect() -> Any:
        return module.connect(
            uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )

    engine = create_engine(
        "sqlite://", module=module, creator=connect, poolclass=QueuePool, max_overflow=30
    )

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: object) -> None:
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA cell_size_check=ON")
        connection.execute("PRAGMA secure_delete=ON")  # an erased body is overwritten
        if not read_only:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")

    event.listen(engine, "begin", _begin)
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


def _before_fork() -> None:
    for database in list(_databases):
        database.before_fork()


def _after_fork() -> None:
    for database in list(_databases):
        database.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)

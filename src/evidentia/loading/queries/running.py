"""Live SQL: the rows of a query, streamed into the lake as NDJSON, without changing anything.

One object per row, columns in their order; the same rows always give the same bytes. JSON's own
values stay what they are, integers exactly. Decimals, times, UUIDs and all others become text;
bytes become base64; NaN and infinities, which JSON does not have, become the text `NaN`,
`Infinity` and `-Infinity`.
"""

import json
import math
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path, PurePath
from typing import Any, Final

import orjson
from sqlalchemy import Connection, CursorResult, Engine, create_engine, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from evidentia.errors import EnvironmentProblem, InputError, NotFoundError
from evidentia.language.counting import counted
from evidentia.loading.queries.deadlines import Deadline, deadline
from evidentia.loading.queries.readonly import only_reading
from evidentia.loading.results.duckdb_files import reading, run_query
from evidentia.loading.results.picked import distinct
from evidentia.loading.results.reading import form_of
from evidentia.store.lake import Lake

_ROWS_AT_ONCE: Final = 1_000
_BYTES_AT_ONCE: Final = 2**20
_CONNECT_SECONDS: Final = 10
_SECRET: Final = re.compile(r"pass|pwd|secret|token|key|odbc", re.IGNORECASE)
_JSON_KINDS: Final = frozenset({str, int, bool, type(None)})

Redact = Callable[[str], str]
"""Must find in several lines at once what it finds in each of them alone."""


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """What a query may take: rows, bytes of the kept result, and seconds from first to last."""

    max_rows: int = 5_000_000
    max_bytes: int = 2 * 2**30
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class KeptResult:
    """A result in the lake, and what its file alone does not say when it has no rows."""

    sha256: str
    byte_count: int
    row_count: int
    columns: tuple[str, ...]


_LIMITS: Final = QueryLimits()


def keep_query_result(
    source: Engine | str,
    sql: str,
    lake: Lake,
    name: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    limits: QueryLimits = _LIMITS,
    redact: Redact | None = None,
) -> KeptResult:
    """Run one query and keep its rows in the lake, in constant memory and without writing.

    `source` is an engine or a URL of SQLAlchemy; `name` is what messages call the query, and no
    message shows a password. With `parameters`, `:name` in the statement stands for one.
    `redact` changes the text of every cell before it is written; it must give the same text for
    the same text, and find in several lines at once what it finds in each alone.
    Raise `InputError` if the query fails, writes, or takes more than its limits; nothing is kept.
    """
    with _engine(source, name) as engine:
        problems = _Problems(name, engine.url, redact)
        with problems.connecting():
            connection = engine.connect()
        with (
            problems.asking(),
            connection,
            only_reading(connection, sql, name, limits.seconds) as interrupt,
            deadline(name, limits.seconds, interrupt) as clock,
            _run(connection, sql, parameters) as result,
        ):
            if not result.returns_rows:
                raise InputError(f"{name}: the statement gives no rows: give a query")
            keeping = _Keeping(name, tuple(result.keys()), limits, redact)
            return keeping.keep(lake, result.fetchmany, clock)


def keep_duckdb_result(
    sql: str,
    files: Mapping[str, Path],
    lake: Lake,
    name: str,
    *,
    limits: QueryLimits = _LIMITS,
    redact: Redact | None = None,
) -> KeptResult:
    """Run one query over files with DuckDB and keep its rows, as `keep_query_result` does.

    Each file is a view, which is all the query can read; its extension tells its form. Where a
    path has none, as in the lake, that of its name does: `orders.csv` is the view `orders`.
    """
    views = {}
    for given, path in files.items():
        form = form_of(path, given, None)
        if not path.is_file():
            raise NotFoundError(f"{name}: there is no file for {given!r}")
        has_own = PurePath(path).suffix
        views[given if has_own else PurePath(given).stem] = (path, form)
    with (
        reading(views, name) as connection,
        deadline(name, limits.seconds, connection.interrupt) as clock,
    ):
        columns, rows = run_query(connection, sql, name)
        return _Keeping(name, columns, limits, redact).keep(lake, rows.fetchmany, clock)


class _Keeping:
    """Rows on their way into the lake."""

    def __init__(
        self, name: str, columns: tuple[str, ...], limits: QueryLimits, redact: Redact | None
    ) -> None:
        self._name, self._limits, self._redact = name, limits, redact
        self._columns = distinct(columns)

    def keep(
        self, lake: Lake, fetch: Callable[[int], Sequence[Sequence[Any]]], clock: Deadline
    ) -> KeptResult:
        """Fetch rows until there are no more, and keep them."""
        count, at_once = 0, 1
        with lake.writer() as writer:
            while rows := fetch(at_once):
                clock.check()
                count += len(rows)
                if count > self._limits.max_rows:
                    raise self._too_many(counted(self._limits.max_rows, "row"))
                data = self._lines(rows)
                if writer.byte_count + len(data) > self._limits.max_bytes:
                    raise self._too_many(counted(self._limits.max_bytes, "byte"))
                writer.write(data)
                # Wide rows are fetched in smaller numbers, so that memory stays bounded.
                each = len(data) // len(rows) + 1
                at_once = max(1, min(_ROWS_AT_ONCE, at_once * 8, _BYTES_AT_ONCE // each))
            clock.check()
            return KeptResult(writer.keep(), writer.byte_count, count, self._columns)

    def _too_many(self, limit: str) -> InputError:
        return InputError(f"{self._name} gives more than {limit}: narrow the query")

    def _lines(self, rows: Sequence[Sequence[Any]]) -> bytes:
        """Return rows as lines of JSON."""
        plain: Sequence[Sequence[Any]] = list(
            zip(*map(_json_column, zip(*rows, strict=True)), strict=True)
        )
        if self._redact is not None:
            plain = _redacted_rows(plain, self._redact)
        try:
            return b"".join(_line(dict(zip(self._columns, row, strict=True))) for row in plain)
        except (UnicodeEncodeError, RecursionError, ValueError) as error:
            raise InputError(f"{self._name} has a cell that JSON cannot hold: {error}") from None


def _line(row: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # integers past 64 bits, which JSON holds all the same
        return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _json_column(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a column's values as JSON has them; a column at a time, since most need no change."""
    kinds = set(map(type, values))
    if kinds <= _JSON_KINDS or (kinds == {float} and all(map(math.isfinite, values))):
        return values
    return tuple(map(_json_value, values))


def _json_value(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return _unbounded(value)
        case None | str() | int() | float():
            return value
        case bytes() | bytearray() | memoryview():
            return b64encode(value).decode()
        case Mapping():
            return {str(key): _json_value(one) for key, one in value.items()}
        case list() | tuple():
            return [_json_value(one) for one in value]
        case _:
            return value.isoformat() if isinstance(value, date | datetime | time) else str(value)


def _unbounded(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _redacted_rows(rows: Sequence[Sequence[Any]], redact: Redact) -> Sequence[Sequence[Any]]:
    """Return rows with their cells redacted; those in which nothing is found are not looked into.

    Cells stand on lines of their own and not as JSON, whose escapes could hide what is looked for.
    """
    texts = ["\n".join(part for cell in row for part in _texts(cell)) for row in rows]
    whole = "\n".join(texts)
    if redact(whole) == whole:
        return rows
    return [
        row if redact(shown) == shown else [_redacted(cell, redact) for cell in row]
        for row, shown in zip(rows, texts, strict=True)
    ]


def _texts(value: Any) -> Iterator[str]:
    """Give the texts and numbers of a cell, and the names inside it."""
    match value:
        case None | bool():
            return
        case dict():
            for key, one in value.items():
                yield key
                yield from _texts(one)
        case list():
            for one in value:
                yield from _texts(one)
        case _:
            yield str(value)


def _redacted(value: Any, redact: Redact) -> Any:
    match value:
        case None | bool():
            return value
        case dict():
            return {redact(key): _redacted(one, redact) for key, one in value.items()}
        case list():
            return [_redacted(one, redact) for one in value]
        case _:
            shown = str(value)
            changed = redact(shown)
            return value if changed == shown else changed


def _run(
    connection: Connection, sql: str, parameters: Mapping[str, Any] | None
) -> CursorResult[*tuple[Any, ...]]:
    options = {"stream_results": True, "max_row_buffer": _ROWS_AT_ONCE}
    if parameters is None:  # as it is: neither a colon nor a percent sign means anything here
        return connection.exec_driver_sql(sql, execution_options={**options, "no_parameters": True})
    return connection.execute(text(sql), dict(parameters), execution_options=options)


@contextmanager
def _engine(source: Engine | str, name: str) -> Iterator[Engine]:
    """Give an engine: the given one, or one for the URL, which is closed afterwards."""
    if isinstance(source, Engine):
        yield source
        return
    try:
        url = make_url(source)
        url.get_dialect()
    except (NoSuchModuleError, ImportError):
        raise EnvironmentProblem(f"{name}: there is no driver for this kind of database") from None
    except (ArgumentError, ValueError):
        raise InputError(
            f"{name}: the database URL cannot be read: use dialect://user@host/name"
        ) from None
    options: dict[str, Any] = {}
    if url.get_backend_name() == "sqlite":
        url = _read_only(url, name)
    elif url.get_backend_name() == "postgresql":
        if "+" not in url.drivername:
            url = url.set(drivername="postgresql+psycopg")
        options = {"connect_timeout": _CONNECT_SECONDS}
    try:
        engine = create_engine(url, poolclass=NullPool, connect_args=options, hide_parameters=True)
    except ImportError as error:
        needed = error.name or "its driver"
        raise EnvironmentProblem(
            f"{name}: this kind of database needs {needed}: install it"
        ) from None
    try:
        yield engine
    finally:
        engine.dispose()


def _read_only(url: URL, name: str) -> URL:
    """Return the URL of an SQLite file such that opening it neither creates nor changes it."""
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        return url
    path = Path(url.database)
    if not path.is_file():
        raise NotFoundError(f"{name}: there is no database file {path}")
    return url.set(database=path.absolute().as_uri(), query={"mode": "ro", "uri": "true"})


class _Problems:
    """Turns the errors of a database into ours: on one line, named, without secrets."""

    def __init__(self, name: str, url: URL, redact: Redact | None) -> None:
        self._name, self._redact = name, redact
        options = [value for option, value in url.query.items() if _SECRET.search(option)]
        self._secrets = [str(secret) for secret in (url.password, *options) if secret]

    @contextmanager
    def connecting(self) -> Iterator[None]:
        """Translate what stands in the way of a connection."""
        try:
            yield
        except (SQLAlchemyError, ImportError, OSError) as error:
            raise EnvironmentProblem(
                f"{self._name}: the database cannot be reached: {self._reason(error)}"
            ) from None

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Translate what stands in the way of a result."""
        try:
            yield
        except DBAPIError as error:
            if error.connection_invalidated:
                raise EnvironmentProblem(
                    f"{self._name}: the database went away: {self._reason(error)}"
                ) from None
            raise InputError(f"{self._name}: the query failed: {self._reason(error)}") from None
        except (SQLAlchemyError, UnicodeError, RecursionError) as error:
            raise InputError(f"{self._name}: the query failed: {self._reason(error)}") from None

    def _reason(self, error: BaseException) -> str:
        cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
        reason = next(iter(str(cause).strip().splitlines()), "") or type(cause).__name__
        for secret in self._secrets:
            reason = reason.replace(secret, "***")
        return self._redact(reason) if self._redact else reason

"""Copying all that a tenant has, table by table: what a backup reads, and what restoring writes.

The tables and columns come from the metadata, so that no new table is forgotten: each is copied, or
is left out for a reason that stands here.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    Connection,
    DateTime,
    Double,
    Float,
    Integer,
    LargeBinary,
    Table,
    inspect,
)
from sqlalchemy.dialects import postgresql, registry

from evidentia.errors import IntegrityError
from evidentia.store.database import fetch, insert_rows, is_sqlite, run, stream, texts
from evidentia.store.sql import across
from evidentia.store.tables import metadata
from evidentia.trail.backup import BackupColumn, BackupTable, ColumnKind

LEFT_OUT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "chunk_embeddings": "made again from the passages that they are of",
        "job_events": "work in progress, which goes with its job",
        "job_items": "work in progress, which goes with its job",
        "job_runners": "which servers run now",
        "jobs": "work in progress: what a job recorded is in the log, and its queue and its files "
        "are kept elsewhere, so whoever waits for one asks for it again",
        "lake_objects": "where this lake has its files: noted anew of the lake that is restored to",
        "openfga_followed": "without it, OpenFGA is compared with all of the log that was restored",
        "openfga_outbox": "what is on its way to OpenFGA, which is compared with the whole log",
    }
)
"""The tables that no backup has, each with the reason."""

HEADS: Final = "trail_heads"
"""What is written last: without its head, there is no log."""
_BY_TIME: Final = ("seq", "size", "trail_seq", "created_at", "created_utc", "recorded_utc")
"""The columns by whose order new rows come last, so that parts before them stay the same."""


_POSTGRESQL: Final[Any] = registry.load("postgresql")()


def copied() -> list[BackupTable]:
    """Return the tables that are copied, without rows, in the order in which they are written."""
    tables = [table for table in metadata.sorted_tables if table.fullname not in LEFT_OUT]
    tables.sort(key=lambda table: table.name == HEADS)
    return [
        BackupTable(
            name=table.fullname,
            columns=[
                BackupColumn(name=column.name, kind=_kind(column.type))
                for column in table.columns
                if column.name != "tenant"
            ],
            parts=[],
        )
        for table in tables
    ]


def tenants(connection: Connection) -> list[str]:
    """Return all tenants that have a log, and those of whom something waits for one."""
    return sorted([*across.tenants(connection), *across.waiting(connection)])


def rows(connection: Connection, tenant: str, table: BackupTable) -> Iterator[list[Any]]:
    """Give a tenant's rows of a table, without the tenant, in an order that stays the same."""
    names = [column.name for column in table.columns]
    order = ", ".join(_order(metadata.tables[table.name]))
    sql = f"SELECT tenant, {', '.join(names)} FROM {table.name} WHERE tenant = ? ORDER BY {order}"  # noqa: S608 - names are ours
    lists = [at for at, kind in enumerate(table.kinds) if kind is ColumnKind.TEXTS]
    for found, *row in stream(connection, sql, (tenant,)):
        if found != tenant:  # an index leads to a row whose tenant was damaged
            raise IntegrityError(
                f"table {table.name} has a row of {str(found)[:80]!r} among those of {tenant!r}: "
                "the database is damaged; run 'evidentia verify'"
            )
        for at in lists:
            row[at] = json.loads(row[at]) if isinstance(row[at], str) else row[at]
        yield row


def is_numbered(table: BackupTable) -> bool:
    """Whether a table's rows are in the order of the log's numbers, each by one number."""
    return _order(metadata.tables[table.name])[:1] == ("seq",) and table.columns[0].name == "seq"


def write(
    connection: Connection, tenant: str, table: BackupTable, given: Sequence[Sequence[Any]]
) -> None:
    """Insert rows of a table, as `rows` gives them."""
    lists = [at for at, kind in enumerate(table.kinds) if kind is ColumnKind.TEXTS]
    written = [(tenant, *row) for row in given]
    if lists:
        written = [
            (tenant, *(texts(connection, one) if at in lists else one for at, one in enumerate(r)))
            for r in given
        ]
    names = ["tenant", *(column.name for column in table.columns)]
    insert_rows(connection, table.name, names, written)


def first_filled(connection: Connection) -> str | None:
    """Return the name of a table that has any rows; None if all are empty, or not there yet."""
    looked = inspect(connection)
    for name, table in metadata.tables.items():
        schema = None if is_sqlite(connection) else table.schema
        if not looked.has_table(table.name, schema=schema):
            continue
        if fetch(connection, f"SELECT 1 FROM {name} LIMIT 1"):  # noqa: S608 - names are ours
            return name
    return None


def columns_there(connection: Connection, name: str) -> frozenset[str]:
    """Return the columns that a table has; none if there is no such table."""
    known = name in metadata.tables
    found = run(connection, f"SELECT * FROM {name} LIMIT 0") if known else None  # noqa: S608 - names are ours
    return frozenset() if found is None else frozenset(found.keys())


@cache
def _order(table: Table) -> tuple[str, ...]:
    keys = [column.name for column in table.primary_key.columns if column.name != "tenant"]
    first = next((name for name in _BY_TIME if name in table.columns), None)
    return tuple(dict.fromkeys([*([first] if first else []), *keys])) or ("tenant",)


def _kind(kind: Any) -> ColumnKind:
    """Return what a column holds: PostgreSQL's types tell more than SQLite's."""
    found = kind.dialect_impl(_POSTGRESQL)
    for of, said in (
        (postgresql.ARRAY, ColumnKind.TEXTS),
        (Boolean, ColumnKind.TRUTH),
        (DateTime, ColumnKind.TIME),
        (LargeBinary, ColumnKind.BYTES),
        (Integer, ColumnKind.INTEGER),
        (Float, ColumnKind.REAL),
        (Double, ColumnKind.REAL),
    ):
        if isinstance(found, of):
            return said
    return ColumnKind.TEXT

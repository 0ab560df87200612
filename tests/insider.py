"""Someone with the database in their hands and no key: rewrites a log as if the program had."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from pysqlite3 import dbapi2 as sqlite
from sqlalchemy import Connection

from evidentia.store.database import run
from evidentia.store.sql import log
from evidentia.trail.entry import SALT_BYTES, EntryKind
from evidentia.trail.merkle import leaf_hash
from evidentia.trail.tiles import Frontier
from evidentia.trail.waiting import waiting
from evidentia.workspace import Workspace

AT = "2026-11-01T09:00:00.000000Z"
Said = tuple[EntryKind, str, Any]


def without_guards(workspace: Workspace, work: Callable[[Connection], object]) -> None:
    """Do something to an SQLite database with no trigger in the way; the triggers come back."""
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        sql = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        triggers = run(connection, sql).fetchall()
        for name, _ in triggers:
            run(connection, f"DROP TRIGGER {name}")
        work(connection)
        for _, sql in triggers:
            run(connection, sql)


def append_unsigned(workspace: Workspace, *said: Said) -> None:
    """Append entries as an older version did: the head moves, and nothing is signed."""
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        _append(connection, workspace.tenant, said)


def slip_in(workspace: Workspace, *said: Said) -> None:
    """Have entries appended and signed by the log's checkpoint, with no signature of their own.

    So does whoever gets into the program that appends, or has it take what another wrote.
    """
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        held = workspace.opened.appending.hold(connection, workspace.tenant, by="owner")
        for kind, of, body in said:
            held.append([waiting(kind.value, of, body, AT, bytes(SALT_BYTES))])
        held.sign()
    workspace.opened.appending.committed(held)


def cut_back(workspace: Workspace, size: int, *said: Said) -> None:
    """Take everything from an entry on out of the log, its checkpoints too; append something else.

    The log has less than 256 entries. What it says then is whole, but for the signature.
    """

    def work(connection: Connection) -> None:
        tenant = workspace.tenant
        entries = [row[3] for row in log.entries_between(connection, tenant, 0, size)]
        for table in ("trail_bodies", "trail_entries", "trail_keys", "trail_idempotency"):
            run(connection, f"DELETE FROM {table} WHERE tenant = ? AND seq >= ?", (tenant, size))
        run(
            connection,
            "DELETE FROM trail_checkpoints WHERE tenant = ? AND size > ?",
            (tenant, size),
        )
        frontier = Frontier()
        frontier.extend(leaf_hash(entry) for entry in entries)
        run(
            connection,
            "UPDATE trail_heads SET size = ?, root = ?, edge = ?, checkpoints = "
            "(SELECT COUNT(*) FROM trail_checkpoints c WHERE c.tenant = ?) WHERE tenant = ?",
            (size, frontier.root(), frontier.pack(), tenant, tenant),
        )
        _append(connection, tenant, said)

    without_guards(workspace, work)


def _append(connection: Connection, tenant: str, said: Sequence[Said]) -> None:
    if said:
        head = log.require_head(connection, tenant)
        items = [waiting(kind.value, of, body, AT, bytes(SALT_BYTES)) for kind, of, body in said]
        moved, _ = log.append(connection, head, items)
        log.move_head(connection, head, moved)


def disagreeing_index(database: Path, index: str, where: str) -> None:
    """Have an index lack rows that its table has, as the file's owner can."""
    with closing(sqlite.connect(str(database), isolation_level=None)) as connection:
        find = "SELECT sql FROM sqlite_master WHERE name = ?"
        (sql,) = connection.execute(find, (index,)).fetchone()
        version = connection.execute("PRAGMA schema_version").fetchone()[0]
        connection.execute("PRAGMA writable_schema=ON")
        put = "UPDATE sqlite_master SET sql = ? WHERE name = ?"
        connection.execute(put, (f"{sql} WHERE {where}", index))
        connection.execute(f"PRAGMA schema_version={version + 1}")
    with closing(sqlite.connect(str(database), isolation_level=None)) as connection:
        connection.execute(f"REINDEX {index}")
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute(put, (sql, index))
        connection.execute(f"PRAGMA schema_version={version + 2}")

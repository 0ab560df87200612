"""The SQL of snapshots: the newest signed one of each log, and the nodes of its map."""

from collections.abc import Iterable, Iterator, Mapping

from sqlalchemy import Connection

from evidentia.store.database import fetch, run, run_many, stream


def snapshot_note(connection: Connection, tenant: str) -> str | None:
    """Return a log's signed snapshot; None if there is none."""
    rows = fetch(connection, "SELECT note FROM trail_snapshots WHERE tenant = ?", (tenant,))
    return str(rows[0][0]) if rows else None


def keep_snapshot(connection: Connection, tenant: str, note: str) -> None:
    """Keep a snapshot in the place of the one before."""
    sql = (
        "INSERT INTO trail_snapshots (tenant, note) VALUES (?, ?) "
        "ON CONFLICT (tenant) DO UPDATE SET note = excluded.note"
    )
    run(connection, sql, (tenant, note))


def node_data(connection: Connection, tenant: str, name: bytes) -> bytes | None:
    """Return a node of the map by its hash; None if it is not there."""
    sql = "SELECT data FROM trail_snapshot_nodes WHERE tenant = ? AND hash = ?"
    rows = fetch(connection, sql, (tenant, name))
    return bytes(rows[0][0]) if rows else None


def keep_nodes(connection: Connection, tenant: str, added: Mapping[bytes, bytes]) -> None:
    """Keep nodes by their hashes, whatever stands there."""
    sql = (
        "INSERT INTO trail_snapshot_nodes (tenant, hash, data) VALUES (?, ?, ?) "
        "ON CONFLICT (tenant, hash) DO UPDATE SET data = excluded.data"
    )
    run_many(connection, sql, [(tenant, name, data) for name, data in added.items()])


def remove_nodes(connection: Connection, tenant: str, names: Iterable[bytes] | None = None) -> None:
    """Remove nodes that the map has no more; all of them if none are named."""
    sql = "DELETE FROM trail_snapshot_nodes WHERE tenant = ?"
    if names is None:
        run(connection, sql, (tenant,))
    else:
        run_many(connection, f"{sql} AND hash = ?", [(tenant, name) for name in names])


def nodes(connection: Connection, tenant: str) -> Iterator[tuple[bytes, bytes]]:
    """Give all nodes of a log's map with their hashes."""
    sql = "SELECT hash, data FROM trail_snapshot_nodes WHERE tenant = ?"
    for name, data in stream(connection, sql, (tenant,)):
        yield bytes(name), bytes(data)

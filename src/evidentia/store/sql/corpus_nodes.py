"""The SQL of the map that commits to a library: the nodes of the one that is current."""

from collections.abc import Iterable, Iterator, Mapping

from sqlalchemy import Connection

from evidentia.store.database import fetch, run, run_many, stream


def node_data(connection: Connection, tenant: str, name: bytes) -> bytes | None:
    """Return a node by its hash, as it stands there; None if it is not there."""
    sql = "SELECT data FROM corpus_nodes WHERE tenant = ? AND hash = ?"
    rows = fetch(connection, sql, (tenant, name))
    return bytes(rows[0][0]) if rows else None


def keep_nodes(connection: Connection, tenant: str, added: Mapping[bytes, bytes]) -> None:
    """Keep nodes by their hashes, whatever stands there."""
    sql = (
        "INSERT INTO corpus_nodes (tenant, hash, data) VALUES (?, ?, ?) "
        "ON CONFLICT (tenant, hash) DO UPDATE SET data = excluded.data"
    )
    run_many(connection, sql, [(tenant, name, data) for name, data in added.items()])


def remove_nodes(connection: Connection, tenant: str, names: Iterable[bytes] | None = None) -> None:
    """Remove nodes that the map has no more; all of them if none are named."""
    sql = "DELETE FROM corpus_nodes WHERE tenant = ?"
    if names is None:
        run(connection, sql, (tenant,))
    else:
        run_many(connection, f"{sql} AND hash = ?", [(tenant, name) for name in names])


def nodes(connection: Connection, tenant: str) -> Iterator[tuple[bytes, bytes]]:
    """Give all nodes with their hashes, as they stand there."""
    sql = "SELECT hash, data FROM corpus_nodes WHERE tenant = ?"
    for name, data in stream(connection, sql, (tenant,)):
        yield bytes(name), bytes(data)

"""Where object storage has files: the row of a digest points to its object's key and version.

What an object was locked by is noted, too. A row is never believed: an audit asks the bucket.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection

from evidentia.store.database import fetch, run
from evidentia.store.lake import Placed


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object of the lake, and what it was locked by, as its row says."""

    place: Placed
    mode: str | None = None
    kept_until: str | None = None
    held: bool = False


def place(connection: Connection, tenant: str, places: Iterable[Placed]) -> None:
    """Note where files are; what their objects were locked by stays noted where they are the same.

    An object that took another one's place was never locked.
    """
    sql = (
        "INSERT INTO lake_objects (tenant, digest, object_key, version, held) "
        "VALUES (?, ?, ?, ?, 0) ON CONFLICT (tenant, digest) DO UPDATE "
        "SET object_key = excluded.object_key, version = excluded.version, "
        "mode = NULL, kept_until = NULL, held = 0 "
        "WHERE lake_objects.object_key <> excluded.object_key "
        "OR coalesce(lake_objects.version, '') <> coalesce(excluded.version, '')"
    )
    for one in sorted(places, key=lambda place: place.digest):
        run(connection, sql, (tenant, one.digest, one.key, one.version))


def find(connection: Connection, tenant: str, digest: str) -> StoredObject | None:
    """Return where a file is, and what it was locked by; None if no row says."""
    sql = (
        "SELECT object_key, version, mode, kept_until, held FROM lake_objects "
        "WHERE tenant = ? AND digest = ?"
    )
    for key, version, mode, until, held in fetch(connection, sql, (tenant, digest)):
        return StoredObject(Placed(digest, key, version), mode, until, bool(held))
    return None


def lock(connection: Connection, tenant: str, locked: StoredObject) -> None:
    """Note what an object was locked by."""
    run(
        connection,
        "UPDATE lake_objects SET mode = ?, kept_until = ?, held = ? "
        "WHERE tenant = ? AND digest = ? AND object_key = ?",
        (
            locked.mode,
            locked.kept_until,
            int(locked.held),
            tenant,
            locked.place.digest,
            locked.place.key,
        ),
    )


def forget(connection: Connection, tenant: str, digests: Iterable[str]) -> None:
    """Remove the rows of files that were removed."""
    for digest in digests:
        run(
            connection, "DELETE FROM lake_objects WHERE tenant = ? AND digest = ?", (tenant, digest)
        )

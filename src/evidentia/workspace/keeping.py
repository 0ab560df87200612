"""Keeping files in the lake and removing them, with no call to it while a lock is held."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from sqlalchemy import Connection

from evidentia.errors import BusyError
from evidentia.store.keeping import CondemnedError, KeptFiles, keep_files, owner_of
from evidentia.store.sql import log, uses
from evidentia.workspace.acting import Acting

Result = TypeVar("Result")
_MOST_TIMES = 20


def relying(acting: Acting, files: Iterable[bytes], do: Callable[[KeptFiles], Result]) -> Result:
    """Keep files and do what relies on them; both again where they are removed meanwhile."""
    kept_ones = tuple(files)
    for _ in range(_MOST_TIMES):
        kept = keep_files(acting.database, acting.lake, owner(acting), kept_ones)
        try:
            return do(kept)
        except CondemnedError:
            continue
    raise BusyError("the same files are removed over and over: try again once that has ended")


def condemn_unused(acting: Acting, connection: Connection, digests: Iterable[str]) -> None:
    """Say in a transaction which files are removed: those that nothing refers to any more."""
    asked = sorted(set(digests))
    if not asked:
        return
    whose = owner(acting)
    uses.hold_lake(connection, whose)
    tenants = log.tenants(connection) if whose == uses.SHARED else [acting.tenant]
    unused = [
        digest
        for digest in asked
        if not any(uses.is_used(connection, tenant, digest) for tenant in tenants)
    ]
    uses.condemn(connection, whose, unused)


def finish_removals(acting: Acting) -> None:
    """Remove the files that were condemned, also by who ended before it had removed them."""
    whose = owner(acting)
    waiting = acting.database.ask(uses.condemned, whose)
    if not waiting:
        return
    lake = acting.lake
    shared = lake.shared()
    for digest, through in waiting.items():
        lake.remove(digest, through=through)
        if shared is lake or (shared and shared.holds(digest) and not _others_use(acting, digest)):
            shared.remove(digest, through=through)
    with acting.database.write() as connection:
        uses.removed(connection, whose, waiting)


def remove_unused(acting: Acting, digests: Iterable[str]) -> None:
    """Remove from the lake what nothing refers to."""
    with acting.database.write() as connection:
        condemn_unused(acting, connection, digests)
    finish_removals(acting)


def is_left(acting: Acting, digest: str) -> bool:
    """Whether the lake has bytes that nothing refers to, of the tenant or of who shares them."""
    lake = acting.lake
    if acting.read(uses.is_used, digest) or not lake.holds(digest):
        return False
    shared = lake.shared()
    return not (shared and shared.holds(digest) and _others_use(acting, digest))


def owner(acting: Acting) -> str:
    """Return whose the files of the lake are: the tenant's, or all tenants' where they share it."""
    return owner_of(acting.lake, acting.tenant)


def _others_use(acting: Acting, digest: str) -> bool:
    """Whether another tenant refers to bytes in the part of the lake that all once shared."""
    opened = acting.opened
    return any(
        Acting(opened, tenant, None).read(uses.is_used, digest)
        for tenant in opened.tenants()
        if tenant != acting.tenant
    )

"""Keeping files in the lake and removing them; no network is waited for while a lock is held."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from sqlalchemy import Connection

from evidentia.errors import BusyError, UsageError
from evidentia.logs import get_logger
from evidentia.store.keeping import CondemnedError, KeptFiles, keep_files
from evidentia.store.lake import Lake
from evidentia.store.sql import across, objects, uses
from evidentia.workspace.acting import Acting
from evidentia.workspace.locking import refuse_locked

Result = TypeVar("Result")
_MOST_TIMES = 20
_log = get_logger("workspace")


def relying(
    acting: Acting,
    files: Iterable[bytes],
    do: Callable[[KeptFiles], Result],
    *,
    there: Iterable[str] = (),
) -> Result:
    """Keep files and do what relies on them; both again where they are removed meanwhile.

    `there` are digests of files that the lake has already, which is relied on as well.
    """
    kept_ones, others = tuple(files), tuple(there)
    for _ in range(_MOST_TIMES):
        kept = keep_files(acting.database, acting.lake, acting.tenant, kept_ones, others)
        try:
            return do(kept)
        except CondemnedError:
            continue
    raise BusyError("the same files are removed over and over: try again once that has ended")


def condemn_unused(acting: Acting, connection: Connection, digests: Iterable[str]) -> None:
    """Say in a transaction which files far away are removed: what nothing refers to any more.

    Raise `LockedError` if the bucket would give one up to no one yet.
    """
    if acting.lake.is_remote:
        uses.hold_lake(connection, acting.tenant)
        unused = list(_unused(acting, connection, digests))
        refuse_locked(acting, connection, unused)
        uses.condemn(connection, acting.tenant, unused)
        objects.forget(connection, acting.tenant, unused)


def finish_removals(acting: Acting, digests: Iterable[str], *, left: bool = True) -> None:
    """Remove files that nothing refers to any more.

    Far away these are the condemned ones; with `left`, also of who ended before it had removed
    them. One that the bucket keeps stops no other: it raises `UsageError` where it is among the
    digests, once the others are removed.
    """
    lake, tenant, asked = acting.lake, acting.tenant, set(digests)
    if not lake.is_remote:
        with acting.database.write() as connection:
            uses.hold_lake(connection, tenant)
            for digest in _unused(acting, connection, asked):
                _remove(acting, digest, 0)
        return
    waiting = acting.database.ask(uses.condemned, tenant)
    done: dict[str, int] = {}
    kept: dict[str, UsageError] = {}
    try:
        for digest, through in waiting.items():
            if left or digest in asked:
                try:
                    _remove(acting, digest, through)
                    done[digest] = through
                except UsageError as error:
                    kept[digest] = error
    finally:
        if done:
            with acting.database.write() as connection:
                uses.removed(connection, tenant, done)
    for digest, why in kept.items():
        _log.warning("file_not_removed", tenant=tenant, digest=digest, reason=str(why))
    for digest in sorted(asked & kept.keys()):
        raise kept[digest]


def remove_unused(acting: Acting, digests: Iterable[str]) -> None:
    """Remove from the lake what nothing refers to."""
    asked = tuple(digests)
    if acting.lake.is_remote:
        with acting.database.write() as connection:
            condemn_unused(acting, connection, asked)
    finish_removals(acting, asked)


def is_left(acting: Acting, digest: str) -> bool:
    """Whether the lake has bytes that nothing refers to, of the tenant or of who shares them."""
    lake = acting.lake
    if acting.read(uses.is_used, digest) or not lake.holds(digest):
        return False
    shared = lake.shared()
    return shared is None or not _is_others(acting, shared, digest)


def _unused(acting: Acting, connection: Connection, digests: Iterable[str]) -> Iterator[str]:
    """Give what nothing of the tenant refers to; of any, where one database file has them all."""
    lake = acting.lake
    everyone = acting.database.is_sqlite and lake.shared() is lake
    tenants = across.tenants(connection) if everyone else [acting.tenant]
    for digest in sorted(set(digests)):
        if not any(uses.is_used(connection, tenant, digest) for tenant in tenants):
            yield digest


def _remove(acting: Acting, digest: str, through: int) -> None:
    """Remove bytes from the lake, and from what others share or shared of it, if they don't."""
    lake = acting.lake
    shared = lake.shared()
    if shared is not lake:
        lake.remove(digest, through=through)
    if shared is not None and not _is_others(acting, shared, digest):
        shared.remove(digest, through=through)


def _is_others(acting: Acting, shared: Lake, digest: str) -> bool:
    """Whether another tenant refers to bytes in the part of the lake that all share, or shared."""
    opened = acting.opened
    return shared.holds(digest) and any(
        Acting(opened, tenant, None).read(uses.is_used, digest)
        for tenant in opened.tenants()
        if tenant != acting.tenant
    )

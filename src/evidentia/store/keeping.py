"""Keeping files in the lake for a transaction that will refer to them, before it takes a lock.

What removes files must not take those that someone relies on since. In a folder they are removed
under the lake's lock, and who relies on them looks under the same lock whether they are there. In
object storage nothing is asked under a lock: what is removed was condemned before, in a transaction
of its own, and who relies on it is told, and keeps another copy, which no removal that is under way
can reach.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from evidentia.canonical import sha256_hex
from evidentia.store.database import Database
from evidentia.store.lake import Lake, newest
from evidentia.store.sql import uses


class CondemnedError(Exception):
    """Ends a transaction that would rely on bytes which were removed, or are: keep them anew."""


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """Files in a tenant's lake, by their digests: which copy of each was kept."""

    lake: Lake
    tenant: str
    copies: Mapping[str, int]

    @property
    def digests(self) -> Collection[str]:
        """Their digests."""
        return self.copies.keys()

    def rely(self, connection: Connection) -> None:
        """Let no one remove these files from now on, if the transaction becomes durable.

        To be called under the log's lock.
        """
        uses.hold_lake(connection, self.tenant)
        if self.lake.is_remote:
            needed = uses.copies(connection, self.tenant, self.copies)
            is_there = all(self.copies[digest] >= copy for digest, copy in needed.items())
        else:
            is_there = all(map(newest(self.lake).holds, self.copies))
        if not is_there:
            raise CondemnedError


def keep_files(
    database: Database, lake: Lake, tenant: str, files: Iterable[bytes], there: Iterable[str] = ()
) -> KeptFiles:
    """Keep files, each as a copy that no removal reaches that is under way.

    `there` are digests of others that the lake has already; of them, too, such a copy is kept.
    """
    by_digest = {sha256_hex(data): data for data in files}
    others = [digest for digest in dict.fromkeys(there) if digest not in by_digest]
    needed: Mapping[str, int] = {}
    if lake.is_remote and (by_digest or others):
        needed = database.ask(uses.copies, tenant, (*by_digest, *others))
    lake.put_all(by_digest.values(), copies=needed)
    for digest in others:
        if digest in needed or not newest(lake).holds(digest):
            lake.put(lake.get(digest), copy=needed.get(digest, 0))
    return KeptFiles(
        lake, tenant, {digest: needed.get(digest, 0) for digest in (*by_digest, *others)}
    )

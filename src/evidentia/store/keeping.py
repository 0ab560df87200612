"""Keeping files in the lake for a transaction that will refer to them, before it takes a lock.

What removes files condemns them in a transaction of its own, and removes them behind it. Where both
are about the same bytes, the one that relies on them is told, and keeps another copy, which no
removal that is under way can reach.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from evidentia.canonical import sha256_hex
from evidentia.store.database import Database
from evidentia.store.lake import Lake
from evidentia.store.sql import uses


class CondemnedError(Exception):
    """Ends a transaction that would rely on bytes which are being removed: keep them anew."""


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """Files in an owner's lake, by their digests: which copy of each was kept."""

    owner: str
    copies: Mapping[str, int]

    @property
    def digests(self) -> Collection[str]:
        """Their digests."""
        return self.copies.keys()

    def rely(self, connection: Connection) -> None:
        """Let no one remove these files from now on, if the transaction becomes durable.

        To be called under the log's lock.
        """
        uses.hold_lake(connection, self.owner)
        needed = uses.copies(connection, self.owner, self.copies)
        if any(self.copies[digest] < copy for digest, copy in needed.items()):
            raise CondemnedError


def keep_files(database: Database, lake: Lake, owner: str, files: Iterable[bytes]) -> KeptFiles:
    """Keep files, each as a copy that nothing removes."""
    by_digest = {sha256_hex(data): data for data in files}
    needed = database.ask(uses.copies, owner, by_digest) if by_digest else {}
    lake.put_all(by_digest.values(), copies=needed)
    return KeptFiles(owner, {digest: needed.get(digest, 0) for digest in by_digest})


def owner_of(lake: Lake, tenant: str) -> str:
    """Return whose the files of a lake are: the tenant's, or all tenants' where they share it."""
    return uses.SHARED if lake.shared() is lake else tenant

"""What still refers to bytes of the lake: nothing that anyone needs is removed with an erasure.

A row of `lake_removals` says up to which copy the bytes of a digest are removed from object
storage, for good: who relies on them afterwards relies on a later copy.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from sqlalchemy import Connection

from evidentia.bundles.model import artifact_uri
from evidentia.store.database import fetch, hold, run, stream

_REFERENCES: Final = (
    "llm.evidence_item WHERE tenant = ? AND artifact_sha256 = ?",
    "llm.evidence_bundle WHERE tenant = ? AND dropped_sha256 = ?",
    (  # one whose text was erased has no chunks any more
        "documents d WHERE d.tenant = ? AND d.sha256 = ? AND EXISTS (SELECT 1 "
        "FROM document_chunks c WHERE c.tenant = d.tenant AND c.document_id = d.id "
        "AND c.sha256 = d.sha256)"
    ),
    "ledgers WHERE tenant = ? AND statement_sha256 = ?",
    "evidence_packs WHERE tenant = ? AND statement_sha256 = ?",
    (
        "pack_attachments a JOIN evidence_packs p ON p.tenant = a.tenant AND p.id = a.pack_id "
        "WHERE a.tenant = ? AND a.digest = ?"
    ),
)
_ASKED_AT_ONCE: Final = 500


def hold_lake(connection: Connection, tenant: str) -> None:
    """Let no one else find a tenant's files unused, or begin to refer to them, meanwhile."""
    hold(connection, f"lake/{tenant}")


def is_used(connection: Connection, tenant: str, digest: str) -> bool:
    """Whether anything of a tenant refers to the bytes of a digest."""
    asked = [
        *((source, digest) for source in _REFERENCES),
        ("llm.evidence_bundle WHERE tenant = ? AND lake_uri = ?", artifact_uri(digest)),
    ]
    return any(
        fetch(connection, f"SELECT 1 FROM {source} LIMIT 1", (tenant, value))  # noqa: S608 - names are ours
        for source, value in asked
    )


def copies(connection: Connection, tenant: str, digests: Iterable[str]) -> dict[str, int]:
    """Return which copy of each digest may be relied on; of one that is left out, the first."""
    asked, found = sorted(set(digests)), dict[str, int]()
    for start in range(0, len(asked), _ASKED_AT_ONCE):
        some = asked[start : start + _ASKED_AT_ONCE]
        marks = ", ".join("?" for _ in some)
        sql = f"SELECT digest, through FROM lake_removals WHERE tenant = ? AND digest IN ({marks})"  # noqa: S608 - marks alone
        found.update(
            (digest, through + 1) for digest, through in fetch(connection, sql, (tenant, *some))
        )
    return found


def removals(connection: Connection, tenant: str, digests: Iterable[str]) -> AbstractSet[str]:
    """Return those of the digests whose bytes were removed, once or again."""
    return copies(connection, tenant, digests).keys() - condemned(connection, tenant).keys()


def condemn(connection: Connection, tenant: str, digests: Sequence[str]) -> None:
    """Say that the bytes of digests are removed, with all copies that there can be by now."""
    for digest in digests:
        run(
            connection,
            "INSERT INTO lake_removals (tenant, digest, through, done) VALUES (?, ?, 0, 0) "
            "ON CONFLICT (tenant, digest) DO UPDATE "
            "SET through = lake_removals.through + 1, done = 0",
            (tenant, digest),
        )


def condemned(connection: Connection, tenant: str) -> Mapping[str, int]:
    """Return the digests whose removal nobody said was done, each with the copy it goes up to."""
    sql = "SELECT digest, through FROM lake_removals WHERE tenant = ? AND done = 0"
    return dict(tuple(row) for row in fetch(connection, sql, (tenant,)))


def removed(connection: Connection, tenant: str, of: Mapping[str, int]) -> None:
    """Say that digests were removed up to a copy."""
    sql = "UPDATE lake_removals SET done = 1 WHERE tenant = ? AND digest = ? AND through = ?"
    for digest, through in of.items():
        run(connection, sql, (tenant, digest, through))


_DIGESTS: Final = (
    "SELECT artifact_sha256 AS digest FROM llm.evidence_item WHERE tenant = ?",
    "SELECT dropped_sha256 FROM llm.evidence_bundle WHERE tenant = ?",
    "SELECT substr(lake_uri, 14) FROM llm.evidence_bundle WHERE tenant = ?",
    (
        "SELECT d.sha256 FROM documents d WHERE d.tenant = ? AND EXISTS (SELECT 1 "
        "FROM document_chunks c WHERE c.tenant = d.tenant AND c.document_id = d.id "
        "AND c.sha256 = d.sha256)"
    ),
    "SELECT statement_sha256 FROM ledgers WHERE tenant = ?",
    "SELECT statement_sha256 FROM evidence_packs WHERE tenant = ?",
    (
        "SELECT a.digest FROM pack_attachments a JOIN evidence_packs p "
        "ON p.tenant = a.tenant AND p.id = a.pack_id WHERE a.tenant = ?"
    ),
)
"""What `is_used` asks of one digest, for all: behind `sha256/ab/cd/` a lake's address names it."""


def used(connection: Connection, tenant: str) -> Iterator[str]:
    """Give the digests that anything of a tenant refers to, in order."""
    together = " UNION ".join(_DIGESTS)
    sql = f"SELECT digest FROM ({together}) AS used WHERE digest IS NOT NULL ORDER BY digest"  # noqa: S608 - names are ours
    for (digest,) in stream(connection, sql, (tenant,) * len(_DIGESTS)):
        yield digest


def settle_removals(connection: Connection, tenant: str, digests: Iterable[str]) -> None:
    """Have no removal that was under way take bytes that are referred to: it is done."""
    sql = "UPDATE lake_removals SET done = 1 WHERE tenant = ? AND digest = ? AND done = 0"
    for digest in digests:
        run(connection, sql, (tenant, digest))

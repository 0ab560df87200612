"""The packs' SQL: rows to search by, with the pack's JSON.

What a pack says is its statement, which is kept in the lake and named in the trail; these rows
follow from it.
"""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection

from evidentia.errors import IntegrityError, NotFoundError
from evidentia.store.database import erase_rows, fetch, insert_rows, is_storable, run
from evidentia.store.sql import log
from evidentia.store.sql.newest import find_newest, in_order

if TYPE_CHECKING:  # listing packs should not load what making them needs
    from evidentia.packs.model import EvidencePack

_COLUMNS: Final = (
    "id",
    "decision_id",
    "entity_id",
    "agent_name",
    "version",
    "replaces_id",
    "conflicted",
    "resolved",
    "attachments",
    "statement_sha256",
    "trail_seq",
    "created_at",
)
_LISTED: Final = f"SELECT {', '.join(_COLUMNS)} FROM evidence_packs p WHERE p.tenant = ?"  # noqa: S608 - names are ours
_SHOWN: Final = _LISTED.replace(" FROM ", ", p.pack FROM ")
"""With the whole pack, for what its review came to."""
AWAITING: Final = "awaiting review"
NOT_NEEDED: Final = "no review needed"
_READ_AT_ONCE: Final = 500
"""Rows that are looked through for an outcome."""
_NEWEST: Final = (
    " AND NOT EXISTS (SELECT 1 FROM evidence_packs n "
    "WHERE n.tenant = p.tenant AND n.replaces_id = p.id)"
)


@dataclass(frozen=True, slots=True)
class ListedPack:
    """A pack in a list: of which decision, which version, and where in the trail it is.

    `resolved` is false while a review is awaited; `attachments` are their keys in the lake.
    `outcome` is what a review came to, or whether one is awaited or needed; it is the row's word,
    and None where it was not asked for.
    """

    id: str
    decision_id: str
    entity_id: str
    agent_name: str
    version: int
    replaces: str | None
    conflicted: bool
    resolved: bool
    attachments: tuple[str, ...]
    statement_sha256: str
    entry: int
    created_at: str
    outcome: str | None = None

    @property
    def file_sha256(self) -> str:
        """The digest of its file in the lake, which is its statement."""
        return self.statement_sha256

    def as_json(self) -> dict[str, Any]:
        """Return the pack's row as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__} | {
            "attachments": list(self.attachments)
        }


def insert_pack(
    connection: Connection, tenant: str, pack: "EvidencePack", statement_sha256: str, entry: int
) -> None:
    """Insert a pack's row."""
    row = row_of(pack, statement_sha256, entry)
    told = {"attachments": json.dumps(row.attachments)}
    fields = ListedPack.__slots__[: len(_COLUMNS)]
    values = [told.get(name, getattr(row, name)) for name in fields]
    columns = ("tenant", "pack", *_COLUMNS)
    insert_rows(connection, "evidence_packs", columns, [(tenant, pack.encode().decode(), *values)])
    digests = sorted({one.sha256 for one in pack.attachments})
    named = [(tenant, digest, pack.pack_id) for digest in digests]
    insert_rows(connection, "pack_attachments", ("tenant", "digest", "pack_id"), named)


def erase_pack(connection: Connection, tenant: str, entry: int) -> None:
    """Remove the row of the pack that an entry records.

    The database refuses unless the trail says that the entry was erased.
    """
    of = (tenant, entry)
    run(
        connection,
        "DELETE FROM pack_attachments WHERE tenant = ? AND pack_id IN "
        "(SELECT id FROM evidence_packs WHERE tenant = ? AND trail_seq = ?)",
        (tenant, *of),
    )
    sql = "DELETE FROM evidence_packs WHERE tenant = ? AND trail_seq = ?"
    erase_rows(connection, "trail_erase_pack", of, [(sql, of)])


def find_pack(connection: Connection, tenant: str, name: str) -> ListedPack:
    """Return the pack of this id, a decision's newest version, or `latest`, `latest~1` and so on.

    The ones before `latest` are the newest versions of other packs.
    """
    if newest := find_newest(connection, tenant, _LISTED + _NEWEST, "pack", name):
        return _listed(newest)
    if is_storable(name):
        for column in ("p.id", "p.decision_id"):
            sql = f"{_LISTED} AND {column} = ? ORDER BY p.trail_seq DESC LIMIT 1"
            for row in fetch(connection, sql, (tenant, name)):
                return _listed(row)
        if known := log.unexplained(connection, tenant, ("pack", "review"), name):
            entry, erased = known
            if erased:
                raise NotFoundError(f"pack {name} (entry {entry}) was erased")
            raise IntegrityError(
                f"pack {name}: entry {entry} of the trail records it, and the database does not "
                "have it; run 'evidentia pack audit'"
            )
    raise NotFoundError(
        f"there is no pack {name[:80]!r} of tenant {tenant!r}; 'evidentia pack list' shows them"
    )


def having_attached(connection: Connection, tenant: str, digest: str) -> list[ListedPack]:
    """Return the packs to which a file is attached."""
    having = (
        " AND p.id IN (SELECT a.pack_id FROM pack_attachments a WHERE a.tenant = p.tenant "
        "AND a.digest = ?)"
    )
    return [_listed(row) for row in fetch(connection, _LISTED + having, (tenant, digest))]


def attached(connection: Connection, tenant: str, pack_id: str) -> list[str]:
    """Return the digests of the files that rows name as a pack's, in order."""
    sql = "SELECT digest FROM pack_attachments WHERE tenant = ? AND pack_id = ? ORDER BY digest"
    return [digest for (digest,) in fetch(connection, sql, (tenant, pack_id))]


def recorded_packs(connection: Connection, tenant: str) -> list[tuple[str, int]]:
    """Return the ids of all packs and their entries, newest first, whatever else the rows say."""
    sql = "SELECT id, trail_seq FROM evidence_packs WHERE tenant = ? ORDER BY trail_seq DESC"
    return [tuple(row) for row in fetch(connection, sql, (tenant,))]


def list_packs(
    connection: Connection,
    tenant: str,
    *,
    before: int | None = None,
    after: int | None = None,
    limit: int | None = None,
    oldest_first: bool = False,
    all_versions: bool = False,
    unresolved: bool = False,
    decision: str | None = None,
    outcome: str | None = None,
) -> list[ListedPack]:
    """Return packs, newest first if not asked otherwise, before or after an entry."""
    sql = _SHOWN if all_versions else _SHOWN + _NEWEST
    values: list[str | int] = [tenant]
    if unresolved:
        sql += " AND NOT p.resolved"
    if decision is not None:
        if not is_storable(decision):
            return []
        sql += " AND p.decision_id = ?"
        values.append(decision)
    found: list[ListedPack] = []
    most = limit if outcome is None else _READ_AT_ONCE
    while limit is None or len(found) < limit:
        end, places = in_order(before=before, after=after, limit=most, oldest_first=oldest_first)
        page = [_listed(row) for row in fetch(connection, sql + end, [*values, *places])]
        found += [one for one in page if outcome in (None, one.outcome)]
        if outcome is None or len(page) < _READ_AT_ONCE:
            break
        last = page[-1].entry  # what a review came to stands in the pack's JSON: no column has it
        before, after = (before, last) if oldest_first else (last, after)
    return found[:limit]


def versions(connection: Connection, tenant: str, pack: ListedPack) -> list[ListedPack]:
    """Return all versions of a pack that are kept, the oldest first."""
    sql = f"{_SHOWN} AND p.decision_id = ? ORDER BY p.trail_seq"
    found = {row[0]: _listed(row) for row in fetch(connection, sql, (tenant, pack.decision_id))}
    chain = [found.get(pack.id, pack)]
    while (before := chain[0].replaces) in found:
        chain.insert(0, found[str(before)])
    after = {one.replaces: one for one in found.values()}
    while chain[-1].id in after:
        chain.append(after[chain[-1].id])
    return chain


def created_before(connection: Connection, tenant: str, at: str) -> list[ListedPack]:
    """Return the packs made before a time, the oldest first."""
    sql = f"{_LISTED} AND p.created_at < ? ORDER BY p.created_at, p.trail_seq"
    return [_listed(row) for row in fetch(connection, sql, (tenant, at))]


def stored_json(connection: Connection, tenant: str, pack_id: str) -> bytes:
    """Return the JSON in a pack's row."""
    sql = "SELECT pack FROM evidence_packs WHERE tenant = ? AND id = ?"
    return str(fetch(connection, sql, (tenant, pack_id))[0][0]).encode()


def row_of(pack: "EvidencePack", statement_sha256: str, entry: int) -> ListedPack:
    """Return the row that a pack has, by what it says."""
    return ListedPack(
        id=pack.pack_id,
        decision_id=pack.decision_id,
        entity_id=pack.entity_id,
        agent_name=pack.agent_name,
        version=pack.version,
        replaces=pack.replaces,
        conflicted=pack.decision is not None and pack.decision.conflicted,
        resolved=pack.is_resolved,
        attachments=tuple(one.key for one in pack.attachments),
        statement_sha256=statement_sha256,
        entry=entry,
        created_at=pack.created_at,
    )


def _listed(row: Any) -> ListedPack:
    found = dict(zip(ListedPack.__slots__, row, strict=False))
    try:
        attachments = tuple(map(str, json.loads(found["attachments"])))
        if "outcome" in found:
            reviewed = json.loads(found["outcome"]).get("review_outcome")
            waiting = NOT_NEEDED if found["resolved"] else AWAITING
            found["outcome"] = str(reviewed) if reviewed else waiting
    except (AttributeError, TypeError, ValueError):
        raise IntegrityError(
            f"pack {found['id']}: its row in the database is damaged; run 'evidentia pack audit'"
        ) from None
    return ListedPack(
        **{
            **found,
            "conflicted": bool(found["conflicted"]),
            "resolved": bool(found["resolved"]),
            "attachments": attachments,
        }
    )

"""The bundles' SQL: bundles, the runs that used them, and their items, as rows to search by.

What a bundle says is its file in the lake, which the trail names by its statement's digest; these
rows follow from it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection

from evidentia.errors import IntegrityError, NotFoundError
from evidentia.store.database import erase_rows, fetch, insert_rows
from evidentia.store.sql.newest import find_newest, in_order

if TYPE_CHECKING:  # listing bundles should not load what building them needs
    from evidentia.bundles.model import EvidenceBundle

_LISTED: Final = (
    "SELECT bundle_id, bundle_sha256, created_utc, summary, lake_uri, lake_root, "
    "statement_sha256, trail_seq FROM llm.evidence_bundle WHERE tenant = ?"
)
_CUT: Final = (
    "SELECT bundle_id, evidence_id, evidence_type, origin, outcome, reason, input_bytes, "
    "byte_count, artifact_sha256, artifact_uri FROM llm.evidence_item WHERE tenant = ?"
)
_ITEM_COLUMNS: Final = (
    "evidence_id",
    "item_index",
    "evidence_type",
    "origin",
    "outcome",
    "reason",
    "input_bytes",
    "byte_count",
    "content_sha256",
    "artifact_sha256",
    "artifact_uri",
)
_SHORTEST: Final = 8
"""How much of a bundle's id names it, where no other begins so."""


@dataclass(frozen=True, slots=True)
class ListedBundle:
    """A bundle in a list: how large it is, where it is, and where in the trail it is recorded."""

    bundle_id: str
    bundle_sha256: str
    created_utc: str
    summary: dict[str, Any]
    lake_uri: str
    lake_root: str | None
    statement_sha256: str
    entry: int

    @property
    def id(self) -> str:
        """What it is called."""
        return self.bundle_id

    @property
    def file_sha256(self) -> str:
        """The digest of its file in the lake."""
        return self.lake_uri.rpartition("/")[2]

    def as_json(self) -> dict[str, Any]:
        """Return the bundle's row as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class TrackedItem:
    """An input of a bundle: how it was cut and why, and the artifact that it comes from."""

    bundle_id: str
    evidence_id: str
    evidence_type: str
    origin: str
    outcome: str
    reason: str
    input_bytes: int
    byte_count: int
    artifact_sha256: str | None
    artifact_uri: str | None

    def as_json(self) -> dict[str, Any]:
        """Return the item's row as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


def insert_bundle(
    connection: Connection,
    tenant: str,
    bundle: "EvidenceBundle",
    *,
    lake_uri: str,
    lake_root: str | None,
    statement_sha256: str,
    entry: int,
) -> None:
    """Insert a bundle and its inputs: those the model saw, and dropped ones that have an artifact.

    Text that came with the job and was dropped is in the bundle's accounting alone.
    """
    values = {
        "tenant": tenant,
        **_bundle_row(bundle),
        "lake_uri": lake_uri,
        "lake_root": lake_root,
        "statement_sha256": statement_sha256,
        "trail_seq": entry,
    }
    insert_rows(connection, "llm.evidence_bundle", tuple(values), [tuple(values.values())])
    rows = [(tenant, bundle.bundle_id, *row) for row in _item_rows(bundle)]
    insert_rows(connection, "llm.evidence_item", ("tenant", "bundle_id", *_ITEM_COLUMNS), rows)


def differing_rows(connection: Connection, tenant: str, bundle: "EvidenceBundle") -> list[str]:
    """Return how the rows of a bundle differ from what follows from it."""
    of = (tenant, bundle.bundle_id)
    expected = _bundle_row(bundle)
    sql = (
        f"SELECT {', '.join(expected)} FROM llm.evidence_bundle WHERE tenant = ? AND bundle_id = ?"  # noqa: S608 - names are ours
    )
    problems = [
        f"the database has another {name} than the bundle"
        for row in fetch(connection, sql, of)
        for name, found in zip(expected, row, strict=True)
        if found != expected[name]
    ]
    sql = (
        f"SELECT {', '.join(_ITEM_COLUMNS)} FROM llm.evidence_item "  # noqa: S608 - names are ours
        "WHERE tenant = ? AND bundle_id = ?"
    )
    there = {tuple(row) for row in fetch(connection, sql, of)}
    wanted = set(_item_rows(bundle))
    named = sorted({row[0] for row in there ^ wanted})
    return problems + [f"{name}: the database has another row of it" for name in named]


def recorded_bundles(connection: Connection, tenant: str) -> list[tuple[str, int]]:
    """Return the ids of all bundles and their entries, newest first, whatever else the rows say."""
    sql = (
        "SELECT bundle_id, trail_seq FROM llm.evidence_bundle WHERE tenant = ? "
        "ORDER BY trail_seq DESC"
    )
    return [tuple(row) for row in fetch(connection, sql, (tenant,))]


def _bundle_row(bundle: "EvidenceBundle") -> dict[str, Any]:
    """Return what of a bundle's row follows from the bundle."""
    return {
        "bundle_id": bundle.bundle_id,
        "bundle_sha256": bundle.bundle_sha256,
        "created_utc": bundle.created_utc,
        "build_version": bundle.build_version,
        "policy": _json(bundle.policy.model_dump(mode="json")),
        "summary": _json(bundle.summary.model_dump(mode="json", exclude_none=True)),
        "dropped_sha256": (bundle.summary.bundle_bounding.dropped_ref or {}).get("sha256"),
    }


def _item_rows(bundle: "EvidenceBundle") -> Iterator[tuple[Any, ...]]:
    """Give the rows of what the model saw, and of what was dropped and has an artifact."""
    items = {item.evidence_id: item for item in bundle.items}
    for index, decision in enumerate(bundle.accounting.decisions):
        item = items.get(decision.evidence_id)
        if item is None and decision.artifact_uri is None:
            continue
        whole = (item and item.full_ref) or {}
        yield (
            decision.evidence_id,
            index,
            decision.evidence_type.value,
            _storable(decision.origin),
            decision.outcome.value,
            _storable("; ".join(f"{one.done.value}: {one.reason}" for one in decision.steps)),
            decision.input_bytes,
            decision.bundle_bytes,
            None if item is None else item.content_sha256,
            decision.artifact_sha256 or whole.get("sha256"),
            _text(decision.artifact_uri or whole.get("lake_uri")),
        )


def find_bundle(connection: Connection, tenant: str, name: str) -> ListedBundle:
    """Return the bundle of an id, of its beginning, or the newest one (`latest`, `latest~1` …)."""
    if newest := find_newest(connection, tenant, _LISTED, "bundle", name):
        return _listed(newest)
    lowered = name.lower()
    found = fetch(connection, f"{_LISTED} AND bundle_id = ?", (tenant, lowered))
    if not found and len(name) >= _SHORTEST:
        begins = f"{_LISTED} AND substr(bundle_id, 1, ?) = ? LIMIT 2"
        found = fetch(connection, begins, (tenant, len(lowered), lowered))
    if len(found) == 1:
        return _listed(found[0])
    if found:
        raise NotFoundError(f"several bundles begin with {name!r}: give more of the id")
    raise NotFoundError(
        f"there is no bundle {name[:80]!r}: 'evidentia bundle list' shows what there is"
    )


def known_bundle(connection: Connection, tenant: str, bundle_id: str) -> ListedBundle | None:
    """Return the bundle of an id, or None if it is not recorded."""
    found = fetch(connection, f"{_LISTED} AND bundle_id = ?", (tenant, bundle_id))
    return _listed(found[0]) if found else None


def list_bundles(
    connection: Connection,
    tenant: str,
    *,
    before: int | None = None,
    after: int | None = None,
    limit: int | None = None,
    oldest_first: bool = False,
) -> list[ListedBundle]:
    """Return the bundles, newest first if not asked otherwise, before or after an entry."""
    end, values = in_order(before=before, after=after, limit=limit, oldest_first=oldest_first)
    return [_listed(row) for row in fetch(connection, _LISTED + end, (tenant, *values))]


def items_of(connection: Connection, tenant: str, bundle_id: str) -> list[TrackedItem]:
    """Return what is tracked of a bundle's inputs, in their order."""
    sql = f"{_CUT} AND bundle_id = ? ORDER BY item_index"
    return [TrackedItem(*row) for row in fetch(connection, sql, (tenant, bundle_id))]


def insert_run(
    connection: Connection, tenant: str, run_id: str, bundle_id: str, *, at: str, entry: int
) -> None:
    """Note that a run used a bundle."""
    columns = ("tenant", "run_id", "bundle_id", "recorded_utc", "trail_seq")
    insert_rows(connection, "llm.run_evidence", columns, [(tenant, run_id, bundle_id, at, entry)])


def run_entry(connection: Connection, tenant: str, run_id: str, bundle_id: str) -> int | None:
    """Return the entry that records that a run used a bundle, or None."""
    sql = "SELECT trail_seq FROM llm.run_evidence WHERE tenant = ? AND run_id = ? AND bundle_id = ?"
    found = fetch(connection, sql, (tenant, run_id, bundle_id))
    return int(found[0][0]) if found else None


def bundles_of_run(connection: Connection, tenant: str, run_id: str) -> list[ListedBundle]:
    """Return the bundles that a run used, in the order in which they were recorded."""
    sql = (
        "SELECT r.bundle_id FROM llm.run_evidence r "
        "WHERE r.tenant = ? AND r.run_id = ? ORDER BY r.trail_seq"
    )
    ids = [row[0] for row in fetch(connection, sql, (tenant, run_id))]
    return [found for one in ids if (found := known_bundle(connection, tenant, one))]


def runs_of_bundle(connection: Connection, tenant: str, bundle_id: str) -> list[str]:
    """Return the runs that used a bundle, in the order in which they were recorded."""
    sql = (
        "SELECT run_id FROM llm.run_evidence WHERE tenant = ? AND bundle_id = ? ORDER BY trail_seq"
    )
    return [row[0] for row in fetch(connection, sql, (tenant, bundle_id))]


def recorded_runs(connection: Connection, tenant: str) -> list[tuple[int, str, str]]:
    """Return the runs' rows: the entry that records each, the run, and the bundle it used."""
    sql = (
        "SELECT trail_seq, run_id, bundle_id FROM llm.run_evidence WHERE tenant = ? "
        "ORDER BY trail_seq"
    )
    return [tuple(row) for row in fetch(connection, sql, (tenant,))]


def runs_of_artifact(connection: Connection, tenant: str, artifact: str) -> list[str]:
    """Return the runs whose model saw something of an artifact, by its digest or lake URI."""
    sql = (
        "SELECT r.run_id, MIN(r.trail_seq) FROM llm.run_evidence r "
        "JOIN llm.evidence_item i ON i.tenant = r.tenant AND i.bundle_id = r.bundle_id "
        "WHERE r.tenant = ? AND i.outcome <> 'dropped' AND "
        "(i.artifact_sha256 = ? OR i.content_sha256 = ? OR i.artifact_uri = ?) "
        "GROUP BY r.run_id ORDER BY 2"
    )
    return [row[0] for row in fetch(connection, sql, (tenant, artifact, artifact, artifact))]


def shows_artifact(connection: Connection, tenant: str, artifact: str) -> bool:
    """Whether any bundle has an input from an artifact, by its digest or lake URI."""
    sql = (
        "SELECT 1 FROM llm.evidence_item WHERE tenant = ? AND "
        "(artifact_sha256 = ? OR content_sha256 = ? OR artifact_uri = ?) LIMIT 1"
    )
    return bool(fetch(connection, sql, (tenant, artifact, artifact, artifact)))


def artifacts_of(connection: Connection, tenant: str, bundle_id: str) -> set[str]:
    """Return the digests of the artifacts and contents that a bundle's items are of."""
    sql = (
        "SELECT artifact_sha256, content_sha256 FROM llm.evidence_item "
        "WHERE tenant = ? AND bundle_id = ?"
    )
    rows = fetch(connection, sql, (tenant, bundle_id))
    return {digest for row in rows for digest in row if digest}


def erase_bundle(connection: Connection, tenant: str, entry: int) -> None:
    """Remove the rows of the bundle that an entry records.

    The database refuses unless the trail says that the entry was erased.
    """
    sql = "SELECT bundle_id FROM llm.evidence_bundle WHERE tenant = ? AND trail_seq = ?"
    for (bundle_id,) in fetch(connection, sql, (tenant, entry)):
        deletions = [
            (f"DELETE FROM {table} WHERE tenant = ? AND bundle_id = ?", (tenant, bundle_id))  # noqa: S608 - names are ours
            for table in ("run_evidence", "evidence_item", "evidence_bundle")
        ]
        erase_rows(connection, "trail_erase_bundle", (tenant, entry), deletions)


def kept_artifacts(bundle: "EvidenceBundle") -> list[str]:
    """Return the digests of the files in the lake that a bundle refers to."""
    rows = (dict(zip(_ITEM_COLUMNS, row, strict=True)) for row in _item_rows(bundle))
    found = [
        row["artifact_sha256"]
        for row in rows
        if str(row["artifact_uri"] or "").startswith("sha256/")
    ]
    dropped = (bundle.summary.bundle_bounding.dropped_ref or {}).get("sha256")
    return list(dict.fromkeys(str(one) for one in (*found, dropped) if one))


def erase_run(connection: Connection, tenant: str, entry: int) -> None:
    """Remove the row of the run that an entry records, which the trail says was erased."""
    of = (tenant, entry)
    sql = "DELETE FROM run_evidence WHERE tenant = ? AND trail_seq = ?"
    erase_rows(connection, "trail_erase_run", of, [(sql, of)])


def _listed(row: Any) -> ListedBundle:
    bundle_id, sha256, created, summary, lake_uri, lake_root, statement, entry = row
    try:
        counted = json.loads(summary)
    except ValueError:
        raise IntegrityError(
            f"bundle {bundle_id}: its row in the database is damaged; run 'evidentia trail verify'"
        ) from None
    return ListedBundle(bundle_id, sha256, created, counted, lake_uri, lake_root, statement, entry)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True)


def _text(value: object) -> str | None:
    return _storable(value) if isinstance(value, str) else None


def _storable(text: str) -> str:
    """Return text to search by: PostgreSQL's has no NUL."""
    return text.replace("\0", "\ufffd")

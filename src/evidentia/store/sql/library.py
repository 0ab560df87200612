"""The library's SQL: documents and their versions, chunks, and the anchors that cite them.

A document is known by its collection and name; other bytes under the same name are its next
version. Chunks belong to a reading of a document's bytes, so that bytes that come back need not be
read again.
"""

import json
import re
from collections.abc import Collection as Some
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection

from evidentia.canonical import derived_id
from evidentia.documents.effective import Effective
from evidentia.documents.hashing import ANCHOR_LENGTH, FULL_LENGTH, generate_chunk_hash
from evidentia.documents.model import DocumentChunk, ReadFile
from evidentia.documents.recording import collection_id
from evidentia.errors import IntegrityError, NotFoundError
from evidentia.ledger.citations import CitationResolution, issue_anchor, resolve_citation
from evidentia.store.database import fetch, hold, insert_rows, is_sqlite, run

WORKSPACE: Final = "default"
"""The workspace of a tenant that documents and sessions belong to."""

_DOCUMENT_COLUMNS: Final = (
    "id",
    "version",
    "collection",
    "filename",
    "media_type",
    "sha256",
    "language",
    "direction",
    "title",
    "dated",
    "pages",
    "chunks",
    "warnings",
    "created_at",
    "collection_id",
    "effective_from",
    "effective_until",
    "reader",
)
_DOCUMENTS: Final = f"SELECT {', '.join(_DOCUMENT_COLUMNS)} FROM documents WHERE tenant = ?"  # noqa: S608 - names are ours
_CHUNK_COLUMNS: Final = (
    "id",
    "document_id",
    "chunk_index",
    "content",
    "page_number",
    "heading_path",
    "start_offset",
    "end_offset",
    "chunk_hash",
    "ocr",
)
_READING: Final = "document_id = ? AND sha256 = ? AND reader = ?"
_CHUNKS: Final = f"SELECT {', '.join(_CHUNK_COLUMNS)} FROM document_chunks WHERE tenant = ?"  # noqa: S608 - the same
_ANCHOR: Final = re.compile(r"[0-9a-f]{8,64}")
_AT_ONCE: Final = 500
"""How many values one query names; SQLite and PostgreSQL take thousands."""


class Reading(NamedTuple):
    """What chunks belong to: a document's bytes, as one version of the readers read them.

    What was read before readers had versions has 0.
    """

    document_id: str
    sha256: str
    reader: int


class Collection(NamedTuple):
    """A collection: its id, what it is called, and how many documents it ever had.

    `label` tells it apart from another of the same name: `policies (2)`.
    """

    id: str
    name: str
    label: str
    documents: int

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return self._asdict()


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """One version of a document; `is_newest` says that no later one is there."""

    id: str
    version: int
    collection: str
    filename: str
    media_type: str
    sha256: str
    language: str | None
    direction: str
    title: str | None
    dated: str | None
    pages: int
    chunks: int
    warnings: tuple[str, ...]
    created_at: str
    collection_id: str
    effective_from: str | None = None
    effective_until: str | None = None
    reader: int = 0
    is_newest: bool = True

    @property
    def reading(self) -> Reading:
        """What its chunks belong to."""
        return Reading(self.id, self.sha256, self.reader)

    @property
    def effective(self) -> Effective:
        """When it says that it holds."""
        return Effective(self.effective_from, self.effective_until)

    def as_json(self) -> dict[str, Any]:
        """Return the version as a JSON object."""
        return {name: getattr(self, name) for name in _DOCUMENT_COLUMNS}


def document_id(collection: str, filename: str) -> str:
    """Return the id of a document: of its name, and the collection's name, or its id.

    The first collection of a name goes by it; another that is called the same goes by its id.
    """
    return derived_id("doc", {"collection": collection, "filename": filename})


def newest_version(connection: Connection, tenant: str, identity: str) -> StoredDocument | None:
    """Return the newest version of a document, or None if it is not here."""
    sql = f"{_DOCUMENTS} AND id = ? ORDER BY version DESC LIMIT 1"
    return next((_document(row) for row in fetch(connection, sql, (tenant, identity))), None)


def collections(connection: Connection, tenant: str) -> list[Collection]:
    """Return all collections, by their names, the first of each name first."""
    sql = (
        "SELECT collection, collection_id, COUNT(DISTINCT id), MIN(created_at) FROM documents "
        "WHERE tenant = ? GROUP BY collection, collection_id"
    )
    found: dict[str, tuple[str, str, int]] = {}
    for name, identity, count, began in fetch(connection, sql, (tenant,)):
        own = identity or collection_id(name)
        before = found.get(own, (name, str(began), 0))
        found[own] = (before[0], min(before[1], str(began)), before[2] + count)
    names = [name for name, _, _ in found.values()]
    numbers: dict[str, int] = {}
    listed = []
    for own, (name, _, count) in sorted(found.items(), key=lambda one: (*one[1][:2], one[0])):
        numbers[name] = numbers.get(name, 0) + 1
        label = name if names.count(name) == 1 else f"{name} ({numbers[name]})"
        listed.append(Collection(own, name, label, count))
    return listed


def collection_key(name: str, identity: str) -> str:
    """Return what of a collection the ids of its documents follow from."""
    return name if identity == collection_id(name) else identity


def documents_in(connection: Connection, tenant: str, ids: AbstractSet[str]) -> list[str]:
    """Return the ids of all documents that collections, given by their ids, ever had."""
    sql = (
        "SELECT DISTINCT id, collection, collection_id FROM documents WHERE tenant = ? ORDER BY id"
    )
    rows = fetch(connection, sql, (tenant,))
    return list(
        dict.fromkeys(one for one, name, own in rows if (own or collection_id(name)) in ids)
    )


def all_versions(
    connection: Connection, tenant: str, ids: Some[str] | None = None
) -> list[StoredDocument]:
    """Return all versions of the named documents, or of all; the newest of each says so."""
    rows: list[Any] = []
    if ids is None:
        rows = fetch(connection, _DOCUMENTS, (tenant,))
    else:
        for part in _parts(sorted(ids)):
            rows += fetch(connection, f"{_DOCUMENTS} AND id IN ({_marks(part)})", (tenant, *part))
    found = sorted(map(_document, rows), key=lambda document: (document.id, document.version))
    newest = {document.id: document.version for document in found}
    return [
        replace(document, is_newest=newest[document.id] == document.version) for document in found
    ]


def document_ids(connection: Connection, tenant: str) -> list[str]:
    """Return the ids of all documents, in their order."""
    sql = "SELECT DISTINCT id FROM documents WHERE tenant = ? ORDER BY id"
    return [row[0] for row in fetch(connection, sql, (tenant,))]


def lock_library(connection: Connection, tenant: str) -> None:
    """Let no one else add to the tenant's library before this transaction ends."""
    hold(connection, f"lib/{tenant}")


def insert_versions(
    connection: Connection, tenant: str, documents: Sequence[StoredDocument]
) -> None:
    """Insert versions of documents."""
    columns = (*_DOCUMENT_COLUMNS, "tenant", "workspace_id", "status")
    rows = [
        (*{**one.as_json(), "warnings": _json(one.warnings)}.values(), tenant, WORKSPACE, "ready")
        for one in documents
    ]
    insert_rows(connection, "documents", columns, rows)


def insert_chunks(
    connection: Connection, tenant: str, documents: Sequence[tuple[str, ReadFile]]
) -> None:
    """Insert the chunks of documents' bytes, given with their ids, and an anchor for each."""
    insert_rows(
        connection,
        "document_chunks",
        ("tenant", "sha256", "reader", *_CHUNK_COLUMNS),
        [
            (
                tenant,
                read.sha256,
                read.reader,
                chunk.chunk_id,
                identity,
                chunk.index,
                chunk.text,
                chunk.page,
                _json(chunk.heading_path),
                chunk.start,
                chunk.end,
                chunk.chunk_hash,
                chunk.ocr,
            )
            for identity, read in documents
            for chunk in read.chunks
        ],
    )
    hashes = {chunk.chunk_hash for _, read in documents for chunk in read.chunks}
    _issue_anchors(connection, tenant, sorted(hashes))


def chunks_of(connection: Connection, tenant: str, reading: Reading) -> list[DocumentChunk]:
    """Return the chunks of a reading of a document's bytes, in their order."""
    sql = f"{_CHUNKS} AND {_READING} ORDER BY chunk_index"
    return [_chunk(row) for row in fetch(connection, sql, (tenant, *reading))]


def has_chunks(connection: Connection, tenant: str, reading: Reading) -> bool:
    """Whether there are chunks of a reading of a document's bytes."""
    sql = f"SELECT 1 FROM document_chunks WHERE tenant = ? AND {_READING} LIMIT 1"  # noqa: S608 - names are ours
    return bool(fetch(connection, sql, (tenant, *reading)))


def chunks_of_all(
    connection: Connection, tenant: str, identities: Some[str]
) -> dict[Reading, list[DocumentChunk]]:
    """Return the chunks of all readings of documents."""
    found: dict[Reading, list[DocumentChunk]] = {}
    for part in _parts(sorted(identities)):
        sql = (
            f"SELECT sha256, reader, {', '.join(_CHUNK_COLUMNS)} FROM document_chunks "  # noqa: S608 - names are ours
            f"WHERE tenant = ? AND document_id IN ({_marks(part)}) "
            "ORDER BY document_id, sha256, reader, chunk_index"
        )
        for digest, reader, *row in fetch(connection, sql, (tenant, *part)):
            found.setdefault(Reading(row[1], digest, reader), []).append(_chunk(row))
    return found


def chunk_owners(connection: Connection, tenant: str) -> dict[Reading, int]:
    """Return how many chunks there are of each reading of a document's bytes."""
    sql = (
        "SELECT document_id, sha256, reader, COUNT(*) FROM document_chunks WHERE tenant = ? "
        "GROUP BY document_id, sha256, reader"
    )
    return {Reading(*row[:3]): row[3] for row in fetch(connection, sql, (tenant,))}


def texts_of(connection: Connection, tenant: str, texts: Some[str]) -> set[str]:
    """Return those of some texts that a chunk has, of any document."""
    hashes = sorted({generate_chunk_hash(text, FULL_LENGTH) for text in texts})
    found: set[str] = set()
    for part in _parts(hashes):
        sql = "SELECT DISTINCT content FROM document_chunks WHERE tenant = ? AND chunk_hash IN "
        found |= {row[0] for row in fetch(connection, f"{sql}({_marks(part)})", (tenant, *part))}
    return found & set(texts)


def erase_chunks(connection: Connection, tenant: str, reading: Reading) -> None:
    """Remove the chunks of a reading; the guards let it be where an entry erased its document."""
    if is_sqlite(connection):
        run(
            connection,
            f"DELETE FROM document_chunks WHERE tenant = ? AND {_READING}",  # noqa: S608 - names are ours
            (tenant, *reading),
        )
    else:
        run(connection, "SELECT trail_erase_chunks(?, ?, ?, ?)", (tenant, *reading))


def erase_title(connection: Connection, tenant: str, identity: str, version: int) -> None:
    """Remove the title of a version; the guards let it be where an entry erased its document."""
    sql = (
        "UPDATE documents SET title = NULL WHERE tenant = ? AND id = ? AND version = ?"
        if is_sqlite(connection)
        else "SELECT trail_erase_title(?, ?, ?)"
    )
    run(connection, sql, (tenant, identity, version))


def wrong_anchors(connection: Connection, tenant: str, *, erased: bool) -> list[str]:
    """Return what is wrong with the anchors: not one of each passage's hash, and its beginning.

    Where a document's text was `erased`, anchors of passages that are gone are not given to others.
    """
    rows = fetch(
        connection, "SELECT anchor, chunk_hash FROM citation_anchors WHERE tenant = ?", (tenant,)
    )
    sql = "SELECT DISTINCT chunk_hash FROM document_chunks WHERE tenant = ?"
    hashes = {row[0] for row in fetch(connection, sql, (tenant,))}
    bound = {chunk_hash for _, chunk_hash in rows}
    problems = [
        f"citation {anchor}: it is bound to {chunk_hash[:80]!r}, which does not begin so"
        for anchor, chunk_hash in rows
        if not _ANCHOR.fullmatch(anchor) or not chunk_hash.startswith(anchor)
    ]
    problems += [
        f"citation {anchor}: it is bound to a passage that is not there"
        for anchor, chunk_hash in rows
        if chunk_hash not in hashes and not erased
    ]
    return problems + [
        f"passage {chunk_hash[:16]}: no citation is bound to it"
        for chunk_hash in sorted(hashes - bound)
    ]


def other_rows(connection: Connection, tenant: str) -> list[str]:
    """Return the documents whose rows have a workspace or a status that no document has."""
    sql = "SELECT id FROM documents WHERE tenant = ? AND (workspace_id <> ? OR status <> 'ready')"
    return sorted({row[0] for row in fetch(connection, sql, (tenant, WORKSPACE))})


def corpus_id(version: StoredDocument) -> str:
    """Return what a version is called in a corpus and in a ledger."""
    return version.id if version.is_newest else f"{version.id}@{version.version}"


class IssuedAnchors(Mapping[str, str]):
    """The workspace's anchors with the hashes they are bound to, looked up as they are needed."""

    def __init__(
        self,
        connection: Connection,
        tenant: str,
        *,
        not_yet_stored: Mapping[str, str] = MappingProxyType({}),
        free: Some[str] = (),
    ) -> None:
        self._connection = connection
        self._tenant = tenant
        self._new = not_yet_stored
        self._free = free  # anchors that were looked up, and are not stored

    def __getitem__(self, anchor: str) -> str:
        if anchor in self._new:
            return self._new[anchor]
        if anchor in self._free:
            raise KeyError(anchor)
        sql = "SELECT chunk_hash FROM citation_anchors WHERE tenant = ? AND anchor = ?"
        rows = fetch(self._connection, sql, (self._tenant, anchor))
        if not rows:
            raise KeyError(anchor)
        return str(rows[0][0])

    def __iter__(self) -> Iterator[str]:
        sql = "SELECT anchor FROM citation_anchors WHERE tenant = ?"
        stored = {row[0] for row in fetch(self._connection, sql, (self._tenant,))}
        return iter(sorted(stored | set(self._new)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def of(self, chunk_hash: str) -> str:
        """Return the anchor that is bound to a hash; raise `NotFoundError` if there is none."""
        sql = "SELECT anchor FROM citation_anchors WHERE tenant = ? AND chunk_hash = ?"
        rows = fetch(self._connection, sql, (self._tenant, chunk_hash))
        if not rows:
            raise NotFoundError(f"no anchor is bound to the chunk hash {chunk_hash}")
        return str(rows[0][0])


def anchored_chunks(connection: Connection, tenant: str, anchor: str) -> list[DocumentChunk]:
    """Return the chunks whose hash begins with an anchor, of older versions too, in all places."""
    name = anchor.strip().lower()
    if not _ANCHOR.fullmatch(name):  # no hash begins with it; a database may not even take it
        return []
    sql = f"{_CHUNKS} AND chunk_hash >= ? AND chunk_hash <= ?"
    return [_chunk(row) for row in fetch(connection, sql, (tenant, name, f"{name}g"))]


def resolve_anchor(connection: Connection, tenant: str, anchor: str) -> CitationResolution:
    """Resolve an anchor among all chunks of the workspace, of older versions too."""
    found = anchored_chunks(connection, tenant, anchor)
    issued = IssuedAnchors(connection, tenant) if found else {}
    return resolve_citation(anchor, issued, found)


def _issue_anchors(connection: Connection, tenant: str, hashes: Sequence[str]) -> None:
    """Bind an anchor to each hash that has none; anchors issued before keep theirs."""
    known: set[str] = set()
    free = {chunk_hash[:ANCHOR_LENGTH] for chunk_hash in hashes}
    for column, found, wanted in (
        ("chunk_hash", known.add, hashes),
        ("anchor", free.discard, sorted(free)),
    ):
        for part in _parts(wanted):
            sql = f"SELECT {column} FROM citation_anchors WHERE tenant = ? AND {column} IN "  # noqa: S608 - names are ours
            for row in fetch(connection, f"{sql}({_marks(part)})", (tenant, *part)):
                found(row[0])
    bound: dict[str, str] = {}
    issued = IssuedAnchors(connection, tenant, not_yet_stored=bound, free=free)
    for chunk_hash in hashes:
        if chunk_hash not in known:
            bound[issue_anchor(chunk_hash, issued)] = chunk_hash
    rows = [(tenant, anchor, chunk_hash) for anchor, chunk_hash in bound.items()]
    insert_rows(connection, "citation_anchors", ("tenant", "anchor", "chunk_hash"), rows)


def _document(row: Sequence[Any]) -> StoredDocument:
    values = dict(zip(_DOCUMENT_COLUMNS, row, strict=True))
    warnings = _texts(values["warnings"], f"document {values['id']}")
    own = values["collection_id"] or collection_id(values["collection"])
    later = {"collection_id": own, "reader": values["reader"] or 0}
    return StoredDocument(**{**values, "warnings": warnings, **later})


def _chunk(row: Sequence[Any]) -> DocumentChunk:
    identity, document, index, text, page, headings, start, end, chunk_hash, ocr = row
    path = _texts(headings, f"chunk {index} of document {document}")
    return DocumentChunk(identity, document, index, text, page, path, start, end, chunk_hash, ocr)


def _texts(written: str, of: str) -> tuple[str, ...]:
    """Return the texts that a column lists; raise `IntegrityError` if it lists none."""
    found = _listed(written)
    if found is None:
        raise IntegrityError(f"{of}: its row in the database is damaged; run 'evidentia verify'")
    return found


@lru_cache(maxsize=4_096)
def _listed(written: str) -> tuple[str, ...] | None:
    try:
        found = json.loads(written)
    except (TypeError, ValueError, RecursionError):
        return None
    is_texts = isinstance(found, list) and all(isinstance(one, str) for one in found)
    return tuple(found) if is_texts else None


def _json(values: Sequence[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))


def _parts(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), _AT_ONCE):
        yield values[start : start + _AT_ONCE]


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" for _ in values)

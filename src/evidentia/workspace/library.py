"""The library and the trail: documents are recorded as they are read, and believed as recorded."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection

from evidentia.documents.model import DocumentChunk
from evidentia.documents.recording import (
    CHUNKS,
    chunks_digest,
    damaged_chunk,
    difference,
    document_body,
)
from evidentia.errors import EvidentiaError, IntegrityError
from evidentia.ledger.citations import CitationResolution
from evidentia.logs import get_logger
from evidentia.store.sql import library, log
from evidentia.store.sql.library import StoredDocument
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.logged import LoggedEntry, committed

Progress = Callable[[int, int], None]
_COPY = "run 'evidentia verify', and bring the database back from a copy"
_log = get_logger("workspace")


class RecordedVersion(NamedTuple):
    """What an entry of the trail says of a version of a document."""

    entry: int
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentsRecorded:
    """What became of documents that no entry recorded: now recorded, or why not."""

    recorded: tuple[StoredDocument, ...]
    problems: tuple[str, ...]


class Recordings:
    """What the trail says of documents, by their ids and versions.

    Where two entries are about the same version, the first one is believed: `contested` has those
    that say otherwise. `begun` says that documents are recorded in this workspace at all; in one
    of an older program none are, and there its documents are taken as they are.
    """

    def __init__(self, logged: Iterable[LoggedEntry], *, begun: bool) -> None:
        self.begun = begun
        self.of: dict[tuple[str, int], RecordedVersion] = {}
        self.contested: list[str] = []
        for one in logged:
            body, seq = one.body, one.entry.seq
            match body:
                case {"document_id": str(identity), "version": int(version)} if (
                    identity == one.entry.subject
                ):
                    first = self.of.setdefault((identity, version), RecordedVersion(seq, body))
                    if {**first.body, "by": ""} != {**body, "by": ""}:
                        self.contested.append(
                            f"document {identity}: entry {seq} says otherwise of version {version} "
                            f"than entry {first.entry}"
                        )
                case _:
                    self.contested.append(f"entry {seq} records no document that can be read")

    @classmethod
    def all(cls, acting: Acting) -> "Recordings":
        """Read what is recorded of all documents."""
        found = acting.entries(EntryKind.DOCUMENT)
        return cls(found, begun=bool(found))

    @classmethod
    def of_some(
        cls, connection: Connection, tenant: str, identities: Collection[str]
    ) -> "Recordings":
        """Read what is recorded of some documents."""
        rows = [
            row
            for identity in sorted(identities)
            for row in log.find_entries(connection, tenant, subject=identity)
            if row[1] == EntryKind.DOCUMENT
        ]
        begun = bool(rows) or bool(
            log.find_entries(connection, tenant, kind=EntryKind.DOCUMENT, limit=1)
        )
        return cls(map(committed, rows), begun=begun)

    def prove(self, acting: Acting, versions: Iterable[StoredDocument]) -> None:
        """Raise `IntegrityError` unless the entries that record versions are in the signed log."""
        with acting.database.read() as connection:
            for version in versions:
                found = self.of.get((version.id, version.version))
                if found and acting.entry_within(connection, found.entry).body != found.body:
                    raise IntegrityError(f"{named(version)}: entry {found.entry} was altered")

    def problem(
        self, version: StoredDocument, chunks: Sequence[DocumentChunk] | None = None
    ) -> str | None:
        """Say in what a version, and its chunks if they are given, are not as recorded."""
        found = self.of.get((version.id, version.version))
        if found is None:
            return (
                "no entry of the trail records it: if it is yours, of an older workspace, "
                "'evidentia documents record' records it; if not, someone added it"
            )
        differing = difference(version.as_json(), found.body)
        if differing is not None:
            return f"its {differing} is not what entry {found.entry} of the trail recorded; {_COPY}"
        if chunks is not None and chunks_digest(chunks) != found.body[CHUNKS]:
            return (
                f"its passages are not the ones that entry {found.entry} of the trail recorded; "
                f"{_COPY}"
            )
        return None

    def require(
        self, version: StoredDocument, chunks: Sequence[DocumentChunk] | None = None
    ) -> None:
        """Raise `IntegrityError` unless a version is as it was recorded."""
        if self.begun and (problem := self.problem(version, chunks)) is not None:
            raise IntegrityError(f"{named(version)}: {problem}")


def named(version: StoredDocument) -> str:
    """Return what a version is called in messages."""
    return f"document {version.id} ({version.collection}/{version.filename}, {version.version})"


@dataclass(slots=True)
class Recorder:
    """Records documents in the transactions that add them to the library."""

    acting: Acting
    entries: list[int] = field(default_factory=list)

    def writing(self) -> AbstractContextManager[Connection]:
        """Give a transaction in which the log is ours alone."""
        return self.acting.writing()

    def record(
        self,
        connection: Connection,
        version: StoredDocument,
        chunks: Sequence[DocumentChunk] | None,
    ) -> None:
        """Record a version; without chunks, with those that its bytes were recorded with before."""
        acting = self.acting
        digest = (
            self._recorded_digest(connection, version) if chunks is None else chunks_digest(chunks)
        )
        body = {**document_body(version.as_json(), digest), "by": acting.actor}
        receipt = acting.append_within(connection, EntryKind.DOCUMENT, version.id, body)
        self.entries.append(receipt.seq)

    def _recorded_digest(self, connection: Connection, version: StoredDocument) -> str:
        tenant = self.acting.tenant
        known = Recordings.of_some(connection, tenant, {version.id})
        for found in known.of.values():
            if found.body.get("sha256") == version.sha256:
                return str(found.body[CHUNKS])
        return chunks_digest(library.chunks_of(connection, tenant, version.id, version.sha256))


def record_missing(
    acting: Acting, identities: Collection[str] | None = None, progress: Progress | None = None
) -> DocumentsRecorded:
    """Record the versions of documents, of all or of some, that no entry records yet.

    One whose original is gone, or whose passages contradict themselves, is a problem and is left.
    """
    with acting.database.read() as connection:
        versions = library.all_versions(connection, acting.tenant, identities)
        known = (
            Recordings.all(acting)
            if identities is None
            else Recordings.of_some(connection, acting.tenant, identities)
        )
    missing = [one for one in versions if (one.id, one.version) not in known.of]
    recorded: list[StoredDocument] = []
    problems: list[str] = []
    for done, version in enumerate(missing, 1):
        problem = _record_one(acting, version)
        if problem is None:
            recorded.append(version)
        else:
            problems.append(f"{named(version)}: {problem}")
        if progress is not None:
            progress(done, len(missing))
    if recorded:
        _log.info("documents_recorded", tenant=acting.tenant, count=len(recorded))
    return DocumentsRecorded(tuple(recorded), tuple(problems))


def _record_one(acting: Acting, version: StoredDocument) -> str | None:
    """Record a version, unless someone else did; return what speaks against it, if anything."""
    try:
        acting.opened.lake.check(version.sha256)
    except EvidentiaError as error:
        return str(error)
    with acting.writing() as connection:
        known = Recordings.of_some(connection, acting.tenant, {version.id})
        if (version.id, version.version) in known.of:
            return None
        chunks = library.chunks_of(connection, acting.tenant, version.id, version.sha256)
        problem = damaged_chunk(chunks, version.as_json())
        if problem is None:
            Recorder(acting).record(connection, version, chunks)
        return problem


def require_places(acting: Acting, found: CitationResolution) -> CitationResolution:
    """Return what a citation leads to; raise `IntegrityError` unless it was recorded so."""
    identities = {chunk.document_id for chunk in found.places}
    if not identities:
        return found
    with acting.database.read() as connection:
        known = Recordings.of_some(connection, acting.tenant, identities)
        believed: set[DocumentChunk] = set()
        for version in library.all_versions(connection, acting.tenant, identities):
            chunks = library.chunks_of(connection, acting.tenant, version.id, version.sha256)
            known.require(version, chunks)
            known.prove(acting, [version])
            believed.update(chunks)
    for chunk in found.places:
        if known.begun and chunk not in believed:
            raise IntegrityError(
                f"document {chunk.document_id}: a passage that is cited belongs to no version of "
                f"it; {_COPY}"
            )
    return found


def audited_documents(
    acting: Acting, *, quick: bool, progress: Progress | None = None
) -> Iterator[str]:
    """Give what is wrong with the library: with what it has, and with what it lacks.

    `quick` looks at the rows of documents, and not at passages, originals and what follows of them.
    """
    known = Recordings.all(acting)
    yield from known.contested
    tenant = acting.tenant
    with acting.database.read() as connection:
        versions = library.all_versions(connection, tenant)
        owners = library.chunk_owners(connection, tenant)
        indexed = library.index_owners(connection, tenant)
        others = library.other_rows(connection, tenant)
        anchors = [] if quick else library.wrong_anchors(connection, tenant)
    there = {(one.id, one.version) for one in versions}
    for (identity, number), found in sorted(known.of.items()):
        if (identity, number) not in there:
            yield (
                f"document {identity} ({found.body.get('collection')}/"
                f"{found.body.get('filename')}, {number}): entry {found.entry} of the trail "
                "records it, and the database does not have it"
            )
    of_bytes = {(one.id, one.sha256) for one in versions}
    for kind, rows in (("passages", set(owners)), ("an index", indexed)):
        for identity, sha256 in sorted(rows - of_bytes):
            yield f"document {identity}: there are {kind} of bytes it never had ({sha256[:16]})"
    for identity in others:
        yield f"document {identity}: its row has a workspace or a status that no document has"
    yield from anchors
    for done, version in enumerate(versions, 1):
        problem = _audited_version(acting, known, version, quick=quick)
        if problem is not None:
            yield f"{named(version)}: {problem}"
        if progress is not None:
            progress(done, len(versions))


def _audited_version(
    acting: Acting, known: Recordings, version: StoredDocument, *, quick: bool
) -> str | None:
    if quick:
        return known.problem(version)
    from evidentia.documents.index import build_index  # noqa: PLC0415 - only this needs it

    try:
        with acting.database.read() as connection:
            of = (version.id, version.sha256)
            chunks = library.chunks_of(connection, acting.tenant, *of)
            kept = library.kept_index(connection, acting.tenant, of)
        if (problem := known.problem(version, chunks)) is not None:
            return problem
        acting.opened.lake.check(version.sha256)
    except EvidentiaError as error:
        return str(error)
    if kept is not None and kept != build_index(chunks).to_bytes():
        return "the index to search it by is not the one that its passages give"
    return None

"""The library and the trail: documents are recorded as they are read, and believed as recorded."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection

from evidentia.documents.model import DocumentChunk
from evidentia.documents.recording import (
    CHUNKS,
    CORPUS,
    DATED,
    REMOVED,
    chunks_digest,
    damaged_chunk,
    difference,
    document_body,
    document_leaf,
    removal_body,
)
from evidentia.errors import EvidentiaError, IntegrityError
from evidentia.ledger.citations import CitationResolution
from evidentia.ledger.commitment import corpus_key, read_leaf, with_version, without_versions
from evidentia.logs import get_logger
from evidentia.store.sql import library, log
from evidentia.store.sql.library import StoredDocument
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.commitment import (
    ChangingCorpus,
    audited_corpus,
    current_corpus,
    restore_corpus,
    update_corpus,
)
from evidentia.workspace.logged import LoggedEntry, committed

if TYPE_CHECKING:
    from evidentia.store.search import IndexedChunk

Progress = Callable[[int, int], None]
_COPY = "run 'evidentia verify', and bring the database back from a copy"
_UNRECORDED = (
    "no entry of the trail records it: if it is yours, of an older workspace, 'evidentia documents "
    "record' records it; if not, someone added it"
)
_log = get_logger("workspace")


class RecordedVersion(NamedTuple):
    """What an entry of the trail says of a version of a document."""

    entry: int
    body: Mapping[str, Any]


class RecordedRemoval(NamedTuple):
    """What an entry says that takes a document out: with all its versions up to one."""

    entry: int
    through: int
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
        self.removed: dict[str, RecordedRemoval] = {}
        """The last removal of each document that was ever taken out."""
        self.contested: list[str] = []
        for one in logged:
            body, seq = one.body, one.entry.seq
            match body:
                case {"document_id": str(identity), "removed": True, "through": int(through)} if (
                    one.entry.subject == f"{REMOVED}{identity}"
                ):
                    if (identity, through) in self.of:
                        self.removed[identity] = RecordedRemoval(seq, through, body)
                    else:
                        self.contested.append(
                            f"document {identity}: entry {seq} takes out version {through}, which "
                            "no entry before it records"
                        )
                case {"document_id": str(identity), "version": int(version)} if (
                    identity == one.entry.subject
                ):
                    first = self.of.setdefault((identity, version), RecordedVersion(seq, body))
                    if document_leaf(first.body) != document_leaf(body):
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
            for subject in (identity, f"{REMOVED}{identity}")
            for row in log.find_entries(connection, tenant, subject=subject)
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

    def is_removed(self, version: StoredDocument) -> bool:
        """Whether a version was taken out of the library."""
        found = self.removed.get(version.id)
        return found is not None and version.version <= found.through

    def problem(
        self, version: StoredDocument, chunks: Sequence[DocumentChunk] | None = None
    ) -> str | None:
        """Say in what a version, and its chunks if they are given, are not as recorded."""
        found = self.of.get((version.id, version.version))
        if found is None:
            return _UNRECORDED
        return _differing(version, chunks, found.body, f"entry {found.entry} of the trail")

    def require(
        self, version: StoredDocument, chunks: Sequence[DocumentChunk] | None = None
    ) -> None:
        """Raise `IntegrityError` unless a version is as it was recorded."""
        if self.begun and (problem := self.problem(version, chunks)) is not None:
            raise IntegrityError(f"{named(version)}: {problem}")


class Proved:
    """The library as the newest signed entry about it commits to it: what no row or index moves.

    In a workspace of an older program no entry is about documents: they are taken as they are.
    """

    def __init__(self, acting: Acting, connection: Connection) -> None:
        self._acting = acting
        self._connection = connection
        self._corpus = current_corpus(acting, connection)

    def versions(self, identities: Collection[str]) -> list[StoredDocument]:
        """Return all versions of documents that are in the library, the newest of each last.

        Raise `IntegrityError` for one that is not as it was recorded, and for one that is missing.
        """
        acting = self._acting
        found = library.all_versions(self._connection, acting.tenant, identities)
        if self._corpus is None:
            return found
        there = [one for one in found if self._leaf(one) is not None]
        others = {one.id for one in found} - {one.id for one in there if one.is_newest}
        removed = removed_through(acting, self._connection, others) if others else {}
        for version in found:
            if version.version > removed.get(version.id, 0):
                self.require(version)
        for identity in set(identities) - {one.id for one in there if one.is_newest}:
            if self._corpus.map.get(corpus_key(identity)) is not None:
                raise IntegrityError(
                    f"document {identity}: the trail records it, and the database does not have "
                    f"its newest version; {_COPY}"
                )
        return there

    def require(
        self, version: StoredDocument, chunks: Sequence[DocumentChunk] | None = None
    ) -> None:
        """Raise `IntegrityError` unless a version, and its chunks if given, are as recorded."""
        if self._corpus is None:
            return
        leaf = self._leaf(version)
        if leaf is None:
            raise IntegrityError(f"{named(version)}: {_UNRECORDED}")
        problem = _differing(version, chunks, read_leaf(leaf), "the trail")
        if problem is not None:
            raise IntegrityError(f"{named(version)}: {problem}")

    def _leaf(self, version: StoredDocument) -> bytes | None:
        number = None if version.is_newest else version.version
        return self._corpus.map.get(corpus_key(version.id, number)) if self._corpus else None


def _differing(
    version: StoredDocument,
    chunks: Sequence[DocumentChunk] | None,
    recorded: Mapping[str, Any],
    where: str,
) -> str | None:
    """Say in what a version, and its chunks if they are given, are not what was recorded."""
    differing = difference(version.as_json(), recorded)
    if differing is not None:
        return f"its {differing} is not what {where} recorded; {_COPY}"
    if chunks is not None and chunks_digest(chunks) != recorded[CHUNKS]:
        return f"its passages are not the ones that {where} recorded; {_COPY}"
    return None


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
        versions: Sequence[tuple[StoredDocument, Sequence[DocumentChunk] | None]],
    ) -> None:
        """Record versions; those without chunks, with what their bytes were recorded with before.

        Each entry names the library as it is with its document.
        """
        acting = self.acting
        corpus = ChangingCorpus(acting, connection)
        bodies = []
        for version, chunks in versions:
            digest = (
                self._recorded_digest(connection, version)
                if chunks is None
                else chunks_digest(chunks)
            )
            body = document_body(version.as_json(), digest)
            if version.dated is not None:
                body[DATED] = version.dated
            said = corpus.change(partial(with_version, body=body))
            bodies.append((version.id, body | {CORPUS: said, "by": acting.actor}))
        corpus.keep()
        receipts = acting.append_all_within(connection, EntryKind.DOCUMENT, bodies)
        self.entries += [receipt.seq for receipt in receipts]

    def remove(self, connection: Connection, version: StoredDocument, reason: str) -> int:
        """Record that a document is taken out, with all versions up to this; return the entry."""
        acting = self.acting
        body = {**removal_body(version.id, version.version, reason), "by": acting.actor}
        body[CORPUS] = update_corpus(acting, connection, lambda get: without_versions(get, body))
        subject = f"{REMOVED}{version.id}"
        receipt = acting.append_within(connection, EntryKind.DOCUMENT, subject, body)
        self.entries.append(receipt.seq)
        return receipt.seq

    def removed_through(
        self, connection: Connection, identities: Collection[str]
    ) -> Mapping[str, int]:
        """Return up to which version documents were taken out, of those that ever were."""
        return removed_through(self.acting, connection, identities)

    def _recorded_digest(self, connection: Connection, version: StoredDocument) -> str:
        tenant = self.acting.tenant
        known = Recordings.of_some(connection, tenant, {version.id})
        for found in known.of.values():
            if found.body.get("sha256") == version.sha256:
                return str(found.body[CHUNKS])
        return chunks_digest(library.chunks_of(connection, tenant, version.id, version.sha256))


def removed_through(
    acting: Acting, connection: Connection, identities: Collection[str] | None = None
) -> dict[str, int]:
    """Return up to which version documents were taken out, of some or of all that were.

    Each entry that says so is proved. Raise `IntegrityError` for one that is not what was signed.
    """
    tenant = acting.tenant
    found: dict[str, int] = {}
    if identities is not None:
        subjects = [f"{REMOVED}{identity}" for identity in sorted(identities)]
        listed = log.entries_about(connection, tenant, EntryKind.DOCUMENT, subjects)
    else:
        listed = log.subjects(connection, tenant, (EntryKind.DOCUMENT,), REMOVED)
    for seq, subject in listed:
        through = int(acting.entry_within(connection, seq).body["through"])
        found[subject.removeprefix(REMOVED)] = through
    return found


def versions_in(acting: Acting, identities: Collection[str] | None = None) -> list[StoredDocument]:
    """Return all versions of documents that are in the library: none that was taken out."""
    with acting.database.read() as connection:
        versions = library.all_versions(connection, acting.tenant, identities)
        through = removed_through(acting, connection, identities) if versions else {}
    return [one for one in versions if one.version > through.get(one.id, 0)]


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
    if identities is None:
        with acting.writing() as connection:
            restore_corpus(acting, connection)
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
            Recorder(acting).record(connection, [(version, chunks)])
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
        others = library.other_rows(connection, tenant)
        anchors = [] if quick else library.wrong_anchors(connection, tenant)
        yield from audited_corpus(acting, connection)
    there = {(one.id, one.version) for one in versions}
    for (identity, number), found in sorted(known.of.items()):
        if (identity, number) not in there:
            yield (
                f"document {identity} ({found.body.get('collection')}/"
                f"{found.body.get('filename')}, {number}): entry {found.entry} of the trail "
                "records it, and the database does not have it"
            )
    of_bytes = {(one.id, one.sha256) for one in versions}
    for identity, sha256 in sorted(set(owners) - of_bytes):
        yield f"document {identity}: there are passages of bytes it never had ({sha256[:16]})"
    for identity in others:
        yield f"document {identity}: its row has a workspace or a status that no document has"
    yield from anchors
    for done, version in enumerate(versions, 1):
        problem = _audited_version(acting, known, version, quick=quick)
        if problem is not None:
            yield f"{named(version)}: {problem}"
        if progress is not None:
            progress(done, len(versions))
    if not quick:
        from evidentia.workspace.searching import audited_index  # noqa: PLC0415 - an audit's alone

        for problem in audited_index(acting, _indexed(acting, versions_in(acting))):
            yield f"the search index: {problem}"


def _indexed(
    acting: Acting, versions: Iterable[StoredDocument]
) -> "Iterator[tuple[str, Iterator[IndexedChunk]]]":
    """Give each document with what an index is told of its chunks, of all versions."""
    from evidentia.workspace.searching import indexed  # noqa: PLC0415 - an audit's alone

    for identity, of_one in groupby(versions, key=lambda version: version.id):
        digests = dict.fromkeys(version.sha256 for version in of_one)
        with acting.database.read() as connection:
            yield (
                identity,
                (
                    indexed(chunk, sha256)
                    for sha256 in digests
                    for chunk in library.chunks_of(connection, acting.tenant, identity, sha256)
                ),
            )


def _audited_version(
    acting: Acting, known: Recordings, version: StoredDocument, *, quick: bool
) -> str | None:
    if quick:
        return known.problem(version)
    try:
        with acting.database.read() as connection:
            of = (version.id, version.sha256)
            chunks = library.chunks_of(connection, acting.tenant, *of)
        if (problem := known.problem(version, chunks)) is not None:
            return problem
        acting.opened.lake.check(version.sha256)
    except EvidentiaError as error:
        return str(error)
    return None

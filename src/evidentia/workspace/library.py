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
    ERASED,
    REMOVED,
    chunks_digest,
    damaged_chunk,
    difference,
    document_leaf,
    recorded_body,
    removal_body,
)
from evidentia.errors import EvidentiaError, IntegrityError
from evidentia.language.counting import counted
from evidentia.ledger.citations import CitationResolution
from evidentia.ledger.commitment import corpus_key, read_leaf, with_version, without_versions
from evidentia.logs import get_logger
from evidentia.store.sql import library, log
from evidentia.store.sql.library import Reading, StoredDocument
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.commitment import (
    ChangingCorpus,
    CurrentCorpus,
    audited_corpus,
    current_corpus,
    newest_document,
    restore_corpus,
    update_corpus,
)
from evidentia.workspace.keeping import is_left
from evidentia.workspace.logged import LoggedEntry

if TYPE_CHECKING:
    from evidentia.store.search import IndexedChunk

Progress = Callable[[int, int], None]
_COPY = "run 'evidentia verify', and bring the database back from a copy"
_UNRECORDED = (
    "no entry of the trail records it: if it is yours, of an older workspace, 'evidentia documents "
    "record' records it; if not, someone added it"
)
_log = get_logger("workspace")


_ONE_BY_ONE = 200
"""How many documents are looked up one by one; for more, all that were taken out are read."""


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
    """What the trail says of documents, by their ids and versions; each entry was proved.

    Where two entries are about the same version, the first one is believed: `contested` has those
    that say otherwise.
    """

    def __init__(self, logged: Iterable[LoggedEntry]) -> None:
        self.of: dict[tuple[str, int], RecordedVersion] = {}
        self.removed: dict[str, RecordedRemoval] = {}
        """The last removal of each document that was ever taken out."""
        self.erased: dict[str, RecordedRemoval] = {}
        """The last removal that erased a document's text, of each whose text was erased."""
        self.contested: list[str] = []
        for one in logged:
            body, seq = one.body, one.entry.seq
            match body:
                case {"document_id": str(identity), "removed": True, "through": int(through)} if (
                    one.entry.subject == f"{REMOVED}{identity}"
                ):
                    if (identity, through) in self.of:
                        self.removed[identity] = RecordedRemoval(seq, through, body)
                        if body.get("text") == ERASED:
                            self.erased[identity] = self.removed[identity]
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
        return cls(found)

    @classmethod
    def of_some(
        cls, acting: Acting, connection: Connection, identities: Collection[str]
    ) -> "Recordings":
        """Read what is recorded of some documents, each entry proved against the signed log."""
        found = [
            one
            for identity in sorted(identities)
            for subject in (identity, f"{REMOVED}{identity}")
            for one in acting.entries(EntryKind.DOCUMENT, subject, connection=connection)
        ]
        return cls(found)

    def is_erased(self, version: StoredDocument) -> bool:
        """Whether a version was taken out, and its text erased."""
        found = self.erased.get(version.id)
        return found is not None and version.version <= found.through

    def problem(
        self, version: StoredDocument, chunks: Sequence[DocumentChunk] | None = None
    ) -> str | None:
        """Say in what a version, and its chunks if they are given, are not as recorded.

        Of a version whose text was erased there are none, but those of bytes that came back.
        """
        found = self.of.get((version.id, version.version))
        if found is None:
            return _UNRECORDED
        erased = self.is_erased(version)
        where = f"entry {found.entry} of the trail"
        return _differing(
            version, None if erased and not chunks else chunks, found.body, where, erased=erased
        )


class Proved:
    """The library as the newest signed entry about it commits to it: what no row or index moves.

    In a workspace of an older program no entry is about documents: they are taken as they are.
    """

    def __init__(
        self, acting: Acting, connection: Connection, corpus: CurrentCorpus | None
    ) -> None:
        self._acting = acting
        self._connection = connection
        self._corpus = corpus

    @property
    def begun(self) -> bool:
        """Whether documents are recorded in this workspace at all."""
        return self._corpus is not None

    @classmethod
    def now(cls, acting: Acting, connection: Connection) -> "Proved":
        """Return the library as it is in a view of the database."""
        return cls(acting, connection, current_corpus(acting, connection))

    def versions(self, identities: Collection[str]) -> list[StoredDocument]:
        """Return all versions of documents that are in the library, the newest of each last.

        Raise `IntegrityError` for one that is not as it was recorded, and for one that is missing.
        """
        acting = self._acting
        found = library.all_versions(self._connection, acting.tenant, identities)
        if self._corpus is None:
            return found
        there, others = list[StoredDocument](), set[str]()
        for one in found:
            if self._leaf(one) is None:
                others.add(one.id)
            else:
                there.append(one)
        removed = removed_through(acting, self._connection, others) if others else {}
        for version in found:
            if version.version > removed.get(version.id, 0):
                self.require(version)
        newest = {one.id for one in there if one.is_newest}
        for identity in set(identities) - newest:
            self.require_newest(identity, ())
        return there

    def everything(self) -> list[StoredDocument]:
        """Return all versions of all documents that are in the library, as `versions` does.

        Raise `IntegrityError` where they are not as many as the trail commits to.
        """
        found = self.versions(library.document_ids(self._connection, self._acting.tenant))
        self.require_count(len(found))
        return found

    def require_count(self, versions: int) -> None:
        """Raise `IntegrityError` unless the library has so many versions of documents."""
        if self._corpus is not None and versions != self._corpus.documents:
            raise IntegrityError(
                f"the trail records {counted(self._corpus.documents, 'version')} of documents in "
                f"the library, and the database has {versions:,} of them; {_COPY}"
            )

    def require_newest(self, identity: str, versions: Sequence[StoredDocument]) -> None:
        """Raise `IntegrityError` if a document is in the library, and its newest version not."""
        if (
            self._corpus is not None
            and not (versions and versions[-1].is_newest)
            and self._corpus.map.get(corpus_key(identity)) is not None
        ):
            raise IntegrityError(
                f"document {identity}: the trail records it, and the database does not have its "
                f"newest version; {_COPY}"
            )

    def count(self, versions: Iterable[StoredDocument]) -> int:
        """Return how many of these versions are in the library."""
        return sum(1 for one in versions if self._corpus is None or self._leaf(one) is not None)

    def require(
        self, version: StoredDocument, chunks: Sequence[DocumentChunk] | None = None
    ) -> None:
        """Raise `IntegrityError` unless a version, and its chunks if given, are as recorded."""
        if self._corpus is None:
            return
        leaf = self._leaf(version)
        problem = (
            _UNRECORDED
            if leaf is None
            else _differing(version, chunks, read_leaf(leaf), "the trail")
        )
        if problem is not None:
            raise IntegrityError(f"{named(version)}: {problem}")

    def require_recorded(
        self, version: StoredDocument, chunks: Sequence[DocumentChunk] | None = None
    ) -> None:
        """Raise `IntegrityError` unless a version, and its chunks if given, are as recorded.

        One that was taken out of the library is in no map any more: then its entry is asked.
        """
        if self._corpus is None or self.has(version):
            self.require(version, chunks)
            return
        known = Recordings.of_some(self._acting, self._connection, {version.id})
        if (problem := known.problem(version, chunks)) is not None:
            raise IntegrityError(f"{named(version)}: {problem}")

    def has(self, version: StoredDocument) -> bool:
        """Whether a version is in the library; in one of an older program none is known to be."""
        return self._leaf(version) is not None

    def _leaf(self, version: StoredDocument) -> bytes | None:
        """Return what the map has of a version: under the id alone if it is the newest there."""
        if self._corpus is None:
            return None
        newest = self._corpus.map.get(corpus_key(version.id))
        if newest is None or read_leaf(newest)["version"] == version.version:
            return newest
        return self._corpus.map.get(corpus_key(version.id, version.version))


def _differing(
    version: StoredDocument,
    chunks: Sequence[DocumentChunk] | None,
    recorded: Mapping[str, Any],
    where: str,
    *,
    erased: bool = False,
) -> str | None:
    """Say in what a version, and its chunks if they are given, are not what was recorded."""
    differing = difference(version.as_json(), recorded, erased=erased)
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
    _begun: bool | None = None
    """Whether documents were recorded when this one was first asked; older ones are not."""

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
            body = recorded_body(version.as_json(), digest)
            said = corpus.change(partial(with_version, body=body))
            bodies.append((version.id, body | {CORPUS: said, "by": acting.actor}))
        corpus.keep()
        receipts = acting.append_all_within(connection, EntryKind.DOCUMENT, bodies)
        self.entries += [receipt.seq for receipt in receipts]

    def remove(
        self, connection: Connection, version: StoredDocument, reason: str, *, erased: bool = False
    ) -> int:
        """Record that a document is taken out, with all versions up to this; return the entry."""
        acting = self.acting
        body = removal_body(version.id, version.version, reason, erased=erased)
        body["by"] = acting.actor
        body[CORPUS] = update_corpus(acting, connection, lambda get: without_versions(get, body))
        subject = f"{REMOVED}{version.id}"
        receipt = acting.append_within(connection, EntryKind.DOCUMENT, subject, body)
        self.entries.append(receipt.seq)
        return receipt.seq

    def newest(
        self, connection: Connection, identities: Collection[str]
    ) -> dict[str, StoredDocument]:
        """Return the newest versions of documents that are there, as they were recorded."""
        acting = self.acting
        if self._has_begun(connection):
            found = Proved.now(acting, connection).versions(identities)
        else:
            found = library.all_versions(connection, acting.tenant, identities)
        return {one.id: one for one in found}

    def removed_through(
        self, connection: Connection, identities: Collection[str]
    ) -> dict[str, int]:
        """Return up to which version documents were taken out, of those that ever were."""
        return removed_through(self.acting, connection, identities)

    def require(self, connection: Connection, version: StoredDocument) -> None:
        """Raise `IntegrityError` unless a version is as recorded, though it was taken out."""
        if self._has_begun(connection):
            Proved.now(self.acting, connection).require_recorded(version)

    def _has_begun(self, connection: Connection) -> bool:
        if self._begun is None:
            self._begun = newest_document(self.acting, connection) is not None
        return self._begun

    def _recorded_digest(self, connection: Connection, version: StoredDocument) -> str:
        known = Recordings.of_some(self.acting, connection, {version.id})
        for found in known.of.values():
            if (found.body.get("sha256"), found.body.get("reader", 0)) == version.reading[1:]:
                return str(found.body[CHUNKS])
        return chunks_digest(library.chunks_of(connection, self.acting.tenant, version.reading))


def removed_through(
    acting: Acting, connection: Connection, identities: Collection[str] | None = None
) -> dict[str, int]:
    """Return up to which version documents were taken out, of some or of all that were.

    Each entry that says so is proved. Of many documents, an index says which entries those are:
    what decides asks of few, or goes by the map. Raise `IntegrityError` for one that is not what
    was signed.
    """
    found: dict[str, int] = {}
    if identities is not None and len(identities) <= _ONE_BY_ONE:
        for identity in identities:
            subject = f"{REMOVED}{identity}"
            for one in acting.entries(EntryKind.DOCUMENT, subject, connection=connection):
                found[identity] = int(one.body["through"])
        return found
    for seq, subject in log.subjects(connection, acting.tenant, (EntryKind.DOCUMENT,), REMOVED):
        identity = subject.removeprefix(REMOVED)
        if identities is None or identity in identities:
            found[identity] = int(acting.entry_within(connection, seq).body["through"])
    return found


def versions_in(
    acting: Acting,
    identities: Collection[str] | None = None,
    connection: Connection | None = None,
) -> list[StoredDocument]:
    """Return all versions of documents that are in the library: none that was taken out."""
    if connection is None:
        with acting.database.read() as opened:
            return versions_in(acting, identities, opened)
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
            else Recordings.of_some(acting, connection, identities)
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
        acting.lake.check(version.sha256)
    except EvidentiaError as error:
        return str(error)
    with acting.writing() as connection:
        known = Recordings.of_some(acting, connection, {version.id})
        if (version.id, version.version) in known.of:
            return None
        chunks = library.chunks_of(connection, acting.tenant, version.reading)
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
        proved = Proved.now(acting, connection)
        believed: set[DocumentChunk] = set()
        for version in library.all_versions(connection, acting.tenant, identities):
            chunks = library.chunks_of(connection, acting.tenant, version.reading)
            proved.require_recorded(version, chunks)
            believed.update(chunks)
    for chunk in found.places:
        if proved.begun and chunk not in believed:
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
        erased = bool(known.erased)
        anchors = [] if quick else library.wrong_anchors(connection, tenant, erased=erased)
        yield from audited_corpus(acting, connection)
    there = {(one.id, one.version) for one in versions}
    for (identity, number), found in sorted(known.of.items()):
        if (identity, number) not in there:
            yield (
                f"document {identity} ({found.body.get('collection')}/"
                f"{found.body.get('filename')}, {number}): entry {found.entry} of the trail "
                "records it, and the database does not have it"
            )
    for owner in sorted(set(owners) - {one.reading for one in versions}):
        yield (
            f"document {owner.document_id}: there are passages of bytes it never had "
            f"({owner.sha256[:16]})"
        )
    for identity in others:
        yield f"document {identity}: its row has a workspace or a status that no document has"
    yield from anchors
    living = {one.reading for one in versions if not known.is_erased(one)}
    for done, version in enumerate(versions, 1):
        problem = _audited_version(acting, known, version, living, quick=quick)
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
) -> "Iterator[tuple[str, list[IndexedChunk]]]":
    """Give each document with what an index is told of its chunks, of all versions."""
    from evidentia.workspace.searching import indexed  # noqa: PLC0415 - an audit's alone

    for identity, of_one in groupby(versions, key=lambda version: version.id):
        readings = dict.fromkeys(version.reading for version in of_one)
        with acting.database.read() as connection:  # whose errors are told from in here alone
            chunks = [
                indexed(chunk, reading)
                for reading in readings
                for chunk in library.chunks_of(connection, acting.tenant, reading)
            ]
        yield identity, chunks


def _audited_version(
    acting: Acting,
    known: Recordings,
    version: StoredDocument,
    living: Collection[Reading],
    *,
    quick: bool,
) -> str | None:
    """Say what is wrong with a version; `living` are the readings whose passages must be there."""
    if quick:
        return known.problem(version)
    try:
        with acting.database.read() as connection:
            chunks = library.chunks_of(connection, acting.tenant, version.reading)
        if (problem := known.problem(version, chunks)) is not None:
            return problem
        if version.reading not in living:
            return _not_erased(acting, known.erased[version.id].entry, chunks, version)
        acting.lake.check(version.sha256)
    except EvidentiaError as error:
        return str(error)
    return None


def _not_erased(
    acting: Acting,
    entry: int,
    chunks: Sequence[DocumentChunk],
    version: StoredDocument,
) -> str | None:
    """Say what is still there of a version whose text an entry says was erased."""
    if chunks or version.title is not None:
        return f"entry {entry} of the trail says that its text was erased, and it is still there"
    if is_left(acting, version.sha256):
        return (
            f"entry {entry} of the trail says that its text was erased, and its original is still "
            "in the lake: the next check removes it"
        )
    return None

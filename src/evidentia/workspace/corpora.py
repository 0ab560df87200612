"""Corpora: what answers are checked against, read from the library as it is needed.

The search index says which chunks to look at; each document that has one is read whole, verified
against what the trail recorded of it, and remembered by the process. So a check costs what its
claims touch, however much else the library has. All that one check reads is of one moment: index,
documents and the map that commits to them are pinned when it begins.
"""

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final, NamedTuple

from sqlalchemy import Connection

from evidentia.documents.effective import version_on
from evidentia.documents.model import DocumentChunk
from evidentia.errors import IntegrityError
from evidentia.judges.nli.meaning import with_meaning
from evidentia.judges.nli.model import encoder_digest
from evidentia.ledger.evidence import Corpus, CorpusDocument, Hit
from evidentia.ledger.judging import Judge
from evidentia.ledger.references import named
from evidentia.store.search import Candidate, IndexReader, Within
from evidentia.store.sql import embeddings, library
from evidentia.store.sql.library import Reading, StoredDocument, corpus_id
from evidentia.workspace.acting import Acting
from evidentia.workspace.commitment import CurrentCorpus, current_corpus, newest_document
from evidentia.workspace.library import Proved
from evidentia.workspace.recorded import Progress
from evidentia.workspace.remembered import Remembered
from evidentia.workspace.searching import rebuild_index, search_index

PAGED: Final = frozenset({"application/pdf"})
"""The formats whose pages are pages to a reader, too."""
_REMEMBERED: Final = 32 * 2**20
"""How many characters of documents a process remembers of a library."""
_LONGEST_NAME: Final = 12
"""How many words a name has at most by which a reference's text is looked through."""
_LIKE: Final = 200
"""How many documents with a name like what a reference says are compared with it."""

_MOST_CORPORA: Final = 8
_MOST_PINS: Final = 100
"""How often a library is looked at again that moved between two looks."""


class ReadChunks:
    """The chunks of documents that were read and verified, by their bytes; threads may share it.

    What was verified stays so: it is remembered, not read again, up to a size in all.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[Reading, tuple[DocumentChunk, ...]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: Reading) -> tuple[DocumentChunk, ...] | None:
        """Return the chunks of bytes, if they are remembered."""
        with self._lock:
            found = self._known.get(key)
            if found is not None:
                self._known.move_to_end(key)
            return found

    def put(self, key: Reading, chunks: tuple[DocumentChunk, ...]) -> None:
        """Remember chunks that were verified."""
        with self._lock:
            self._size += _size(chunks) - _size(self._known.get(key, ()))
            self._known[key] = chunks
            while self._size > _REMEMBERED and len(self._known) > 1:
                self._size -= _size(self._known.popitem(last=False)[1])


class Documents:
    """The documents of a library as of one entry of the trail, read as they are needed.

    Threads may share one. It reads through a view of the database that is of that moment: while
    one is open (`seen_by`), and whatever others add meanwhile.
    """

    def __init__(self, acting: Acting, chunks: ReadChunks) -> None:
        self._acting = acting
        self._versions: dict[str, tuple[StoredDocument, ...]] = {}
        self._chunks = chunks
        self._views: list[tuple[Connection, Proved]] = []
        self._lock = threading.RLock()

    @contextmanager
    def seen_by(self, connection: Connection, corpus: CurrentCorpus | None) -> Iterator[None]:
        """Read through a view of this library while the block lasts; its map is `corpus`."""
        view = connection, Proved(self._acting, connection, corpus)
        with self._lock:
            self._views.append(view)
        try:
            yield
        finally:
            with self._lock:
                self._views.remove(view)

    def versions(self, identities: Collection[str]) -> dict[str, tuple[StoredDocument, ...]]:
        """Return all versions of documents, the newest last, as the trail recorded them."""
        with self._lock:
            missing = {one for one in identities if one not in self._versions}
            if missing:
                found = self._view[1].versions(missing)
                for identity in missing:
                    of_one = tuple(one for one in found if one.id == identity)
                    self._versions[identity] = of_one
            return {one: self._versions[one] for one in identities}

    def chunks(self, version: StoredDocument) -> tuple[DocumentChunk, ...]:
        """Return a version's chunks as the trail recorded them."""
        key = version.reading
        found = self._chunks.get(key)
        if found is None:
            with self._lock:
                connection, proved = self._view
                found = tuple(library.chunks_of(connection, self._acting.tenant, key))
                proved.require(version, found)
            self._chunks.put(key, found)
        return found

    def anchored(self, anchor: str) -> list[DocumentChunk]:
        """Return the chunks that an anchor may mean, as they stand there."""
        with self._lock:
            return library.anchored_chunks(self._view[0], self._acting.tenant, anchor)

    def ids(self) -> frozenset[str]:
        """Return the ids of all documents; raise `IntegrityError` where one of them is missing."""
        with self._lock:
            return frozenset(one.id for one in self._view[1].everything())

    @property
    def _view(self) -> tuple[Connection, Proved]:
        return self._views[-1]


def _size(chunks: Iterable[DocumentChunk]) -> int:
    return sum(len(chunk.text) for chunk in chunks)


class Part(NamedTuple):
    """A part of a library: what is looked in, and on which day it held; None is whenever."""

    within: Within = Within()
    as_of: date | None = None


class LibraryHoldings:
    """The part of a library that an answer is checked against; keeps `ledger.evidence.Holdings`.

    An older version goes by its own id, `doc_…@1`. Bytes that several versions share count once, as
    the newest of them. As of a day, one version of a document is there at most: the one that held.
    """

    def __init__(self, acting: Acting, pinned: "Pin", part: Part) -> None:
        self._acting = acting
        self._entry = pinned.entry
        self._reader = pinned.reader
        self._documents = pinned.documents
        self._within, self._as_of = part.within, part.as_of
        self._readings: set[Reading] = set()
        self._known: dict[Reading, CorpusDocument] = {}
        self._by_id: dict[str, StoredDocument] = {}
        self._met: set[str] = set()

    def search(self, text: str, limit: int, among: frozenset[str] | None) -> list[Hit]:
        """Return the best chunks by their words, the best first."""
        within = self._within
        if among is not None:
            own = frozenset(one.partition("@")[0] for one in among)
            held = own if within.documents is None else own & within.documents
            within = within._replace(documents=held)
        size = limit
        while True:
            found = self._found(text, size, within)
            hits = [
                hit
                for hit in map(self._hit, found)
                if hit is not None and (among is None or hit.document_id in among)
            ]
            if len(hits) >= limit or len(found) < size:
                return hits[:limit]
            size *= 2

    def documents(self, identities: Iterable[str]) -> dict[str, CorpusDocument]:
        """Return those of the named documents that are in the corpus."""
        wanted = list(identities)
        self._meet({one.partition("@")[0] for one in wanted})
        found = {}
        for identity in wanted:
            version = self._by_id.get(identity)
            document = version and self._known.get(version.reading)
            if document:
                found[identity] = document
        return found

    def version(self, identity: str) -> StoredDocument | None:
        """Return the version that goes by an id in the corpus."""
        self._meet({identity.partition("@")[0]})
        return self._by_id.get(identity)

    def chunks(self, identity: str) -> Sequence[DocumentChunk]:
        """Return a document's chunks."""
        version = self.version(identity)
        if version is None:
            return ()
        return _called_so(self._documents.chunks(version), identity)

    def anchored(self, anchor: str) -> Sequence[DocumentChunk]:
        """Return the chunks that an anchor may mean."""
        found = self._documents.anchored(anchor)
        self._meet({chunk.document_id for chunk in found})
        wanted = {chunk.chunk_id for chunk in found}
        owners = {chunk.document_id for chunk in found}
        return [
            chunk
            for identity, version in list(self._by_id.items())
            if version.id in owners
            for chunk in self.chunks(identity)
            if chunk.chunk_id in wanted
        ]

    def called(self, text: str) -> list[CorpusDocument]:
        """Return the documents whose names stand in a text, or share words with it."""
        words = named(text).split()
        spans = {
            " ".join(words[start : start + length])
            for start in range(len(words))
            for length in range(1, _LONGEST_NAME + 1)
        }
        found = self._reader.named(sorted(spans), sorted(set(words)), _LIKE)
        inside = [one for one in found if self._is_within(one)]
        self._meet(inside)
        ids = [one for one, version in self._by_id.items() if version.id in set(inside)]
        return list(self.documents(ids).values())

    def few(self, most: int) -> list[DocumentChunk] | None:
        """Return all chunks, unless they are more."""
        within, collections = self._within
        if within is None and collections is not None:
            within = frozenset(self._acting.read(library.documents_in, collections))
        if within is None:
            if self._reader.known.count > most:
                return None
            within = self._documents.ids()
        self._meet(within)
        ids = [one for one, version in self._by_id.items() if version.id in within]
        if sum(self._by_id[one].chunks for one in ids) > most:
            return None
        return [chunk for identity in sorted(ids) for chunk in self.chunks(identity)]

    def _found(self, text: str, limit: int, within: Within) -> list[Candidate]:
        """Search by the index; one that names what the library does not have is built anew."""
        for _ in range(2):
            found = self._reader.search(text, limit, within)
            self._meet({one.document_id for one in found})
            if all(_reading(one) in self._readings for one in found):
                return found
            state, reader = rebuild_index(self._acting).opened()
            if state.entry != self._entry:  # and so is of another library by now
                break
            self._reader = reader
        raise IntegrityError("the search index names passages that no document has: check again")

    def _hit(self, one: Candidate) -> Hit | None:
        document = self._known.get(_reading(one))
        if document is None:  # none that held on the day
            return None
        return Hit(one.score, one.chunk_hash, document.id, one.place, one.page, one.start)

    def _is_within(self, identity: str) -> bool:
        return self._within.documents is None or identity in self._within.documents

    def _meet(self, identities: Collection[str]) -> None:
        """Get to know all versions of documents."""
        new = {one for one in identities if one not in self._met and self._is_within(one)}
        if not new:
            return
        for identity, versions in self._documents.versions(new).items():
            self._met.add(identity)
            self._readings.update(version.reading for version in versions)
            there = self._there(versions)
            chosen = {version.reading: version for version in there}
            for version in chosen.values():
                document = _corpus_document(version, superseded=version != there[-1])
                self._known[version.reading] = document
                self._by_id[document.id] = version

    def _there(self, versions: Sequence[StoredDocument]) -> Sequence[StoredDocument]:
        """Return which of a document's versions are in the corpus, the newest last."""
        collections = self._within.collections
        if collections is not None and versions and versions[-1].collection_id not in collections:
            return ()
        if self._as_of is None:
            return versions
        held = version_on(self._as_of, versions)
        return () if held is None else (held,)


def _reading(one: Candidate) -> Reading:
    return Reading(one.document_id, one.sha256, one.reader)


def _corpus_document(version: StoredDocument, *, superseded: bool) -> CorpusDocument:
    until = version.effective_until
    return CorpusDocument(
        id=corpus_id(version),
        filename=version.filename,
        dated=date.fromisoformat(version.dated) if version.dated else None,
        superseded=superseded,
        paged=version.media_type in PAGED,
        until=date.fromisoformat(until) if until else None,
    )


def _called_so(chunks: Sequence[DocumentChunk], identity: str) -> Sequence[DocumentChunk]:
    if not chunks or chunks[0].document_id == identity:
        return chunks
    return [replace(chunk, document_id=identity) for chunk in chunks]


class Pin(NamedTuple):
    """A library at one moment: by what it is searched, its documents, and the map of them.

    `entry` is the newest that records documents; `corpus` is None where none does.
    """

    entry: int
    reader: IndexReader
    documents: Documents
    corpus: CurrentCorpus | None
    connection: Connection

    def used(self, identities: Iterable[str]) -> list[StoredDocument]:
        """Return the versions that go by these ids in a corpus, in their order."""
        wanted = set(identities)
        known = self.documents.versions({one.partition("@")[0] for one in wanted})
        return [
            version
            for _, versions in sorted(known.items())
            for version in versions
            if corpus_id(version) in wanted
        ]


@dataclass(slots=True)
class Shelf:
    """What a process remembers of a tenant's library, and the embeddings that are not kept yet."""

    acting: Acting
    chunks: ReadChunks = field(default_factory=ReadChunks)
    documents: Remembered[tuple[int, bytes], Documents] = field(
        default_factory=lambda: Remembered(_MOST_CORPORA)
    )
    corpora: Remembered[tuple[Part, Documents, IndexReader], Corpus] = field(
        default_factory=lambda: Remembered(_MOST_CORPORA)
    )
    made: dict[str, bytes] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def pinned(self) -> Iterator[Pin]:
        """Hold the library as it is now: what is read through it is of this moment.

        The view of the database stays open as long. If the library moves between the look at the
        index and the one at the database, both are looked at again.
        """
        acting = self.acting
        for _ in range(_MOST_PINS):
            state, reader = search_index(acting).opened()
            with acting.database.read() as connection:
                newest = newest_document(acting, connection)
                if (newest.entry.seq if newest else -1) != state.entry:
                    continue
                corpus = current_corpus(acting, connection)
                documents = self._documents(state.entry, corpus)
                with documents.seen_by(connection, corpus):
                    yield Pin(state.entry, reader, documents, corpus, connection)
                return
        raise IntegrityError("documents are added faster than they can be searched: check again")

    def corpus(self, pin: Pin, part: Part, judges: Sequence[Judge], progress: Progress) -> Corpus:
        """Return a part of the library as judges need it: with what its passages mean if asked."""
        key = part, pin.documents, pin.reader
        known = self.corpora.get(key)
        if known is None:
            known = Corpus(LibraryHoldings(self.acting, pin, part))
        corpus = with_meaning(
            known, judges, look_up=self.look_up, keep=self._take, progress=progress
        )
        if corpus.meaning is not None or known.meaning is None:
            self.corpora.put(key, corpus)
        return corpus

    def _documents(self, entry: int, corpus: CurrentCorpus | None) -> Documents:
        moment = entry, corpus.root if corpus else b""
        with self.lock:
            known = self.documents.get(moment)
            if known is None:
                known = Documents(self.acting, self.chunks)
                self.documents.put(moment, known)
            return known

    def keep_embeddings(self) -> None:
        """Keep the embeddings that were made since the last time."""
        with self.lock:
            made, self.made = self.made, {}
        if made:
            digest, tenant = encoder_digest(), self.acting.tenant
            with self.acting.database.write() as connection:
                # one that is kept, and was made anew all the same, is damaged
                embeddings.remove_embeddings(connection, tenant, digest, made)
                embeddings.store_embeddings(connection, tenant, digest, made)

    def look_up(self, contents: Collection[str]) -> dict[str, bytes]:
        """Return the embeddings that are kept of texts, by the digests of these."""
        with self.acting.database.read() as connection:
            return embeddings.stored_embeddings(
                connection, self.acting.tenant, encoder_digest(), contents
            )

    def _take(self, made: Mapping[str, bytes]) -> None:
        with self.lock:
            self.made.update(made)


def shelf_of(acting: Acting) -> Shelf:
    """Return what this process remembers of a tenant's library."""
    shelf = acting.opened.shelves.get(acting.tenant)
    if shelf is None:
        shelf = Shelf(acting)
        acting.opened.shelves.put(acting.tenant, shelf)
    return shelf

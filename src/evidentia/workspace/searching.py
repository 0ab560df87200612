"""The search index of a library, kept in step with the documents that the trail records."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby

from sqlalchemy import Connection

from evidentia.documents.model import DocumentChunk
from evidentia.documents.recording import ERASED, REMOVED
from evidentia.errors import NotFoundError
from evidentia.language.tokens import tokenize
from evidentia.ledger.references import names_of
from evidentia.logs import get_logger
from evidentia.store.search import (
    IndexedChunk,
    IndexedDocument,
    IndexReader,
    IndexState,
    SearchIndex,
)
from evidentia.store.sql import library
from evidentia.store.sql.library import Reading
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.commitment import newest_document
from evidentia.workspace.forgetting import remove_originals
from evidentia.workspace.library import Proved, versions_in
from evidentia.workspace.logged import LoggedEntry

Progress = Callable[[int, int], None]
_AT_ONCE = 50
"""How many documents are read at a time."""
_log = get_logger("workspace")


def search_index(acting: Acting, progress: Progress | None = None) -> SearchIndex:
    """Return the index of a tenant's library, up to the newest document; built anew if need be."""
    index = _index(acting)
    state = index.look()
    if state is not None and (state.entry, state.leaf) == _newest(acting):
        return index
    with index.changing():
        _bring_up_to_date(acting, index, progress)
    return index


def rebuild_index(acting: Acting, progress: Progress | None = None) -> SearchIndex:
    """Build the index anew from the database, whatever it says of itself."""
    index = _index(acting)
    with index.changing():
        index.drop()
        _bring_up_to_date(acting, index, progress)
    return index


def _index(acting: Acting) -> SearchIndex:
    known = acting.opened.searches.get(acting.tenant)
    if known is None:
        known = SearchIndex(acting.opened.home.search(acting.tenant))
        acting.opened.searches.put(acting.tenant, known)
    return known


def _newest(acting: Acting) -> tuple[int, str]:
    """Return the number and the hash of the newest entry about a document."""
    with acting.database.read() as connection:
        found = newest_document(acting, connection)
    return (found.entry.seq, found.leaf) if found else (-1, "")


def _goes_on(acting: Acting, connection: Connection, state: IndexState) -> bool:
    """Whether the log has the entry that an index was built up to."""
    if state.entry < 0:
        return not state.leaf
    try:
        return acting.entry_within(connection, state.entry).leaf == state.leaf
    except NotFoundError:
        return False


def _since(acting: Acting, connection: Connection, state: IndexState | None) -> list[LoggedEntry]:
    """Return the entries about documents since an index was built; all if there is none."""
    after = state.entry if state else -1
    return acting.entries(EntryKind.DOCUMENT, connection=connection, after=after)


def _touched(since: Iterable[LoggedEntry]) -> list[str]:
    """Return the documents that entries are about."""
    return sorted({one.entry.subject.removeprefix(REMOVED) for one in since})


def _bring_up_to_date(acting: Acting, index: SearchIndex, progress: Progress | None) -> None:
    """Index the documents that entries are about since; all of them if there is no index."""
    with acting.database.read() as connection:
        entry, leaf = newest = _newest(acting)
        state = index.state
        if state is not None and (state.entry, state.leaf) == newest:  # another was faster
            return
        goes_on = state is not None and state.entry < entry and _goes_on(acting, connection, state)
        since = _since(acting, connection, state if goes_on else None)
        # the engine deletes lazily: what was erased is gone once there are no files of before
        erases = any(one.body.get("text") == ERASED for one in since)
        anew = not goes_on or erases
        touched = library.document_ids(connection, acting.tenant) if anew else _touched(since)
        known = _documents(acting, connection, touched, progress, whole=anew)
        index.update(known, touched, entry, leaf=leaf, anew=anew)
    if erases:  # also one that ended before that
        remove_originals(acting)
    _log.info("library_indexed", tenant=acting.tenant, documents=len(touched))


def _documents(
    acting: Acting,
    connection: Connection,
    identities: list[str],
    progress: Progress | None,
    *,
    whole: bool,
) -> Iterator[IndexedDocument]:
    """Give what the index is told of documents that are in the library, some read at a time.

    `whole` says that they are all that the trail commits to.
    """
    proved, count = Proved.now(acting, connection), 0
    for start in range(0, len(identities), _AT_ONCE):
        some = identities[start : start + _AT_ONCE]
        there = versions_in(acting, some, connection)
        count += proved.count(there)
        versions = {one: list(found) for one, found in groupby(there, key=lambda one: one.id)}
        for identity in some:
            proved.require_newest(identity, versions.get(identity, ()))
        chunks = library.chunks_of_all(connection, acting.tenant, some)
        for identity, of_one in versions.items():
            names = [name for name, _ in names_of(of_one[-1].filename) if name]
            yield IndexedDocument(
                identity,
                of_one[-1].collection_id,
                list(dict.fromkeys(names)),
                [
                    indexed(chunk, reading)
                    for reading in dict.fromkeys(version.reading for version in of_one)
                    for chunk in chunks.pop(reading, ())
                ],
            )
        if progress is not None:
            progress(start + len(some), len(identities))
    if whole:
        proved.require_count(count)


def indexed(chunk: DocumentChunk, reading: Reading) -> IndexedChunk:
    """Return what the index is told of a chunk: the words of its text and of the headings above."""
    terms = tokenize("\n".join([*chunk.heading_path, chunk.text]))
    return IndexedChunk(
        reading.sha256,
        chunk.chunk_hash,
        chunk.index,
        chunk.page,
        chunk.start,
        terms,
        reading.reader,
    )


def audited_index(
    acting: Acting, documents: Iterable[tuple[str, Iterable[IndexedChunk]]]
) -> Iterator[str]:
    """Say in what the index is not what the library gives; `documents` are all, with chunks.

    One that is not there, or of another past of the log, hides nothing: the next check builds it
    anew. Of one that is not up to date, that is said of the documents that came or changed since.
    """
    index = _index(acting)
    state = index.look()
    if state is None and index.is_there:
        yield "its files are not what was written; the next check builds it anew"
    if state is None:
        return
    with acting.database.read() as connection:
        if not _goes_on(acting, connection, state):
            return
        touched = set(_touched(_since(acting, connection, state)))
    reader, counts = index.reader(), Counter[str]()
    number, chunks = 0, 0
    for identity, found in documents:
        if identity not in touched:
            number += 1
            for chunk in found:
                chunks += 1
                counts.update(set(chunk.terms))
                if not reader.has(identity, chunk):
                    yield f"passage {chunk.place} of document {identity} is not found by its words"
    if not touched:
        yield from _miscounted(reader, counts, chunks, number)


def _miscounted(
    reader: IndexReader, counts: Mapping[str, int], chunks: int, documents: int
) -> Iterator[str]:
    """Say in what an index counts otherwise than the library, which has so many of each."""
    if (reader.known.count, reader.documents()) != (chunks, documents):
        yield (
            f"it has {reader.known.count} passages of {reader.documents()} documents, and the "
            f"library has {chunks} of {documents}"
        )
    if reader.terms() != counts:
        yield "it counts otherwise than the library in how many passages words stand"

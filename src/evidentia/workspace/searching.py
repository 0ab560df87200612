"""The search index of a library, kept in step with the documents that the trail records."""

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from sqlalchemy import Connection

from evidentia.documents.model import DocumentChunk
from evidentia.documents.recording import REMOVED
from evidentia.language.tokens import tokenize
from evidentia.ledger.references import names_of
from evidentia.logs import get_logger
from evidentia.store.search import IndexedChunk, IndexedDocument, SearchIndex
from evidentia.store.sql import library, log
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.library import versions_in

Progress = Callable[[int, int], None]
_AT_ONCE = 50
"""How many documents are read at a time."""
_log = get_logger("workspace")


def search_index(acting: Acting, progress: Progress | None = None) -> SearchIndex:
    """Return the index of a tenant's library, up to the newest document; built anew if need be."""
    index = _index(acting)
    state = index.look()
    newest = _newest(acting)
    if state is not None and state.entry == newest:
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


def _newest(acting: Acting) -> int:
    found = acting.read(log.find_entries, kind=EntryKind.DOCUMENT, limit=1, newest_first=True)
    return found[0][0] if found else -1


def _bring_up_to_date(acting: Acting, index: SearchIndex, progress: Progress | None) -> None:
    """Index the documents that entries are about since; all of them if there is no index."""
    with acting.database.read() as connection:
        newest = _newest(acting)
        state = index.state
        if state is not None and state.entry == newest:  # another process was faster
            return
        anew = state is None or state.entry > newest
        if anew or state is None:
            touched = library.document_ids(connection, acting.tenant)
        else:
            rows = log.find_entries(
                connection, acting.tenant, kind=EntryKind.DOCUMENT, after=state.entry
            )
            touched = sorted({row[2].removeprefix(REMOVED) for row in rows})
        known = _documents(acting, connection, touched, progress)
        index.update(known, touched, newest, anew=anew)
    _log.info("library_indexed", tenant=acting.tenant, documents=len(touched))


def _documents(
    acting: Acting, connection: Connection, identities: list[str], progress: Progress | None
) -> Iterator[IndexedDocument]:
    """Give what the index is told of documents that are in the library, some read at a time."""
    for start in range(0, len(identities), _AT_ONCE):
        some = identities[start : start + _AT_ONCE]
        versions = groupby(versions_in(acting, some), key=lambda version: version.id)
        chunks = library.chunks_of_all(connection, acting.tenant, some)
        for identity, found in versions:
            of_one = list(found)
            names = [name for name, _ in names_of(of_one[-1].filename) if name]
            yield IndexedDocument(
                identity,
                of_one[-1].collection,
                list(dict.fromkeys(names)),
                [
                    indexed(chunk, digest)
                    for digest in dict.fromkeys(version.sha256 for version in of_one)
                    for chunk in chunks.pop((identity, digest), ())
                ],
            )
        if progress is not None:
            progress(start + len(some), len(identities))


def indexed(chunk: DocumentChunk, sha256: str) -> IndexedChunk:
    """Return what the index is told of a chunk: the words of its text and of the headings above."""
    terms = tokenize("\n".join([*chunk.heading_path, chunk.text]))
    return IndexedChunk(sha256, chunk.chunk_hash, chunk.index, chunk.page, chunk.start, terms)


def audited_index(
    acting: Acting, documents: Iterable[tuple[str, Iterable[IndexedChunk]]]
) -> Iterator[str]:
    """Say in what the index is not what the library gives; `documents` are all, with chunks.

    One that is not there, or not up to date, hides nothing: the next check brings it up to date.
    """
    index = _index(acting)
    state = index.look()
    if state is None or state.entry != _newest(acting):
        if index.is_there and state is None:
            yield "its files are not what was written; the next check builds it anew"
        return
    reader = index.reader()
    counts: dict[str, int] = {}
    chunks = number = 0
    for identity, found in documents:
        number += 1
        for chunk in found:
            chunks += 1
            for term in set(chunk.terms):
                counts[term] = counts.get(term, 0) + 1
            if not reader.has(identity, chunk):
                yield f"passage {chunk.place} of document {identity} is not found by its words"
    if (reader.known.count, reader.documents()) != (chunks, number):
        yield (
            f"it has {reader.known.count} passages of {reader.documents()} documents, and the "
            f"library has {chunks} of {number}"
        )
    if reader.terms() != counts:
        yield "it counts otherwise than the library in how many passages words stand"

"""The corpus: what answers are checked against, loaded from the library with its index."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from sqlalchemy import Connection

from evidentia.documents.index import LexicalIndex, build_index
from evidentia.documents.model import DocumentChunk
from evidentia.errors import IntegrityError
from evidentia.ledger.corpus import make_corpus
from evidentia.ledger.evidence import Corpus, CorpusDocument
from evidentia.store.sql.library import StoredDocument, chunks_of, corpus_id, kept_index

PAGED: Final = frozenset({"application/pdf"})
"""The formats whose pages are pages to a reader, too."""


@dataclass(frozen=True, slots=True)
class LoadedCorpus:
    """A corpus, and the indexes that had to be built anew for it, to be kept."""

    corpus: Corpus
    rebuilt: tuple[tuple[tuple[str, str], bytes], ...]


def load_corpus(
    connection: Connection,
    tenant: str,
    versions: Sequence[StoredDocument],
    check: Callable[[StoredDocument, Sequence[DocumentChunk]], None] = lambda *_: None,
) -> LoadedCorpus:
    """Load what answers are checked against; the order of the documents makes no difference.

    An older version goes by its own id, `doc_…@1`. Bytes that several versions share count once,
    as the newest of them. `check` is given each version with its chunks, and raises for one that
    is not to be believed.
    """
    chosen: dict[tuple[str, str], StoredDocument] = {}
    for version in sorted(versions, key=lambda item: (item.id, item.version)):
        chosen[version.id, version.sha256] = version
    documents: list[CorpusDocument] = []
    chunks = []
    indexes: list[LexicalIndex] = []
    rebuilt: list[tuple[tuple[str, str], bytes]] = []
    for key, version in sorted(chosen.items()):
        found = chunks_of(connection, tenant, *key)
        check(version, found)
        index = _stored_index(connection, tenant, key, len(found))
        if index is None:
            index = build_index(found)
            rebuilt.append((key, index.to_bytes()))
        known_as = corpus_id(version)
        documents.append(
            CorpusDocument(
                id=known_as,
                filename=version.filename,
                dated=date.fromisoformat(version.dated) if version.dated else None,
                superseded=not version.is_newest,
                paged=version.media_type in PAGED,
            )
        )
        if known_as != version.id:
            found = [replace(chunk, document_id=known_as) for chunk in found]
        chunks += found
        indexes.append(index)
    return LoadedCorpus(make_corpus(documents, chunks, indexes), tuple(rebuilt))


def _stored_index(
    connection: Connection, tenant: str, key: tuple[str, str], size: int
) -> LexicalIndex | None:
    """Return the index that is kept; None if it is not there, damaged, or of another program."""
    data = kept_index(connection, tenant, key)
    if data is None:
        return None
    try:
        index = LexicalIndex.from_bytes(data)
    except IntegrityError:
        return None
    return index if len(index) == size else None

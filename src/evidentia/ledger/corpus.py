"""A corpus in memory: chunks that were read or handed in, with an index of their words."""

from collections.abc import Iterable, Mapping, Sequence

from evidentia.documents.index import build_index
from evidentia.documents.model import DocumentChunk
from evidentia.ledger.evidence import Corpus, CorpusDocument, Hit


class InMemory:
    """Documents and chunks that are all at hand; keeps `ledger.evidence.Holdings`."""

    def __init__(
        self,
        documents: Iterable[CorpusDocument],
        chunks: Sequence[DocumentChunk],
    ) -> None:
        self.all_documents: Mapping[str, CorpusDocument] = {one.id: one for one in documents}
        self.all_chunks = tuple(chunks)
        self._index = build_index(self.all_chunks)
        self._of: dict[str, list[DocumentChunk]] = {}
        self._hits: list[Hit] = []
        for chunk in self.all_chunks:
            own = self._of.setdefault(chunk.document_id, [])
            self._hits.append(
                Hit(0.0, chunk.chunk_hash, chunk.document_id, len(own), chunk.page, chunk.start)
            )
            own.append(chunk)

    def search(self, text: str, limit: int, among: frozenset[str] | None) -> list[Hit]:
        """Return the best chunks by their words, the best first."""
        found = self._index.search(text, limit if among is None else len(self._index))
        hits = (self._hits[place]._replace(score=score) for place, score in found)
        return [hit for hit in hits if among is None or hit.document_id in among][:limit]

    def documents(self, identities: Iterable[str]) -> dict[str, CorpusDocument]:
        """Return those of the named documents that are here."""
        known = self.all_documents
        return {identity: known[identity] for identity in identities if identity in known}

    def chunks(self, identity: str) -> Sequence[DocumentChunk]:
        """Return a document's chunks."""
        return self._of.get(identity, ())

    def anchored(self, anchor: str) -> Sequence[DocumentChunk]:
        """Return all chunks: which of them an anchor means is told by their hashes."""
        del anchor
        return self.all_chunks

    def called(self, text: str) -> Iterable[CorpusDocument]:
        """Return all documents."""
        del text
        return self.all_documents.values()

    def few(self, most: int) -> Sequence[DocumentChunk] | None:
        """Return all chunks, unless they are more."""
        return self.all_chunks if len(self.all_chunks) <= most else None


def make_corpus(documents: Iterable[CorpusDocument], chunks: Sequence[DocumentChunk]) -> Corpus:
    """Return documents with their chunks as a corpus to check against."""
    return Corpus(InMemory(documents, chunks))

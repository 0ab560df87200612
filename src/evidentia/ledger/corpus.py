"""Making a corpus of chunks, wherever they were kept."""

from collections.abc import Iterable, Sequence

from evidentia.documents.index import LexicalIndex, build_index, merge_indexes
from evidentia.documents.model import DocumentChunk
from evidentia.ledger.evidence import Corpus, CorpusDocument


def make_corpus(
    documents: Iterable[CorpusDocument],
    chunks: Sequence[DocumentChunk],
    indexes: Sequence[LexicalIndex] = (),
) -> Corpus:
    """Return documents as a corpus to check against.

    `indexes` are those of the chunks, part by part in the same order; where none is given, the
    chunks are indexed here.
    """
    if len(indexes) == 1:
        index = indexes[0]
    else:
        index = merge_indexes(indexes) if indexes else build_index(chunks)
    return Corpus({document.id: document for document in documents}, chunks, index.search)

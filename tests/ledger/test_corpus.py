"""A corpus finds the same passages, whether its index was kept, kept in parts, or is made anew."""

from evidentia.documents.chunking import chunk_document
from evidentia.documents.index import build_index
from evidentia.ledger.corpus import make_corpus
from evidentia.ledger.evidence import CorpusDocument
from ledger.corpora import HR_POLICY, TRAVEL_POLICY, read

FILES = {"hr.pdf": HR_POLICY, "travel.pdf": TRAVEL_POLICY}


def test_kept_indexes_find_what_a_new_one_finds() -> None:
    parts = [chunk_document(read(name, pages), name) for name, pages in FILES.items()]
    chunks = [chunk for part in parts for chunk in part]
    documents = [CorpusDocument(id=name, filename=name) for name in FILES]
    anew = make_corpus(documents, chunks)
    whole = make_corpus(documents, chunks, [build_index(chunks)])
    merged = make_corpus(documents, chunks, [build_index(part) for part in parts])
    for query in ("annual leave", "economy class", "nothing of the kind"):
        assert anew.search(query, 5) == whole.search(query, 5) == merged.search(query, 5)
    assert anew.search("annual leave", 5)

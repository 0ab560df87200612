"""A corpus in memory: what it finds, and what it has of its documents."""

from evidentia.documents.chunking import chunk_document
from evidentia.ledger.corpus import InMemory
from evidentia.ledger.evidence import CorpusDocument
from ledger.corpora import HR_POLICY, TRAVEL_POLICY, read

FILES = {"hr.pdf": HR_POLICY, "travel.pdf": TRAVEL_POLICY}
CHUNKS = [
    chunk for name, pages in FILES.items() for chunk in chunk_document(read(name, pages), name)
]
HELD = InMemory([CorpusDocument(id=name, filename=name) for name in FILES], CHUNKS)


def test_a_hit_names_the_chunk_by_its_place_in_its_document() -> None:
    hits = HELD.search("hotel costs and annual leave", 9, None)
    assert len(hits) >= 2
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        chunk = HELD.chunks(hit.document_id)[hit.place]
        assert (chunk.chunk_hash, chunk.page, chunk.start) == (hit.chunk_hash, hit.page, hit.start)


def test_a_search_among_some_documents_gives_as_many_of_these() -> None:
    among = frozenset({"travel.pdf"})
    assert {hit.document_id for hit in HELD.search("annual leave of employees", 1, among)} == among
    assert HELD.search("annual leave of employees", 9, frozenset()) == []


def test_documents_and_chunks_are_given_by_their_ids() -> None:
    assert set(HELD.documents(["hr.pdf", "other.pdf"])) == {"hr.pdf"}
    assert HELD.chunks("other.pdf") == ()
    assert [one.id for one in HELD.called("whatever")] == list(FILES)


def test_all_chunks_are_given_if_they_are_few() -> None:
    assert HELD.few(len(CHUNKS)) == HELD.anchored("0a0a0a0a") == tuple(CHUNKS)
    assert HELD.few(len(CHUNKS) - 1) is None

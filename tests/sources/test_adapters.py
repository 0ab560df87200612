import re
from pathlib import PurePosixPath, PureWindowsPath
from types import SimpleNamespace
from typing import Any

import pytest

import tiers
from evidentia.sources.adapters import as_candidate, as_chunk, as_found, from_retrieval
from evidentia.sources.model import CandidateItem, EvidenceChunk


def langchain(text: str = "Leave is paid.", **metadata: Any) -> SimpleNamespace:
    return SimpleNamespace(page_content=text, metadata=metadata, id="lc-1", type="Document")


def node(**fields: Any) -> SimpleNamespace:
    given = {"metadata": {"file_name": "leave.pdf", "page_label": "12"}, "node_id": "n-1", **fields}
    return SimpleNamespace(get_content=lambda: "Leave is paid.", **given)


def test_langchain_documents_are_passages_of_what_their_source_names() -> None:
    found = langchain(source="leave.md", title="Leave", page=3, start_index=40)
    chunk = as_chunk(found)
    assert chunk == EvidenceChunk(
        item_id="leave.md", text="Leave is paid.", chunk_id="lc-1", page=3, start=40
    )
    candidate = as_candidate(found)
    assert candidate is not None
    assert (candidate.item_id, candidate.title, candidate.content) == (
        "leave.md",
        "Leave",
        "Leave is paid.",
    )


@tiers.one_test
@pytest.mark.parametrize(
    "place",
    [
        "/srv/hr/leave.md",
        "C:\\hr\\leave.md",
        "file:///srv/hr/leave.md",
        "docs/hr/leave.md",
        "~/leave.md",
        PurePosixPath("/srv/hr/leave.md"),
        PureWindowsPath("C:/hr/leave.md"),
    ],
)
@pytest.mark.parametrize("key", ["source", "file_name", "doc_id", "parent_id"])
def test_a_path_is_known_by_the_files_name(key: str, place: Any) -> None:
    found = langchain(**{key: place})
    chunk, candidate = as_chunk(found), as_candidate(found)
    assert chunk is not None
    assert candidate is not None
    assert chunk.item_id == candidate.item_id == candidate.title == "leave.md"
    assert candidate.url is None
    assert candidate.metadata == {key: "leave.md"}


def test_a_path_without_a_name_is_no_id() -> None:
    chunk = as_chunk(langchain(source="/"))
    assert chunk is not None
    assert chunk.item_id == "lc-1"
    candidate = as_candidate(SimpleNamespace(page_content="t", metadata={"source": "~/"}, id="/"))
    assert candidate is not None
    assert candidate.item_id.startswith("item_")
    assert candidate.metadata == {}


def test_ids_of_passages_and_titles_show_no_folders() -> None:
    found = SimpleNamespace(
        page_content="t", metadata={"title": "/srv/Leave.pdf"}, id="data/leave.pdf:6:2"
    )
    chunk, candidate = as_chunk(found), as_candidate(found)
    assert chunk is not None
    assert candidate is not None
    assert (chunk.chunk_id, chunk.item_id) == ("leave.pdf:6:2", "leave.pdf:6:2")
    assert (candidate.title, candidate.metadata) == ("Leave.pdf", {"title": "Leave.pdf"})


def test_a_url_in_the_source_becomes_the_url() -> None:
    candidate = as_candidate(langchain(source=" https://me:pw@example.com/leave "))
    assert candidate is not None
    assert candidate.url == candidate.item_id == "https://example.com/leave"
    candidate = as_candidate(langchain(source="https://example.com/a", url="https://example.com/b"))
    assert candidate is not None
    assert candidate.url == "https://example.com/b"
    candidate = as_candidate(langchain(source="hubspot://contacts/456"))
    assert candidate is not None
    assert (candidate.item_id, candidate.url) == ("hubspot://contacts/456", None)


def test_two_files_of_one_name_are_told_apart_by_a_digest_of_their_paths() -> None:
    results = [
        langchain("a", source="/srv/a/leave.md"),
        langchain("b", source="/srv/b/leave.md"),
        langchain("b again", source="file:///srv/b/leave.md"),
        langchain("bare", source="leave.md"),
        langchain("other", source="/srv/b/other.md"),
    ]
    found = from_retrieval(results)
    ids = [chunk.item_id for chunk in found.chunks]
    assert ids[1] == ids[2]
    assert ids[3:] == ["leave.md", "other.md"]
    assert all(re.fullmatch("leave[.]md#[0-9a-f]{8}", name) for name in ids[:2])
    assert len(set(ids)) == len(found.candidates) == 4
    assert [item.title for item in found.candidates] == [
        *("leave.md", "leave.md", None, "other.md")
    ]
    assert from_retrieval(results[1:3]).chunks[0].item_id == "leave.md"


@pytest.mark.parametrize("value", [["/srv/a.md"], {"a": 1}, b"/srv/a.md", {1}])
def test_what_is_no_name_is_no_id(value: Any) -> None:
    chunk = as_chunk(langchain(source=value))
    assert chunk is not None
    assert chunk.item_id == "lc-1"


@pytest.mark.parametrize("given", [None, 5, "text", b"bytes", {"documents": []}, object()])
def test_what_is_no_list_of_results_is_named(given: Any) -> None:
    found = from_retrieval(given)
    assert (found.candidates, found.chunks) == ([], [])
    (dropped,) = found.dropped
    assert (dropped.what, dropped.index) == ("input", None)
    assert dropped.reason == (
        f"results: {type(given).__name__} is no list of what a retriever found"
    )


def test_passages_of_ones_own_name_their_documents() -> None:
    found = from_retrieval([EvidenceChunk(item_id="a", text="t", score=0.5)])
    assert found.candidates == [CandidateItem(item_id="a", score=0.5, rank=1)]
    assert found.dropped == ()


def test_a_result_that_is_nothing_is_named_with_its_place() -> None:
    found = from_retrieval([langchain(), "text", {"item_id": "a", "text": 5}])
    assert len(found.chunks) == 1
    assert [(dropped.what, dropped.index, dropped.reason) for dropped in found.dropped] == [
        ("chunk", 1, "str is no chunk"),
        ("chunk", 2, "dict is no chunk"),
    ]


def test_a_pair_carries_the_score() -> None:
    chunk = as_chunk((langchain(source="a"), 0.25))
    assert chunk is not None
    assert chunk.score == 0.25
    for pair in ((langchain(), 1, 2), ("text", 0.5), (1.0, 2.0), (object(), 0.5), ()):
        assert as_chunk(pair) is None


def test_llama_index_nodes_are_read_with_and_without_a_score() -> None:
    for found, score in (
        (SimpleNamespace(node=node(ref_doc_id="doc-9", start_char_idx=5), score=0.5), 0.5),
        (node(ref_doc_id="doc-9", start_char_idx=5), None),
    ):
        assert as_chunk(found) == EvidenceChunk(
            item_id="doc-9",
            text="Leave is paid.",
            chunk_id="n-1",
            page=12,
            start=5,
            score=score,
        )
    chunk = as_chunk(node())
    assert chunk is not None
    assert chunk.item_id == "leave.pdf"


def test_haystack_documents_are_read() -> None:
    found = SimpleNamespace(
        id="h-1", content="Leave is paid.", meta={"url": "https://x"}, score=0.9
    )
    candidate = as_candidate(found)
    assert candidate is not None
    assert (candidate.item_id, candidate.url, candidate.score) == ("https://x", "https://x", 0.9)


@pytest.mark.parametrize(
    ("row", "identity", "text", "score"),
    [
        ({"id": 7, "text": "t", "score": 0.5}, "7", "t", 0.5),
        ({"_id": "a", "page_content": "t", "distance": 0.25}, "a", "t", 0.75),
        ({"id": "p", "payload": {"text": "t", "doc_id": "d"}, "score": 1}, "d", "t", 1.0),
        ({"uuid": "u", "content": "t", "score": "high", "vector": [1]}, "u", "t", None),
        ({"pk": True, "text": "t"}, None, "t", None),
    ],
)
def test_rows_of_a_vector_search_are_read(
    row: dict[str, Any], identity: str | None, text: str, score: float | None
) -> None:
    chunk = as_chunk(row)
    assert chunk is not None
    assert (chunk.text, chunk.score) == (text, score)
    if identity is None:
        assert chunk.item_id.startswith("item_")
    else:
        assert chunk.item_id == identity


def test_own_objects_and_their_dicts_are_taken_as_they_are() -> None:
    candidate, chunk = CandidateItem(item_id="a"), EvidenceChunk(item_id="a", text="t")
    assert as_candidate(candidate) is candidate
    assert as_chunk(chunk) is chunk
    assert as_candidate({"item_id": "a", "unknown": 1}) == candidate
    assert as_chunk({"item_id": "a", "text": "t", "unknown": 1}) == chunk


@pytest.mark.parametrize("value", [None, 5, "text", object(), {}, {"score": 1}, [], b""])
def test_what_was_not_retrieved_is_nothing(value: Any) -> None:
    assert as_candidate(value) is None
    assert as_chunk(value) is None


def test_metadata_that_is_none_and_odd_values_are_no_hindrance() -> None:
    found = SimpleNamespace(page_content="t", metadata=None, id=None, score=10**400)
    chunk = as_chunk(found)
    assert chunk is not None
    assert (chunk.score, chunk.page, chunk.chunk_id) == (None, None, None)
    odd = langchain(source="a", page="xii", start=True, heading_path=["A", 1], score=True)
    chunk = as_chunk(odd)
    assert chunk is not None
    assert (chunk.page, chunk.start, chunk.heading_path) == (None, None, ["A", "1"])
    assert as_chunk(SimpleNamespace(page_content="", metadata={})) is None
    assert as_chunk(SimpleNamespace(content=None, meta={}, score=True)) is None


def test_what_a_retriever_gives_becomes_documents_and_passages() -> None:
    results = [
        (langchain("low", source="a.md", title="A"), 0.2),
        (langchain("other", source="b.md", url="https://b"), 0.5),
        (langchain("high", source="a.md"), 0.9),
        (langchain("none", source="b.md"), None),
        "nothing",
    ]
    found = from_retrieval(results)
    assert [(item.item_id, item.score, item.rank, item.title) for item in found.candidates] == [
        ("a.md", 0.9, 1, "A"),
        ("b.md", 0.5, 2, None),
    ]
    assert [chunk.text for chunk in found.chunks] == ["low", "other", "high", "none"]


def test_what_cannot_be_read_was_not_retrieved() -> None:
    class Raising:
        meta = content = ""

        def get_content(self) -> str:
            raise RuntimeError

    assert as_found(Raising()) is None
    assert as_found(5) is None
    found = as_found({"id": "a", "text": "b"})
    assert found is not None
    assert (found.identity, found.text) == ("a", "b")

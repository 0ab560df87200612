"""What the frameworks themselves give: their own objects, made by their own packages."""

from collections.abc import Callable

import haystack
import langchain_core.documents as langchain
import pytest
from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode

from evidentia.sources.adapters import from_retrieval
from evidentia.sources.packing import DefaultEvidencePacker

TEXT = "All permanent employees receive 15 days of annual leave."


def langchain_results() -> list[object]:
    found = langchain.Document(
        id="c1", page_content=TEXT, metadata={"source": "hr.pdf", "page": 12, "title": "HR Policy"}
    )
    return [(found, 0.9), langchain.Document(page_content="Rail.", metadata={"source": "t.md"})]


def llama_index_results() -> list[object]:
    node = TextNode(
        id_="c1",
        text=TEXT,
        metadata={"page_label": "12", "title": "HR Policy"},
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id="hr.pdf")},
        start_char_idx=40,
    )
    return [
        NodeWithScore(node=node, score=0.9),
        TextNode(id_="c2", text="Rail.", metadata={"file_name": "t.md"}),
    ]


def haystack_results() -> list[object]:
    meta = {"source_id": "hr.pdf", "page_number": 12, "title": "HR Policy"}
    return [
        haystack.Document(id="c1", content=TEXT, meta=meta, score=0.9),
        haystack.Document(content="Rail.", meta={"source": "t.md"}),
    ]


@pytest.mark.parametrize("results", [langchain_results, llama_index_results, haystack_results])
def test_what_a_framework_retrieved_becomes_sources(results: Callable[[], list[object]]) -> None:
    found = from_retrieval(results())
    first = found.chunks[0]
    assert (first.item_id, first.chunk_id, first.page, first.score) == ("hr.pdf", "c1", 12, 0.9)
    sources = DefaultEvidencePacker().pack(found.candidates, found.chunks)
    assert [(source.source_id, source.snippet) for source in sources] == [
        ("hr.pdf", TEXT),
        ("t.md", "Rail."),
    ]
    assert sources[0].title == "HR Policy"
    shown = DefaultEvidencePacker().pack(results())
    assert sorted(source.source_id for source in shown) == ["hr.pdf", "t.md"]

"""Stores that people have already: what their retrievers give is checked against as it is."""

import asyncio
from collections.abc import Callable
from typing import Any

import haystack
import langchain_core.documents as langchain
import pytest
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from llama_index.core import VectorStoreIndex
from llama_index.core.base.response.schema import Response
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.schema import NodeWithScore, TextNode

import evidentia
from evidentia.errors import EnvironmentProblem, InputError
from evidentia.workspace import Workspace
from workspace.policies import LEAVE, SUPPORTED, TRAVEL, read_here

pytestmark = pytest.mark.sqlite_suffices

OF_WORDS = ("quote", "numbers")
QUERY = "How much leave do permanent employees get?"
HUGE = {"vector": [0.5] * 10_000, "source": "leave.md"}


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


def of_langchain() -> Any:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    texts = {"kb-3": (LEAVE, HUGE), "kb-17": (TRAVEL, {"source": "travel.md"})}
    store.add_documents(
        [langchain.Document(id=i, page_content=t, metadata=m) for i, (t, m) in texts.items()]
    )
    return store


def of_llama_index() -> Any:
    nodes = [
        TextNode(id_="kb-3", text=LEAVE, metadata={"source": "leave.md"}),
        TextNode(id_="kb-17", text=TRAVEL, metadata={"source": "travel.md"}),
    ]
    return VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=8))


def of_haystack() -> Any:
    store = InMemoryDocumentStore()
    store.write_documents(
        [
            haystack.Document(id="kb-3", content=LEAVE, meta=HUGE),
            haystack.Document(id="kb-17", content=TRAVEL, meta={"source": "travel.md"}),
        ]
    )
    return InMemoryBM25Retriever(store, top_k=2)


def retrievers() -> dict[str, Callable[[], Any]]:
    """Give every way to hand over what a store finds: the retriever, its method, its results."""
    return {
        "langchain, its retriever": lambda: of_langchain().as_retriever(),
        "langchain, results": lambda: of_langchain().similarity_search(QUERY),
        "langchain, with scores": lambda: of_langchain().similarity_search_with_score(QUERY),
        "langchain, a method": lambda: of_langchain().similarity_search,
        "langchain, async": lambda: of_langchain().asimilarity_search,
        "langchain, awaited": lambda: asyncio.run(of_langchain().asimilarity_search(QUERY)),
        "llama_index, its retriever": lambda: of_llama_index().as_retriever(similarity_top_k=2),
        "llama_index, async": lambda: of_llama_index().as_retriever(similarity_top_k=2).aretrieve,
        "haystack, its retriever": of_haystack,
        "haystack, its results": lambda: of_haystack().run(QUERY),
        "haystack, async": lambda: lambda query: of_haystack().run_async(query),
        "a function": lambda: (
            lambda _: [{"id": "kb-3", "text": LEAVE}, {"id": "kb-17", "text": TRAVEL}]
        ),
    }


def test_every_store_is_asked_by_the_question_and_its_ids_and_metadata_are_kept(
    workspace: Workspace,
) -> None:
    for name, made in retrievers().items():
        ledger = workspace.check(SUPPORTED, contexts=made(), query=QUERY, judges=OF_WORDS)
        assert [one.verdict.value for one in ledger.entries] == ["supported"], name
        assert ledger.entries[0].source_document is not None
        assert ledger.entries[0].source_document.id == "kb-3", name
        kept = workspace.ledgers.get(ledger.id).session.contexts
        assert kept is not None
        assert {one.id for one in kept} == {"kb-3", "kb-17"}, name
        [leave] = [one for one in kept if one.id == "kb-3"]
        if name == "a function":
            continue
        assert leave.title == "leave.md", name
        assert (leave.metadata or {})["source"] == "leave.md", name
        exported = evidentia.export_ledger(ledger.session, "json")
        assert '"source": "leave.md"' in exported, name
        if name in ("langchain, with scores", "haystack, its retriever"):
            assert isinstance((leave.metadata or {})["score"], float), name
            assert leave.metadata_left_out == ["vector"], name
            assert '"metadata_left_out"' in exported


def test_the_nodes_of_a_response_are_what_it_rests_on(workspace: Workspace) -> None:
    nodes = [NodeWithScore(node=TextNode(id_="kb-3", text=LEAVE), score=0.9)]
    response: Any = Response(SUPPORTED, source_nodes=nodes)
    ledger = workspace.check(SUPPORTED, contexts=response, judges=OF_WORDS)
    assert ledger.entries[0].verdict.value == "supported"


def test_documents_without_ids_are_named_by_their_places(workspace: Workspace) -> None:
    store = [langchain.Document(page_content=LEAVE), langchain.Document(page_content=TRAVEL)]
    ledger = workspace.check(SUPPORTED, contexts=lambda _: store, query=QUERY, judges=OF_WORDS)
    assert [one.id for one in ledger.session.contexts or ()] == ["context-1", "context-2"]


def test_a_passage_that_two_stores_give_keeps_its_place_and_the_numbers_of_the_others(
    workspace: Workspace,
) -> None:
    given = [{"id": "a", "text": LEAVE}, {"id": "a", "text": LEAVE}, {"id": "b", "text": TRAVEL}]
    ledger = workspace.check("Hotel costs are refunded [3].", contexts=given, judges=OF_WORDS)
    assert [one.id for one in ledger.session.contexts or ()] == ["a", "a (2)", "b"]
    assert [(one.label, one.resolved) for one in ledger.citations] == [("3", True)]


def test_a_retriever_needs_a_question(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="a retriever is asked by the question: give it as query"):
        workspace.check(SUPPORTED, contexts=lambda _: [LEAVE])


def test_within_an_event_loop_an_async_retriever_is_to_be_awaited(workspace: Workspace) -> None:
    async def retrieve(_: str) -> list[str]:
        return [LEAVE]

    async def check() -> None:
        with pytest.raises(InputError, match="await it, and give the passages that it returns"):
            workspace.check(SUPPORTED, contexts=retrieve, query=QUERY)
        ledger = workspace.check(SUPPORTED, contexts=await retrieve(QUERY), judges=OF_WORDS)
        assert ledger.entries[0].verdict.value == "supported"

    asyncio.run(check())
    assert len(workspace.ledgers.list()) == 1


def test_what_a_retriever_raises_reaches_its_caller(workspace: Workspace) -> None:
    for raised, reached in ((KeyError, KeyError), (ConnectionError, EnvironmentProblem)):

        def retrieve(_: str, error: type[Exception] = raised) -> list[str]:
            raise error("the store is gone")

        with pytest.raises(reached, match="the store is gone"):
            workspace.check(SUPPORTED, contexts=retrieve, query=QUERY)
    assert workspace.ledgers.list() == []

"""What a model was given: which shapes are read, what is kept of them, and what is refused."""

import enum
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import haystack
import langchain_core.documents as langchain
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.schema import NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode

import tiers
from bundles.making import bundle, inline
from evidentia.canonical import canonical_json, sha256_hex
from evidentia.documents.chunking import CHUNK_SIZE
from evidentia.errors import EvidentiaError, InputError
from evidentia.ledger import given as limits
from evidentia.ledger.contexts import CheckedContext
from evidentia.ledger.given import (
    MAX_CONTEXT_BYTES,
    MAX_CONTEXTS,
    context_chunks,
    context_corpus,
    contexts_of_bundle,
    parse_contexts,
    read_contexts,
)
from evidentia.ledger.retrieved import MAX_METADATA_BYTES, MAX_METADATA_KEYS, MAX_TITLE_CHARS
from evidentia.sources.model import EvidenceChunk

TEXT = "All permanent employees receive 15 days of annual leave."


def one(value: Any) -> CheckedContext:
    (context,) = read_contexts([value])
    return context


def test_a_text_is_a_context_by_its_number() -> None:
    first, second = read_contexts([TEXT, "Rail."])
    assert (first.id, second.id) == ("context-1", "context-2")
    assert (first.text, first.sha256) == (TEXT, sha256_hex(TEXT.encode()))
    assert first.model_dump(mode="json") == {
        "id": "context-1",
        "text": TEXT,
        "sha256": first.sha256,
    }


@pytest.mark.parametrize("name", ["text", "content", "page_content"])
@pytest.mark.parametrize(
    ("told", "identity"),
    [
        ({"id": "kb-17"}, "kb-17"),
        ({"id": 17}, "17"),
        ({"id": UUID(int=1)}, str(UUID(int=1))),
        ({"chunk_id": "c1", "doc_id": "d1"}, "c1"),
        ({"_id": "m1", "id": None}, "m1"),
        ({"doc_id": "d1"}, "context-1"),  # of which there may be several passages
        ({"id": ""}, "context-1"),
        ({"id": True}, "context-1"),
        ({"id": ["a"]}, "context-1"),
    ],
)
def test_a_dict_is_read_by_the_names_that_people_use(
    name: str, told: dict[str, Any], identity: str
) -> None:
    context = one({name: TEXT, **told})
    assert (context.id, context.text) == (identity, TEXT)


def test_metadata_title_and_page_of_a_dict_are_kept() -> None:
    context = one(
        {"id": "kb-17", "text": TEXT, "metadata": {"source": "/srv/hr.pdf", "page": 12}, "lang": 1}
    )
    assert context.metadata == {"lang": 1, "page": 12, "source": "/srv/hr.pdf"}
    assert (context.title, context.page) == ("hr.pdf", 12)
    assert context.name(3) == "context 3 (kb-17), hr.pdf"
    assert one({"text": TEXT, "title": "HR", "page": 4}).name(1) == "context 1, HR"
    assert one({"text": TEXT, "id": "HR", "title": "HR"}).name(1) == "context 1 (HR)"


@pytest.mark.parametrize(
    ("metadata", "title"),
    [
        ({"title": "HR Policy", "source": "hr.pdf"}, "HR Policy"),
        ({"file_name": "/home/me/hr.pdf"}, "hr.pdf"),
        ({"source": "https://example.org/hr"}, "https://example.org/hr"),
        ({"doc_id": "policy-7"}, "policy-7"),
        ({"title": "two\n lines"}, "two lines"),
        ({"title": " \n "}, None),
        ({"title": "a\0b\ud800c"}, "a\ufffdb\ufffdc"),
        ({"title": "x" * 300}, "x" * (MAX_TITLE_CHARS - 1) + "…"),
        ({}, None),
    ],
)
def test_a_context_is_titled_by_what_its_document_is_known_by(
    metadata: dict[str, Any], title: str | None
) -> None:
    assert one({"text": TEXT, "metadata": metadata}).title == title


@pytest.mark.parametrize(
    ("metadata", "page"),
    [
        ({"page": 3, "page_label": "4"}, 4),  # LangChain counts pages from 0
        ({"page": 3, "page_label": "iv"}, 3),
        ({"page_number": "12"}, 12),
        ({"page": 0}, None),
        ({"page": True}, None),
        ({"page": -2}, None),
        ({"page": 10**12}, None),
        ({"page": "twelve"}, None),
    ],
)
def test_the_page_is_the_one_that_a_reader_counts(
    metadata: dict[str, Any], page: int | None
) -> None:
    assert one({"text": TEXT, "metadata": metadata}).page == page


def frameworks() -> Iterator[object]:
    """Give one passage as each framework has it: its own objects, made by its own package."""
    told = {"file_name": "hr.pdf", "page_label": "12"}
    yield langchain.Document(id="c1", page_content=TEXT, metadata=told)
    yield langchain.Document(id="c1", page_content=TEXT, metadata=told), 0.9
    node = TextNode(id_="c1", text=TEXT, metadata=told)
    yield node
    yield NodeWithScore(node=node, score=0.9)
    yield haystack.Document(id="c1", content=TEXT, meta=told, score=0.9)


@pytest.mark.parametrize("passage", [*frameworks()], ids=lambda one: type(one).__name__)
def test_what_retrievers_give_is_read(passage: object) -> None:
    context = one(passage)
    assert (context.id, context.text, context.page) == ("c1", TEXT, 12)
    assert context.title == "hr.pdf"
    assert context.metadata is not None
    assert context.metadata["file_name"] == "hr.pdf"
    assert context.metadata.get("score", 0.9) == 0.9


def test_a_passage_without_an_id_of_its_own_is_named_by_its_place() -> None:
    related = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="doc-1")}
    node = TextNode(id_="c1", text=TEXT, relationships=related)
    assert one(node).title == "doc-1"
    assert one(langchain.Document(page_content=TEXT)).id == "context-1"


def test_passages_of_our_own_are_read() -> None:
    chunk = EvidenceChunk(item_id="hr.pdf", text=TEXT, chunk_id="c1", page=3)
    context = one(chunk)
    assert (context.id, context.page) == ("c1", 3)
    assert context.metadata == {"item_id": "hr.pdf", "page": 3}
    assert one(EvidenceChunk(item_id="hr.pdf", text=TEXT)).id == "context-1"
    piece = context_chunks(one({"id": "a", "text": TEXT}))[0]
    assert one(piece).text == TEXT


def test_contexts_of_an_earlier_ledger_are_given_again() -> None:
    context = one({"id": "a", "text": TEXT, "n": object()})
    assert context.metadata_left_out == ["n"]
    assert one(context) is context
    with pytest.raises(InputError, match="context 1: its text is not what its digest says"):
        one(context.model_copy(update={"text": "Other."}))


class Colour(enum.Enum):
    RED = 1


def test_metadata_becomes_json_where_that_is_a_fair_account_of_it() -> None:
    at = datetime(2026, 1, 3, tzinfo=UTC)
    told = {
        "at": at,
        "day": date(2026, 1, 3),
        "price": Decimal("1.50"),
        "path": Path("a/b"),
        "uuid_": UUID(int=1),
        "score_": np.float32(0.5),
        "tags": ("a", {"b": [at]}),
        "none": None,
    }
    context = one({"text": TEXT, "metadata": told})
    assert context.metadata == {
        "at": "2026-01-03T00:00:00+00:00",
        "day": "2026-01-03",
        "none": None,
        "path": "a/b",
        "price": "1.50",
        "score_": 0.5,
        "tags": ["a", {"b": ["2026-01-03T00:00:00+00:00"]}],
        "uuid_": str(UUID(int=1)),
    }
    assert context.metadata_left_out is None


def test_metadata_that_is_too_much_or_no_json_is_named() -> None:
    endless: dict[str, Any] = {}
    endless["again"] = endless
    deep: Any = "x"
    for _ in range(60):
        deep = [deep]
    told = {
        "b": "kept",
        "blob": b"x",
        "colour": Colour.RED,
        "deep": deep,
        "endless": endless,
        "far": 2**60,
        "farther": 2.0**60,
        "half": "\ud800",
        "large": "x" * MAX_METADATA_BYTES,
        "nan": float("nan"),
        "vector": np.zeros(3),
        "k\0" + "x" * 200: object(),
        7: "a number's key",
    }
    context = one({"text": TEXT, "metadata": told})
    assert context.metadata == {"b": "kept"}
    left_out = context.metadata_left_out
    assert left_out is not None
    assert set(left_out) == {
        *(
            "7",
            "blob",
            "colour",
            "deep",
            "endless",
            "far",
            "farther",
            "half",
            "large",
            "nan",
            "vector",
        ),
        "k\ufffd" + "x" * 98,
    }
    canonical_json(context.model_dump(mode="json"))
    many = {f"k{number:03}": "x" * 1_000 for number in range(30)}
    context = one({"text": TEXT, "metadata": many})
    assert context.metadata is not None
    assert context.metadata_left_out is not None
    assert len(canonical_json(context.model_dump(mode="json")["metadata"])) <= MAX_METADATA_BYTES
    assert len(context.metadata) + len(context.metadata_left_out) == 30


class Hostile:
    """Has a text, and raises wherever else it is asked."""

    page_content = TEXT
    id = "h"

    @property
    def metadata(self) -> Mapping[str, Any]:
        return HostileMapping()


class HostileMapping(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise RuntimeError(key)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError

    def __len__(self) -> int:
        return 1


class Table(list[str]):
    """A table as data frames are: what it gives are the names of its columns."""

    columns = ("id", "text")


class Unreadable:
    """Raises when its text is asked for."""

    @property
    def page_content(self) -> str:
        raise RuntimeError

    meta = content = ""

    def get_content(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Unreadable(), "context 1 is no passage, but Unreadable"),
        (5, "context 1 is no passage, but int: give text, a dict with a text, or what"),
        (b"bytes", "context 1 is no passage, but bytes"),
        (None, "context 1 is no passage, but NoneType"),
        (["a", "b"], "context 1 is no passage, but list"),
        (object(), "context 1 is no passage, but object"),
        ({"id": "a"}, "context 1 has no text: a dict has it as text, content or page_content"),
        ({}, "context 1 has no text"),
        ({"txt": TEXT}, "context 1 has no text"),
        ({"text": 5}, "context 1 has no text"),
        (haystack.Document(content=None, meta={}), "context 1 has no text"),
        ("a\ud800b", "context 1 is not text: surrogates not allowed"),
        ({"text": TEXT, "id": "x" * 201}, "context 1: its id has 201 characters, 200 at most"),
        ({"text": TEXT, "id": "a\0b"}, r"context 1: its id 'a\\x00b' has characters that no text"),
        ({"text": TEXT, "id": "\ud800"}, "has characters that no text has"),
        (
            {"text": TEXT, "metadata": {str(number): 1 for number in range(MAX_METADATA_KEYS + 1)}},
            "context 1: metadata with 1,001 keys, 1,000 at most",
        ),
        (Hostile(), "context 1 cannot be read: its metadata raises RuntimeError"),
    ],
)
def test_what_is_no_passage_is_refused_in_one_line(value: Any, said: str) -> None:
    with pytest.raises(InputError, match=said) as raised:
        read_contexts([value])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ("one text", "give a list of passages, not str"),
        ({"text": TEXT}, "give a list of passages, not dict"),
        (5, "give a list of passages, not int"),
        (Table(), "give a list of passages, not Table"),
        ([], "contexts: there is no text in them to check against"),
        (["", {"id": "a", "text": " \n"}], "there is no text in them to check against"),
        ([{"id": "a", "text": "x"}, "y", {"id": "a", "text": "z"}], "contexts 1 and 3 have the"),
        ([{"id": "context-2", "text": "x"}, "y"], "contexts 1 and 2 have the same id 'context-2'"),
        (repeat("x"), f"more than {MAX_CONTEXTS:,} contexts"),
        (["x" * MAX_CONTEXT_BYTES, "y"], "contexts: 4,194,305 bytes of text, 4,194,304 at most"),
    ],
)
def test_lists_that_cannot_be_checked_against_are_refused(values: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_contexts(values)


def test_an_empty_context_is_kept_beside_others() -> None:
    contexts = read_contexts([TEXT, {"id": "scan", "text": ""}])
    assert [context.text for context in contexts] == [TEXT, ""]
    assert context_chunks(contexts[1]) == ()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=tiers.count(1_000, short=100))
@given(st.lists(ANYTHING | st.fixed_dictionaries({"text": st.text(), "metadata": ANYTHING})))
def test_whatever_is_given_is_read_or_refused(values: list[Any]) -> None:
    try:
        contexts = read_contexts(values)
    except InputError:
        return
    for context in contexts:
        written = canonical_json(context.model_dump(mode="json"))
        assert CheckedContext.model_validate_json(written, strict=True) == context


# Files


@pytest.mark.parametrize(
    "data",
    [
        b'["a", {"id": "k", "text": "b"}]',
        b'\xef\xbb\xbf [\n"a",\n{"id": "k", "text": "b"}]\n',
        b'"a"\n{"id": "k", "text": "b"}\n',
        b'"a"\r\n\r\n{"id": "k", "text": "b"}',
    ],
)
def test_a_file_of_contexts_is_a_json_list_or_jsonl(data: bytes) -> None:
    assert parse_contexts(data, "c.json") == ["a", {"id": "k", "text": "b"}]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"[1,", "c.json: not JSON: Expecting value at line 1"),
        (b'"a"\nb', "c.json: line 2: not JSON: Expecting value at column 1; contexts are a JSON"),
        (b"\xff\xfe[", "c.json: line 1: not UTF-8"),
        (b'[{"text": "a", "text": "b"}]', "key 'text' stands twice"),
        (b'["\\ud800"]', "lone surrogate"),
        (b"[" * 200 + b"]" * 200, "nested more than 100 levels deep"),
        (b'[{"text": "a", "score": NaN}]', "NaN is not a number"),
    ],
)
def test_a_file_that_is_neither_is_refused_with_the_place(data: bytes, said: str) -> None:
    with pytest.raises(EvidentiaError, match=said):
        parse_contexts(data, "c.json")


def test_an_empty_file_has_no_contexts() -> None:
    assert parse_contexts(b"\n", "c.json") == []


# Bundles


def test_the_items_of_a_bundle_are_contexts_as_the_model_saw_them() -> None:
    made = bundle(inline("word " * 100), inline(TEXT, 1), max_item_bytes=100)
    first, second = contexts_of_bundle(made)
    assert first.text == made.items[0].content
    assert len(first.text) <= 100
    assert (second.id, second.text, second.sha256) == (
        made.items[1].evidence_id,
        TEXT,
        made.items[1].content_sha256,
    )
    assert second.metadata is not None
    assert second.metadata["evidence_type"] == "inline_text"


def test_a_bundle_with_nothing_in_it_cannot_be_checked_against() -> None:
    empty = bundle()
    with pytest.raises(InputError, match=f"bundle {empty.bundle_id}: there is no text in them"):
        contexts_of_bundle(empty)


# A corpus


def test_a_long_context_is_cut_as_text_is_and_offsets_are_its_own() -> None:
    text = "\n\n".join(f"Rule {number}: the limit is {number} dollars." for number in range(200))
    (context,) = read_contexts([{"id": "long", "text": text, "page": 7}])
    chunks = context_chunks(context)
    assert len(chunks) > 3
    assert all(len(chunk.text) <= CHUNK_SIZE for chunk in chunks)
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
    assert {(chunk.document_id, chunk.page) for chunk in chunks} == {("long", 7)}


def test_an_answer_may_cite_contexts_by_id_and_by_number() -> None:
    corpus = context_corpus(read_contexts([{"id": "kb-17", "text": TEXT}, "Rail."]))
    assert corpus.labels == {
        "kb-17": "kb-17",
        "context-2": "context-2",
        "1": "kb-17",
        "2": "context-2",
    }
    numbers = context_corpus(read_contexts([{"id": "2", "text": TEXT}, {"id": "1", "text": "B."}]))
    assert numbers.labels == {"2": "2", "1": "1"}


def test_contexts_are_called_by_their_ids_and_titles() -> None:
    corpus = context_corpus(read_contexts([{"id": "kb-17", "text": TEXT, "title": "HR"}, "Rail."]))
    assert [(found.id, found.filename) for found in corpus.held.called("")] == [
        ("kb-17", "HR"),
        ("kb-17", "kb-17"),
        ("context-2", "context-2"),
    ]


def test_the_limits_are_what_the_page_says() -> None:
    page = (Path(__file__).parents[2] / "spec/v1/ledger.md").read_text(encoding="utf-8")
    assert (limits.MAX_CONTEXTS, limits.MAX_CONTEXT_BYTES) == (1_000, 4 * 2**20)
    assert "at most 1,000 contexts with 4 MiB of text together" in page
    assert MAX_METADATA_BYTES == 16 * 2**10
    assert "at most 16 KiB of metadata of each" in page


def test_an_object_with_a_text_and_a_chunk_id_is_read() -> None:
    context = one(SimpleNamespace(text=TEXT, chunk_id="c", score=json.loads("0.5")))
    assert (context.id, context.metadata) == ("c", {"score": 0.5})


def test_a_passage_that_is_given_again_is_told_apart_and_another_of_its_id_is_refused() -> None:
    again = [{"id": "a", "text": "x"}] * 3 + [{"id": "a (2)", "text": "y"}]
    assert [one.id for one in read_contexts(again)] == ["a", "a (3)", "a (4)", "a (2)"]
    with pytest.raises(InputError, match="contexts 1 and 2 have the same id 'a'"):
        read_contexts([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}])
    with pytest.raises(InputError, match="have the same id"):
        read_contexts([{"id": "a" * 200, "text": "x"}] * 2)


def test_what_frameworks_answer_with_is_opened() -> None:
    documents = [haystack.Document(id="c1", content=TEXT)]
    node = NodeWithScore(node=TextNode(id_="c1", text=TEXT), score=0.9)
    for answered in ({"documents": documents}, SimpleNamespace(source_nodes=[node])):
        assert [one.id for one in read_contexts(answered)] == ["c1"]
    for other in ({"documents": "c1"}, SimpleNamespace(source_nodes="c1")):
        with pytest.raises(InputError, match="give a list of passages"):
            read_contexts(other)

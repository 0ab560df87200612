import json
import random
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiers
from evidentia.sources.model import (
    CandidateItem,
    EvidenceChunk,
    EvidencePackOptions,
    PackedSources,
    SourceItem,
)
from evidentia.sources.packing import DefaultEvidencePacker

LEAVE = "All permanent employees receive 15 days of annual leave. Requests go to the manager."
SEED_KEYS = [
    "source_id",
    "kind",
    "title",
    "url",
    "snippet",
    "snippet_from",
    "score",
    "rank",
    "metadata",
]


def item(name: str, score: float | None = None, **fields: Any) -> CandidateItem:
    return CandidateItem(item_id=name, score=score, **fields)


def chunk(of: str, text: str = LEAVE, score: float | None = None, **fields: Any) -> EvidenceChunk:
    return EvidenceChunk(item_id=of, text=text, score=score, **fields)


def pack(candidates: Any, chunks: Any = None, **options: Any) -> PackedSources:
    return DefaultEvidencePacker().pack(candidates, chunks, EvidencePackOptions(**options))


def ids(sources: list[SourceItem]) -> list[str]:
    return [source.source_id for source in sources]


def reasons(sources: PackedSources) -> list[tuple[str, int | None, str]]:
    return [(dropped.what, dropped.index, dropped.reason) for dropped in sources.dropped]


# Order


def test_the_best_scores_come_first_and_are_ranked_from_one() -> None:
    sources = pack([item("a", 0.1), item("b", 0.9), item("c", 0.5)], max_sources=2)
    assert [(source.source_id, source.rank, source.score) for source in sources] == [
        ("b", 1, 0.9),
        ("c", 2, 0.5),
    ]


def test_what_has_no_score_comes_last_and_equals_keep_their_order() -> None:
    odd = [item("none"), item("nan", float("nan")), item("inf", float("inf"))]
    sources = pack([*odd, item("b", 0.5), item("a", 0.5), item("low", -3.0)], max_sources=9)
    assert ids(sources) == ["b", "a", "low", "none", "nan", "inf"]
    assert [source.score for source in sources] == [0.5, 0.5, -3.0, None, None, None]


def test_the_retrievers_rank_orders_too() -> None:
    candidates = [item("a", 0.9), item("b", 0.1, rank=2), item("c", 0.2, rank=1)]
    assert ids(pack(candidates, order_by="rank")) == ["c", "b", "a"]
    assert [source.rank for source in pack(candidates, order_by="rank")] == [1, 2, 3]


def test_the_input_order_can_be_kept() -> None:
    assert ids(pack([item("b", 0.1), item("a", 0.9)], order_by="input")) == ["b", "a"]


def test_six_sources_by_default_and_none_where_none_are_wanted() -> None:
    candidates = [item(str(number), number) for number in range(10)]
    assert ids(pack(candidates)) == ["9", "8", "7", "6", "5", "4"]
    assert pack(candidates, max_sources=0) == []


def test_of_the_same_id_the_first_in_order_is_shown() -> None:
    sources = pack([item("a", 0.1, title="low"), item("a", 0.9, title="high")], debug=True)
    assert [source.title for source in sources] == ["high"]
    assert reasons(sources) == [("candidate", 0, "the same id came before")]


def test_a_rank_too_large_for_a_float_is_no_rank() -> None:
    assert ids(pack([item("a", rank=10**400), item("b", rank=5)], order_by="rank")) == ["b", "a"]


# Snippets


def test_the_best_chunk_of_a_document_is_its_snippet() -> None:
    chunks = [chunk("a", "low", 0.1), chunk("a", "high", 0.9), chunk("b", "other", 1.0)]
    (source,) = pack([item("a", summary="A summary.")], chunks)
    assert (source.snippet, source.snippet_from) == ("high", "chunk")


def test_of_equal_chunks_the_first_is_taken_and_one_without_a_score_last() -> None:
    chunks = [chunk("a", "none"), chunk("a", "first", 0.5), chunk("a", "second", 0.5)]
    assert pack([item("a")], chunks)[0].snippet == "first"


@pytest.mark.parametrize(
    ("fields", "snippet", "snippet_from"),
    [
        ({"summary": "Summed up.", "content": "All of it."}, "Summed up.", "doc"),
        ({"summary": " ", "content": "All of it."}, "All of it.", "doc"),
        ({"content": "All of it."}, "All of it.", "doc"),
        ({}, None, "unknown"),
        ({"summary": "", "content": "\n"}, None, "unknown"),
    ],
)
def test_without_chunks_the_document_itself_is_shown(
    fields: dict[str, Any], snippet: str | None, snippet_from: str
) -> None:
    for chunks in (None, [], [chunk("b")], [chunk("a", "  ")]):
        (source,) = pack([item("a", **fields)], chunks)
        assert (source.snippet, source.snippet_from) == (snippet, snippet_from)


def test_chunks_are_left_aside_where_they_are_not_preferred() -> None:
    (source,) = pack([item("a", summary="Sum.")], [chunk("a")], prefer_chunk_snippets=False)
    assert (source.snippet, source.snippet_from) == ("Sum.", "doc")


def test_snippets_are_cut_between_characters() -> None:
    family = "👨‍👩‍👧‍👦"
    (source,) = pack([item("a")], [chunk("a", f"abc{family}def")], max_snippet_chars=6)
    assert source.snippet == "abc"
    (source,) = pack([item("a")], [chunk("a", f"{family}def")], max_snippet_chars=3)
    assert (source.snippet, source.snippet_from) == (None, "unknown")
    assert pack([item("a")], [chunk("a", " x" * 500)])[0].snippet == ("x " * 180).rstrip()


def test_no_snippet_is_shown_where_none_may_be() -> None:
    (source,) = pack([item("a", summary="Sum.")], [chunk("a")], max_snippet_chars=0)
    assert (source.snippet, source.snippet_from) == (None, "unknown")


def test_by_default_a_source_has_exactly_the_keys_of_its_specification() -> None:
    for query in (None, "annual leave"):
        (source,) = pack([item("a", 1.0)], [chunk("a")], query=query)
        assert list(source.model_dump()) == SEED_KEYS
        assert list(json.loads(source.model_dump_json())) == SEED_KEYS
    (source,) = pack([item("a", 1.0)], [chunk("a")], anchors=True)
    assert list(source.model_dump()) == [*SEED_KEYS, "snippets"]


def test_a_query_shows_what_answers_it_and_where_its_words_stand() -> None:
    text = "Parking is free.\n\nAll permanent employees receive\n15 days of annual leave."
    one = chunk("a", text, 0.7, chunk_id="c1", page=12, heading_path=("Leave", "4.1"), start=100)
    (source,) = pack(
        [item("a")],
        [one],
        query="How much annual leave do I get?",
        anchors=True,
        max_snippet_chars=60,
    )
    (snippet,) = source.snippets or []
    assert source.snippet == snippet.text
    assert snippet.text == "All permanent employees receive 15 days of annual leave."
    assert [snippet.text[low:high] for low, high in snippet.matches] == ["annual", "leave"]
    assert snippet.start is not None
    assert snippet.end is not None
    assert text[snippet.start - 100 : snippet.end - 100] == text[18:]
    assert (snippet.chunk_id, snippet.page, snippet.heading_path) == ("c1", 12, ["Leave", "4.1"])
    assert snippet.chunk_hash is not None
    assert len(snippet.chunk_hash) == 64
    assert snippet.score == 0.7


def test_several_snippets_are_of_several_chunks_and_then_of_the_same() -> None:
    chunks = [
        chunk("a", "Leave is 15 days. " + "Filler words stand here. " * 20 + "Leave is paid.", 0.9),
        chunk("a", "Sick leave is 10 days.", 0.5),
    ]
    options = {"query": "leave days", "max_snippet_chars": 30}
    (source,) = pack([item("a")], chunks, max_snippets=3, **options)
    texts = [snippet.text for snippet in source.snippets or ()]
    assert texts == ["Leave is 15 days.", "Sick leave is 10 days.", "Leave is paid."]
    (source,) = pack([item("a")], chunks, max_snippets=2)
    assert [snippet.text[:5] for snippet in source.snippets or ()] == ["Leave", "Sick "]


def test_several_snippets_of_a_document_without_chunks() -> None:
    content = "Leave is 15 days. " + "Filler words stand here. " * 20 + "Unpaid leave is possible."
    options = {"query": "leave", "max_snippet_chars": 40, "max_snippets": 2}
    (source,) = pack([item("a", content=content)], **options)
    assert source.snippet_from == "doc"
    texts = [snippet.text for snippet in source.snippets or ()]
    assert texts == ["Leave is 15 days.", "Unpaid leave is possible."]


# What is shown of a document


def test_titles_and_kinds_are_bounded_and_on_one_line() -> None:
    (source,) = pack([item("a", title=" A\n" + "b" * 10_000_000, kind="k" * 100)])
    assert source.title == "A " + "b" * 298
    assert source.kind == "k" * 64
    (source,) = pack([item("a", title=" \n", kind=" ")])
    assert (source.title, source.kind) == (None, "documents")


@tiers.one_test
@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (" https://example.com/a?b=c#d ", "https://example.com/a?b=c#d"),
        ("/docs/leave", "/docs/leave"),
        ("javascript:alert(1)", None),
        ("JavaScript:alert(1)", None),
        ("java\nscript:alert(1)", None),
        ("data:text/html,x", None),
        ("file:///etc/passwd", None),
        ("C:\\Users\\me", None),
        ("\\\\server\\share", None),
        ("https://example.com/\u202egpj.exe", None),
        ("https://example.com/\ud800", None),
        ("https://example.com/" + "a" * 3000, None),
        ("  ", None),
    ],
)
def test_urls_that_cannot_be_followed_safely_are_left_out(url: str, shown: str | None) -> None:
    assert pack([item("a", url=url)])[0].url == shown


# Whatever comes in


class Hostile(Mapping[str, Any]):
    """Raises at every touch."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError(key)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("no")

    def __len__(self) -> int:
        raise RuntimeError("no")

    @property
    def page_content(self) -> str:
        raise RuntimeError("no")


def test_a_bad_candidate_is_left_out_alone_and_debug_says_why() -> None:
    wrong: dict[str, Any] = {"item_id": "broken", "kind": 5}
    broken = CandidateItem.model_construct(**wrong)
    unnamed = CandidateItem.model_construct(**{**wrong, "item_id": 7})
    given = [None, 7, "text", Hostile(), item(""), item("x" * 600), item("\ud800"), unnamed]
    sources = pack([*given, broken, item("good")], order_by="input", debug=True)
    assert ids(sources) == ["good"]
    assert [dropped.index for dropped in sources.dropped] == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert sources.dropped[0].reason == "NoneType is no candidate"
    assert sources.dropped[4].reason == "its id is not 1 to 512 characters"
    assert sources.dropped[8].item_id == "broken"
    quiet = pack([*given, broken, item("good")], order_by="input")
    assert (quiet, quiet.dropped) == (sources, ())


def test_bad_chunks_are_left_out_alone() -> None:
    bad = [None, 3, Hostile(), chunk("a", " "), chunk("unknown"), chunk("a", "Good.")]
    sources = pack([item("a")], bad, debug=True)
    assert sources[0].snippet == "Good."
    assert [(dropped.what, dropped.index) for dropped in sources.dropped] == [
        ("chunk", 0),
        ("chunk", 1),
        ("chunk", 2),
        ("chunk", 3),
    ]


@pytest.mark.parametrize("given", [None, 5, "text", b"bytes", {"item_id": "a"}, object()])
def test_what_is_no_list_gives_no_sources(given: Any) -> None:
    assert pack(given, given) == []


@pytest.mark.parametrize("given", [None, 5, "text", b"bytes", {"documents": []}, object()])
def test_debug_names_a_whole_input_of_the_wrong_kind(given: Any) -> None:
    kind = type(given).__name__
    candidates = ("input", None, f"candidates: {kind} is no list of candidates")
    chunks = ("input", None, f"evidence_chunks: {kind} is no list of chunks")
    optional = [] if given is None else [chunks]
    assert reasons(pack(given, given, debug=True)) == [candidates, *optional]
    for options in ({}, {"prefer_chunk_snippets": False}):
        sources = pack([item("a")], given, debug=True, **options)
        assert ids(sources) == ["a"]
        assert reasons(sources) == optional
    assert pack(given, given).dropped == ()


def test_no_folder_of_a_path_reaches_the_output() -> None:
    places = [
        "/srv/secret-project/leave.pdf",
        "/srv/other-secret/leave.pdf",
        "C:\\secret\\rail.pdf",
        "file:///secret/car.pdf",
        "secret/bus.pdf",
        "~/secret/ship",
    ]
    results = [
        SimpleNamespace(
            page_content=f"Passage {number}.",
            metadata={"source": place, "file_path": place, "page": 1},
            id=f"{place}:{number}",
        )
        for number, place in enumerate(places)
    ]
    sources = pack(
        results, results, anchors=True, include_metadata_keys=["source", "page"], max_sources=9
    )
    assert "secret" not in json.dumps([source.model_dump(mode="json") for source in sources])
    assert [source.title for source in sources] == [
        *("leave.pdf", "leave.pdf", "rail.pdf", "car.pdf", "bus.pdf", "ship")
    ]
    assert ids(sources)[2:] == ["rail.pdf", "car.pdf", "bus.pdf", "ship"]
    assert [source.snippet for source in sources] == [f"Passage {n}." for n in range(6)]
    safe = pack(results, max_sources=9)
    assert "secret" not in json.dumps([source.model_dump(mode="json") for source in safe])


def test_options_may_be_a_dict_or_left_out_and_bad_ones_give_nothing() -> None:
    packer = DefaultEvidencePacker()
    assert ids(packer.pack([item("a")])) == ["a"]
    assert ids(packer.pack([item("a"), item("b")], None, {"max_sources": 1})) == ["a"]
    for bad in ({"max_sources": -1}, {"unknown": 1}, 5, {"order_by": "date"}, {"max_snippets": 0}):
        assert packer.pack([item("a")], None, bad) == []  # type: ignore[arg-type]
    refused = packer.pack([item("a")], None, {"max_sources": -1, "debug": True})
    assert refused.dropped[0].what == "options"
    assert refused.dropped[0].reason.startswith("max_sources: ")


def test_an_iterator_that_fails_gives_no_sources() -> None:
    def failing() -> Iterator[CandidateItem]:
        yield item("a")
        raise RuntimeError("the retriever broke")

    sources = pack(failing(), debug=True)
    assert sources == []
    assert reasons(sources) == [("input", None, "RuntimeError while packing")]


def test_dicts_and_foreign_documents_are_packed_too() -> None:
    found = SimpleNamespace(page_content="Leave is paid.", metadata={"source": "a.md"}, id="1")
    sources = pack(
        [{"item_id": "d", "score": 1.0, "title": "T"}, found], [{"item_id": "d", "text": "t"}]
    )
    assert [(source.source_id, source.snippet) for source in sources] == [
        ("d", "t"),
        ("a.md", "Leave is paid."),
    ]


TEXT = st.text(st.characters(codec=None), max_size=40)
NUMBERS = st.none() | st.floats() | st.integers()
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
CANDIDATES = st.fixed_dictionaries(
    {"item_id": TEXT},
    optional={
        "kind": TEXT,
        "title": TEXT,
        "url": TEXT,
        "summary": TEXT,
        "content": TEXT,
        "score": VALUES,
        "rank": VALUES,
        "metadata": st.dictionaries(TEXT | st.integers(), VALUES, max_size=4),
    },
)
CHUNKS = st.fixed_dictionaries(
    {"item_id": TEXT, "text": TEXT},
    optional={"score": VALUES, "page": VALUES, "start": VALUES, "heading_path": VALUES},
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "max_sources": st.integers(-1, 5),
        "max_snippet_chars": st.integers(-1, 30),
        "query": TEXT,
        "max_snippets": st.integers(0, 4),
        "anchors": st.booleans(),
        "order_by": st.sampled_from(["score", "rank", "input", "other"]),
        "include_metadata_keys": st.lists(TEXT, max_size=3),
        "exclude_metadata_keys": st.lists(TEXT, max_size=3),
        "prefer_chunk_snippets": st.booleans(),
        "debug": st.booleans(),
    },
)


@settings(max_examples=tiers.count(2_000, short=100))
@given(st.lists(CANDIDATES | VALUES, max_size=5), st.lists(CHUNKS | VALUES, max_size=5), OPTIONS)
def test_whatever_comes_in_valid_sources_come_out(
    candidates: list[Any], chunks: list[Any], options: dict[str, Any]
) -> None:
    sources = DefaultEvidencePacker().pack(candidates, chunks, options)
    for place, source in enumerate(sources, 1):
        assert source.rank == place
        assert SourceItem.model_validate_json(source.model_dump_json()) == source
        assert source.snippet is None or len(source.snippet) <= options.get(
            "max_snippet_chars", 360
        )
        for snippet in source.snippets or ():
            assert all(0 <= low < high <= len(snippet.text) for low, high in snippet.matches)
    assert len(set(ids(sources))) == len(sources)


@given(st.lists(CANDIDATES, max_size=5), st.lists(CHUNKS, max_size=5), st.integers())
def test_the_order_of_keys_makes_no_difference(
    candidates: list[dict[str, Any]], chunks: list[dict[str, Any]], seed: int
) -> None:
    chance = random.Random(seed)

    def shuffled(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        keys = list(value)
        chance.shuffle(keys)
        return {key: shuffled(value[key]) for key in keys}

    packer = DefaultEvidencePacker()
    first = packer.pack(candidates, chunks)
    again = packer.pack([shuffled(one) for one in candidates], [shuffled(one) for one in chunks])
    assert [one.model_dump_json() for one in first] == [one.model_dump_json() for one in again]

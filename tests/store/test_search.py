"""The search index: what it finds, how it is scored, and what becomes of one that is damaged."""

import gc
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

from evidentia.documents.index import index_texts
from evidentia.errors import EnvironmentProblem
from evidentia.language.tokens import tokenize
from evidentia.store import search
from evidentia.store.search import (
    Candidate,
    IndexedChunk,
    IndexedDocument,
    SearchIndex,
    Within,
)

WORDS = [
    *("leave", "day", "policy", "notice", "pay", "the", "a", "15", "15%", "إجازة", "年假", "hotel"),
    *("travel", "manager", "week", "month", "year", "request", "approve", "carry"),
]
EVERYWHERE = Within()


def texts_of(number: int, seed: int = 3) -> list[str]:
    choose = Random(seed)
    return [" ".join(choose.choices(WORDS, k=choose.randint(3, 30))) for _ in range(number)]


def documents_of(
    texts: Sequence[str], *, each: int = 2, collection: str = "a"
) -> Iterator[IndexedDocument]:
    """Give documents of a few texts each, as the index is told of them."""
    for start in range(0, len(texts), each):
        name = f"doc_{start // each:04}"
        chunks = [
            IndexedChunk("b" * 64, f"{start + at:064x}", at, 1, 100 * at, tokenize(text))
            for at, text in enumerate(texts[start : start + each])
        ]
        yield IndexedDocument(name, collection, [f"file {start}", name], chunks)


def built(folder: Path, documents: Sequence[IndexedDocument], *, parts: int = 1) -> SearchIndex:
    index = SearchIndex(folder)
    with index.changing():
        for part in range(parts):
            index.update(documents[part::parts], (), part)
    return index


def found(index: SearchIndex, text: str, limit: int = 5, within: Within = EVERYWHERE) -> list[str]:
    return [one.chunk_hash for one in index.reader().search(text, limit, within)]


def scanned(texts: Sequence[str], query: str, limit: int) -> list[tuple[str, float]]:
    """Score every text by the formula, without an index."""
    every = index_texts(texts).search(query, len(texts))
    ranked = sorted((round(-score, 3), f"{place:064x}") for place, score in every)
    return [(name, -score) for score, name in ranked[:limit]]


@pytest.mark.parametrize(
    "query",
    ["annual leave", "15% of the pay", "إجازة", "hotel hotel travel", "年假 policy", "zebra"],
)
def test_what_is_found_is_what_a_full_scan_finds(tmp_path: Path, query: str) -> None:
    texts = texts_of(400)
    index = built(tmp_path, list(documents_of(texts)))
    given = index.reader().search(query, 10, EVERYWHERE)
    least = min((one.score for one in given), default=0.0)
    expected = [name for name, score in scanned(texts, query, 400) if score > least + 0.002]
    assert {one.chunk_hash for one in given} >= set(expected)
    scores = dict(scanned(texts, query, 400))
    assert all(one.score == pytest.approx(scores[one.chunk_hash], abs=2e-3) for one in given)
    assert [one.score for one in given] == sorted((one.score for one in given), reverse=True)


def test_the_order_in_which_documents_come_makes_no_difference(tmp_path: Path) -> None:
    documents = list(documents_of([*texts_of(120), *["leave of a day"] * 90]))
    expected: list[list[Candidate]] | None = None
    for seed in range(10):
        shuffled = Random(seed).sample(documents, len(documents))
        index = built(tmp_path / str(seed), shuffled, parts=1 + seed % 4)
        given = [
            index.reader().search(query, limit, EVERYWHERE)
            for query in ("leave of a day", "the policy", "hotel 15")
            for limit in (1, 7, 40)
        ]
        expected = expected or given
        assert given == expected


def test_a_document_that_is_indexed_again_is_there_once(tmp_path: Path) -> None:
    documents = list(documents_of(texts_of(20)))
    index = built(tmp_path, documents)
    before = index.reader().search("leave", 50, EVERYWHERE)
    with index.changing():
        index.update(documents[:4], (), 5)
    assert index.reader().search("leave", 50, EVERYWHERE) == before
    assert index.reader().known == built(tmp_path / "other", documents).reader().known


def test_what_is_taken_out_is_not_found_and_counts_for_nothing(tmp_path: Path) -> None:
    documents = list(documents_of(texts_of(40)))
    index = built(tmp_path / "one", documents)
    with index.changing():
        index.update((), [one.id for one in documents[10:]], 1)
    fresh = built(tmp_path / "other", documents[:10])
    for query in ("leave", "the notice", "hotel"):
        given = index.reader().search(query, 30, EVERYWHERE)
        assert given == fresh.reader().search(query, 30, EVERYWHERE)
    assert index.reader().documents() == 10


def test_a_search_stays_within_documents_and_collections(tmp_path: Path) -> None:
    one = list(documents_of(texts_of(30), collection="a"))
    others = [
        document._replace(id=f"x{document.id}", collection="b")
        for document in documents_of(texts_of(30, seed=4))
    ]
    index = built(tmp_path, [*one, *others])
    reader = index.reader()
    in_b = reader.search("leave day", 60, Within(collections=frozenset("b")))
    assert in_b
    assert all(hit.document_id.startswith("x") for hit in in_b)
    named = reader.search("leave day", 60, Within(documents=frozenset({"doc_0001"})))
    assert {hit.document_id for hit in named} == {"doc_0001"}
    both = Within(frozenset({"doc_0001"}), frozenset("b"))
    assert reader.search("leave day", 60, both) == []


def test_documents_are_found_by_their_names_and_by_words_of_them(tmp_path: Path) -> None:
    reader = built(tmp_path, list(documents_of(texts_of(8)))).reader()
    assert reader.named(["file 2"], [], 9) == ["doc_0001"]
    assert set(reader.named([], ["file"], 9)) == {f"doc_{at:04}" for at in range(4)}
    assert reader.named([], [], 9) == []


def test_another_process_sees_what_was_indexed(tmp_path: Path) -> None:
    documents = list(documents_of(texts_of(20)))
    writer, reader = SearchIndex(tmp_path), SearchIndex(tmp_path)
    assert reader.look() is None
    with pytest.raises(EnvironmentProblem, match="there is no index to search by"):
        reader.reader()
    with writer.changing():
        writer.update(documents[:5], (), 3)
    state = reader.look()
    assert state is not None
    assert state.entry == 3
    before = found(reader, "leave", 40)
    with writer.changing():
        writer.update(documents[5:], (), 4)
    assert found(reader, "leave", 40) == before  # until it looks
    reader.look()
    assert found(reader, "leave", 40) == found(writer, "leave", 40) != before


@pytest.mark.parametrize("damage", ["flipped", "cut", "gone", "state", "meta", "older"])
def test_an_index_that_is_damaged_is_not_used(tmp_path: Path, damage: str) -> None:
    built(tmp_path, list(documents_of(texts_of(20))))
    files = sorted((tmp_path / "index").glob("*.term"))
    state = tmp_path / "state.json"
    match damage:
        case "flipped":
            data = bytearray(files[0].read_bytes())
            data[len(data) // 2] ^= 1
            files[0].write_bytes(data)
        case "cut":
            files[0].write_bytes(files[0].read_bytes()[:-1])
        case "gone":
            files[0].unlink()
        case "state":
            state.write_text("{")
        case "meta":
            meta = tmp_path / "index" / "meta.json"
            meta.write_bytes(meta.read_bytes().replace(b"opstamp", b"stampop"))
        case _:
            state.write_text(state.read_text().replace('"tokens": ', '"tokens": 9'))
    again = SearchIndex(tmp_path)
    assert again.look() is None
    assert again.is_there
    with again.changing():
        again.update(documents_of(texts_of(20)), (), 0)
    assert found(again, "leave")


def test_an_update_that_was_not_finished_leaves_no_index_that_seems_to_be_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = list(documents_of(texts_of(20)))
    index = built(tmp_path, documents[:5])

    def fail(*_: object, **__: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched, index.changing():
        patched.setattr(search, "write_durably", fail)
        with pytest.raises(EnvironmentProblem, match="made anew with the next check"):
            index.update(documents[5:], (), 1)
    again = SearchIndex(tmp_path)
    assert again.look() is None
    assert not again.is_there


def test_what_an_index_that_is_only_read_needs_beside_it_goes_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(tmp_path / "index", list(documents_of(texts_of(20))))
    (tmp_path / "aside").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "aside"))
    monkeypatch.setattr("os.access", lambda *_, **__: False)
    index = SearchIndex(tmp_path / "index")
    assert index.look() is not None
    assert found(index, "leave")
    assert len(list((tmp_path / "aside").iterdir())) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del index
        gc.collect()
    assert list((tmp_path / "aside").iterdir()) == []


def test_text_that_no_file_can_hold_does_no_harm(tmp_path: Path) -> None:
    odd = IndexedDocument(
        "doc_odd",
        "\ud800",
        ["\udfff name"],
        [IndexedChunk("b" * 64, "a" * 64, 0, 1, 0, ["leave", "\ud800", "x" * 70_000])],
    )
    index = built(tmp_path, [odd])
    assert found(index, "leave") == ["a" * 64]
    assert index.reader().search("leave", 0, EVERYWHERE) == []
    assert built(tmp_path / "empty", []).reader().search("leave", 3, EVERYWHERE) == []


def test_a_chunk_is_had_by_all_of_its_terms(tmp_path: Path) -> None:
    documents = list(documents_of(texts_of(6)))
    reader = built(tmp_path, documents).reader()
    for document in documents:
        for chunk in document.chunks:
            assert reader.has(document.id, chunk)
            assert not reader.has(document.id, chunk._replace(terms=[*chunk.terms, "more"]))
            assert not reader.has(document.id, chunk._replace(terms=list(chunk.terms)[1:]))
    assert reader.terms()["leave"] == sum(
        "leave" in chunk.terms for document in documents for chunk in document.chunks
    )


def test_the_engine_is_named_with_its_version() -> None:
    assert search.ENGINE.startswith("tantivy 0.")


def test_a_word_that_a_query_repeats_counts_as_often(tmp_path: Path) -> None:
    texts = [
        " ".join(Random(place).choices(WORDS, k=Random(place).randint(3, 30)))
        for place in range(3_000)
    ]
    index = built(tmp_path, list(documents_of(texts)))
    query = "hotel " * 8 + "leave day policy notice pay"
    scores = [one.score for one in index.reader().search(query, 5, EVERYWHERE)]
    assert scores == pytest.approx([score for _, score in scanned(texts, query, 5)], abs=0.02)

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.documents.chunking import chunk_document
from evidentia.documents.index import build_index, index_texts
from evidentia.documents.reading.document import read_document
from evidentia.language.tokens import tokenize

TEXTS = st.lists(
    st.lists(
        st.sampled_from(
            ["leave", "day", "policy", "notice", "pay", "the", "a", "15", "15%", "إجازة", "年假"]
        )
    ).map(" ".join),
    max_size=12,
)


def bm25(texts: list[str], query: str) -> list[tuple[int, float]]:
    """Score texts by the formula, word by word."""
    counts = [Counter(tokenize(text)) for text in texts]
    mean = sum(c.total() for c in counts) / max(len(counts), 1)
    scores = []
    for position, count in enumerate(counts):
        score = 0.0
        for term in tokenize(query):
            if count[term]:
                containing = sum(1 for c in counts if c[term])
                rarity = math.log(1 + (len(counts) - containing + 0.5) / (containing + 0.5))
                norm = 1.5 * (1 - 0.75 + 0.75 * count.total() / mean)
                score += rarity * count[term] * 2.5 / (count[term] + norm)
        if score:
            scores.append((position, score))
    return sorted(scores, key=lambda found: (-round(found[1], 4), found[0]))


@given(TEXTS, st.sampled_from(["leave", "leave day", "the the pay 15%", "إجازة 年假", "none", ""]))
def test_scores_are_those_of_the_formula(texts: list[str], query: str) -> None:
    found = index_texts(texts).search(query, 100)
    expected = bm25(texts, query)
    assert sorted(p for p, _ in found) == sorted(p for p, _ in expected)
    by_position = dict(expected)
    assert all(score == pytest.approx(by_position[p], rel=1e-4) for p, score in found)
    assert found == sorted(found, key=lambda one: (-one[1], one[0]))


@given(TEXTS, st.integers(0, 14))
def test_a_limit_gives_the_first_of_all(texts: list[str], limit: int) -> None:
    index = index_texts(texts)
    assert index.search("leave day 15", limit) == index.search("leave day 15", 100)[:limit]


def test_the_order_of_a_querys_words_changes_nothing() -> None:
    index = index_texts(["annual leave policy", "leave of absence", "policy on travel"])
    assert index.search("leave policy annual", 3) == index.search("annual policy leave", 3)


def test_equal_texts_keep_their_order() -> None:
    index = index_texts(["x", "leave day", "leave day", "x", "leave day"])
    assert [position for position, _ in index.search("leave", 2)] == [1, 2]
    assert index.search("leave", 0) == []
    assert index.search("leave", -1) == []


def test_a_word_more_often_than_can_be_counted_is_counted_to_the_end() -> None:
    index = index_texts(["leave " * 70_000, "day"])
    assert index.search("leave", 1)[0][0] == 0


def test_chunks_are_found_by_the_headings_above_them_too() -> None:
    source = "# Annual leave\n\nFifteen days.\n\n# Travel\n\nBy train.\n"
    chunks = chunk_document(read_document(source.encode(), "a.md"), "doc")
    found = build_index(chunks).search("annual", 5)
    assert [chunks[position].heading_path for position, _ in found] == [("Annual leave",)]

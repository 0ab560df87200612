"""How well a chunk answers a query: BM25 of the product's own terms.

What is scored is what is known of a chunk by itself (its terms, and how many) and of all chunks
together (how many there are, how long they are on average, and in how many a term stands). So a
score depends on the library and on the query alone, whatever found the chunk.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import log
from typing import Final

from evidentia.language.tokens import tokenize

K1: Final = 1.5
B: Final = 0.75
FORMULA: Final = f"bm25 k1={K1} b={B}"
"""What a ledger says of how passages were scored."""
_DIGITS: Final = 6
"""Equal texts score alike to the last digit; what is nearly equal counts as equal."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """What is known of all chunks together: how many, and how many terms they have in all."""

    count: int
    terms: int


def rarity(chunks: int, having: int) -> float:
    """Return what a term is worth that stands in so many of the chunks."""
    return log(1 + (chunks - having + 0.5) / (having + 0.5))


def score(query: Iterable[tuple[float, int]], length: int, known: Chunks) -> float:
    """Return the score of a chunk of `length` terms.

    `query` has, for each term that the chunk has too, what it is worth in the query (`worth`), and
    how often the chunk has it.
    """
    norm = K1 * (1 - B + B * (length * known.count / known.terms))
    return round(sum(worth * times / (times + norm) for worth, times in query), _DIGITS)


def worths(text: str, known: Chunks, having: Callable[[str], int]) -> dict[str, float]:
    """Return the terms of a query with what each is worth, those left out that no chunk has."""
    found: dict[str, float] = {}
    for term, times in sorted(Counter(tokenize(text)).items()):
        count = having(term)
        if count:
            found[term] = times * (K1 + 1) * rarity(known.count, count)
    return found

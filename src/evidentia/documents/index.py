"""Finding chunks in memory by their words: BM25 over postings in arrays.

An index is a value, and follows from the chunks alone.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import count as counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evidentia.documents.model import DocumentChunk
from evidentia.documents.scoring import K1, B, rarity
from evidentia.language.tokens import tokenize

_KINDS: Final = ("<i8", "<i4", "<u2", "<u4")
"""The arrays' types: where each term's postings start, positions, counts, chunks' lengths."""
_MAX_COUNT: Final = 65_535

Integers = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]


class LexicalIndex:
    """Postings of chunks, which are known by their position in what the index was built of.

    Make one with `build_index` or `index_texts`; it does not change afterwards.
    """

    __slots__ = ("_counts", "_lengths", "_positions", "_rows", "_starts", "_weights")

    def __init__(
        self,
        terms: Iterable[str],
        starts: Integers,
        positions: Integers,
        counts: Integers,
        lengths: Integers,
    ) -> None:
        self._rows: Mapping[str, int] = {term: row for row, term in enumerate(terms)}
        self._starts = starts
        self._positions = positions
        self._counts = counts
        self._lengths = lengths
        self._weights = _weights(starts, positions, counts, lengths)

    def __len__(self) -> int:
        return len(self._lengths)

    def search(self, query: str, limit: int) -> list[tuple[int, float]]:
        """Return the best chunks' positions with their scores, the highest first.

        Only chunks with a term of the query are given, at most `limit`. Equal scores keep the
        chunks' order, and the order of the query's words changes nothing.
        """
        scores = np.zeros(len(self._lengths), np.float32)
        for term, times in sorted(Counter(tokenize(query)).items()):
            row = self._rows.get(term)
            if row is not None:
                low, high = self._starts[row], self._starts[row + 1]
                weights = self._weights[low:high]
                scores[self._positions[low:high]] += weights if times == 1 else weights * times
        return _best(scores, limit)


def build_index(chunks: Iterable[DocumentChunk]) -> LexicalIndex:
    """Index chunks by the words of their text and of the headings above it."""
    return index_texts("\n".join([*chunk.heading_path, chunk.text]) for chunk in chunks)


def index_texts(texts: Iterable[str]) -> LexicalIndex:
    """Index texts by their words; a text's position is its place in what was given."""
    rows: defaultdict[str, int] = defaultdict(counter().__next__)
    found, counts, distinct, lengths = array("q"), array("I"), array("q"), array("I")
    for text in texts:
        terms = Counter(tokenize(text))
        found.extend(map(rows.__getitem__, terms))
        counts.extend(terms.values())
        distinct.append(len(terms))
        lengths.append(terms.total())
    return _assembled(
        list(rows),
        np.array(found, np.int64),
        np.repeat(np.arange(len(lengths)), np.array(distinct, np.int64)),
        np.minimum(np.array(counts, np.int64), _MAX_COUNT),
        np.array(lengths, np.int64),
    )


def _assembled(
    terms: Sequence[str],
    found: Integers,
    positions: Integers,
    counts: Integers,
    lengths: Integers,
) -> LexicalIndex:
    """Put postings in the order of their terms, and of their positions within a term."""
    order = sorted(range(len(terms)), key=terms.__getitem__)
    rank = np.empty(len(terms), np.int64)
    rank[order] = np.arange(len(terms))
    ranked = rank[found]
    by_term = np.argsort(ranked, kind="stable")
    starts = np.zeros(len(terms) + 1, np.int64)
    np.cumsum(np.bincount(ranked, minlength=len(terms)), out=starts[1:])
    arrays = (starts, positions[by_term], counts[by_term], lengths)
    typed = (values.astype(kind) for values, kind in zip(arrays, _KINDS, strict=True))
    return LexicalIndex([terms[row] for row in order], *typed)


def _weights(starts: Integers, positions: Integers, counts: Integers, lengths: Integers) -> Floats:
    """Return what each posting adds to its chunk's score."""
    if not len(positions):
        return np.empty(0, np.float32)
    chunks = len(lengths)
    mean = int(lengths.sum(dtype=np.int64)) / chunks
    frequencies = np.diff(starts)
    # One logarithm per distinct frequency, and by the C library: numpy's differs by processor.
    distinct, places = np.unique(frequencies, return_inverse=True)
    worth = np.array([rarity(chunks, n) for n in distinct.tolist()])
    norms = (K1 * (1 - B + B * (lengths / mean))).astype(np.float32)
    weights = counts.astype(np.float32)
    weights /= weights + norms[positions]
    weights *= np.repeat((worth * (K1 + 1)).astype(np.float32)[places], frequencies)
    return weights


def _best(scores: Floats, limit: int) -> list[tuple[int, float]]:
    """Return the highest scores above 0, and of equal ones the first."""
    found = np.flatnonzero(scores)
    if limit <= 0 or not len(found):
        return []
    values = scores[found]
    if len(found) > limit:
        least = np.partition(values, len(values) - limit)[len(values) - limit]
        kept = values >= least
        found, values = found[kept], values[kept]
    order = np.argsort(-values, kind="stable")[:limit]
    return list(zip(found[order].tolist(), values[order].tolist(), strict=True))

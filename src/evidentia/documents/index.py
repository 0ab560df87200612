"""Finding chunks by their words: BM25 over postings in arrays.

An index is a value: it follows from the chunks alone, and indexes of parts merge into what an
index of the whole would be, to the byte. So each document can be tokenised once, and its index
kept.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import count as counter
from itertools import pairwise
from math import log
from struct import Struct
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evidentia.documents.model import DocumentChunk
from evidentia.errors import IntegrityError
from evidentia.language.tokens import TOKENS_VERSION, tokenize

K1: Final = 1.5
B: Final = 0.75

FORMAT_VERSION: Final = 1
_MAGIC: Final = b"evidentia-index\n"
_HEAD: Final = Struct("<16sHH32s")
"""Magic, version of this format, version of the terms, SHA-256 of all that follows."""
_SIZES: Final = Struct("<QQQQ")
"""Chunks, terms, postings, bytes of the terms' text."""
_KINDS: Final = ("<i8", "<i4", "<u2", "<u4")
"""The arrays' types: where each term's postings start, positions, counts, chunks' lengths."""
_AGAIN: Final = "build it again from its chunks"
_MAX_COUNT: Final = 65_535

Integers = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]


class LexicalIndex:
    """Postings of chunks, which are known by their position in what the index was built of.

    Make one with `build_index`, `merge_indexes` or `from_bytes`; it does not change afterwards.
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

    def to_bytes(self) -> bytes:
        """Return the index as bytes for `from_bytes`; equal indexes give equal bytes."""
        text = "\n".join(self._rows).encode()
        sizes = _SIZES.pack(len(self), len(self._rows), len(self._positions), len(text))
        arrays = (self._starts, self._positions, self._counts, self._lengths)
        body = b"".join([sizes, text, *(values.tobytes() for values in arrays)])
        return _HEAD.pack(_MAGIC, FORMAT_VERSION, TOKENS_VERSION, sha256(body).digest()) + body

    @classmethod
    def from_bytes(cls, data: bytes) -> "LexicalIndex":
        """Read what `to_bytes` wrote; raise `IntegrityError` if it is damaged or outdated.

        Such an index can be built again from its chunks.
        """
        body = _checked_body(data)
        chunks, terms, postings, text_bytes = _SIZES.unpack_from(body)
        names = body[_SIZES.size : _SIZES.size + text_bytes].decode("utf-8", "replace").split("\n")
        counts = (terms + 1, postings, postings, chunks)
        ends = [_SIZES.size + text_bytes]
        for kind, count in zip(_KINDS, counts, strict=True):
            ends.append(ends[-1] + count * np.dtype(kind).itemsize)
        if ends[-1] == len(body):
            arrays = [
                np.frombuffer(body[low:high], kind) if low < high else np.empty(0, kind)
                for kind, (low, high) in zip(_KINDS, pairwise(ends), strict=True)
            ]
            if _is_sound(names[: terms or -1], *arrays):
                return cls(names[: terms or -1], *arrays)
        raise IntegrityError(f"the lexical index contradicts itself: {_AGAIN}")

    def _postings(self) -> tuple[Sequence[str], Integers, Integers, Integers, Integers]:
        return list(self._rows), self._starts, self._positions, self._counts, self._lengths


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


def merge_indexes(indexes: Iterable[LexicalIndex]) -> LexicalIndex:
    """Return the index of all the chunks, those of the first index first."""
    rows: dict[str, int] = {}
    found, positions, counts, lengths = [], [], [], []
    size = 0
    for index in indexes:
        terms, starts, *arrays = index._postings()  # noqa: SLF001 - the same module
        named = np.array([rows.setdefault(term, len(rows)) for term in terms], np.int64)
        found.append(np.repeat(named, np.diff(starts)))
        positions.append(arrays[0] + size)
        counts.append(arrays[1])
        lengths.append(arrays[2])
        size += len(index)
    return _assembled(
        list(rows), _joined(found), _joined(positions), _joined(counts), _joined(lengths)
    )


def _joined(parts: Sequence[Integers]) -> Integers:
    return np.concatenate([np.empty(0, np.int64), *parts], dtype=np.int64)


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
    rarity = np.array([log(1 + (chunks - n + 0.5) / (n + 0.5)) for n in distinct.tolist()])
    norms = (K1 * (1 - B + B * (lengths / mean))).astype(np.float32)
    weights = counts.astype(np.float32)
    weights /= weights + norms[positions]
    weights *= np.repeat((rarity * (K1 + 1)).astype(np.float32)[places], frequencies)
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


def _is_sound(
    names: Sequence[str],
    starts: Integers,
    positions: Integers,
    counts: Integers,
    lengths: Integers,
) -> bool:
    """Whether the arrays can belong to one another, so that a search stays within them."""
    return (
        len(starts) == len(set(names)) + 1
        and len(counts) == len(positions)
        and int(starts[0]) == 0
        and int(starts[-1]) == len(positions)
        and bool((np.diff(starts) > 0).all())
        and bool(((positions >= 0) & (positions < len(lengths))).all())
        and bool((counts > 0).all())
    )


def _checked_body(data: bytes) -> bytes:
    """Return what stands behind the head, if the head is right about it."""
    if len(data) < _HEAD.size + _SIZES.size or not data.startswith(_MAGIC):
        raise IntegrityError(f"not a lexical index: {_AGAIN}")
    _, version, tokens_version, expected = _HEAD.unpack_from(data)
    if (version, tokens_version) != (FORMAT_VERSION, TOKENS_VERSION):
        raise IntegrityError(
            f"the lexical index has version {version}.{tokens_version}, this program reads "
            f"{FORMAT_VERSION}.{TOKENS_VERSION}: {_AGAIN}"
        )
    body = data[_HEAD.size :]
    if sha256(body).digest() != expected:
        raise IntegrityError(f"the lexical index is damaged: {_AGAIN}")
    return body

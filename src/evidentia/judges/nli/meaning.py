"""How near texts are in meaning: vectors of chunks and their sentences, made once and kept.

In a corpus of a few sentences all are read. One of moderate size is embedded whole, when its
meaning is first asked for, so that a passage is found though it shares no word with the claim. In a
larger one only the chunks that words find first are embedded, when they are looked at. What is
found depends on the corpus alone, and never on what was kept before.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from typing import Final

import numpy as np

from evidentia.documents.model import DocumentChunk
from evidentia.judges.nli.combining import Floats
from evidentia.judges.nli.model import WIDTH, Embedded, Encoder, encoder
from evidentia.ledger.evidence import NEAR, Corpus, sentences_of
from evidentia.ledger.judging import Judge

WHOLE: Final = 500
"""How many chunks a corpus has at most that is embedded whole: some 100 pages, which take two cores
half a minute, once."""
FIRST: Final = 6
"""How many of the chunks that words find are embedded for a claim in a larger corpus."""
FEW: Final = 4
"""How many sentences a corpus has at most in which there is nothing to search for."""
_AT_ONCE: Final = 64
_REMEMBERED: Final = 1_000
"""How many texts' vectors a process remembers of a corpus that is not embedded whole."""
_NEARLY: Final = 0.01
"""How far a vector's length may be from one: 16-bit floats are not exact."""

LookUp = Callable[[Collection[str]], Mapping[str, bytes]]
"""Gives the vectors that are kept, of all the digests of texts that it is asked for."""
Keep = Callable[[Mapping[str, bytes]], None]
"""Is handed vectors that were made, by the digest of their text, to be kept."""
Progress = Callable[[int, int], None]


def with_meaning(
    corpus: Corpus,
    judges: Iterable[Judge],
    *,
    look_up: LookUp = lambda _: {},
    keep: Keep = lambda _: None,
    progress: Progress = lambda _done, _total: None,
) -> Corpus:
    """Return the corpus knowing what its passages mean if a judge asks for that, and only then.

    What is found for other judges is the same whether or not one asked before.
    """
    is_asked = any(getattr(judge, "reads_meaning", False) for judge in judges)
    if not is_asked:
        return corpus if corpus.meaning is None else replace(corpus, meaning=None)
    if isinstance(corpus.meaning, CorpusMeaning):
        corpus.meaning.progress = progress
    if corpus.meaning is not None:
        return corpus
    few = corpus.held.few(WHOLE)
    texts = [corpus.visible(chunk) for chunk in few or ()]
    if few and len(few) <= FEW and sum(len(sentences_of(text)) for text in texts) <= FEW:
        return replace(corpus, meaning=AllNear(few))
    made = None if few is None else list(zip(texts, few, strict=True))
    meaning = CorpusMeaning(made, encoder(), look_up=look_up, keep=keep, progress=progress)
    return replace(corpus, meaning=meaning)


def content_digest(text: str) -> str:
    """Return the digest that a text's vectors are kept by."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def to_bytes(embedded: Embedded) -> bytes:
    """Return the vectors as they are kept: rows of 16-bit floats, the whole text's first."""
    rows = np.vstack([embedded.whole[None, :], embedded.spans])
    return rows.astype("<f2").tobytes()


def from_bytes(data: bytes, sentences: int) -> Embedded | None:
    """Read what was kept; None if it is not the vectors of a text of so many sentences.

    Each is of length one, or zero.
    """
    if len(data) != (1 + sentences) * WIDTH * 2:
        return None
    rows = np.frombuffer(data, "<f2").astype(np.float32).reshape(-1, WIDTH)
    if not np.isfinite(rows).all():
        return None
    lengths = np.linalg.norm(rows, axis=1)
    if not ((abs(lengths - 1) < _NEARLY) | (lengths == 0)).all():
        return None
    return Embedded(rows[0], rows[1:])


class AllNear:
    """Takes every sentence of a few for near: all of them are read; keeps `Meaning`."""

    def __init__(self, chunks: Sequence[DocumentChunk]) -> None:
        self._chunks = chunks

    def nearest(self, text: str, limit: int) -> list[DocumentChunk]:
        """Return all chunks."""
        del text
        return list(self._chunks)[:limit]

    def nearness(self, text: str, passages: Sequence[str]) -> list[list[float]]:
        """Return the least nearness that is near enough, for every sentence."""
        del text
        return [[NEAR] * len(sentences_of(passage)) for passage in passages]


class CorpusMeaning:
    """The vectors of a corpus's texts; keeps `ledger.evidence.Meaning`.

    `chunks` are all chunks with their texts, or None if they are too many to be embedded whole.
    """

    def __init__(
        self,
        chunks: Iterable[tuple[str, DocumentChunk]] | None,
        encoder: Encoder,
        *,
        look_up: LookUp = lambda _: {},
        keep: Keep = lambda _: None,
        progress: Progress = lambda _done, _total: None,
    ) -> None:
        self._encoder = encoder
        self._keep = keep
        self.progress = progress
        self._known: OrderedDict[str, Embedded] = OrderedDict()
        self._look_up = look_up
        self._whole: Floats | None = None
        self._is_whole = chunks is not None
        self._places: dict[str, list[DocumentChunk]] = {}
        self._query = lru_cache(maxsize=256)(self._of_query)
        for text, chunk in chunks or ():
            self._places.setdefault(text, []).append(chunk)

    def nearest(self, text: str, limit: int) -> list[DocumentChunk]:
        """Return the chunks nearest to a text, the nearest first; none if they are too many.

        Different texts are counted, and all chunks with each are given.
        """
        if not self._places:
            return []
        if self._whole is None:
            found = self._embedded(list(self._places), self.progress)
            self._whole = np.array([one.whole for one in found]).reshape(len(found), WIDTH)
        near = (self._whole @ self._query(text)).round(4).tolist()
        ranked = sorted(zip(near, self._places, strict=True), key=lambda item: (-item[0], item[1]))
        return [chunk for _, one in ranked[:limit] for chunk in self._places[one]]

    def nearness(self, text: str, passages: Sequence[str]) -> list[list[float]]:
        """Return how near a text is to each sentence of each passage.

        In a corpus that is too large to be embedded whole, it is near to the first few alone.
        """
        query = self._query(text)
        read = passages if self._is_whole else passages[:FIRST]
        found = self._embedded(read, lambda _done, _total: None)
        near = [(one.spans @ query).tolist() for one in found]
        return near + [[0.0] * len(sentences_of(passage)) for passage in passages[len(read) :]]

    def _of_query(self, text: str) -> Floats:
        return self._encoder.embed([text])[0].whole

    def _embedded(self, texts: Sequence[str], progress: Progress) -> list[Embedded]:
        missing = {
            text: content_digest(text) for text in dict.fromkeys(texts) if text not in self._known
        }
        kept = self._look_up(missing.values()) if missing else {}
        unread: list[str] = []
        for text, digest in missing.items():
            data = kept.get(digest)
            found = from_bytes(data, len(sentences_of(text))) if data is not None else None
            if found is None:
                unread.append(text)
            else:
                self._known[text] = found
        made: dict[str, bytes] = {}
        for start in range(0, len(unread), _AT_ONCE):
            some = unread[start : start + _AT_ONCE]
            for text, embedded in zip(some, self._made(some), strict=True):
                data = to_bytes(embedded)
                made[missing[text]] = data
                # what is read again later is what is used now
                self._known[text] = from_bytes(data, len(embedded.spans)) or embedded
            progress(min(start + _AT_ONCE, len(unread)), len(unread))
        if made:
            self._keep(made)
        wanted = [self._known[text] for text in texts]
        while len(self._known) > max(_REMEMBERED, len(self._places)):
            self._known.popitem(last=False)
        return wanted

    def _made(self, texts: Sequence[str]) -> Iterable[Embedded]:
        return self._encoder.embed(texts, [sentences_of(text) for text in texts])

"""Evidence: the passages of the documents that may bear on a claim, best first.

Chunks are found by their words, and by their meaning where the corpus knows it; within a chunk the
sentences that share most with the claim, or are nearest to it, become passages, each with the
sentence before it if it points back to it. A claim that begins with a condition is looked for with
it and without it: a document may say the one here and the other there. A claim in Arabic is looked
for in English documents as well, and one in English in Arabic documents, by the words that a small
table has for what it is about.
What a passage quotes is verbatim, with its place on the page. What a document hides in a comment is
no evidence. The order in which documents and chunks come makes no difference.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from itertools import repeat
from typing import Final, NamedTuple, Protocol, TypeVar

from evidentia.documents.model import DocumentChunk
from evidentia.errors import NotFoundError
from evidentia.language.arabic.concepts import in_other_language
from evidentia.language.characters import Span
from evidentia.language.clauses import main_clause
from evidentia.language.lexicon import POINTING, any_of
from evidentia.language.markup import plain_text
from evidentia.language.sentences import LIST_MARKER, sentence_spans
from evidentia.language.statements import Statement, read_statement
from evidentia.language.words import coverage
from evidentia.ledger.model import Claim, Passage, SourceDocument

CHUNKS: Final = 12
"""How many chunks with different text are read for a claim."""
PASSAGES: Final = 10
"""How many passages with different text are judged for a claim."""
PLACES: Final = 3
"""In how many places the same text is looked at."""
_OF_ONE_CHUNK: Final = 4
_LOOKED_AT: Final = 48
_MOST_LOOKED_AT: Final = _LOOKED_AT * 4**4
"""How many places are looked at where one text stands in very many of them."""
_HEADING_WEIGHT: Final = 0.3
_NUMBER_WEIGHT: Final = 0.05
_MEANING_WEIGHT: Final = 0.6
CHUNKS_BY_MEANING: Final = 6
"""How many chunks are read for a claim because their meaning is near to it."""
NEAR: Final = 0.4
"""How near a sentence must be in meaning to be read though it shares no word with the claim."""

_POINTS_BACK = re.compile(rf"(?:{any_of(POINTING)}|however|but|instead)\b", re.IGNORECASE)
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """A document that answers are checked against.

    `superseded` says that a newer version of it is among the documents; `paged` that its pages are
    pages to a reader; `until` is the last day on which it says that it holds.
    """

    id: str
    filename: str
    dated: date | None = None
    superseded: bool = False
    paged: bool = True
    until: date | None = None


class Hit(NamedTuple):
    """A chunk that a search found: how well, the hash of its text, and where it stands.

    `place` is its place among the chunks of its document.
    """

    score: float
    chunk_hash: str
    document_id: str
    place: int
    page: int
    start: int


class Holdings(Protocol):
    """Where a corpus has its documents and chunks from; they are asked for as they are needed."""

    def search(self, text: str, limit: int, among: frozenset[str] | None) -> Sequence[Hit]:
        """Return the `limit` best chunks that share a term with a text, the best first.

        `among` names the documents to look in. Less than `limit` are all there are.
        """
        ...

    def documents(self, identities: Iterable[str]) -> Mapping[str, CorpusDocument]:
        """Return those of the named documents that are in the corpus, by their ids."""
        ...

    def chunks(self, identity: str) -> Sequence[DocumentChunk]:
        """Return the chunks of a document of the corpus, in reading order."""
        ...

    def anchored(self, anchor: str) -> Sequence[DocumentChunk]:
        """Return the chunks that a citation's anchor may mean, in all their places."""
        ...

    def called(self, text: str) -> Iterable[CorpusDocument]:
        """Return the documents whose names may stand in a text, or be like it."""
        ...

    def few(self, most: int) -> Sequence[DocumentChunk] | None:
        """Return all chunks if they are at most so many, and otherwise None."""
        ...


class Meaning(Protocol):
    """Knows how near texts are to each other in meaning, from -1 to 1, whatever their words."""

    def nearest(self, text: str, limit: int) -> Sequence[DocumentChunk]:
        """Return the chunks of the corpus nearest to a text, the nearest first."""
        ...

    def nearness(self, text: str, passages: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return how near a text is to each sentence of each passage (`sentences_of`)."""
        ...


@dataclass(frozen=True, slots=True)
class Corpus:
    """What answers are checked against: documents and chunks, and what they mean if it is known.

    `labels` names the documents that an answer may cite by a number or an id which it need not
    explain. A corpus that has `parts` is searched and judged part by part.
    """

    held: Holdings
    meaning: Meaning | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    parts: "tuple[Corpus, ...]" = ()
    _hidden: dict[str, Mapping[int, tuple[Span, ...]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def by_words(self) -> "Corpus":
        """Return the corpus without what its passages mean."""
        return replace(self, meaning=None, parts=tuple(part.by_words() for part in self.parts))

    def document(self, identity: str) -> CorpusDocument | None:
        """Return a document of the corpus; None if it is not in it."""
        return self.held.documents([identity]).get(identity)

    def around(self, passage: Passage) -> str:
        """Return the text of the chunk in which a passage stands, without comments."""
        return _readable(self.visible(self._chunk(passage)))

    def legibility(self, passage: Passage) -> float:
        """Return how sure the reading of a passage's chunk is: 1 unless it was read by OCR."""
        sure = self._chunk(passage).ocr
        return 1.0 if sure is None else sure

    def _chunk(self, passage: Passage) -> DocumentChunk:
        for chunk in self.held.chunks(passage.source.id):
            if chunk.chunk_id == passage.chunk_id:
                return chunk
        raise NotFoundError(f"the corpus has no passage {passage.chunk_id}")

    def visible(self, chunk: DocumentChunk) -> str:
        """Return the chunk's text with what stands in comments as spaces."""
        hidden = self._hidden.get(chunk.document_id)
        if hidden is None:
            hidden = self._hidden[chunk.document_id] = _comments(
                self.held.chunks(chunk.document_id)
            )
        return _without(hidden, chunk)

    def nearest(
        self, text: str, limit: int, *, among: frozenset[str] | None = None
    ) -> list[DocumentChunk]:
        """Return the chunks with the `limit` best texts; `among` names the documents to look in.

        A text that stands in several places is given with the first few of them.
        """
        size = _LOOKED_AT
        while True:
            found = self.held.search(text, size, among)
            complete = len(found) < size
            # others, not found yet, may score as much as the last one
            ranked = [hit for hit in found if complete or hit.score > found[-1].score]
            if complete or len({hit.chunk_hash for hit in ranked}) >= limit:
                break
            if size >= _MOST_LOOKED_AT:
                ranked = list(found)
                break
            size *= 4
        texts = dict.fromkeys(
            hit.chunk_hash for hit in sorted(ranked, key=lambda hit: (-hit.score, hit.chunk_hash))
        )
        kept = [hit for hit in ranked if hit.chunk_hash in set(list(texts)[:limit])]
        documents = self.held.documents({hit.document_id for hit in kept})
        kept.sort(key=lambda hit: (-hit.score, hit.chunk_hash, _place(documents, hit)))
        chosen = _first_of_each(((hit.chunk_hash, hit) for hit in kept), limit)
        return [self.held.chunks(hit.document_id)[hit.place] for hit in chosen]

    def place(self, chunk: DocumentChunk) -> tuple[bool, str, str, int, int]:
        """Return what puts the places of one text in order: current documents first."""
        return _place(self.held.documents([chunk.document_id]), chunk)


def _place(
    documents: Mapping[str, CorpusDocument], found: Hit | DocumentChunk
) -> tuple[bool, str, str, int, int]:
    document = documents[found.document_id]
    return document.superseded, document.filename, document.id, found.page, found.start


def find_passages(
    claim: Claim, corpus: Corpus, *, also: Sequence[DocumentChunk] = ()
) -> list[Passage]:
    """Return the passages that may bear on a claim, best first.

    `also` names chunks that the answer cites: a passage of each is among them in any case.
    """
    looked_for = dict.fromkeys((claim.text, main_clause(claim.text)))
    wanted = tuple(map(read_statement, looked_for))
    nearest = [chunk for text in looked_for for chunk in corpus.nearest(text, CHUNKS)]
    translated = in_other_language(claim.text)
    crossing = corpus.nearest(translated, CHUNKS) if translated else []
    if crossing:
        wanted += (read_statement(translated),)
        nearest += crossing
    if corpus.meaning:
        nearest += corpus.meaning.nearest(claim.text, CHUNKS_BY_MEANING)
    cited = {chunk.chunk_id for chunk in also}
    found: dict[tuple[str, int, int, int], _Found] = {}
    chunks = list(dict.fromkeys([*also, *nearest]))
    texts = [corpus.visible(chunk) for chunk in chunks]
    near = corpus.meaning.nearness(claim.text, texts) if corpus.meaning else [()] * len(texts)
    for chunk, text, close in zip(chunks, texts, near, strict=True):
        for window in _windows(chunk, text, wanted, close, cited=chunk.chunk_id in cited):
            known = found.setdefault(window.key, window)
            # neighbouring chunks overlap: of two that hold the same passage, one is named
            if (not window.cited, chunk.index) < (not known.cited, known.chunk.index):
                found[window.key] = window
    ranked = sorted(
        found.values(),
        key=lambda window: (-window.score, window.snippet, corpus.place(window.chunk), window.key),
    )
    kept = _first_of_each(((window.snippet, window) for window in ranked), PASSAGES)
    kept += [window for window in _best_cited(ranked) if window not in kept]
    return [_passage(window, corpus) for window in kept]


@dataclass(frozen=True, slots=True)
class _Found:
    """A passage that was found in a chunk, from `start` to `end` of the chunk's text."""

    score: float
    chunk: DocumentChunk
    start: int
    end: int
    context: str
    cited: bool

    @property
    def snippet(self) -> str:
        return self.chunk.text[self.start : self.end]

    @property
    def key(self) -> tuple[str, int, int, int]:
        begins = self.chunk.start
        return self.chunk.document_id, self.chunk.page, begins + self.start, begins + self.end


T = TypeVar("T")


def _first_of_each(items: Iterable[tuple[str, T]], limit: int) -> list[T]:
    """Return the items of the first `limit` different texts, and of each text the first few."""
    kept: dict[str, list[T]] = {}
    for text, item in items:
        if text in kept or len(kept) < limit:
            kept.setdefault(text, []).append(item)
    return [item for group in kept.values() for item in group[:PLACES]]


def _best_cited(ranked: Iterable[_Found]) -> list[_Found]:
    """Return the best passage of each cited chunk."""
    best: dict[str, _Found] = {}
    for window in ranked:
        if window.cited:
            best.setdefault(window.chunk.chunk_id, window)
    return list(best.values())


def sentences_of(text: str) -> tuple[Span, ...]:
    """Return where the sentences of a passage stand that are compared with a claim."""
    return tuple(span for span, _, _ in _sentences(text))


def _windows(
    chunk: DocumentChunk,
    visible: str,
    wanted: Sequence[Statement],
    near: Sequence[float],
    *,
    cited: bool,
) -> Iterator[_Found]:
    """Give the few sentences of a chunk that say most of the claim, without overlaps."""
    heading = read_statement(" ".join(chunk.heading_path))
    scored: list[_Found] = []
    for ((start, end), first, context), close in zip(
        _sentences(visible), near or repeat(0.0), strict=False
    ):
        said = read_statement(visible[start:end])
        score = max(_shared(one, said, heading) for one in wanted)
        if score or close >= NEAR:
            score += _MEANING_WEIGHT * max(close, 0.0)
            scored.append(_Found(score, chunk, first, end, context, cited))
    taken: list[Span] = []
    for window in sorted(scored, key=lambda item: (-item.score, item.start)):
        if len(taken) < _OF_ONE_CHUNK and not any(
            window.start < high and low < window.end for low, high in taken
        ):
            taken.append((window.start, window.end))
            yield window


def _shared(wanted: Statement, said: Statement, heading: Statement) -> float:
    """Return how much of what is wanted a sentence says; 0 if it shares no word with it."""
    shared = coverage(wanted.stems, said.stems)
    under = coverage(wanted.stems, said.stems | heading.stems)
    same = coverage(wanted.numbers, said.numbers)
    return shared and shared + _HEADING_WEIGHT * (under - shared) + _NUMBER_WEIGHT * same


@lru_cache(maxsize=4_096)
def _sentences(text: str) -> tuple[tuple[Span, int, str], ...]:
    """Return each sentence with where its passage begins, and the line that leads its list in.

    A sentence that points back is quoted with the one before it.
    """
    found: list[tuple[Span, int, str]] = []
    lead = ""
    before = 0
    for span in sentence_spans(text):
        start, end = span
        sentence = text[start:end]
        is_item = LIST_MARKER.match(sentence) is not None
        points_back = found and _POINTS_BACK.match(sentence)
        found.append((span, before if points_back else start, lead if is_item else ""))
        before = start
        if not is_item:
            lead = plain_text(sentence) if sentence.endswith(":") else ""
    return tuple(found)


def _passage(window: _Found, corpus: Corpus) -> Passage:
    chunk = window.chunk
    document = corpus.held.documents([chunk.document_id])[chunk.document_id]
    return Passage(
        chunk_id=chunk.chunk_id,
        chunk_hash=chunk.chunk_hash,
        snippet=_readable(window.snippet),
        page=chunk.page,
        start=chunk.start + window.start,
        end=chunk.start + window.end,
        context=_readable(window.context),
        source=SourceDocument(
            id=document.id,
            filename=_readable(document.filename),
            page_number=chunk.page if document.paged else None,
            heading_path=tuple(map(_readable, chunk.heading_path)) or None,
        ),
    )


def _readable(text: str) -> str:
    """Return the text with lone surrogates, which no JSON can hold, as replacement characters."""
    return _LONE_SURROGATES.sub("\ufffd", text)


def visible_texts(chunks: Sequence[DocumentChunk]) -> list[str]:
    """Return the texts of a document's chunks, with what stands in comments as spaces."""
    hidden = _comments(chunks)
    return [_without(hidden, chunk) for chunk in chunks]


def _without(hidden: Mapping[int, Sequence[Span]], chunk: DocumentChunk) -> str:
    text = chunk.text
    for start, end in hidden.get(chunk.page, ()):
        low, high = max(start - chunk.start, 0), min(end - chunk.start, len(text))
        if low < high:
            text = text[:low] + " " * (high - low) + text[high:]
    return text


def _comments(chunks: Sequence[DocumentChunk]) -> dict[int, tuple[Span, ...]]:
    """Find the comments of a document by its pages, also those that go on over several chunks."""
    opened: defaultdict[int, set[int]] = defaultdict(set)
    closed: defaultdict[int, set[int]] = defaultdict(set)
    for chunk in chunks:
        for mark, places in (("<!--", opened), ("-->", closed)):
            if mark in chunk.text:
                places[chunk.page].update(
                    chunk.start + match.start() for match in re.finditer(mark, chunk.text)
                )
    return {page: tuple(_paired(starts, closed[page])) for page, starts in opened.items()}


def _paired(starts: set[int], ends: set[int]) -> Iterator[Span]:
    """Pair each beginning with the next end; one that has none hides nothing."""
    ordered = sorted(ends)
    until = -1
    for start in sorted(starts):
        place = bisect_right(ordered, start)
        if start >= until and place < len(ordered):
            until = ordered[place] + len("-->")
            yield start, until

"""Readings: texts of a few sentences taken apart, each word with its sentence and its neighbours.

Two words stand in the same place if the words that carry meaning on both sides of them are shared.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final

from evidentia.language.characters import Span
from evidentia.language.sentences import sentence_spans
from evidentia.language.statements import Statement
from evidentia.language.words import coverage

LONGEST: Final = 4_000
"""How many code points of a claim or a passage are read."""
_NEAR: Final = 2
_FAR: Final = 3
"""How many words on each side count as neighbours, in a claim and in a passage."""


class Reading(Statement):
    """A text as it stands, so that a place in its words is a place in the text."""

    def __init__(self, text: str) -> None:
        super().__init__("")
        self.text = text[:LONGEST]

    @cached_property
    def sentences(self) -> tuple[int, ...]:
        """For each word, the number of the sentence it stands in."""
        ends = [end for _, end in sentence_spans(self.text)]
        found, at = [], 0
        for word in self.words:
            while at < len(ends) - 1 and word.start >= ends[at]:
                at += 1
            found.append(at)
        return tuple(found)

    @cached_property
    def content(self) -> tuple[bool, ...]:
        """For each word, whether it carries meaning and does not turn the sentence round."""
        return tuple(word.is_content and not word.negates for word in self.words)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """Where each stem stands, as numbers of words."""
        found: dict[str, list[int]] = {}
        for at, word in enumerate(self.words):
            found.setdefault(word.stem, []).append(at)
        return found

    @cached_property
    def sentence_stems(self) -> dict[int, frozenset[str]]:
        """The stems that carry meaning, by sentence."""
        found: dict[int, set[str]] = {}
        for word, number, telling in zip(self.words, self.sentences, self.content, strict=True):
            stems = found.setdefault(number, set())
            if telling:
                stems.add(word.stem)
        return {number: frozenset(stems) for number, stems in found.items()}

    def before(self, at: int, most: int) -> list[str]:
        """Return the nearest stems that carry meaning before a word, in its sentence."""
        return list(islice(self._walk(range(at - 1, -1, -1), at), most))

    def after(self, at: int, most: int) -> list[str]:
        """Return the nearest stems that carry meaning behind a word, in its sentence."""
        return list(islice(self._walk(range(at + 1, len(self.words)), at), most))

    def _walk(self, way: range, at: int) -> Iterator[str]:
        own = self.sentences[at]
        for place in way:
            if self.sentences[place] != own:
                return
            if self.content[place]:
                yield self.words[place].stem

    def span(self, first: int, last: int | None = None) -> Span:
        """Return where a word, or a run of words, stands in the text."""
        return self.words[first].start, self.words[first if last is None else last].end

    def said(self, span: Span | None) -> str:
        """Return a span's text on one line."""
        return " ".join(self.text[slice(*span)].split()) if span else ""

    def run_at(self, span: Span) -> Span | None:
        """Return the numbers of the first and last word of a span; None if it has no word."""
        first = bisect_right(self.words, span[0], key=lambda word: word.end)
        last = bisect_left(self.words, span[1], key=lambda word: word.start) - 1
        return (first, last) if first <= last else None


@lru_cache(maxsize=4_096)
def read(text: str) -> Reading:
    """Return a text taken apart; the same text gives the same object."""
    return Reading(text)


def covers(claim: Reading, at: int, evidence: Reading, there: int, least: float) -> bool:
    """Whether the sentence of the passage has that part of what else the claim's says."""
    wanted = claim.sentence_stems[claim.sentences[at]] - {claim.words[at].stem}
    return coverage(wanted, evidence.sentence_stems[evidence.sentences[there]]) >= least


def same_place(claim: Reading, first: Span, evidence: Reading, there: Span) -> bool:
    """Whether two runs of words stand between the same words.

    At the beginning or the end of a sentence, two words of the other side must be shared.
    """
    left, right = claim.before(first[0], _NEAR), claim.after(first[1], _NEAR)
    lefts = set(evidence.before(there[0], _FAR)) & set(left)
    rights = set(evidence.after(there[1], _FAR)) & set(right)
    if left and right:
        return bool(lefts and rights)
    return len(lefts) + len(rights) >= _NEAR

"""Statements: a sentence taken apart once, for every judge that reads it.

What a passage says in one sentence and what it says in the next are not mixed: each is a statement
by itself. A list item is read with the line that leads its list in, so that "Employees do not get:"
is not lost on it. What is too long for a sentence is none, and nothing is said of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import zip_longest
from typing import Final

from evidentia.language.lexicon import ENGLISH, POINTING, any_of
from evidentia.language.markup import plain_text
from evidentia.language.numerals import find_quantities
from evidentia.language.quantities import Quantity
from evidentia.language.sentences import LIST_MARKER, sentence_spans
from evidentia.language.words import Word, content_stems, negations, words

LONGEST_SENTENCE: Final = 2_000
"""How many code points a claim or a sentence has at most; the longest in law stay below."""
_POINTS_BACK = re.compile(rf"(?:{any_of(POINTING)})\b", re.IGNORECASE)

_TAKES_BACK = re.compile(
    r"(?:however|but|exceptions?|this|that|these|they|it|the above|such)\b[^.;\n]{0,120}?"
    r"\b(?:only|except\w*|unless|not apply|no longer|not valid|subject to|provided that)\b"
    r"|(?:except|unless|only)\b",
    re.IGNORECASE,
)
"""How a sentence begins that takes back a part of what the one before it says."""


class Statement:
    """A sentence as a reader sees it: its words, what they are about, its quantities.

    Does not change; what is asked of it is worked out once.
    """

    def __init__(self, text: str) -> None:
        self.text = plain_text(text)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """Its words and numbers, in order."""
        return words(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words that carry meaning."""
        return content_stems(self.words)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers as they are written in digits."""
        return frozenset(word.stem for word in self.words if word.is_number)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its quantities and dates, as values."""
        return find_quantities(self.text)

    @cached_property
    def negations(self) -> int:
        """How many of its words turn it round."""
        return negations(self.text, self.words)

    @cached_property
    def is_english(self) -> bool:
        """Whether it has a word by which English is known."""
        return any(word.text in ENGLISH for word in self.words)


@lru_cache(maxsize=16_384)
def read_statement(text: str) -> Statement:
    """Return a sentence taken apart; the same text gives the same object."""
    return Statement(text)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage: what it says, and what else it is about.

    `about` are the stems of its heading, and of the sentence before it if it points back to that;
    `limited` tells whether the sentence behind it takes back a part of what it says.
    """

    said: Statement
    about: frozenset[str]
    heading: Statement
    limited: bool = False


@lru_cache(maxsize=8_192)
def read_sentences(text: str, context: str = "", heading: str = "") -> tuple[Sentence, ...]:
    """Return the sentences of a passage, which may stand in a list that `context` leads in."""
    return tuple(_sentences(text, context, read_statement(heading)))


def _sentences(text: str, context: str, heading: Statement) -> Iterator[Sentence]:
    before: frozenset[str] = frozenset()
    spans = sentence_spans(text)
    for (start, end), (following, _) in zip_longest(spans, spans[1:], fillvalue=(len(text), 0)):
        if end - start > LONGEST_SENTENCE:
            continue
        marker = LIST_MARKER.match(text, start, end)
        piece = text[marker.end() if marker else start : end]
        said = read_statement(f"{context} {piece}" if marker and context else piece)
        points_back = _POINTS_BACK.match(said.text) is not None
        about = heading.stems | before if points_back else heading.stems
        yield Sentence(said, about, heading, _TAKES_BACK.match(text, following) is not None)
        before = said.stems

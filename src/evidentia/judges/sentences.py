"""A passage's sentences as judges read them: one at a time, each with what leads it in.

What a passage says in one sentence and what it says in the next are not mixed: each sentence is
judged by itself, and the best of what is said of them is said of the passage. A list item is read
with the line that leads its list in, so that "Employees do not get:" is not lost on it. What is too
long for a sentence is none, and nothing is said of it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import Final

from evidentia.language.sentences import sentence_spans
from evidentia.language.statements import Statement, read_statement
from evidentia.ledger.model import Passage

LONGEST: Final = 2_000
"""How many code points a claim or a sentence has at most; the longest in law stay below."""
_MARKER = re.compile(r"\s*(?:[-*+•‣◦▪]|\d{1,3}[.)]|\(?[a-z]\))\s+")
_POINTS_BACK = re.compile(r"(?:it|they|he|she|this|these|those|such|its|their)\b", re.IGNORECASE)

_TAKES_BACK = re.compile(
    r"(?:however|but|exceptions?|this|that|these|they|it|the above|such)\b[^.;\n]{0,120}?"
    r"\b(?:only|except\w*|unless|not apply|no longer|not valid|subject to|provided that)\b"
    r"|(?:except|unless|only)\b",
    re.IGNORECASE,
)
"""How a sentence begins that takes back a part of what the one before it says."""


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


def read_sentences(passage: Passage) -> tuple[Sentence, ...]:
    """Return the sentences of a passage."""
    heading = passage.source.heading_path[-1] if passage.source.heading_path else ""
    return _read(passage.snippet, passage.context, heading)


@lru_cache(maxsize=8_192)
def _read(snippet: str, context: str, heading: str) -> tuple[Sentence, ...]:
    return tuple(_sentences(snippet, context, read_statement(heading)))


def _sentences(text: str, context: str, heading: Statement) -> Iterator[Sentence]:
    before: frozenset[str] = frozenset()
    spans = sentence_spans(text)
    for (start, end), (following, _) in zip_longest(spans, spans[1:], fillvalue=(len(text), 0)):
        if end - start > LONGEST:
            continue
        marker = _MARKER.match(text, start, end)
        piece = text[marker.end() if marker else start : end]
        said = read_statement(f"{context} {piece}" if marker and context else piece)
        points_back = _POINTS_BACK.match(said.text) is not None
        about = heading.stems | before if points_back else heading.stems
        yield Sentence(said, about, heading, _TAKES_BACK.match(text, following) is not None)
        before = said.stems

"""A passage's sentences as judges read them: one at a time, each with what leads it in.

What a passage says in one sentence and what it says in the next are not mixed: each sentence is
judged by itself, and the best of what is said of them is said of the passage. A list item is read
with the line that leads its list in, so that "Employees do not get:" is not lost on it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from evidentia.documents.sentences import sentence_spans
from evidentia.ledger.model import Passage
from evidentia.ledger.statements import Statement, read_statement

_MARKER = re.compile(r"\s*(?:[-*+•‣◦▪]|\d{1,3}[.)]|\(?[a-z]\))\s+")
_POINTS_BACK = re.compile(r"(?:it|they|he|she|this|these|those|such|its|their)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a passage: what it says, and what else it is about.

    `about` are the stems of its heading, and of the sentence before it if it points back to that.
    """

    said: Statement
    about: frozenset[str]


def read_sentences(passage: Passage) -> tuple[Sentence, ...]:
    """Return the sentences of a passage."""
    heading = passage.source.heading_path[-1] if passage.source.heading_path else ""
    return _read(passage.snippet, passage.context, heading)


@lru_cache(maxsize=8_192)
def _read(snippet: str, context: str, heading: str) -> tuple[Sentence, ...]:
    return tuple(_sentences(snippet, context, read_statement(heading).stems))


def _sentences(text: str, context: str, heading: frozenset[str]) -> Iterator[Sentence]:
    before: frozenset[str] = frozenset()
    for start, end in sentence_spans(text):
        marker = _MARKER.match(text, start, end)
        piece = text[marker.end() if marker else start : end]
        said = read_statement(f"{context} {piece}" if marker and context else piece)
        points_back = _POINTS_BACK.match(said.text) is not None
        yield Sentence(said, heading | before if points_back else heading)
        before = said.stems

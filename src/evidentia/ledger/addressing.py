"""Addressing: what "you" stands for where an answer speaks to its reader.

An answer says "you are entitled to", a document "all employees are entitled to". Where a passage
speaks of those whom such rules are for, "you" is read as them when the two are compared; the
claim's text stays, and whoever reads the result is told of the reading. Of a manager, a landlord or
a seller nobody knows whether "you" are one: what is said of them is said of "you" in part at most.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from evidentia.language.clauses import main_clause
from evidentia.language.lexicon import PERSONS, READERS
from evidentia.language.markup import plain_text
from evidentia.language.sentences import split_sentences
from evidentia.language.subjects import find_subject, head_of
from evidentia.language.words import stem
from evidentia.ledger.model import Passage

_YOU = re.compile(r"you\b(?=\s)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_BEFORE_WHO = re.compile(r"([^,;:]{1,90}?)\s+who\b", re.IGNORECASE)
_FIRST_WORDS: Final = 4


@dataclass(frozen=True, slots=True)
class Addressed:
    """Whom a passage speaks of, in its own word, and whether that is whom its rules are for."""

    name: str
    is_reader: bool

    @property
    def kind(self) -> str:
        """What stays the same where others write "staff" or "worker"."""
        return stem(self.name)


def addresses_reader(claim: str) -> bool:
    """Whether a claim's main clause has "you" as its subject."""
    return _YOU.match(main_clause(claim)) is not None


def addressed_by(passage: Passage) -> Addressed | None:
    """Return whom a passage speaks of, if it speaks of persons."""
    return next(_persons(passage), None)


def with_reader(claim: str, reader: str) -> str:
    """Return a claim that addresses its reader with the reader named.

    >>> with_reader("If you fall ill, you must call", "employees")
    'If you fall ill, employees must call'
    """
    begins = len(claim) - len(main_clause(claim))
    named = reader if begins else reader.capitalize()
    return claim[:begins] + _YOU.sub(named, claim[begins:], count=1)


def _persons(passage: Passage) -> Iterator[Addressed]:
    """Give the persons that the passage's sentences are about.

    Where no verb is known, the first words may name them; that is enough to know that it may be
    others than the reader, and not that it is the reader.
    """
    for sentence in map(plain_text, (passage.context, *split_sentences(passage.snippet))):
        before_who = _BEFORE_WHO.match(sentence)
        subject = before_who[1] if before_who else find_subject(sentence)
        heads = [head_of(subject)] if subject else _WORD.findall(sentence.lower())[:_FIRST_WORDS]
        for head in heads:
            name = head if head in READERS else head.removesuffix("s")
            if name in READERS and subject:
                yield Addressed(head, is_reader=True)
            elif name in PERSONS - READERS:
                yield Addressed(head, is_reader=False)

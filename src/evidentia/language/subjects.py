"""Subjects: on which verb a clause is built, and what it is about.

Many a word is a verb here and a noun there ("pay", "cost", "cover"). One is taken for a clause's
verb only where it agrees with the noun before it, stands behind no article, and belongs to no
clause within the subject ("employees who are ill must call", "the price you pay is fixed"). Where
no verb is known, one may be seen by its ending between a noun and an object.
"""

import re
from collections.abc import Sequence
from typing import Final

from evidentia.language.characters import Span
from evidentia.language.finite import AUXILIARY, FINITE
from evidentia.language.lexicon import (
    CARDINALS,
    DETERMINERS,
    PREPOSITIONS,
    STOP_WORDS,
    TIMES,
    word_set,
)
from evidentia.language.words import is_plural

WORD: Final = re.compile(r"[^\W_]+(?:['\u2019.&/-][^\W_]+)*")
_BREAK = re.compile(r"[,;:]\s")
_NO_SUBJECT = re.compile(
    r"(?:it|they|this|these|that|those|he|she|there|here|if|when|as|in|on|at|for|under|by|after|"
    r"before|to|what|who|which|how|why|where|what(?:so)?ever|who(?:so)?ever|whichever|and|or|but|"
    r"please|not|so)\b",
    re.IGNORECASE,
)
_ADVERB = re.compile(r"(?:\w{2,}ly|also|then|now|not|never|always|often|just|only|still|already)")
_SUBORDINATE: Final = word_set("who which that whom whose where when if unless because what how")
_ARTICLES: Final = word_set("the a an my our your their his its")
_PLURAL_PRONOUNS: Final = word_set("i you we they and")
_AFTER_VERB: Final = word_set("in on at to from with for within back up out")
"""What may follow a verb without an object, and a noun too."""
_LONGEST_SUBJECT: Final = 10
_LONGEST: Final = 90
_HEAD_ENDS = re.compile(
    r"\s+(?:of|for|in|on|at|by|with|from|under|to|who|which|that|whose|within)(?:\s|$)",
    re.IGNORECASE,
)


def find_subject(clause: str) -> str | None:
    """Return what a clause is about: the words before its verb, if that is plain to see."""
    verb = main_verb(clause, surely=True)
    if verb is None or _NO_SUBJECT.match(clause):
        return None
    words = clause[: verb[0]].split()
    while words and _ADVERB.fullmatch(words[-1].lower()):
        words.pop()
    named = bool(words) and words[-1].lower() not in DETERMINERS | PREPOSITIONS
    return " ".join(words) if named and len(words) <= _LONGEST_SUBJECT else None


def head_of(subject: str) -> str:
    """Return the word that a subject is about: "employees" of "all permanent employees who"."""
    return _HEAD_ENDS.split(subject, maxsplit=1)[0].split()[-1].lower()


def main_verb(clause: str, *, surely: bool = False) -> Span | None:
    """Return where the verb stands that a clause is built on, if it can be told.

    Of "the firm sits in Cork" it can only if this is known to be a clause: it may be like "the
    opening hours in Cork". Where that is not so, ask for what is `surely` a verb.

    >>> clause = "Sick pay entitlements are counted"
    >>> first, last = main_verb(clause)
    >>> clause[first:last]
    'are'
    """
    end = _BREAK.search(clause)
    within = clause[: min(end.start() if end else len(clause), _LONGEST)]
    found = list(WORD.finditer(within))
    said = [word[0] for word in found]
    at = _known_verb(said)
    at = _likely_verb(said, surely=surely) if at is None else at
    return None if at is None else found[at].span()


def agrees(noun: str, verb: str) -> bool:
    """Whether a verb's form goes with a noun or pronoun before it, both in lower case."""
    if verb.endswith(("ed", "ew")) or verb in {"rose", "fell", "began", "means"}:
        return True
    several = is_plural(noun) or noun in _PLURAL_PRONOUNS
    return several != is_plural(verb)


def _known_verb(said: Sequence[str]) -> int | None:
    """Return the first verb that is known and belongs to no clause within the subject."""
    waiting = 0
    in_verb = False
    for at, word in enumerate(said):
        lower = word.lower()
        if _is_verb(said, at):
            if not waiting and not in_verb:
                return at
            waiting -= waiting > 0 and not in_verb
            in_verb = AUXILIARY.fullmatch(word) is not None
        elif not _ADVERB.fullmatch(lower):
            in_verb = False
            waiting += at > 0 and _begins_clause(said[at - 1].lower(), lower)
    return None


def _begins_clause(before: str, word: str) -> bool:
    """Whether a clause begins within a subject: "the price which", "the price the government"."""
    if word in _SUBORDINATE:
        return True
    return word in _ARTICLES and not (
        before in STOP_WORDS or before in PREPOSITIONS or before in DETERMINERS
    )


def _is_verb(said: Sequence[str], at: int) -> bool:
    """Whether a word that is known as a verb is one here."""
    word = said[at]
    if not at or not FINITE.fullmatch(word) or (word == "May" and said[at + 1 : at + 2]):
        return False
    before = [other.lower() for other in said[:at]]
    if before[-1] in _ARTICLES or before[-1] == "to":
        return False
    if AUXILIARY.fullmatch(word) and word.lower() != "need":
        return True
    nouns = [other for other in before if not _ADVERB.fullmatch(other)]
    if not nouns or nouns[-1] in DETERMINERS | PREPOSITIONS or not nouns[-1][0].isalpha():
        return False
    return any(agrees(noun, word.lower()) for noun in (nouns[-1], head_of(" ".join(nouns))))


def _likely_verb(said: Sequence[str], *, surely: bool) -> int | None:
    """Return the first word that looks like a verb between a noun and its object."""
    lower = [word.lower() for word in said]
    for at in range(1, len(lower) - 1):
        nouns = [word for word in lower[:at] if not _ADVERB.fullmatch(word)]
        if not nouns or not _is_likely(nouns[-1], said[at], lower[at + 1]):
            continue
        alone = len(nouns) == 1 or nouns[-2] in DETERMINERS or is_plural(lower[at])
        if lower[at + 1] in _AFTER_VERB:
            if not surely and (at > 1 or said[0].islower()):
                return at
        elif alone or not surely:
            return at
    return None


def _is_likely(noun: str, word: str, following: str) -> bool:
    """Whether a word may be the verb of the noun before it, by what follows.

    One that does not end in -s may also be the object of an unknown verb: "the device runs
    firmware 5".
    """
    lower = word.lower()
    if not (_is_noun(noun) and _is_noun(lower)) or word[0].isupper():
        return False
    before_object = following in DETERMINERS or following in CARDINALS or following[0].isdigit()
    if lower.endswith("ed"):
        return before_object
    if lower.endswith(("ing", "ly")) or not agrees(noun, lower):
        return False
    return before_object or (following in _AFTER_VERB and is_plural(lower))


def _is_noun(word: str) -> bool:
    return word.isalpha() and word not in STOP_WORDS | PREPOSITIONS | TIMES

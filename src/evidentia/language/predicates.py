"""Predicates: whether a piece of text says something by itself, or is but a fragment.

English has more verbs than any list. Beside those that are known, a word is taken for a verb by its
ending and by what stands before and behind it: "the manager decides on", "managers approve the",
"the head approved the". In other languages a piece that ends like a sentence is one, unless it
begins with a number.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from evidentia.language.finite import FINITE, has_verb
from evidentia.language.lexicon import DETERMINERS, STOP_WORDS, word_set
from evidentia.language.statements import read_statement
from evidentia.language.words import is_plural

_ENDS = re.compile(r"[.!。\u06d4।…][\"'”\u2019»)\]]*$")
_CLAUSE = re.compile(r"[,;:]\s+")
_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_SUBORDINATE: Final = word_set(
    "who whom whose which if unless when whenever where because although though"
)
"""Words whose clause has a verb of its own, which is not the sentence's."""
_BEFORE_OBJECT: Final = DETERMINERS | word_set("these those all some another both whether how what")
"""How an object begins: behind a verb, and hardly behind a noun."""
_AFTER_NOUN: Final = word_set("of per by who whom whose which that and or")
"""What goes on from a noun or a participle rather than from a verb."""
_TIMES: Final = word_set("days weeks months years hours minutes times percent")
_LONGEST: Final = 300
_LONGEST_SUBJECT: Final = 8
_SHORT: Final = 3


def says_something(text: str) -> bool:
    """Whether a piece is a sentence of its own and no fragment.

    >>> says_something("The line manager decides on an application within 10 working days")
    True
    >>> says_something("15 days for employees who have been here for a year")
    False
    """
    if has_main_verb(text):
        return True
    finished = _ENDS.search(text) is not None
    statement = read_statement(text)
    if not statement.is_english:
        return finished and len(statement.words) > _SHORT and not text[0].isdigit()
    return any(_has_predicate(clause, finished=finished) for clause in _clauses(text))


def has_main_verb(text: str) -> bool:
    """Whether a piece has a verb that is known, has a subject, and belongs to no clause within."""
    return has_verb(text) and any(
        _rules(clause, begins=at == 0) for at, clause in enumerate(_clauses(text))
    )


def _clauses(text: str) -> Iterator[list[str]]:
    """Give the words of what commas and the like part."""
    for clause in _CLAUSE.split(text[:_LONGEST]):
        yield _WORD.findall(clause)


def _rules(clause: Sequence[str], *, begins: bool) -> bool:
    """Whether a verb in a clause is neither a subordinate clause's, nor an infinitive or a noun.

    A verb that begins the whole piece has no subject.
    """
    waiting = in_verb = False
    for at, word in enumerate(clause):
        before = clause[at - 1].lower() if at else ""
        is_verb = FINITE.fullmatch(word) is not None and not (
            before == "to"
            or (before in DETERMINERS and word not in STOP_WORDS)
            or word == "May"  # the month
            or (begins and at == 0)
        )
        if is_verb and not waiting and not in_verb:
            return True
        in_verb = is_verb
        waiting = word.lower() in _SUBORDINATE or (waiting and not is_verb)
    return False


def _has_predicate(clause: Sequence[str], *, finished: bool) -> bool:
    """Whether a word looks like the verb of the words before it, and something follows it."""
    if not clause or clause[0][0].isdigit():
        return False
    said = [word.lower() for word in clause]
    named = said[0] in DETERMINERS
    for at in range(1, min(len(said) - 1, _LONGEST_SUBJECT)):
        noun = next((word for word in reversed(said[:at]) if not _is_adverb(word)), "")
        if _is_noun(noun) and _is_predicate(
            noun, said[at], said[at + 1], named=named, finished=finished
        ):
            return True
    return False


def _is_predicate(noun: str, word: str, following: str, *, named: bool, finished: bool) -> bool:
    """Whether a word is a verb between a noun and what follows.

    Before an object it surely is. Before anything else it may be a noun or a participle, so that
    the piece must begin with an article or end with a full stop, and a participle with both.
    """
    if not _is_noun(word) or following in _AFTER_NOUN:
        return False
    before_object = following in _BEFORE_OBJECT
    if word.endswith("ed"):
        return before_object or (named and finished)
    if is_plural(noun) == is_plural(word) or word.endswith(("ing", "ly")):
        return False  # "managers decide", "a manager decides"
    if is_plural(noun):
        return before_object or (finished and following in STOP_WORDS)
    return before_object or named or finished


def _is_noun(word: str) -> bool:
    return word.isalpha() and word not in STOP_WORDS and word not in _TIMES


def _is_adverb(word: str) -> bool:
    return word.endswith("ly") or word in {"also", "then", "now", "always", "never", "often"}

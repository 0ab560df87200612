"""Negation: where a sentence says a claim's own words, and one of the two with a "not".

Only where both have the same words and numbers in the same order, one negation apart, and nothing
limits what the sentence says. What is denied of all is refuted by a sentence that says it of a
kind; what is denied of a kind refutes nothing. Opposites ("allowed", "prohibited") count as a
negation, and so does "it is false that".
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from evidentia.judges.provisos import DENIED, Provisos
from evidentia.language.clauses import FINITE
from evidentia.language.measures import read_measures
from evidentia.language.statements import Statement, read_statement
from evidentia.language.words import stem

_OPPOSITES: Final = {
    stem(negative): stem(positive)
    for positive, negatives in (
        ("allowed", ("prohibited", "forbidden", "banned", "disallowed")),
        ("paid", ("unpaid",)),
        ("included", ("excluded",)),
        ("mandatory", ("optional", "voluntary")),
        ("legal", ("illegal",)),
        ("valid", ("invalid",)),
        ("eligible", ("ineligible",)),
        ("possible", ("impossible",)),
        ("increased", ("decreased",)),
        ("open", ("closed",)),
    )
    for negative in negatives
}
_PLACES: Final = tuple((stem(place), stem("outside")) for place in ("in", "inside", "within"))
_FALSE = re.compile(
    r"(?:it is|it's) (?:false|untrue|incorrect|wrong|not (?:true|correct|the case)|a myth) that ",
    re.IGNORECASE,
)
_NO_DUTY = re.compile(
    r"\bneed not\b|\bneedn't\b|\bnot (?:required|obliged|mandatory|necessary)\b"
    r"|\b(?:do|does)(?: not|n't) (?:have|need) to\b",
    re.IGNORECASE,
)
"""What denies a duty and leaves the thing itself allowed."""
_DENYING = re.compile(
    r"\bno longer\b|\bneed not\b|\b(?:do|does)(?: not|n't) need to\b", re.IGNORECASE
)
"""Negations of two words and more, which say nothing by themselves."""
_LEAST_WORDS: Final = 2
_SOFT: Final = frozenset({"should", "might"})


@dataclass(frozen=True, slots=True)
class _Turned:
    """A sentence's telling words without what turns them round, and how often they are turned."""

    stems: tuple[str, ...]
    turns: int


def is_turned_round(claim: Statement, said: Statement, provisos: Provisos) -> bool:
    """Whether the two say the same, one with a negation and the other without."""
    called_false = _FALSE.match(said.text)
    known = (DENIED,) if called_false else ()
    if provisos.limits or provisos.denies != known or _SOFT & set(provisos.forces):
        return False
    if _denied_parts(claim) != _denied_parts(said) or _counts_some(claim):
        return False
    if _leaves_it_open(claim, said) or _leaves_it_open(said, claim):
        return False
    claimed = _read(claim)
    there = _read(read_statement(said.text[called_false.end() :]) if called_false else said)
    turns = claimed.turns, there.turns + (1 if called_false else 0)
    if set(turns) != {0, 1} or _numbers(claim) != _numbers(said):
        return False
    refines = turns[0] == 1 and claim.is_english and said.is_english
    return len(claimed.stems) >= _LEAST_WORDS and (
        claimed.stems == there.stems or (refines and _is_kind(claimed.stems, there.stems))
    )


@lru_cache(maxsize=16_384)
def _denied_parts(statement: Statement) -> int:
    """Count what denies a part of a sentence and not the whole: "non-permanent", "without"."""
    return sum(word.text in {"non", "without"} for word in statement.words)


@lru_cache(maxsize=16_384)
def _counts_some(statement: Statement) -> bool:
    """Whether a sentence counts whom it is about: that "5 users" do is not denied of 5 others."""
    verb = FINITE.search(statement.text)
    return any(verb and found.end <= verb.start() for found in statement.quantities)


def _leaves_it_open(first: Statement, second: Statement) -> bool:
    """Whether one denies a duty that the other does not speak of."""
    return bool(_NO_DUTY.search(first.text)) and not re.search(
        r"\b(?:must|shall|required|requires?|mandatory)\b", second.text, re.IGNORECASE
    )


def are_opposed(first: Statement, second: Statement) -> bool:
    """Whether one has a word and the other its opposite: "paid", "unpaid"."""
    here, there = _all_stems(first), _all_stems(second)
    return any(
        {one, other} <= here ^ there and (one in here) != (other in here)
        for one, other in (*_OPPOSITES.items(), *_PLACES)
    )


@lru_cache(maxsize=16_384)
def _all_stems(statement: Statement) -> frozenset[str]:
    return frozenset(word.stem for word in statement.words)


@lru_cache(maxsize=16_384)
def _read(statement: Statement) -> _Turned:
    denying = [match.span() for match in _DENYING.finditer(statement.text)]
    telling = [
        word.stem
        for word in statement.words
        if word.is_content
        and not word.negates
        and not any(low <= word.start < high for low, high in denying)
    ]
    opposites = sum(name in _OPPOSITES for name in telling)
    return _Turned(
        tuple(_OPPOSITES.get(name, name) for name in telling),
        statement.negations - _denied_parts(statement) + opposites,
    )


def _numbers(statement: Statement) -> list[str]:
    """Return the numbers that are names, and how many quantities there are: "Python 3.9"."""
    return [*sorted(read_measures(statement.text).numbers), *("" for _ in statement.quantities)]


def _is_kind(claimed: tuple[str, ...], there: tuple[str, ...]) -> bool:
    """Whether one word more stands among the claim's own, behind the first and before the last."""
    return any(claimed == there[:at] + there[at + 1 :] for at in range(2, len(there) - 1))

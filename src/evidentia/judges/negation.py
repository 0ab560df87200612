"""Negation: where a sentence says a claim's own words, and one of the two with a "not".

Only where both have nearly the same words in the same order, one negation apart, and nothing
limits what the sentence says. Opposites ("allowed", "prohibited") count as a negation, and so does
"it is false that".
"""

import re
from dataclasses import dataclass
from typing import Final

from evidentia.judges.provisos import DENIED, Provisos
from evidentia.ledger.statements import Statement, read_statement
from evidentia.ledger.words import stem

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
    if any(word.text == "non" for word in (*claim.words, *said.words)):
        return False  # what is said of the non-permanent denies nothing of the permanent
    if _leaves_it_open(claim, said) or _leaves_it_open(said, claim):
        return False
    claimed = _read(claim)
    there = _read(read_statement(said.text[called_false.end() :]) if called_false else said)
    extra = len(there.stems) - len(claimed.stems)
    room = 1 if claim.is_english and said.is_english else 0
    turns = {claimed.turns, there.turns + (1 if called_false else 0)}
    return (
        turns == {0, 1}
        and len(claimed.stems) >= _LEAST_WORDS
        and 0 <= extra <= room
        and _in_order(claimed.stems, there.stems)
    )


def _leaves_it_open(first: Statement, second: Statement) -> bool:
    """Whether one denies a duty that the other does not speak of."""
    return bool(_NO_DUTY.search(first.text)) and not re.search(
        r"\b(?:must|shall|required|requires?|mandatory)\b", second.text, re.IGNORECASE
    )


def _read(statement: Statement) -> _Turned:
    telling = [word.stem for word in statement.words if word.is_content and not word.negates]
    opposites = sum(name in _OPPOSITES for name in telling)
    return _Turned(
        tuple(_OPPOSITES.get(name, name) for name in telling), statement.negations + opposites
    )


def _in_order(wanted: tuple[str, ...], there: tuple[str, ...]) -> bool:
    """Whether the wanted stems stand there in their order."""
    rest = iter(there)
    return all(name in rest for name in wanted)

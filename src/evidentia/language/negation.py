"""Negation: what a text denies, and where two say the same words, one of them with a "not".

Two texts turn each other round only where both have the same words and numbers in the same order,
one negation apart. What is denied of all is refuted by a sentence that says it of a kind; what is
denied of a kind refutes nothing. Opposites ("allowed", "prohibited") count as a negation, and so
does "it is false that".
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from evidentia.language.characters import Span
from evidentia.language.finite import FINITE
from evidentia.language.lexicon import BOUNDING, word_set
from evidentia.language.measures import read_measures
from evidentia.language.opposites import PLACES, TURNED
from evidentia.language.readings import Reading, read
from evidentia.language.statements import Statement, read_statement
from evidentia.language.turns import DENYING

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
_CUES: Final = re.compile(
    rf"\b(?:{DENYING}|refus(?:e|es|ed|ing) to|unable to|without|no longer|absence of"
    r"|stop(?:s|ped)? short of|prevent(?:s|ed|ing)?(?: \w+){1,2} from)\b",
    re.IGNORECASE,
)
"""What denies what follows without a "not"."""
_DENIES_NOTHING: Final = re.compile(
    rf"\b{BOUNDING}\b|\b(?:no|not) (?:only|just|merely|simply|necessarily|always|all|every|until"
    r"|yet|far|even|unlike|least|one of|to be confused)\b"
    r"|\bno\.\s?\d|\b(?:or|if|why) (?:no|not)\b|\bnon\b|\b(?:none|nobody|nothing|nowhere)\b",
    re.IGNORECASE,
)
"""Turns of phrase with a "no" or "not" that deny nothing, or a part only."""
_SKIPPED: Final = word_set(
    "been being have has had be to a an the any yet ever really actually also"
)
_JOINTS: Final = word_set("but and or that which who because")
_QUOTES: Final = " \t\n-'\"\u2018\u201c`"
_REACH: Final = 4
_LEAST_WORDS: Final = 2


@dataclass(frozen=True, slots=True)
class _Turned:
    """A sentence's telling words without what turns them round, and how often they are turned."""

    stems: tuple[str, ...]
    turns: int


def is_called_false(text: str) -> bool:
    """Whether a sentence says of all that it says that it is not so: "it is false that"."""
    return _FALSE.match(text) is not None


def is_turned_round(claim: Statement, said: Statement) -> bool:
    """Whether the two say the same, one with a negation and the other without.

    Whether anything limits what the sentence says is for the caller to look at.
    """
    called_false = _FALSE.match(said.text)
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
        for one, other in (*TURNED.items(), *PLACES)
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
    opposites = sum(name in TURNED for name in telling)
    return _Turned(
        tuple(TURNED.get(name, name) for name in telling),
        statement.negations - _denied_parts(statement) + opposites,
    )


def _numbers(statement: Statement) -> list[str]:
    """Return the numbers that are names, and how many quantities there are: "Python 3.9"."""
    return [*sorted(read_measures(statement.text).numbers), *("" for _ in statement.quantities)]


def _is_kind(claimed: tuple[str, ...], there: tuple[str, ...]) -> bool:
    """Whether one word more stands among the claim's own, behind the first and before the last."""
    return any(claimed == there[:at] + there[at + 1 :] for at in range(2, len(there) - 1))


@lru_cache(maxsize=4_096)
def denied(text: str) -> dict[int, Span]:
    """Return the words that a text denies, by number, each with the span of what denies it."""
    reading = read(text)
    harmless = [match.span() for match in _DENIES_NOTHING.finditer(reading.text)]
    cues = [match.span() for match in _CUES.finditer(reading.text)]
    cues += [(word.start, word.end) for word in reading.words if word.negates]
    found: dict[int, Span] = {}
    for start, end in cues:
        if any(low <= start < high for low, high in harmless):
            continue
        run = reading.run_at((start, end))
        target = _target(reading, run[1]) if run else None
        if target is not None:
            found.setdefault(target, (start, end))
    return found


def _target(reading: Reading, cue: int) -> int | None:
    """Return the first word that carries meaning behind a denial and is no adverb."""
    own = reading.sentences[cue]
    for at in range(cue + 1, min(cue + 1 + _REACH, len(reading.words))):
        word = reading.words[at]
        if reading.sentences[at] != own or _is_parted(reading, at):
            return None
        if reading.content[at] and word.text not in _SKIPPED and not word.text.endswith("ly"):
            return at
    return None


def _is_parted(reading: Reading, at: int) -> bool:
    """Whether a mark or a joint stands before a word."""
    between = reading.text[reading.words[at - 1].end : reading.words[at].start]
    return reading.words[at].text in _JOINTS or bool(between.strip(_QUOTES))

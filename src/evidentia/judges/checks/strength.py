"""Quantifiers and modals: where a claim says more than the passage does, or the opposite.

"All employees" says more than "some employees", and "must" more than "may". What says less, or as
much, agrees.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from evidentia.judges.checks.model import Check, CheckKind, agrees, differs
from evidentia.language.lexicon import (
    AMOUNTS,
    DENIED_FORCES,
    FORCES,
    FREQUENCIES,
    NOT,
    ONLY,
    UNSURE,
    word_set,
)
from evidentia.language.measures import quantities_of
from evidentia.language.negation import denied
from evidentia.language.readings import Reading, covers, read

_NOT_COUNTED: Final = re.compile(
    r"\b(?:at most|most likely|no longer|all over|at all|first of all|a few|each other"
    r"|one of the most|the most|some \d|(?:no|not) \w+ than)\b",
    re.IGNORECASE,
)
_WORDS: Final = frozenset({**AMOUNTS, **FREQUENCIES, **FORCES})
_PARTICIPLES: Final = word_set("allowed permitted prohibited forbidden banned required obliged")
"""Modals only before a "to" or "from"."""
_BOUNDS: Final = {"at_least": 1, "more_than": 1, "at_most": -1, "less_than": -1}
_REACH: Final = 3
_HALF, _MOST = 0.5, 0.65


@dataclass(frozen=True, slots=True)
class _Operator:
    """A word that says how many, how often or with what force, and the word it says it of."""

    at: int
    of: int
    scale: str
    strength: int
    denied: bool = False


def strength_checks(claim: Reading, evidence: Reading) -> Iterator[Check]:
    """Compare quantifiers, bounds and modals that are of the same word."""
    for one in _operators(claim.text):
        found = [
            _compared(claim, one, evidence, other)
            for other in _operators(evidence.text)
            if one.scale == other.scale and _is_same(claim, one, evidence, other)
        ]
        if found:
            yield min(found, key=lambda check: check.conflict)  # what agrees comes first
    yield from _bound_checks(claim, evidence)
    yield from _certainty_checks(claim, evidence)
    yield from _only_checks(claim, evidence)


@lru_cache(maxsize=4_096)
def _operators(text: str) -> tuple[_Operator, ...]:
    reading = read(text)
    not_counted = [match.span() for match in _NOT_COUNTED.finditer(reading.text)]
    found = []
    for at, word in enumerate(reading.words):
        if word.text not in _WORDS or any(low <= word.start < high for low, high in not_counted):
            continue
        following = [item.text for item in reading.words[at + 1 : at + 3]]
        if word.text in _PARTICIPLES and following[:1] not in (["to"], ["from"]):
            continue
        if word.text == "may" and reading.text[word.start] == "M":
            continue  # the month
        for scale, table in (("amount", AMOUNTS), ("time", FREQUENCIES), ("modal", FORCES)):
            of = _of(reading, at) if word.text in table else None
            if of is not None:
                no = scale == "modal" and (
                    word.text in DENIED_FORCES
                    or (at > 0 and reading.words[at - 1].negates)
                    or not NOT.isdisjoint(following)
                )
                found.append(_Operator(at, of, scale, table[word.text], no))
    return tuple(found)


def _of(reading: Reading, at: int) -> int | None:
    """Return the word that an operator is of: the first that carries meaning behind it."""
    for place in range(at + 1, min(at + 1 + _REACH, len(reading.words))):
        if reading.sentences[place] != reading.sentences[at]:
            return None
        if reading.content[place] and reading.words[place].text not in FORCES:
            return place
    return None


def _is_same(claim: Reading, one: _Operator, evidence: Reading, other: _Operator) -> bool:
    return claim.words[one.of].stem == evidence.words[other.of].stem and covers(
        claim, one.of, evidence, other.of, _HALF
    )


def _compared(claim: Reading, one: _Operator, evidence: Reading, other: _Operator) -> Check:
    if one.scale == "modal":
        kind = CheckKind.MODALITY
        conflict = _is_other_force(one, other)
    else:
        kind = CheckKind.QUANTIFIER
        conflict = one.strength > other.strength or (one.strength == 0) != (other.strength == 0)
    first, second = claim.words[one.at].text, evidence.words[other.at].text
    of = claim.words[one.of].text
    reason = (
        f'the claim says "{first}" of "{of}" where the passage says "{second}"'
        if conflict
        else f'the claim\'s "{first}" of "{of}" says no more than the passage\'s "{second}"'
    )
    return Check(
        kind, conflict, claim.span(one.at, one.of), evidence.span(other.at, other.of), reason
    )


def _is_other_force(one: _Operator, other: _Operator) -> bool:
    """Whether a claimed force is opposed to what is said, or goes beyond it."""
    if one.denied != other.denied:
        return True
    if one.denied:
        return one.strength < other.strength  # "may not" says more than "need not"
    return one.strength > other.strength


def _bound_checks(claim: Reading, evidence: Reading) -> Iterator[Check]:
    """Find "at least 5" for "at most 5"."""
    for claimed in quantities_of(claim):
        way = _BOUNDS.get(claimed.bound)
        for said in quantities_of(evidence) if way else ():
            if _BOUNDS.get(said.bound) == -(way or 0) and (said.dimension, said.value) == (
                claimed.dimension,
                claimed.value,
            ):
                reason = f'"{claimed.text}" is a bound the other way in the passage'
                span = claimed.start, claimed.end
                yield differs(CheckKind.QUANTIFIER, span, (said.start, said.end), reason)
                break


def _certainty_checks(claim: Reading, evidence: Reading) -> Iterator[Check]:
    """Find what the passage says may be and the claim says is."""
    if any(word.text in FORCES or word.text in UNSURE for word in claim.words):
        return
    for other in _operators(evidence.text):
        name = evidence.words[other.at].text
        if other.scale != "modal" or name not in UNSURE or other.denied:
            continue
        for at in claim.places.get(evidence.words[other.of].stem, ()):
            if (
                at not in denied(claim.text)
                and len(evidence.places[evidence.words[other.of].stem]) == 1
                and covers(claim, at, evidence, other.of, _MOST)
            ):
                told = claim.words[at].text
                reason = f'the claim says "{told}" outright where the passage says "{name}"'
                yield differs(
                    CheckKind.MODALITY,
                    claim.span(at),
                    evidence.span(other.at, other.of),
                    reason,
                )
                break


def _only_checks(claim: Reading, evidence: Reading) -> Iterator[Check]:
    """Find an "only" of the claim's that the passage, which says the rest, does not have."""
    for at, word in enumerate(claim.words):
        of = _of(claim, at) if word.text in ONLY else None
        for place in evidence.places.get(claim.words[of].stem, ()) if of is not None else ():
            if covers(claim, at, evidence, place, _MOST):
                span = claim.span(at, of)
                told = claim.said(span)
                own = [
                    other
                    for other, found in enumerate(evidence.words)
                    if found.text in ONLY and evidence.sentences[other] == evidence.sentences[place]
                ]
                if own:
                    reason = f'the passage limits it as well as the claim ("{told}")'
                    yield agrees(CheckKind.QUANTIFIER, span, evidence.span(own[0]), reason)
                else:
                    reason = f'the claim says "{told}", and the passage does not limit it'
                    yield differs(CheckKind.QUANTIFIER, span, evidence.span(place), reason)
                break

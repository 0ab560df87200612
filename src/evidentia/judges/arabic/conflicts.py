"""Conflicts: what in a claim cannot be so by the passages, where one of the two is Arabic.

A claim is contradicted where a sentence is about the same thing and exactly one thing is another:
a value that no passage has and that follows from none, a name that no passage has, or a negation.
Wherever the claim may speak of something else, or may be worked out, nothing is said.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evidentia.judges.arabic.cases import is_case
from evidentia.judges.arabic.facts import Facts, read_facts, share
from evidentia.judges.arabic.names import other_name
from evidentia.judges.arabic.polarity import clauses_of, denied, turned
from evidentia.judges.arabic.values import (
    are_alike,
    are_same,
    is_beside,
    is_date,
    is_part,
    may_follow,
    other_unit,
    shares_a_part,
)
from evidentia.language.arabic.words import tokens
from evidentia.language.lexicon import word_set
from evidentia.language.quantities import Quantity, compare

VALUE: Final = 0.95
NAME: Final = 0.9
TURNED: Final = 0.9
"""How sure the rules are of another value, of another name, and of the contrary."""
_IGNORED: Final = frozenset({"ordinal"})
_CELLS: Final = "|"
_UNEQUAL: Final = frozenset({"more_than", "less_than", "about"})
_RELATED: Final = word_set("السابق السابقه قبل بعد منذ التالي التاليه since before after by until")
"""Words before a date that set something before or behind it."""
_NEAR: Final = 3
_SMALL: Final = 12


@dataclass(frozen=True, slots=True)
class _Shares:
    """How much of a claim a sentence must have, alone and added to what all passages have."""

    alone: float
    added: float
    name: float


_ONE_LANGUAGE: Final = _Shares(0.3, 0.95, 0.4)
_TWO_LANGUAGES: Final = _Shares(0.15, 0.45, 0.2)
_MUCH: Final = 0.65
_RATE: Final = 0.5
_ENOUGH_FOR_A_UNIT: Final = 0.2
_ENOUGH_FOR_A_DATE: Final = 0.3


@dataclass(frozen=True, slots=True)
class Conflict:
    """A claim's conflict with a passage, by the passage's number."""

    passage: int
    similarity: float
    reason: str
    says: str = ""


def find_conflict(claim: str, passages: Sequence[tuple[str, ...]]) -> Conflict | None:
    """Return what in a claim is at odds with passages, each given as its sentences."""
    claimed = read_facts(claim)
    read = [tuple(map(read_facts, sentences)) for sentences in passages]
    placed = [(number, one) for number, facts in enumerate(read) for one in facts]
    if not claimed.telling or not placed:
        return None
    keys = frozenset[str]().union(*(one.keys for _, one in placed))
    return (
        _by_value(claimed, placed, keys)
        or _by_name(claimed, placed, keys)
        or _by_polarity(claimed, placed)
    )


_Placed = Sequence[tuple[int, Facts]]


def _by_value(claim: Facts, placed: _Placed, keys: frozenset[str]) -> Conflict | None:
    said = [quantity for _, one in placed for quantity in one.quantities]
    claimed = [one for one in claim.quantities if one.dimension not in _IGNORED]
    absent = [one for one in claimed if not any(are_same(one, other) for other in said)]
    if not absent or is_case(claim) or denied(claim) or not _is_one_change(absent, said):
        return None
    value = absent[0]
    if may_follow(value, said) or (is_date(value) and _is_related(claim, value)):
        return None
    whole = share(claim, keys)
    best: tuple[float, int, Facts, list[Quantity]] | None = None
    for number, one in placed:
        part = share(claim, one.keys)
        others = [other for other in one.quantities if _stands_for(claim, value, other, one, part)]
        if others and (best is None or part > best[0]):
            best = (part, number, one, others)
    if best is None or not _is_about(claim, value, best, whole):
        return None
    part, number, one, others = best
    chosen = next((other for other in others if other_unit(value, other)), None)
    if chosen is None:
        if any(_leaves_open(value, other) for other in others):
            return None
        chosen = others[0]
    reason = f'the passage says "{chosen.text}" where the claim says "{value.text}"'
    return Conflict(number, VALUE, reason, chosen.text)


def _is_one_change(absent: Sequence[Quantity], said: Sequence[Quantity]) -> bool:
    """Whether one thing was changed: one value, a date with its weekday, or one unit twice."""
    return (
        len(absent) == 1
        or all(is_date(one) or one.dimension == "weekday" for one in absent)
        or all(any(other_unit(one, other) for other in said) for one in absent)
    )


def _is_related(claim: Facts, value: Quantity) -> bool:
    before = [token.text for token in tokens(claim.text) if token.start < value.start]
    return not _RELATED.isdisjoint(before[-_NEAR:])


def _stands_for(claim: Facts, value: Quantity, other: Quantity, said: Facts, part: float) -> bool:
    """Whether a value of a sentence stands in the place of the claim's."""
    if other_unit(value, other) or is_part(value, other) or is_part(other, value):
        return True
    if not are_alike(value, other):
        in_row = _CELLS in said.text and other.dimension == "number" and other.value >= 1
        return in_row and part >= _RATE and value.dimension.startswith("money")
    if is_date(value):
        return not is_beside(value, other)
    if value.dimension == "number":
        return _counts_the_same(value, other)
    if value.dimension == "weekday":
        return _is_one_weekday(claim, said)
    return _measures_the_same(claim, value, other, part)


def _measures_the_same(claim: Facts, value: Quantity, other: Quantity, part: float) -> bool:
    """Whether two values with units, of one kind, can be meant of the same thing."""
    if value.bound in _UNEQUAL and other.bound != value.bound:
        return False
    if value.per and not other.per and part < _RATE:
        return False
    return _has_one_unit(value, other) or (part >= _MUCH and len(claim.quantities) == 1)


def _counts_the_same(value: Quantity, other: Quantity) -> bool:
    """Whether two numbers are of the same thing, as far as the word behind them tells."""
    if not (value.measured and other.measured) or (value.value < 1) != (other.value < 1):
        return False
    return not read_facts(value.measured).keys.isdisjoint(read_facts(other.measured).keys)


def _is_one_weekday(claim: Facts, said: Facts) -> bool:
    """Whether both name one day of the week, or both a first and a last one."""
    days = [
        sum(found.dimension == "weekday" for found in facts.quantities) for facts in (claim, said)
    ]
    return days[0] == days[1]


def _has_one_unit(value: Quantity, other: Quantity) -> bool:
    if not (value.number and other.number and value.value and other.value):
        return True
    first, second = value.value / value.number, other.value / other.number
    return abs(first - second) <= 1e-9 * abs(first)


def _is_about(
    claim: Facts,
    value: Quantity,
    best: tuple[float, int, Facts, list[Quantity]],
    whole: float,
) -> bool:
    """Whether a sentence, with the passages around it, is about what the claim is about."""
    part, _, said, others = best
    crosses = claim.is_arabic != said.is_arabic
    needed = _TWO_LANGUAGES if crosses else _ONE_LANGUAGE
    own = share(_clause_with(claim, value), said.keys)
    if own >= needed.alone and part >= needed.alone and part + whole >= needed.added:
        return True
    if any(shares_a_part(value, other) for other in others):
        return whole >= _ENOUGH_FOR_A_DATE
    telling = value.number is not None and (value.number > _SMALL or value.number % 1 > 0)
    same_number = telling and any(other_unit(value, other) for other in others)
    return crosses and same_number and whole >= _ENOUGH_FOR_A_UNIT


def _clause_with(claim: Facts, value: Quantity) -> Facts:
    """Return the claim's clause that has the value: what else it says may be said nowhere."""
    return next((one for one in clauses_of(claim) if value.text in one.text), claim)


def _leaves_open(value: Quantity, other: Quantity) -> bool:
    """Whether a bound in the passage leaves the claim's value possible."""
    return (
        value.dimension == other.dimension
        and other.bound != "exact"
        and compare(value, other) in {"open", "within"}
    )


def _by_name(claim: Facts, placed: _Placed, keys: frozenset[str]) -> Conflict | None:
    sentences = tuple(one for _, one in placed)
    crosses = not any(one.is_arabic == claim.is_arabic for one in sentences)
    needed = _TWO_LANGUAGES if crosses else _ONE_LANGUAGE
    found = other_name(claim, sentences, keys, needed.name)
    if found is None:
        return None
    reason = f'the passage has another name where the claim says "{found.name}"'
    return Conflict(_number_of(found.said, placed), NAME, reason)


def _by_polarity(claim: Facts, placed: _Placed) -> Conflict | None:
    found = [(number, one, turned(claim, (one,))) for number, one in placed]
    best = max(
        ((at, one) for at, _, one in found if one), key=lambda pair: pair[1].share, default=None
    )
    if best is None or turned(claim, tuple(one for _, one in placed)) is None:
        return None
    return Conflict(best[0], TURNED, best[1].reason)


def _number_of(said: Facts, placed: _Placed) -> int:
    return next(number for number, one in placed if one is said)

"""Which value of a sentence stands in the place of a claim's: of one kind, and of one thing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from evidentia.judges.arabic.facts import Facts, read_facts, share
from evidentia.judges.arabic.values import (
    are_alike,
    are_both_times,
    is_beside,
    is_date,
    is_part,
    other_unit,
    shares_a_part,
)
from evidentia.language.arabic.words import tokens
from evidentia.language.lexicon import word_set
from evidentia.language.quantities import Quantity, compare

CELLS: Final = "|"
"""What parts the cells of a row."""
_UNEQUAL: Final = frozenset({"more_than", "less_than", "about"})
_FAR: Final = 6
_ITS_NUMBER: Final = word_set("عددها عددهم عدده عددهن")
_RANGE: Final = word_set("بين between")
_MUCH: Final = 0.65
_RATE: Final = 0.5
_FEW: Final = 3

Placed = Sequence[tuple[int, Facts]]
"""Sentences, each with the number of its passage."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence with the values that stand in the place of the claim's."""

    passage: int
    said: Facts
    others: tuple[Quantity, ...]
    part: float
    """Which part of the claim the sentence has."""
    slipped: bool
    """Whether a value is the claim's but for its unit, or for a part of the date."""


def readings(claim: Facts, value: Quantity, placed: Placed) -> Iterator[Reading]:
    """Give the sentences that have something in the place of a claim's value."""
    for number, one in placed:
        part = share(claim, one.keys)
        others = tuple(
            other for other in one.quantities if _stands_for(claim, value, other, one, part)
        )
        if others:
            slipped = any(is_slip(value, other) for other in others)
            yield Reading(number, one, others, part, slipped)


def is_slip(value: Quantity, other: Quantity) -> bool:
    """Whether two values are one but for the unit, or two dates one but for a part."""
    if is_date(value):
        return shares_a_part(value, other)
    return (value.number or 0) >= _FEW and other_unit(value, other)


def _stands_for(claim: Facts, value: Quantity, other: Quantity, said: Facts, part: float) -> bool:
    """Whether a value of a sentence stands in the place of the claim's."""
    if other_unit(value, other) or is_part(value, other) or is_part(other, value):
        return True
    if not are_alike(value, other):
        return _stands_for_another(value, other, said, part)
    if is_date(value):
        return not is_beside(value, other)
    if value.dimension == "number":
        return _counts_the_same(claim, value, said, other)
    if value.dimension == "weekday":
        return _is_one_weekday(claim, said)
    return _measures_the_same(claim, value, other, part)


def _stands_for_another(value: Quantity, other: Quantity, said: Facts, part: float) -> bool:
    """Whether values of two kinds can be meant of one thing: two terms, or money in a row."""
    if are_both_times(value, other):
        return part >= _MUCH
    in_row = CELLS in said.text and other.dimension == "number" and other.value >= 1
    return in_row and part >= _RATE and value.dimension.startswith("money")


def _measures_the_same(claim: Facts, value: Quantity, other: Quantity, part: float) -> bool:
    """Whether two values with units, of one kind, can be meant of the same thing."""
    if value.bound in _UNEQUAL and other.bound != value.bound:
        return False
    if value.per and not other.per and part < _RATE:
        return False
    return _has_one_unit(value, other) or (part >= _MUCH and len(claim.quantities) == 1)


def _counts_the_same(claim: Facts, value: Quantity, said: Facts, other: Quantity) -> bool:
    """Whether two numbers are of the same thing, as far as the words around them tell."""
    if (value.value < 1) != (other.value < 1):
        return False
    return not _counted(claim, value).isdisjoint(_counted(said, other))


def _counted(facts: Facts, value: Quantity) -> frozenset[str]:
    """Return the keys of what a number counts: the word behind it, or what "number of" is about."""
    if value.measured:
        return read_facts(value.measured).keys
    before = [token for token in tokens(facts.text) if token.start < value.start][-_FAR:]
    for at, token in enumerate(before):
        if token.text.lstrip("وب") == "عدد" and at + 1 < len(before):
            return read_facts(before[at + 1].text).keys
        if token.text.lstrip("وب") in _ITS_NUMBER and at:
            words = [word.keys for word in facts.telling if word.start < token.start]
            return words[-1] if words else frozenset()
    return frozenset()


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


def leaves_open(value: Quantity, best: Reading) -> bool:
    """Whether a bound or a range in a sentence leaves a claim's value possible."""
    return any(_is_bounded(value, other) for other in best.others) or _is_within(value, best)


def _is_bounded(value: Quantity, other: Quantity) -> bool:
    """Whether a bound leaves a value possible."""
    return (
        value.dimension == other.dimension
        and other.bound != "exact"
        and compare(value, other) in {"open", "within"}
    )


def _is_within(value: Quantity, best: Reading) -> bool:
    """Whether a value lies between the two ends of a range that a sentence names."""
    ends = [other.value for other in best.others if are_alike(value, other)]
    return (
        len(ends) > 1
        and not _RANGE.isdisjoint(token.text for token in tokens(best.said.text))
        and min(ends) < value.value < max(ends)
    )

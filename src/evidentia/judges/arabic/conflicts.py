"""Conflicts: what in a claim cannot be so by the passages, where one of the two is Arabic.

A claim is contradicted where a sentence is about the same thing and exactly one thing is another:
a value that no passage has and that follows from none, a cell of the row that the claim names, a
name that no passage has, or a negation. Wherever the claim may speak of something else, or may be
worked out, nothing is said.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from evidentia.judges.arabic.cases import is_case
from evidentia.judges.arabic.contrasts import contrasted
from evidentia.judges.arabic.facts import Facts, read_facts, share
from evidentia.judges.arabic.names import other_name
from evidentia.judges.arabic.polarity import clauses_of, denied, turned
from evidentia.judges.arabic.rows import fits_cell, other_cell, tables_of
from evidentia.judges.arabic.scopes import denied_scope
from evidentia.judges.arabic.standing import CELLS, Placed, Reading, is_slip, leaves_open, readings
from evidentia.judges.arabic.values import (
    are_both_times,
    are_same,
    is_date,
    is_next_to,
    is_one_currency,
    may_follow,
    other_unit,
)
from evidentia.language.arabic.quantities import currencies_in
from evidentia.language.arabic.words import tokens
from evidentia.language.lexicon import word_set
from evidentia.language.quantities import Quantity

VALUE: Final = 0.95
NAME: Final = 0.9
TURNED: Final = 0.9
"""How sure the rules are of another value, of another name, and of the contrary."""
_IGNORED: Final = frozenset({"ordinal"})
_BY_CALENDAR = re.compile(r"تقويم|calendar", re.IGNORECASE)
_WORD: Final = 12
_EXPLAINS: Final = frozenset({"من", "of"})
_RELATED: Final = word_set("السابق السابقه قبل بعد منذ التالي التاليه since before after by until")
"""Words before a date that set something before or behind it."""
_NEAR: Final = 3
_DOUBLE: Final = word_set(
    "يتضاعف تتضاعف يضاعف تضاعف مضاعف مضاعفه ضعف ضعفي ضعفا ضعفها ضعفه double doubles doubled twice"
)
_TWICE: Final = Quantity("times", 2.0, "exact", "", 0, 0)


@dataclass(frozen=True, slots=True)
class _Shares:
    """How much of a claim a sentence must have, alone and added to what all passages have."""

    alone: float
    added: float
    name: float


_ONE_LANGUAGE: Final = _Shares(0.25, 0.6, 0.4)
_TWO_LANGUAGES: Final = _Shares(0.15, 0.45, 0.2)
_ENOUGH_FOR_A_SLIP: Final = 0.2
_RATHER_MUCH: Final = 0.3
_SMALL: Final = 9


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
        or _by_row(claimed, placed)
        or _by_contrast(claimed, placed)
        or _by_name(claimed, placed, keys)
        or _by_polarity(claimed, placed)
        or _by_days(claimed, placed)
        or _by_currency(claimed, placed, keys)
        or _by_scope(claimed, placed)
    )


def _by_value(claim: Facts, placed: Placed, keys: frozenset[str]) -> Conflict | None:
    said = [quantity for _, one in placed for quantity in one.quantities]
    claimed = [one for one in _plain_values(claim) if one.dimension not in _IGNORED]
    cells = [other for _, one in placed if CELLS in one.text for other in one.quantities]
    absent = [
        one
        for one in claimed
        if not any(are_same(one, other) for other in said)
        and not any(fits_cell(one, other) for other in cells)
    ]
    if not absent or denied(claim) or not _is_one_change(absent, said):
        return None
    value = absent[0]
    if not any(is_slip(value, other) for other in said) and (
        is_case(claim) or may_follow(value, _groups(placed))
    ):
        return None
    if is_date(value) and (
        _is_related(claim, value) or any(is_next_to(value, other) for other in said)
    ):
        return None
    best = max(
        readings(claim, value, placed),
        key=lambda one: (one.slipped, one.part),
        default=None,
    )
    if best is None or not _is_about(claim, value, best, share(claim, keys)):
        return None
    chosen = next((other for other in best.others if other_unit(value, other)), None)
    if chosen is None:
        if leaves_open(value, best):
            return None
        chosen = max(best.others, key=lambda other: is_slip(value, other))
    reason = f'the passage says "{chosen.text}" where the claim says "{value.text}"'
    return Conflict(best.passage, VALUE, reason, chosen.text)


def _plain_values(claim: Facts) -> Iterator[Quantity]:
    """Give the values of a claim but those that explain the one before: "weeks of five days"."""
    before = 0
    for one in claim.quantities:
        if not before or claim.text[before : one.start].strip() not in _EXPLAINS:
            yield one
        before = one.end


def _groups(placed: Placed) -> list[list[Quantity]]:
    """Return the values that can be added up: those of a sentence, or of the rows of a table."""
    groups: list[list[Quantity]] = []
    rows: list[Quantity] = []
    for _, one in placed:
        if CELLS in one.text:
            rows += one.quantities
        else:
            groups.append(list(one.quantities))
    if any(_doubles(one) for _, one in placed):
        groups.append([_TWICE])
    return [*groups, rows]


def _doubles(said: Facts) -> bool:
    return not _DOUBLE.isdisjoint(token.text.removeprefix("و") for token in tokens(said.text))


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


def _is_about(claim: Facts, value: Quantity, best: Reading, whole: float) -> bool:
    """Whether a sentence, with the passages around it, is about what the claim is about."""
    crosses = claim.is_arabic != best.said.is_arabic
    needed = _TWO_LANGUAGES if crosses else _ONE_LANGUAGE
    own = share(_clause_with(claim, value), best.said.keys)
    if min(own, best.part) >= needed.alone and best.part + whole >= needed.added:
        return True
    telling = is_date(value) or (value.number or 0) > _SMALL
    return best.slipped and whole >= (_ENOUGH_FOR_A_SLIP if telling else _RATHER_MUCH)


def _clause_with(claim: Facts, value: Quantity) -> Facts:
    """Return the claim's clause that has the value: what else it says may be said nowhere."""
    return next((one for one in clauses_of(claim) if value.text in one.text), claim)


def _by_name(claim: Facts, placed: Placed, keys: frozenset[str]) -> Conflict | None:
    sentences = tuple(one for _, one in placed)
    crosses = not any(one.is_arabic == claim.is_arabic for one in sentences)
    needed = _TWO_LANGUAGES if crosses else _ONE_LANGUAGE
    found = other_name(claim, sentences, keys, needed.name)
    if found is None:
        return None
    reason = f'the passage has another name where the claim says "{found.name}"'
    return Conflict(_number_of(found.said, placed), NAME, reason)


def _by_polarity(claim: Facts, placed: Placed) -> Conflict | None:
    found = [(number, one, turned(claim, (one,))) for number, one in placed]
    best = max(
        ((at, one) for at, _, one in found if one), key=lambda pair: pair[1].share, default=None
    )
    if best is None or turned(claim, tuple(one for _, one in placed)) is None:
        return None
    return Conflict(best[0], TURNED, best[1].reason)


def _by_row(claim: Facts, placed: Placed) -> Conflict | None:
    if is_case(claim) or denied(claim):
        return None
    beside = [list(one.quantities) for _, one in placed if CELLS not in one.text]
    found = (other_cell(claim, table, beside) for table in tables_of([one for _, one in placed]))
    other = next((one for one in found if one), None)
    if other is None:
        return None
    reason = f'its row says "{other.cell}" where the claim says "{other.claimed}"'
    return Conflict(_number_of(other.said, placed), VALUE, reason, other.cell)


def _by_contrast(claim: Facts, placed: Placed) -> Conflict | None:
    found = contrasted(claim, tuple(one for _, one in placed))
    if found is None:
        return None
    reason = f'the passage says what the claim denies: "{found.denied}"'
    return Conflict(_number_of(found.said, placed), TURNED, reason)


def _by_days(claim: Facts, placed: Placed) -> Conflict | None:
    """Find as many days of the calendar in the one as working days in the other."""
    for number, one in placed:
        for value, other in product(claim.quantities, one.quantities):
            if (
                are_both_times(value, other)
                and value.number == other.number is not None
                and _works(value) != _works(other)
                and _is_by_calendar(*((one, other) if _works(value) else (claim, value)))
            ):
                reason = f'the passage says "{other.text}" where the claim says "{value.text}"'
                return Conflict(number, VALUE, reason, other.text)
    return None


def _works(value: Quantity) -> bool:
    return value.dimension.startswith("working")


def _is_by_calendar(facts: Facts, value: Quantity) -> bool:
    around = facts.text[value.start : value.end + _WORD]
    return _BY_CALENDAR.search(around) is not None


def _by_currency(claim: Facts, placed: Placed, keys: frozenset[str]) -> Conflict | None:
    """Find a currency in a claim, named without an amount, where the passages have others."""
    named = currencies_in(claim.text)
    said = {money for _, one in placed for money in currencies_in(one.text)}
    said |= {
        one.dimension.removeprefix("money ")
        for _, facts in placed
        for one in facts.quantities
        if one.dimension.startswith("money ")
    }
    if len(named) != 1 or not said or is_case(claim) or denied(claim):
        return None
    (currency,) = named
    if any(is_one_currency(currency, other) for other in said) or share(claim, keys) < _RATHER_MUCH:
        return None
    best = max(placed, key=lambda pair: share(claim, pair[1].keys))
    reason = f'the passage names another currency than the claim: "{min(said)}"'
    return Conflict(best[0], VALUE, reason)


def _by_scope(claim: Facts, placed: Placed) -> Conflict | None:
    found = denied_scope(claim, tuple(one for _, one in placed))
    if found is None:
        return None
    words = ", ".join(f'"{word}"' for word in found.words)
    reason = f"of {words} the passage says the contrary"
    return Conflict(_number_of(found.said, placed), TURNED, reason)


def _number_of(said: Facts, placed: Placed) -> int:
    return next(number for number, one in placed if one is said)

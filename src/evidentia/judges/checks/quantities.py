"""Numbers, units and dates of a claim, compared as values with those of a passage.

A value that stands in the passage agrees. One that does not is absent, or differs if the passage
has another value of the same dimension about the same thing. What the passage leaves open ("at
least 15" for "20") is not reported.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from math import inf
from typing import Final

from evidentia.judges.checks.model import Check, CheckKind, agrees, differs
from evidentia.language.characters import Span
from evidentia.language.lexicon import COUNTS, ORDINALS, SMALL_NUMBERS, any_of
from evidentia.language.measures import LIGHT, quantities_of
from evidentia.language.quantities import Quantity, compare
from evidentia.language.readings import Reading, covers, read, same_place
from evidentia.language.words import content_stems, words

_WORDS: Final[dict[str, float]] = {**ORDINALS, **COUNTS, **SMALL_NUMBERS}
_DECADE = re.compile(
    r"\b(?P<year>1[0-9]\d0|20\d0)['\u2019]?s\b|(?<!\w)['\u2019](?P<short>[2-9]0)s\b"
)
_CENTURY = re.compile(
    rf"\b(?:(?P<digits>\d{{1,2}})(?:st|nd|rd|th)|(?P<word>{any_of(ORDINALS)}))[\s-]+century\b"
    r"(?!\s+bce?\b)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\w.,$€£-])(?P<year>1\d{3}|20\d\d)(?![\w%]|[.,]\d)")
_BEFORE_YEAR = re.compile(r"\b(?:before|prior to|by|until|till)\s+(?:the\s+)?$", re.IGNORECASE)
_AFTER_YEAR = re.compile(r"\b(?:after|since|from)\s+(?:the\s+)?$", re.IGNORECASE)
_COMMA = re.compile(r"\s*,\s*")
_NUMERAL = re.compile(r"[\d.,]*\d")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)\b", re.IGNORECASE)
_LOOK_BEHIND: Final = 24
_SOME, _MUCH = 0.5, 0.6
_MONTHS_A_YEAR: Final = 12
_ROUNDED: Final = 0.02
"""By how much a value may be off, as a part of it, for a reader to take it for rounded."""


@dataclass(frozen=True, slots=True)
class _When:
    """A date by the parts that are told: years from the first to the last, month, day."""

    first: float
    last: float
    month: int | None
    day: int | None
    span: Span

    @property
    def has_year(self) -> bool:
        return self.first > -inf or self.last < inf

    def bears_out(self, claimed: "_When") -> bool:
        """Whether every part that is claimed is told, and the same."""
        return (
            claimed.first <= self.first
            and self.last <= claimed.last
            and claimed.month in (None, self.month)
            and claimed.day in (None, self.day)
        )

    def allows(self, claimed: "_When") -> bool:
        """Whether no part that both tell differs."""
        years = claimed.first <= self.last and self.first <= claimed.last
        months = None in (claimed.month, self.month) or claimed.month == self.month
        return years and months and (None in (claimed.day, self.day) or claimed.day == self.day)

    def is_like(self, claimed: "_When") -> bool:
        """Whether it tells a part that is claimed, so that the two can be compared."""
        return (self.has_year and claimed.has_year) or None not in (self.month, claimed.month)


@dataclass(frozen=True, slots=True)
class _Values:
    """The dates and the other quantities of a text, and every number it has in any form."""

    dates: tuple[_When, ...]
    quantities: tuple[Quantity, ...]
    numbers: frozenset[float]


def quantity_checks(claim: Reading, evidence: Reading) -> Iterator[Check]:
    """Compare every date and every quantity of a claim with those of a passage."""
    claimed = _values(claim.text)
    if not (claimed.dates or claimed.quantities):
        return
    there = _values(evidence.text)
    for when in claimed.dates:
        yield from _date_check(claim, when, evidence, there)
    free = [said for said in there.quantities if not _agrees_with_any(said, claimed.quantities)]
    for quantity in claimed.quantities:
        yield from _number_check(claim, quantity, evidence, there, free)


def retold(claim: str, evidence: str) -> str:
    """Return the claim with each value written as the passage writes the same one.

    >>> retold("It took 36 months, until 5 May 1999.", "It ended on 1999-05-05, after three years")
    'It took three years, until 1999-05-05.'
    """
    claimed, there = _values(claim), _values(evidence)
    said = {_worth(value): evidence[slice(*_span(value))] for value in _all(there)}
    told = claim
    for value in _all(claimed):
        start, end = _span(value)
        told = told[:start] + said.get(_worth(value), told[start:end]) + told[end:]
    return told


def _all(values: _Values) -> list[_When | Quantity]:
    """Return the dates and quantities of a text, those that stand first last."""
    return sorted([*values.dates, *values.quantities], key=_span, reverse=True)


def _span(value: _When | Quantity) -> Span:
    return value.span if isinstance(value, _When) else (value.start, value.end)


def _worth(value: _When | Quantity) -> tuple[object, ...]:
    """Return what two values have in common that are the same, however they are written."""
    if isinstance(value, _When):
        return value.first, value.last, value.month, value.day
    return value.dimension, value.value, value.upper


@lru_cache(maxsize=4_096)
def _values(text: str) -> _Values:
    reading = read(text)
    dates: list[_When] = []
    others: list[Quantity] = []
    for found in quantities_of(reading):
        when = _read_when(found, reading.text)
        if when is None:
            others.append(found)
        elif dates and _goes_on(reading.text, dates[-1], when):
            day = dates.pop()
            span = day.span[0], when.span[1]
            dates.append(replace(when, month=day.month, day=day.day, span=span))
        else:
            dates.append(when)
    taken = [when.span for when in dates] + [(found.start, found.end) for found in others]
    for pattern, reader in ((_DECADE, _decade), (_CENTURY, _century), (_YEAR, _year)):
        for match in pattern.finditer(reading.text):
            if not any(low < match.end() and match.start() < high for low, high in taken):
                dates.append(reader(match))
                taken.append(match.span())
    return _Values(tuple(dates), tuple(others), _numbers(reading))


def _read_when(found: Quantity, text: str) -> _When | None:
    """Read a quantity as a date, if it is one; a number of four digits may be a year."""
    span = found.start, found.start + len(found.text.rstrip("."))
    if found.dimension == "calendar month":
        year, month = divmod(int(found.value) - 1, _MONTHS_A_YEAR)
        return _When(year, year, month + 1, None, span)
    if found.dimension in {"date", "day of the year"}:
        day = date.fromordinal(int(found.value))
        if found.dimension == "date":
            return _When(day.year, day.year, day.month, day.day, span)
        return _When(-inf, inf, day.month, day.day, span)
    plural = found.measured.partition(" ")[0].endswith("s")
    bare = found.dimension == "number" and _YEAR.fullmatch(found.text) and not plural
    if found.dimension != "year" and not bare:
        return None
    low, high = found.value, found.value if found.upper is None else found.upper
    before = text[max(0, found.start - _LOOK_BEHIND) : found.start]
    if _BEFORE_YEAR.search(before):
        low = -inf
    elif _AFTER_YEAR.search(before):
        high = inf
    return _When(low, high, None, None, span)


def _goes_on(text: str, day: _When, year: _When) -> bool:
    """Whether a year belongs to the day before it: "March 17 , 2004"."""
    return (
        day.month is not None
        and not day.has_year
        and year.month is None
        and _COMMA.fullmatch(text, day.span[1], year.span[0]) is not None
    )


def _decade(match: re.Match[str]) -> _When:
    first = int(match["year"] or f"19{match['short']}")
    return _When(first, first + 9, None, None, match.span())


def _century(match: re.Match[str]) -> _When:
    number = int(match["digits"]) if match["digits"] else ORDINALS[match["word"].lower()]
    return _When(number * 100 - 100, number * 100, None, None, match.span())


def _year(match: re.Match[str]) -> _When:
    return _When(int(match["year"]), int(match["year"]), None, None, match.span())


def _numbers(reading: Reading) -> frozenset[float]:
    """Return every number of a text, be it part of a name, an ordinal or a word."""
    found = {float(match[1]) for match in _ORDINAL.finditer(reading.text)}
    for word in reading.words:
        if word.is_number:
            digits = _NUMERAL.search(word.text)
            parts = digits[0].replace(",", "").split(".") if digits else []
            found |= {float(".".join(parts[:2]))} if parts else set()
        else:
            known = _WORDS.get(word.text)
            found |= set() if known is None else {known}
    return frozenset(found)


def _date_check(claim: Reading, when: _When, evidence: Reading, there: _Values) -> Iterator[Check]:
    told = claim.said(when.span)
    for said in there.dates:
        if said.bears_out(when):
            yield agrees(CheckKind.DATE, when.span, said.span, _same(told, evidence, said.span))
            return
    if any(said.is_like(when) and said.allows(when) for said in there.dates):
        return
    if when.first == when.last and when.first in there.numbers and when.month is None:
        return
    for said in there.dates:
        if said.is_like(when) and _in_place(claim, when.span, evidence, said.span):
            reason = _other(told, evidence.said(said.span))
            yield differs(CheckKind.DATE, when.span, said.span, reason)
            return
    yield differs(CheckKind.DATE, when.span, None, _absent(told))


def _number_check(
    claim: Reading,
    claimed: Quantity,
    evidence: Reading,
    there: _Values,
    free: list[Quantity],
) -> Iterator[Check]:
    span = claimed.start, claimed.end
    said = next((said for said in there.quantities if _agrees(claimed, said)), None)
    if said:
        place = said.start, said.end
        reason = _same(claimed.text, evidence, place)
        yield agrees(CheckKind.NUMBER, span, place, reason)
        return
    occurs = not {claimed.value, _numeral(claimed)}.isdisjoint(there.numbers)
    for said in free:
        place = said.start, said.end
        if not _same_thing(claim, claimed, evidence, said):
            continue
        if _numeral(claimed) == _numeral(said) and claimed.dimension != said.dimension:
            if "number" not in {claimed.dimension, said.dimension}:
                reason = _other(claimed.text, said.text)
                yield differs(CheckKind.UNIT, span, place, reason)
            return
        relation = compare(claimed, said)
        if relation == "open" or _is_rounded(claimed, said):
            return
        is_unit = _numeral(claimed) == _numeral(said)
        if relation == "differs" and (is_unit or not occurs):
            kind = CheckKind.UNIT if is_unit else CheckKind.NUMBER
            yield differs(kind, span, place, _other(claimed.text, said.text))
            return
    if not occurs:
        yield differs(CheckKind.NUMBER, span, None, _absent(claimed.text))


def _agrees(claimed: Quantity, said: Quantity) -> bool:
    return compare(claimed, said) in {"same", "within"}


def _agrees_with_any(said: Quantity, claimed: tuple[Quantity, ...]) -> bool:
    return any(_agrees(one, said) for one in claimed)


def _is_rounded(claimed: Quantity, said: Quantity) -> bool:
    """Whether what is claimed is what is said, rounded."""
    return said.value != 0 and abs(claimed.value - said.value) / abs(said.value) <= _ROUNDED


@lru_cache(maxsize=4_096)
def _numeral(quantity: Quantity) -> float | None:
    """Return the number that a quantity is written with, whatever its unit."""
    digits = _NUMERAL.search(quantity.text)
    if digits:
        parts = digits[0].replace(",", "").split(".")
        return float(".".join(parts[:2]))
    return _WORDS.get(quantity.text.split()[0].lower())


def _same_thing(claim: Reading, claimed: Quantity, evidence: Reading, said: Quantity) -> bool:
    """Whether two quantities are of one thing, or stand between the same words."""
    first, second = _named(claimed.measured), _named(said.measured)
    if first and second and not first & second:
        return False
    span, place = (claimed.start, claimed.end), (said.start, said.end)
    if not first & second:
        return _in_place(claim, span, evidence, place)
    here, there = claim.run_at(span), evidence.run_at(place)
    return (
        here is not None and there is not None and covers(claim, here[0], evidence, there[0], _MUCH)
    )


@lru_cache(maxsize=4_096)
def _named(measured: str) -> frozenset[str]:
    return content_stems(words(measured)) - LIGHT


def _in_place(claim: Reading, span: Span, evidence: Reading, place: Span) -> bool:
    here, there = claim.run_at(span), evidence.run_at(place)
    return (
        here is not None
        and there is not None
        and same_place(claim, here, evidence, there)
        and covers(claim, here[0], evidence, there[0], _SOME)
    )


def _same(told: str, evidence: Reading, place: Span) -> str:
    return f'the passage has the claim\'s "{told}": "{evidence.said(place)}"'


def _other(told: str, said: str) -> str:
    return f'the claim says "{told}" where the passage says "{said}"'


def _absent(told: str) -> str:
    return f'the claim\'s "{told}" does not stand in the passage'

"""Values of a claim and of passages: the same, of one kind, or worked out of one another.

A value that follows from those of the passages by a sum, a difference, a product or a share is not
at odds with them. What follows is looked for, not proven: where it may follow, nothing is said.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from itertools import combinations, product
from typing import Final

from evidentia.language.arabic.hijri import hijri_date
from evidentia.language.arabic.units import FAMILIES
from evidentia.language.quantities import Quantity

_DAY: Final = 86_400.0
_CLOSE: Final = 1e-6
_TWELVE_HOURS: Final = 720
_MONTHS_A_YEAR: Final = 12
_MONTH: Final = (28, 31)
"""How many days a month has, from the least to the most."""
_CLOCKS: Final = frozenset({"clock", "clock of twelve"})
_DATES: Final = frozenset(
    {"date", "calendar month", "day of the year", "month of the year", "year"}
)
_PERIODS: Final = (2.0, 4.0, 7.0, 12.0, 24.0, 30.0, 52.0, 60.0, 365.0)
"""How often one period is in another."""
_NO_COUNTS: Final = _CLOCKS | {"weekday"}
_SINGLE: Final = frozenset({"weekday", "celsius", "ordinal", "day of the month"})
"""What nothing is worked out to."""
_PER: Final = {
    "hour": 3_600.0,
    "day": _DAY,
    "week": 7 * _DAY,
    "month": 30 * _DAY,
    "year": 365 * _DAY,
}
_TWO: Final = 2
_MEAN_MONTH: Final = 30.4375
_SLIP: Final = 2
"""How many days a date that months lead to is looked for around it."""
_MOST: Final = 24
"""Of how many values what follows is looked for."""


def _equal(first: float, second: float) -> bool:
    return abs(first - second) <= _CLOSE * max(abs(first), abs(second))


def is_date(quantity: Quantity) -> bool:
    """Whether a value is a date in either calendar, as far as it is told."""
    return quantity.dimension.removeprefix("hijri ") in _DATES


def _told(quantity: Quantity) -> dict[str, int]:
    """Return the parts of a date that are told, by calendar."""
    value = int(quantity.value)
    match quantity.dimension:
        case "date":
            day = date.fromordinal(value)
            return {"year": day.year, "month": day.month, "day": day.day}
        case "hijri date":
            year, month, number = hijri_date(value)
            return {"hijri year": year, "hijri month": month, "hijri day": number}
        case "calendar month" | "hijri calendar month" as name:
            year, month = divmod(value - 1, _MONTHS_A_YEAR)
            calendar = "hijri " if name.startswith("hijri") else ""
            return {f"{calendar}year": year, f"{calendar}month": month + 1}
        case "day of the year":
            day = date.fromordinal(value)
            return {"month": day.month, "day": day.day}
        case "hijri day of the year":
            month, number = divmod(value, 100)
            return {"hijri month": month, "hijri day": number}
        case name:
            return {name.removesuffix(" of the year"): value}


def are_alike(first: Quantity, second: Quantity) -> bool:
    """Whether two values are of one kind, so that one can stand in the place of the other."""
    one, other = first.dimension, second.dimension
    if one.startswith("money ") and other.startswith("money "):
        return is_one_currency(one.split()[1], other.split()[1])
    if is_date(first) and is_date(second):
        if {one, other} == {"date", "hijri date"}:
            return True
        return not _told(first).keys().isdisjoint(_told(second))
    return one == other or {one, other} <= _CLOCKS


def is_one_currency(one: str, other: str) -> bool:
    """Whether two names of currencies may stand for one."""
    return (
        one == other
        or other in FAMILIES.get(one, frozenset())
        or one in FAMILIES.get(other, frozenset())
    )


def are_same(claimed: Quantity, said: Quantity) -> bool:
    """Whether two values may be the same, also in other units or as far as both are told."""
    if claimed.per and said.per and claimed.per != said.per:
        return False
    if claimed.dimension == said.dimension == "working time":
        # a week of work has five days
        return any(_equal(claimed.value * days, said.value * 7) for days in (5, 7, 7 * 7 / 5))
    if are_alike(claimed, said):
        return _same_of_one_kind(claimed, said)
    kinds = {claimed.dimension.removeprefix("working "), said.dimension.removeprefix("working ")}
    if kinds == {"time", "months"}:
        months, time = sorted((claimed, said), key=lambda one: one.dimension.endswith("time"))
        low, high = (months.value * days for days in _MONTH)
        return low <= time.value / _DAY <= high
    return _same_number(claimed, said, kinds)


def _same_number(claimed: Quantity, said: Quantity, kinds: set[str]) -> bool:
    """Whether two values of different kinds are one number: a fraction, or a count without unit."""
    if kinds == {"time", "clock"}:  # 1:50 in a table may be how long something takes
        span, clock = sorted((claimed, said), key=lambda one: one.dimension == "clock")
        return _equal(span.value, clock.value * 60)
    if kinds == {"percent", "number"}:
        share, part = sorted((claimed, said), key=lambda one: one.dimension == "number")
        return _equal(share.value, part.value * 100)
    if claimed.dimension == "number":
        counted = not (is_date(said) or said.dimension in _NO_COUNTS)
        return counted and _equal(claimed.value, _number(said))
    if said.dimension == "number":
        return claimed.number is not None and _equal(claimed.number, said.value)
    return len(kinds) == 1 and _equal(claimed.value, said.value)


def _number(quantity: Quantity) -> float:
    return quantity.value if quantity.number is None else quantity.number


def _same_of_one_kind(claimed: Quantity, said: Quantity) -> bool:
    if is_date(claimed):
        if {claimed.dimension, said.dimension} == {"date", "hijri date"}:
            return abs(claimed.value - said.value) <= 1  # the moon may be seen a day later
        here, there = _told(claimed), _told(said)
        if len(there) == 1 < len(here) and any("year" in part for part in there):
            return False  # a year alone says nothing of its days
        return all(here[part] == there[part] for part in here.keys() & there)
    if "clock of twelve" in (claimed.dimension, said.dimension):
        return _equal(claimed.value % _TWELVE_HOURS, said.value % _TWELVE_HOURS)
    return _equal(claimed.value, said.value)


def are_both_times(first: Quantity, second: Quantity) -> bool:
    """Whether both are durations, in days, months or days of work."""
    return _kind(first.dimension) == _kind(second.dimension) == "time"


def is_next_to(claimed: Quantity, said: Quantity) -> bool:
    """Whether two days are the same or the one follows the other."""
    return {claimed.dimension, said.dimension} <= {"date", "hijri date"} and (
        abs(claimed.value - said.value) <= 1
    )


def is_beside(claimed: Quantity, said: Quantity) -> bool:
    """Whether two dates are a day apart at most, or the one tells no more than a year."""
    if is_next_to(claimed, said):
        return True
    return said.dimension.endswith("year") and len(_told(said)) == 1 < len(_told(claimed))


def shares_a_part(claimed: Quantity, said: Quantity) -> bool:
    """Whether two dates have one day of the month, or one month, and differ in the rest."""
    if not (is_date(claimed) and is_date(said)):
        return False
    here, there = _told(claimed), _told(said)
    return any(here[part] == there[part] for part in here.keys() & there if "year" not in part)


def is_part(part: Quantity, share: Quantity) -> bool:
    """Whether the one is a fraction and the other a share in percent."""
    return part.dimension == "number" and 0 < part.value < 1 and share.dimension == "percent"


def other_unit(claimed: Quantity, said: Quantity) -> bool:
    """Whether two values have one number with two units of a kind: "10 days" and "10 hours"."""
    if claimed.number is None or said.number is None or not _equal(claimed.number, said.number):
        return False
    first, second = _kind(claimed.dimension), _kind(said.dimension)
    if first != second or first in {"number", "ordinal", "percent", "times"}:
        return False
    per = bool(claimed.per and said.per and claimed.per != said.per)
    return per or not are_same(claimed, said)


def _kind(dimension: str) -> str:
    name = dimension.removeprefix("working ")
    return "time" if name == "months" else name.split()[0]


def may_follow(claimed: Quantity, groups: Sequence[Sequence[Quantity]]) -> bool:
    """Whether a value may be worked out of those of the passages, given by what belongs together.

    What belongs together, a sentence or a table, can be added up and compared; the rest of what
    can be worked out may come from anywhere.
    """
    values = [one for group in groups for one in group][:_MOST]
    if is_date(claimed):
        return any(are_same(claimed, reached) for reached in _reached(values))
    if claimed.dimension in _SINGLE:
        return False
    if claimed.dimension in _CLOCKS:
        return any(
            _equal(
                claimed.value % _TWELVE_HOURS, (one.value + way * span.value / 60) % _TWELVE_HOURS
            )
            for one, span, way in product(values, values, (-1, 1))
            if one.dimension in _CLOCKS and span.dimension == "time"
        )
    return (
        _is_between(claimed, values)
        or _is_how_often(claimed, values)
        or any(_equal(claimed.value, one) for one in _results(claimed, values))
        or any(_equal(claimed.value, one) for group in groups for one in _added_up(claimed, group))
        or any(_rounds_to(claimed, one) for one in _by_the_period(claimed, values))
    )


def _results(claimed: Quantity, values: Sequence[Quantity]) -> Iterable[float]:
    """Give what can be worked out of values, in the claimed value's unit."""
    alike = [one.value for one in values if _adds_up(claimed, one)]
    counts = [one.value for one in values if _is_count(one)]
    rates = [one.value / 100 for one in values if one.dimension == "percent"]
    parts = [one.value for one in values if one.dimension == "number" and 0 < one.value < 1]
    for one, count in product(alike, counts):
        yield from (one * count, one / count)
    for one, part in product(alike, rates + parts):
        yield from (one * part, one * (1 - part))
    yield from (one * (1 + rate) for one, rate in product(alike, rates))
    if claimed.dimension in {"number", "times", "percent"}:
        yield from _relations(claimed, values)


def _is_count(one: Quantity) -> bool:
    """Whether a value says of how many something is said: "three strips", "four times".

    A number in digits with nothing behind it is the cell of a table rather than a count.
    """
    told = one.dimension == "times" or bool(one.measured) or not one.text[:1].isdigit()
    return (
        told and one.dimension in {"number", "times"} and one.value >= _TWO and one.value % 1 == 0
    )


def _added_up(claimed: Quantity, group: Sequence[Quantity]) -> Iterable[float]:
    """Give the sums and differences of values of one kind; terms are hardly ever added up."""
    if _kind(claimed.dimension) == "time" and not claimed.per:
        return
    alike = [one.value for one in group[:_MOST] if _adds_up(claimed, one)]
    for one, other in combinations(dict.fromkeys(alike), 2):
        yield from (one + other, abs(one - other))
    if len(alike) > _TWO:
        yield sum(alike)


def _by_the_period(claimed: Quantity, values: Sequence[Quantity]) -> Iterable[float]:
    """Give what values for one period are for another: 6,000 for 90 days are 67 a day."""
    alike = [one for one in values if _adds_up(claimed, one)]
    unit = _PER.get(claimed.per, 0.0) / _DAY
    spans = [_days(one) / unit for one in values if unit and _kind(one.dimension) == "time"]
    for one in alike:
        if one.per != claimed.per:
            yield from (one.value * period for period in _PERIODS)
            yield from (one.value / period for period in _PERIODS)
        yield from (one.value / span for span in spans if span and not one.per)


def _rounds_to(claimed: Quantity, value: float) -> bool:
    """Whether a value is the claimed one, or would be told as it."""
    return _equal(claimed.value, value) or (
        claimed.value >= _MOST and abs(claimed.value - value) <= 1 / 2
    )


def _is_how_often(claimed: Quantity, values: Sequence[Quantity]) -> bool:
    """Whether something is so many times in a period as it fits in: every two months, six times."""
    if claimed.dimension not in {"times", "number"} or claimed.per not in _PER:
        return False
    spans = [_days(one) for one in values if _kind(one.dimension) == "time"]
    period = _PER[claimed.per] / _DAY
    return any(span and abs(period / span - claimed.value) <= claimed.value / 20 for span in spans)


def _days(one: Quantity) -> float:
    return one.value * _MEAN_MONTH if one.dimension.endswith("months") else one.value / _DAY


def _is_between(claimed: Quantity, values: Sequence[Quantity]) -> bool:
    """Whether a duration may be the time between two dates, years or hours."""
    if claimed.dimension == "months":
        months = [one.value / _MEAN_MONTH for one in values if one.dimension == "date"]
        months += [one.value for one in values if one.dimension == "calendar month"]
        months += [one.value * _MONTHS_A_YEAR for one in values if one.dimension == "year"]
        spans = [abs(one - other) for one, other in combinations(months, 2)]
        return any(abs(claimed.value - span) < 1 for span in spans)
    if not claimed.dimension.endswith("time"):
        return False
    days = [one.value for one in values if one.dimension == "date"]
    hours = [one.value for one in values if one.dimension in _CLOCKS]
    return any(
        abs(claimed.value / _DAY - abs(one - other)) <= 1 for one, other in combinations(days, 2)
    ) or any(
        _equal(claimed.value / 60, (one - other) % (2 * _TWELVE_HOURS))
        for one, other in product(hours, hours)
    )


def _reached(values: Sequence[Quantity]) -> Iterable[Quantity]:
    """Give the days that durations lead to from the dates, and those beside them."""
    for start, span in product(values, values):
        if start.dimension != "date" or span.dimension not in {"time", "months"}:
            continue
        days = span.value / _DAY if span.dimension == "time" else span.value * _MEAN_MONTH
        for way, slip in product((-1, 1), range(-_SLIP, _SLIP + 1)):
            day = int(start.value + way * days + slip)
            if 0 < day < date.max.toordinal():
                yield Quantity("date", float(day), "exact", "", 0, 0)


def _adds_up(claimed: Quantity, said: Quantity) -> bool:
    kinds = {claimed.dimension.removeprefix("working "), said.dimension.removeprefix("working ")}
    return are_alike(claimed, said) or len(kinds) == 1


def _relations(claimed: Quantity, values: Sequence[Quantity]) -> Iterable[float]:
    """Give how often one value is another, and which share of it."""
    whole = 100 if claimed.dimension == "percent" else 1
    told = [one for one in values if one.value and not is_date(one) and _has_size(one)]
    for one, other in product(told, told):
        if one is not other and are_alike(one, other):
            yield whole * one.value / other.value
            yield whole * abs(one.value - other.value) / other.value
    yield from (100 - one.value for one in values if one.dimension == "percent")
    yield from (100 * (1 - one.value) for one in told if one.value < 1)


def _has_size(one: Quantity) -> bool:
    return one.dimension not in _NO_COUNTS and one.dimension not in _SINGLE

"""Quantities: values with a dimension, and how what is claimed compares with what is said.

"2 weeks" and "14 days" are the same value of the same dimension. A bound is part of the value:
"at least 15 days" leaves "20 days" open.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Final, Literal

Bound = Literal["exact", "at_least", "more_than", "at_most", "less_than", "about"]
Comparison = Literal["same", "within", "differs", "open", "unlike"]

ABOUT: Final = 0.05
"""How far from "about 100" a value may be, as a part of it."""
_EQUAL: Final = 1e-9
_DIRECTION: Final = {"at_least": 1, "more_than": 1, "at_most": -1, "less_than": -1}
_STRICT: Final = frozenset({"more_than", "less_than"})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value found in a text: its dimension, its value in that dimension's unit, its place.

    A range has an `upper` end. `measured` is what it is a quantity of, in the text's words; `per`
    is the period it is for, which stands at `per_span`. `number` is the number as it is written,
    before its unit; None where a value was not written as one number.
    """

    dimension: str
    value: float
    bound: Bound
    text: str
    start: int
    end: int
    upper: float | None = None
    measured: str = ""
    per: str = ""
    per_span: tuple[int, int] = (0, 0)
    number: float | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """The values it leaves possible, from the least to the greatest."""
        match self.bound:
            case "at_least" | "more_than":
                return self.value, inf
            case "at_most" | "less_than":
                return -inf, self.value if self.upper is None else self.upper
            case "about":
                margin = abs(self.value) * ABOUT
                return self.value - margin, self.value + margin
            case _:
                return self.value, self.value if self.upper is None else self.upper


def compare(claimed: Quantity, said: Quantity) -> Comparison:
    """Compare what is claimed with what is said, as values.

    `same`: the same number, be it with a bound in one of them. `within`: what is said is one of
    the values that the claim leaves possible. `differs`: both cannot be so. `open`: what is said
    leaves the claim possible. `unlike`: not of one dimension, or per different periods.
    """
    if claimed.dimension != said.dimension or (
        claimed.per and said.per and claimed.per != said.per
    ):
        return "unlike"
    if claimed.per != said.per and {claimed.per, said.per} != {"", "year"}:
        return "open"
    if _close(claimed.value, said.value) and _close(_end(claimed), _end(said)):
        return _same_number(claimed.bound, said.bound)
    ways = _DIRECTION.get(claimed.bound), _DIRECTION.get(said.bound)
    if ways[0] is not None and ways[0] == ways[1]:
        return "differs"  # two thresholds of one kind: "at least 10" is not "at least 15"
    (low, high), (least, most) = claimed.interval, said.interval
    if high < least or most < low:
        return "differs"
    return "within" if low <= least and most <= high else "open"


def bound_before(before: str, bounds: Iterable[tuple[Bound, re.Pattern[str]]]) -> Bound:
    """Return the bound whose words stand right before a quantity."""
    return next((bound for bound, words in bounds if words.search(before)), "exact")


def _same_number(claimed: Bound, said: Bound) -> Comparison:
    if claimed == said:
        return "same"
    if claimed in _STRICT or said in _STRICT:
        return "open"
    ways = _DIRECTION.get(claimed), _DIRECTION.get(said)
    return "open" if None not in ways else "same"


def _close(first: float, second: float) -> bool:
    return abs(first - second) <= _EQUAL * max(abs(first), abs(second))


def _end(quantity: Quantity) -> float:
    return quantity.value if quantity.upper is None else quantity.upper

"""Dates and times of day in text, as values; what can be read in two ways is left alone."""

import re
from datetime import date
from typing import Final

from evidentia.language.lexicon import MONTHS, any_of, word_set
from evidentia.language.quantities import Bound, Quantity, bound_before

_month: Final = any_of(MONTHS)
DATE = re.compile(
    rf"""(?<![\w./-])(?:
        (?P<iso>\d{{4}}-\d{{2}}-\d{{2}})
      | (?P<dotted>\d{{1,2}}\.\d{{1,2}}\.\d{{4}})
      | (?P<slashed>\d{{1,2}}/\d{{1,2}}/\d{{4}})
      | (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_month})\b\.?
        (?:,?\s+(?P<year>\d{{4}}))?
      | (?P<month2>{_month})\b\.?\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<year2>\d{{4}}))?
      | (?P<month3>{_month})\b\.?,?\s+(?P<year3>\d{{4}})
    )(?![\w-])""",
    re.IGNORECASE | re.VERBOSE,
)
"""A date in words or in digits, with or without its year or its day."""
CLOCK = re.compile(
    r"(?<![\w.:])(?:(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?:\s?(?P<half>[ap])\.?m\b\.?)?"
    r"|(?P<hour2>1[0-2]|0?[1-9])\s?(?P<half2>[ap])\.?m\b\.?)(?![\w:])",
    re.IGNORECASE,
)
"""A time of day: 17:30, 5:30 pm, 5 pm."""
_BOUNDS: Final[tuple[tuple[Bound, re.Pattern[str]], ...]] = (
    ("at_most", re.compile(r"(?i)\b(?:by|until|till|(?:no|not) later than)\s+(?:the\s+)?$")),
    ("less_than", re.compile(r"(?i)\b(?:before|prior to)\s+(?:the\s+)?$")),
    ("more_than", re.compile(r"(?i)\bafter\s+(?:the\s+)?$")),
)
UNREADABLE: Final = ""
"""The dimension of what looks like a date and is none: nothing else is to be read in it."""
_COMMON_AS_WORDS: Final = word_set("may march mar dec sep")
"""Names of months that, in lower case, are other words."""
_MONTHS_A_YEAR: Final = 12
_LEAP_YEAR: Final = 2000
_NOON: Final = 12
_LOOK_BEHIND: Final = 30


def read_date(match: re.Match[str], text: str) -> Quantity | None:
    """Read a date: a day, a month of a year, or a day of any year; without a dimension if wrong."""
    month = match["month"] or match["month2"] or match["month3"] or ""
    if month in _COMMON_AS_WORDS:
        return None  # "may 5" is no date
    year = match["year"] or match["year2"] or match["year3"]
    day = match["day"] or match["day2"]
    try:
        dimension, value = _dated(match, year, month.lower(), day)
    except ValueError:  # the 31st of February is no date, and 31 no number of Februaries
        dimension, value = UNREADABLE, 0
    start, end = match.span()
    before = text[max(0, start - _LOOK_BEHIND) : start]
    bound = bound_before(before, _BOUNDS)
    return Quantity(dimension, float(value), bound, match[0], start, end)


def _dated(match: re.Match[str], year: str | None, month: str, day: str | None) -> tuple[str, int]:
    """Return a date's dimension and value; raise `ValueError` if there is no such day."""
    if not month:
        return "date", _in_digits(match)
    if year and not day:
        return "calendar month", int(year) * _MONTHS_A_YEAR + MONTHS[month]
    value = date(int(year or _LEAP_YEAR), MONTHS[month], int(day or 1)).toordinal()
    return "date" if year else "day of the year", value


def _in_digits(match: re.Match[str]) -> int:
    """Return the day of a date in digits; raise `ValueError` if it may be another day as well."""
    if match["iso"]:
        return date.fromisoformat(match["iso"]).toordinal()
    if match["dotted"]:
        day, month, year = map(int, match["dotted"].split("."))
        return date(year, month, day).toordinal()
    first, second, year = map(int, match["slashed"].split("/"))
    if first != second and max(first, second) <= _MONTHS_A_YEAR:
        raise ValueError("a day or a month")
    return date(year, min(first, second), max(first, second)).toordinal()


def read_clock(match: re.Match[str], text: str) -> Quantity | None:
    """Read a time of day, in minutes."""
    del text
    hour = int(match["hour"] or match["hour2"])
    half = (match["half"] or match["half2"] or "").lower()
    if half and hour > _NOON:
        return None
    if half:
        hour = hour % _NOON + (_NOON if half == "p" else 0)
    minutes = float(hour * 60 + int(match["minute"] or 0))
    return Quantity("clock", minutes, "exact", match[0], *match.span())

"""How a spreadsheet shows a number: as a percentage, an amount with its currency, a date.

A cell holds 0.05 and shows 5 %; it holds 45658 and shows a date. What is shown is what people read
and claim. Dates are written in ISO's form whatever their format, and what is negative with a minus,
for they say the same everywhere; formats without a rule here (fractions, powers of ten, thousands
cut off) show the number itself.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from math import isfinite
from typing import Final, NamedTuple

GENERAL: Final = "General"
BUILT_IN: Final[Mapping[int, str]] = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    **dict.fromkeys((14, 15, 16, 17, *range(27, 32), 36, *range(50, 59)), "yyyy-mm-dd"),
    **dict.fromkeys((18, 20), "h:mm"),
    **dict.fromkeys((19, 21), "h:mm:ss"),
    22: "yyyy-mm-dd h:mm",
    **dict.fromkeys((37, 38), "#,##0"),
    **dict.fromkeys((39, 40), "#,##0.00"),
    45: "h:mm:ss",
    46: "[h]:mm:ss",
}
"""The formats that a file names by number alone."""
_PIECE = re.compile(r'"([^"]*)"|\\(.)|_.|\*.|\[\$([^\]-]*)[^\]]*\]|(\[[^\]]*\])|(.)', re.DOTALL)
_ELAPSED = re.compile(r"\[[hms]+\]", re.IGNORECASE)
_DATE_LETTERS = re.compile(r"[ymdhs]", re.IGNORECASE)
_TIME_LETTERS = re.compile(r"[hs]", re.IGNORECASE)
_DAY_LETTERS = re.compile(r"[yd]", re.IGNORECASE)
_DIGITS = re.compile(r"[#0?,]*[#0?](?:\.([#0?]*))?|\.([#0?]+)")
_NOT_PLAIN = re.compile(r"[#0?.,Ee/@]")
_LITERAL: Final = "\0"
_SECONDS_OF_A_DAY: Final = 86_400
_FIRST_DAY: Final = datetime(1899, 12, 30)  # noqa: DTZ001 - a sheet's times have no zone
_FIRST_DAY_1904: Final = datetime(1904, 1, 1)  # noqa: DTZ001 - the same
_NO_SUCH_DAY: Final = 60
"""Excel counts 29 February 1900, which never was."""
_LAST_DAY: Final = 2_958_465
_MOST_DIGITS: Final = 15
_MOST_DECIMALS: Final = 20


class _Format(NamedTuple):
    """A format for numbers of one sign: its characters, and the same with its literals masked."""

    shown: str
    code: str
    is_elapsed: bool

    @property
    def is_date(self) -> bool:
        return self.code != GENERAL and _DATE_LETTERS.search(self.code) is not None


def shown_number(written: str, code: str, *, since_1904: bool = False) -> str | None:
    """Return a number as its format shows it; None if it is none."""
    try:
        number = float(written)
    except ValueError:
        return None
    if not isfinite(number):
        return None
    form = _format(code, negative=number < 0)
    if not form.shown:
        return "" if code else plain_number(number)
    if form.is_elapsed:
        found = _elapsed(number)
    elif form.is_date:
        found = _date(number, form.code, since_1904=since_1904)
    else:
        found = _with_format(number, form)
    return found or plain_number(number)


def plain_number(number: float) -> str:
    """Return a number with the 15 digits that a spreadsheet keeps, and without a small power."""
    shortened = f"{number:.{_MOST_DIGITS}g}"
    if "e" not in shortened:
        return shortened
    decimal = Decimal(shortened)
    return f"{decimal:f}" if abs(decimal.adjusted()) <= _MOST_DECIMALS else shortened


@lru_cache(maxsize=1_024)
def _format(code: str, *, negative: bool) -> _Format:
    """Return the part of a format for positive or negative numbers, taken apart."""
    shown, masked, elapsed = [""], [""], [False]
    for piece in _PIECE.finditer(code):
        quoted, escaped, currency, bracket, other = piece.groups()
        literal = quoted or escaped or currency or ""
        if other == ";":
            shown.append("")
            masked.append("")
            elapsed.append(False)
            continue
        shown[-1] += literal or other or ""
        masked[-1] += _LITERAL * len(literal) or other or ""
        elapsed[-1] = elapsed[-1] or bool(bracket and _ELAPSED.fullmatch(bracket))
    place = 1 if negative and len(shown) > 1 else 0
    return _Format(shown[place], masked[place], elapsed[place])


def _with_format(number: float, form: _Format) -> str | None:
    """Return a number with its decimals, its percent sign and what stands around it."""
    digits = _DIGITS.search(form.code)
    if not digits:
        return None
    start, end = digits.span()
    if _NOT_PLAIN.search(form.code[:start] + form.code[end:]):
        return None
    places = digits[1] or digits[2] or ""
    scaled = abs(Decimal(f"{number:.{_MOST_DIGITS}g}")) * (100 if "%" in form.code else 1)
    if len(places) > _MOST_DECIMALS or (scaled and scaled.adjusted() > _MOST_DECIMALS):
        return None
    rounded = scaled.quantize(Decimal(1).scaleb(-len(places)), ROUND_HALF_UP)
    written = f"{rounded:,f}" if "," in digits[0] else f"{rounded:f}"
    for place in reversed(places):
        if place == "0" or written[-1] != "0":
            break
        written = written[:-1]
    before, after = form.shown[:start].strip(" -("), form.shown[end:].rstrip(" )")
    minus = "-" if number < 0 and rounded else ""
    return f"{minus}{before}{written.removesuffix('.')}{after}"


def _date(number: float, bare: str, *, since_1904: bool) -> str | None:
    if not 0 <= number <= _LAST_DAY:
        return None
    days, share = divmod(number, 1)
    seconds = round(share * _SECONDS_OF_A_DAY)
    if since_1904:
        first = _FIRST_DAY_1904
    else:
        first = _FIRST_DAY if days >= _NO_SUCH_DAY else _FIRST_DAY + timedelta(days=1)
    try:
        moment = first + timedelta(days=days, seconds=seconds)
    except OverflowError:
        return None
    time = moment.strftime("%H:%M:%S" if moment.second else "%H:%M")
    if not _TIME_LETTERS.search(bare):
        return moment.date().isoformat()
    return f"{moment.date().isoformat()} {time}" if _DAY_LETTERS.search(bare) else time


def _elapsed(number: float) -> str | None:
    """Return a length of time as hours, minutes and seconds."""
    if not 0 <= number <= _LAST_DAY:
        return plain_number(number)
    minutes, seconds = divmod(round(number * _SECONDS_OF_A_DAY), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"

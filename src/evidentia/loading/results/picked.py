"""Rows picked out of a result, as its file has them: what every reader of results gives back."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from typing import Any, Final, NoReturn

from evidentia.canonical import MAX_DEPTH
from evidentia.errors import EnvironmentProblem, InputError

LONGEST_ROW: Final = 16 * 2**20
"""Bytes that a row may have in its file if it is to be shown."""

_LONGEST_INTEGER: Final = 1_000

Row = Mapping[str, object] | Sequence[object]
Choose = Callable[[int], tuple[int, ...]]
"""Gives the places of the rows to pick, ascending, when their total is known."""


@dataclass(frozen=True, slots=True)
class PickedRows:
    """The picked rows, their places in the whole, how many there are, and the columns if named."""

    total: int
    numbers: tuple[int, ...]
    rows: Sequence[Row]
    columns: tuple[str, ...] = ()


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return column names of which no two are alike: the second `a` is `a_2`, the next `a_3`."""
    taken = set(names)
    found: list[str] = []
    for name in names:
        chosen, count = name, 1
        while chosen in found or (count > 1 and chosen in taken):
            count += 1
            chosen = f"{name}_{count}"
        found.append(chosen)
    return tuple(found)


def changed(name: str) -> EnvironmentProblem:
    """Return the error for a file that is not what it was a moment ago."""
    return EnvironmentProblem(f"{name} was changed while it was read: try again when it is at rest")


def exact_number(text: str) -> float | Decimal:
    """Return a number with a point or an exponent; as a float only where that is the same number.

    Raise `ValueError` if it is too large for either.
    """
    try:
        exact = Decimal(text)
        near = float(exact)
    except (DecimalException, OverflowError):
        raise ValueError(_too_large(text)) from None
    return near if Decimal(repr(near)) == exact else exact


def parsed_row(line: bytes, where: str) -> Row:
    """Return the object or array of one line of JSON, its numbers exact; `where` names the line.

    Raise `InputError` for anything else: not UTF-8, not JSON, NaN, a lone surrogate, too deep.
    """
    try:
        text = line.decode()
        value = json.loads(
            text,
            parse_float=exact_number,
            parse_int=_integer,
            parse_constant=_refuse_constant,
        )
        if "\\u" in text:
            _refuse_surrogates(value)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where} is not UTF-8 (byte {error.start + 1} of it): save it as UTF-8"
        ) from None
    except json.JSONDecodeError as error:
        raise InputError(f"{where} is not JSON: {error.msg} at column {error.colno}") from None
    except ValueError as error:
        raise InputError(f"{where} is not JSON: {error}") from None
    except RecursionError:
        raise InputError(f"{where} is nested more than {MAX_DEPTH} levels deep") from None
    return as_row(value, where)


def as_row(value: Any, where: str) -> Row:
    """Return a value that is an object or an array, and refuse others."""
    if not isinstance(value, dict | list):
        raise InputError(f"{where} is neither an object nor an array, so it is no row")
    return value


def _integer(text: str) -> int:
    if len(text) > _LONGEST_INTEGER:
        raise ValueError(_too_large(text))
    return int(text)


def _too_large(text: str) -> str:
    return f"a number of {len(text):,} characters is too large to read"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _refuse_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        raise ValueError("text with a lone surrogate") from None

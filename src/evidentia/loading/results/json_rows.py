"""Rows of one JSON text, read event by event in constant memory: once to count, once to pick.

A table is an array of objects or of arrays, or an object that has one under `rows`, `data` or
`results`, with the columns' names under `columns` if it has them. Any other object is one row.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from io import BufferedIOBase
from typing import Any, Final

import ijson  # type: ignore[import-untyped]  # it has no types

from evidentia.canonical import MAX_DEPTH
from evidentia.errors import InputError
from evidentia.language.counting import counted
from evidentia.loading.results.picked import (
    LONGEST_ROW,
    Choose,
    PickedRows,
    Row,
    as_row,
    changed,
    exact_number,
)

_BLOCK: Final = 2**16
_BOM: Final = b"\xef\xbb\xbf"
_TABLES: Final = ("rows", "data", "results")
_STARTS: Final = frozenset({"start_map", "start_array"})
_ENDS: Final = frozenset({"end_map", "end_array"})
_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_WHOLE_TEXT: Final = re.compile(
    rb"(?>(?s:[^\\]++|\\(?!u[dD][89a-fA-F])."
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*)"
)
"""Matches as far as every surrogate has its other half: the parser puts `?` for one alone."""
_MOST_DIGITS: Final = min(4_300, sys.get_int_max_str_digits() or 4_300)
"""In a row. The parser goes on after a number that Python refuses to read, and all is lost."""
_DIGITS: Final = re.compile(rb"[0-9]*+")
_PAIR: Final = len(b"\\ud83d\\ude00")
Events = Iterator[tuple[str, Any]]


def pick_json(
    file: BufferedIOBase, name: str, choose: Choose, seen: Callable[[bytes], object]
) -> PickedRows:
    """Return the rows that `choose` wants, in constant memory; `seen` is shown all bytes once."""
    shape = _Shape(name)
    with _translated(name, shape):
        shape.read(ijson.basic_parse(_Checked(file, name, seen), buf_size=_BLOCK))
    key, total = shape.table()
    numbers = choose(total)
    file.seek(0)
    with _translated(name, shape):
        events = ijson.basic_parse(_Checked(file, name), buf_size=_BLOCK)
        rows = _picked(events, key, numbers, name) if numbers else []
    for number, row in zip(numbers, rows, strict=True):
        if shape.columns and isinstance(row, list) and len(row) != len(shape.columns):
            raise InputError(
                f"{name} row {number + 1} has {counted(len(row), 'cell')}, and the result has "
                f"{counted(len(shape.columns), 'column')}"
            )
    return PickedRows(total, numbers, rows, tuple(shape.columns))


class _Checked:
    """A file for the parser: without its byte order mark, and refused if a surrogate is alone."""

    def __init__(
        self, file: BufferedIOBase, name: str, seen: Callable[[bytes], object] | None = None
    ) -> None:
        self._file, self._name, self._seen = file, name, seen
        self._is_first = True
        self._lines, self._rest, self._before = 1, b"", b""

    def read(self, size: int) -> bytes:
        """Return the next bytes, as a file does."""
        data = self._file.read(size)
        if self._seen is not None:
            self._seen(data)
            self._check_numbers(data)
            self._check_text(data)
        if self._is_first and size:
            self._is_first = False
            data = data.removeprefix(_BOM) or self._file.read(size)
        return data

    def _check_numbers(self, data: bytes) -> None:
        text = self._before + data
        for at in range(0, len(text), _MOST_DIGITS):  # no longer run falls between these
            found = _DIGITS.match(text, at)
            if found and found[0]:
                left = text[max(0, at - _MOST_DIGITS) : at]
                if len(found[0]) + len(left) - len(left.rstrip(b"0123456789")) > _MOST_DIGITS:
                    raise InputError(
                        f"{self._name} has more than {_MOST_DIGITS:,} digits in a row: too many "
                        "to read"
                    )
        self._before = text[-_MOST_DIGITS:]

    def _check_text(self, data: bytes) -> None:
        text = self._rest + data
        whole = _WHOLE_TEXT.match(text)
        end = whole.end() if whole else 0
        self._rest = text[end:]
        is_cut = len(self._rest) < _PAIR and data
        if _HALF.match(self._rest) and not is_cut:
            line = self._lines + text.count(b"\n", 0, end)
            raise InputError(f"{self._name} line {line} has text with a lone surrogate")
        self._lines += text.count(b"\n", 0, end)


@dataclass(slots=True)
class _Found:
    """An array that may be the table: how many rows it has, and its first item that is none."""

    rows: int = 0
    no_row: int | None = None


@dataclass(slots=True)
class _Shape:
    """What a JSON text holds, as far as it was read."""

    name: str
    tables: dict[str | None, _Found] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    is_object: bool = False

    def read(self, events: Events) -> None:  # noqa: C901 - one tight loop over all events
        """Read a text to its end."""
        depth = 0
        key: str | None = None
        table: _Found | None = None
        row_depth = 1
        for event, value in events:
            if event in _STARTS:
                if depth == row_depth and table is not None:
                    table.rows += 1
                elif depth < row_depth:
                    if not depth:
                        self.is_object = event == "start_map"
                        row_depth += self.is_object
                    if depth == row_depth - 1 and event == "start_array":
                        table = self._begun(key)
                depth += 1
            elif event in _ENDS:
                depth -= 1
                if depth < row_depth:
                    table = None
            elif depth == 1 and event == "map_key":
                key = value
            elif depth == row_depth and table is not None:
                self._scalar(key, table, value)

    def table(self) -> tuple[str | None, int]:
        """Return the key of the table and its rows; no key if the text or its object is one."""
        if not self.is_object:
            found = self.tables.get(None)
            if found is None:
                raise InputError(f"{self.name} is no table: give an array of objects, or an object")
            self._check(found)
            return None, found.rows
        for key in _TABLES:
            found = self.tables.get(key)
            if found is not None and found.no_row != 0:
                self._check(found)
                return key, found.rows
        self.columns.clear()
        return None, 1

    @property
    def rows(self) -> int:
        """How many rows were found so far, if they are in one place."""
        return max((found.rows for found in self.tables.values()), default=0)

    def _begun(self, key: str | None) -> _Found | None:
        if key is not None and key != "columns" and key not in _TABLES:
            return None
        return self.tables.setdefault(key, _Found())

    def _scalar(self, key: str | None, table: _Found, value: Any) -> None:
        if key == "columns" and isinstance(value, str):
            self.columns.append(value)
        elif table.no_row is None:
            table.no_row = table.rows

    def _check(self, found: _Found) -> None:
        if found.no_row is not None:
            as_row(None, f"{self.name} row {found.no_row + 1}")
        named = self.tables.get("columns")
        if named is not None and (named.rows or named.no_row is not None):
            raise InputError(f"{self.name}: its columns are not all text")


def _picked(  # noqa: C901 - one tight loop over all events
    events: Events, key: str | None, numbers: tuple[int, ...], name: str
) -> list[Row]:
    """Return the rows of ascending numbers, and read no further than the last."""
    rows: list[Row] = []
    depth, place = 0, -1
    row_depth = 1
    is_inside, is_key = key is None, False
    building: _Building | None = None
    for event, value in events:
        if building is not None:
            if not building.takes(event, value):
                continue
            rows.append(building.row)
            building = None
            if len(rows) == len(numbers):
                return rows
        elif event in _STARTS:
            if not depth and event == "start_map":
                row_depth = 0 if key is None else 2
            if depth == row_depth and is_inside:
                place += 1
                if place == numbers[len(rows)]:
                    building = _Building(event, f"{name} row {place + 1}")
                    continue
            elif depth == 1:
                is_inside = is_key and event == "start_array"
            depth += 1
        elif event in _ENDS:
            depth -= 1
            is_inside = is_inside and depth >= row_depth
        elif depth == 1 and event == "map_key":
            is_key = value == key
    raise changed(name)


class _Building:
    """One row, put together from events."""

    def __init__(self, event: str, where: str) -> None:
        self.row: Any = {} if event == "start_map" else []
        self._where = where
        self._open: list[Any] = [self.row]
        self._keys: list[str] = [""]
        self._size = 0

    def takes(self, event: str, value: Any) -> bool:
        """Take an event; return whether the row is complete."""
        if event == "map_key":
            self._keys[-1] = value
            self._grow(len(value))
        elif event in _STARTS:
            inner: Any = {} if event == "start_map" else []
            self._put(inner)
            self._open.append(inner)
            self._keys.append("")
            if len(self._open) > MAX_DEPTH + 1:  # the row itself is no level of its cells
                raise InputError(f"{self._where} is nested more than {MAX_DEPTH} levels deep")
        elif event in _ENDS:
            self._open.pop()
            self._keys.pop()
        else:
            self._put(exact_number(str(value)) if isinstance(value, Decimal) else value)
        return not self._open

    def _put(self, value: Any) -> None:
        self._grow(len(value) if isinstance(value, str) else 1)
        if isinstance(self._open[-1], dict):
            self._open[-1][self._keys[-1]] = value
        else:
            self._open[-1].append(value)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > LONGEST_ROW:
            raise InputError(f"{self._where} has more than {LONGEST_ROW:,} bytes: too long to show")


@contextmanager
def _translated(name: str, shape: _Shape) -> Iterator[None]:
    """Turn the parser's errors into ours."""
    try:
        yield
    except InputError:
        raise
    except (ijson.JSONError, ValueError, ArithmeticError) as error:
        reason = next(iter(str(error).splitlines()), "")
        if isinstance(error, UnicodeDecodeError) or "UTF8" in reason:
            reason = "it is not UTF-8"
        raise InputError(
            f"{name} is not JSON (after {counted(shape.rows, 'row')}): "
            f"{reason or type(error).__name__}"
        ) from None

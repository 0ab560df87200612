"""Results as text that a language model can read: what is shown, of how much, and what is missing.

Every row is one line, whatever its cells hold: line breaks, control characters, the separator and
an ellipsis at a cell's beginning are escaped, so no cell can pass for a row or for a note.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from operator import itemgetter
from typing import Final

from evidentia.bundles.sampling import SamplingStrategy, runs, sampled_rows
from evidentia.canonical import MAX_DEPTH
from evidentia.errors import InputError
from evidentia.language.counting import agreed, counted
from evidentia.language.graphemes import boundary_before

SEPARATOR: Final = " | "
LONGEST_CELL: Final = 200
"""Code points that a cell keeps where the whole is too long."""
_LONGEST_BYTES: Final = 64
_MOST_RUNS_NAMED: Final = 3
_ESCAPED: Final = re.compile(r"[\\|\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|\A…")
_ESCAPED_IN_TITLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ESCAPED_IN_JSON: Final = re.compile(r"[|\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_SHORT: Final = {"\\": "\\\\", "|": "\\|", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BROKEN_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\\\)*(\\(?:u[0-9a-f]{0,3})?)\Z")


@dataclass(frozen=True, slots=True)
class SampledTable:
    """Some rows and columns of a result, as text.

    `row_numbers` are zero-based places in the whole result, which has `row_count` rows;
    `left_out_columns` are those that follow the shown `columns`, in their order.
    """

    columns: tuple[str, ...]
    left_out_columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    row_numbers: tuple[int, ...]
    row_count: int
    strategy: SamplingStrategy
    trimmed_cells: int = 0


def row_texts(
    rows: Sequence[Mapping[str, object]], numbers: Sequence[int], columns: Sequence[str], name: str
) -> tuple[tuple[str, ...], ...]:
    """Return the cells of rows as text, column by column; one that is not there is empty.

    Raise `InputError` naming the result and the row for a value that cannot be shown.
    """
    shown = []
    for number, row in zip(numbers, rows, strict=True):
        try:
            cells = (cell_text(row[one]) if one in row else "" for one in columns)
            shown.append(tuple(cells))
        except InputError as error:
            raise InputError(f"{name} row {number + 1} is {error}") from None
    return tuple(shown)


def cell_text(value: object) -> str:
    """Return a value on one line, the same every time.

    NULL, true, false; numbers as JSON has them, exactly; times as ISO 8601; bytes as `0x…`; objects
    and arrays as compact JSON with sorted keys. Raise `InputError` if they are nested too deep.
    """
    match value:
        case None:
            return "NULL"
        case str():
            return _ESCAPED.sub(_escape, value)
        case bytes() | bytearray() | memoryview():
            return _bytes_text(bytes(value))
        case Mapping() | list() | tuple():
            return _ESCAPED_IN_JSON.sub(_escape_in_json, _json_text(value, MAX_DEPTH))
        case _:
            return _ESCAPED.sub(_escape, _plain_text(value))


def table_text(table: SampledTable, title: str) -> str:
    """Return a table as lines: title, what is shown, column names, rows, notes where rows miss."""
    lines = [_ESCAPED_IN_TITLE.sub(_escape, title), _rows_shown(table)]
    if table.left_out_columns:
        count, total = len(table.left_out_columns), len(table.columns) + len(table.left_out_columns)
        names = ", ".join(_ESCAPED.sub(_escape, name) for name in table.left_out_columns)
        lines.append(f"{count:,} of {total:,} columns left out: {names}.")
    if table.trimmed_cells:
        lines.append(f"{counted(table.trimmed_cells, 'long cell')} trimmed.")
    if table.columns:
        lines.append(SEPARATOR.join(_ESCAPED.sub(_escape, name) for name in table.columns))
    place, at = 0, 0
    for run in runs(table.row_numbers):
        if run.start > place:
            lines.append(_gap(run.start - place))
        lines += [SEPARATOR.join(row) for row in table.rows[at : at + len(run)]]
        place, at = run.stop, at + len(run)
    if place < table.row_count:
        lines.append(_gap(table.row_count - place))
    return "\n".join(lines)


def fit_table(table: SampledTable, title: str, max_bytes: int) -> SampledTable:
    """Return a table whose text has at most `max_bytes` in UTF-8, if one of its rows can fit.

    Long cells are trimmed first, between characters; then rows are left out, by the table's own
    strategy. One row always stays: its caller cuts what is still too long.
    """
    if _size(table, title) <= max_bytes or not table.rows:
        return table
    trimmed = _trimmed(table)
    low, high = 1, len(table.rows) + 1
    while high - low > 1:  # `high` rows do not fit; `low` rows do, or are as few as may be
        middle = (low + high) // 2
        if _size(_with_rows(table, trimmed, middle), title) <= max_bytes:
            low = middle
        else:
            high = middle
    return _with_rows(table, trimmed, low)


def map_cells(table: SampledTable, change: Callable[[str], str]) -> SampledTable:
    """Return a table with every shown cell, and every column's name, as `change` gives it back."""
    return replace(
        table,
        columns=tuple(map(change, table.columns)),
        left_out_columns=tuple(map(change, table.left_out_columns)),
        rows=tuple(tuple(map(change, row)) for row in table.rows),
    )


def _rows_shown(table: SampledTable) -> str:
    total, shown = table.row_count, table.row_numbers
    if not total:
        return "No rows: the result is empty."
    if len(shown) == total:
        return agreed(total, "1 row, all shown.", f"All {counted(total, 'row')}.")
    if not shown:
        return f"None of {counted(total, 'row')} shown ({table.strategy})."
    found = runs(shown)
    if len(found) > _MOST_RUNS_NAMED:
        names = f"{len(shown):,} rows between {shown[0] + 1:,} and {shown[-1] + 1:,}"
    else:
        named = [
            f"{run.start + 1:,}" if len(run) == 1 else f"{run.start + 1:,} to {run.stop:,}"
            for run in found
        ]
        names = f"{agreed(len(shown), 'Row', 'Rows')} {_listed(named)}"
    return f"{names} of {total:,} shown ({table.strategy})."


def _gap(count: int) -> str:
    return f"… {counted(count, 'row')} left out …"


def _size(table: SampledTable, title: str) -> int:
    return len(table_text(table, title).encode())


@dataclass(frozen=True, slots=True)
class _TrimmedRow:
    cells: tuple[str, ...]
    trimmed: int


def _trimmed(table: SampledTable) -> list[_TrimmedRow]:
    """Return the rows with their long cells trimmed, unless that was done before."""
    if table.trimmed_cells:
        return [
            _TrimmedRow(row, sum(len(cell) > LONGEST_CELL for cell in row)) for row in table.rows
        ]
    rows = []
    for row in table.rows:
        cells = tuple(_trimmed_cell(cell) for cell in row)
        rows.append(_TrimmedRow(cells, sum(map(str.__ne__, row, cells))))
    return rows


def _trimmed_cell(cell: str) -> str:
    if len(cell) <= LONGEST_CELL:
        return cell
    end = boundary_before(cell, LONGEST_CELL)
    if broken := _BROKEN_ESCAPE.search(cell, 0, end):
        end = broken.start(1)
    return f"{cell[:end]}… (+{len(cell) - end:,} characters)"


def _with_rows(table: SampledTable, trimmed: list[_TrimmedRow], count: int) -> SampledTable:
    places = sampled_rows(len(trimmed), count, table.strategy)
    return replace(
        table,
        rows=tuple(trimmed[place].cells for place in places),
        row_numbers=tuple(table.row_numbers[place] for place in places),
        trimmed_cells=sum(trimmed[place].trimmed for place in places),
    )


def _escape(found: re.Match[str]) -> str:
    return _SHORT.get(found[0]) or f"\\u{ord(found[0]):04x}"


def _escape_in_json(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _bytes_text(value: bytes) -> str:
    if len(value) <= _LONGEST_BYTES:
        return f"0x{value.hex()}"
    return f"0x{value[:_LONGEST_BYTES].hex()}… (+{len(value) - _LONGEST_BYTES:,} bytes)"


def _plain_text(value: object) -> str:
    """Return what is neither text, bytes nor nested, as it is read by people and as JSON has it."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | Decimal():
            return str(value)
        case float():
            return json.dumps(value)
        case date() | datetime() | time():
            return value.isoformat()
        case _:
            return str(value)


def _json_text(value: object, levels: int) -> str:
    """Return compact JSON in which numbers stay exact; what JSON does not have stands as text."""
    if levels < 0:
        raise InputError(f"nested more than {MAX_DEPTH} levels deep")
    match value:
        case None:
            return "null"
        case Mapping():
            members = sorted(((str(key), one) for key, one in value.items()), key=itemgetter(0))
            inside = (f"{_quoted(key)}:{_json_text(one, levels - 1)}" for key, one in members)
            return f"{{{','.join(inside)}}}"
        case list() | tuple():
            return f"[{','.join(_json_text(one, levels - 1) for one in value)}]"
        case bool() | int() | float() | Decimal():
            return _plain_text(value)
        case bytes() | bytearray() | memoryview():
            return _quoted(_bytes_text(bytes(value)))
        case _:
            return _quoted(_plain_text(value))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last

"""Tables of rows, from a spreadsheet or a CSV file: each row is a line that says what it means.

A value stands behind the name of its column, `Country: Oman | Days: 15`, so that a row can be
quoted alone. The names come of the row that looks like a header; without one, a row is its values.
Each row is a place with a name of its own, and so a passage.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from evidentia.documents.model import Heading, Page
from evidentia.documents.reading.contents import problem
from evidentia.documents.reading.limits import MAX_CELLS, MAX_ROWS, MAX_TABLE_CHARACTERS

BETWEEN: Final = " | "
_LOOKED_AT: Final = 20
"""How many rows may stand above a header: titles, dates, notes."""
_COMPARED: Final = 30
_WIDE: Final = 0.6
"""Which part of the columns below it a header names at least."""
_SURE_COLUMNS: Final = 3
_VALUE = re.compile(
    r"[-+(<>~≈±]?\s?[$€£¥₹﷼]?\s?[-+]?\d[\d\s.,:/'-]*(?:[eE][-+]?\d+)?\s?[%‰$€£¥₹﷼)]?"
    r"|[A-Z]{3}\s\d[\d\s.,]*|\d[\d\s.,]*\s[A-Z]{3}|\d{4}-\d\d-\d\d[T ][\d:.+Z-]+",
)
_LONGEST_VALUE: Final = 40
_YEAR = re.compile(r"(?:19|20)\d\d")


class Cell(NamedTuple):
    """A cell that is not empty: its column from 0, what it shows, and whether that is a value.

    A value is a number, a date, yes or no: what a header does not have.
    """

    column: int
    text: str
    is_value: bool = False


class Row(NamedTuple):
    """A row by the number that its reader sees, and its cells from first to last."""

    number: int
    cells: tuple[Cell, ...]


def looks_like_value(text: str) -> bool:
    """Whether a text is a number, an amount or a date, and not words."""
    return len(text) <= _LONGEST_VALUE and _VALUE.fullmatch(text) is not None


def one_line(text: str) -> str:
    """Return what a cell says on one line."""
    return " ".join(text.split())


def find_header(rows: Sequence[Row]) -> int | None:
    """Return the place among the rows of the one that names the columns, or None.

    It has words alone, no two the same, for most of the columns below it. Of two columns, one must
    have values below: else two texts side by side would become a name and what it names.
    """
    for place, row in enumerate(rows[:_LOOKED_AT]):
        below = rows[place + 1 : place + 1 + _COMPARED]
        if below and _names_columns(row) and _fits(row, below):
            return place
    return None


def _names_columns(row: Row) -> bool:
    names = [cell.text for cell in row.cells]
    return (
        len(names) > 1
        and len(set(names)) == len(names)
        and not row.cells[0].is_value
        and all(not cell.is_value or _YEAR.fullmatch(cell.text) for cell in row.cells)
    )


def _fits(row: Row, below: Sequence[Row]) -> bool:
    widest = max(len(other.cells) for other in below)
    if len(row.cells) < _WIDE * widest:
        return False
    if len(row.cells) >= _SURE_COLUMNS:
        return True
    for named in row.cells:
        column = [cell for other in below for cell in other.cells if cell.column == named.column]
        if column and 2 * sum(cell.is_value for cell in column) >= len(column):
            return True
    return False


class TableWriter:
    """Takes the rows of a file's tables and writes each table as a page, within the limits.

    Raises `DocumentError` as soon as the file has more rows, cells or text than are read.
    """

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self._rows: list[Row] = []
        self._most = {"rows": MAX_ROWS, "cells": MAX_CELLS, "characters": MAX_TABLE_CHARACTERS}
        self._taken = dict.fromkeys(self._most, 0)

    def add(self, row: Row) -> None:
        """Take the next row of a table; an empty one says nothing."""
        if row.cells:
            self._take("rows", 1)
            self._take("cells", len(row.cells))
            self._rows.append(row)

    def fill_down(self, column: int, first: int, last: int) -> None:
        """Show the cell of the first row in the empty ones below it, too, as merged cells are."""
        place = bisect_left(self._rows, first, key=lambda row: row.number)
        rows = self._rows[place : bisect_right(self._rows, last, key=lambda row: row.number)]
        shown = [cell for row in rows[:1] for cell in row.cells if cell.column == column]
        if not shown or rows[0].number != first:
            return
        self._take("cells", len(rows))
        for at, row in enumerate(rows[1:], place + 1):
            if all(cell.column != column for cell in row.cells):
                self._rows[at] = Row(row.number, tuple(sorted((*row.cells, *shown))))

    def page(
        self, number: int, called: str = "", header: int | None = None
    ) -> tuple[Page, list[Heading]]:
        """Write the rows that were taken as a page; give their names, and begin a new table.

        `called` names the sheet, `header` the row with the names of the columns, if a file says it.
        """
        rows, self._rows = self._rows, []
        known = [place for place, row in enumerate(rows[:-1]) if row.number == header]
        place = known[0] if known else find_header(rows)
        lines: list[str] = []
        headings: list[Heading] = []
        at = 0
        for line_number, line in _lines(rows, place):
            self._take("characters", len(line))
            name = f"{called}, row {line_number}" if called else f"Row {line_number}"
            headings.append(Heading(1, name, number, at, written=False))
            lines.append(line)
            at += len(line) + 1
        return Page(number, "\n".join(lines)), headings

    def _take(self, what: str, count: int) -> None:
        self._taken[what] += count
        if self._taken[what] > self._most[what]:
            raise problem(
                self._filename, f"tables of more than {self._most[what]:,} {what}: split the file"
            )


def row_lines(rows: Sequence[Row], header: int | None) -> list[str]:
    """Return each row but the header as a line, values behind the names of their columns."""
    return [line for _, line in _lines(rows, header)]


def _lines(rows: Sequence[Row], header: int | None) -> Iterator[tuple[int, str]]:
    """Give the rows as lines with their numbers; above a header there are no columns yet."""
    names = {} if header is None else {cell.column: cell.text for cell in rows[header].cells}
    for place, row in enumerate(rows):
        if place == header:
            continue
        above = header is not None and place < header
        yield (
            row.number,
            BETWEEN.join(
                cell.text if above else _named(names.get(cell.column), cell.text)
                for cell in row.cells
            ),
        )


def _named(name: str | None, text: str) -> str:
    return f"{name.removesuffix(':')}: {text}" if name else text

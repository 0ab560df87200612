"""Rows of CSV and TSV, read in constant memory; every row must have as many cells as the header."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from typing import Final

from evidentia.errors import InputError
from evidentia.language.counting import counted
from evidentia.loading.results.picked import LONGEST_ROW, Choose, PickedRows, changed, distinct

_BOM: Final = b"\xef\xbb\xbf"
_BETWEEN_PLACES: Final = 4_096


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a row begins: its number, its line and its offset."""

    row: int
    line: int
    offset: int


def pick_csv(file: BufferedIOBase, name: str, choose: Choose, delimiter: str) -> PickedRows:
    """Return the rows that `choose` wants; the first row names the columns."""
    records = _Records(file, name, delimiter, _Place(-1, 0, 0))
    header = next(records, None)
    if header is None:
        return PickedRows(0, choose(0), [])
    columns = distinct([cell or f"c{place}" for place, cell in enumerate(header, 1)])
    places = [records.place]
    total = 0
    for record in records:
        if len(record) != len(columns):
            raise InputError(
                f"{name} line {records.place.line} has {counted(len(record), 'cell')} where the "
                f"header has {len(columns)}"
            )
        total += 1
        if not total % _BETWEEN_PLACES:
            places.append(records.place)
    numbers = choose(total)
    rows: list[list[str]] = []
    records = _Records(file, name, delimiter, places[0])
    for number in numbers:
        known = places[number // _BETWEEN_PLACES]
        if known.row > records.row:
            records = _Records(file, name, delimiter, known)
        for record in records:
            if records.row > number:
                rows.append(record)
                break
        else:
            raise changed(name)
    return PickedRows(total, numbers, rows, columns)


class _Records(Iterator[list[str]]):
    """The records from a place on that are not blank; `row` is the number of the next one."""

    def __init__(self, file: BufferedIOBase, name: str, delimiter: str, place: _Place) -> None:
        self.row = place.row
        self._file, self._name = file, name
        self._line, self._offset = place.line, place.offset
        self._reader = csv.reader(self._lines(), delimiter=delimiter, strict=True)
        file.seek(place.offset)

    def __next__(self) -> list[str]:
        try:
            record = next(record for record in self._reader if record)
        except csv.Error as error:
            raise InputError(f"{self._name} line {self._line} is not CSV: {error}") from None
        self.row += 1
        return record

    @property
    def place(self) -> _Place:
        """Where the next record begins; its line is the one before, where the last one ends."""
        return _Place(self.row, self._line, self._offset)

    def _lines(self) -> Iterator[str]:
        while line := self._file.readline(LONGEST_ROW + 1):
            self._line += 1
            if len(line) > LONGEST_ROW:
                raise InputError(
                    f"{self._name} line {self._line} has more than {LONGEST_ROW:,} bytes"
                )
            if not self._offset:
                self._offset = len(line) - len(line.removeprefix(_BOM))
                line = line.removeprefix(_BOM)
            self._offset += len(line)
            try:
                yield line.decode()
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{self._name} line {self._line} is not UTF-8 (byte {error.start + 1} of it): "
                    "save it as UTF-8"
                ) from None

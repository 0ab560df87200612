"""CSV: each record becomes a line with the names of its columns, and a passage of its own.

What parts the fields, a comma, a semicolon, a tab or a bar, is told by the first lines.
"""

import csv
import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from evidentia.documents.reading.contents import Contents, problem
from evidentia.documents.reading.tables import Cell, Row, TableWriter, looks_like_value, one_line
from evidentia.documents.reading.text import decode_text

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_DELIMITERS: Final = (",", ";", "\t", "|")
_SAMPLED: Final = 50


def read_csv(data: bytes, filename: str) -> Contents:
    """Read a CSV file in UTF-8, or in UTF-16 or UTF-32 with a byte order mark.

    Raises `DocumentError` if its quotes do not pair, for its records could not be told apart.
    """
    text = decode_text(data, filename)
    delimiter = "\t" if filename.lower().endswith(".tsv") else _delimiter(text)
    writer = TableWriter(filename)
    for row in _rows(text, delimiter, filename):
        writer.add(row)
    page, headings = writer.page(1)
    return Contents((page,), tuple(headings))


def _delimiter(text: str) -> str:
    """Return what parts the fields of most records into the same number, of several."""
    best, most = ",", 0
    for delimiter in _DELIMITERS:
        try:
            widths = [len(fields) for fields in islice(_records(text, delimiter), _SAMPLED)]
        except csv.Error:
            continue
        usual = max(widths, key=widths.count)
        agreeing = widths.count(usual) if usual > 1 else 0
        if agreeing > most:
            best, most = delimiter, agreeing
    return best


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    lines = (found[0] for found in _LINE.finditer(text))
    return csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)


def _rows(text: str, delimiter: str, filename: str) -> Iterator[Row]:
    records = _records(text, delimiter)
    number = 0
    try:
        for number, fields in enumerate(records, 1):
            cells = (
                Cell(column, said, looks_like_value(said))
                for column, field in enumerate(fields)
                if (said := one_line(field))
            )
            yield Row(number, tuple(cells))
    except csv.Error as error:
        raise problem(
            filename,
            f"a broken CSV file (record {number + 1:,}: {error}): close its quotes, or export it "
            "again from the program it came from",
        ) from None

"""Rows of NDJSON: the file is read and counted once, and only the lines that are shown are parsed.

A row is a line that is not blank. Its end is where it is counted, so a line may be longer than any
block. Of each block is remembered how many rows and lines end before it, and where the line begins
that is open where the block begins.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from io import BufferedIOBase
from itertools import groupby
from typing import Final

import numpy as np

from evidentia.errors import InputError
from evidentia.loading.results.picked import LONGEST_ROW, Choose, PickedRows, changed, parsed_row

_BLOCK: Final = 2**18
_BOM: Final = b"\xef\xbb\xbf"
_NEWLINE, _SPACE = 0x0A, 0x20


def pick_lines(
    file: BufferedIOBase, name: str, choose: Choose, seen: Callable[[memoryview], object]
) -> PickedRows:
    """Return the rows that `choose` wants, in constant memory; `seen` is shown all bytes once."""
    blocks = _Blocks()
    blocks.count(file, seen)
    numbers = choose(blocks.total)
    rows = [
        parsed_row(line, f"{name} line {place}")
        for line, place in blocks.lines(file, name, numbers)
    ]
    return PickedRows(blocks.total, numbers, rows)


class _Blocks:
    """Where the rows of a file are, block by block."""

    def __init__(self) -> None:
        self.total = 0
        self._starts = array("q")
        self._rows_before = array("q")
        self._lines_before = array("q")
        self._open_from = array("q")

    def count(self, file: BufferedIOBase, seen: Callable[[memoryview], object]) -> None:
        """Read the file from its beginning to its end."""
        buffer = bytearray(_BLOCK)
        view = memoryview(buffer)
        octets = np.frombuffer(buffer, np.uint8)
        newline, blank = np.empty(_BLOCK, np.bool_), np.empty(_BLOCK, np.bool_)
        offset = lines = line_start = 0
        is_open = False  # whether the line that the block begins in has anything but blanks so far
        while size := file.readinto(buffer):
            seen(view[:size])
            start = 0
            if not offset and buffer.startswith(_BOM):
                start = line_start = len(_BOM)
            self._begin(offset, lines, line_start)
            part = octets[start:size]
            ends = np.equal(part, _NEWLINE, out=newline[: len(part)])
            count = int(np.count_nonzero(ends))
            if count:
                following = np.less_equal(part[1:], _SPACE, out=blank[: max(len(part) - 1, 0)])
                np.logical_and(ends[:-1], following, out=following)
                first, last = buffer.find(b"\n", start, size), buffer.rfind(b"\n", start, size)
                self.total += is_open or not _is_blank(buffer[start:first])
                if following.any():  # lines that begin with a blank: are they nothing else?
                    inner = buffer[first + 1 : last].split(b"\n") if last > first else []
                    self.total += sum(not _is_blank(line) for line in inner)
                else:
                    self.total += count - 1
                lines += count
                line_start = offset + last + 1
                is_open = not _is_blank(buffer[last + 1 : size])
            else:
                is_open = is_open or not _is_blank(buffer[start:size])
            offset += size
        self._begin(offset, lines, line_start)  # of nothing: where the last block ends
        self.total += is_open

    def _begin(self, offset: int, lines: int, line_start: int) -> None:
        self._starts.append(offset)
        self._rows_before.append(self.total)
        self._lines_before.append(lines)
        self._open_from.append(line_start)

    def lines(
        self, file: BufferedIOBase, name: str, numbers: tuple[int, ...]
    ) -> Iterator[tuple[bytes, int]]:
        """Give the lines of ascending rows, each with its line number, without their ends."""
        last = len(self._starts) - 1
        for block, group in groupby(
            numbers, key=lambda number: bisect_right(self._rows_before, number, hi=last) - 1
        ):
            wanted = [number - self._rows_before[block] for number in group]
            rows = self._rows_before[block + 1] - self._rows_before[block]
            lines = self._lines_before[block + 1] - self._lines_before[block]
            if wanted[0] and wanted[-1] < rows == lines:
                yield from self._cut(file, name, block, wanted)
            else:  # some begin before the block, end after it, or are no rows
                yield from self._read(file, name, block, wanted)

    def _cut(
        self, file: BufferedIOBase, name: str, block: int, wanted: list[int]
    ) -> Iterator[tuple[bytes, int]]:
        """Give lines of a block in which every line is a row; the first is not among them."""
        file.seek(self._starts[block])
        data = file.read(self._starts[block + 1] - self._starts[block])
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE)
        if len(ends) != self._lines_before[block + 1] - self._lines_before[block]:
            raise changed(name)
        for row in wanted:
            line = data[ends[row - 1] + 1 : ends[row]]
            yield line.rstrip(b"\r"), self._lines_before[block] + row + 1

    def _read(
        self, file: BufferedIOBase, name: str, block: int, wanted: list[int]
    ) -> Iterator[tuple[bytes, int]]:
        """Give lines that end in a block, line by line from the one that is open at its start."""
        row, place = 0, self._lines_before[block]
        file.seek(self._open_from[block])
        for number in wanted:
            while row <= number:
                line, is_whole = _next_line(file, name)
                place += 1
                row += bool(line)
            if not is_whole:
                raise InputError(
                    f"{name} line {place} has more than {LONGEST_ROW:,} bytes: too long to show"
                )
            yield line, place


def _next_line(file: BufferedIOBase, name: str) -> tuple[bytes, bool]:
    """Return a line without its end, and whether it is all of it: of a long one the rest is passed.

    A line of blanks is given back as an empty one.
    """
    line = part = file.readline(LONGEST_ROW + 2)
    if not line:
        raise changed(name)
    content = line.rstrip(b"\r\n")
    is_whole, is_blank = len(content) <= LONGEST_ROW, _is_blank(content)
    while not is_whole and not part.endswith(b"\n") and (part := file.readline(_BLOCK)):
        is_blank = is_blank and _is_blank(part)
    return (b"", True) if is_blank else (content, is_whole)


def _is_blank(line: bytes | bytearray) -> bool:
    return not line.strip(b" \t\r\n")

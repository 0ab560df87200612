"""Tables and columns of a PDF's page, found by the spaces that lines share, and put into order.

A table is written row by row, each value behind the name of its column where a header is seen.
Columns of text that a file writes side by side are written one after the other. Where neither is
sure, the lines stay as they came.
"""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from evidentia.documents.reading.pdf_lines import (
    HYPHEN,
    LEADERS,
    PdfLine,
    Piece,
    Rules,
    join_hyphens,
)
from evidentia.documents.reading.tables import Cell, Row, find_header, looks_like_value, row_lines
from evidentia.language.direction import detect_direction

_GUTTER: Final = 0.4
"""How many times the letters' size the space between two columns is wide at least."""
_LEVEL: Final = 0.3
"""How many times their size two letters of one row may be apart in height."""
_FAR: Final = 4.0
"""How many times its size a row is below the one before at most."""
_MOST_PIECES: Final = 40
_TRIED_AGAIN: Final = 60
"""Of how many lines a part that is no table is searched for one that begins further down."""
_TEXT_ROWS: Final = 5
_TEXT_CHARACTERS: Final = 20
"""Columns of text have some lines, and these some length; what is shorter is a table's cell."""
_SWITCHES: Final = 4
"""Text that changes its column that often was not written column by column."""
_SURE_ROWS: Final = 3
_SURE_COLUMNS: Final = 3
_RULED: Final = 0.5
"""Which part of a table's width a rule has that parts two of its rows."""
_NEAR: Final = 2.5
"""How many times its size a rule is away from the row that it closes a table with."""
_WIDER: Final = 1.3
"""How many times the distance of a cell's lines the distance of two rows is, where it tells."""
_BOLDER: Final = 150
_VALUES: Final = 0.5
_SMALL: Final = 0.75
_FEW: Final = 0.15
"""Where more pieces than that are small, they are signs of formulas, which are no rows."""
_LONGEST_NAME: Final = 100
_LONGER: Final = 4
"""How many times as long as its cells a table may become by the names of its columns."""

_Span = tuple[float, float]
_Pieces = Sequence[Piece]


class _Region(NamedTuple):
    """Lines that share a space between columns: their rows from the top, and where rules part them.

    `first` says where a row begins: 1 from the left, -1 from the right.
    """

    lines: Sequence[PdfLine]
    rows: list[list[Piece]]
    gutters: list[_Span]
    rules: list[float]
    size: float
    first: int

    def column(self, piece: Piece) -> int:
        """Return the column that a piece begins in, in reading order."""
        if self.first < 0:
            return sum(low >= piece.right for low, _ in self.gutters)
        return sum(high <= piece.left for _, high in self.gutters)

    def inner_rules(self, beyond: float = 0.0) -> list[float]:
        """Return where rules part two rows, and those so far above the first or below the last."""
        high, low = self.rows[0][0].y + beyond, self.rows[-1][0].y - beyond
        return [at for at in self.rules if low < at < high]


def arrange(lines: Sequence[PdfLine], rules: Rules) -> list[PdfLine]:
    """Return the lines of a page with its tables row by row, and its columns in their order."""
    if not any(line.pieces for line in lines):
        return list(lines)
    first = -1 if detect_direction("\n".join(line.text for line in lines)) == "rtl" else 1
    found: list[PdfLine] = []
    at = 0
    while at < len(lines):
        end = _end(lines, at)
        ordered, used = _ordered(lines[at:end], rules, first)
        if not ordered:
            used = 1 if end - at <= _TRIED_AGAIN else end - at
        found += ordered or lines[at : at + used]
        at += used
    return found


def _ordered(lines: Sequence[PdfLine], rules: Rules, first: int) -> tuple[list[PdfLine], int]:
    """Return lines in order, and how many of them are; none if they are not columns or a table."""
    region = _region(lines, rules, first)
    if region is None:
        return [], 0
    if not region.inner_rules() and _is_text(region):
        return _columns(region), len(lines)
    trimmed = _trimmed(region)
    if len(trimmed) < len(lines):
        region = _region(trimmed, rules, first)
    return _table(region) if region else [], len(trimmed)


def _end(lines: Sequence[PdfLine], start: int) -> int:
    """Return where the lines end that all leave a space free which is in the first of them."""
    first = _parts(lines[start])
    if not 1 < len(first) <= _MOST_PIECES:
        return start + 1
    size = max(lines[start].size, 1.0)
    top = max(piece.y for piece in first) + _LEVEL * size
    lowest = min(piece.y for piece in first)
    gutters = [(left.right, right.left) for left, right in pairwise(_by_left(first))]
    for end in range(start + 1, len(lines)):
        pieces = _parts(lines[end])
        if not 0 < len(pieces) <= _MOST_PIECES or max(piece.y for piece in pieces) > top:
            return end
        gutters = _still_free(gutters, pieces, _GUTTER * size)
        if not gutters or lowest - max(piece.y for piece in pieces) > _FAR * size:
            return end
        lowest = min(lowest, *(piece.y for piece in pieces))
    return len(lines)


def _parts(line: PdfLine) -> _Pieces:
    """Return the pieces of a line; an entry of a table of contents is none of a table."""
    return () if LEADERS.search(line.text) else line.pieces


def _by_left(pieces: _Pieces) -> list[Piece]:
    return sorted(pieces, key=lambda piece: piece.left)


def _still_free(gutters: Sequence[_Span], pieces: _Pieces, least: float) -> list[_Span]:
    """Return what pieces leave free of the spaces between columns."""
    for piece in pieces:
        parts = [
            part
            for low, high in gutters
            for part in ((low, min(high, piece.left)), (max(low, piece.right), high))
            if part[1] - part[0] >= least
        ]
        gutters = sorted(set(parts))
        gutters = [span for span in gutters if not _within(span, gutters)]
    return list(gutters)


def _within(span: _Span, others: Sequence[_Span]) -> bool:
    """Whether a space is part of another one."""
    return any(other != span and other[0] <= span[0] and span[1] <= other[1] for other in others)


def _region(lines: Sequence[PdfLine], rules: Rules, first: int) -> _Region | None:
    """Return the rows and columns of lines; None if they are not two rows of two columns."""
    if len(lines) == 1:
        return None
    size = max(lines[0].size, 1.0)
    pieces = [piece for line in lines for piece in line.pieces]
    rows = _rows(pieces, _LEVEL * size)
    gutters = _gutters(pieces, _GUTTER * size)
    if len(rows) > _SURE_ROWS:  # a title over several columns hides the spaces between them
        below = _gutters([piece for row in rows[1:] for piece in row], _GUTTER * size)
        gutters = max(gutters, below, key=len)
    left, right = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
    if not gutters or len(rows) == 1:
        return None
    return _Region(lines, rows, gutters, _parting(rules, left, right), size, first)


def _rows(pieces: _Pieces, level: float) -> list[list[Piece]]:
    """Put pieces that stand at one height together, from the top down."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: (-piece.y, piece.left)):
        if rows and rows[-1][0].y - piece.y <= level:
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [_by_left(row) for row in rows]


def _gutters(pieces: _Pieces, least: float) -> list[_Span]:
    """Return the spaces between columns that no piece crosses."""
    found = []
    reach = float("inf")
    for piece in _by_left(pieces):
        if piece.left - reach >= least:
            found.append((reach, piece.left))
        reach = piece.right if reach == float("inf") else max(reach, piece.right)
    return found


def _parting(rules: Rules, left: float, right: float) -> list[float]:
    """Return the heights at which rules run over a good part of a width, from the top down."""
    found: list[float] = []
    covered = 0.0
    for rule in sorted(rules.across, reverse=True):
        within = max(0.0, min(rule.high, right) - max(rule.low, left))
        if found and found[-1] - rule.at <= 1.0:
            covered += within
        else:
            if found and covered < _RULED * (right - left):
                found.pop()
            found.append(rule.at)
            covered = within
    if found and covered < _RULED * (right - left):
        found.pop()
    return found


def _trimmed(region: _Region) -> Sequence[PdfLine]:
    """Return a region's lines without those at its end that may be the text below it.

    Such a line stands in the first column alone, and no rule closes it in.
    """
    lines = region.lines
    while len(lines) > 1 and len(lines[-1].pieces) == 1:
        piece = lines[-1].pieces[0]
        closed = any(0 < piece.y - at < _FAR * region.size for at in region.rules)
        if closed or region.column(piece) or piece.y >= lines[-2].pieces[0].y:
            break
        lines = lines[:-1]
    return lines


# Columns of text


def _is_text(region: _Region) -> bool:
    """Whether each column has as many and as long lines as text has."""
    if len(region.gutters) >= _SURE_COLUMNS:
        return False
    lengths: list[list[int]] = [[] for _ in range(len(region.gutters) + 1)]
    for row in region.rows:
        for piece in row:
            lengths[region.column(piece)].append(len(piece.text))
    return all(
        len(column) >= _TEXT_ROWS and median(column) >= _TEXT_CHARACTERS for column in lengths
    )


def _columns(region: _Region) -> list[PdfLine]:
    """Return the lines of columns one after the other; none if they are in that order already."""
    written = [region.column(piece) for line in region.lines for piece in line.pieces]
    if sum(one != other for one, other in pairwise(written)) < _SWITCHES:
        return []
    found = []
    for column in range(len(region.gutters) + 1):
        rows = ([piece for piece in row if region.column(piece) == column] for row in region.rows)
        found += _joined([_line(row, region.first) for row in rows if row])
    return found


def _line(pieces: _Pieces, first: int) -> PdfLine:
    """Return the pieces of a column that stand at one height as a line."""
    text = " ".join(piece.text for piece in pieces[::first])
    start = pieces[0]
    weight = min(piece.weight for piece in pieces)
    return PdfLine(text, start.size, weight, start.y, start.y, start.left)


def _joined(lines: Sequence[PdfLine]) -> list[PdfLine]:
    """Return lines with those put together that a hyphenated word runs over."""
    found: list[PdfLine] = []
    for line in lines:
        if found and found[-1].text.endswith(HYPHEN):
            above = found.pop()
            found.append(above._replace(text=above.text + line.text, last_y=line.last_y))
        else:
            found.append(line)
    return [line._replace(text=join_hyphens(line.text)) for line in found]


# Tables


def _table(region: _Region) -> list[PdfLine]:
    """Return the rows of a table as lines; none if it is not sure that it is one."""
    columns = len(region.gutters) + 1
    several = sum(len({region.column(piece) for piece in row}) > 1 for row in region.rows)
    small = sum(piece.size <= _SMALL * region.size for row in region.rows for piece in row)
    if small > _FEW * sum(map(len, region.rows)):
        return []
    closing = len(region.inner_rules(_NEAR * region.size))
    ruled = (closing > 1 and several > 1) or (region.inner_rules() and several >= _SURE_ROWS)
    grouped = _grouped(region)
    rows = [_cells(region, row, number) for number, row in enumerate(grouped, 1)]
    if len(rows) < 2:  # noqa: PLR2004 - a row alone has no column
        return []
    header = _header(region, grouped, rows)
    if not ruled and not (
        columns >= _SURE_COLUMNS and several >= _SURE_ROWS and _has_values(rows, columns)
    ):
        return []
    texts = row_lines(rows, header)
    if sum(map(len, texts)) > _LONGER * sum(len(cell.text) for row in rows for cell in row.cells):
        texts = row_lines(rows, None)
        header = None
    written = [row for place, row in enumerate(grouped) if place != header]
    return [_row(text, row) for text, row in zip(texts, written, strict=True)]


def _row(text: str, pieces: _Pieces) -> PdfLine:
    ys = [piece.y for piece in pieces]
    start = pieces[0]
    return PdfLine(text, start.size, start.weight, max(ys), min(ys), start.left, row=True)


def _grouped(region: _Region) -> list[list[Piece]]:
    """Put the lines of cells that have several of them into one row."""
    columns = len(region.gutters) + 1
    inner = region.inner_rules()
    used = [{region.column(piece) for piece in row} for row in region.rows]
    steps = [above[0].y - below[0].y for above, below in pairwise(region.rows)]
    whole = [step for step, row in zip(steps, used[1:], strict=True) if len(row) == columns]
    usual = median(whole) if whole else 0.0
    found = [list(region.rows[0])]
    has_whole = len(used[0]) == columns
    for row, mine, step in zip(region.rows[1:], used[1:], steps, strict=True):
        is_whole = len(mine) == columns
        if any(row[0].y < at < row[0].y + step for at in inner):
            goes_on = False
        elif len(inner) > 1:
            goes_on = not (is_whole and has_whole)
        else:
            goes_on = not is_whole and (
                (0 not in mine and 2 * len(mine) <= columns) or step * _WIDER <= usual
            )
        if goes_on:
            found[-1] += row
            has_whole = has_whole or is_whole
        else:
            found.append(list(row))
            has_whole = is_whole
    return found


def _cells(region: _Region, row: _Pieces, number: int) -> Row:
    """Return the cells of a row, in reading order; a cell's lines are put together."""
    parts: dict[int, list[Piece]] = {}
    for piece in row:
        parts.setdefault(region.column(piece), []).append(piece)
    cells = []
    for column, pieces in sorted(parts.items()):
        lines = _rows(pieces, _LEVEL * region.size)
        text = " ".join(piece.text for line in lines for piece in line[:: region.first])
        said = join_hyphens(text.replace(f"{HYPHEN} ", HYPHEN))
        cells.append(Cell(column, said, looks_like_value(said)))
    return Row(number, tuple(cells))


def _header(region: _Region, grouped: Sequence[_Pieces], rows: Sequence[Row]) -> int | None:
    """Return the place of the row that names the columns, by its looks or by what it says."""
    names = [cell.text for cell in rows[0].cells]
    by_looks = (
        2 * len(names) > len(region.gutters) + 1 > 1
        and len(set(names)) == len(names)
        and (_is_bolder(grouped) or _is_ruled_off(region, grouped))
    )
    found = 0 if by_looks else find_header(rows)
    if found is not None and len(rows[found].cells) <= len(region.gutters):
        below = found + 1  # names of groups of columns stand over those of columns
        found = below if find_header(rows[below:]) == 0 else found
    too_long = found is not None and any(
        len(cell.text) > _LONGEST_NAME for cell in rows[found].cells
    )
    return None if too_long else found


def _is_bolder(rows: Sequence[_Pieces]) -> bool:
    """Whether the first row is set bolder than most of the others, and than the second."""
    weight = min(piece.weight for piece in rows[0])
    others = sorted(min(piece.weight for piece in row) for row in rows[1:])
    second = min(piece.weight for piece in rows[1])
    return weight >= max(others[len(others) // 2], second) + _BOLDER


def _is_ruled_off(region: _Region, rows: Sequence[_Pieces]) -> bool:
    """Whether of all rules between the rows, there is but one, below the first of several."""
    inner = region.inner_rules()
    end = min(piece.y for piece in rows[0])
    return len(rows) >= _SURE_ROWS and len(inner) == 1 and rows[1][0].y < inner[0] < end


def _has_values(rows: Sequence[Row], columns: int) -> bool:
    """Whether a column after the first has values for most of the rows."""
    for column in range(1, columns):
        cells = [cell for row in rows for cell in row.cells if cell.column == column]
        if sum(cell.is_value for cell in cells) > _VALUES * len(rows):
            return True
    return False

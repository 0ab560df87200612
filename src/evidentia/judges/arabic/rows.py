"""Rows of a table: a claim names one row by its label, and says of it what the row does not have.

Where a claim names exactly one row, its values are compared with the cells of that row, in the
column that the claim names, or in which another row has the claim's value. What can be worked out
of the table is not at odds with it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from evidentia.judges.arabic.facts import Facts, read_facts
from evidentia.judges.arabic.standing import CELLS
from evidentia.judges.arabic.values import are_alike, are_same, is_date, may_follow
from evidentia.language.arabic.concepts import arabic_keys, english_keys
from evidentia.language.arabic.lexicon import STOP_WORDS
from evidentia.language.arabic.words import tokens
from evidentia.language.quantities import Quantity

_CODE = re.compile(r"\b[A-Za-z]{1,4}-?\d{1,4}\b")
_SCALES: Final = (1.0, 1e3, 1e6)
_PLAIN: Final = frozenset({"number", "percent", "clock"})
_IGNORED: Final = frozenset({"ordinal"})
_LEAST: Final = 2


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: the sentence it is found as, and its cells."""

    said: Facts
    cells: tuple[Facts, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table that are known, and the one that heads the columns."""

    head: tuple[Facts, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class OtherCell:
    """What a claim says of a row, what the row has there, and the row."""

    claimed: str
    cell: str
    said: Facts


def tables_of(sentences: Sequence[Facts]) -> list[Table]:
    """Return the tables among sentences: rows with as many cells, and one that heads them.

    The head is the first row that has no values, or years at most. Rows may be missing.
    """
    found: dict[int, list[Row]] = {}
    for said in sentences:
        cells = _cells(said)
        if len(cells) >= _LEAST:
            found.setdefault(len(cells), []).append(Row(said, cells))
    tables = []
    for rows in found.values():
        head = next((row for row in rows if _is_head(row)), None)
        if head:
            tables.append(Table(head.cells, tuple(row for row in rows if row is not head)))
    return tables


def _cells(said: Facts) -> tuple[Facts, ...]:
    if CELLS not in said.text:
        return ()
    return tuple(read_facts(cell.strip()) for cell in said.text.strip().strip(CELLS).split(CELLS))


def _is_head(row: Row) -> bool:
    return all(one.dimension == "year" for cell in row.cells for one in cell.quantities)


def other_cell(
    claim: Facts, table: Table, beside: Sequence[Sequence[Quantity]] = ()
) -> OtherCell | None:
    """Return the cell of the row that a claim names, where the claim says something else.

    What may be worked out of the table, and of the values beside it, is not at odds with it.
    """
    row = _named_row(claim, table)
    if row is None:
        return None
    return _other_value(claim, table, row, beside) or _other_words(claim, table, row)


def _named_row(claim: Facts, table: Table) -> Row | None:
    """Return the one row whose label the claim has."""
    found = [row for row in table.rows if _says(claim, row.cells[0])]
    longest = max((len(row.cells[0].telling) for row in found), default=0)
    found = [row for row in found if len(row.cells[0].telling) == longest]
    return found[0] if len(found) == 1 else None


def _says(claim: Facts, cell: Facts) -> bool:
    """Whether a claim has all words and codes of a cell, of which there is at least one."""
    codes = _codes(cell)
    words = [word for word in cell.telling if len(word.text) > 1]
    if codes:
        return codes <= _codes(claim)
    return bool(words) and all(not word.keys.isdisjoint(claim.keys) for word in words)


def _codes(facts: Facts) -> set[str]:
    """Return the names that letters and digits make: "GT-3", "E04"."""
    return {match[0].casefold() for match in _CODE.finditer(facts.text)}


def _other_value(
    claim: Facts, table: Table, row: Row, beside: Sequence[Sequence[Quantity]]
) -> OtherCell | None:
    values = [one for cell in row.cells for one in cell.quantities]
    values += [one for cell in table.head for one in cell.quantities]
    plain = [[one for cell in other.cells for one in cell.quantities] for other in table.rows]
    for value in claim.quantities:
        if value.dimension in _IGNORED or any(fits_cell(value, one) for one in values):
            continue
        for at in _columns(claim, value, table):
            stood = [one for one in row.cells[at].quantities if _stands(value, one)]
            groups = [[_meant(value, one) for one in group] for group in plain]
            if stood and not may_follow(value, [*groups, *beside]):
                return OtherCell(value.text, stood[0].text, row.said)
    return None


def fits_cell(value: Quantity, one: Quantity) -> bool:
    """Whether a cell may mean a value: its unit, and its thousands, may stand elsewhere."""
    if are_same(value, one):
        return True
    return one.dimension == "number" and any(
        abs(value.value - one.value * scale) <= 1e-6 * abs(value.value) for scale in _SCALES
    )


def _meant(value: Quantity, one: Quantity) -> Quantity:
    """Return a number of a table with the unit of the claim's value, which the table leaves out."""
    return replace(one, dimension=value.dimension) if one.dimension == "number" else one


def _stands(value: Quantity, one: Quantity) -> bool:
    if is_date(value) or is_date(one) or value.dimension == "weekday":
        return are_alike(value, one)
    return are_alike(value, one) or one.dimension in _PLAIN


def _columns(claim: Facts, value: Quantity, table: Table) -> list[int]:
    """Return the columns a claim speaks of: those it names, or that have its value in a row."""
    wanted = frozenset[str]().union(*_words(claim))
    parts = [_part(_words(cell), wanted) for cell in table.head]
    most = max(parts[1:])
    named = [at for at, part in enumerate(parts) if at and part == most > 0]
    if len(named) == 1:
        return named
    found = [
        at
        for at in range(1, len(table.head))
        if any(fits_cell(value, one) for row in table.rows for one in row.cells[at].quantities)
    ]
    return found if len(found) == 1 else []


def _words(facts: Facts) -> list[frozenset[str]]:
    """Return the keys of all words: in the head of a column "price" tells more than elsewhere."""
    return [
        arabic_keys(token.text) if token.kind == "word" else english_keys(token.text)
        for token in tokens(facts.text)
        if token.kind in {"word", "other"} and token.text not in STOP_WORDS
    ]


def _part(words: list[frozenset[str]], wanted: frozenset[str]) -> float:
    return sum(not keys.isdisjoint(wanted) for keys in words) / len(words) if words else 0.0


def _other_words(claim: Facts, table: Table, row: Row) -> OtherCell | None:
    """Find a cell of another row that the claim gives to this one."""
    for at in range(1, len(row.cells)):
        own = row.cells[at]
        if not own.telling or any(not word.keys.isdisjoint(claim.keys) for word in own.telling):
            continue
        for other in (one.cells[at] for one in table.rows):
            words = [word for word in other.telling if word.keys.isdisjoint(row.cells[0].keys)]
            if words and _says(claim, other) and not other.quantities:
                return OtherCell(other.text, own.text, row.said)
    return None

"""The threat model says by which test each of its rows is shown; those tests are there."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "explanation" / "threat-model.md").read_text("utf-8")
NOTHING = "—"
LIMITS = {
    "A printout, a scan or a screenshot is passed off as a copy",
    "A document states a falsehood: in plain words, a quotation, a myth, an instruction",
    "Whoever has the log's key on a machine writes grants in somebody's name",
}
"""The rows that nothing shows: what they say is that nothing can."""


def rows() -> list[list[str]]:
    """Return the rows of the tables: the attack, what is seen, by what, shown by which tests."""
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if row[0] != "Attack"]


ROWS = rows()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_a_row_has_its_columns_and_its_tests_are_there(row: list[str]) -> None:
    assert len(row) == 4
    named = re.findall(r"`([^`]+)`", row[3])
    assert all(row[:3])
    assert named or (row[3] == NOTHING and row[0] in LIMITS)
    for name in named:
        file, _, function = name.partition("::")
        code = (TESTS / file).read_text("utf-8")
        assert re.search(rf"^\s*def {re.escape(function)}\(", code, re.MULTILINE), name


def test_limits_are_in_the_tables_and_every_table_has_the_columns() -> None:
    assert {row[0] for row in ROWS if row[3] == NOTHING} == LIMITS
    headings = [line for line in PAGE.splitlines() if line.startswith("| Attack")]
    assert set(headings) == {"| Attack | What is seen | By | Shown by |"}
    assert len(ROWS) > 50

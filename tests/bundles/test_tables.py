import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from uuid import UUID

import pytest
import regex
from hypothesis import assume, given
from hypothesis import strategies as st

import tiers
from evidentia.bundles.sampling import SamplingStrategy, sampled_rows
from evidentia.bundles.tables import (
    SampledTable,
    cell_text,
    fit_table,
    map_cells,
    table_text,
)
from evidentia.errors import InputError

STRATEGIES: list[SamplingStrategy] = ["first_only", "first_last", "stride"]
CELL = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            "x" * 300,
            "👨‍👩‍👧" * 90,
            "a\n" * 200,
            "\x85 " * 99,
            "\\x" * 150,
            "é" * 240,
            "क्षि" * 80,
            "",
            "|",
        ]
    ),
).map(cell_text)
ATOMS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9)
JSON = st.recursive(
    ATOMS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner)
)


def table(
    total: int = 10_000,
    limit: int = 50,
    strategy: SamplingStrategy = "first_last",
    left_out: tuple[str, ...] = (),
) -> SampledTable:
    numbers = sampled_rows(total, limit, strategy)
    rows = tuple((f"{number}", f"row {number}") for number in numbers)
    return SampledTable(("id", "name"), left_out, rows, numbers, total, strategy)


@st.composite
def tables(draw: st.DrawFn) -> SampledTable:
    total, strategy = draw(st.integers(0, 200)), draw(st.sampled_from(STRATEGIES))
    numbers = sampled_rows(total, draw(st.integers(0, 12)), strategy)
    width = draw(st.integers(0, 3))
    row = st.tuples(*[CELL] * width)
    return SampledTable(
        columns=tuple(f"c{place}" for place in range(width)),
        left_out_columns=tuple(draw(st.lists(st.text(max_size=4), max_size=3))),
        rows=tuple(draw(row) for _ in numbers),
        row_numbers=numbers,
        row_count=total,
        strategy=strategy,
    )


@tiers.one_test
@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (True, "true"),
        (False, "false"),
        (-7, "-7"),
        (2**64 + 1, "18446744073709551617"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        (Decimal("1.10"), "1.10"),
        (date(2026, 1, 31), "2026-01-31"),
        (datetime(2026, 1, 31, 9, 30, tzinfo=UTC), "2026-01-31T09:30:00+00:00"),
        (time(9, 30), "09:30:00"),
        (b"\x00\xff", "0x00ff"),
        (bytearray(b"\x01"), "0x01"),
        (memoryview(b"\x02"), "0x02"),
        (b"\xab" * 100, f"0x{'ab' * 64}… (+36 bytes)"),
        ("plain", "plain"),
        ("", ""),
        ("a\nb\r\tc\\d | e\x00\x85\u2028", "a\\nb\\r\\tc\\\\d \\| e\\u0000\\u0085\\u2028"),
        ("a\ud800b", "a\\ud800b"),
        ("… 5 rows left out …", "\\u2026 5 rows left out …"),
        ({"b": 1, "a": [None, True, 1.5]}, '{"a":[null,true,1.5],"b":1}'),
        ((1, "x|y\u2028"), '[1,"x\\u007cy\\u2028"]'),
        ({"n": Decimal("1.123456789012345678901")}, '{"n":1.123456789012345678901}'),
        ({"at": date(2026, 1, 31), 1: b"\x00"}, '{"1":"0x00","at":"2026-01-31"}'),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ],
)
def test_a_value_has_one_text(value: object, text: str) -> None:
    assert cell_text(value) == text


@given(st.text(alphabet=st.characters(), max_size=40))
def test_any_text_is_one_line_without_a_separator_and_can_be_read_back(text: str) -> None:
    shown = cell_text(text)
    assert len(shown.splitlines()) <= 1
    assert " | " not in shown
    assert not shown.startswith("…")
    shown.encode()
    assert unescaped(shown) == text


@given(JSON)
def test_a_nested_cell_is_json_of_the_same_value(value: object) -> None:
    assume(isinstance(value, list | dict))
    shown = cell_text(value)
    assert json.loads(shown) == value
    assert len(shown.splitlines()) == 1
    assert "|" not in shown


@pytest.mark.parametrize("wrap", [lambda one: [one], lambda one: {"a": one}])
def test_a_cell_nested_too_deep_is_refused(wrap: Callable[[object], object]) -> None:
    value: object = 1
    for _ in range(100):
        value = wrap(value)
    assert cell_text(value).count("1") == 1
    for _ in range(10_000):
        value = wrap(value)
    with pytest.raises(InputError, match="nested more than 100 levels deep"):
        cell_text(value)


def test_the_first_and_the_last_rows_stand_around_a_note() -> None:
    lines = table_text(table(limit=4, left_out=("born", "died")), "orders").splitlines()
    assert lines == [
        "orders",
        "Rows 1 to 2 and 9,999 to 10,000 of 10,000 shown (first_last).",
        "2 of 4 columns left out: born, died.",
        "id | name",
        "0 | row 0",
        "1 | row 1",
        "… 9,996 rows left out …",
        "9998 | row 9998",
        "9999 | row 9999",
    ]


def test_a_note_stands_wherever_rows_are_missing() -> None:
    lines = table_text(table(total=10, limit=4, strategy="stride"), "orders").splitlines()
    assert lines[1:] == [
        "4 rows between 1 and 8 of 10 shown (stride).",
        "id | name",
        "0 | row 0",
        "… 1 row left out …",
        "2 | row 2",
        "… 2 rows left out …",
        "5 | row 5",
        "… 1 row left out …",
        "7 | row 7",
        "… 2 rows left out …",
    ]


def test_rows_may_be_missing_at_the_beginning() -> None:
    shown = SampledTable(("a",), (), (("x",),), (1_200,), 1_201, "first_only")
    assert table_text(shown, "t") == (
        "t\nRow 1,201 of 1,201 shown (first_only).\na\n… 1,200 rows left out …\nx"
    )


@pytest.mark.parametrize(
    ("shown", "says"),
    [
        (table(total=3), "All 3 rows."),
        (table(total=1), "1 row, all shown."),
        (table(total=0), "No rows: the result is empty."),
        (table(total=7, limit=0), "None of 7 rows shown (first_last)."),
    ],
)
def test_it_says_what_is_shown(shown: SampledTable, says: str) -> None:
    lines = table_text(shown, "orders").splitlines()
    assert lines[1] == says
    assert ("left out" in lines[-1]) == (len(shown.rows) < shown.row_count)


def test_a_result_without_columns_has_no_line_of_them() -> None:
    shown = replace(table(total=0), columns=())
    assert table_text(shown, "orders") == "orders\nNo rows: the result is empty."


def test_a_title_and_a_column_stay_on_their_line() -> None:
    shown = replace(table(total=0), columns=("a\nb", "c | d"), left_out_columns=("e\nf",))
    assert table_text(shown, "C:\\x | y\nz").splitlines() == [
        "C:\\x | y\\nz",
        "No rows: the result is empty.",
        "1 of 3 columns left out: e\\nf.",
        "a\\nb | c \\| d",
    ]


@given(tables())
def test_every_row_is_one_line_and_the_notes_account_for_the_rest(shown: SampledTable) -> None:
    lines = table_text(shown, "t").split("\n")
    notes = [line for line in lines if regex.fullmatch(r"… [\d,]+ rows? left out …", line)]
    missing = sum(int(note.split()[1].replace(",", "")) for note in notes)
    assert missing + len(shown.rows) == shown.row_count
    head = 2 + bool(shown.left_out_columns) + bool(shown.columns)
    assert len(lines) == head + len(shown.rows) + len(notes)


@given(tables(), st.integers(0, 3_000))
def test_a_fitted_table_fits_or_has_a_single_row_and_grows_no_further(
    shown: SampledTable, limit: int
) -> None:
    fitted = fit_table(shown, "t", limit)
    assert size(fitted) <= limit or len(fitted.rows) <= 1
    assert bool(fitted.rows) == bool(shown.rows)
    if fitted == shown:
        return
    assert size(shown) > limit
    chosen = sampled_rows(len(shown.rows), len(fitted.rows), shown.strategy)
    assert fitted.row_numbers == tuple(shown.row_numbers[place] for place in chosen)
    cut = 0
    for place, row in zip(chosen, fitted.rows, strict=True):
        for before, after in zip(shown.rows[place], row, strict=True):
            if before == after:
                assert len(before) <= 200
            else:
                cut += 1
                is_trimmed(before, after)
    assert fitted.trimmed_cells == cut
    assert fit_table(fitted, "t", limit) == fitted


def is_trimmed(before: str, after: str) -> None:
    """Assert that a cell was cut between characters, outside of escapes, and says by how much."""
    kept, _, note = after.rpartition("… (+")
    assert before.startswith(kept)
    assert len(kept) <= 200
    assert int(note.removesuffix(" characters)").replace(",", "")) == len(before) - len(kept)
    assert len(kept) in {0, *(found.end() for found in regex.finditer(r"\X", before))}
    assert unescaped(before).startswith(unescaped(kept))


def test_one_more_row_would_not_have_fitted() -> None:
    shown = table(total=1_000, limit=100)
    for limit in range(120, size(shown), 97):
        fitted = fit_table(shown, "t", limit)
        count = len(fitted.rows)
        assert size(fitted) <= limit
        more = sampled_rows(100, count + 1, "first_last")
        wider = replace(
            shown,
            rows=tuple(shown.rows[place] for place in more),
            row_numbers=tuple(shown.row_numbers[place] for place in more),
        )
        assert size(wider) > limit


def test_long_cells_are_trimmed_before_a_row_is_left_out() -> None:
    rows = tuple((str(place), "x" * 1_000) for place in range(10))
    shown = SampledTable(("id", "note"), (), rows, tuple(range(10)), 10, "first_only")
    fitted = fit_table(shown, "t", 3_000)
    assert fitted.trimmed_cells == len(fitted.rows) == 10
    assert fitted.rows[0] == ("0", f"{'x' * 200}… (+800 characters)")
    assert "10 long cells trimmed." in table_text(fitted, "t")
    smaller = fit_table(fitted, "t", 600)
    assert smaller.trimmed_cells == len(smaller.rows) == 2
    assert smaller.rows[0] == fitted.rows[0], "a trimmed cell is not trimmed again"
    assert "1 long cell trimmed." in table_text(fit_table(shown, "t", 0), "t")


def test_an_escape_is_not_cut_in_two() -> None:
    shown = SampledTable(
        ("note",), (), (("x" * 198 + cell_text("\x01") + "y" * 99,),), (0,), 1, "first_only"
    )
    assert fit_table(shown, "t", 0).rows == ((f"{'x' * 198}… (+105 characters)",),)


def test_a_table_that_fits_is_left_alone() -> None:
    shown = table(total=3)
    assert fit_table(shown, "t", size(shown)) is shown


def test_cells_and_names_can_be_changed() -> None:
    shown = replace(table(total=2), left_out_columns=("rest",), trimmed_cells=1)
    changed = map_cells(shown, str.upper)
    assert changed == replace(
        shown,
        columns=("ID", "NAME"),
        left_out_columns=("REST",),
        rows=(("0", "ROW 0"), ("1", "ROW 1")),
    )


def size(shown: SampledTable) -> int:
    return len(table_text(shown, "t").encode())


def unescaped(text: str) -> str:
    short = {"n": "\n", "r": "\r", "t": "\t"}
    return regex.sub(
        r"\\(?:u([0-9a-f]{4})|(.))",
        lambda found: chr(int(found[1], 16)) if found[1] else short.get(found[2], found[2]),
        text,
    )

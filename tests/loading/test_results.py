import csv
import gzip
import io
import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidentia.bundles.sampling import SamplingStrategy, sampled_rows
from evidentia.bundles.tables import cell_text
from evidentia.errors import EnvironmentProblem, InputError, NotFoundError
from evidentia.loading.results import csv_rows, json_rows, ndjson, reading
from evidentia.loading.results.picked import LONGEST_ROW, distinct
from evidentia.loading.results.reading import ReadResult, Shown, read_result

STRATEGIES: list[SamplingStrategy] = ["first_only", "first_last", "stride"]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
CELL = st.none() | st.booleans() | st.integers() | TEXT | st.lists(st.integers(), max_size=2)
ROWS = st.lists(st.dictionaries(TEXT, CELL, max_size=3), max_size=30)
many_files = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(path: Path, **options: Any) -> ReadResult:
    form = options.pop("form", None)
    asked = {"max_rows": 100, "max_cols": 20, "strategy": "first_last", **options}
    return read_result(path, "orders", Shown(**asked), form=form)


def written(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let lines and blank lines fall across the blocks in which a file is counted."""
    monkeypatch.setattr(ndjson, "_BLOCK", 16)


ENDS = st.sampled_from(["\n", "\r\n", "\n\n", "\n \r\n\t\n", "\n" * 20])


@many_files
@given(ROWS, st.tuples(ENDS, st.booleans()), st.integers(0, 12), st.sampled_from(STRATEGIES))
def test_rows_of_ndjson_are_counted_digested_and_sampled(  # noqa: PLR0917 - hypothesis fills them
    small_blocks: None,
    tmp_path: Path,
    rows: list[dict[str, Any]],
    ends: tuple[str, bool],
    limit: int,
    strategy: SamplingStrategy,
) -> None:
    end, last = ends
    lines = end.join(json.dumps(row, ensure_ascii=False) for row in rows)
    path = written(tmp_path, "a.ndjson", lines + (end if last else ""))
    found = read(path, max_rows=limit, strategy=strategy)
    assert found.sha256 == sha256(path.read_bytes()).hexdigest()
    assert found.byte_count == path.stat().st_size
    assert found.table.row_count == len(rows)
    numbers = sampled_rows(len(rows), limit, strategy)
    assert found.table.row_numbers == numbers
    columns = dict.fromkeys(key for number in numbers for key in rows[number])
    assert found.table.columns == tuple(columns)[:20]
    assert found.table.rows == tuple(
        tuple(cell_text(rows[number][key]) if key in rows[number] else "" for key in columns)[:20]
        for number in numbers
    )


@many_files
@given(ROWS, st.sampled_from(["ndjson", "json", "csv", "ndjson.gz", "json.gz"]), st.data())
def test_a_range_of_rows_is_sampled_in_place_of_all(
    tmp_path: Path, rows: list[dict[str, Any]], kind: str, data: st.DataObject
) -> None:
    content = WRITERS[kind.removesuffix(".gz")](rows)
    raw = content.encode()
    path = written(tmp_path, f"a.{kind}", gzip.compress(raw, mtime=0) if "gz" in kind else raw)
    start = data.draw(st.integers(0, 20))
    end = data.draw(st.integers(start, 40))
    limit = data.draw(st.integers(0, 8))
    found = read(path, rows=(start, end), max_rows=limit, strategy="stride")
    inside = range(min(start, len(rows)), min(end, len(rows)))
    expected = tuple(inside[row] for row in sampled_rows(len(inside), limit, "stride"))
    assert found.table.row_numbers == expected
    assert len(found.table.rows) == len(expected)
    assert found.table.row_count == len(rows)
    assert found.sha256 == sha256(path.read_bytes()).hexdigest()


def as_ndjson(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def as_csv(rows: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([["a", "b"], *([str(row), "x\ny"] for row in rows)])
    return text.getvalue()


WRITERS: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "ndjson": as_ndjson, "json": json.dumps, "csv": as_csv,
}  # fmt: skip


@given(st.integers(4_290, 4_310), st.integers(0, 9_000), st.integers(0, 100))
def test_no_number_is_lost_however_it_lies_in_the_file(
    tmp_path_factory: pytest.TempPathFactory, digits: int, before: int, after: int
) -> None:
    content = f'[{{"{"x" * before}":1}},{{"a":{"7" * digits}}}{"," * bool(after)}{"[1]," * after}'
    path = tmp_path_factory.getbasetemp() / "digits.json"
    path.write_text(f"{content.rstrip(',')}]")
    if digits > 4_300:
        with pytest.raises(InputError, match="more than 4,300 digits in a row"):
            read(path)
    else:
        assert read(path, max_rows=2, strategy="first_only").table.rows[1][1] == "7" * digits


@pytest.mark.parametrize(
    ("text", "columns", "rows"),
    [
        ('[{"a":1,"b":2},{"b":3,"c":4}]', ("a", "b", "c"), [("1", "2", ""), ("", "3", "4")]),
        ("[[1,2],[3]]", ("c1", "c2"), [("1", "2"), ("3", "")]),
        ('{"columns":["x","y"],"rows":[[1,2],{"y":4,"z":5}]}', ("x", "y", "z"),
         [("1", "2", ""), ("", "4", "5")]),
        ('{"data":[[1,2]],"index":[0],"columns":["x","x"]}', ("x", "x_2"), [("1", "2")]),
        ('{"ok":true,"results":[{"a":{"rows":[1]}}],"page":[1,2]}', ("a",), [('{"rows":[1]}',)]),
        ('{"data":[{"a":1}],"rows":7}', ("a",), [("1",)]),
        ('{"meta":{"rows":[{"no":1}]},"rows":[{"a":1}]}', ("a",), [("1",)]),
        ('{"rows":[]}', (), []),
        ("[]", (), []),
        ('{"a":1,"data":[1,2],"columns":["x"]}', ("a", "data", "columns"),
         [("1", "[1,2]", '["x"]')]),
        ("{}", (), [()]),
        ('\ufeff [{"a":"\\ud83d\\ude00 \\\\ud800"}]', ("a",), [("😀 \\\\ud800",)]),
    ],
)  # fmt: skip
def test_json_has_tables_in_several_shapes(
    tmp_path: Path, text: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]
) -> None:
    found = read(written(tmp_path, "a.json", text))
    assert found.table.columns == columns
    assert list(found.table.rows) == rows
    assert found.table.row_count == len(rows)
    assert found.form == "json"


NUMBERS = {
    "9007199254740993": "9007199254740993",
    "123456789012345678901234567890": "123456789012345678901234567890",
    "1.50": "1.5",
    "0.1234567890123456789": "0.1234567890123456789",
    "1e400": "1E+400",
    "-0.0": "-0.0",
    "1E2": "100.0",
}


@pytest.mark.parametrize("form", ["json", "ndjson"])
def test_every_number_is_shown_exactly_and_alike_in_both_forms(tmp_path: Path, form: str) -> None:
    path = written(tmp_path, "a", f"[{','.join(NUMBERS)}]")
    if form == "json":
        path.write_text(f"[{path.read_text()}]")
    assert read(path, form=form).table.rows == (tuple(NUMBERS.values()),)


MALFORMED = {
    "ndjson": {
        '{"a":1}\n{"a":}\n': "line 2 is not JSON: Expecting value at column 6",
        '{"a":1}\n\n\n{"a":NaN}': "line 4 is not JSON: NaN is no JSON number",
        '{"a":"\\ud800"}': "line 1 is not JSON: text with a lone surrogate",
        "5": "line 1 is neither an object nor an array",
        '{"a":1}{"b":2}': "line 1 is not JSON: Extra data",
        f'[{"7" * 5_000}]': "line 1 is not JSON: a number of 5,000 characters is too large",
        "[1e99999999999999999999]": "line 1 is not JSON: a number of 22 characters is too large",
        "[" * 10_000 + "]" * 10_000: "line 1 is nested more than 100 levels deep",
        "[" * 300 + "]" * 300: "row 1 is nested more than 100 levels deep",
        b'{"a":1}\n{"b":"\xff"}': "line 2 is not UTF-8 .byte 7 of it.: save it as UTF-8",
    },
    "json": {
        "5": "is no table: give an array of objects",
        "": "is not JSON .after 0 rows.: parse error: premature EOF",
        '[{"a":1},{"a":}]': "is not JSON .after 2 rows.: parse error",
        '[{"a":1}] x': "is not JSON .after 1 row.",
        '[{"a":1},5]': "row 2 is neither an object nor an array",
        '{"rows":[{"a":1},null]}': "row 2 is neither an object nor an array",
        '[{"a":NaN}]': "is not JSON .after 1 row.: lexical error",
        '[{"a":1},\n{"a":"\\uD800"}]': "line 2 has text with a lone surrogate",
        '[{"a":1},\n\n{"a":"\\udc00 and more text"}]': "line 3 has text with a lone surrogate",
        '["' + "x" * 70_000 + '",\n"\\\\\\ud83dx': "line 2 has text with a lone surrogate",
        '[{"a":"\\ud83d': "line 1 has text with a lone surrogate",
        '{"columns":["a",5],"rows":[[1,2]]}': "its columns are not all text",
        '{"columns":["a"],"rows":[[1],[1,2]]}': "row 2 has 2 cells, and the result has 1 column",
        f'[[{"7" * 4_301}]]': "has more than 4,300 digits in a row",
        f'[["{"x" * 64_000}"],[{"7" * 4_301}]]': "has more than 4,300 digits in a row",
        "[" + "[" * 10_000 + "]" * 10_001: "row 1 is nested more than 100 levels deep",
        "[[1e99999999999999999999]]": "is not JSON .after 1 row.",
        b'[{"a":"\xff"}]': "is not JSON .after 1 row.: it is not UTF-8",
        b'[{"a":"\xed\xa0\x80"}]': "is not JSON .after 1 row.: it is not UTF-8",
    },
    "csv": {
        "a,b\n1,2\n3\n": "line 3 has 1 cell where the header has 2",
        'a,b\n"x\ny",2\n3,4,5\n': "line 4 has 3 cells where the header has 2",
        'a\n"x': "line 2 is not CSV: unexpected end of data",
        'a\n"x"y\n': "line 2 is not CSV",
        f"a\n{'x' * 200_000}": "line 2 is not CSV: field larger than field limit",
        b"a\n\xff\n": "line 2 is not UTF-8 .byte 1 of it.",
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("form", "content", "message"),
    [(form, *case) for form, cases in MALFORMED.items() for case in cases.items()],
)
def test_what_is_malformed_is_refused_with_its_place(
    tmp_path: Path, form: str, content: bytes | str, message: str
) -> None:
    with pytest.raises(InputError, match=f"^orders:? {message}") as refused:
        read(written(tmp_path, "a", content), form=form)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300


def test_only_the_lines_that_are_shown_must_be_well_formed(tmp_path: Path) -> None:
    path = written(tmp_path, "a.jsonl", '{"a":1}\n{"a":\n{"a":3}\n')
    assert read(path, max_rows=2).table.rows == (("1",), ("3",))
    with pytest.raises(InputError, match="line 2 is not JSON"):
        read(path, max_rows=2, strategy="first_only")


@pytest.mark.parametrize("bad", [1, 2, 777, 4_999, 5_000])
def test_a_malformed_line_is_named_wherever_it_is(tmp_path: Path, bad: int) -> None:
    lines = [f'{{"a":"{"x" * 100}"}}'] * 5_000
    lines[bad - 1] = "{"
    path = written(tmp_path, "a.ndjson", "\r\n".join(lines))
    with pytest.raises(InputError, match=f"orders line {bad} is not JSON"):
        read(path, rows=(bad - 1, bad))
    assert read(path, rows=(bad, bad + 1)).table.row_count == 5_000


def test_a_line_too_long_to_show_is_named_and_may_be_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    with path.open("wb") as file:
        file.write(b'{"a":1}\n["')
        file.write(b"x" * LONGEST_ROW)
        file.write(b'"]\n')
        file.write(b" " * (LONGEST_ROW + 10))
        file.write(b'\n{"a":3}')
    with pytest.raises(InputError, match="orders line 2 has more than 16,777,216 bytes: too long"):
        read(path)
    found = read(path, max_rows=2)
    assert found.table.rows == (("1",), ("3",))
    assert found.table.row_count == 3
    assert read(path, rows=(2, 3)).table.rows == (("3",),)


@pytest.mark.parametrize(
    ("form", "opening", "message"),
    [("json", b'[{"a":"', "row 1 has more than"), ("csv", b"", "line 1 has more than")],
)
def test_a_row_too_long_to_show_is_refused_in_every_form(
    tmp_path: Path, form: str, opening: bytes, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_rows, "LONGEST_ROW", 1_000)
    monkeypatch.setattr(csv_rows, "LONGEST_ROW", 1_000)
    path = written(tmp_path, "a", opening + b"x" * 1_001 + b'"}]')
    with pytest.raises(InputError, match=message):
        read(path, form=form)


def test_csv_keeps_its_cells_as_text(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", '\ufeffid,"the name",,id\r\n007,"a, ""b""\nc",,NULL\r\n\r\n')
    found = read(path)
    assert found.table.columns == ("id", "the name", "c3", "id_2")
    assert found.table.rows == (("007", 'a, "b"\\nc', "", "NULL"),)
    assert found.table.row_count == 1
    tabs = read(written(tmp_path, "a.tsv", "a\tb\n1,5\t2\n"))
    assert (tabs.form, tabs.table.rows) == ("tsv", (("1,5", "2"),))


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_an_empty_file_is_an_empty_result(tmp_path: Path, content: str) -> None:
    for form in ("csv", "ndjson"):
        table = read(written(tmp_path, "a", content), form=form).table
        assert (table.row_count, table.columns, table.rows) == (0, (), ())
    header = read(written(tmp_path, "a.csv", "a,b\n")).table
    assert (header.row_count, header.columns) == (0, ("a", "b"))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_rows_far_into_a_csv_are_found(tmp_path: Path, strategy: SamplingStrategy) -> None:
    lines = "".join(f'{row},"x\n{row}"\n' for row in range(20_000))
    path = written(tmp_path, "a.csv", f"id,note\n{lines}")
    table = read(path, max_rows=30, strategy=strategy).table
    assert table.row_numbers == sampled_rows(20_000, 30, strategy)
    assert table.rows == tuple((f"{row}", f"x\\n{row}") for row in table.row_numbers)


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    path = tmp_path / "it's a.parquet"
    quoted = str(path).replace("'", "''")
    duckdb.execute(
        "COPY (SELECT range AS id, 'row ' || range AS name, range / 4 AS share, "
        "DATE '2026-01-01' + range::INT AS day, TIMESTAMPTZ '2026-01-01 00:00:00+02' AS at, "
        "1.10::DECIMAL(9, 2) AS price, {'a': [1, 2]} AS nested FROM range(1000)) "
        f"TO '{quoted}' (FORMAT parquet)"
    )
    return path


def test_parquet_is_read_through_duckdb(parquet: Path) -> None:
    found = read(parquet, max_rows=3, max_cols=6)
    assert found.table.columns == ("id", "name", "share", "day", "at", "price")
    assert found.table.left_out_columns == ("nested",)
    assert found.table.row_numbers == (0, 1, 999)
    assert found.table.rows[2] == (
        "999", "row 999", "249.75", "2028-09-26", "2025-12-31T22:00:00+00", "1.10",
    )  # fmt: skip
    assert found.table.row_count == 1_000
    assert found.sha256 == sha256(parquet.read_bytes()).hexdigest()
    every = read(parquet, rows=(500, 502)).table
    assert [row[6] for row in every.rows] == ['{"a":[1,2]}'] * 2
    assert read(parquet, max_cols=0, max_rows=2).table.rows == ((), ())


def test_a_broken_parquet_file_says_so_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"^orders: Invalid Input Error: No magic bytes"
    ) as refused:
        read(written(tmp_path, "a.parquet", b"PAR1 but not really" * 10))
    assert "\n" not in str(refused.value)


def test_without_duckdb_it_is_said_what_to_install(
    parquet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(EnvironmentProblem, match=r"pip install 'evidentia\[duckdb\]'"):
        read(parquet)


def test_columns_beyond_the_limit_are_named(tmp_path: Path) -> None:
    table = read(written(tmp_path, "a.ndjson", '{"a":1,"b":2,"c":3}'), max_cols=1).table
    assert (table.columns, table.left_out_columns, table.rows) == (("a",), ("b", "c"), (("1",),))
    assert read(tmp_path / "a.ndjson", max_cols=0).table.left_out_columns == ("a", "b", "c")


@pytest.mark.parametrize(
    ("name", "form", "options", "message"),
    [
        ("a.xml", None, {}, "its form is unknown: give one of ndjson, json, csv, tsv, parquet"),
        ("a.csv", "xml", {}, "'xml' is no form of results"),
        ("a.csv", None, {"max_rows": -1}, "both must be 0 or more"),
        ("a.csv", None, {"max_cols": -1}, "cannot show -1 columns"),
        ("a.csv", None, {"rows": (5, 2)}, "rows 5 to 2 are no range"),
        ("a.csv", None, {"rows": (-1, 2)}, "rows -1 to 2 are no range"),
        ("a.csv", None, {"strategy": "random"}, "'random' is no sampling strategy"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    tmp_path: Path, name: str, form: str | None, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read(written(tmp_path, name, "a\n1\n"), form=form, **options)


def test_the_form_is_told_by_the_extension_of_the_path_or_of_the_name(tmp_path: Path) -> None:
    packed = written(tmp_path, "A.CSV.GZ", gzip.compress(b"a\n1\n", mtime=0))
    assert read(packed).form == "csv"
    kept = written(tmp_path, "0" * 64, '{"a":1}')
    shown = Shown(1, 1, "stride")
    assert read_result(kept, "orders.jsonl", shown, form=None).form == "ndjson"


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: data[:12] + b"\0" * 40])
def test_a_damaged_gzip_file_is_refused(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    packed = gzip.compress(b'{"a":1}\n' * 1_000, mtime=0)
    with pytest.raises(InputError, match="orders cannot be unpacked"):
        read(written(tmp_path, "a.ndjson.gz", damage(packed)))


def test_a_file_that_is_not_there_or_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"^orders: there is no such file"):
        read(tmp_path / "a.csv")
    (tmp_path / "b.csv").mkdir()
    with pytest.raises(EnvironmentProblem, match=r"^orders cannot be read \(Is a directory\)"):
        read(tmp_path / "b.csv")


@pytest.mark.parametrize("kind", ["ndjson", "json", "csv"])
@pytest.mark.parametrize("change", ["grown", "cut", "touched"])
def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, kind: str, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[dict[str, Any]] = [{"a": row} for row in range(30_000)]
    text = WRITERS[kind](rows)
    path = written(tmp_path, f"a.{kind}", text)
    choose = reading.Shown.choose

    def meanwhile(shown: Shown, total: int) -> tuple[int, ...]:
        if total:
            with path.open("r+b") as file:
                if change == "grown":
                    file.seek(0, os.SEEK_END)
                    file.write(b"\n")
                elif change == "cut":
                    file.truncate(path.stat().st_size // 2)
            os.utime(path, ns=(1, 1))
        return choose(shown, total)

    monkeypatch.setattr(reading.Shown, "choose", meanwhile)
    problems = (EnvironmentProblem, InputError)
    with pytest.raises(problems, match=r"was changed while it was read|not JSON|not CSV"):
        read(path, max_rows=10)


def test_only_what_is_needed_is_held_in_memory(tmp_path: Path) -> None:
    tracemalloc = pytest.importorskip("tracemalloc")
    path = tmp_path / "a.ndjson"
    line = json.dumps({"a": "x" * 180}).encode() + b"\n"
    with path.open("wb") as file:
        for _ in range(100):
            file.write(line * 1_000)
    tracemalloc.start()
    try:
        read(path, strategy="stride")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * 2**20 < path.stat().st_size


@given(st.lists(st.sampled_from(["a", "a_2", "b", ""])))
def test_columns_of_the_same_name_are_told_apart(names: list[str]) -> None:
    found = distinct(names)
    assert len(set(found)) == len(names)
    assert all(one.startswith(name) for one, name in zip(found, names, strict=True))
    for place, name in enumerate(names):
        if name not in names[:place]:
            assert found[place] == name

import json
import socket
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlalchemy import Engine, create_engine
from sqlalchemy.pool import StaticPool

import tiers
from evidentia.errors import EnvironmentProblem, EvidentiaError, InputError, NotFoundError
from evidentia.loading.queries.readonly import _refuse_doubtful
from evidentia.loading.queries.running import (
    KeptResult,
    QueryLimits,
    keep_duckdb_result,
    keep_query_result,
)
from evidentia.loading.results.reading import Shown, read_kept
from evidentia.store.lake import FileLake
from postgres import TEMPLATE, PostgresServer

ROWS = 5_000
CREATE = "CREATE TABLE orders (id INTEGER, name TEXT, amount {double}, made {moment}, raw {binary})"
QUERY = "SELECT id, name, amount, made, raw FROM orders ORDER BY id"


@pytest.fixture
def lake(tmp_path: Path) -> FileLake:
    return FileLake(tmp_path / "lake")


@pytest.fixture
def sqlite_file(tmp_path: Path) -> Path:
    path = tmp_path / "user's.db"
    with sqlite3.connect(path) as connection:
        connection.execute(CREATE.format(double="REAL", moment="TEXT", binary="BLOB"))
        connection.executemany(
            "INSERT INTO orders VALUES (?, ?, ?, ?, ?)",
            [
                (row, f"row {row}", row / 4, "2026-01-31T09:30:00", b"\x00\xff")
                for row in range(ROWS)
            ],
        )
    connection.close()
    return path


@pytest.fixture(scope="module")
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    with postgres.fresh_database(TEMPLATE) as url:
        engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
        with engine.begin() as connection:
            connection.exec_driver_sql(
                CREATE.format(double="DOUBLE PRECISION", moment="TIMESTAMP", binary="BYTEA")
            )
            connection.exec_driver_sql(
                "INSERT INTO orders SELECT i, 'row ' || i, i / 4.0, '2026-01-31 09:30:00', "
                f"'\\x00ff' FROM generate_series(0, {ROWS - 1}) i"
            )
        engine.dispose()
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """Give the URL of a database of someone else's, on each kind in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{request.getfixturevalue('sqlite_file')}"
    return str(request.getfixturevalue("postgres_url"))


def rows_of(lake: FileLake, kept: KeptResult) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lake.get(kept.sha256).splitlines()]


def files(lake: FileLake) -> list[Path]:
    return [path for path in lake._folder.rglob("*") if path.is_file()]


def test_the_rows_of_a_query_are_kept_as_ndjson_alike_from_each_database(
    lake: FileLake, url: str
) -> None:
    kept = keep_query_result(url, QUERY, lake, "orders")
    assert kept.row_count == ROWS
    assert kept.columns == ("id", "name", "amount", "made", "raw")
    data = lake.get(kept.sha256)
    assert kept.byte_count == len(data)
    assert data.splitlines()[7] == (
        b'{"id":7,"name":"row 7","amount":1.75,"made":"2026-01-31T09:30:00","raw":"AP8="}'
    )
    assert data.count(b"\n") == ROWS
    assert keep_query_result(url, QUERY, lake, "again") == kept
    with lake.open(kept.sha256) as stream:
        found = read_kept(stream, "orders", Shown(2, 2, "stride"))
    assert found.table.rows == (("0", "row 0"), (f"{ROWS // 2}", f"row {ROWS // 2}"))
    assert found.sha256 == kept.sha256


def test_parameters_stand_for_their_names(lake: FileLake, url: str) -> None:
    kept = keep_query_result(
        url, "SELECT name FROM orders WHERE id = :id AND name LIKE '%1%'", lake, "orders",
        parameters={"id": 1},
    )  # fmt: skip
    assert rows_of(lake, kept) == [{"name": "row 1"}]
    with pytest.raises(InputError, match=r"^orders: the query failed: .*bind parameter 'id'"):
        keep_query_result(
            url, "SELECT name FROM orders WHERE id = :id", lake, "orders", parameters={}
        )


def test_without_parameters_a_statement_is_taken_as_it_is(lake: FileLake, url: str) -> None:
    kept = keep_query_result(url, "SELECT ':id %s 100%' AS a, 1 AS a, 2 AS a", lake, "orders")
    assert rows_of(lake, kept) == [{"a": ":id %s 100%", "a_2": 1, "a_3": 2}]
    assert kept.columns == ("a", "a_2", "a_3")


def test_a_result_without_rows_still_has_columns(lake: FileLake, url: str) -> None:
    kept = keep_query_result(url, "SELECT id, name FROM orders WHERE id < 0", lake, "orders")
    assert (kept.row_count, kept.byte_count, kept.columns) == (0, 0, ("id", "name"))
    assert lake.get(kept.sha256) == b""


WRITES = [
    "INSERT INTO orders (id) VALUES (-1)",
    "INSERT INTO orders (id) VALUES (-1) RETURNING id",
    "UPDATE orders SET id = -1 RETURNING id",
    "DELETE FROM orders",
    "DROP TABLE orders",
    "CREATE TABLE more (id INTEGER)",
    "CREATE TABLE more AS SELECT * FROM orders",
    "SELECT 1; DELETE FROM orders",
    "SELECT 1; COMMIT; DELETE FROM orders",
    "COMMIT",
    "ROLLBACK",
    "",
    "-- nothing",
]
SQLITE_WRITES = [
    "WITH gone AS (SELECT 1) DELETE FROM orders RETURNING id",
    "PRAGMA query_only = OFF",
    "PRAGMA user_version = 5",
    "ATTACH 'other.db' AS other",
    "VACUUM INTO 'other.db'",
    "VACUUM",
    "BEGIN IMMEDIATE",
    "SAVEPOINT a",
    "SELECT load_extension('other')",
]
POSTGRES_WRITES = [
    "WITH gone AS (DELETE FROM orders RETURNING id) SELECT * FROM gone",
    "SELECT E'\\''; COMMIT; DELETE FROM orders --'",
    "SELECT 1; SET TRANSACTION READ WRITE; DELETE FROM orders",
    "SELECT set_config('transaction_read_only', 'off', true)",
    "SELECT id INTO more FROM orders",
    "SELECT id FROM orders FOR UPDATE",
    "SELECT nextval('numbers')",
    "COPY orders TO '/tmp/orders'",
    "SET statement_timeout = 0",
    "VACUUM orders",
]


def check_that_it_changes_nothing(source: Engine | str, statement: str, lake: FileLake) -> None:
    before = keep_query_result(source, QUERY, lake, "before")
    with pytest.raises(InputError, match=r"^orders: ") as refused:
        keep_query_result(source, statement, lake, "orders")
    assert "\n" not in str(refused.value)
    assert keep_query_result(source, QUERY, lake, "after") == before
    assert len(files(lake)) == 1, "nothing else is kept"
    with pytest.raises(InputError, match="more"):
        keep_query_result(source, "SELECT * FROM more", lake, "more")


@pytest.mark.parametrize("statement", tiers.sample([*WRITES, *SQLITE_WRITES], 11))
def test_a_statement_that_writes_to_sqlite_fails_and_changes_nothing(
    lake: FileLake,
    sqlite_file: Path,
    statement: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sqlite_file.read_bytes()
    check_that_it_changes_nothing(f"sqlite:///{sqlite_file}", statement, lake)
    engine = create_engine(f"sqlite:///{sqlite_file}")  # whose connections can write
    check_that_it_changes_nothing(engine, statement, lake)
    engine.dispose()
    assert sqlite_file.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lake", "user's.db"]


@pytest.mark.parametrize("statement", tiers.sample([*WRITES, *POSTGRES_WRITES], 11))
def test_a_statement_that_writes_to_postgresql_fails_and_changes_nothing(
    lake: FileLake, postgres_url: str, statement: str
) -> None:
    check_that_it_changes_nothing(postgres_url, statement, lake)


def test_a_connection_is_afterwards_as_it_was(lake: FileLake) -> None:
    engine = create_engine("sqlite://", poolclass=StaticPool)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE orders (id INTEGER)")
    keep_query_result(engine, "SELECT * FROM orders", lake, "orders")
    with pytest.raises(InputError):
        keep_query_result(engine, "DELETE FROM orders", lake, "orders")
    with engine.begin() as connection:
        connection.exec_driver_sql("INSERT INTO orders VALUES (1)")
        connection.exec_driver_sql("ATTACH ':memory:' AS other")
        connection.exec_driver_sql("DETACH other")
    assert keep_query_result(engine, "SELECT * FROM orders", lake, "orders").row_count == 1
    engine.dispose()


def test_virtual_tables_of_sqlite_can_be_read(lake: FileLake, tmp_path: Path) -> None:
    path = tmp_path / "search.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE VIRTUAL TABLE notes USING fts5(body)")
        connection.execute("INSERT INTO notes VALUES ('annual leave'), ('sick leave')")
    connection.close()
    found = "SELECT body FROM notes WHERE notes MATCH 'annual'"
    kept = keep_query_result(f"sqlite:///{path}", found, lake, "notes")
    assert rows_of(lake, kept) == [{"body": "annual leave"}]
    each = "SELECT value FROM json_each('[1, 2]')"
    assert keep_query_result(f"sqlite:///{path}", each, lake, "each").row_count == 2
    columns = "SELECT name FROM pragma_table_info('notes')"
    assert keep_query_result(f"sqlite:///{path}", columns, lake, "columns").row_count == 1


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1; SELECT 2",
        "SELECT * INTO OUTFILE 'x' FROM orders",
        "EXEC something",
        "WITH x AS (SELECT 1) DELETE FROM orders",
        "/* SELECT */ TRUNCATE TABLE orders",
        "SHOW TABLES",
        "SELECT 'insert'",
    ],
)
def test_of_other_databases_only_a_plain_query_is_asked(statement: str) -> None:
    with pytest.raises(InputError, match="orders: this database may let the statement write"):
        _refuse_doubtful(statement, "orders")
    for plain in ("SELECT 1;", "-- why\n(select 1)", "/* a */ WITH x AS (SELECT 1) SELECT 2"):
        _refuse_doubtful(plain, "orders")


def test_a_million_years_are_not_waited_for(lake: FileLake, url: str) -> None:
    forever = (
        "WITH RECURSIVE many(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many) "
        "SELECT count(*) FROM many"
    )
    with pytest.raises(InputError, match=r"^orders took longer than 0.3 seconds: narrow"):
        keep_query_result(url, forever, lake, "orders", limits=QueryLimits(seconds=0.3))
    endless = forever.replace("count(*)", "n")
    with pytest.raises(InputError, match=r"^orders took longer than 0.3 seconds: narrow"):
        keep_query_result(url, endless, lake, "orders", limits=QueryLimits(seconds=0.3))
    assert files(lake) == []


def test_more_than_the_limits_allow_is_refused_and_not_kept(lake: FileLake, url: str) -> None:
    exact = keep_query_result(url, QUERY, lake, "orders", limits=QueryLimits(max_rows=ROWS))
    lake.remove(exact.sha256)
    with pytest.raises(InputError, match="orders gives more than 4,999 rows: narrow the query"):
        keep_query_result(url, QUERY, lake, "orders", limits=QueryLimits(max_rows=ROWS - 1))
    limits = QueryLimits(max_bytes=exact.byte_count - 1)
    with pytest.raises(InputError, match=r"orders gives more than [\d,]+ bytes: narrow the query"):
        keep_query_result(url, QUERY, lake, "orders", limits=limits)
    assert files(lake) == []


def test_an_error_of_the_query_is_told_in_one_line(lake: FileLake, url: str) -> None:
    for statement in ("SELEC 1", "SELECT * FROM nowhere"):
        with pytest.raises(InputError, match=r"^orders: the query failed: ") as refused:
            keep_query_result(url, statement, lake, "orders")
        assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match=r"^orders: the query failed: file is not a database"):
        keep_query_result(f"sqlite:///{__file__}", "SELECT * FROM orders", lake, "orders")


def test_what_cannot_be_reached_is_told_without_a_password(
    lake: FileLake, tmp_path: Path, postgres: PostgresServer
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        sources = {
            f"postgresql://me:hunter2@127.0.0.1:{port}/x": EnvironmentProblem,
            "postgresql://me:hunter2@127.0.0.1:notaport/x": InputError,
            "hunter2": InputError,
            "nosuch://me:hunter2@host/x": EnvironmentProblem,
            "oracle://me:hunter2@host/x": EnvironmentProblem,
            f"sqlite:///{tmp_path}/none.db": NotFoundError,
            postgres.url("postgres", "locked").replace("locked@", "locked:hunter2@"): (
                EnvironmentProblem
            ),
        }
        for source, problem in sources.items():
            with pytest.raises(problem, match=r"^orders: ") as refused:
                keep_query_result(source, "SELECT 1", lake, "orders")
            assert "hunter2" not in str(refused.value)
            assert "\n" not in str(refused.value)
    assert not (tmp_path / "none.db").exists()


def test_values_that_json_does_not_have_become_text(lake: FileLake, postgres_url: str) -> None:
    kept = keep_query_result(
        postgres_url,
        "SELECT 1.10::numeric AS price, 'NaN'::float8 AS nan, '-Infinity'::float8 AS low, "
        "'Infinity'::float8 AS high, 12345678901234567890123::numeric AS large, "
        "date '2026-01-31' AS day, time '09:30' AS hour, "
        "'00000000-0000-0000-0000-000000000001'::uuid AS id, interval '1 day' AS span, "
        "'{\"b\": [1, null, true]}'::jsonb AS nested, ARRAY[1.5::numeric, 2] AS list, "
        "timestamptz '2026-01-31 09:30:00+00' IS NULL AS missing, NULL AS nothing",
        lake,
        "orders",
    )
    assert rows_of(lake, kept) == [
        {
            "price": "1.10", "nan": "NaN", "low": "-Infinity", "high": "Infinity",
            "large": "12345678901234567890123", "day": "2026-01-31", "hour": "09:30:00",
            "id": "00000000-0000-0000-0000-000000000001", "span": "1 day, 0:00:00",
            "nested": {"b": [1, None, True]}, "list": ["1.5", "2"], "missing": False,
            "nothing": None,
        }
    ]  # fmt: skip


def test_text_that_is_not_utf8_is_refused(lake: FileLake, sqlite_file: Path) -> None:
    broken = "SELECT CAST(x'ff' AS TEXT)"
    with pytest.raises(InputError, match=r"^orders: the query failed: Could not decode to UTF-8"):
        keep_query_result(f"sqlite:///{sqlite_file}", broken, lake, "orders")


def redact(text: str) -> str:
    return text.replace("row 7", "[NAME]").replace("4999", "[NUMBER]")


def test_cells_are_redacted_before_they_are_written(lake: FileLake, url: str) -> None:
    kept = keep_query_result(url, QUERY, lake, "orders", redact=redact)
    rows = rows_of(lake, kept)
    assert rows[7]["name"] == "[NAME]"
    assert rows[70]["name"] == "[NAME]0"
    assert rows[4999] == {
        "id": "[NUMBER]", "name": "row [NUMBER]", "amount": 1249.75,
        "made": "2026-01-31T09:30:00", "raw": "AP8=",
    }  # fmt: skip
    assert rows[8]["id"] == 8
    clean = keep_query_result(url, "SELECT 1 AS a, NULL AS b", lake, "one", redact=redact)
    assert rows_of(lake, clean) == [{"a": 1, "b": None}]
    with pytest.raises(InputError, match=r"orders: the query failed: .*\[NAME\]"):
        keep_query_result(url, 'SELECT "row 7".x FROM orders', lake, "orders", redact=redact)


def test_what_is_nested_is_redacted_too(lake: FileLake, postgres_url: str) -> None:
    nested = """SELECT '{"row 7": [4999, 5, null, true, "a\\nrow 7"]}'::jsonb AS a"""
    kept = keep_query_result(postgres_url, nested, lake, "orders", redact=redact)
    assert rows_of(lake, kept) == [{"a": {"[NAME]": ["[NUMBER]", 5, None, True, "a\n[NAME]"]}}]


@pytest.fixture
def orders(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "it's.csv").write_text("id,name\n1,one\n2,two\n")
    (tmp_path / "b.ndjson").write_text('{"id":1,"n":10}\n{"id":2,"n":20}\n')
    (tmp_path / "c.json").write_text('[{"id":2,"x":true}]')
    (tmp_path / "d.tsv").write_text("id\tt\n2\ttab, here\n")
    duckdb.execute(f"COPY (SELECT 2 AS id, 'p' AS p) TO '{tmp_path / 'e.parquet'}'")
    names = {"a": "it's.csv", "b": "b.ndjson", "c": "c.json", "d": "d.tsv", "e": "e.parquet"}
    return {view: tmp_path / name for view, name in names.items()}


def test_files_are_views_for_duckdb(lake: FileLake, orders: dict[str, Path]) -> None:
    joined = (
        "SELECT a.id, name, n, x, t, p FROM a JOIN b USING (id) JOIN c USING (id) "
        "JOIN d USING (id) JOIN e USING (id); -- all"
    )
    kept = keep_duckdb_result(joined, orders, lake, "orders")
    assert rows_of(lake, kept) == [
        {"id": 2, "name": "two", "n": 20, "x": True, "t": "tab, here", "p": "p"}
    ]
    again = keep_duckdb_result(
        "SELECT name FROM people ORDER BY id DESC",
        {"people.ndjson": lake._path(kept.sha256)},
        lake,
        "people",
        redact=lambda text: text.replace("two", "[NAME]"),
    )
    assert rows_of(lake, again) == [{"name": "[NAME]"}]


def test_values_of_duckdb_are_kept_exactly(lake: FileLake) -> None:
    kept = keep_duckdb_result(
        "SELECT 1 AS a, 2 AS a, TIMESTAMPTZ '2026-01-31 09:30:00+02' AS at, "
        "TIMESTAMP_NS '2026-01-31 09:30:00.123456789' AS ns, INTERVAL 3 MONTH AS span, "
        "DATE 'infinity' AS day, {'at': TIMESTAMPTZ '2026-01-31 09:30:00+02'} AS inside, "
        "(1::HUGEINT << 100) AS large, 'nan'::DOUBLE AS nan, 1.10::DECIMAL(9, 2) AS price",
        {},
        lake,
        "values",
    )
    assert rows_of(lake, kept) == [
        {
            "a": 1, "a_2": 2, "at": "2026-01-31T07:30:00+00",
            "ns": "2026-01-31T09:30:00.123456789", "span": "3 months", "day": "infinity",
            "inside": "{'at': '2026-01-31 07:30:00+00'}", "large": 2**100, "nan": "NaN",
            "price": "1.10",
        }
    ]  # fmt: skip


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('{folder}/other.csv')",
        "SELECT * FROM '{folder}/other.csv'",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT getenv('HOME')",
        "SELECT * FROM read_csv('https://example.com/x.csv')",
        "SELECT * FROM duckdb_secrets()",
        "SELECT * FROM duckdb_extensions()",
        "SELECT * FROM outside",
        "COPY a TO '{folder}/new.csv'",
        "COPY (SELECT 1) TO '{folder}/b.ndjson' (FORMAT csv, USE_TMP_FILE false)",
        "ATTACH '{folder}/new.db'",
        "ATTACH ':memory:' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "RESET lock_configuration",
        "EXPORT DATABASE '{folder}/new'",
        "CREATE TABLE t (i INTEGER)",
        "DROP VIEW a",
        "SELECT 1; SELECT 2",
        "SELECT * FROM query('DROP VIEW a')",
        "PRAGMA version",
        "CALL pragma_version()",
        "",
        "SELEC",
        "SELECT nothing FROM a",
        "SELECT $1",
    ],
)
def test_duckdb_reads_the_given_files_and_nothing_else(
    lake: FileLake, orders: dict[str, Path], tmp_path: Path, statement: str
) -> None:
    (tmp_path / "other.csv").write_text("secret\nhunter2\n")
    outside = {"secret": "hunter2"}
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(InputError, match=r"^orders: ") as refused:
        keep_duckdb_result(statement.format(folder=tmp_path), orders, lake, "orders")
    assert "\n" not in str(refused.value)
    assert outside["secret"] not in str(refused.value)
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert not lake._folder.exists()


def test_duckdb_is_interrupted_when_its_time_is_over(lake: FileLake) -> None:
    forever = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"
    with pytest.raises(InputError, match=r"^orders took longer than 0.3 seconds: narrow"):
        keep_duckdb_result(forever, {}, lake, "orders", limits=QueryLimits(seconds=0.3))
    endless = "SELECT range FROM range(100000000000)"
    with pytest.raises(InputError, match=r"took longer|more than 2,000 rows"):
        keep_duckdb_result(endless, {}, lake, "orders", limits=QueryLimits(max_rows=2_000))
    assert files(lake) == []


def test_files_that_duckdb_cannot_take_are_named(lake: FileLake, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="orders: there is no file for 'a'"):
        keep_duckdb_result("SELECT 1", {"a": tmp_path / "none.csv"}, lake, "orders")
    with pytest.raises(InputError, match="its form is unknown"):
        keep_duckdb_result("SELECT 1", {"a": tmp_path / "a.xml"}, lake, "orders")
    pattern = tmp_path / "a[1].csv"
    pattern.write_text("a\n1\n")
    with pytest.raises(InputError, match="in a path for a pattern: rename it"):
        keep_duckdb_result("SELECT 1", {"a": pattern}, lake, "orders")
    broken = tmp_path / "a.ndjson"
    broken.write_text('{"a":1}\n{"a":')
    with pytest.raises(InputError, match=r"^orders: "):
        keep_duckdb_result("SELECT * FROM a", {"a": broken}, lake, "orders")


def test_without_duckdb_it_is_said_what_to_install(
    lake: FileLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(EnvironmentProblem, match=r"pip install 'evidentia\[duckdb\]'"):
        keep_duckdb_result("SELECT 1", {}, lake, "orders")


def test_only_a_part_of_a_result_is_held_in_memory(lake: FileLake, sqlite_file: Path) -> None:
    tracemalloc = pytest.importorskip("tracemalloc")
    wide = "SELECT printf('%.*c', 200000, 'x') AS wide FROM orders LIMIT 200"
    source = f"sqlite:///{sqlite_file}"
    keep_query_result(source, "SELECT 1", lake, "first")
    tracemalloc.start()
    try:
        kept = keep_query_result(source, wide, lake, "orders")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept.byte_count > 200 * 200_000
    assert peak < kept.byte_count / 2


def test_every_problem_is_one_of_ours(lake: FileLake) -> None:
    with pytest.raises(EvidentiaError):
        keep_query_result("sqlite+nosuch:///x", "SELECT 1", lake, "orders")

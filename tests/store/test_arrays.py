"""Columns that PostgreSQL takes as arrays: it has what was given, value by value."""

from typing import Any

import pytest

from evidentia.errors import EnvironmentProblem
from evidentia.store.arrays import column
from evidentia.store.database import Database, Insert, insert_together, run
from places import Place

VALUES: list[tuple[str, list[Any]]] = [
    ("text", ["", "a", "NULL", '{"x": "\\"}', "ما هو الرصيد؟", "🙂 e\u0301", " ", "x" * 100_000]),
    ("bytea", [b"", b"\0", b"\\x00", bytes(range(256)), b"x" * 100_000]),
    ("integer", [0, 1, -1, 2**31 - 1, -(2**31)]),
    ("bigint", [0, 1, -1, 2**63 - 1, -(2**63)]),
]


@pytest.fixture
def database(postgres_place: Place) -> Any:
    found = Database.server(str(postgres_place.url))
    yield found
    found.close()


@pytest.mark.parametrize(("kind", "values"), VALUES)
def test_values_come_back_as_they_were(database: Database, kind: str, values: list[Any]) -> None:
    for some in (values, values[:1], []):
        with database.read() as connection:
            sql = f"SELECT * FROM unnest(CAST(? AS {kind}[]))"
            found = [value for (value,) in run(connection, sql, (column(kind, some),))]
        assert [bytes(one) if kind == "bytea" else one for one in found] == some


def test_rows_of_several_tables_go_by_one_statement(database: Database) -> None:
    rows = [("a", 1, b"\0one"), ("b", 2**40, b"")]
    columns = {"name": "text", "number": "bigint", "data": "bytea"}
    with database.write() as connection:
        for table in ("pg_temp.here", "pg_temp.there"):
            run(connection, f"CREATE TEMP TABLE {table[8:]} (name text, number bigint, data bytea)")
        inserts = [Insert("pg_temp.here", columns, rows), Insert("pg_temp.there", columns, rows)]
        assert insert_together(connection, inserts, ("SELECT 1", ())) == 1
        for table in ("here", "there"):
            assert run(connection, f"SELECT * FROM pg_temp.{table}").all() == rows


def test_what_no_column_can_hold_is_refused(database: Database) -> None:
    with pytest.raises(EnvironmentProblem), database.read() as connection:
        run(connection, "SELECT * FROM unnest(CAST(? AS text[]))", (column("text", ["a\0b"]),))

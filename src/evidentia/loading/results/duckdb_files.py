"""DuckDB over given files and nothing else: no other file, no network, no extension, no setting.

DuckDB is an extra. Its own parser says what a statement is: a file that may be read may also be
written by `COPY`, so only a single query is let through.
"""

import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from evidentia.errors import EnvironmentProblem, InputError
from evidentia.loading.results.picked import Choose, PickedRows

_CONFIG: Final = {
    "memory_limit": "512MB",
    "threads": "2",
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_READERS: Final = {
    "csv": "read_csv({path}, delim = ',', header = true)",
    "tsv": "read_csv({path}, delim = '\t', header = true)",
    "json": "read_json({path})",
    "ndjson": "read_json({path}, format = 'newline_delimited')",
    "parquet": "read_parquet({path})",
}
_TEMPORAL: Final = ("DATE", "TIME", "INTERVAL")
_QUERY: Final = '"the query"'


@contextmanager
def reading(files: Mapping[str, tuple[Path, str]], name: str) -> Iterator[Any]:
    """Give a connection with one view for each file, which is given with its form."""
    duckdb = _module()
    shown = {str(path.absolute()): view for view, (path, _) in files.items()}
    with _translated(name, shown), duckdb.connect(":memory:", config=dict(_CONFIG)) as connection:
        paths = {view: _literal(_plain_path(path, name)) for view, (path, _) in files.items()}
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"SET allowed_paths = [{', '.join(paths.values())}]")
        connection.execute("SET enable_external_access = false")
        for view, (_, form) in files.items():
            source = _READERS[form].format(path=paths[view])
            connection.execute(f"CREATE VIEW {_identifier(view)} AS SELECT * FROM {source}")  # noqa: S608 - quoted
        connection.execute("SET lock_configuration = true")
        yield connection


def run_query(connection: Any, sql: str, name: str) -> tuple[tuple[str, ...], Any]:
    """Run a single query; return its columns' names, and what its rows can be fetched from.

    Dates and times come as text, exactly as DuckDB writes them, with `T` before the time.
    """
    duckdb = _module()
    statements = connection.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise InputError(f"{name}: give one query that only reads (SELECT …)")
    bound = connection.sql(sql)
    columns, types = tuple(bound.columns), [str(kind) for kind in bound.types]
    places = [f"c{place}" for place in range(len(columns))]
    connection.execute(f"CREATE TEMP VIEW {_QUERY}({', '.join(places)}) AS {sql}")
    shown = (_exact(place, kind) for place, kind in zip(places, types, strict=True))
    return columns, connection.execute(f"SELECT {', '.join(shown)} FROM {_QUERY}")  # noqa: S608 - ours


def pick_parquet(path: Path, name: str, choose: Choose, max_cols: int) -> PickedRows:
    """Return the rows that `choose` wants, of the columns that are shown."""
    with reading({"result": (path, "parquet")}, name) as connection:
        described = connection.execute("DESCRIBE result").fetchall()
        columns = tuple(str(row[0]) for row in described)
        shown = [_exact(_identifier(row[0]), row[1]) for row in described[:max_cols]]
        total = connection.execute("SELECT count(*) FROM result").fetchone()[0]
        numbers = choose(total)
        found = connection.execute(
            f"SELECT {', '.join(shown) or 'NULL'} "  # noqa: S608 - all names are quoted
            f"FROM read_parquet({_literal(str(path.absolute()))}, file_row_number = true) "
            "WHERE file_row_number IN (SELECT unnest(?::BIGINT[])) ORDER BY file_row_number",
            [list(numbers)],
        )
        rows = [list(row[: len(shown)]) for row in found.fetchall()]
    return PickedRows(total, numbers, rows, columns)


@contextmanager
def _translated(name: str, shown: Mapping[str, str]) -> Iterator[None]:
    """Turn DuckDB's errors into ours, on one line, with files by their name and not their path."""
    duckdb = _module()
    try:
        yield
    except duckdb.Error as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        for path, view in shown.items():
            reason = reason.replace(path, view)
        raise InputError(f"{name}: {reason}") from None


def _module() -> Any:
    try:
        return importlib.import_module("duckdb")
    except ImportError:
        raise EnvironmentProblem(
            "Parquet and SQL over files need DuckDB: pip install 'evidentia[duckdb]'"
        ) from None


def _exact(column: str, kind: str) -> str:
    """Return an expression for a column that loses nothing on its way to Python."""
    if not any(word in kind for word in _TEMPORAL):
        return column
    text = f"CAST({column} AS VARCHAR)"
    return f"replace({text}, ' ', 'T')" if kind.startswith("TIMESTAMP") else text


def _plain_path(path: Path, name: str) -> str:
    text = str(path.absolute())
    if any(sign in text for sign in "*?["):
        raise InputError(
            f"{name}: DuckDB takes '*', '?' and '[' in a path for a pattern: rename it"
        )
    return text


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

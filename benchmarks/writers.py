"""PostgreSQL: writers of single records, what the sequencer moves, proofs; in many processes."""

import multiprocessing
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any, Final

import psycopg
from benchmarks.appending import HEAD_COLUMNS, Rows, begin_log, capture, write_rows
from benchmarks.measuring import (
    Line,
    Section,
    Table,
    interleaved,
    number,
    ratios,
    seconds_of,
    shown,
    tidy,
)
from benchmarks.servers import postgresql
from benchmarks.workload import SEED, batches, evidence_records
from sqlalchemy import make_url

from evidentia.store.database import Database, insert_rows, run
from evidentia.store.home import Home
from evidentia.store.lines import Request
from evidentia.store.sequencer import Sequencer
from evidentia.store.sql.log import (
    BODY_COLUMNS,
    CHECKPOINT_COLUMNS,
    ENTRY_COLUMNS,
    TILE_COLUMNS,
    Receipt,
)
from evidentia.trail.waiting import Waiting, waiting
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.opened import Opened

TICKETS_AT_ONCE: Final = 1_000
"""How many postings the sequencer takes at a time."""
_TABLE: Final = (
    "CREATE TABLE bare (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind TEXT, "
    "subject TEXT, entry BYTEA, body BYTEA)"
)
_INSERT: Final = (
    "INSERT INTO bare (kind, subject, entry, body) VALUES (%s, %s, %s, %s) RETURNING id"
)
_START_SECONDS: Final = 0.3
_PATIENCE_SECONDS: Final = 180.0


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is appended, and by whom: processes, and writers in each."""

    rounds: int
    seconds: float
    crowds: tuple[tuple[int, int], ...]
    posted: int
    proved: int
    proofs: int


SIZES = {
    "full": Sizes(5, 3.0, ((4, 8), (32, 1), (1, 32)), 20_000, 20_000, 300),
    "quick": Sizes(3, 1.0, ((4, 8), (1, 32)), 6_000, 5_000, 100),
    "tiny": Sizes(1, 0.3, ((2, 2),), 200, 300, 5),
}


# Writers


@dataclass(frozen=True, slots=True)
class Asked:
    """What a process of writers is asked: on which side to write, from when, for how long."""

    side: str
    begins: float
    seconds: float


class HeadLocked(Sequencer):
    """Appends as every process did before there was an inbox: it takes the log's head itself."""

    def append(self, tenant: str, waiting: Sequence[Waiting], by: str) -> list[Receipt]:
        """Append in a transaction of its own, which waits for the head."""
        request = Request(tenant, waiting, by)
        self._write(self._line(tenant), [request])
        return request.result()


class Crowd:
    """Processes with writers in each, of which all write at once, on one side after another."""

    def __init__(self, url: str, home: Path, processes: int, threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.writers = processes * threads
        self._pipes: list[Pipe] = []
        self._processes = []
        for seed in range(processes):
            here, there = context.Pipe()
            process = context.Process(target=_serve, args=(there, url, home, threads, seed))
            process.start()
            self._pipes.append(here)
            self._processes.append(process)
        for pipe in self._pipes:
            _said(pipe)

    def write(self, side: str, seconds: float) -> list[float]:
        """Have all write for some seconds; return how long each write took."""
        asked = Asked(side, time.monotonic() + _START_SECONDS, seconds)
        for pipe in self._pipes:
            pipe.send(asked)
        return [wait for pipe in self._pipes for wait in _said(pipe)]

    def close(self) -> None:
        """End the processes."""
        for pipe in self._pipes:
            pipe.send(None)
        for process in self._processes:
            process.join(_PATIENCE_SECONDS)


def measure_writers(size: str, folder: Path) -> Section:
    """Compare writers of single records with the head lock, and with unordered inserts."""
    sizes = SIZES[size]
    lines: list[Line] = []
    rows: list[list[str]] = []
    with postgresql(folder / "postgresql") as server:
        for processes, threads in sizes.crowds:
            with server.fresh_database() as url:
                found = _crowded(url, folder / f"{processes}-{threads}", sizes, processes, threads)
            named = _named(processes, threads)
            lines += _writers_lines(named, found, sizes)
            rows += [
                _waits_row(f"{named}: {name}", found[side], sizes)
                for side, name in (
                    ("ours", "as the product does"),
                    ("head", "each takes the head itself"),
                    ("bare", "bare inserts, in no order"),
                )
            ]
    header = ["", "appends/s", "median", "99 of 100", "longest"]
    return Section(
        "machines writers",
        "Writers of single records on PostgreSQL",
        "Each writer appends one record after the other, as fast as it can, to one log, and has a "
        "receipt for each before the next: durable, in its place, signed. The yardsticks write "
        "from as many connections in as many processes: each taking the log's head itself, one "
        "record a transaction, as it was before there was an inbox; and, in no order at all, "
        "`INSERT … RETURNING id` of the same bytes into a bare table by the bare driver, and "
        "`COMMIT`. All on one PostgreSQL on this machine, which shares its cores with the writers.",
        lines,
        [Table("Rates and waits, of all rounds", header, rows)],
    )


def _named(processes: int, threads: int) -> str:
    if processes == 1:
        return f"{threads} writers in one process"
    if threads == 1:
        return f"{processes} processes with one writer"
    return f"{processes} processes with {threads} writers"


def _crowded(
    url: str, home: Path, sizes: Sizes, processes: int, threads: int
) -> dict[str, list[list[float]]]:
    """Let a crowd write on each side in turn; return the waits of each round."""
    for tenant in ("ours", "head"):  # so that its key is there for all
        with open_workspace(url, home=home, tenant=tenant) as workspace:
            workspace.trail.checkpoint()
    with psycopg.connect(_driver_url(url), autocommit=True) as connection:
        connection.execute(_TABLE)
    found: dict[str, list[list[float]]] = {"ours": [], "head": [], "bare": []}
    with closing(Crowd(url, home, processes, threads)) as crowd:
        for name in found:
            crowd.write(name, min(0.5, sizes.seconds))  # connections are made, modules imported

        def side(name: str) -> Callable[[], float]:
            def measure() -> float:
                found[name].append(crowd.write(name, sizes.seconds))
                return 0.0

            return measure

        before = _there(url, home)
        interleaved(sizes.rounds, {name: side(name) for name in found})
        after = _there(url, home)
    for name, waits in found.items():
        told, there = sum(map(len, waits)), after[name] - before[name]
        if told != there:
            raise SystemExit(f"{name}: {told} appends were acknowledged, {there} are there")
    return found


def _there(url: str, home: Path) -> dict[str, int]:
    found = {}
    for tenant in ("ours", "head"):
        with open_workspace(url, home=home, tenant=tenant) as workspace:
            found[tenant] = workspace.trail.size
    with psycopg.connect(_driver_url(url)) as connection:
        row = connection.execute("SELECT count(*) FROM bare").fetchone()
    return {**found, "bare": row[0] if row else 0}


def _writers_lines(named: str, found: dict[str, list[list[float]]], sizes: Sizes) -> list[Line]:
    rates = {name: [len(waits) / sizes.seconds for waits in each] for name, each in found.items()}
    late = {name: [_late(waits) for waits in each] for name, each in found.items()}

    def rate(name: str) -> str:
        return f"{number(statistics.median(rates[name]))}/s"

    def wait(name: str) -> str:
        return shown(statistics.median(late[name]) * 1e3, "ms")

    head = "each takes the head"
    return [
        Line(
            named,
            head,
            rate("ours"),
            rate("head"),
            ratios(rates["ours"], rates["head"]),
            "times",
            target=5.0,
        ),
        Line(
            f"{named}, 99 of 100 waits",
            head,
            wait("ours"),
            wait("head"),
            ratios(late["ours"], late["head"]),
            "%",
            target=0.2,
            at_most=True,
        ),
        Line(
            named,
            "bare inserts",
            rate("ours"),
            rate("bare"),
            ratios(rates["ours"], rates["bare"]),
            "%",
            target=0.15,
            aim=0.30,
        ),
    ]


def _waits_row(name: str, rounds: list[list[float]], sizes: Sizes) -> list[str]:
    waits = sorted(wait for each in rounds for wait in each)
    return [
        name,
        number(len(waits) / sizes.seconds / len(rounds)),
        shown(statistics.median(waits) * 1e3, "ms"),
        shown(_late(waits) * 1e3, "ms"),
        shown(waits[-1] * 1e3, "ms"),
    ]


def _late(waits: list[float]) -> float:
    return sorted(waits)[int(len(waits) * 0.99)]


def _said(pipe: Pipe) -> Any:
    if not pipe.poll(_PATIENCE_SECONDS):
        raise SystemExit("a process of writers says nothing")
    try:
        return pipe.recv()
    except EOFError:
        raise SystemExit("a process of writers failed") from None


def _serve(pipe: Pipe, url: str, home: Path, threads: int, seed: int) -> None:
    """Write as one process of a crowd, whenever it is asked."""
    with ExitStack() as stack:
        ours = stack.enter_context(_opened(url, home))
        locked = [stack.enter_context(_opened(url, home)) for _ in range(threads)]
        for opened in locked:
            opened.sequencer = HeadLocked(
                opened.database, opened.appending, opened.now, opened.randomness
            )
        bare = [stack.enter_context(psycopg.connect(_driver_url(url))) for _ in range(threads)]
        records = evidence_records(500, seed)
        item = _item(ours)
        sides: dict[str, list[Callable[[int], object]]] = {
            "ours": [_appends(ours.for_("ours"), records) for _ in range(threads)],
            "head": [_appends(opened.for_("head"), records) for opened in locked],
            "bare": [_inserts(connection, item) for connection in bare],
        }
        pipe.send("ready")
        while (asked := pipe.recv()) is not None:
            pipe.send(_written(sides[asked.side], asked))


def _written(writers: list[Callable[[int], object]], asked: Asked) -> list[float]:
    """Let writers write at once; return how long each write took."""
    waits: list[float] = []
    problems: list[BaseException] = []

    def write(writer: Callable[[int], object]) -> None:
        taken: list[float] = []
        time.sleep(max(0.0, asked.begins - time.monotonic()))
        end = time.perf_counter() + asked.seconds
        try:
            while (start := time.perf_counter()) < end:
                writer(len(taken))
                taken.append(time.perf_counter() - start)
        except BaseException as error:  # noqa: BLE001 - raised by the process
            problems.append(error)
        waits.extend(taken)

    writing = [threading.Thread(target=write, args=(writer,)) for writer in writers]
    for thread in writing:
        thread.start()
    for thread in writing:
        thread.join()
    if problems:
        raise problems[0]
    return waits


def _appends(workspace: Workspace, records: list[Any]) -> Callable[[int], object]:
    return lambda turn: workspace.append(records[turn % len(records)])


def _inserts(connection: "psycopg.Connection[Any]", item: Waiting) -> Callable[[int], object]:
    row = item.kind, item.subject, bytes(400), item.body

    def insert(_: int) -> object:
        found = connection.execute(_INSERT, row).fetchone()
        connection.commit()
        return found

    return insert


@contextmanager
def _opened(url: str, home: Path) -> Iterator[Opened]:
    with closing(Opened(Database.server(url), Home(home))) as opened:
        yield opened


def _item(opened: Opened, turn: int = 0) -> Waiting:
    """Return a record as it waits to be appended."""
    body = evidence_records(1)[0].model_dump(mode="json")
    return waiting("evidence_record", f"ob-{turn:07d}", body, opened.now(), opened.randomness(16))


def _driver_url(url: str) -> str:
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


# The sequencer


def measure_sequencing(size: str, folder: Path) -> Section:
    """Compare what the sequencer moves from the inbox into the log with bare batches."""
    sizes = SIZES[size]
    at_once = min(TICKETS_AT_ONCE, sizes.posted)
    records = evidence_records(sizes.posted)
    rows = capture(folder / "captured", list(batches(records, at_once)))
    turns = iter(range(1_000))
    with postgresql(folder / "postgresql") as server, server.fresh_database() as url:
        database = Database.server(url)
        with _opened(url, folder / "home") as opened:

            def ours() -> float:
                workspace = opened.for_(f"ours-{next(turns)}")
                workspace.trail.checkpoint()
                _post(workspace, records)
                tidy()
                return seconds_of(lambda: _sequence(workspace, len(records)))

            def side(write: Callable[[Database, str, Rows], None]) -> Callable[[], float]:
                def bare() -> float:
                    tenant = f"bare-{next(turns)}"
                    begin_log(database, tenant)
                    written = [part.of_tenant(tenant) for part in rows]
                    tidy()

                    def writing() -> None:
                        for part in written:
                            write(database, tenant, part)

                    return seconds_of(writing)

                return bare

            sides = {"ours": ours, "many": side(_write_many), "arrays": side(write_rows)}
            taken = interleaved(max(1, sizes.rounds // 2 + 1), sides)
        database.close()

    def rate(name: str) -> str:
        return f"{number(sizes.posted / statistics.median(taken[name]))} entries/s"

    return Section(
        "machines sequencing",
        "Sequencing",
        f"{number(sizes.posted)} postings of one record each wait in the inbox, and are taken out, "
        "compared with their codes, appended, signed and answered with a receipt each. The "
        "yardsticks insert the very same rows of a log (entries, bodies, tiles, checkpoints, head) "
        "in batches of as many, through the same engine, and neither hash nor answer anyone: by "
        "the driver's `executemany`, and, stricter, as the product does it, all tables by one "
        "statement that takes columns as arrays.",
        [
            Line(
                "From the inbox into the log",
                f"bare batches of {number(at_once)}, by `executemany`",
                rate("ours"),
                rate("many"),
                ratios(taken["many"], taken["ours"]),
                "%",
                target=0.5,
            ),
            Line(
                "From the inbox into the log",
                "the same, as arrays",
                rate("ours"),
                rate("arrays"),
                ratios(taken["arrays"], taken["ours"]),
                "%",
            ),
        ],
    )


def _write_many(database: Database, tenant: str, rows: Rows) -> None:
    """Write the rows of one append, table by table."""
    with database.of(tenant).write() as connection:
        for table, columns, values in (
            ("trail_entries", ENTRY_COLUMNS, rows.entries),
            ("trail_bodies", BODY_COLUMNS, rows.bodies),
            ("trail_tiles", TILE_COLUMNS, rows.tiles),
            ("trail_checkpoints", CHECKPOINT_COLUMNS, rows.checkpoints),
        ):
            insert_rows(connection, table, tuple(columns), values)
        run(
            connection,
            f"UPDATE trail_heads SET {' = ?, '.join(HEAD_COLUMNS)} = ? WHERE tenant = ?",
            (*rows.head, tenant),
        )


def _post(workspace: Workspace, records: Sequence[Any]) -> None:
    """Post records one by one, with no one to see to them yet."""
    opened, tenant = workspace.opened, workspace.tenant
    sequencer = opened.sequencer
    for part in batches(list(records), 500):
        with opened.database.of(tenant).write() as connection:
            for record in part:
                body = record.model_dump(mode="json")
                subject = record.obligation_id
                item = waiting(
                    "evidence_record", subject, body, opened.now(), opened.randomness(16)
                )
                sequencer.post_within(connection, tenant, [item], "owner", sequencer.ticket())


def _sequence(workspace: Workspace, posted: int) -> None:
    """Have all that waits appended, and wait until it is."""
    opened, tenant = workspace.opened, workspace.tenant
    workspace.append(evidence_records(1)[0])
    while True:
        with opened.database.of(tenant).read() as connection:
            sql = "SELECT size FROM trail_heads WHERE tenant = ?"
            if run(connection, sql, (tenant,)).scalar_one() >= posted + 2:
                return
        time.sleep(0.005)


# Proofs


def measure_proving(size: str, folder: Path) -> Section:
    """Compare proofs from a log on PostgreSQL with those from the same in SQLite."""
    sizes = SIZES[size]
    records = evidence_records(sizes.proved)
    chance = random.Random(SEED)
    with (
        postgresql(folder / "postgresql") as server,
        server.fresh_database() as url,
        open_workspace(url, home=folder / "server") as there,
        open_workspace(folder / "embedded") as here,
    ):
        for workspace in (there, here):
            for part in batches(records, 5_000):
                workspace.trail.append_many(part)

        def side(workspace: Workspace) -> Callable[[], float]:
            def prove() -> float:
                chosen = [chance.randrange(sizes.proved) for _ in range(sizes.proofs)]
                tidy()
                taken = seconds_of(lambda: [workspace.trail.prove(seq) for seq in chosen])
                return taken / sizes.proofs

            return prove

        taken = interleaved(2 * sizes.rounds, {"there": side(there), "here": side(here)})
    return Section(
        "machines proving",
        "Proofs on PostgreSQL",
        f"`trail.prove` of entries chosen at random, each under the newest checkpoint of a log of "
        f"{number(sizes.proved)} entries, against the same in the embedded database.",
        [
            Line(
                "Proofs made on PostgreSQL",
                "in SQLite",
                f"{number(1 / statistics.median(taken['there']))}/s",
                f"{number(1 / statistics.median(taken['here']))}/s",
                ratios(taken["here"], taken["there"]),
                "%",
                target=0.5,
            )
        ],
    )

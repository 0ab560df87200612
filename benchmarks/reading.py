"""Reading: auditing a whole log, making proofs from it and checking them."""

import multiprocessing
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

import psutil
from benchmarks.measuring import (
    Line,
    Section,
    Spread,
    interleaved,
    number,
    ratios,
    seconds_of,
    shown,
    tidy,
)
from benchmarks.workload import SEED, build_log, decision_of, evidence_records
from sqlalchemy import Engine, event

from evidentia.canonical import canonical_json
from evidentia.packs.decision import DecisionOutput
from evidentia.proof.document import Proof
from evidentia.proof.keys import TrustedKey
from evidentia.proof.verification import verify_proof
from evidentia.store.database import Database, run
from evidentia.store.home import Home
from evidentia.store.lookups import EVERY
from evidentia.store.opening import open_database
from evidentia.store.sql import log
from evidentia.store.sql.snapshots import snapshot_note
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.deciding import read_snapshot
from evidentia.trail.merkle import leaf_hash, verify_inclusion
from evidentia.trail.tiles import TILE_WIDTH
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.opened import DEFAULT_TENANT, Opened

MEMORY_SAMPLE_SECONDS = 0.02
MEMORY_LIMIT_MB = 250.0
LOOKUP_LIMIT_MS = 1.0


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is read."""

    entries: int
    rounds: int
    proofs: int
    checks: int
    cold: int
    singles: int
    lookups: int


SIZES = {
    "full": Sizes(1_000_000, 7, 3_000, 10_000, 200, 200_000, 1_000),
    "quick": Sizes(70_000, 3, 1_000, 2_000, 50, 2_000, 200),
    "tiny": Sizes(2_000, 1, 20, 20, 5, 30, 3),
}


MEMORY_SIZES = {
    "full": (100_000, 1_000_000),
    "quick": (100_000, 200_000),
    "tiny": (1_000, 2_000),
}
"""A short log and a long one; shorter ones are audited by fewer workers."""


def measure_verify(size: str, folder: Path) -> Section:
    """Compare auditing the log with reading and hashing the same bytes."""
    sizes = SIZES[size]
    in_fresh_process(bare_loop, folder, sizes.entries)  # the file is in the system's cache now
    taken = interleaved(
        sizes.rounds,
        {
            "ours": lambda: in_fresh_process(audit, folder, None),
            "bare": lambda: in_fresh_process(bare_loop, folder, sizes.entries),
            "bare two": lambda: in_fresh_process(two_bare_loops, folder, sizes.entries),
            "ours alone": lambda: in_fresh_process(audit, folder, 1),
        },
    )
    peak = peak_memory(audit, folder, None) / 1e6
    small = (
        "At this size the start of the workers is most of the time; the target is for a million."
    )

    def line(what: str, against: str, ours: str, bare: str, target: float | None) -> Line:
        rate = sizes.entries / statistics.median(taken[ours])
        theirs = sizes.entries / statistics.median(taken[bare])
        return Line(
            what,
            against,
            f"{number(rate)} entries/s",
            f"{number(theirs)}/s",
            ratios(taken[bare], taken[ours]),
            "%",
            target=target,
        )

    return Section(
        "verify",
        f"Verifying a log of {number(sizes.entries)} entries",
        "`trail.audit` on all cores, the start of its workers included, against a bare loop "
        "that fetches only the bytes which are hashed (entry, salt, body) and hashes them (leaf "
        "and commitment): in one process, and, stricter, in two that share the rows. The audit "
        "moreover compares every column, the chain, the tree, the tiles and the signatures. "
        "Memory is the highest sum of the resident sizes of the process and its workers, in a run "
        "of its own.",
        [
            line("Audit, all cores", "bare loop, one process", "ours", "bare", 0.60),
            line("Audit, all cores", "bare loops, two processes", "ours", "bare two", None),
            line("Audit, one core", "bare loop, one process", "ours alone", "bare", None),
            Line(
                "Peak memory, workers included",
                "-",
                shown(peak, "MB"),
                "",
                Spread(peak, peak, peak),
                "MB",
                target=MEMORY_LIMIT_MB,
                at_most=True,
            ),
        ],
        notes=[] if size == "full" else [small],
    )


def measure_singles(size: str, folder: Path) -> Section:
    """Compare auditing a log that was appended to record by record with the bare loop over it."""
    sizes = SIZES[size]
    with open_workspace(folder) as workspace:
        workspace.trail.checkpoint()
        for record in evidence_records(sizes.singles - workspace.trail.size):
            workspace.append(record)
        workspace.trail.checkpoint()
        entries = workspace.trail.size
    in_fresh_process(bare_loop, folder, entries)
    taken = interleaved(
        sizes.rounds,
        {
            "ours": lambda: in_fresh_process(audit, folder, None),
            "bare": lambda: in_fresh_process(bare_loop, folder, entries),
        },
    )
    with Database.at(str(Home(folder).database)).read() as connection:
        signed = int(run(connection, "SELECT count(*) FROM trail_checkpoints").scalar_one())
    return Section(
        "singles",
        f"Verifying a log of {number(entries)} single appends",
        f"The same, of a log that was appended to one record at a time: it has {number(signed)} "
        "checkpoints, whose roots are compared, and signatures as the audit checks them by itself.",
        [
            Line(
                "Audit, all cores",
                "bare loop, one process",
                f"{number(entries / statistics.median(taken['ours']))} entries/s",
                f"{number(entries / statistics.median(taken['bare']))}/s",
                ratios(taken["bare"], taken["ours"]),
                "%",
            )
        ],
    )


def measure_lookups(size: str, folder: Path) -> Section:
    """Measure how long it takes to look up roles and holds in a large log."""
    sizes = SIZES[size]
    with open_workspace(folder) as workspace:  # the first entries: the farthest from the end
        workspace.access.grant("noor", "approver")
        workspace.assemble(DecisionOutput.model_validate(decision_of(workspace.tenant)))
        workspace.packs.hold("latest", reason="a case")
    build_log(folder, sizes.entries - EVERY + 1)
    with open_workspace(folder) as workspace:  # as many since the snapshot as there can be
        workspace.trail.append_many(evidence_records(EVERY - 1))
    looked_up: dict[str, Callable[[Workspace], object]] = {
        "a role": lambda workspace: workspace.access.grants()[0],
        "a hold": lambda workspace: next(iter(workspace.packs.held())),
    }
    lines = []
    for name, look_up in looked_up.items():

        def opened(look_up: Callable[[Workspace], object] = look_up) -> None:
            with open_workspace(folder, create=False) as workspace:
                look_up(workspace)

        opened()  # imports what it needs
        cold = [1e3 * seconds_of(opened) for _ in range(sizes.rounds)]
        with open_workspace(folder, create=False) as workspace:
            look_up(workspace)
            tidy()
            warm = [1e3 * seconds_of(lambda: look_up(workspace)) for _ in range(sizes.lookups)]  # noqa: B023 - called here
        for what, taken, limit in (("warm", warm, LOOKUP_LIMIT_MS), ("cold", cold, None)):
            spread = Spread.of(taken)
            lines.append(
                Line(
                    f"Looking up {name}, {what}",
                    "-",
                    shown(spread.median, "ms"),
                    "",
                    spread,
                    "ms",
                    target=limit,
                    at_most=True,
                )
            )
    with open_workspace(folder, create=False) as workspace:
        note = workspace.opened.database.of(workspace.tenant).ask(snapshot_note, workspace.tenant)
        since = workspace.trail.size - (read_snapshot(note)[0].size if note else 0)
    return Section(
        "lookups",
        f"Roles and holds in a log of {number(sizes.entries)} entries",
        "`access.grants` and `packs.held`, from entries that are proved: the workspace opened, "
        "asked once and closed (cold), and asked again (warm). The only grant and the only hold "
        "are among the log's first entries.",
        lines,
        notes=[f"Cold, {number(since)} entries since the signed snapshot are read and hashed."],
    )


def measure_proofs(size: str, folder: Path) -> Section:
    """Measure how fast proofs are made from the log and checked, and what they touch."""
    sizes = SIZES[size]
    chance = random.Random(SEED)
    database, home = open_database(folder, create=False)
    with Opened(database, home).for_() as workspace:
        note = workspace.trail.checkpoint()
        total = read_checkpoint(note)[0].size
        for seq in range(0, total, TILE_WIDTH):  # warm: every tile was used once
            workspace.trail.prove_under(note, seq)

        def make() -> float:
            chosen = [chance.randrange(total) for _ in range(sizes.proofs)]
            tidy()
            taken = seconds_of(lambda: [workspace.trail.prove_under(note, seq) for seq in chosen])
            return taken / sizes.proofs

        def read() -> float:
            chosen = [chance.randrange(total) for _ in range(sizes.proofs)]
            tidy()
            return seconds_of(lambda: [_read_entry(database, seq) for seq in chosen]) / sizes.proofs

        made = interleaved(sizes.rounds, {"make": make, "read": read})
        chosen = [chance.randrange(total) for _ in range(sizes.checks)]
        proofs = [workspace.trail.prove_under(note, seq) for seq in chosen]
        key = workspace.trail.keys()[-1].key
        warm = Touched.by(
            database.engine,
            lambda seq: workspace.trail.prove_under(note, seq),
            chosen[: sizes.cold],
        )
        cold = Touched.by(
            database.engine,
            lambda seq: Opened(database, home).for_().trail.prove_under(note, seq),
            chosen[: sizes.cold],
        )
        if scans := warm.scans(database) + cold.scans(database):
            raise SystemExit(f"a proof reads a whole table: {scans}")
    section = Section(
        "proofs",
        f"Proofs from a log of {number(sizes.entries)} entries",
        "Warm, for entries chosen at random, under one checkpoint. Made: `trail.prove_under`, "
        "body disclosed, against reading that entry alone through the same engine. Checked: leaf "
        "hash and `verify_inclusion` from the entry's bytes, against computing as many SHA-256 "
        "hashes; and the whole of `verify_proof` from a proof file's bytes, which checks the "
        "checkpoint's signature each time.",
        [
            _rate_line(
                "Inclusion proofs made", "reading the entry", made["make"], made["read"], 3_000
            )
        ],
    )
    section.lines += _checking_lines(sizes, proofs, note, TrustedKey(key.public_key, key.name))
    section.lines.append(
        Line(
            "Rows touched by one proof, no tile cached",
            "log₂ of the log's size",
            f"{cold.statements} statements",
            f"{total.bit_length()}",
            Spread(statistics.median(cold.rows), min(cold.rows), max(cold.rows)),
            "rows",
            target=float(2 * total.bit_length()),
            at_most=True,
        )
    )
    section.notes.append(
        f"Warm, a proof takes {warm.statements} statements and at most {max(warm.rows)} rows. "
        "SQLite's query plan was asked for each statement: all look rows up by key, none scans."
    )
    return section


def measure_memory(size: str, folder: Path) -> Section:
    """Compare the memory that publishing and auditing a long log take with that for a short one."""
    short, long = MEMORY_SIZES[size]
    lines = []
    for entries in (short, long):
        build_log(folder / f"log-{entries}", entries)
    for what, work, arguments in (
        ("Publishing", publish, ()),
        ("Auditing, all cores", audit, (None,)),
        ("Auditing, one process", audit, (1,)),
    ):
        small, large = (
            peak_memory(work, folder / f"log-{entries}", *arguments) / 1e6
            for entries in (short, long)
        )
        ratio = large / small
        lines.append(
            Line(
                f"{what} {number(long)} entries",
                f"{number(short)} entries",
                shown(large, "MB"),
                shown(small, "MB"),
                Spread(ratio, ratio, ratio),
                "times",
                target=1.2,
                at_most=True,
            )
        )
    return Section(
        "machines memory",
        "Memory for long logs",
        "The highest sum of the resident sizes of the process and its workers, each in a run of "
        "its own, modules and all.",
        lines,
    )


def publish(folder: Path) -> float:
    """Publish the log once into a folder beside it; return the seconds."""
    with (
        tempfile.TemporaryDirectory(dir=folder.parent) as place,
        open_workspace(folder, create=False) as workspace,
    ):
        return seconds_of(lambda: workspace.trail.publish(place))


def audit(folder: Path, workers: int | None) -> float:
    """Audit the log once; return the seconds."""
    with open_workspace(folder, create=False) as workspace:
        start = time.perf_counter()
        report = workspace.trail.audit(workers=workers)
        taken = time.perf_counter() - start
    if not report.holds:
        raise SystemExit(f"the log does not hold: {report.findings[0]}")
    return taken


def bare_loop(folder: Path, end: int, start: int = 0) -> float:
    """Read the entries and bodies and hash their bytes, with nothing around it."""
    database = Database.at(str(Home(folder).database))
    raw = database.engine.raw_connection()
    entries: Any = raw.cursor()
    bodies: Any = raw.cursor()  # side by side: a join would be slower
    part = "WHERE tenant = ? AND seq >= ? AND seq < ? ORDER BY seq"
    values = (DEFAULT_TENANT, start, end)
    began = time.perf_counter()
    entries.execute(f"SELECT entry FROM trail_entries {part}", values)
    bodies.execute(f"SELECT salt, body FROM trail_bodies {part}", values)
    count = 0
    for (entry,), (salt, body) in zip(entries, bodies, strict=True):
        sha256(b"\x00" + entry).digest()
        sha256(salt + body).digest()
        count += 1
    taken = time.perf_counter() - began
    if count != end - start:
        raise SystemExit(f"{count} rows were read, there should be {end - start}")
    raw.close()
    database.close()
    return taken


def two_bare_loops(folder: Path, end: int) -> float:
    """Do the same in two processes, which have half of the rows each."""
    context = multiprocessing.get_context("fork")
    halves = [(end // 2, 0), (end, end // 2)]
    start = time.perf_counter()
    processes = [context.Process(target=bare_loop, args=(folder, *half)) for half in halves]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    taken = time.perf_counter() - start
    if any(process.exitcode for process in processes):
        raise SystemExit("a bare loop failed")
    return taken


def in_fresh_process(work: Callable[..., float], *arguments: Any) -> float:
    """Run a measurement in a process that has done nothing else; return what it measured."""
    process, answer = _start(work, arguments)
    return _finish(process, answer)


def peak_memory(work: Callable[..., float], *arguments: Any) -> float:
    """Run work in a process of its own; return the most bytes that it and its children held."""
    process, answer = _start(work, arguments)
    peak = 0
    while not answer.poll(MEMORY_SAMPLE_SECONDS):
        peak = max(peak, _resident(process.pid))
        if not process.is_alive() and not answer.poll():
            break
    _finish(process, answer)
    return float(peak)


def _start(
    work: Callable[..., float], arguments: tuple[Any, ...]
) -> tuple[multiprocessing.process.BaseProcess, Pipe]:
    context = multiprocessing.get_context("spawn")
    answer, sender = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(sender, work, arguments))
    process.start()
    sender.close()
    return process, answer


def _finish(process: multiprocessing.process.BaseProcess, answer: Pipe) -> float:
    try:
        measured = float(answer.recv())
    except EOFError:
        raise SystemExit("a measurement failed in its process") from None
    process.join()
    return measured


def _answer(sender: Pipe, work: Callable[..., float], arguments: tuple[Any, ...]) -> None:
    sender.send(work(*arguments))


def _resident(pid: int | None) -> int:
    total = 0
    try:
        process = psutil.Process(pid)
        for one in [process, *process.children(recursive=True)]:
            total += one.memory_info().rss
    except psutil.NoSuchProcess:
        pass
    return total


@dataclass(frozen=True, slots=True)
class Touched:
    """What calls ask of the database: statements a call, rows a call, and the statements."""

    statements: str
    rows: list[int]
    asked: frozenset[str]

    @classmethod
    def by(cls, engine: Engine, call: Callable[[int], object], seqs: list[int]) -> "Touched":
        """Watch the calls, and then count the rows that their statements find."""
        seen: list[str] = []

        def watch(connection: Any, *_: object) -> None:
            connection.set_trace_callback(seen.append)

        calls = []
        event.listen(engine, "checkout", watch)
        for seq in seqs:
            call(seq)
            calls.append([statement for statement in seen if statement.startswith("SELECT")])
            seen.clear()
        event.remove(engine, "checkout", watch)
        with engine.connect() as connection:
            driver: Any = connection.connection.driver_connection
            driver.set_trace_callback(None)
            rows = [
                sum(
                    len(driver.execute(statement).fetchall())
                    * (2 if " JOIN " in statement else 1)  # an entry and its body
                    for statement in asked
                )
                for asked in calls
            ]
        most, least = max(map(len, calls)), min(map(len, calls))
        statements = f"{least}" if least == most else f"{least} to {most}"
        return cls(statements, rows, frozenset(one for asked in calls for one in asked))

    def scans(self, database: Database) -> list[str]:
        """Return the plans of statements that read a whole table."""
        with database.read() as connection:
            return [
                plan[3]
                for statement in self.asked
                for plan in run(connection, f"EXPLAIN QUERY PLAN {statement}")
                if "SCAN" in plan[3]
            ]


def _checking_lines(sizes: Sizes, proofs: list[Proof], note: str, key: TrustedKey) -> list[Line]:
    checkpoint, _ = read_checkpoint(note)
    size, root = checkpoint.size, checkpoint.root
    given = [(proof.entry.encode(), proof.entry.seq, proof.inclusion) for proof in proofs]
    files = [canonical_json(proof.as_json()) for proof in proofs[: max(1, len(proofs) // 4)]]

    def check() -> None:
        for data, seq, hashes in given:
            verify_inclusion(leaf_hash(data), seq, size, hashes, root)

    def bare() -> None:
        for data, _, hashes in given:
            result = sha256(b"\x00" + data).digest()
            for sibling in hashes:
                result = sha256(b"\x01" + result + sibling).digest()

    def whole() -> None:
        for data in files:
            if not verify_proof(data, [key]).holds:
                raise SystemExit("a proof does not hold")

    taken = interleaved(
        sizes.rounds,
        {
            "check": lambda: seconds_of(check) / len(given),
            "bare": lambda: seconds_of(bare) / len(given),
            "whole": lambda: seconds_of(whole) / len(files),
        },
    )
    hashes_alone = "the same hashes, bare"
    return [
        _rate_line("Inclusion checked", hashes_alone, taken["check"], taken["bare"], 20_000),
        _rate_line("Whole proof file verified", hashes_alone, taken["whole"], taken["bare"], None),
    ]


def _rate_line(
    what: str, against: str, ours: list[float], theirs: list[float], target: float | None
) -> Line:
    share = shown(ratios(theirs, ours).median, "%")
    rate = Spread.of([1 / taken for taken in ours])
    return Line(
        what,
        against,
        f"{share} of the yardstick",
        f"{number(1 / statistics.median(theirs))}/s",
        rate,
        "/s",
        target=target,
    )


def _read_entry(database: Database, seq: int) -> object:
    with database.read() as connection:
        return log.entry_at(connection, DEFAULT_TENANT, seq)

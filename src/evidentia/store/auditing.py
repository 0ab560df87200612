"""Auditing a stored log: every row read, both cores used, in constant memory.

The rules are in `trail.audit`; here the rows are fetched, ranges are shared out to worker
processes, and what stands around the entries (schema, head, keys, checkpoints) is compared.
"""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, BinaryIO

from sqlalchemy import Connection

from evidentia.canonical import parse_json
from evidentia.errors import EnvironmentProblem, EvidentiaError, IntegrityError
from evidentia.store import log, schema
from evidentia.store.database import Database
from evidentia.store.tree import StoredTree, TileCache
from evidentia.trail.audit import (
    Finding,
    RangeAudit,
    audit_range,
    audit_upper_tiles,
    join_ranges,
)
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.entry import genesis_prev
from evidentia.trail.note import Note, VerifierKey
from evidentia.trail.tiles import TILE_WIDTH

RANGE = 128 * TILE_WIDTH
"""How many entries are checked at a time; smaller logs are checked in this process."""

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What an audit found. `compared_with` lists the outside checkpoints that were used."""

    tenant: str
    origin: str
    size: int
    root: str
    checkpoints: int
    compared_with: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {
            "holds": self.holds,
            "tenant": self.tenant,
            "origin": self.origin,
            "size": self.size,
            "root": self.root,
            "checkpoints": self.checkpoints,
            "compared_with": list(self.compared_with),
            "findings": [
                {"entry": finding.seq, "what": finding.what, "problem": finding.problem}
                for finding in self.findings
            ],
        }


@dataclass(frozen=True, slots=True)
class OutsideCheckpoint:
    """A checkpoint that was kept outside the database, and what to call it."""

    name: str
    note: str


@dataclass(frozen=True, slots=True)
class _AnnouncedKey:
    seq: int
    key: VerifierKey
    replaced_at: int | None

    def may_sign(self, size: int) -> bool:
        """Whether a checkpoint of that size may carry this key's signature.

        A key signs from its announcement on, and last the size that includes its successor's.
        """
        return self.seq < size and (self.replaced_at is None or size <= self.replaced_at + 1)


def audit_log(
    database: Database,
    tenant: str,
    *,
    outside: Sequence[OutsideCheckpoint] = (),
    workers: int | None = None,
    progress: Progress | None = None,
) -> AuditReport:
    """Check a whole log; the report names what is wrong, first bad entry first."""
    with database.read() as connection:
        head = log.require_head(connection, tenant)
        findings = [Finding(-1, "schema", line) for line in schema.differences(connection)]
        findings += [
            Finding(-1, f"table {table}", f"has rows of tenant {name!r}, which has no log")
            for table, name in log.stray_tenants(connection)
        ]
    ranges = list(_audit_ranges(database, tenant, head.size, workers, progress or (lambda _: None)))
    joined = join_ranges(genesis_prev(head.origin), ranges)
    findings += joined.findings
    with database.read() as connection:
        findings += [Finding(*stray) for stray in log.stray_rows(connection, tenant, head.size)]
        findings += _audit_tiles(connection, tenant, head.size, joined.upper_tiles)
        if (joined.frontier.root(), joined.frontier.pack()) != (head.root, head.edge):
            findings.append(Finding(head.size, "head", "its root or edge is not the entries'"))
        keys, key_findings = _audit_keys(connection, head, joined.keys)
        findings += key_findings
        checker = _CheckpointChecker(connection, head, keys)
        count = 0
        for size, key_id, note in log.checkpoints(connection, tenant):
            count += 1
            findings += checker.check(f"checkpoint {size}", note, stored_as=(size, key_id))
        for checkpoint in outside:
            findings += checker.check(checkpoint.name, checkpoint.note)
    return AuditReport(
        tenant,
        head.origin,
        head.size,
        head.root.hex(),
        count,
        tuple(checkpoint.name for checkpoint in outside),
        tuple(sorted(set(findings))),
    )


class _CheckpointChecker:
    """Checks signed checkpoints against the log's keys and tree."""

    def __init__(self, connection: Connection, head: log.Head, keys: Sequence[_AnnouncedKey]) -> None:
        self.head = head
        self.keys = keys
        self.connection = connection
        self.tree: StoredTree | None = None

    def check(
        self, name: str, note: str, stored_as: tuple[int, str] | None = None
    ) -> Iterator[Finding]:
        """Give what is wrong with a checkpoint."""
        try:
            checkpoint, parsed = read_checkpoint(note)
        except EvidentiaError as error:
            yield Finding(stored_as[0] if stored_as else -1, name, str(error))
            return
        if checkpoint.origin != self.head.origin:
            yield Finding(
                checkpoint.size, name, f"is of another log: {checkpoint.origin}, not {self.head.origin}"
            )
            return
        if stored_as is not None and stored_as[0] != checkpoint.size:
            yield Finding(checkpoint.size, name, f"says size {checkpoint.size}")
        yield from self._signature(name, checkpoint, parsed, stored_as)
        yield from self._root(name, checkpoint)

    def _signature(
        self, name: str, checkpoint: Checkpoint, note: Note, stored_as: tuple[int, str] | None
    ) -> Iterator[Finding]:
        allowed = [item.key for item in self.keys if item.may_sign(checkpoint.size)]
        try:
            signer = note.signed_by(allowed)
        except EvidentiaError as error:
            yield Finding(checkpoint.size, name, str(error))
            return
        if signer is None:
            named = ", ".join(line.key_id for line in note.signatures)
            yield Finding(
                checkpoint.size, name, f"is signed by key {named}, which could not sign this size"
            )
        elif stored_as is not None and stored_as[1] != signer.key_id:
            yield Finding(checkpoint.size, name, f"is stored under key {stored_as[1]}")

    def _root(self, name: str, checkpoint: Checkpoint) -> Iterator[Finding]:
        if checkpoint.size > self.head.size:
            yield Finding(
                self.head.size,
                name,
                f"covers {checkpoint.size} entries, the log has {self.head.size}: "
                f"entries {self.head.size} to {checkpoint.size - 1} are gone",
            )
            return
        try:
            if self.tree is None:
                self.tree = StoredTree(self.connection, self.head, TileCache(64))
            same = self.tree.root_at(checkpoint.size) == checkpoint.root
        except (IntegrityError, IndexError):  # the tree is damaged, which has a finding of its own
            same = False
        if not same:
            yield Finding(
                checkpoint.size, name, f"does not match: the first {checkpoint.size} entries changed"
            )


def _audit_tiles(
    connection: Connection, tenant: str, size: int, expected: Sequence[Any]
) -> Iterator[Finding]:
    """Compare the tiles above level 0, and look for level-0 tiles where none should be."""
    yield from audit_upper_tiles(expected, log.tiles_above(connection, tenant))
    for index in log.stray_tiles(connection, tenant, size // TILE_WIDTH):
        yield Finding(index * TILE_WIDTH, f"tile 0/{index}", "should not be there")


def _audit_keys(
    connection: Connection, head: log.Head, announced: Sequence[tuple[int, bytes]]
) -> tuple[list[_AnnouncedKey], list[Finding]]:
    """Read the keys that the log announces, and compare the key table with them."""
    findings = []
    read: list[tuple[int, VerifierKey]] = []
    for seq, body in announced:
        try:
            key = VerifierKey.parse(parse_json(body)["key"])
        except (EvidentiaError, KeyError, TypeError, AttributeError):
            findings.append(Finding(seq, f"entry {seq}", "announces a key that cannot be read"))
            continue
        if key.name != head.origin:
            findings.append(Finding(seq, f"key {key.key_id}", f"is for another log: {key.name}"))
        read.append((seq, key))
    stored = {seq: (key_id, public) for seq, key_id, public in log.keys(connection, head.tenant)}
    for seq, key in read:
        if stored.pop(seq, None) != (key.key_id, key.public_key):
            findings.append(
                Finding(seq, f"key {key.key_id}", f"is not stored as entry {seq} announces it")
            )
    findings += [
        Finding(seq, f"key {key_id}", f"is stored, and entry {seq} does not announce it")
        for seq, (key_id, _) in stored.items()
    ]
    successors = [seq for seq, _ in read[1:]] + [None]
    keys = [
        _AnnouncedKey(seq, key, replaced)
        for (seq, key), replaced in zip(read, successors, strict=True)
    ] if read else []
    return keys, findings


def _audit_ranges(
    database: Database, tenant: str, size: int, workers: int | None, progress: Progress
) -> Iterator[RangeAudit]:
    """Check the entries, in this process or shared out to others; give the ranges in order."""
    spans = [(start, min(start + RANGE, size)) for start in range(0, size, RANGE)]
    count = min(workers or len(os.sched_getaffinity(0)), len(spans))
    if count <= 1:
        for start, end in spans:
            with database.read() as connection:
                yield _audit_span(connection, tenant, start, end)
            progress(end)
        return
    with _Workers(database, tenant, count) as pool:
        for audit in pool.map(spans):
            yield audit
            progress(audit.end)


def _audit_span(connection: Connection, tenant: str, start: int, end: int) -> RangeAudit:
    full = end // TILE_WIDTH
    tiles = list(log.tiles_between(connection, tenant, 0, start // TILE_WIDTH, full))
    rows = log.entries_between(connection, tenant, start, end)
    return audit_range(tenant, start, end, rows, tiles)


class _Workers:
    """Worker processes that check ranges; each is a fresh interpreter and opens its own database.

    Started as commands of their own, so that neither a caller's script is run again nor a
    caller's threads are forked.
    """

    def __init__(self, database: Database, tenant: str, count: int) -> None:
        self._setup = (database.address, tenant)
        self._count = count
        self._processes: list[subprocess.Popen[bytes]] = []
        self._mine = threading.local()

    def __enter__(self) -> "_Workers":
        self._threads = ThreadPoolExecutor(self._count, initializer=self._start)
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            process.kill() if process.poll() is None else None
            process.communicate()

    def map(self, spans: Iterable[tuple[int, int]]) -> Iterator[RangeAudit]:
        """Check the spans; give the results in order."""
        yield from self._threads.map(self._check, spans)

    def _start(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._processes.append(process)
        self._mine.process = process
        _send(process.stdin, self._setup)

    def _check(self, span: tuple[int, int]) -> RangeAudit:
        process = self._mine.process
        _send(process.stdin, span)
        answer = _receive(process.stdout)
        if isinstance(answer, EvidentiaError):
            raise answer
        if not isinstance(answer, RangeAudit):
            raise EnvironmentProblem(f"an audit worker ended unexpectedly at entries from {span[0]}")
        return answer


def _send(pipe: BinaryIO | None, value: object) -> None:
    if pipe is not None:
        pickle.dump(value, pipe)
        pipe.flush()


def _receive(pipe: BinaryIO | None) -> Any:
    try:
        return pickle.load(pipe) if pipe is not None else None  # noqa: S301 - our own child's pipe
    except EOFError:
        return None


def _work() -> None:
    """Check ranges as they are asked for on standard input, until it ends."""
    address, tenant = _receive(sys.stdin.buffer)
    database = Database.at(address)
    while span := _receive(sys.stdin.buffer):
        try:
            with database.read() as connection:
                answer: object = _audit_span(connection, tenant, *span)
        except EvidentiaError as error:
            answer = error
        _send(sys.stdout.buffer, answer)


if __name__ == "__main__":
    _work()

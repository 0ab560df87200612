"""Three servers on one PostgreSQL and one bucket, under load, while each is killed in turn.

They connect as the application, which row-level security binds. Each has a home folder of its own;
they share the keys' folder, the lake and where checkpoints follow to. Afterwards all that was
acknowledged must be there, once, and the audit clean.
"""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg

from evidentia.store.checkpoint_bucket import CheckpointBucket
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.entry import EntryKind
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.opened import DEFAULT_TENANT
from packing import decision_fields, memo_fields
from postgres import PostgresServer
from seaweed import Bucket
from server.crowd import Answer, Broken, Line, Serving

SERVERS = 3
PROMISED, REFUSED, LOST, INCOMPLETE, AWAY = 202, 300, 409, 422, 503
AGAIN = {409, 425, 429, 503}
Asked = tuple[str, str, bytes | None, dict[str, str]]
"""A request: its method, its path, its body, its headers."""
POLICY = "Permanent employees receive 15 days of leave. Leave is requested in writing."
SHARES = {"append": 40, "ticket": 25, "check": 15, "pack": 10, "document": 10}
"""What a client does, how often in a hundred times."""
_AGAIN_SECONDS = 0.2
_GRACE_SECONDS = 10.0
"""How long a client asks on for an answer that it did not get, once all is over."""
_BOUNDARY = "a-file-begins-here"


@dataclass
class Told:
    """What clients were told: by the name of what they wrote, what was acknowledged."""

    acknowledged: dict[str, dict[str, Any]] = field(
        default_factory=lambda: {kind: {} for kind in SHARES}
    )
    """None for what was said to be done by an answer that is lost."""
    unknown: set[str] = field(default_factory=set)
    """Of these no one was told anything: they may be there, but once."""
    statuses: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def count(self) -> dict[str, int]:
        """Return how many of each kind were acknowledged."""
        return {kind: len(found) for kind, found in self.acknowledged.items()}


@dataclass(frozen=True)
class Written:
    """What a client wants to be written down once, under its name as idempotency key."""

    kind: str
    name: str
    path: str
    body: bytes
    media_type: str = "application/json"


@dataclass(frozen=True)
class Shared:
    """What all machines have in common: the database, the lake, keys, and kept checkpoints."""

    url: str
    lake: str
    keys: str
    checkpoints: str


class Machine(Serving):
    """A server with a home of its own."""

    def __init__(self, folder: Path, shared: Shared) -> None:
        super().__init__(folder, shared.url)
        self.shared = shared
        self.more = {
            "EVIDENTIA_LAKE": shared.lake,
            "EVIDENTIA_KEYS": shared.keys,
            "EVIDENTIA_CHECKPOINTS": shared.checkpoints,
            "EVIDENTIA_SERVER_WORKERS": "1",
        }

    def open(self) -> Workspace:
        """Give the owner's workspace as this machine has it."""
        shared = self.shared
        return open_workspace(
            shared.url,
            home=self.folder,
            lake=shared.lake,
            keys=shared.keys,
            checkpoints=shared.checkpoints,
        )


class Fleet:
    """The servers, what they share, and what goes wrong with it; `url` is a superuser's."""

    def __init__(self, folder: Path, url: str, postgres: PostgresServer, bucket: Bucket) -> None:
        self.postgres, self.bucket, self.url = postgres, bucket, url
        set_up_roles(url)
        shared = Shared(
            url=postgres.as_application(url),
            lake=bucket.url,
            keys=str(folder / "keys"),
            checkpoints=f"s3://{bucket.name}/checkpoints",
        )
        self.checkpoints = CheckpointBucket(shared.checkpoints)
        self.machines = [
            Machine(folder / f"machine-{number}" / "home", shared) for number in range(SERVERS)
        ]
        for machine in self.machines:
            machine.folder.mkdir(parents=True)
        with self.machines[0].open() as workspace:
            workspace.trail.checkpoint()  # its key is made with it
            workspace.access.grant("ann", "approver")
            self.token = workspace.access.new_token("ann").text

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Start the servers, and end them."""
        with ThreadPoolExecutor() as at_once:
            list(at_once.map(Machine.start, self.machines))
        try:
            yield
        finally:
            with ThreadPoolExecutor() as at_once:
                ended = list(at_once.map(Machine.stop, self.machines))
        assert ended == [0] * SERVERS, [
            machine.log.read_text()[-2_000:] for machine in self.machines
        ]

    def disturb(self, fault: str, told: Told) -> None:
        """Have something go wrong, and be mended: a machine by its number, or the database."""
        told.faults.append(fault)
        if fault == "database":
            self.postgres.end(signal.SIGQUIT)  # at once, as a crash does
            self.postgres.start_again()
            return
        how, _, number = fault.partition(" ")
        machine = self.machines[int(number)]
        if how == "kill":
            machine.stop(signal.SIGKILL)
            machine.start()
        else:
            machine.pause(4.0)


def set_up_roles(url: str) -> None:
    """Make the tables and the roles of an empty database, as its operator does."""
    done = subprocess.run(
        [sys.executable, "-m", "evidentia.cli.main", "db", "roles", "--run"],
        env={**os.environ, "EVIDENTIA_DATABASE_URL": url},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


class Client:
    """Writes one thing after the other, on whichever server answers."""

    def __init__(self, number: int, fleet: Fleet, told: Told) -> None:
        self._number, self._told = number, told
        self._lines = [Line(machine.port, fleet.token) for machine in fleet.machines]
        self._at = number % SERVERS
        self._chance = random.Random(number)
        self._end = float("inf")

    async def work(self, over: asyncio.Event) -> None:
        """Write until it is over, and see what is under way to its end."""
        done = 0
        while not over.is_set():
            (kind,) = self._chance.choices(list(SHARES), list(SHARES.values()))
            done += 1
            await self._write(_written(kind, f"{kind}-{self._number}-{done}"), over)
        for line in self._lines:
            line.close()

    async def _write(self, what: Written, over: asyncio.Event) -> None:
        """Ask until it is known what came of it."""
        headers = {"idempotency-key": what.name, "content-type": what.media_type}
        asked: Asked = "POST", what.path, what.body, headers
        answer = await self._until(over, asked, lambda _: True)
        if answer is None:
            self._told.unknown.add(what.name)
            return
        if answer.status in {LOST, INCOMPLETE}:  # it is there, and the answer is lost
            self._told.acknowledged[what.kind][what.name] = None
            return
        if answer.status == PROMISED and what.kind == "ticket":
            path = f"/api/v1/trail/tickets/{answer.json()['ticket']}"
            asked = "GET", path, None, {}
            answer = await self._until(over, asked, lambda found: not found.json()["waits"])
            if answer is None:
                self._told.wrong.append(f"{what.name}: {path} came to nothing")
                return
        elif answer.status == PROMISED:  # it goes on as a job
            asked = "GET", answer.headers["location"], None, {}
            answer = await self._until(over, asked, lambda found: found.json()["ended_at"])
            if answer is None or answer.json()["state"] != "done":
                self._told.unknown.add(what.name)
                return
            result = answer.json()["result"] or {}
            said = json.dumps({"ledger": {"id": result.get("ledger_id")}})
            answer = Answer(201, {}, said.encode())
        self._told.acknowledged[what.kind][what.name] = _acknowledged(what.kind, answer.json())

    async def _until(
        self, over: asyncio.Event, asked: Asked, good: Callable[[Answer], bool]
    ) -> Answer | None:
        """Ask one server after the other until the answer is good; None where none is in time."""
        end = float("inf")
        while time.monotonic() < end:
            if over.is_set() and end == float("inf"):
                end = time.monotonic() + _GRACE_SECONDS
            try:
                answer = await asyncio.wait_for(self._lines[self._at].ask(*asked), 10)
            except (Broken, TimeoutError):
                self._lines[self._at].close()
                self._at = (self._at + 1) % SERVERS
                await asyncio.sleep(0.05)
                continue
            self._told.statuses[str(answer.status)] += 1
            if answer.status < REFUSED and good(answer):
                return answer
            if answer.status == LOST and answer.json()["type"] == "/problems/answer-lost":
                return answer
            if answer.status == LOST and over.is_set():  # for a minute, if its server died
                return None
            if answer.status == INCOMPLETE and b"already: revise that one" in answer.body:
                return answer
            if answer.status >= REFUSED and answer.status not in AGAIN:
                said = f"{asked[:2]}: {answer.status} {answer.body[:300]!r}"
                self._told.wrong.append(said)
            if answer.status == AWAY:
                self._at = (self._at + 1) % SERVERS
            await asyncio.sleep(_AGAIN_SECONDS)
        return None


def _written(kind: str, name: str) -> Written:
    if kind in {"append", "ticket"}:
        record = {
            "obligation_id": name,
            "doc_id": "doc_1",
            "doc_filename": "loan.pdf",
            "source_clause": "The borrower shall report within 30 days.",
            "extraction_model": "model-a",
            "verification_model": "model-b",
            "verification_result": "CONFIRMED",
            "confidence": 0.93,
        }
        wait = "" if kind == "append" else "?wait=false"
        return Written(kind, name, f"/api/v1/trail/entries{wait}", json.dumps(record).encode())
    if kind == "check":
        asked = {
            "answer": f"{POLICY} This is said of {name}.",
            "query": name,
            "contexts": [POLICY],
            "judges": ["quote"],
        }
        return Written(kind, name, "/api/v1/sessions", json.dumps(asked).encode())
    if kind == "pack":
        decided = decision_fields(decision_id=name)
        del decided["tenant_id"]
        given = {"decision": decided, "memo": memo_fields()}
        return Written(kind, name, "/api/v1/packs", json.dumps(given).encode())
    lines = [
        f"--{_BOUNDARY}",
        f'Content-Disposition: form-data; name="files"; filename="{name}.md"',
        "Content-Type: text/markdown",
        "",
        f"# Leave\n\nOf {name}: {POLICY}\n",
        f"--{_BOUNDARY}--",
        "",
    ]
    media_type = f"multipart/form-data; boundary={_BOUNDARY}"
    return Written(kind, name, "/api/v1/documents", "\r\n".join(lines).encode(), media_type)


def _acknowledged(kind: str, said: dict[str, Any]) -> Any:
    if kind in {"append", "ticket"}:
        return said["entries"][0]["seq"], said["entries"][0]["leaf"]
    if kind == "check":
        return said["ledger"]["id"]
    if kind == "pack":
        return said["pack"]["pack_id"]
    return said["documents"][0]["id"]


def under_load(fleet: Fleet, clients: int, faults: Sequence[str], gap: float) -> Told:
    """Let clients write while one thing after the other goes wrong; return what they were told."""
    told = Told()

    async def run() -> None:
        over = asyncio.Event()

        async def go_wrong() -> None:
            try:
                for fault in faults:
                    await asyncio.sleep(gap)
                    await asyncio.to_thread(fleet.disturb, fault, told)
                await asyncio.sleep(gap)
            finally:
                over.set()

        crowd = [Client(number, fleet, told) for number in range(clients)]
        await asyncio.gather(go_wrong(), *(client.work(over) for client in crowd))

    with fleet.serving():
        asyncio.run(run())
    return told


# What is there


def compare(fleet: Fleet, told: Told) -> None:
    """Say what is not there as it was acknowledged, and what audits find."""
    kept = fleet.checkpoints.newest(DEFAULT_TENANT)  # before it is opened, which brings the newest
    with fleet.machines[0].open() as workspace:
        for kind, there in _there(workspace).items():
            _compare_kind(kind, there, told)
        audit = workspace.whole.audit()
        # A machine died between a decision and its pack, and no one was told of either: that the
        # pack is missing is what an audit is there to say.
        due = {f"decision {name}: a pack is mandatory, and there is none" for name in told.unknown}
        told.wrong += [f"the audit: {one}" for one in audit.findings if str(one) not in due]
        told.wrong += _behind(workspace.trail.size, kept)
    for machine in fleet.machines[1:]:
        with machine.open() as workspace:
            # against the checkpoint that this machine kept, too
            report = workspace.trail.audit(since=kept and kept[1])
            told.wrong += [f"the audit of {machine.folder}: {one}" for one in report.findings]
    told.wrong += _missing_files(fleet)


def _there(workspace: Workspace) -> dict[str, dict[str, list[Any]]]:
    """Return what is there of each kind, by its name."""
    found: dict[str, dict[str, list[Any]]] = {kind: {} for kind in SHARES}
    for one in workspace.trail.entries(kind=EntryKind.EVIDENCE_RECORD):
        name = one.entry.subject
        found[name.partition("-")[0]].setdefault(name, []).append((one.entry.seq, one.leaf))
    for ledger in workspace.ledgers.list():
        found["check"].setdefault(ledger.query or "", []).append(ledger.id)
    for pack in workspace.packs.list():
        found["pack"].setdefault(pack.decision_id, []).append(pack.id)
    for document in workspace.documents.list():
        name = document.filename.removesuffix(".md")
        found["document"].setdefault(name, []).append(document.id)
    return found


def _compare_kind(kind: str, there: dict[str, list[Any]], told: Told) -> None:
    for name, said in told.acknowledged[kind].items():
        found = there.pop(name, [])
        if len(found) != 1 or said not in (None, found[0]):
            told.wrong.append(f"{name} was acknowledged as {said}, and is there as {found}")
    for name, found in there.items():
        if name not in told.unknown or len(found) != 1:
            told.wrong.append(f"{name} is there as {found}, and no one was told")


def _behind(size: int, kept: tuple[str, str] | None) -> list[str]:
    """Say how the newest checkpoint that followed is not the last one of the log."""
    if kept is None:
        return ["no checkpoint followed to the bucket"]
    where, note = kept
    found = read_checkpoint(note)[0].size
    return [] if found == size else [f"{where} followed last, and the log has {size} entries"]


def _missing_files(fleet: Fleet) -> list[str]:
    """Say which files that the database names are not in the bucket as they were kept."""
    client, bucket = fleet.bucket.client(), fleet.bucket.name
    kept = set()
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix="evidence/"):
        for one in page.get("Contents", ()):
            data = client.get_object(Bucket=bucket, Key=one["Key"])["Body"].read()
            kept.add(sha256(data).hexdigest())
    with psycopg.connect(fleet.url) as connection:
        named = connection.execute(
            "SELECT statement_sha256 FROM ledgers UNION SELECT statement_sha256 "
            "FROM evidence_packs UNION SELECT sha256 FROM documents"
        ).fetchall()
    assert kept
    return [f"{digest} is not in the bucket" for (digest,) in named if digest not in kept]

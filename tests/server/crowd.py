"""A crowd: many clients at once read, check, append and export, while things go wrong or not.

Afterwards all that was acknowledged must be in the trail, once, and the audit clean. `python -m
server.crowd --clients N --seconds N` is the long form.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from evidentia.trail.entry import EntryKind
from evidentia.workspace import Workspace, open_workspace
from postgres import PostgresServer, new_folder

Fault = Literal["none", "kill", "database"]
USERS = 20
CLAUSE = "The borrower shall report within 30 days."
POLICY = "Permanent employees receive 15 days of leave. Leave is requested in writing."
SHARES = {"read": 60, "append": 25, "check": 10, "export": 5}
"""What a client does, how often in a hundred times."""
_WAITED_SECONDS = 0.5
"""How long a client waits at most when it is told to: it is here to be a nuisance."""
_PATIENCE_SECONDS = 90.0
"""How long a client goes on with a write whose answer it did not get."""


@dataclass
class Came:
    """What came of it: what was answered how often, what was acknowledged, what was wrong."""

    statuses: Counter[str] = field(default_factory=Counter)
    appended: dict[str, tuple[int, str] | None] = field(default_factory=dict)
    """The place and the hash of each record that was acknowledged; None if its answer is lost."""
    checked: dict[str, str | None] = field(default_factory=dict)
    """The ledger of each answer that was acknowledged, by its query."""
    refused: set[str] = field(default_factory=set)
    """Writes that were told to come again, and were given up: they must not be there."""
    wrong: list[str] = field(default_factory=list)
    repeated: int = 0
    slowest: float = 0.0

    def lines(self) -> list[str]:
        """Say it in a few lines."""
        counts = ", ".join(f"{n:,} with {status}" for status, n in sorted(self.statuses.items()))
        lost = sum(one is None for one in (*self.appended.values(), *self.checked.values()))
        done = (
            f"{len(self.appended):,} records and {len(self.checked):,} answers were written, "
            f"{self.repeated:,} of them asked for again, of {lost} the answer was lost; "
            f"the slowest answer took {self.slowest:.1f} s"
        )
        wrong = [f"WRONG: {one}" for one in self.wrong[:20]]
        return [f"{self.statuses.total():,} answers: {counts}", done, *wrong]


class Broken(Exception):  # noqa: N818 - no error of the test: the server was killed
    """The connection ended before an answer was there."""


@dataclass(frozen=True)
class Answer:
    """An answer: its status, its headers and its body."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Line:
    """One client's connection, which is kept, and made again when it broke."""

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """Send a request and read its answer; raise `Broken` if none comes."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body else b""
        said = {
            "host": f"127.0.0.1:{self._port}",
            "authorization": f"Bearer {self._token}",
            "content-length": str(len(data)),
            **({"content-type": "application/json"} if data else {}),
            **(headers or {}),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in said.items())
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self._port)
            reader, writer = self._streams
            writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + data)
            return await _read(reader)
        except (OSError, asyncio.IncompleteReadError, ValueError) as error:
            self.close()
            raise Broken(str(error)) from None

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def _read(reader: asyncio.StreamReader) -> Answer:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Answer(int(first.split()[1]), headers, body)


class Client:
    """One of the crowd: does one thing after the other until it is told that it is enough."""

    def __init__(self, number: int, line: Line, came: Came, *, fault: Fault, session: str) -> None:
        self._number, self._line, self._came = number, line, came
        self._fault, self._session = fault, session
        self._chance = random.Random(number)
        self._done = 0

    async def work(self, until: float) -> None:
        """Do what comes to mind, then the next thing."""
        doing = {
            "read": self._read,
            "append": self._append,
            "check": self._check,
            "export": self._export,
        }
        while time.monotonic() < until:
            (kind,) = self._chance.choices(list(SHARES), list(SHARES.values()))
            self._done += 1
            try:
                await doing[kind]()
            except Broken:
                self._expect(self._fault == "kill", "a connection broke")
                await asyncio.sleep(0.1)
        self._line.close()

    async def _ask(self, method: str, path: str, *more: Any) -> Answer:
        """Ask, count the answer, and say what is wrong with it whatever was asked."""
        began = time.monotonic()
        answer = await self._line.ask(method, path, *more)
        self._came.slowest = max(self._came.slowest, time.monotonic() - began)
        self._came.statuses[str(answer.status)] += 1
        what = f"{method} {path}: {answer.status} {answer.body[:300]!r}"
        if answer.status in (429, 503, 425):
            waits = answer.headers.get("retry-after", "")
            self._expect(waits.isdigit(), f"no Retry-After: {what}")
            kind = answer.headers.get("content-type", "")
            self._expect(kind.startswith("application/problem+json"), f"no problem: {what}")
            await asyncio.sleep(min(float(waits or 0), _WAITED_SECONDS))
        allowed = answer.status < 500 or (answer.status == 503 and self._fault == "database")
        self._expect(allowed, what)
        return answer

    def _expect(self, good: bool, says: str) -> None:  # noqa: FBT001 - as `assert` reads
        if not good:
            self._came.wrong.append(says)

    async def _read(self) -> None:
        path = self._chance.choice(
            [
                f"/api/v1/sessions/{self._session}/ledger",
                f"/api/v1/sessions/{self._session}/ledger?limit=1",
                "/api/v1/ledgers?limit=5",
                "/api/v1/trail/entries?limit=5",
                "/api/v1/trail/entries/0/proof",
                "/api/v1/me",
                "/api/v1/documents",
                "/readyz",
            ]
        )
        answer = await self._ask("GET", path)
        self._expect(answer.status in (200, 503), f"{path}: {answer.status} {answer.body[:200]!r}")

    async def _append(self) -> None:
        name = f"obl-{self._number}-{self._done}"

        def keep(answer: Answer | None) -> None:
            found = answer.json()["entries"][0] if answer else None
            self._came.appended[name] = found and (found["seq"], found["leaf"])

        await self._write(name, "/api/v1/trail/entries", _record(name), keep)

    async def _check(self) -> None:
        name = f"ask-{self._number}-{self._done}"
        body = {
            "answer": f"Permanent employees receive {self._done} days of leave.",
            "query": name,
            "contexts": [POLICY],
            "judges": ["quote"],
        }

        def keep(answer: Answer | None) -> None:
            self._came.checked[name] = answer.json()["ledger"]["id"] if answer else None

        await self._write(name, "/api/v1/sessions", body, keep)

    async def _followed(self, started: Answer) -> Answer | None:
        """Return the answer that a check comes to that goes on as a job."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < end:
            await asyncio.sleep(_WAITED_SECONDS)
            try:
                job = await self._ask("GET", started.headers["location"])
            except Broken:
                continue
            if job.status == 200 and job.json()["ended_at"] is not None:
                said = job.json()
                self._expect(said["state"] == "done", f"a check ended so: {said}")
                known = said["result"] or {"ledger_id": None}
                body = json.dumps({"ledger": {"id": known["ledger_id"]}}).encode()
                return Answer(201, {}, body)
        return None  # it has to end before the server is stopped

    async def _write(
        self, name: str, path: str, body: Any, keep: Callable[[Answer | None], None]
    ) -> None:
        """Have something written down once: it is asked for until it is known what came of it."""
        keyed = self._fault != "none" or self._chance.random() < 0.5
        headers = {"idempotency-key": name} if keyed else {}
        answer = await self._until_known(path, body, headers)
        if answer is not None and answer.status == 202:
            keep(await self._followed(answer))
        elif answer is None or answer.status == 409:
            keep(None)
        elif answer.status == 429:
            self._came.refused.add(name)
        else:
            keep(answer)
            if keyed and self._chance.random() < 0.3:  # as if the answer was lost on its way
                await self._again(path, body, headers, answer)

    async def _until_known(self, path: str, body: Any, headers: dict[str, str]) -> Answer | None:
        """Ask until it is written, refused, or said that the answer is lost."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < end:
            try:
                answer = await self._ask("POST", path, body, headers)
            except Broken:
                if self._fault != "kill":
                    raise
                await asyncio.sleep(0.1)
                continue
            lost = answer.status == 409 and answer.json()["type"] == "/problems/answer-lost"
            if answer.status in (201, 202, 429) or lost:
                return answer
            again = answer.status in (409, 503)
            self._expect(again, f"{path}: {answer.status} {answer.body[:300]!r}")
            await asyncio.sleep(0.2)
        self._came.wrong.append(f"{path}: no answer in {_PATIENCE_SECONDS} s")
        return None

    async def _again(self, path: str, body: Any, headers: dict[str, str], first: Answer) -> None:
        """Ask again for what was answered: that must be answered alike."""
        try:
            answer = await self._ask("POST", path, body, headers)
        except Broken:
            return
        self._came.repeated += 1
        if answer.status not in (429, 503):
            self._expect(answer.body == first.body, f"{path}: other answer: {answer.body!r}")

    async def _export(self) -> None:
        path = f"/api/v1/sessions/{self._session}/ledger/export"
        form = self._chance.choice(["markdown", "json"])
        answer = await self._ask("POST", path, {"format": form})
        if answer.status != 200:
            return
        place = "/api/" + answer.json()["download_url"].partition("/api/")[2]
        for _ in range(100):
            answer = await self._ask("GET", place)
            if answer.status == 200:
                return
        self._expect(self._fault != "none", f"never ready: {answer.status}")


class Serving:
    """`evidentia serve` of a place, on a port that stays the same when it is started again."""

    def __init__(self, folder: Path, url: str | None) -> None:
        self.folder, self.url = folder, url
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._process: subprocess.Popen[str] | None = None
        self.log = folder.parent / "server.log"
        self.more: dict[str, str] = {}

    def open(self) -> Workspace:
        """Give the owner's workspace of the place."""
        return open_workspace(self.url or self.folder, home=self.folder if self.url else None)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        environment = {
            **os.environ,
            "EVIDENTIA_HOME": str(self.folder),
            "EVIDENTIA_SERVER_CHECKS_PER_MINUTE": "300",
            "EVIDENTIA_SERVER_EXPORTS_PER_MINUTE": "100",
            **({"EVIDENTIA_DATABASE_URL": self.url} if self.url else {}),
            **self.more,
        }
        command = ["-m", "evidentia.cli.main", "serve", "--port", str(self.port), "--json"]
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, *command],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            if line.rstrip().endswith("}"):
                return
        raise AssertionError(self.log.read_text())

    def pause(self, seconds: float) -> None:
        """Have it do nothing for some seconds."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self._process.send_signal(signal.SIGCONT)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End it; return with what it ended."""
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.send_signal(how)
        ended = self._process.wait()
        self._process.stdout.close()
        return ended


async def _crowded(
    serving: Serving, tokens: list[str], came: Came, asked: "Asked", fault: Callable[[], None]
) -> None:
    until = time.monotonic() + asked.seconds
    clients = [
        Client(
            number,
            Line(serving.port, tokens[number % len(tokens)]),
            came,
            fault=asked.fault,
            session=asked.session,
        )
        for number in range(asked.clients)
    ]

    async def disturb() -> None:
        if asked.fault != "none":
            await asyncio.sleep(asked.seconds / 3)
            await asyncio.to_thread(fault)

    await asyncio.gather(disturb(), *(client.work(until) for client in clients))


@dataclass
class Asked:
    """How many clients, for how long, and what goes wrong meanwhile."""

    clients: int
    seconds: float
    fault: Fault = "none"
    session: str = ""


def crowd(serving: Serving, asked: Asked, disturb: Callable[[], None] = lambda: None) -> Came:
    """Let a crowd at a server of a new place; stop it, and compare what is there with what came."""
    with serving.open() as workspace:
        tokens = []
        for number in range(min(USERS, asked.clients)):
            workspace.access.grant(f"user-{number}", "approver")
            tokens.append(workspace.access.new_token(f"user-{number}").text)
        ledger = workspace.check(POLICY, contexts=[POLICY], query="first", judges=["quote"])
        asked.session = ledger.session_id
    came = Came()
    serving.start()
    try:
        asyncio.run(_crowded(serving, tokens, came, asked, disturb))
        came.wrong += _unended(serving)
    finally:
        ended = serving.stop()
    if ended:
        came.wrong.append(f"the server ended with {ended}")
    with serving.open() as workspace:
        _compare(workspace, came)
    return came


def _unended(serving: Serving) -> list[str]:
    """Wait until all jobs have ended; say which do not."""
    end, left = time.monotonic() + _PATIENCE_SECONDS * 4, [""]
    with serving.open() as workspace:
        while left and time.monotonic() < end:
            states = (workspace.jobs.list(state=one) for one in ("queued", "running"))
            left = [f"{job.id} did not end: {job.state}" for jobs in states for job in jobs]
            time.sleep(_WAITED_SECONDS)
    return left


def _compare(workspace: Workspace, came: Came) -> None:
    """Say what is not as it was acknowledged, and what the audit finds."""
    there: dict[str, list[tuple[int, str]]] = {}
    for one in workspace.trail.entries(kind=EntryKind.EVIDENCE_RECORD):
        there.setdefault(one.entry.subject, []).append((one.entry.seq, one.leaf))
    for name, said in came.appended.items():
        found = there.pop(name, [])
        if len(found) != 1 or said not in (None, found[0]):
            came.wrong.append(f"{name} was acknowledged as {said}, and is there as {found}")
    came.wrong += [
        f"{name} is there, and no one was told: {found}" for name, found in there.items()
    ]
    ledgers: dict[str, list[str]] = {}
    for row in workspace.ledgers.list():
        ledgers.setdefault(row.query or "", []).append(row.id)
    ledgers.pop("first", None)
    for name, ledger in came.checked.items():
        kept = ledgers.pop(name, [])
        if len(kept) != 1 or ledger not in (None, kept[0]):
            came.wrong.append(f"{name} was acknowledged as {ledger}, and is there as {kept}")
    came.wrong += [f"{name} is there, and no one was told: {ids}" for name, ids in ledgers.items()]
    audit = workspace.whole.audit()
    if not audit.holds:
        came.wrong.append(f"the audit: {audit.findings}")


def killed_between(serving: Serving, appends: int) -> list[tuple[bytes, bytes]]:
    """Append, kill the server, start it and ask again; return the answers of both."""
    with serving.open() as workspace:
        workspace.access.grant("ann", "approver")
        token = workspace.access.new_token("ann").text

    async def answers() -> list[bytes]:
        line, found = Line(serving.port, token), []
        for number in range(appends):
            body = _record(f"obl-{number}")
            key = {"idempotency-key": f"k{number}"}
            answer = await line.ask("POST", "/api/v1/trail/entries", body, key)
            assert answer.status == 201, answer
            found.append(answer.body)
        line.close()
        return found

    serving.start()
    first = asyncio.run(answers())
    serving.stop(signal.SIGKILL)
    serving.start()
    again = asyncio.run(answers())
    assert serving.stop() == 0
    with serving.open() as workspace:
        assert len(workspace.trail.records()) == appends
        assert workspace.whole.audit().holds
    return list(zip(first, again, strict=True))


def _record(name: str) -> dict[str, Any]:
    return {
        "obligation_id": name,
        "doc_id": "doc_1",
        "doc_filename": "loan.pdf",
        "source_clause": CLAUSE,
        "extraction_model": "model-a",
        "verification_model": "model-b",
        "verification_result": "CONFIRMED",
        "confidence": 0.93,
    }


@contextmanager
def place(folder: Path, *, postgresql: bool) -> Iterator[tuple[Serving, PostgresServer | None]]:
    """Give a new place, embedded or on a PostgreSQL of its own."""
    (folder / "home").mkdir(parents=True)
    if not postgresql:
        yield Serving(folder / "home", None), None
        return
    own = PostgresServer(new_folder())
    try:
        own.ensure_started()
        with own.fresh_database() as url:
            yield Serving(folder / "home", url), own
    finally:
        own.stop()


def disturbed(serving: Serving, own: PostgresServer | None, fault: Fault) -> Callable[[], None]:
    """Return what goes wrong in the middle."""

    def kill() -> None:
        serving.stop(signal.SIGKILL)
        serving.start()

    def interrupt() -> None:
        assert own is not None
        own.end()
        time.sleep(2)
        own.start_again()

    return {"kill": kill, "database": interrupt}.get(fault, lambda: None)


def main() -> int:
    """Let a crowd at the server, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--on", choices=["sqlite", "postgresql", "both"], default="both")
    parser.add_argument("--fault", choices=["none", "kill", "database"], default="none")
    given = parser.parse_args()
    wrong = 0
    kinds = ["sqlite", "postgresql"] if given.on == "both" else [given.on]
    if given.fault == "database":
        kinds = ["postgresql"]
    for kind in kinds:
        with (
            tempfile.TemporaryDirectory(prefix="evidentia-") as folder,
            place(Path(folder) / "place", postgresql=kind == "postgresql") as (serving, own),
        ):
            asked = Asked(given.clients, given.seconds, given.fault)
            came = crowd(serving, asked, disturbed(serving, own, given.fault))
            logged = serving.log.read_text()[-2_000:] if came.wrong else ""
        wrong += len(came.wrong)
        lines = [f"{kind}, {given.clients} clients, {given.seconds:g} s, fault: {given.fault}"]
        sys.stdout.write("\n".join([*lines, *came.lines(), logged, ""]))
        sys.stdout.flush()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

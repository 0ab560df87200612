"""The server: what a request costs beyond bare FastAPI, and what HTTP costs beyond the library.

Run it with `python -m benchmarks.server [--quick] [--only NAME] [--json FILE]`.
"""

import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
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
    run_measures,
    shown,
)
from benchmarks.requesting import Answered, Asked, asked_elsewhere, get, post
from benchmarks.workload import evidence_records

from evidentia.access.actions import Role
from evidentia.server.paging import cursor_of
from evidentia.workspace import Workspace, open_workspace

CONNECTIONS = 16
WRITERS = 8
PAGE = 50
SHORT, CLAIMS = 200, 100
START_SECONDS, IDLE_MEGABYTES = 2.5, 150.0


@dataclass(frozen=True, slots=True)
class Size:
    """How long is measured, how often, and how long a long ledger is."""

    rounds: int
    seconds: float
    long: int
    idle_seconds: float


SIZES = {
    "full": Size(9, 4.0, 20_000, 10.0),
    "quick": Size(3, 1.5, 20_000, 2.0),
    "tiny": Size(1, 0.2, 400, 0.1),
}


@dataclass(frozen=True, slots=True)
class Took:
    """What answers took: the rate at which they came, and the server's processor time for each."""

    rate: float
    cpu: float


class Served:
    """A server in a process of its own."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self._started = time.perf_counter()
        self._log = (folder / "server.log").open("w")
        self._process = subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.PIPE, stderr=self._log, text=True
        )
        assert self._process.stdout is not None
        said = ""
        while not said.rstrip().endswith("}"):
            line = self._process.stdout.readline()
            if not line:
                raise SystemExit((folder / "server.log").read_text())
            said += line
        self.port = int(json.loads(said)["url"].rpartition(":")[2])
        self.get("/healthz")
        self.start_seconds = time.perf_counter() - self._started

    def get(self, path: str) -> bytes:
        """Return what one request is answered."""
        connection = HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", path)
        found = connection.getresponse().read()
        connection.close()
        return found

    def took(self, asked: Asked) -> Took:
        """Return what answers take while a client asks."""
        before = self._cpu()
        found: Answered = asked_elsewhere(asked)
        found.require_good()
        return Took(found.rate, (self._cpu() - before) / found.answers)

    @property
    def megabytes(self) -> float:
        """How much memory it holds, with all processes that it started."""
        return sum(one.memory_info().rss for one in self._processes()) / 10**6

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait()
        self._log.close()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _processes(self) -> list[psutil.Process]:
        own = psutil.Process(self._process.pid)
        return [own, *own.children(recursive=True)]

    def _cpu(self) -> float:
        found = [one.cpu_times() for one in self._processes()]
        return sum(one.user + one.system for one in found)


def measure_ledger(size: str, folder: Path) -> Section:
    """Compare reading a ledger with a bare route of FastAPI that returns the same bytes."""
    sizes = SIZES[size]
    with _workspace(folder) as workspace:
        session, token = _ledger(workspace, CLAIMS), _token(workspace)
    path = f"/api/v1/sessions/{session}/ledger"
    with served(folder) as ours:
        answer = _answer(ours, path, token)
        (folder / "answer.json").write_bytes(answer)
        with ExitStack() as stack:
            kinds = {"bare": "async", "thread": "thread", "ceiling": "socket"}
            sides = {name: stack.enter_context(bare(folder, kind)) for name, kind in kinds.items()}
            asked = {name: [get(path, token, one.port)] for name, one in sides.items()}
            asked["ours"] = [get(path, token, ours.port)]
            asked["anew"] = [
                get(f"{path}?asked={number}", token, ours.port) for number in range(50_000)
            ]
            sides |= {"ours": ours, "anew": ours}
            found = _turns(
                sizes,
                {
                    name: partial(
                        side.took,
                        Asked(
                            side.port,
                            _requests(folder / f"{name}.json", asked[name]),
                            CONNECTIONS,
                            sizes.seconds,
                        ),
                    )
                    for name, side in sides.items()
                },
            )
    lines = [
        *_against("a ledger of 100 claims", "bare FastAPI, `async def`", found, "bare", 0.5),
        *_against("a ledger of 100 claims", "bare FastAPI, `def`", found, "thread", None),
        *_against(
            "the same, after a change",
            "bare FastAPI, `def`",
            {"ours": found["anew"], "thread": found["thread"]},
            "thread",
            None,
        ),
        Line(
            "the client's ceiling",
            "a ledger of 100 claims",
            _rate(found["ceiling"]),
            _rate(found["ours"]),
            ratios(_rates(found["ceiling"]), _rates(found["bare"])),
            "times",
        ),
    ]
    return Section(
        "server ledger",
        "Reading a ledger over HTTP",
        f"`GET /api/v1/sessions/ID/ledger`, {len(answer):,} bytes, with a token whose user is a "
        f"viewer, {CONNECTIONS} connections that are kept. The yardstick is an application of "
        "FastAPI with one route, which returns the same bytes and does nothing else: once as a "
        "function of the event loop, once in a thread as all routes here. While nothing in the "
        "workspace changes, the same request of the same token is answered again at once; after a "
        "change, who asks and what there is are looked up again, which requests that differ show "
        "here. Both are served by the "
        "same uvicorn in a process of its own. By rate, and by the processor time of the server "
        "for each answer, where the machine does other work. The client's ceiling is its rate "
        "against a socket that answers without reading, over that of bare FastAPI.",
        lines,
    )


def measure_page(size: str, folder: Path) -> Section:
    """Compare a page of a long ledger with one of a short ledger, none of them asked for before."""
    sizes = SIZES[size]
    chance = random.Random(sizes.long)
    with _workspace(folder) as workspace:
        token = _token(workspace)
        sessions = {many: _ledger(workspace, many) for many in (SHORT, sizes.long)}
    with served(folder) as ours:
        files = {}
        for many, session in sessions.items():
            places = [(chance.randrange(many - PAGE), PAGE - n % 10) for n in range(20_000)]
            paths = [
                f"/api/v1/sessions/{session}/ledger?limit={limit}&cursor={cursor_of(begin)}"
                for begin, limit in dict.fromkeys(places)
            ]
            files[many] = _requests(
                folder / f"{many}.json", [get(path, token, ours.port) for path in paths]
            )
        first = dict.fromkeys(sessions, 0)

        def ask(many: int) -> Took:
            seconds = sizes.seconds / 4  # of a short ledger there are only so many pages
            took = ours.took(Asked(ours.port, files[many], 4, seconds, first[many]))
            first[many] += int(took.rate * seconds) + 8
            return took

        found = _turns(
            sizes,
            {
                "short": lambda: ask(SHORT),
                "long": lambda: ask(sizes.long),
            },
        )
    all_ = found.items()
    return Section(
        "server page",
        "A page of a long ledger",
        f"A page of {PAGE - 9} to {PAGE} claims somewhere in a ledger of {sizes.long:,} claims, "
        f"against one in a ledger of {SHORT}, over HTTP. No page is asked for twice, so that none "
        "is kept: each is read and proved.",
        [
            _page_line(sizes, "time", {name: [1 / one.rate for one in of] for name, of in all_}),
            _page_line(sizes, "CPU", {name: [one.cpu for one in of] for name, of in all_}),
        ],
    )


def _page_line(sizes: Size, what: str, taken: Mapping[str, list[float]]) -> Line:
    return Line(
        f"a page of {sizes.long:,} claims, {what}",
        f"a page of {SHORT} claims",
        shown(1e3 * Spread.of(taken["long"]).median, "ms"),
        shown(1e3 * Spread.of(taken["short"]).median, "ms"),
        ratios(taken["long"], taken["short"]),
        "times",
        target=1.5,
        at_most=True,
    )


def measure_append(size: str, folder: Path) -> Section:
    """Compare appending over HTTP with appending from threads of one process."""
    sizes = SIZES[size]
    bodies = [one.model_dump_json() for one in evidence_records(2_000)]
    with _workspace(folder) as workspace:
        token = _token(workspace, Role.APPROVER)
    (folder / "direct").mkdir()
    with served(folder) as ours:
        path = "/api/v1/trail/entries"
        asked = [post(path, body, token, ours.port) for body in bodies]
        file = _requests(folder / "appends.json", asked)
        found = _turns(
            sizes,
            {
                "ours": lambda: ours.took(Asked(ours.port, file, WRITERS, sizes.seconds)),
                "direct": lambda: _appended_directly(folder / "direct", sizes.seconds),
            },
        )
    return Section(
        "server append",
        "Appending over HTTP",
        f"`POST /api/v1/trail/entries`, one record each, {WRITERS} connections, against "
        f"`Workspace.append` of the same records by {WRITERS} threads of one process, each in a "
        "workspace of its own. All are durable and signed when they are answered; those that come "
        "at once share a commit.",
        _against("one record", f"{WRITERS} threads of one process", found, "direct", 0.4),
    )


def measure_start(size: str, folder: Path) -> Section:
    """Measure how soon a server answers, and what it holds while no one asks."""
    sizes = SIZES[size]
    with _workspace(folder) as workspace:
        _ledger(workspace, CLAIMS)
    starts, held = [], []
    for _ in range(sizes.rounds):
        with served(folder) as ours:
            starts.append(ours.start_seconds)
            time.sleep(sizes.idle_seconds / sizes.rounds)
            held.append(ours.megabytes)
    return Section(
        "server start",
        "Starting the server",
        "From the start of `evidentia serve`, in a folder that has a workspace, to its first "
        "answer; and how much memory it holds then, with all of its processes, while no one asks.",
        [
            Line(
                "the first answer",
                "none",
                shown(Spread.of(starts).median, "s"),
                "",
                Spread.of(starts),
                "s",
                target=START_SECONDS,
                at_most=True,
            ),
            Line(
                "memory when idle",
                "none",
                shown(Spread.of(held).median, "MB"),
                "",
                Spread.of(held),
                "MB",
                target=IDLE_MEGABYTES,
                at_most=True,
            ),
        ],
    )


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """Give `evidentia serve` of a folder."""
    command = ["-m", "evidentia.cli.main", "serve", "--port", "0", "--json"]
    found = Served([*command, "--home", str(folder / "home")], folder)
    try:
        yield found
    finally:
        found.stop()


@contextmanager
def bare(folder: Path, kind: str) -> Iterator[Served]:
    """Give a server that returns the bytes of a file, whatever it is asked."""
    found = Served(["-c", _BARE, kind, str(folder / "answer.json")], folder)
    try:
        yield found
    finally:
        found.stop()


_BARE = """
import asyncio, json, socket, sys
from pathlib import Path
kind, data = sys.argv[1], Path(sys.argv[2]).read_bytes()
taken = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
taken.bind(("127.0.0.1", 0))
taken.listen(512)
print(json.dumps({"url": f"http://127.0.0.1:{taken.getsockname()[1]}"}), flush=True)
if kind == "socket":
    whole = b"HTTP/1.1 200 OK\\r\\ncontent-length: %d\\r\\n\\r\\n" % len(data) + data

    class Answering(asyncio.Protocol):
        def connection_made(self, transport):
            self.transport = transport

        def data_received(self, _):
            self.transport.write(whole)

    async def main():
        server = await asyncio.get_running_loop().create_server(Answering, sock=taken)
        await server.serve_forever()

    asyncio.run(main())
else:
    import uvicorn
    from fastapi import FastAPI, Response
    app = FastAPI()
    if kind == "async":
        @app.get("/api/v1/sessions/{session_id}/ledger")
        async def read(session_id: str) -> Response:
            return Response(data, media_type="application/json")
    else:
        @app.get("/api/v1/sessions/{session_id}/ledger")
        def read(session_id: str) -> Response:
            return Response(data, media_type="application/json")
    config = uvicorn.Config(app, log_config=None, access_log=False)
    uvicorn.Server(config).run(sockets=[taken])
"""


@contextmanager
def _workspace(folder: Path) -> Iterator[Workspace]:
    with open_workspace(folder / "home") as workspace:
        yield workspace


def _token(workspace: Workspace, role: Role = Role.VIEWER) -> str:
    """Return a token of someone who has a role."""
    workspace.access.grant(role.value, role)
    return workspace.access.new_token(role.value).text


def _ledger(workspace: Workspace, claims: int) -> str:
    """Keep a ledger of so many claims; return its session's id."""
    said = [f"Item {place} weighs {place % 90 + 10} kilograms." for place in range(claims)]
    contexts = [" ".join(said[start : start + 20]) for start in range(0, min(claims, 1_000), 20)]
    ledger = workspace.check(" ".join(said), contexts=contexts, judges=["quote"])
    if len(ledger.entries) != claims:
        raise SystemExit(f"{len(ledger.entries):,} claims were found, not {claims:,}")
    return ledger.session_id


def _requests(file: Path, requests: list[str]) -> str:
    """Write requests where the client reads them."""
    file.write_text(json.dumps(requests), encoding="utf-8")
    return str(file)


def _answer(ours: Served, path: str, token: str) -> bytes:
    connection = HTTPConnection("127.0.0.1", ours.port)
    connection.request("GET", path, headers={"authorization": f"Bearer {token}"})
    found = connection.getresponse()
    body = found.read()
    connection.close()
    if found.status != 200:
        raise SystemExit(f"{found.status}: {body!r}")
    return body


def _appended_directly(folder: Path, seconds: float) -> Took:
    """Append from threads of a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", _DIRECT, str(folder), str(seconds), str(WRITERS)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return Took(**json.loads(done.stdout))


_DIRECT = """
import json, sys
from pathlib import Path
from benchmarks.server import append_by_threads
print(json.dumps(append_by_threads(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))))
"""


def append_by_threads(folder: Path, seconds: float, writers: int) -> dict[str, float]:
    """Append records from threads until the time is over; return the rate, and the CPU of each."""
    records = evidence_records(2_000)
    with open_workspace(folder) as workspace:
        workspace.access.grant(Role.APPROVER.value, Role.APPROVER)
        workspace.append(records[0])
        counts = [0] * writers
        start, before = time.perf_counter(), time.process_time()

        def append(which: int) -> None:
            own = workspace.acting_as(Role.APPROVER.value)
            while time.perf_counter() < start + seconds:
                own.append(records[(which * 211 + counts[which]) % len(records)])
                counts[which] += 1

        threads = [threading.Thread(target=append, args=(which,)) for which in range(writers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        done = sum(counts)
        taken = time.perf_counter() - start
        return {"rate": done / taken, "cpu": (time.process_time() - before) / done}


def _turns(sizes: Size, sides: Mapping[str, Callable[[], Took]]) -> dict[str, list[Took]]:
    """Let the sides take turns, once for nothing."""
    found: dict[str, list[Took]] = {name: [] for name in sides}

    def side(name: str) -> Callable[[], float]:
        def measure() -> float:
            found[name].append(sides[name]())
            return 0.0

        return measure

    for one in sides.values():
        one()
    interleaved(sizes.rounds, {name: side(name) for name in sides})
    return found


def _rates(side: list[Took]) -> list[float]:
    return [one.rate for one in side]


def _rate(side: list[Took]) -> str:
    return f"{number(Spread.of(_rates(side)).median)}/s"


def _against(
    what: str, against: str, found: Mapping[str, list[Took]], yardstick: str, target: float | None
) -> list[Line]:
    """Return the lines of a comparison: by rate, and by processor time, which has no target."""
    ours, theirs = found["ours"], found[yardstick]
    cpu = {name: [one.cpu for one in side] for name, side in (("ours", ours), ("bare", theirs))}
    said: dict[str, Any] = {
        name: f"{number(1e6 * Spread.of(values).median)} µs" for name, values in cpu.items()
    }
    rate = ratios(_rates(ours), _rates(theirs))
    return [
        Line(f"{what}, rate", against, _rate(ours), _rate(theirs), rate, "%", target=target),
        Line(
            f"{what}, CPU",
            against,
            said["ours"],
            said["bare"],
            ratios(cpu["bare"], cpu["ours"]),
            "%",
        ),
    ]


if __name__ == "__main__":
    run_measures(
        __doc__.splitlines()[0],
        {
            "ledger": measure_ledger,
            "page": measure_page,
            "append": measure_append,
            "start": measure_start,
        },
    )

"""A lake in a bucket: what sealing costs against a lake in a folder, and how often it asks."""

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

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
from benchmarks.workload import decision_of

from benchmarks import servers
from evidentia.packs.decision import DecisionOutput
from evidentia.store.objects import ObjectLake
from evidentia.workspace import Workspace, open_workspace

ADDED_SECONDS = 0.02
ATTACHED = {"measured.csv": b"1,2,3\n" * 2_000, "report.txt": b"The seal is whole.\n" * 500}


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    rounds: int
    packs: int


SIZES = {"full": Sizes(15, 10), "quick": Sizes(7, 4), "tiny": Sizes(1, 1)}


@dataclass(slots=True)
class Proxy:
    """Stands before a server, adds a wait to each request, and counts them."""

    port: int = 0
    wait: float = 0.0
    asked: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"


def measure_sealing(size: str, folder: Path) -> Section:
    """Seal packs with two attachments in a folder, in a bucket, and in one that is far away."""
    sizes = SIZES[size]
    with servers.bucket() as (address, endpoint), _before(endpoint) as proxy:
        made = count()

        def side(workspace: Workspace, wait: float = 0.0) -> Callable[[], float]:
            def sealing() -> float:
                proxy.wait = wait
                names = [f"dec_{next(made)}" for _ in range(sizes.packs)]
                return seconds_of(lambda: _seal_all(workspace, names)) / sizes.packs

            return sealing

        with (
            open_workspace(folder / "near") as near,
            open_workspace(folder / "bucket", lake=address) as bucket,
            open_workspace(folder / "far", lake=address, tenant="far") as far,
        ):
            _reach(bucket, endpoint)
            _reach(far, proxy.address)
            for workspace in (near, bucket, far):
                _seal(workspace, f"dec_{next(made)}")
            proxy.asked = 0
            _seal(far, f"dec_{next(made)}")
            asked = proxy.asked
            tidy()
            taken = interleaved(
                sizes.rounds,
                {
                    "folder": side(near),
                    "bucket": side(bucket),
                    "proxy": side(far),
                    "far": side(far, ADDED_SECONDS),
                },
            )
    return Section(
        "object lake",
        "Sealing with the lake in a bucket",
        "A pack with two attachments is assembled, sealed, kept and recorded, in the embedded "
        f"database. A seal asks the bucket {asked} times, and several at once where it can: the "
        "second line says for how many calls one after the other it waits, which is what "
        f"{ADDED_SECONDS * 1000:.0f} ms added to every call add to a seal.",
        [
            Line(
                "a seal with the lake in a bucket",
                "in a folder of this machine",
                _milliseconds(taken["bucket"]),
                _milliseconds(taken["folder"]),
                ratios(taken["bucket"], taken["folder"]),
                "times",
                target=1.5,
                at_most=True,
            ),
            Line(
                f"a seal with {ADDED_SECONDS * 1000:.0f} ms added to each call",
                "without them",
                _milliseconds(taken["far"]),
                _milliseconds(taken["proxy"]),
                Spread.of(
                    [
                        (far - near) / ADDED_SECONDS
                        for far, near in zip(taken["far"], taken["proxy"], strict=True)
                    ]
                ),
                "calls",
                target=2.0,
                at_most=True,
            ),
        ],
    )


def _seal_all(workspace: Workspace, names: list[str]) -> None:
    for name in names:
        _seal(workspace, name)


def _seal(workspace: Workspace, decision_id: str) -> None:
    fields = decision_of(workspace.tenant) | {"decision_id": decision_id}
    attached = {name: data + decision_id.encode() for name, data in ATTACHED.items()}
    workspace.assemble(DecisionOutput.model_validate(fields), attachments=attached)


def _milliseconds(values: list[float]) -> str:
    return f"{number(Spread.of(values).median * 1e3)} ms"


def _reach(workspace: Workspace, endpoint: str) -> None:
    """Have a workspace's lake ask at an address of its own."""
    from obstore.store import S3Store  # noqa: PLC0415 - an extra

    lake = workspace.opened.lake
    if not isinstance(lake, ObjectLake):
        raise SystemExit("the lake is in no bucket")
    lake.store = S3Store(
        lake.bucket,
        prefix="evidence",
        endpoint=endpoint,
        client_options={"allow_http": True},
    )


@contextmanager
def _before(endpoint: str) -> Iterator[Proxy]:
    """Stand before a server: what is asked is passed on as it is, once the wait is over."""
    proxy, beyond = Proxy(), urlsplit(endpoint)
    lines = threading.local()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _pass_on(self) -> None:
            with proxy.lock:
                proxy.asked += 1
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            time.sleep(proxy.wait)
            line = getattr(lines, "line", None)
            if line is None:
                line = lines.line = http.client.HTTPConnection(beyond.hostname or "", beyond.port)
            line.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                line.putheader(name, value)
            line.endheaders(body)
            answer = line.getresponse()
            data = answer.read()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in {"content-length", "transfer-encoding", "connection"}:
                    self.send_header(name, value)
            size = answer.getheader("content-length") if self.command == "HEAD" else len(data)
            self.send_header("content-length", str(size or 0))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _pass_on  # noqa: N815 - http.server's

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

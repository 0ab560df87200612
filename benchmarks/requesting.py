"""A client that is no bottleneck: keep-alive connections in one loop, requests written beforehand.

Run as `python -m benchmarks.requesting`: what to ask comes as JSON on standard input, what came of
it goes as JSON to standard output. It imports nothing of the product, and starts in no time.
"""

import json
import select
import socket
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_BYTES_AT_ONCE = 1 << 18
_CHECKED_EACH = 64
"""How many answers come between two looks at the clock."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked: requests from a file, one after the other and again, over some connections."""

    port: int
    requests: str
    connections: int
    seconds: float
    first: int = 0
    """At which of the requests to begin."""


@dataclass(frozen=True, slots=True)
class Answered:
    """How many answers came, in how many seconds, of which statuses; the client's CPU seconds."""

    answers: int
    seconds: float
    cpu: float
    statuses: dict[str, int]

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.answers / self.seconds

    def require_good(self) -> None:
        """End the program if an answer was none that was wanted."""
        if bad := {status: n for status, n in self.statuses.items() if status[0] != "2"}:
            raise SystemExit(f"the server answered {bad}")


class _Connection:
    """A connection on which one request is under way; its answer is read by its length."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._read = b""
        self._missing = 0

    def ask(self, request: bytes) -> None:
        self.socket.sendall(request)
        self._read, self._missing = b"", 0

    def take(self) -> str | None:
        """Read what is there; return the status once the answer is complete."""
        got = self.socket.recv(_BYTES_AT_ONCE)
        if not got:
            raise SystemExit("the server closed a connection")
        if self._missing:
            self._missing -= len(got)
        else:
            self._read += got
            end = self._read.find(b"\r\n\r\n")
            if end < 0:
                return None
            self._missing = end + 4 + self._length(end) - len(self._read)
        return None if self._missing else self._read[9:12].decode()

    def _length(self, end: int) -> int:
        head = self._read[:end].lower()
        start = head.find(b"content-length: ")
        return int(head[start + 16 :].split(b"\r\n", 1)[0]) if start >= 0 else 0


def ask(asked: Asked) -> Answered:
    """Ask until the time is over, and wait for the last answers."""
    requests = [
        part.encode() for part in json.loads(Path(asked.requests).read_text(encoding="utf-8"))
    ]
    place, many = asked.first, len(requests)
    poll, open_ = select.epoll(), dict[int, _Connection]()
    statuses: Counter[str] = Counter()
    start, before = time.perf_counter(), time.process_time()
    for _ in range(asked.connections):
        made = _Connection(asked.port)
        open_[made.socket.fileno()] = made
        poll.register(made.socket, select.EPOLLIN)
        made.ask(requests[place % many])
        place += 1
    end, under_way, answers, over = start + asked.seconds, asked.connections, 0, False
    while under_way:
        for number, _ in poll.poll():
            status = open_[number].take()
            if status is None:
                continue
            statuses[status] += 1
            answers += 1
            if answers % _CHECKED_EACH == 0 or asked.connections < _CHECKED_EACH:
                over = over or time.perf_counter() >= end
            if over:
                under_way -= 1
            else:
                open_[number].ask(requests[place % many])
                place += 1
    seconds, cpu = time.perf_counter() - start, time.process_time() - before
    for one in open_.values():
        one.socket.close()
    return Answered(answers, seconds, cpu, dict(statuses))


def get(path: str, token: str = "", port: int = 80) -> str:
    """Return a request as it is sent."""
    authorized = f"authorization: Bearer {token}\r\n" if token else ""
    return f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n{authorized}accept: */*\r\n\r\n"


def post(path: str, body: str, token: str, port: int) -> str:
    """Return a request with a body of JSON as it is sent."""
    return (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body.encode())}\r\n\r\n{body}"
    )


def asked_elsewhere(asked: Asked) -> Answered:
    """Ask from a process of its own, so that the server does not share one with its client."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.requesting"],
        input=json.dumps(asdict(asked)),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return Answered(**found)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(ask(Asked(**json.loads(sys.stdin.read()))))))

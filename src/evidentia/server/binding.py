"""Sockets and what answers on them, for every server of ours: it needs uvicorn alone."""

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from types import FrameType

import uvicorn
from uvicorn.server import HANDLED_SIGNALS

from evidentia.errors import EnvironmentProblem, environment_problem


class Answering(uvicorn.Server):
    """A server that says when it answers, ends when it is told to, and lets its process end.

    `stop` is called once it is told to end, before it waits for what it is working on.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        tell: Callable[[], None],
        stop: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(config)
        self._tell = tell
        self._stop = stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so."""
        await super().startup(sockets)
        self._tell()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop, and let go of those who listen to events: they would be waited for."""
        self._stop()
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at a signal; it is not raised again behind that, as uvicorn itself does."""
        before = {one: signal.signal(one, self.handle_exit) for one in HANDLED_SIGNALS}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to an address and a port; 0 is a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # named as TCP, or asyncio leaves Nagle's delay on: 40 ms for every small answer
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host.strip("[]"), port))
    except OSError as error:
        found.close()
        if isinstance(error, socket.gaierror):
            raise EnvironmentProblem(f"there is no address {host!r}: {error.strerror}") from None
        problem = environment_problem(error)
        raise EnvironmentProblem(f"{host}:{port}: {problem}: choose another with --port") from None
    return found


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def in_url(host: str) -> str:
    """Return an address as a URL has it: of the newer kind, in brackets."""
    return f"[{host}]" if ":" in host else host

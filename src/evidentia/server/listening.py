"""Where the server listens, and who may reach it there before anyone is signed in."""

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType

import uvicorn
from fastapi import FastAPI
from uvicorn.server import HANDLED_SIGNALS

from evidentia.errors import EnvironmentProblem, UsageError, environment_problem
from evidentia.server.running import Running, is_loopback
from evidentia.settings import Settings
from evidentia.workspace.opened import Opened

_BACKLOG = 512
_WAITED_SECONDS = 30
"""How long a server that is stopped waits for what it is working on."""


def is_owners(opened: Opened, settings: Settings) -> bool:
    """Whether the owner signs in by a link: alone on this machine, with the folder's database.

    Raise `UsageError` where that is not so, and no one else could sign in either.
    """
    if is_loopback(settings.server_host) and opened.database.is_sqlite:
        return True
    if settings.oidc_issuer is not None:
        return False
    if any(opened.for_(tenant).access.tokens() for tenant in opened.tenants()):
        return False
    where = settings.server_host if opened.database.is_sqlite else "a database server"
    raise UsageError(
        f"no one could sign in, and others can reach {where}: make a token first, with 'evidentia "
        "token new USER --role admin', or name an OpenID provider (EVIDENTIA_OIDC_ISSUER), or "
        "serve this machine alone from a folder of its own (--host 127.0.0.1)"
    )


def listen(app: FastAPI, settings: Settings, tell: Callable[[str, str | None], None]) -> None:
    """Answer requests until the process is told to stop.

    Once it answers, `tell` is told where, and by which link the owner signs in, if there is one.
    """
    listening = _bound(settings.server_host, settings.server_port)
    port = listening.getsockname()[1]
    host = f"[{settings.server_host}]" if ":" in settings.server_host else settings.server_host
    here = settings.server_url or f"http://{host}:{port}"
    running: Running = app.state.running
    owner = running.sign_in
    link = None if owner is None else f"{here}/sign-in?token={owner.secret}"
    _Server(config_of(app, settings), partial(tell, here, link), running).run(sockets=[listening])


def config_of(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """Return how requests are taken: whose word counts for where they come from, among others."""
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        backlog=_BACKLOG,
        server_header=False,
        proxy_headers=settings.server_proxies is not None,
        forwarded_allow_ips=list(settings.server_proxies or ()),
        timeout_graceful_shutdown=_WAITED_SECONDS,
    )


class _Server(uvicorn.Server):
    """A server that says when it answers, ends when it is told to, and lets its process end."""

    def __init__(self, config: uvicorn.Config, tell: Callable[[], None], running: Running) -> None:
        super().__init__(config)
        self._tell = tell
        self._running = running

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so."""
        await super().startup(sockets)
        self._tell()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop, and let go of those who listen to events: they would be waited for."""
        self._running.stopping.set()
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


def _bound(host: str, port: int) -> socket.socket:
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

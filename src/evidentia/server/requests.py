"""What is around every request: its id and trace, its size, its headers, its line in the log."""

import random
import re
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final
from urllib.parse import urlsplit

from fastapi import HTTPException, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

from evidentia.logs import get_logger
from evidentia.server import problems
from evidentia.server.binding import is_loopback
from evidentia.server.links import told_path
from evidentia.server.problems import ProblemError
from evidentia.server.running import Running
from evidentia.server.viewing import problem_page, wants_page

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BYTES: Final = 8 * 2**20
"""Of a request that is no upload: an answer has two megabytes at most."""
_TRACE: Final = re.compile(
    r"(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?"
)
"""Of this version (00) or a later one, which may have more behind (W3C Trace Context)."""
_UPLOADS: Final = ("multipart/form-data", "application/octet-stream", "application/x-protobuf")
_SERVER_ERROR: Final = 500
_log = get_logger("server")
_CHANCE: Final = random.Random(secrets.token_bytes(32))  # noqa: S311 - ids are no secrets
"""Asking the system each time would let the event loop stand behind the threads that compute."""

HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
"""What every answer has, unless it says otherwise itself; as OWASP lists them."""
_HTTPS: Final = {"strict-transport-security": "max-age=63072000; includeSubDomains"}


_SUPERVISED: Final = frozenset({"/healthz", "/readyz", "/metrics"})
"""What supervisors ask by a machine's own address, and that has nothing of a tenant."""


class Envelope:
    """Wraps an application: whatever is inside, every request gets an id, limits and an answer."""

    def __init__(self, app: App, running: Running) -> None:
        self._app = app
        self._running = running
        self._headers = HEADERS | (_HTTPS if running.is_https else {})
        address = urlsplit(running.settings.server_url or "")
        self._host = address.hostname
        self._only_loopback = self._host is None and is_loopback(running.settings.server_host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, began = Headers(scope=scope), time.perf_counter()
        only_head = scope["method"] == "HEAD"
        if only_head:  # answered as GET is, without the body
            scope = {**scope, "method": "GET"}
        state = scope.setdefault("state", {})
        request_id = state["request_id"] = _new_id(8)
        state["trace_id"] = _trace_of(headers.get("traceparent", "")) or _new_id(16)
        status = _SERVER_ERROR
        begun = False

        async def sending(message: Message) -> None:
            nonlocal status, begun
            if message["type"] == "http.response.start":
                begun, status = True, message["status"]
                given = MutableHeaders(scope=message)
                given["x-request-id"] = request_id
                for name, value in self._headers.items():
                    given.setdefault(name, value)
            elif only_head:
                message = {**message, "body": b""}
            await send(message)

        self._running.metrics.working.inc()
        try:
            self._refuse_host(scope, headers)
            most = self._most_bytes(headers)
            await self._app(scope, _counting(receive, most), sending)
        except ProblemError as raised:
            await _told_of(scope, raised)(scope, receive, sending)
        except Exception as error:  # noqa: BLE001 - whatever it is: the client gets an answer, the log the rest
            _log.error(
                "request_failed", request_id=request_id, error=f"{type(error).__name__}: {error}"
            )
            if not begun:
                internal = ProblemError(problems.INTERNAL, "It is in the server's log.")
                await _told_of(scope, internal)(scope, receive, sending)
        finally:
            self._running.metrics.working.dec()
            self._told(scope, status, time.perf_counter() - began)

    def _refuse_host(self, scope: Scope, headers: Headers) -> None:
        """Raise for a name that is not this server's: a page elsewhere may have made it one."""
        host = urlsplit(f"//{headers.get('host', '')}").hostname or ""
        if self._only_loopback and not is_loopback(host):
            raise ProblemError(problems.WRONG_HOST, f"The host is {host[:80]!r}.")
        ours = self._host is None or host == self._host or is_loopback(host)
        if not ours and scope["path"] not in _SUPERVISED:
            raise ProblemError(problems.WRONG_HOST, f"The host is {host[:80]!r}.")

    def _most_bytes(self, headers: Headers) -> int:
        """Return how large the body may be; raise if it says that it is larger."""
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        most = self._running.settings.server_upload_bytes if kind in _UPLOADS else MOST_BYTES
        said = headers.get("content-length", "0")
        if not said.isascii() or not said.isdigit() or int(said[:20]) > most:
            raise ProblemError(
                problems.TOO_LARGE,
                f"The body has more than {most:,} bytes.",
                more={"most_bytes": most},
            )
        return most

    def _told(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path_format", "none")
        method, metrics = scope["method"], self._running.metrics
        metrics.requests.labels(method, route, status).inc()
        metrics.seconds.labels(method, route).observe(seconds)
        asking = scope["state"].get("asking")
        _log.info(
            "request",
            request_id=scope["state"]["request_id"],
            trace_id=scope["state"]["trace_id"],
            method=method,
            path=told_path(scope),
            route=route,
            status=status,
            milliseconds=round(seconds * 1000, 1),
            tenant=asking and asking.caller.tenant,
            user=asking and asking.workspace.user,
        )


def _trace_of(given: str) -> str | None:
    """Return the trace that a request is part of; None if it names none."""
    found = _TRACE.fullmatch(given)
    return None if found is None or (found[1] == "00" and found[3]) else found[2]


def _new_id(size: int) -> str:
    return _CHANCE.randbytes(size).hex()


def _told_of(scope: Scope, raised: ProblemError) -> Response:
    """Return what tells of a problem: a page for a browser, unless pages are what is broken."""
    request = Request(scope)
    if wants_page(request):
        try:
            return problem_page(request, raised)
        except Exception as error:  # noqa: BLE001 - whatever it is: there is the other form
            _log.error("page_failed", error=f"{type(error).__name__}: {error}")
    return problems.answer(request, raised)


def _counting(receive: Receive, most: int) -> Receive:
    """Return what receives a body and refuses it once it is larger than it may be."""
    seen = 0

    async def counting() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > most:
                raise HTTPException(problems.TOO_LARGE.status)
        return message

    return counting

"""Answers that are given again at once: to the same request, while nothing was changed at all.

Who asks, what they may do and what there is are all in the database. As long as no one committed
anything to it, the same token or signed-in browser that asks for the same gets the same, until it
or a role ends.
"""

import secrets
import threading
from collections import OrderedDict
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fastapi import Request
from starlette.responses import Response

from evidentia.times import utc_text

if TYPE_CHECKING:
    from evidentia.server.actions import Asking
    from evidentia.server.requests import App, Receive, Scope, Send
    from evidentia.server.running import Running

State = tuple[int, int]
"""Of a database: another one once it was changed."""
_UNHEARD: Final = frozenset({b"traceparent", b"tracestate"})
"""Headers that no such answer depends on; all others make another request of it."""
_WHO: Final = frozenset({b"authorization", b"cookie"})
_SPACE: Final = 1_000
"""What an answer takes beside its bytes, about."""


class Repeated(NamedTuple):
    """An answer, to whom it was given by which route, and how long it may be given again."""

    response: Response
    asking: "Asking"
    route: Any
    state: State
    since: str
    until: str | None

    def holds(self, running: "Running") -> bool:
        """Whether nothing was changed since, and nothing has ended by itself."""
        opened = running.opened
        if self.state != opened.database.state():
            return False
        now = opened.now()
        return self.since <= now and (self.until is None or now < self.until)


class RepeatedAnswers:
    """Answers by what was asked, of so many bytes in all; the least recently given go first.

    What was asked is kept as a digest, since a token is in it.
    """

    def __init__(self, most_bytes: int = 16 * 2**20) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._key = secrets.token_bytes(32)
        self._kept: OrderedDict[bytes, Repeated] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, running: "Running", scope: "Scope") -> Repeated | None:
        """Return the answer to a request, if it is the same as before."""
        if not self._kept:
            return None
        name = self._name(scope)
        if name is None:
            return None
        with self._lock:
            found = self._kept.get(name)
            if found is None:
                return None
            self._kept.move_to_end(name)
        if not found.holds(running):
            self._drop(name)
            return None
        return found

    def keep(self, scope: "Scope", answer: Repeated) -> None:
        """Keep an answer; `state` must be what it was before anything of it was looked up."""
        name, size = self._name(scope), _size(answer)
        if name is None or size > self._most // 4:
            return
        self._drop(name)
        with self._lock:
            self._kept[name] = answer
            self._bytes += size
            while self._bytes > self._most:
                _, gone = self._kept.popitem(last=False)
                self._bytes -= _size(gone)

    def _drop(self, name: bytes) -> None:
        with self._lock:
            gone = self._kept.pop(name, None)
            if gone is not None:
                self._bytes -= _size(gone)

    def _name(self, scope: "Scope") -> bytes | None:
        """Return all that a request says as a digest; None if it does not say who asks."""
        said = [(name, value) for name, value in scope["headers"] if name not in _UNHEARD]
        if not any(name in _WHO for name, _ in said):
            return None
        asked = scope["path"], scope["query_string"], said
        return blake2b(repr(asked).encode(), key=self._key, digest_size=32).digest()


class Repeating:
    """Wraps an application: what is asked again is answered at once, in no thread, by no route."""

    def __init__(self, app: "App", running: "Running") -> None:
        self._app = app
        self._running = running

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request."""
        found = None
        if scope["type"] == "http" and scope["method"] == "GET":
            found = self._running.repeated.find(self._running, scope)
        if found is None:
            await self._app(scope, receive, send)
            return
        scope["state"]["asking"] = found.asking
        scope["route"] = found.route
        await found.response(scope, receive, send)


class Repeatable(Response):
    """An answer made of the database alone: whoever asks for the same again may have it at once."""


def repeated(request: Request, state: State | None, response: Response) -> Repeated | None:
    """Return how an answer may be given again; None if it may not."""
    asking: Asking | None = getattr(request.state, "asking", None)
    if state is None or asking is None or not isinstance(response, Repeatable):
        return None
    caller, access, opened = asking.caller, asking.access, asking.workspace.opened
    if opened.authorizer is not None or (access is None and caller.user is not None):
        return None
    ends: list[str | None] = []
    if caller.signed_in_until is not None:
        ends.append(utc_text(caller.signed_in_until))
    elif caller.token_id is None:  # a token of a provider, whose end is not known here
        return None
    if access is not None:
        token = access.tokens.get(caller.token_id or "")
        if caller.token_id is not None and token is None:
            return None
        ends += [] if token is None else [token.expires_at]
        ends += [one.expires_at for (user, _), one in access.grants.items() if user == caller.user]
    until = min((one for one in ends if one is not None), default=None)
    return Repeated(response, asking, request.scope.get("route"), state, opened.now(), until)


def _size(answer: Repeated) -> int:
    return len(answer.response.body) + _SPACE

"""What every route goes through: it names its action, and the guard decides before it runs.

A route without an action can't be made. Its function runs in a thread of the bounded pool and gets
a `Workspace` of one tenant in one user's name: whatever it calls there passes the guard again.
"""

from collections.abc import Callable, Coroutine, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial, update_wrapper
from inspect import iscoroutinefunction, signature
from typing import Annotated, Any, Final, TypeVar, get_type_hints

from fastapi import Depends, Request, params
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from evidentia.access.guard import TABLE
from evidentia.errors import AccessError
from evidentia.server import idempotency, problems
from evidentia.server.access_log import is_recorded, recording
from evidentia.server.callers import Caller, address_of, caller_of, count
from evidentia.server.problems import WRONG_TYPE, Problem, ProblemError
from evidentia.server.rates import Limited
from evidentia.server.repeating import repeated
from evidentia.server.running import Running, running_of
from evidentia.workspace import Workspace
from evidentia.workspace.access import Access, permitting
from evidentia.workspace.acting import Acting, Asked

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
Handler = Callable[[Request], Coroutine[Any, Any, Response]]
Who = Callable[[Request, Running], Caller]

_ACTION: Final = "__action__"
_READS: Final = frozenset({"GET", "HEAD"})
_OK: Final = 200
_SHORT_BYTES: Final = 65_536
_FORMS: Final = ("multipart/form-data", "application/x-www-form-urlencoded")
_READABLE: Final = "ledgers.list"
"""A row of the guard's table that takes no more than reading."""
EVERY_ROUTE: Final[tuple[Problem, ...]] = (
    problems.INVALID,
    problems.NOT_SIGNED_IN,
    problems.NOT_ALLOWED,
    problems.NOT_FOUND,
    problems.TOO_MANY,
    problems.INTERNAL,
    problems.DOES_NOT_HOLD,
    problems.UNAVAILABLE,
)
EVERY_WRITE: Final[tuple[Problem, ...]] = (
    problems.REFUSED_INPUT,
    problems.KEY_REUSED,
    problems.CROSS_SITE,
    problems.IN_PROGRESS,
    problems.ANSWER_LOST,
    problems.CONFLICT,
    problems.TOO_LARGE,
    problems.WRONG_TYPE,
)


@dataclass(frozen=True, slots=True)
class Action:
    """What a route does: its row in the guard's table, or why it needs none."""

    row: str | None
    open_because: str = ""
    limited: Limited | None = None
    who: Who = caller_of
    in_steps: bool = False


def acts(
    row: str, *, limited: Limited | None = None, who: Who = caller_of, in_steps: bool = False
) -> Callable[[Endpoint], Endpoint]:
    """Name the action of a route, by its row in the guard's table (`ledgers.get`).

    `limited` counts it against the caller's rate; `who` finds the caller otherwise than by token
    or cookie. `in_steps` says that it commits more than once, and does nothing twice that is there:
    where its server died in between, whoever repeats the request has it gone on with.
    """
    if row not in TABLE:
        raise ValueError(f"{row!r} is no row of the guard's table")
    return partial(_marked, Action(row, limited=limited, who=who, in_steps=in_steps))


def open_to_all(because: str) -> Callable[[Endpoint], Endpoint]:
    """Say why a route needs no one to be signed in."""
    return partial(_marked, Action(None, because))


def signed_in_only(because: str) -> Callable[[Endpoint], Endpoint]:
    """Say why a route takes no action of the guard, but someone who is signed in."""
    return partial(_marked, Action("", because))


def _marked(action: Action, endpoint: Endpoint) -> Endpoint:
    setattr(endpoint, _ACTION, action)
    return endpoint


def action_of(endpoint: Any) -> Action | None:
    """Return the action that a route's function names; None if it names none."""
    found: Action | None = getattr(endpoint, _ACTION, None)
    return found


@dataclass(frozen=True, slots=True)
class Asking:
    """A request of someone: who, with which workspace, under which ids."""

    caller: Caller
    workspace: Workspace
    request_id: str
    trace_id: str
    access: Access | None = None
    """What was known of roles when they asked; None for the owner."""
    once: idempotency.Once | None = None
    """How it is done only once; None if that was not asked for."""

    def foretell(self, answer: idempotency.Foretold) -> None:
        """Say what the answer will be, so that it is committed with the entries it tells of."""
        if self.once is not None:
            self.once.foretell(answer)

    def may_read(self) -> bool:
        """Whether they may read in the tenant at all: else nothing there is shown to be there."""
        try:
            self.workspace.admit(_READABLE)
        except AccessError:
            return False
        return True


async def _asks(request: Request) -> Asking | None:  # async, so that it takes no thread
    """Return who asks; None where the thread that answers finds it out."""
    found: Asking | None = getattr(request.state, "asking", None)
    return found


async def _workspace(request: Request) -> Workspace | None:
    asking = await _asks(request)
    return None if asking is None else asking.workspace


_ASKING: Final = {_asks: "asking", _workspace: "workspace"}
Asks = Annotated[Asking, Depends(_asks)]
"""Who asks, and under which ids."""
Ws = Annotated[Workspace, Depends(_workspace)]
"""The caller's workspace."""


class Pending:
    """A request of which nothing is known yet: who asks is found out by the thread that answers."""

    def __init__(self, request: Request, running: Running, action: Action) -> None:
        self._request, self._running, self._action = request, running, action
        self.decided = False

    def admit(self) -> Asking:
        """Find out who asks, and raise unless they may."""
        self.decided = True
        return _admitted(self._request, self._running, self._action, None)


_PENDING: ContextVar[Pending | None] = ContextVar("pending", default=None)
"""What the thread that answers has to find out first."""


class Admitting:
    """A route's function that first admits whoever asks, and writes down what it returns."""

    def __init__(self, endpoint: Callable[..., Any], given: Mapping[str, str]) -> None:
        self._endpoint = endpoint
        self._given = given
        self.status_code = _OK
        update_wrapper(self, endpoint)

    @classmethod
    def of(cls, endpoint: Callable[..., Any]) -> "Admitting | None":
        """Return a function that does so; None if it is none for a thread, or needs it earlier."""
        found = signature(endpoint)
        hints = get_type_hints(endpoint, include_extras=True)
        depends = {
            name: one.dependency
            for name, hint in hints.items()
            for one in getattr(hint, "__metadata__", ())
            if isinstance(one, params.Depends) and name in found.parameters
        }
        if iscoroutinefunction(endpoint) or any(
            _needs_asking(one) for one in depends.values() if one not in _ASKING
        ):
            return None
        given = {name: _ASKING[one] for name, one in depends.items() if one in _ASKING}
        return cls(endpoint, given)

    def __call__(self, **named: Any) -> Any:
        """Answer, in a thread."""
        pending = _PENDING.get()
        if pending is not None:
            asking = pending.admit()
            for name, part in self._given.items():
                named[name] = asking.workspace if part == "workspace" else asking
        result = self._endpoint(**named)
        if not isinstance(result, BaseModel) or any(
            isinstance(one, Response) for one in named.values()
        ):
            return result
        return Response(
            result.__pydantic_serializer__.to_json(result, by_alias=True),
            self.status_code,
            media_type="application/json",
        )


def _needs_asking(dependency: Callable[..., Any] | None) -> bool:
    """Whether what a route depends on needs to know who asks, which is not known yet."""
    hints = get_type_hints(dependency, include_extras=True) if dependency else {}
    return any(
        one.dependency in _ASKING or _needs_asking(one.dependency)
        for hint in hints.values()
        for one in getattr(hint, "__metadata__", ())
        if isinstance(one, params.Depends)
    )


class GuardedRoute(APIRoute):
    """A route with an action. The order: who asks, what they may do, limits, body, the route."""

    head = ""
    """How its address begins, where that is known: what begins otherwise needs no closer look."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **named: Any) -> None:
        action = action_of(endpoint)
        if action is None:
            raise TypeError(f"{path}: {endpoint.__name__} names no action: see server.actions.acts")
        self.action = action
        writes = not set(named.get("methods") or ("GET",)) <= _READS
        said = _documented(action, writes=writes)
        named["responses"] = _merged(said, named.get("responses") or {})
        extra: dict[str, Any] = {"x-action": action.row or "none"}
        if action.row is not None:
            extra["security"] = [{"token": []}, {"cookie": []}]
        if writes and action.row is not None:
            extra["parameters"] = [idempotency.PARAMETER]
        named["openapi_extra"] = {**extra, **(named.get("openapi_extra") or {})}
        named["generate_unique_id_function"] = _operation_id
        self.admitting = Admitting.of(endpoint) if action.row is not None else None
        super().__init__(path, self.admitting or endpoint, **named)
        if self.admitting is not None:
            self.admitting.status_code = self.status_code or _OK

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is for this route."""
        if not scope["path"].startswith(self.head):
            return Match.NONE, {}
        return super().matches(scope)

    def get_route_handler(self) -> Handler:
        """Return what answers a request."""
        answer, action = super().get_route_handler(), self.action
        if action.row is None:
            return answer
        if action.limited is not None and not iscoroutinefunction(self.endpoint):
            answer = _in_turn(answer)

        async def guarded(request: Request) -> Response:
            once = idempotency.asked_for(request)
            if once is None and self.admitting is not None and _is_short(request):
                return await self._at_once(request, answer)
            running = running_of(request)
            asking = await run_in_threadpool(_admitted, request, running, action, once)
            self._refuse_type(request)
            if once is None:
                return await answer(request)
            once.goes_on = action.in_steps
            return await once.answered(request, running, asking.caller, answer)

        return recording(action.row, guarded) if action.row else guarded

    async def _at_once(self, request: Request, answer: Handler) -> Response:
        """Answer in one thread: who asks is found out where the route runs.

        Whatever is wrong with a request, who may not ask is told that alone.
        """
        running, action = running_of(request), self.action
        state = running.opened.database.state() if self._may_be_repeated else None
        pending = Pending(request, running, action)
        mark = _PENDING.set(pending)
        try:
            self._refuse_type(request)
            response = await answer(request)
        except Exception:
            if not pending.decided:
                await run_in_threadpool(pending.admit)
            raise
        finally:
            _PENDING.reset(mark)
        kept = repeated(request, state, response)
        if kept is not None:
            running.repeated.keep(request.scope, kept)
        return response

    @property
    def _may_be_repeated(self) -> bool:
        """Whether the same may be answered again: no one counts or records that it was asked."""
        row, reads = self.action.row, set(self.methods or ()) <= _READS
        return reads and bool(row) and not (is_recorded(row or "") or self.action.limited)

    def _refuse_type(self, request: Request) -> None:
        """Raise for a body of a type that the route does not read."""
        body = getattr(self, "body_field", None)
        given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if body is None or request.headers.get("content-length") == "0":
            return
        packed = request.headers.get("content-encoding", "identity").strip().lower()
        if packed != "identity":  # its size is not known before it is unpacked
            raise ProblemError(WRONG_TYPE, f"The body is packed ({packed[:80]!r}): send it plain.")
        if isinstance(body.field_info, params.Form):
            good = given in ("multipart/form-data", "application/x-www-form-urlencoded")
        else:
            good = given == "application/json" or given.endswith("+json")
        if not good:
            raise ProblemError(WRONG_TYPE, f"The body's type is {given[:80] or 'not said'!r}.")


def _in_turn(answer: Handler) -> Handler:
    """Return a handler of what may take long: it waits where that has half of the threads."""

    async def waiting(request: Request) -> Response:
        async with running_of(request).long_work:
            return await answer(request)

    return waiting


def _is_short(request: Request) -> bool:
    """Whether a body may be read before it is known who asks."""
    said = request.headers.get("content-length")
    if said is None:
        return request.method in _READS
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return said.isdigit() and int(said[:20]) <= _SHORT_BYTES and kind not in _FORMS


def _operation_id(route: APIRoute) -> str:
    return route.name


def _admitted(
    request: Request, running: Running, action: Action, once: "idempotency.Once | None"
) -> Asking:
    """Find out who asks, and raise unless they may; in a thread, since the trail is read."""
    caller = action.who(request, running)
    asked = Asked(scopes=caller.scopes, access=_access(running, caller))
    if once is not None:
        named = once.named(caller)
        within = once.claiming(named, running.opened.now())
        asked = replace(asked, within=within, behind=once.answering(named))
    workspace = running.opened.for_(caller.tenant, caller.user, asked)
    state = request.state
    ids = state.request_id, state.trace_id
    asking = Asking(caller, workspace, *ids, access=asked.access, once=once)
    state.asking = asking
    if action.row:
        workspace.admit(action.row)
    if action.limited is not None:
        count(running, action.limited, caller.counted_as)
        count(running, action.limited, address_of(request))
    return asking


def _access(running: Running, caller: Caller) -> Access | None:
    """Return what is known of roles; of who came with a token it was looked up just now."""
    if caller.user is None:
        return None
    known = running.opened.roles.get(caller.tenant) if caller.token_id is not None else None
    return known or permitting(Acting(running.opened, caller.tenant, None))


def _documented(action: Action, *, writes: bool) -> dict[int | str, dict[str, Any]]:
    if action.row is None:
        return problems.documented(problems.INVALID, problems.INTERNAL)
    return problems.documented(*EVERY_ROUTE, *(EVERY_WRITE if writes else ()))


def _merged(
    said: dict[int | str, dict[str, Any]], more: Mapping[int | str, dict[str, Any]]
) -> dict[int | str, dict[str, Any]]:
    """Return what is said of answers, with what a route adds; of one status, both."""
    merged = dict(said)
    for status, one in more.items():
        there, media = merged.get(status), problems.MEDIA_TYPE
        if there is not None and media in one.get("content", {}):
            examples = there["content"][media]["examples"]
            examples |= one["content"][media]["examples"]
            there["description"] += f"; {one['description']}"
        else:
            merged[status] = one
    return merged

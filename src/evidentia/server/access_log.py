"""The access log: which requests are recorded in the trail, before their answers leave.

Recorded are every read and every act about one pack, every export, every refusal, every sign-in.
What changes roles, tokens and keys has its own entry. Who is not signed in is only counted.
"""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from evidentia.access.guard import TABLE, On
from evidentia.errors import AccessError, NotFoundError, UndecidedError
from evidentia.server.callers import Caller, ElsewhereError, count
from evidentia.server.links import told_path
from evidentia.server.rates import Limited
from evidentia.server.running import Running, running_of
from evidentia.workspace.requests import AskedRequest, Outcome, record_request

if TYPE_CHECKING:
    from evidentia.server.actions import Asking

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
_FIRST_ERROR = 400


def is_recorded(row: str) -> bool:
    """Whether what is done by a row of the guard's table is recorded, if it is done."""
    return TABLE[row].on is On.PACK or row.endswith(".export")


def recording(row: str, handler: Handler) -> Handler:
    """Return a handler that records what is asked of another, and how that came out."""

    async def recorded(request: Request) -> Response:
        try:
            response = await handler(request)
        except UndecidedError:  # no one said no: the log has it, and not the trail, for good
            raise
        except AccessError:
            await run_in_threadpool(_record, request, row, "refused")
            raise
        except ElsewhereError as error:
            await run_in_threadpool(_record, request, row, "refused", error.caller)
            raise
        except NotFoundError:
            if TABLE[row].on is On.PACK:  # it may be one that they may not see
                await run_in_threadpool(_record, request, row, "not_found")
            raise
        if is_recorded(row) and response.status_code < _FIRST_ERROR:
            await run_in_threadpool(_record, request, row, "done")
        return response

    return recorded


def record_sign_in(
    request: Request, running: Running, user: str | None, tenant: str | None = None
) -> None:
    """Record that someone signed in with a browser; the owner's begins the log."""
    state, tenant = request.state, tenant or running.settings.tenant
    asked = AskedRequest("sign_in", "done", request.url.path, state.request_id, state.trace_id)
    record_request(running.opened, tenant, user, asked, begins=user is None)


def _record(request: Request, row: str, outcome: Outcome, caller: Caller | None = None) -> None:
    state, running = request.state, running_of(request)
    asking: Asking | None = getattr(state, "asking", None)
    caller = asking.caller if asking else caller
    if caller is None:
        return
    if outcome != "done":
        count(running, Limited.REFUSED, caller.counted_as)
    asked = AskedRequest(
        row, outcome, told_path(request.scope), state.request_id, state.trace_id, caller.token_id
    )
    record_request(running.opened, caller.tenant, caller.user, asked)

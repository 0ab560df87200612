"""Signing in with a browser: the owner's link, which is good once, and signing out."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evidentia.server.access_log import record_sign_in
from evidentia.server.actions import GuardedRoute, open_to_all, signed_in_only
from evidentia.server.callers import address_of, count, sign_in, sign_out
from evidentia.server.problems import NOT_SIGNED_IN, ProblemError, documented
from evidentia.server.rates import Limited
from evidentia.server.running import running_of

router = APIRouter(route_class=GuardedRoute, tags=["signing in"])


@router.get(
    "/sign-in",
    summary="Sign in by the link that the server printed",
    status_code=303,
    responses=documented(NOT_SIGNED_IN),
)
@open_to_all("who signs in is not signed in yet")
async def sign_in_by_link(
    request: Request, token: Annotated[str, Query(max_length=200, description="The link's secret.")]
) -> Response:
    """Sign the owner of an embedded workspace in. The link is good once."""
    running = running_of(request)
    count(running, Limited.SIGN_IN, address_of(request))
    if running.sign_in is None or not running.sign_in.spend(token):
        raise ProblemError(
            NOT_SIGNED_IN, "The link was used, or is another server's: start the server again."
        )
    response = RedirectResponse("/", status_code=303)
    sign_in(response, running, None)
    await run_in_threadpool(record_sign_in, request, running, None)
    return response


@router.post("/sign-out", summary="Sign out", status_code=204)
@signed_in_only("everyone may leave")
async def sign_out_of_browser(request: Request) -> Response:
    """Take the browser's cookie back."""
    response = Response(status_code=204)
    sign_out(response, running_of(request))
    return response

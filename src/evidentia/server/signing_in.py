"""Signing in with a browser: the owner's link, which is good once, and signing out."""

import secrets
from typing import Annotated, Final

from fastapi import APIRouter, Form, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from evidentia.server.access_log import record_sign_in
from evidentia.server.actions import GuardedRoute, open_to_all, signed_in_only
from evidentia.server.callers import (
    address_of,
    count,
    refuse_cross_site,
    sign_in,
    sign_in_by_token,
    sign_out,
)
from evidentia.server.links import address
from evidentia.server.oidc import SigningIn
from evidentia.server.problems import (
    NOT_FOUND,
    NOT_SIGNED_IN,
    TOO_MANY,
    UNAVAILABLE,
    ProblemError,
    documented,
    not_found,
)
from evidentia.server.rates import Limited
from evidentia.server.running import Running, running_of
from evidentia.server.viewing import local, sign_in_page, wants_page

_WENT: Final = "evidentia_signing_in"
_WENT_SECONDS: Final = 600

router = APIRouter(route_class=GuardedRoute, tags=["signing in"])


@router.get(
    "/sign-in",
    summary="Sign in by the link that the server printed",
    status_code=303,
    responses=documented(NOT_SIGNED_IN),
)
@open_to_all("who signs in is not signed in yet")
async def sign_in_by_link(
    request: Request,
    token: Annotated[str | None, Query(max_length=200, description="The link's secret.")] = None,
) -> Response:
    """Sign the owner of an embedded workspace in. The link is good once.

    Without a secret, a browser gets the page on which to sign in.
    """
    running = running_of(request)
    if token is None and wants_page(request):
        return await run_in_threadpool(sign_in_page, request)
    if token is None:
        raise ProblemError(NOT_SIGNED_IN, "Open the link that the server printed, or send a token.")
    count(running, Limited.SIGN_IN, address_of(request))
    if running.sign_in is None or not running.sign_in.spend(token):
        raise ProblemError(
            NOT_SIGNED_IN, "The link was used, or is another server's: start the server again."
        )
    response = RedirectResponse("/", status_code=303)
    sign_in(response, running, None)
    await run_in_threadpool(record_sign_in, request, running, None)
    return response


@router.post(
    "/sign-in/token",
    summary="Sign in a browser with a token",
    status_code=303,
    responses=documented(NOT_SIGNED_IN, TOO_MANY),
    include_in_schema=False,
)
@open_to_all("who signs in is not signed in yet")
def sign_in_with_token(
    request: Request,
    token: Annotated[str, Form(max_length=400)],
    back: Annotated[str, Form(max_length=2_000)] = "/",
) -> Response:
    """Sign in the user of a token, until it ends or is revoked.

    A page of another site may not: whoever it lured would go on in the name of someone else.
    """
    running = running_of(request)
    refuse_cross_site(request, running)
    count(running, Limited.SIGN_IN, address_of(request))
    response = RedirectResponse(local(back), status_code=303)
    caller = sign_in_by_token(response, running, token)
    if caller is None:
        raise ProblemError(NOT_SIGNED_IN, "The token is unknown, was revoked, or has ended.")
    record_sign_in(request, running, caller.user, caller.tenant)
    return response


@router.get(
    "/sign-in/oidc",
    summary="Go to the OpenID provider to sign in",
    status_code=303,
    responses=documented(NOT_FOUND, TOO_MANY, UNAVAILABLE),
)
@open_to_all("who signs in is not signed in yet")
def go_to_provider(request: Request) -> Response:
    """Send a browser to the provider that the operator named; it comes back with a code."""
    running = running_of(request)
    if running.provider is None:
        raise not_found()
    count(running, Limited.SIGN_IN, address_of(request))
    url, went = running.provider.begin(_callback(request, running))
    response = RedirectResponse(url, status_code=303)
    response.set_cookie(
        _WENT,
        running.signed("signing in", [went.state, went.nonce, went.verifier]),
        max_age=_WENT_SECONDS,
        path="/sign-in/oidc",
        httponly=True,
        samesite="lax",  # the browser comes back from another site
        secure=running.is_https,
    )
    return response


@router.get(
    "/sign-in/oidc/callback",
    summary="Come back from the OpenID provider",
    response_class=Response,
    responses={
        200: {"description": "Signed in.", "content": {"text/plain": {"example": "Signed in."}}},
        **documented(NOT_SIGNED_IN, NOT_FOUND, TOO_MANY, UNAVAILABLE),
    },
)
@open_to_all("who signs in is not signed in yet")
def come_back(
    request: Request,
    state: Annotated[str, Query(max_length=200, description="What the browser left with.")] = "",
    code: Annotated[str, Query(max_length=2_000, description="The provider's code.")] = "",
) -> Response:
    """Sign in whom the provider vouches for. What they may do is what grants say."""
    running = running_of(request)
    if running.provider is None:
        raise not_found()
    count(running, Limited.SIGN_IN, address_of(request))
    left = running.unsigned("signing in", request.cookies.get(_WENT, ""), seconds=_WENT_SECONDS)
    went = SigningIn(*left) if left else None
    user = None
    if went is not None and code and secrets.compare_digest(went.state.encode(), state.encode()):
        user = running.provider.finish(_callback(request, running), code, went)
    if user is None:
        raise ProblemError(NOT_SIGNED_IN, "The provider does not vouch for you: sign in again.")
    # No redirect: a cookie for this site alone is not sent where one from another site leads.
    response = Response("Signed in.", headers={"refresh": "0; url=/"}, media_type="text/plain")
    sign_in(response, running, user)
    response.delete_cookie(_WENT, path="/sign-in/oidc", httponly=True, samesite="lax")
    record_sign_in(request, running, user)
    return response


def _callback(request: Request, running: Running) -> str:
    return address(running, request, "/sign-in/oidc/callback")


@router.post("/sign-out", summary="Sign out", status_code=204)
@signed_in_only("everyone may leave")
async def sign_out_of_browser(request: Request) -> Response:
    """Take the browser's cookie back."""
    response = Response(status_code=204)
    if wants_page(request):
        response = RedirectResponse("/sign-in", status_code=303)
    sign_out(response, running_of(request))
    return response

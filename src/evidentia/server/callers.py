"""Who asks: the token, the cookie or the link of a request, and whose they are.

A caller is a user in a tenant. What they may do is never in what they send: it is what the grants
in the trail say, within the scopes of a token.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from fastapi import Request
from starlette.responses import Response

from evidentia.access.actions import Action
from evidentia.errors import InputError
from evidentia.server.problems import (
    CROSS_SITE,
    NOT_SIGNED_IN,
    TOO_MANY,
    ProblemError,
    not_found,
)
from evidentia.server.rates import Limited
from evidentia.server.running import Running
from evidentia.trail.entry import check_tenant
from evidentia.workspace.tokens import holder, live

COOKIE: Final = "evidentia"
HTTPS_COOKIE: Final = "__Host-evidentia"
"""A browser takes a cookie of such a name from this host alone, and by HTTPS alone."""
TENANT_HEADER: Final = "evidentia-tenant"
_SIGNED_IN_SECONDS: Final = 12 * 3600
_DOTS: Final = 2
"""In a JSON Web Token: of others the provider is not asked."""
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, in which tenant; `user` is None for the owner of an embedded workspace."""

    tenant: str
    user: str | None
    scopes: frozenset[Action] | None = None
    token_id: str | None = None
    signed_in_until: datetime | None = None
    """When their browser is no longer signed in; None of who came with a token."""

    @property
    def counted_as(self) -> str:
        """Under which name what they do is counted."""
        return f"{self.tenant}/{self.token_id or self.user or ''}"


class ElsewhereError(ProblemError):
    """Ends a request about another tenant than the caller's: told as of what is not there.

    It is recorded as refused in the log of the caller's own tenant.
    """

    def __init__(self, caller: Caller | None = None) -> None:
        unseen = not_found()
        super().__init__(unseen.problem, unseen.detail)
        self.caller = caller


def caller_of(request: Request, running: Running) -> Caller:
    """Return who asks; raise if no one does, or too many were tried."""
    given = request.headers.get("authorization")
    found = _by_token(running, given) if given else _by_cookie(request, running)
    if found is None:
        running.metrics.not_signed_in.inc()
        if given:
            count(running, Limited.SIGN_IN, address_of(request))
        raise ProblemError(NOT_SIGNED_IN, _what_to_do(given))
    asked = request.headers.get(TENANT_HEADER)
    if asked is not None and asked != found.tenant:
        if found.token_id is not None:  # a token is of one tenant
            raise ElsewhereError(found)
        try:
            return replace(found, tenant=check_tenant(asked), scopes=None)
        except InputError:
            raise not_found() from None
    return found


def count(running: Running, what: Limited, who: str) -> None:
    """Count what is limited; raise if it was done too often."""
    wait = running.rates.take(what, who)
    if wait is not None:
        raise ProblemError(
            TOO_MANY, f"Try again in {wait} seconds.", headers={"retry-after": str(wait)}
        )


def address_of(request: Request) -> str:
    """Return where a request comes from."""
    return request.client.host if request.client else ""


def cookie_of(running: Running) -> str:
    """Return what the cookie of who signed in is called."""
    return HTTPS_COOKIE if running.is_https else COOKIE


def sign_in(response: Response, running: Running, user: str | None) -> None:
    """Give a browser the cookie of a user; the owner's ends with this server."""
    value = running.signed("cookie", [user, running.started if user is None else ""])
    response.set_cookie(
        cookie_of(running),
        value,
        max_age=_SIGNED_IN_SECONDS,
        httponly=True,
        samesite="strict",
        secure=running.is_https,
    )


def sign_in_by_token(response: Response, running: Running, text: str) -> Caller | None:
    """Give a browser the cookie of a token, with which it ends; None if it is no token."""
    token = holder(running.opened, text.strip())
    if token is None:
        return None
    response.set_cookie(
        cookie_of(running),
        running.signed("cookie", ["token", token.tenant, token.token_id]),
        max_age=_SIGNED_IN_SECONDS,
        httponly=True,
        samesite="strict",
        secure=running.is_https,
    )
    return Caller(token.tenant, token.user, token.scopes, token.token_id)


def sign_out(response: Response, running: Running) -> None:
    """Take the cookie back."""
    name = cookie_of(running)
    response.delete_cookie(name, httponly=True, samesite="strict", secure=running.is_https)


def _by_token(running: Running, given: str) -> Caller | None:
    scheme, _, text = given.partition(" ")
    if scheme.lower() != "bearer":
        return None
    token = holder(running.opened, text.strip())
    if token is not None:
        return Caller(token.tenant, token.user, token.scopes, token.token_id)
    if running.provider is None or text.count(".") != _DOTS:
        return None
    user = running.provider.user_of(text.strip())
    return None if user is None else Caller(running.settings.tenant, user)


def _by_cookie(request: Request, running: Running) -> Caller | None:
    given = request.cookies.get(cookie_of(running))
    if given is None:
        return None
    match running.unsigned("cookie", given, seconds=_SIGNED_IN_SECONDS):
        case [None, str(started)] if started == running.started:
            found = Caller(running.settings.tenant, None)
        case ["token", str(tenant), str(token_id)]:
            token = live(running.opened, tenant, token_id)
            if token is None:
                return None
            found = Caller(tenant, token.user, token.scopes, token_id)
        case [str(user), ""]:
            found = Caller(running.settings.tenant, user)
        case _:
            return None
    refuse_cross_site(request, running)
    begun = running.signed_at("cookie", given)
    return replace(found, signed_in_until=begun + timedelta(seconds=_SIGNED_IN_SECONDS))


def refuse_cross_site(request: Request, running: Running) -> None:
    """Raise for a request that a page of another site had a browser send."""
    if request.method in _SAFE:
        return
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        same = site in ("same-origin", "none")
    else:  # an older browser, or plain HTTP in a local network
        origin = request.headers.get("origin")
        here = running.settings.server_url or f"{request.url.scheme}://{request.url.netloc}"
        same = origin is None or origin == here
    if not same:
        raise ProblemError(CROSS_SITE, "This request came from another web page.")


def _what_to_do(given: str | None) -> str:
    if given is None:
        return "Send a token as 'Authorization: Bearer TOKEN', or sign in."
    return "The token is unknown, was revoked, or has ended."

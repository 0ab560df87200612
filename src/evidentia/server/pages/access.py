"""Access: members and their roles, the tokens of programs, and what was asked of the server."""

from typing import Annotated, Final

from fastapi import APIRouter, Form, Query, Request
from fastapi import Path as PathField
from starlette.responses import Response

from evidentia.access.actions import Action, Role
from evidentia.errors import InputError
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.idempotency import ShownOnce
from evidentia.server.running import running_of
from evidentia.server.translating import N_
from evidentia.server.viewing import leads_to, may, shown
from evidentia.workspace import Workspace
from evidentia.workspace.requests import as_json
from evidentia.workspace.tokens import NewToken

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

_LISTED: Final = 50
_USER: Final = 1_000
Ends = Annotated[str, Form(max_length=40)]


@router.get("/access")
@acts("access.grants")
def members_page(workspace: Ws, request: Request) -> Response:
    """Show who has which role."""
    return _members(workspace, request)


@router.post("/access/members")
@acts("access.grant")
def grant_on_page(
    workspace: Ws,
    request: Request,
    *,
    user: Annotated[str, Form(max_length=_USER)],
    role: Annotated[Role, Form()],
    expires_at: Ends = "",
) -> Response:
    """Give a user a role."""
    try:
        workspace.access.grant(user.strip(), role, expires_at=ends_of(expires_at))
    except InputError as error:
        given = {"user": user, "role": role.value, "expires_at": expires_at}
        return _members(workspace, request, error=str(error), given=given)
    return leads_to(request, "/access", N_("The role was given."))


@router.post("/access/members/revoke")
@acts("access.revoke")
def revoke_on_page(
    workspace: Ws,
    request: Request,
    user: Annotated[str, Form(max_length=_USER)],
    role: Annotated[Role, Form()],
) -> Response:
    """Take a role away from a user."""
    workspace.access.revoke(user, role)
    return leads_to(request, "/access", N_("The role was taken away."))


@router.get("/access/tokens")
@acts("access.tokens")
def tokens_page(workspace: Ws, request: Request) -> Response:
    """Show the tokens of programs; their secrets are kept nowhere."""
    return _tokens(workspace, request)


@router.post("/access/tokens")
@acts("access.new_token")
def make_token_on_page(
    workspace: Ws,
    request: Request,
    *,
    user: Annotated[str, Form(max_length=_USER)],
    name: Annotated[str, Form(max_length=200)] = "",
    scopes: Annotated[list[Action] | None, Form(max_length=50)] = None,
    expires_at: Ends = "",
) -> Response:
    """Make a token, and show its secret: on this page, once."""
    try:
        made = workspace.access.new_token(
            user.strip(), name=name.strip(), scopes=scopes or None, expires_at=ends_of(expires_at)
        )
    except InputError as error:
        given = {"user": user, "name": name, "expires_at": expires_at}
        return _tokens(workspace, request, error=str(error), given=given)
    return ShownOnce(_tokens(workspace, request, made=made), _tokens(workspace, request))


@router.post("/access/tokens/{token_id}/revoke")
@acts("access.revoke_token")
def revoke_token_on_page(
    token_id: Annotated[str, PathField(max_length=100)], workspace: Ws, request: Request
) -> Response:
    """Revoke a token."""
    workspace.access.revoke_token(token_id)
    return leads_to(request, "/access/tokens", N_("The token opens nothing any more."))


@router.get("/access/log")
@acts("access.requests")
def access_log_page(
    workspace: Ws,
    request: Request,
    before: Annotated[int | None, Query(ge=0, le=2**53)] = None,
) -> Response:
    """Show what was asked of the server and is recorded, the newest first."""
    found = workspace.access.requests(before=before, limit=_LISTED + 1)
    more = len(found) > _LISTED
    return shown(
        request,
        "access/log.html",
        tabs=_tabs(workspace, "log"),
        requests=[as_json(one) for one in found[:_LISTED]],
        before=before,
        older=found[_LISTED - 1].entry.seq if more else None,
    )


def ends_of(given: str) -> str | None:
    """Return when something ends that a form gives as a day: with that day, in UTC."""
    return f"{given}T23:59:59Z" if given else None


def _members(
    workspace: Workspace,
    request: Request,
    *,
    error: str | None = None,
    given: dict[str, str] | None = None,
) -> Response:
    return shown(
        request,
        "access/members.html",
        status=200 if error is None else 422,
        tabs=_tabs(workspace, "members"),
        grants=sorted(workspace.access.grants(), key=lambda one: (one.user, one.role)),
        now=running_of(request).opened.now(),
        roles=[one.value for one in Role],
        may_grant=may(workspace, "access.grant"),
        error=error,
        given=given or {"user": "", "role": "viewer", "expires_at": ""},
    )


def _tokens(
    workspace: Workspace,
    request: Request,
    *,
    error: str | None = None,
    given: dict[str, str] | None = None,
    made: NewToken | None = None,
) -> Response:
    return shown(
        request,
        "access/tokens.html",
        status=200 if error is None else 422,
        tabs=_tabs(workspace, "tokens"),
        tokens=workspace.access.tokens(),
        now=running_of(request).opened.now(),
        scopes=[one.value for one in Action],
        may_grant=may(workspace, "access.new_token"),
        error=error,
        given=given or {"user": "", "name": "", "expires_at": ""},
        made=made,
    )


def _tabs(workspace: Workspace, current: str) -> list[tuple[str, str, bool]]:
    """Return the tabs of the page, each that the reader may open."""
    every = [
        ("/access", N_("Members"), current == "members"),
        ("/access/tokens", N_("Tokens"), current == "tokens"),
    ]
    if may(workspace, "access.requests"):
        every.append(("/access/log", N_("Access log"), current == "log"))
    return every

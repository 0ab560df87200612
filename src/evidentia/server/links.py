"""Links to downloads: signed, of one tenant and one user, and good for a while.

A link is asked as its user asks: what they may no longer do, and what is no longer there, it does
not open. One that was made with a token ends with that token, too.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from fastapi import Request

from evidentia.access.actions import Action
from evidentia.server.callers import Caller
from evidentia.server.problems import EXPIRED, ProblemError, not_found
from evidentia.server.running import Running
from evidentia.times import utc_text
from evidentia.workspace.tokens import live

SECONDS: Final = 15 * 60
_PURPOSE: Final = "download"
_NAMES: Final = ("link", "pack_link")
"""What links are called in the paths of routes."""


class Link(NamedTuple):
    """What a link leads to: a thing and a form of it, for someone, until a time."""

    of: str
    form: str
    caller: Caller
    expires_at: str


def new_link(running: Running, caller: Caller, of: str, form: str) -> tuple[str, str]:
    """Return a link's text, and when it ends."""
    now = datetime.fromisoformat(running.opened.now())
    ends = utc_text(now + timedelta(seconds=SECONDS))
    scopes = None if caller.scopes is None else sorted(caller.scopes)
    value = [of, form, caller.tenant, caller.user, scopes, caller.token_id, ends]
    return running.signed(_PURPOSE, value), ends


def read_link(running: Running, text: str) -> Link:
    """Return what a link leads to; raise if it is none of ours, or has ended."""
    match running.unsigned(_PURPOSE, text):
        case [str(of), str(form), str(tenant), user, scopes, token_id, str(ends)]:
            narrowed = None if scopes is None else frozenset(map(Action, scopes))
            caller = Caller(tenant, user, narrowed, token_id)
        case _:
            raise not_found()
    if ends <= running.opened.now():
        raise ProblemError(EXPIRED, f"It ended at {ends}.")
    if token_id is not None and not live(running.opened, tenant, token_id):
        raise not_found()
    return Link(of, form, caller, ends)


def caller_of_link(request: Request, running: Running) -> Caller:
    """Return in whose name a link is asked for; `link` of the path is its text."""
    return read_link(running, request.path_params["link"]).caller


def told_path(scope: Mapping[str, Any]) -> str:
    """Return the path of a request as it may be written down: what opens something is left out.

    A link is without its signature then, and still says what it led to.
    """
    path: str = scope["path"]
    given = scope.get("path_params", {})
    for link in (str(given[name]) for name in _NAMES if name in given):
        path = path.replace(link, link.rpartition(".")[0])
    return path


def address(running: Running, request: Request, path: str) -> str:
    """Return the whole address of a path, as others reach this server."""
    return f"{running.settings.server_url or str(request.base_url).rstrip('/')}{path}"

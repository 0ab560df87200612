"""The start: what needs attention, and the latest answers."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.viewing import shown

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)


@router.get("/")
@acts("ledgers.list")
def start_page(workspace: Ws, request: Request) -> Response:
    """Show what needs attention."""
    return shown(request, "start/start.html", answers=workspace.ledgers.list(limit=8))

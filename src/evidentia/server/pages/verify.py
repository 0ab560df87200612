"""Verifying a file in the browser: the page to drop it on, and the same page to be saved."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from evidentia.export.html.pages import saved_page
from evidentia.server.actions import GuardedRoute, open_to_all, signed_in_only
from evidentia.server.viewing import shown

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)


@router.get("/verify")
@signed_in_only("the page has nothing of anyone's in it; others have the one that is saved")
def verify_page(request: Request) -> Response:
    """Show the page to drop a file on. The file does not leave the reader's browser."""
    return shown(request, "verify/verify.html")


@router.get("/verify/page.html")
@open_to_all("whoever has a file may verify it; the page is the same for everyone")
def saved_verify_page() -> Response:
    """Give the page as one file that works without a network."""
    return Response(
        saved_page(),
        media_type="text/html; charset=utf-8",
        headers={"content-disposition": 'attachment; filename="evidentia-verify.html"'},
    )

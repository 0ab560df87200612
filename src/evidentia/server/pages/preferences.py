"""What is the same for all pages: their styles and scripts, and how a reader wants them."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from evidentia.server.actions import GuardedRoute, open_to_all
from evidentia.server.assets import PREFIX, assets
from evidentia.server.problems import not_found
from evidentia.server.running import running_of
from evidentia.server.viewing import LANGUAGE_COOKIE, THEME_COOKIE, local

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

_YEAR: Final = 365 * 24 * 3600


@router.get(PREFIX + "/{version}/{name:path}")
@open_to_all("styles and scripts have nothing of anyone's in them")
async def static_file(version: str, name: str, request: Request) -> Response:
    """Give a style or script; one of this version may be kept for good."""
    known = assets()
    found = known.by_name.get(name)
    if found is None:
        raise not_found()
    is_current = version == known.version
    headers = {
        "cache-control": f"public, max-age={_YEAR}, immutable" if is_current else "no-cache",
        "vary": "accept-encoding",
    }
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
        return Response(found.small, headers=headers, media_type=found.media_type)
    return Response(found.plain, headers=headers, media_type=found.media_type)


@router.get("/favicon.ico")
@open_to_all("browsers ask for it by themselves")
async def favicon(request: Request) -> Response:
    """Give the sign of the product."""
    return await static_file(assets().version, "mark.svg", request)


@router.post("/preferences")
@open_to_all("it changes what the reader's own browser sends, and nothing here")
async def set_preferences(
    request: Request,
    back: Annotated[str, Form(max_length=2_000)] = "/",
    lang: Annotated[Literal["en", "ar"] | None, Form()] = None,
    theme: Annotated[Literal["auto", "light", "dark"] | None, Form()] = None,
) -> Response:
    """Keep a reader's language and theme in cookies, and go back to where they were."""
    response = Response(status_code=303, headers={"location": local(back)})
    for name, value in ((LANGUAGE_COOKIE, lang), (THEME_COOKIE, theme)):
        if value is not None:
            response.set_cookie(
                name,
                value,
                max_age=_YEAR,
                httponly=True,
                samesite="lax",
                secure=running_of(request).is_https,
            )
    return response

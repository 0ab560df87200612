"""Pages of long lists: a cursor that says where the next one begins, in the header `Link`."""

import base64
import binascii
import json
from typing import Annotated, Final, Literal, NamedTuple, TypedDict

from fastapi import Depends, Query, Request, Response

from evidentia.errors import InputError

MOST: Final = 1_000
_FEW: Final = 50
_MOST_LETTERS: Final = 200

Cursor = Annotated[
    str | None,
    Query(
        max_length=_MOST_LETTERS,
        description="Where the page begins: a cursor of a `Link` header, as it stands there.",
    ),
]


class Page(NamedTuple):
    """Which page of a list is asked for: how long, and after which place; None is the first."""

    limit: int
    after: int | None


async def _asked(  # so that it takes no thread
    limit: Annotated[
        int, Query(ge=1, le=MOST, description="How many at most; the rest is on further pages.")
    ] = _FEW,
    cursor: Cursor = None,
) -> Page:
    return Page(limit, None if cursor is None else place_of(cursor))


Paged = Annotated[Page, Depends(_asked)]
"""The page that a request asks for."""
Order = Annotated[Literal["newest", "oldest"], Query(description="Which come first.")]


class Span(TypedDict):
    """Which entries a page begins behind, as the parts of a workspace are asked."""

    before: int | None
    after: int | None
    oldest_first: bool


def span(page: Page, order: str) -> Span:
    """Return where a page of what is listed by its entries begins."""
    oldest = order == "oldest"
    before, after = (None, page.after) if oldest else (page.after, None)
    return Span(before=before, after=after, oldest_first=oldest)


def cursor_of(place: int) -> str:
    """Return the cursor of a place in a list: text that means nothing to who gets it."""
    return base64.urlsafe_b64encode(json.dumps([1, place]).encode()).decode().rstrip("=")


def place_of(cursor: str) -> int:
    """Return the place that a cursor names; raise `InputError` if it is none of ours."""
    try:
        found = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error):
        found = None
    match found:
        case [1, int(place)] if 0 <= place < 2**53 and cursor_of(place) == cursor:
            return place
    raise InputError("the cursor is none that this server gave: begin with the first page")


def link_to(request: Request, response: Response, after: int | None) -> None:
    """Say in the header `Link` where the next page is; None if this one is the last."""
    response.headers.update(next_page(request, after))


def next_page(request: Request, after: int | None) -> dict[str, str]:
    """Return the header `Link` to the next page; none if this one is the last."""
    if after is None:
        return {}
    following = request.url.include_query_params(cursor=cursor_of(after))
    return {"link": f'<{following.path}?{following.query}>; rel="next"'}

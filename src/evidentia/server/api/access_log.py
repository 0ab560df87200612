"""The access log: who read, exported and was refused what, as the trail has it."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.paging import Order, Paged, link_to, span
from evidentia.server.problems import REFUSED_INPUT, documented
from evidentia.server.rates import Limited
from evidentia.workspace.requests import as_json

router = APIRouter(route_class=GuardedRoute, tags=["access log"])
_NDJSON = "application/x-ndjson"
_EXAMPLE: dict[str, Any] = {
    "entry": 41,
    "at": "2026-01-03T14:30:00.000000Z",
    "did": "packs.get",
    "outcome": "done",
    "path": "/api/v1/packs/pack_015abd7f5cc57a2d",
    "request_id": "8f14e45fceea167a",
    "trace_id": "0af7651916cd43dd8448eb211c80319c",
    "token_id": "3f9c5a7e1b2d4c6f",
    "by": "ann",
}


class LoggedRequest(BaseModel):
    """One request that is recorded."""

    entry: int = Field(description="The number of its entry in the trail.")
    at: str
    did: Annotated[str, Field(description="The action, or `sign_in`.")]
    outcome: str = Field(description="`done`, `refused` or `not_found`.")
    path: str
    request_id: str
    trace_id: str
    token_id: str | None
    by: str


class AccessLogPage(BaseModel):
    """A page of the access log, the newest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"requests": [_EXAMPLE]}]})

    requests: list[LoggedRequest]


@router.get("/access-log", summary="The access log", responses=documented(REFUSED_INPUT))
@acts("access.requests")
def read_access_log(
    workspace: Ws,
    page: Paged,
    request: Request,
    response: Response,
    *,
    user: Annotated[
        str | None, Query(max_length=1_000, description="What this user asked for, alone.")
    ] = None,
    order: Order = "newest",
) -> AccessLogPage:
    """Give what was asked and is recorded: reads of packs, exports, refusals and sign-ins."""
    found = workspace.access.requests(user=user, **span(page, order), limit=page.limit)
    link_to(request, response, found[-1].entry.seq if len(found) == page.limit else None)
    return AccessLogPage.model_validate({"requests": list(map(as_json, found))})


@router.get(
    "/access-log.ndjson",
    summary="The access log, to be proved to others",
    response_class=Response,
    responses={
        200: {
            "description": "A signed head, and an entry of the trail a line.",
            "content": {
                _NDJSON: {
                    "example": '{"checkpoint":"…","envelope":{},"format":"evidentia/access-log",'
                    '"v":1}\n{"body":{},"entry":{},"inclusion":[],"salt":"…"}\n'
                }
            },
        },
        **documented(REFUSED_INPUT),
    },
)
@acts("access.export", limited=Limited.EXPORT)
def export_access_log(
    workspace: Ws,
    first: Annotated[int, Query(ge=0, lt=1 << 53, description="The first entry's number.")] = 0,
    last: Annotated[
        int | None, Query(ge=0, lt=1 << 53, description="The last entry's number.")
    ] = None,
    since: Annotated[
        str | None, Query(description="Entries from this time on.", examples=["2026-01-01"])
    ] = None,
    until: Annotated[
        str | None, Query(description="Entries before this time.", examples=["2026-02-01"])
    ] = None,
) -> Response:
    """Give it as a file of JSON lines that is signed, and that `evidentia verify` verifies offline.

    It also has what changed roles, tokens and keys, and exports of packs by other ways than this.
    """
    data = workspace.access.export(first=first, last=last, since=since, until=until)
    name = 'attachment; filename="access-log.ndjson"'
    return Response(data, media_type=_NDJSON, headers={"content-disposition": name})

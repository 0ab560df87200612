"""The access log: who read, exported and was refused what, as the trail has it."""

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.paging import Page, Paged, link_to
from evidentia.server.problems import REFUSED_INPUT, documented
from evidentia.workspace import Workspace
from evidentia.workspace.logged import LoggedEntry
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
    workspace: Ws, page: Paged, request: Request, response: Response
) -> AccessLogPage:
    """Give what was asked and is recorded: reads of packs, exports, refusals and sign-ins."""
    found = _page(workspace, page, request, response)
    return AccessLogPage.model_validate({"requests": list(map(as_json, found))})


@router.get(
    "/access-log.ndjson",
    summary="The access log, to be proved to others",
    response_class=Response,
    responses={
        200: {
            "description": "A proof a line.",
            "content": {_NDJSON: {"example": '{"format": "evidentia proof", …}\n'}},
        },
        **documented(REFUSED_INPUT),
    },
)
@acts("access.requests")
def export_access_log(workspace: Ws, page: Paged, request: Request) -> Response:
    """Give the same as signed NDJSON: each line is a proof that `evidentia verify` verifies."""
    response = Response(media_type=_NDJSON)
    found = _page(workspace, page, request, response)
    lines = [orjson.dumps(workspace.trail.prove(one.entry.seq).as_json()) for one in found]
    body = b"".join(line + b"\n" for line in lines)
    headers = {name: value for name, value in response.headers.items() if name == "link"}
    return Response(body, media_type=_NDJSON, headers=headers)


def _page(
    workspace: Workspace, page: Page, request: Request, response: Response
) -> list[LoggedEntry]:
    found = workspace.access.requests(before=page.after, limit=page.limit)
    more = len(found) == page.limit
    link_to(request, response, found[-1].entry.seq if more else None)
    return found

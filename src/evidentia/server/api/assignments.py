"""Who is to review which pack, and what awaits a review."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.api.keeping import EntryAnswer
from evidentia.server.api.pack_examples import LISTED
from evidentia.server.api.packs import PackId, PackRow, known
from evidentia.server.paging import Paged, link_to
from evidentia.server.problems import REFUSED_INPUT, documented
from evidentia.workspace.acting import OWNER

router = APIRouter(route_class=GuardedRoute, tags=["packs"])


class AssignmentRequest(BaseModel):
    """Who is to review a pack, and by when."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"assignee": "ann", "due": "2026-03-08T12:00:00Z"}]},
    )

    assignee: Annotated[str, Field(min_length=1, max_length=1_000)] | None = Field(
        description="A user; None takes an assignment back."
    )
    due: str | None = Field(None, max_length=40, description="A time, with its zone.")


class Awaited(BaseModel):
    """A pack that awaits a review."""

    pack: PackRow
    assignee: str | None
    due: str | None
    assigned_by: str | None
    overdue: bool


class ReviewQueue(BaseModel):
    """What awaits a review, the newest first."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "reviews": [
                        {
                            "pack": LISTED,
                            "assignee": "ann",
                            "due": "2026-03-08T12:00:00.000000Z",
                            "assigned_by": "sami",
                            "overdue": False,
                        }
                    ]
                }
            ]
        }
    )

    reviews: list[Awaited]


@router.post("/packs/{pack_id}/assignments", summary="Say who reviews a pack", status_code=201)
@acts("packs.assign")
def assign_review(pack_id: PackId, asked: AssignmentRequest, workspace: Ws) -> EntryAnswer:
    """Say who is to review a pack, in all its versions, and by when. It gives no one a role."""
    return EntryAnswer.of(workspace.packs.assign(known(pack_id), asked.assignee, due=asked.due))


@router.get("/reviews", summary="What awaits a review", responses=documented(REFUSED_INPUT))
@acts("packs.queue")
def list_reviews(
    workspace: Ws,
    page: Paged,
    request: Request,
    response: Response,
    of: Annotated[
        Literal["all", "mine", "overdue"],
        Query(description="Whose: all, those assigned to who asks, or those whose time is over."),
    ] = "all",
) -> ReviewQueue:
    """List the packs that await a review, the newest first, with who is to make it and by when."""
    found = workspace.packs.queue(
        assignee=(workspace.user or OWNER) if of == "mine" else None,
        overdue=of == "overdue",
        before=page.after,
        limit=page.limit,
    )
    link_to(request, response, found[-1].pack.entry if len(found) == page.limit else None)
    return ReviewQueue.model_validate({"reviews": [one.as_json() for one in found]})

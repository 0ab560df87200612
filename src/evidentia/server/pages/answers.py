"""Answers that were checked, and the form to check one."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Form, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from evidentia.errors import InputError
from evidentia.server.actions import Asks, GuardedRoute, Ws, acts
from evidentia.server.checking import check_or_go_on
from evidentia.server.rates import Limited
from evidentia.server.running import running_of
from evidentia.server.translating import N_
from evidentia.server.viewing import leads_to, may, shown
from evidentia.workspace import Workspace
from evidentia.workspace.jobs import Job

router = APIRouter(route_class=GuardedRoute, include_in_schema=False)

_LISTED: Final = 30
_MOST_COLLECTIONS: Final = 100
JUDGES: Final = ("quote", "numbers", "nli")
JudgeName = Literal["quote", "numbers", "nli"]


@router.get("/answers")
@acts("ledgers.list")
def answers_page(
    workspace: Ws,
    request: Request,
    title: Annotated[str, Query(max_length=200)] = "",
    before: Annotated[int | None, Query(ge=0, le=2**53)] = None,
) -> Response:
    """List the answers that were checked, the newest first."""
    found = workspace.ledgers.list(before=before, limit=_LISTED + 1, title=title.strip() or None)
    more = len(found) > _LISTED
    return shown(
        request,
        "answers/answers.html",
        ledgers=found[:_LISTED],
        title=title,
        before=before,
        older=found[_LISTED - 1].entry if more else None,
        may_check=may(workspace, "ledgers.check"),
    )


@router.get("/answers/new")
@acts("ledgers.check")
def new_answer_page(workspace: Ws, request: Request) -> Response:
    """Show the form by which an answer is checked."""
    return _form(workspace, request)


@router.post("/answers/new")
@acts("ledgers.check", limited=Limited.CHECK)
async def check_on_page(
    asks: Asks,
    request: Request,
    *,
    answer: Annotated[str, Form(max_length=2_000_000)] = "",
    query: Annotated[str, Form(max_length=100_000)] = "",
    title: Annotated[str, Form(max_length=1_000)] = "",
    collections: Annotated[list[str] | None, Form(max_length=_MOST_COLLECTIONS)] = None,
    judges: Annotated[list[JudgeName] | None, Form(max_length=3)] = None,
    as_of: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Check an answer, and lead to its ledger; what cannot be checked stays in the form.

    A check that takes long goes on as a job, whose page leads to the ledger.
    """
    asked = {
        "answer": answer.replace("\r\n", "\n"),
        "query": query.replace("\r\n", "\n").strip() or None,
        "title": title.strip() or None,
        "collections": collections or None,
        "judges": judges or None,
        "as_of": as_of or None,
    }
    try:
        found = await check_or_go_on(asks, running_of(request), asked, lambda made: made.id)
    except InputError as error:
        return await run_in_threadpool(
            _form,
            asks.workspace,
            request,
            error=str(error),
            given={"answer": answer, "query": query, "title": title, "as_of": as_of},
            chosen=tuple(collections or ()),
            judging=tuple(judges or ()),
        )
    if isinstance(found, Job):
        return leads_to(request, f"/jobs/{found.id}")
    return leads_to(request, f"/ledgers/{found}", N_("The answer was checked."))


def _form(
    workspace: Workspace,
    request: Request,
    *,
    error: str | None = None,
    given: dict[str, str] | None = None,
    chosen: tuple[str, ...] = (),
    judging: tuple[str, ...] = (),
) -> Response:
    return shown(
        request,
        "answers/new.html",
        status=200 if error is None else 422,
        shelves=workspace.documents.collections(),
        judges=JUDGES,
        error=error,
        given=given or {"answer": "", "query": "", "title": "", "as_of": ""},
        chosen=chosen,
        judging=judging,
    )

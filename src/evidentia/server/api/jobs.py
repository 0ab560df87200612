"""Jobs: work that goes on after its request was answered; looked at, listened to, cancelled."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import anyio
import orjson
from fastapi import APIRouter, File, Form, Header, Query, Request, UploadFile
from fastapi import Path as PathField
from fastapi.sse import EventSourceResponse, format_sse_event
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from evidentia import errors
from evidentia.errors import EvidentiaError, GoneError, InputError, NotFoundError
from evidentia.server.actions import Asking, Asks, GuardedRoute, Ws, acts
from evidentia.server.paging import Paged, link_to
from evidentia.server.problems import EXPIRED, TOO_MANY, ProblemError, of_error
from evidentia.server.rates import Limited
from evidentia.server.running import Running, running_of
from evidentia.store.sql.jobs import JobEvent
from evidentia.workspace import Workspace
from evidentia.workspace.acting import Asked
from evidentia.workspace.jobs import Job
from evidentia.workspace.tokens import live

router = APIRouter(route_class=GuardedRoute, tags=["jobs"])

LOCATION: Final[dict[str, Any]] = {"Location": {"schema": {"type": "string"}}}
MOST_FILES: Final = 1_000
MOST_OPEN: Final = 100
"""How many jobs of one tenant may wait or run at once."""
MOST_LISTENING: Final = 20
"""How many jobs a caller may listen to at once: each asks the database now and then."""
_JOBS: Final = "/api/v1/jobs/"
_LOOKED_SECONDS: Final = 0.5
_SILENT_TURNS: Final = 30
"""After how many looks without an event a comment says that the server still is there."""

Kind = Literal[
    "audit", "check", "checks", "ingest", "ledger_export", "pack_export", "sweep", "traces"
]
State = Literal["queued", "running", "done", "failed", "cancelled"]
JobId = Annotated[str, PathField(description="The job's id.", examples=["job_0f3a5c7e9b1d2468"])]
Prefer = Annotated[
    str | None,
    Header(
        max_length=200,
        description="`respond-async` has a job made of it, however little it is (RFC 7240).",
    ),
]
_JOB: Final[dict[str, Any]] = {
    "id": "job_0f3a5c7e9b1d2468",
    "kind": "checks",
    "state": "running",
    "done": 40,
    "total": 200,
    "cancelled": False,
    "asked_by": "ann",
    "created_at": "2026-03-01T12:00:00.000000Z",
    "updated_at": "2026-03-01T12:00:09.000000Z",
    "ended_at": None,
    "result": None,
    "problem": None,
}
_EVENTS: Final = (
    'id: 1\nevent: queued\ndata: {"state":"queued","done":0,"total":200,'
    '"at":"2026-03-01T12:00:00.000000Z"}\n\n'
    'id: 2\nevent: running\ndata: {"state":"running","done":5,"total":200,'
    '"at":"2026-03-01T12:00:02.000000Z"}\n\n'
)


class JobProblem(BaseModel):
    """Why a job failed."""

    title: str
    detail: str


class JobAnswer(BaseModel):
    """A job: what it does, how far it is, and what came of it."""

    model_config = ConfigDict(json_schema_extra={"examples": [_JOB]})

    id: str
    kind: Kind
    state: State
    done: int = Field(description="How many of its things are behind it.")
    total: int
    cancelled: bool = Field(description="Whether it was asked to end.")
    asked_by: str
    created_at: str
    updated_at: str
    ended_at: str | None
    result: dict[str, Any] | None = Field(
        description="What came of it, for who may know; None until it is done."
    )
    problem: JobProblem | None = Field(description="Why it failed.")

    @classmethod
    def of(cls, job: Job) -> "JobAnswer":
        """Return a job as it is answered."""
        return cls.model_validate({**job.as_json(), "problem": _problem(job)})


class JobList(BaseModel):
    """A page of jobs, the newest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"jobs": [_JOB]}]})

    jobs: list[JobAnswer]


class SweepJob(BaseModel):
    """Whether packs are removed, or only named."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"dry_run": True}]})

    dry_run: bool = True


class AuditJob(BaseModel):
    """How much an audit looks at."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"quick": False}]})

    quick: bool = Field(default=False, description="Whether only tails and heads are looked at.")


@router.get("/jobs", summary="Jobs")
@acts("jobs.list")
def list_jobs(
    workspace: Ws,
    request: Request,
    response: Response,
    page: Paged,
    *,
    state: Annotated[State | None, Query(description="Those in this state.")] = None,
    kind: Annotated[Kind | None, Query(description="Those of this kind.")] = None,
) -> JobList:
    """List jobs, the newest first. What came of one is told to who asked for it, or could have."""
    found = workspace.jobs.list(state=state, kind=kind, before=page.after, limit=page.limit + 1)
    shown = found[: page.limit]
    link_to(request, response, shown[-1].number if len(found) > page.limit else None)
    return JobList(jobs=[JobAnswer.of(one) for one in shown])


@router.get("/jobs/{job_id}", summary="A job")
@acts("jobs.get")
def read_job(job_id: JobId, workspace: Ws) -> JobAnswer:
    """Say how far a job is, and once it has ended what came of it."""
    return JobAnswer.of(workspace.jobs.get(job_id))


@router.post("/jobs/{job_id}/cancel", summary="Cancel a job")
@acts("jobs.cancel")
def cancel_job(job_id: JobId, workspace: Ws) -> JobAnswer:
    """Ask a job to end: one that waits ends now, one that runs before its next step.

    What it has recorded stays recorded. To a job that has ended nothing is done.
    """
    return JobAnswer.of(workspace.jobs.cancel(job_id))


@router.get(
    "/jobs/{job_id}/events",
    summary="What happens to a job",
    response_class=Response,
    responses={
        200: {
            "description": "Events as they happen, until the job has ended.",
            "content": {"text/event-stream": {"example": _EVENTS}},
        }
    },
)
@acts("jobs.events")
def follow_job(
    job_id: JobId,
    asks: Asks,
    request: Request,
    last_event_id: Annotated[
        str | None,
        Header(max_length=20, description="The id of the last event that was received."),
    ] = None,
) -> Response:
    """Send the events of a job from its beginning, or from behind `Last-Event-ID`, as they happen.

    Events are named by the job's state and have `state`, `done`, `total` and `at`. The last one is
    `done`, `failed` or `cancelled`; then the stream ends. More than 20 at once are too many.
    """
    after, running = _number(last_event_id), running_of(request)
    asks.workspace.jobs.events(job_id, after=after)
    if running.listening[asks.caller.counted_as] >= MOST_LISTENING:
        said = f"You listen to {MOST_LISTENING} jobs already: ask the others' own addresses."
        raise ProblemError(TOO_MANY, said, headers={"retry-after": "5"})
    events = _events(running, asks, job_id, after)
    return EventSourceResponse(events, headers={"x-accel-buffering": "no"})


@router.post(
    "/documents/batch",
    summary="Upload many documents",
    status_code=202,
    responses={202: {"model": JobAnswer, "headers": LOCATION}},
    openapi_extra={
        "requestBody": {
            "content": {
                "multipart/form-data": {
                    "example": {"files": ["leave.md", "travel.md"], "collection": "policies"}
                }
            }
        }
    },
)
@acts("documents.add", limited=Limited.CHECK)
def ingest_documents(
    files: Annotated[list[UploadFile], File(min_length=1, max_length=MOST_FILES)],
    asks: Asks,
    request: Request,
    collection: Annotated[str, Form(min_length=1, max_length=500)] = "uploads",
    effective: Annotated[str | None, Form(max_length=30)] = None,
) -> Response:
    """Have many files read into the library by a job; each is read as an upload is.

    The result says of each file which document it became, or why it could not be read.
    """
    names = [one.filename or "" for one in files]
    if len(set(names)) < len(names) or not all(names):
        raise InputError("each file needs a name of its own")
    asked = {"names": names, "collection": collection, "effective": effective}
    data = [one.file.read() for one in files]
    return start(asks, request, "ingest", asked, total=len(names), files=data)


@router.post(
    "/retention/sweeps",
    summary="Sweep, as a job",
    status_code=202,
    responses={202: {"model": JobAnswer, "headers": LOCATION}},
)
@acts("packs.sweep")
def start_sweep(asked: SweepJob, asks: Asks, request: Request) -> Response:
    """Have a job name the packs whose retention has ended, and with `dry_run` false remove them."""
    return start(asks, request, "sweep", {"dry_run": asked.dry_run})


@router.post(
    "/audits",
    summary="Audit everything, as a job",
    status_code=202,
    responses={202: {"model": JobAnswer, "headers": LOCATION}},
)
@acts("whole.audit")
def start_audit(asked: AuditJob, asks: Asks, request: Request) -> Response:
    """Have a job compare everything that is kept with what the trail says of it.

    The result is the audit: whether it holds, and part by part what was looked at and found.
    """
    return start(asks, request, "audit", {"quick": asked.quick})


def start(
    asks: Asking,
    request: Request,
    kind: str,
    asked: Mapping[str, Any],
    *,
    total: int = 1,
    files: Sequence[bytes] = (),
) -> Response:
    """Write a job down and return the answer that says so."""
    return started(begin(asks, running_of(request), kind, asked, total=total, files=files))


def begin(
    asks: Asking,
    running: Running,
    kind: str,
    asked: Mapping[str, Any],
    *,
    total: int = 1,
    files: Sequence[bytes] = (),
) -> Job:
    """Write a job down and have it begun; raise if too many wait already."""
    jobs = asks.workspace.opened.for_(asks.caller.tenant).jobs
    waiting = sum(len(jobs.list(state=one, limit=MOST_OPEN)) for one in ("queued", "running"))
    if waiting >= MOST_OPEN:
        said = f"{waiting} jobs wait or run already: try again when some have ended."
        raise ProblemError(TOO_MANY, said, headers={"retry-after": "30"})
    job = asks.workspace.jobs.start(kind, asked, total=total, files=files)
    running.runner.wake()
    return job


def started(job: Job) -> Response:
    """Return the answer to a request that goes on as a job."""
    body = JobAnswer.of(job).model_dump_json().encode()
    headers = {"location": f"{_JOBS}{job.id}", "retry-after": "1"}
    return Response(body, 202, headers, media_type="application/json")


def made_by(workspace: Workspace, job_id: str) -> bytes | None:
    """Return the file that a job makes; None while it does. Raise why there will be none."""
    job = workspace.jobs.get(job_id)
    if not job.has_ended:
        return None
    if job.state == "done":
        try:
            return workspace.jobs.file(job.id, job.result["sha256"])
        except GoneError:
            raise ProblemError(EXPIRED, "The file is kept no more: export it again.") from None
    if (error := _error(job)) is not None:
        raise error
    raise ProblemError(EXPIRED, "The export was cancelled.")


def wants_job(prefer: str | None) -> bool:
    """Whether a request prefers not to wait."""
    named = (part.partition(";")[0].strip().lower() for part in (prefer or "").split(","))
    return "respond-async" in named


def _error(job: Job) -> EvidentiaError | None:
    """Return the error that a job failed with."""
    if job.problem is None:
        return None
    kind: Callable[[str], EvidentiaError] = getattr(
        errors, job.problem["error"], errors.EnvironmentProblem
    )
    return kind(job.problem["detail"])


def _problem(job: Job) -> JobProblem | None:
    error = _error(job)
    if error is None:
        return None
    found = of_error(error, may_read=True)
    return JobProblem(title=found.problem.title, detail=found.detail)


def _number(last_event_id: str | None) -> int:
    """Return the number of an event; what is none of ours is before the first one."""
    given = last_event_id or ""
    return int(given) if given.isascii() and given.isdigit() else 0


async def _events(running: Running, asks: Asking, job_id: str, after: int) -> AsyncIterator[bytes]:
    """Give the events of a job until it has ended, the server stops, or they may not be seen."""
    caller, silent = asks.caller, 0

    def look() -> list[JobEvent]:
        if caller.token_id is not None and not live(running.opened, caller.tenant, caller.token_id):
            raise NotFoundError("the token has ended")
        workspace = running.opened.for_(caller.tenant, caller.user, Asked(scopes=caller.scopes))
        return workspace.jobs.events(job_id, after=after)

    with running.listening_to(caller.counted_as):
        while not running.stopping.is_set():
            try:
                found = await run_in_threadpool(look)
            except EvidentiaError:
                return
            for one in found:
                after, silent = one.number, 0
                yield _written(one)
                if one.state not in ("queued", "running"):
                    return
            silent += 1
            if silent % _SILENT_TURNS == 0:
                yield b": here\n\n"
            await anyio.sleep(_LOOKED_SECONDS)


def _written(event: JobEvent) -> bytes:
    said = {"state": event.state, "done": event.done, "total": event.total, "at": event.at}
    return format_sse_event(
        data_str=orjson.dumps(said).decode(), event=event.state, id=str(event.number)
    )

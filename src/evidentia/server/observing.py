"""How others see that the server runs: whether it lives, whether it can work, what it counts."""

from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response

from evidentia import __version__
from evidentia.errors import EnvironmentProblem, UsageError
from evidentia.server.actions import Asks, GuardedRoute, open_to_all, signed_in_only
from evidentia.server.problems import (
    NOT_FOUND,
    NOT_SIGNED_IN,
    PROBLEMS,
    UNAVAILABLE,
    documented,
    not_found,
    page,
)
from evidentia.server.running import running_of
from evidentia.store import schema

router = APIRouter(route_class=GuardedRoute, tags=["server"])
me = APIRouter(route_class=GuardedRoute, tags=["server"])


class Health(BaseModel):
    """That the server lives."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"status": "ok", "version": "0.1.0"}]}
    )

    status: str
    version: str


class Readiness(BaseModel):
    """That the server can work, and whether jobs are done by it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"status": "ready", "version": "0.1.0", "jobs": "ready", "openfga": "ready"}
            ]
        }
    )

    status: str
    version: str
    jobs: Literal["ready", "waiting", "elsewhere"] = Field(
        description=(
            "`waiting` if jobs cannot be done here now, and the log says why; `elsewhere` if this "
            "server is set up to do none."
        )
    )
    openfga: Literal["ready", "away", "none"] = Field(
        "none",
        description=(
            "`away` while OpenFGA does not answer: everything is refused then, except to the "
            "owner. `none` if none is asked."
        ),
    )


class Identity(BaseModel):
    """Who is signed in."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "tenant": "default",
                    "user": "ann",
                    "roles": ["viewer"],
                    "scopes": ["list", "view"],
                    "token_id": None,
                }
            ]
        }
    )

    tenant: str
    user: str | None = Field(description="None for the owner of an embedded workspace.")
    roles: list[str] = Field(description="The roles that count now; the owner needs none.")
    scopes: list[str] | None = Field(description="What the token is narrowed to; None: nothing.")
    token_id: str | None


@router.get("/healthz", summary="Whether the server lives")
@open_to_all("a supervisor has no token")
async def health() -> Health:
    """Answer at once, whatever the database does."""
    return Health(status="ok", version=__version__)


@router.get("/readyz", summary="Whether the server can work", responses=documented(UNAVAILABLE))
@open_to_all("a load balancer has no token")
async def ready(request: Request) -> Readiness:
    """Ask the database; 503 while it cannot be reached, or its schema is another program's."""
    running = running_of(request)
    try:
        await run_in_threadpool(schema.require_current, running.opened.database)
    except UsageError as error:  # it was closed: the server is stopping
        raise EnvironmentProblem(str(error)) from None
    client = running.opened.openfga
    openfga: Literal["ready", "away", "none"] = "none"
    if client is not None:
        openfga = "ready" if await run_in_threadpool(client.look) else "away"
    return Readiness(
        status="ready", version=__version__, jobs=running.runner.state, openfga=openfga
    )


@router.get(
    "/metrics",
    summary="What the server counts",
    response_class=PlainTextResponse,
    responses={200: {"content": {"text/plain": {"example": "evidentia_requests_in_progress 1.0"}}}},
)
@open_to_all("Prometheus has no token; no tenant, user or id is in it")
async def metrics(request: Request) -> Response:
    """Give the counters as Prometheus reads them."""
    running = running_of(request)
    text = running.metrics.text(running.opened.openfga)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get(
    "/problems/{name}",
    summary="What a kind of problem means",
    response_class=PlainTextResponse,
    responses={
        200: {"content": {"text/plain": {"example": page(NOT_SIGNED_IN)}}},
        **documented(NOT_FOUND),
    },
)
@open_to_all("who is not signed in has problems, too")
async def problem(name: str) -> str:
    """Explain a kind of problem, which the answers that have it link to."""
    found = PROBLEMS.get(name)
    if found is None:
        raise not_found()
    return page(found)


@me.get("/me", summary="Who is signed in", responses=documented())
@signed_in_only("everyone may know who they are")
def identity(asks: Asks, request: Request) -> Identity:
    """Say whom the token or cookie stands for, and which roles they have in the tenant."""
    caller, opened = asks.caller, running_of(request).opened
    scopes = None if caller.scopes is None else sorted(caller.scopes)
    grants = opened.for_(caller.tenant).access.grants()  # one's own roles take no role to read
    roles = sorted(
        one.role.value
        for one in grants
        if one.user == caller.user and not (one.expires_at and one.expires_at <= opened.now())
    )
    return Identity(
        tenant=caller.tenant,
        user=caller.user,
        roles=roles,
        scopes=scopes,
        token_id=caller.token_id,
    )

"""The application: put together once, from what is opened and how it is set up."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from copy import copy
from typing import Any, Final
from warnings import catch_warnings, simplefilter

from anyio import to_thread
from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic.json_schema import PydanticJsonSchemaWarning
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.routing import compile_path

from evidentia import __version__
from evidentia.errors import EvidentiaError
from evidentia.integrations.otel.closing import Closer
from evidentia.integrations.otel.gathering import traces_job
from evidentia.integrations.otel.telemetry import Exporting
from evidentia.jobs.processes import Processes
from evidentia.jobs.ray_workers import RayWorkers
from evidentia.jobs.runner import Runner
from evidentia.jobs.work import DOING
from evidentia.server import api, idempotency, observing, pages, problems, signing_in, spans
from evidentia.server.actions import GuardedRoute
from evidentia.server.configured import gathering_of, judge_named
from evidentia.server.downloads import Downloads
from evidentia.server.oidc import Provider
from evidentia.server.problems import ProblemError
from evidentia.server.repeating import Repeating
from evidentia.server.requests import Envelope
from evidentia.server.running import OneTimeLink, Running, server_secret
from evidentia.server.telling_openfga import Teller
from evidentia.server.viewing import problem_page, wants_page
from evidentia.settings import Settings
from evidentia.workspace.opened import Opened

PREFIX: Final = "/api/v1"
_LEAST_GZIPPED: Final = 1_000
_GZIP_LEVEL: Final = 5
_ABOUT: Final = """What an AI read, was shown, claimed, did and decided, as evidence.

Send a token of `evidentia token new` as `Authorization: Bearer TOKEN`. A token is of one tenant.
Every write takes an `Idempotency-Key`. Errors are problem details (RFC 9457); lists come in pages,
whose cursors are in the header `Link`.
"""


def create_app(opened: Opened, settings: Settings, *, owner_link: bool = False) -> FastAPI:
    """Return the server of what is opened; it is closed by whoever opened it.

    `owner_link` lets the owner sign in once, by the secret of `app.state.running.sign_in`.
    """
    gathering, cluster = gathering_of(settings), settings.server_cluster
    running = Running(
        opened,
        settings,
        server_secret(opened, settings),
        Runner(
            opened, at_once=settings.server_jobs, kinds={**DOING, "traces": traces_job(gathering)}
        ),
        Downloads(opened.job_files),
        OneTimeLink() if owner_link else None,
        Provider.of(settings),
        Processes.of(settings.server_workers),
        gathering,
    )
    if running.processes is not None:
        opened.judging, opened.reading = running.processes.judging, running.processes.reading
    if cluster is not None:
        opened.bulk = RayWorkers(cluster)
    app = FastAPI(
        title="Evidentia",
        version=__version__,
        description=_ABOUT,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
        redirect_slashes=False,
    )
    app.state.running = running
    if settings.server_witness_seconds:
        opened.ask_witnesses(settings.server_witness_seconds)
    opened.judge_named = lambda name: judge_named(app.state.running.settings, name)
    for router in (observing.router, signing_in.router, spans.router, *pages.ROUTERS):
        app.router.routes.extend(_placed(router))
    for router in (observing.me, *api.ROUTERS):
        app.router.routes.extend(_placed(router, PREFIX))
    app.add_exception_handler(ProblemError, _told)
    app.add_exception_handler(EvidentiaError, _told)
    app.add_exception_handler(RequestValidationError, _told)
    app.add_exception_handler(HTTPException, _told)
    app.add_middleware(GZipMiddleware, minimum_size=_LEAST_GZIPPED, compresslevel=_GZIP_LEVEL)
    app.add_middleware(Repeating, running=running)
    if settings.server_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.server_origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=[
                *("authorization", "content-type", "idempotency-key", "evidentia-tenant"),
                *("if-match", "if-none-match", "last-event-id", "prefer"),
                *("traceparent", "tracestate"),
            ],
            expose_headers=[
                *("content-disposition", "etag", "idempotency-replayed", "link", "location"),
                *("retry-after", "x-request-id"),
            ],
        )
    app.add_middleware(Envelope, running=running)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]  # FastAPI's own way
    return app


def _placed(router: APIRouter, prefix: str = "") -> Iterator[APIRoute]:
    """Give the routes of a router, at their addresses.

    FastAPI's own way leaves them where they are, and asks every router twice for its routes, one
    by one: with so many that takes longer than all else that it does for a request.
    """
    for route in router.routes:
        assert isinstance(route, GuardedRoute)  # noqa: S101 - no other is made by these routers
        placed = copy(route)
        placed.path = prefix + route.path
        placed.path_regex, placed.path_format, placed.param_convertors = compile_path(placed.path)
        placed.head = placed.path.partition("{")[0]
        yield placed


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    running: Running = app.state.running
    to_thread.current_default_thread_limiter().total_tokens = running.threads
    await run_in_threadpool(idempotency.forget_old, running)
    running.runner.start()
    closer = Closer(running.opened, running.runner.wake)
    endpoint = running.settings.otel_endpoint
    exporting = None if endpoint is None else Exporting(running.opened, endpoint)
    if running.runner.at_once:
        closer.start()
    openfga = running.opened.openfga
    teller = None if openfga is None else Teller(running.opened, openfga)
    if teller is not None:
        teller.start()
    yield
    running.stopping.set()
    if teller is not None:
        await run_in_threadpool(teller.close)
    await run_in_threadpool(closer.close)
    await run_in_threadpool(running.runner.close)
    await run_in_threadpool(running.close)
    if exporting is not None:
        await run_in_threadpool(exporting.close)


async def _told(request: Request, error: Exception) -> Response:
    """Return the problem of whatever ended a request: to a browser as a page."""
    raised = await problems.raised_by(request, error)
    if wants_page(request):
        return await run_in_threadpool(problem_page, request, raised)
    return problems.answer(request, raised)


def _described(app: FastAPI) -> dict[str, Any]:
    """Return the description of the API, made once: OpenAPI 3.1."""
    if app.openapi_schema is None:
        with catch_warnings():  # of defaults that are empty and frozen
            simplefilter("ignore", PydanticJsonSchemaWarning)
            found = FastAPI.openapi(app)
        parts = found.setdefault("components", {})
        schemas = parts.setdefault("schemas", {})
        schemas["Problem"] = problems.SCHEMA
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        for name, schema in schemas.items():
            if name.endswith(("-Input", "-Output")):  # programs name their classes by the titles
                schema["title"] = name.replace("-", "")
            for part in schema.get("properties", {}).values():
                file = part.get("items", part)
                if "contentMediaType" in file:  # as programs know files that are uploaded
                    file["format"] = "binary"
        parts["securitySchemes"] = {
            "token": {
                "type": "http",
                "scheme": "bearer",
                "description": "A token of `evidentia token new`.",
            },
            "cookie": {
                "type": "apiKey",
                "in": "cookie",
                "name": "evidentia",
                "description": "A browser that signed in; by HTTPS it is `__Host-evidentia`.",
            },
        }
        app.openapi_schema = found
    return app.openapi_schema

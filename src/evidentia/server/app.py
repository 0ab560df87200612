"""The application: put together once, from what is opened and how it is set up."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final
from warnings import catch_warnings, simplefilter

from anyio import to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic.json_schema import PydanticJsonSchemaWarning
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response

from evidentia import __version__
from evidentia.errors import EvidentiaError
from evidentia.server import api, idempotency, observing, pages, problems, signing_in
from evidentia.server.oidc import Provider
from evidentia.server.problems import ProblemError
from evidentia.server.requests import Envelope
from evidentia.server.running import OneTimeLink, Running, server_secret
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
    running = Running(
        opened,
        settings,
        server_secret(opened, settings),
        OneTimeLink() if owner_link else None,
        Provider.of(settings),
    )
    app = FastAPI(
        title="Evidentia",
        version=__version__,
        description=_ABOUT,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
        generate_unique_id_function=_operation_id,
        redirect_slashes=False,
    )
    app.state.running = running
    app.include_router(observing.router)
    app.include_router(signing_in.router)
    for page in pages.ROUTERS:
        app.include_router(page)
    app.include_router(observing.me, prefix=PREFIX)
    for router in api.ROUTERS:
        app.include_router(router, prefix=PREFIX)
    app.add_exception_handler(ProblemError, _told)
    app.add_exception_handler(EvidentiaError, _told)
    app.add_exception_handler(RequestValidationError, _told)
    app.add_exception_handler(HTTPException, _told)
    app.add_middleware(GZipMiddleware, minimum_size=_LEAST_GZIPPED, compresslevel=_GZIP_LEVEL)
    if settings.server_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.server_origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["authorization", "content-type", "idempotency-key", "evidentia-tenant"],
            expose_headers=["etag", "link", "location", "retry-after", "x-request-id"],
        )
    app.add_middleware(Envelope, running=running)
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]  # FastAPI's own way
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    running: Running = app.state.running
    to_thread.current_default_thread_limiter().total_tokens = running.threads
    await run_in_threadpool(idempotency.forget_old, running)
    yield
    await run_in_threadpool(running.downloads.close)


async def _told(request: Request, error: Exception) -> Response:
    """Return the problem of whatever ended a request."""
    match error:
        case ProblemError():
            raised = error
        case RequestValidationError():
            raised = problems.of_validation(error)
        case EvidentiaError():
            asking = getattr(request.state, "asking", None)
            may_read = asking is not None and await run_in_threadpool(asking.may_read)
            raised = problems.of_error(error, may_read=may_read)
        case HTTPException():
            raised = problems.of_status(error)
        case _:
            raise error
    if wants_page(request):
        return await run_in_threadpool(problem_page, request, raised)
    return problems.answer(request, raised)


def _operation_id(route: APIRoute) -> str:
    return route.name


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
                "description": "A browser that signed in.",
            },
        }
        app.openapi_schema = found
    return app.openapi_schema

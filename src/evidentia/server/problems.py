"""Problems: what a request is answered that is not done, as RFC 9457 writes it.

Every kind has an address under `/problems/` with a page that explains it. What a caller may not
see is answered exactly as what is not there: 404. What they may see, and may not do something
with, is 403.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from evidentia.errors import (
    AccessError,
    BusyError,
    CanonicalError,
    ConflictError,
    DocumentError,
    EnvironmentProblem,
    EvidentiaError,
    GoneError,
    InputError,
    IntegrityError,
    NotFoundError,
    SealingError,
    UndecidedError,
    UsageError,
)
from evidentia.logs import get_logger
from evidentia.server.translating import N_

_log = get_logger("server")
MEDIA_TYPE: Final = "application/problem+json"
_FOR_THE_COMMAND_LINE: Final = re.compile(r"[;:,] (?:run )?'evidentia .*$")
_MOST_ERRORS: Final = 20
_BRANCH: Final = re.compile(r"(?:list|dict|tuple|function-[a-z]+)\[.*\]")
"""How the validator calls one of several forms that a value may have: no place in the request."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A kind of problem: its name in addresses, its status, and what there is to say of it."""

    name: str
    status: int
    title: str
    explained: str

    @property
    def address(self) -> str:
        """Where it is explained."""
        return f"/problems/{self.name}"


INVALID = Problem(
    "invalid-request",
    422,
    "The request is not what it should be",
    "A field is missing, has the wrong type or a value that cannot be. `errors` lists each: "
    "`pointer` says where (`/body/format`), `detail` what is wrong. Mend the request; sent again "
    "as it is, it gets the same answer.",
)
REFUSED_INPUT = Problem(
    "refused-input",
    422,
    "What was given cannot be used",
    "The request has the right form, and what it says cannot be done: a text is empty, a number "
    "is out of range, two fields contradict each other. `detail` says which, and what to do.",
)
UNREADABLE = Problem(
    "unreadable-document",
    422,
    "A document cannot be read",
    "It is encrypted, broken, empty, too large or of a kind that is not read. `detail` says what "
    "it is. Send it in another form.",
)
INCOMPLETE = Problem(
    "incomplete-pack",
    422,
    "The pack lacks what it must have",
    "A pack is signed only when it is complete. `unmet` lists all that is missing. Add it, and "
    "try again.",
)
KEY_REUSED = Problem(
    "idempotency-key-reused",
    422,
    "The idempotency key belongs to another request",
    "An `Idempotency-Key` names one request for good: the same method, address, query and body. "
    "This one was used for another request within the last day. Take a new key.",
)
NOT_SIGNED_IN = Problem(
    "not-signed-in",
    401,
    "Nobody is signed in",
    "The request names no one, or the token is unknown, was revoked, or has ended. Send "
    "`Authorization: Bearer TOKEN` with a token of `evidentia token new`, or sign in.",
)
NOT_ALLOWED = Problem(
    "not-allowed",
    403,
    "You may not do this",
    "You may see what the request is about, and not do this with it: your role does not allow "
    "it, or your token is narrowed to other actions. Ask an admin of the tenant for a role that "
    "does.",
)
CROSS_SITE = Problem(
    "cross-site",
    403,
    "Another web page sent this request",
    "A browser that is signed in sent this request for a page of another site. Such requests "
    "change nothing here. Programs send a token in `Authorization` in place of a cookie.",
)
NOT_FOUND = Problem(
    "not-found",
    404,
    "There is no such thing",
    "The address, or something that the request names, is not there, or you may not see it: the "
    "two are answered alike. Look at the id, and at the tenant that you are signed in to.",
)
WRONG_METHOD = Problem(
    "method-not-allowed",
    405,
    "The address does not take this method",
    "The header `Allow` lists the methods that it takes.",
)
IN_PROGRESS = Problem(
    "in-progress",
    409,
    "The same request is being worked on",
    "Another request with this `Idempotency-Key` has not been answered yet. Wait as long as "
    "`Retry-After` says, and send it again: it then gets that one's answer.",
)
ANSWER_LOST = Problem(
    "answer-lost",
    409,
    "It was recorded, and its answer is lost",
    "What a request with this `Idempotency-Key` recorded is there, and the server stopped before "
    "it wrote down the answer. It is not done again. Read what it made: the trail's newest entries "
    "name it.",
)
CONFLICT = Problem(
    "conflict",
    409,
    "It conflicts with what is recorded",
    "An id was used before for something else, or there is a newer version than the one that is "
    "to be replaced. `detail` says what. Read what is recorded, and decide anew.",
)
EXPIRED = Problem(
    "link-expired",
    410,
    "The link has ended",
    "Links to downloads end. Ask for another one.",
)
CHANGED = Problem(
    "changed-since-read",
    412,
    "It is not as you read it",
    "`If-Match` has the tag of what you read, and by now there is something newer: a version of "
    "the pack, which `newer` names. Nothing was changed. Read that one, and decide anew.",
)
TOO_LARGE = Problem(
    "too-large",
    413,
    "The request is too large",
    "`most_bytes` says how large it may be. Send it in parts.",
)
WRONG_TYPE = Problem(
    "unsupported-media-type",
    415,
    "The body is of a type that is not read here",
    "Set `Content-Type` to what the reference says: `application/json`, or `multipart/form-data` "
    "for uploads.",
)
WRONG_HOST = Problem(
    "wrong-host",
    421,
    "The server does not go by this name",
    "The `Host` of the request is none of this server's names. Use the address that the server "
    "printed at its start, or set EVIDENTIA_SERVER_URL.",
)
NOT_READY = Problem(
    "not-ready",
    425,
    "The file is being made",
    "Ask again for the same address after as many seconds as `Retry-After` says.",
)
TOO_MANY = Problem(
    "too-many-requests",
    429,
    "Too many requests",
    "Signing in, checks and exports are limited for each token and address. Wait as many seconds "
    "as `Retry-After` says.",
)
INTERNAL = Problem(
    "internal",
    500,
    "The server made a mistake",
    "It is in the server's log under `request_id`. Please report it with that id.",
)
DOES_NOT_HOLD = Problem(
    "does-not-hold",
    500,
    "The evidence does not hold",
    "What is stored is not what was signed: it was changed, damaged or lost. `detail` says where. "
    "Tell the operator, who runs `evidentia verify`. Nothing is answered from such evidence.",
)
UNAVAILABLE = Problem(
    "unavailable",
    503,
    "The server cannot do this now",
    "The database cannot be reached, a disk is full, the server has too much to do, OpenFGA does "
    "not say who may do what, or the server is stopping. Try again after as many seconds as "
    "`Retry-After` says. Writes with an `Idempotency-Key` are safe to repeat.",
)
PROBLEMS: Final[Mapping[str, Problem]] = {
    one.name: one for one in list(globals().values()) if isinstance(one, Problem)
}
"""Every kind of problem, by its name."""

_OF_ERRORS: Final[Mapping[type[EvidentiaError], Problem]] = {
    DocumentError: UNREADABLE,
    SealingError: INCOMPLETE,
    ConflictError: CONFLICT,
    NotFoundError: NOT_FOUND,
    UndecidedError: UNAVAILABLE,
    AccessError: NOT_ALLOWED,
    InputError: REFUSED_INPUT,
    CanonicalError: REFUSED_INPUT,
    GoneError: DOES_NOT_HOLD,
    IntegrityError: DOES_NOT_HOLD,
    UsageError: REFUSED_INPUT,
    EnvironmentProblem: UNAVAILABLE,
}
_OF_STATUSES: Final[Mapping[int, Problem]] = {
    400: INVALID,
    401: NOT_SIGNED_IN,
    404: NOT_FOUND,
    405: WRONG_METHOD,
    413: TOO_LARGE,
    415: WRONG_TYPE,
}
_OPERATORS: Final = (UNAVAILABLE, DOES_NOT_HOLD)
"""What is no mistake of who asks: the log has the reason, which callers may not be told."""
RETRY_SECONDS: Final = 5
_UNSEEN: Final = N_("There is no such thing here, or you may not see it.")


class ProblemError(Exception):
    """Ends a request with a problem: what a route or what is around it raises."""

    def __init__(
        self,
        problem: Problem,
        detail: str,
        headers: Mapping[str, str] = MappingProxyType({}),
        more: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        super().__init__(detail)
        self.problem = problem
        self.detail = detail
        self.headers = headers
        self.more = more


def not_found() -> ProblemError:
    """Return what is raised for all that is not there or may not be seen."""
    return ProblemError(NOT_FOUND, _UNSEEN)


def of_error(error: EvidentiaError, *, may_read: bool) -> ProblemError:
    """Return the problem of an error; who may not read is told that nothing is there."""
    kind = next((kind for kind in type(error).__mro__ if kind in _OF_ERRORS), None)
    problem = INTERNAL if kind is None else _OF_ERRORS[kind]
    if problem in (NOT_FOUND, NOT_ALLOWED) and not may_read:
        return not_found()
    more: dict[str, Any] = {}
    if isinstance(error, SealingError):
        more["unmet"] = list(error.unmet)
    headers = {"retry-after": str(RETRY_SECONDS)} if problem is UNAVAILABLE else {}
    is_told = problem is not UNAVAILABLE or isinstance(error, (BusyError, UndecidedError))
    detail = str(error) if is_told else problem.title
    return ProblemError(problem, _FOR_THE_COMMAND_LINE.sub("", detail), headers, more)


def of_validation(error: RequestValidationError) -> ProblemError:
    """Return the problem of a request that is not what it should be."""
    said = error.errors()
    places = [
        "".join(f"/{part}" for part in one["loc"] if not _BRANCH.fullmatch(str(part)))
        for one in said
    ]
    found = [
        {"pointer": place, "detail": str(one["msg"]).removeprefix("Value error, ")}
        for place, one in zip(places, said, strict=True)
        if not (_is_branch(one["loc"]) and any(each.startswith(f"{place}/") for each in places))
    ][:_MOST_ERRORS]
    first = found[0] if found else {"pointer": "", "detail": INVALID.title}
    return ProblemError(INVALID, f"{first['pointer']}: {first['detail']}", {}, {"errors": found})


def _is_branch(place: tuple[int | str, ...]) -> bool:
    """Whether it is said of one of the forms that a value may have, and of no part of it."""
    return bool(place) and _BRANCH.fullmatch(str(place[-1])) is not None


def of_status(error: HTTPException) -> ProblemError:
    """Return the problem of a status that the framework gives."""
    problem = _OF_STATUSES.get(error.status_code, INTERNAL)
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    return ProblemError(problem, _UNSEEN if problem is NOT_FOUND else problem.title, headers)


def written(raised: ProblemError, *, path: str, request_id: str) -> Response:
    """Return the answer that tells of a problem."""
    problem = raised.problem
    said = {
        "type": problem.address,
        "title": problem.title,
        "status": problem.status,
        "detail": raised.detail,
        "instance": path,
        "request_id": request_id,
        **raised.more,
    }
    headers = dict(raised.headers)
    if problem is NOT_SIGNED_IN:
        headers["www-authenticate"] = 'Bearer realm="evidentia"'
    content = json.dumps(said, ensure_ascii=False)
    return Response(content, problem.status, headers, media_type=MEDIA_TYPE)


def answer(request: Request, raised: ProblemError) -> Response:
    """Return the answer that tells of a problem with a request."""
    return written(raised, path=request.url.path, request_id=request.state.request_id)


async def raised_by(request: Request, error: Exception) -> ProblemError:
    """Return the problem of what ended a request; raise the error if it is none.

    What the operator has to see to is logged.
    """
    match error:
        case ProblemError():
            return error
        case RequestValidationError():
            return of_validation(error)
        case EvidentiaError():
            asking = getattr(request.state, "asking", None)
            if isinstance(error, UndecidedError):  # no one answers: they are not asked again
                return of_error(error, may_read=False)
            may_read = asking is not None and await run_in_threadpool(asking.may_read)
            found = of_error(error, may_read=may_read)
            if found.problem in _OPERATORS and not isinstance(error, BusyError):
                _log.warning(
                    found.problem.name.replace("-", "_"),
                    request_id=request.state.request_id,
                    reason=str(error),
                )
            return found
        case HTTPException():
            return of_status(error)
        case _:
            raise error


async def told(request: Request, error: Exception) -> Response:
    """Return the answer to a request that an error ended; raise the error if it is no problem."""
    return answer(request, await raised_by(request, error))


def documented(*problems: Problem) -> dict[int | str, dict[str, Any]]:
    """Return what the description of a route says of the problems it may answer with."""
    found: dict[int | str, dict[str, Any]] = {}
    for problem in problems:
        media = found.setdefault(
            problem.status,
            {
                "description": "",
                "content": {
                    MEDIA_TYPE: {
                        "schema": {"$ref": "#/components/schemas/Problem"},
                        "examples": {},
                    }
                },
            },
        )
        said = media["description"]
        media["description"] = f"{said}; {problem.title}" if said else problem.title
        media["content"][MEDIA_TYPE]["examples"][problem.name] = {
            "summary": problem.title,
            "value": {
                "type": problem.address,
                "title": problem.title,
                "status": problem.status,
                "detail": problem.title,
                "instance": "/api/v1/…",
                "request_id": "8f14e45fceea167a",
            },
        }
    return found


SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "title": "Problem",
    "description": "What is wrong with a request, as RFC 9457 writes it.",
    "required": ["type", "title", "status", "detail", "instance", "request_id"],
    "properties": {
        "type": {"type": "string", "description": "Where this kind of problem is explained."},
        "title": {"type": "string", "description": "The kind of problem, in a few words."},
        "status": {"type": "integer", "description": "The HTTP status."},
        "detail": {"type": "string", "description": "What is wrong here, and what to do."},
        "instance": {"type": "string", "description": "The address that was asked for."},
        "request_id": {"type": "string", "description": "The request's id in the server's log."},
        "errors": {
            "type": "array",
            "description": "Each field that is wrong.",
            "items": {
                "type": "object",
                "properties": {"pointer": {"type": "string"}, "detail": {"type": "string"}},
            },
        },
        "read": {
            "type": "string",
            "description": "The id of the version that was named.",
        },
        "newer": {
            "type": "string",
            "description": "The id of the version that came meanwhile.",
        },
        "unmet": {
            "type": "array",
            "description": "All that a pack lacks.",
            "items": {"type": "string"},
        },
    },
}
"""How a problem looks, for the description of the API."""


def page(problem: Problem) -> str:
    """Return the page that explains a kind of problem."""
    return f"{problem.title} ({problem.status})\n\n{problem.explained}\n"

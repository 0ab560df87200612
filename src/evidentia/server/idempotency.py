"""Requests that must not be done twice: the header `Idempotency-Key`, on every write.

A key is of one user. Its row is written in the transaction that does what was asked, so that both
are there or neither; the answer is written down behind it, and given again to who repeats the
request. Of two at once the second is told to wait. Where a server died before it wrote the answer
down, what commits more than once is gone on with by whoever repeats it, if it does nothing twice;
of all else it is said that it was recorded.
"""

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from evidentia.errors import EvidentiaError
from evidentia.server.problems import (
    ANSWER_LOST,
    IN_PROGRESS,
    INVALID,
    KEY_REUSED,
    ProblemError,
    told,
)
from evidentia.store.sql import across
from evidentia.store.sql import idempotency as rows
from evidentia.store.sql.idempotency import AnsweredRequest, Named
from evidentia.store.sql.log import Receipt
from evidentia.times import utc_text
from evidentia.workspace.acting import OWNER

if TYPE_CHECKING:
    from evidentia.server.callers import Caller
    from evidentia.server.running import Running

Foretold = Callable[[Sequence[Receipt] | str], Response]
"""What will be answered, by where the entries of a request are."""
HEADER: Final = "idempotency-key"
REPEATED: Final = "idempotency-replayed"
KEPT_HOURS: Final = 24
_KEY: Final = re.compile(r"[\x21-\x7e]{1,200}")
_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_KEPT_HEADERS: Final = ("content-type", "location", "etag", "link", "retry-after")
_BOUNDARY: Final = re.compile(rb'boundary="?([^";]+)"?')
_STILL_WORKING_SECONDS: Final = 60
_FIRST_ERROR: Final = 400
_FIRST_UNKNOWN: Final = 500
_MOST_UNWRITTEN: Final = 1_000
"""Answers that are kept while the database is away."""
PARAMETER: Final[dict[str, Any]] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": (
        "Names this request. Repeated within a day with the same key, it is not done again, and "
        "gets the same answer."
    ),
    "schema": {"type": "string", "pattern": "^[\\x21-\\x7e]{1,200}$"},
    "example": "3c1f6d2e-check-1",
}


class ShownOnce(Response):
    """An answer with a secret: what is written down, and given again, is without it."""

    def __init__(self, content: Response, again: Response) -> None:
        super().__init__(content.body, content.status_code)
        self.raw_headers = content.raw_headers
        self.again = bytes(again.body)


def asked_for(request: Request) -> "Once | None":
    """Return how a request is done once; None if it does not ask for that, or only reads."""
    key = request.headers.get(HEADER)
    if key is None or request.method in _READS:
        return None
    if not _KEY.fullmatch(key):
        raise ProblemError(INVALID, "Idempotency-Key: 1 to 200 visible ASCII characters, no space.")
    return Once(key, request.state.request_id)


class Once:
    """A request under a key: done by whoever claims the key first, and answered alike after."""

    def __init__(self, key: str, request_id: str) -> None:
        self._key = key
        self._request_id = request_id
        self._digest = ""
        self._foretold: Foretold | None = None
        self._is_written = False
        self.goes_on = False
        """Whether it goes on with what a server left that died, instead of leaving it so."""

    def foretell(self, answer: "Foretold") -> None:
        """Say what the answer will be, once it is known where entries are: it is written with them.

        The route must answer the very same.
        """
        self._foretold = answer

    def named(self, caller: "Caller") -> Named:
        """Return what the key is called among those of all users."""
        return caller.tenant, caller.user or OWNER, self._key

    def claiming(self, named: Named, now: str) -> Callable[[Connection], None]:
        """Return what claims the key inside a transaction, or refuses it."""

        def claim(connection: Connection) -> None:
            held = rows.claim(connection, named, self._request_id, self._digest, now)
            if held.request_id != self._request_id:  # of another server: it was quicker
                raise ProblemError(IN_PROGRESS, "Repeat it.", headers={"retry-after": "1"})

        return claim

    def answering(self, named: Named) -> Callable[[Connection, Sequence[Receipt] | str], None]:
        """Return what writes the answer down inside the transaction, if it was foretold."""

        def answer(connection: Connection, receipts: Sequence[Receipt] | str) -> None:
            if self._foretold is not None:
                said = _said(self._foretold(receipts))
                self._is_written = rows.answer(connection, named, self._request_id, said)

        return answer

    async def answered(
        self,
        request: Request,
        running: "Running",
        caller: "Caller",
        answer: Callable[[Request], Awaitable[Response]],
    ) -> Response:
        """Return what the first request with this key was answered; if this is it, do it."""
        named = self.named(caller)
        if named in running.in_flight:
            raise ProblemError(IN_PROGRESS, "Repeat it.", headers={"retry-after": "1"})
        running.in_flight.add(named)
        try:
            self._digest = await _digest(request)
            database = running.opened.database.of(caller.tenant)
            known = await run_in_threadpool(database.ask, rows.find, named)
            left = running.unwritten.pop(named, None)
            if left is not None and (known is None or known.request_id == left.request_id):
                return await left.written(self._digest, running, named)
            if known is not None and not await self._takes_over(running, named, known):
                return self._again(known, running.opened.now())
            response = await self._answer(request, running, named, answer)
            if self._is_written:
                return response
            return await Unwritten(self._request_id, self._digest, response).written(
                self._digest, running, named
            )
        finally:
            running.in_flight.discard(named)

    async def _answer(
        self,
        request: Request,
        running: "Running",
        named: Named,
        answer: Callable[[Request], Awaitable[Response]],
    ) -> Response:
        """Return the answer; a refusal is written down if something was recorded before it.

        What ends with a status of 500 or more is not: whether it was done is not known.
        """
        try:
            return await answer(request)
        except (ProblemError, EvidentiaError, RequestValidationError, HTTPException) as error:
            refusal = await told(request, error)
            if refusal.status_code < _FIRST_UNKNOWN:
                left = Unwritten(self._request_id, self._digest, refusal)
                await left.written(self._digest, running, named)
            raise

    async def _takes_over(self, running: "Running", named: Named, known: AnsweredRequest) -> bool:
        """Whether this goes on with what another server began, and left: that one is refused."""
        now = running.opened.now()
        if not self.goes_on or known.request_sha256 != self._digest or not _is_left(known, now):
            return False

        def take_over() -> bool:
            with running.opened.database.of(named[0]).write() as connection:
                return rows.take_over(connection, named, known.request_id, self._request_id, now)

        return await run_in_threadpool(take_over)

    def _again(self, known: AnsweredRequest, now: str) -> Response:
        """Return the answer to a request that was done."""
        if known.request_sha256 != self._digest:
            raise ProblemError(KEY_REUSED, "This key was used for another request: take a new one.")
        if known.status is None:
            if self.goes_on or not _is_left(known, now):
                raise ProblemError(IN_PROGRESS, "Repeat it.", headers={"retry-after": "2"})
            raise ProblemError(
                ANSWER_LOST,
                f"It was recorded from {known.created_at} on, by request {known.request_id}.",
            )
        headers = {**json.loads(known.headers or "{}"), REPEATED: "true"}
        return Response(known.body, known.status, headers)


class Unwritten(NamedTuple):
    """What was done, and is not written down yet: by which request, and how it was answered."""

    request_id: str
    digest: str
    response: Response

    async def written(self, digest: str, running: "Running", named: Named) -> Response:
        """Return the answer once it is written down; if it can't be, it is kept for the next."""
        if digest != self.digest:
            running.unwritten[named] = self
            raise ProblemError(KEY_REUSED, "This key was used for another request: take a new one.")
        try:
            await run_in_threadpool(self._write_down, running, named)
        except EvidentiaError:
            if len(running.unwritten) < _MOST_UNWRITTEN:
                running.unwritten[named] = self
            raise
        return self.response

    def _write_down(self, running: "Running", named: Named) -> None:
        said = _said(self.response)
        with running.opened.database.of(named[0]).write() as connection:
            if rows.answer(connection, named, self.request_id, said):
                return
            if (
                self.response.status_code < _FIRST_ERROR
            ):  # done without a write: answered alike anyway
                rows.claim(connection, named, self.request_id, self.digest, running.opened.now())
                rows.answer(connection, named, self.request_id, said)


def _is_left(known: AnsweredRequest, now: str) -> bool:
    """Whether whoever does a request has not answered it for so long that no one does any more."""
    age = datetime.fromisoformat(now) - datetime.fromisoformat(known.created_at)
    return known.status is None and age >= timedelta(seconds=_STILL_WORKING_SECONDS)


def _said(response: Response) -> tuple[int, str, bytes]:
    """Return what is written down of an answer."""
    kept = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    body = response.again if isinstance(response, ShownOnce) else bytes(response.body)
    return response.status_code, json.dumps(kept), body


def forget_old(running: "Running") -> None:
    """Remove answers that are older than a key lasts."""
    opened = running.opened
    before = utc_text(datetime.fromisoformat(opened.now()) - timedelta(hours=KEPT_HOURS))
    for tenant in opened.database.ask(across.requests_answered, before):
        with opened.database.of(tenant).write() as connection:
            rows.forget(connection, tenant, before)


async def _digest(request: Request) -> str:
    """Return the digest of what is asked: method, address, query and body.

    The boundary between the parts of an upload is another one each time: it is left out.
    """
    body = await request.body()
    boundary = _BOUNDARY.search(request.headers.get("content-type", "").encode("latin-1"))
    if boundary is not None:
        body = body.replace(b"--" + boundary[1], b"--")
    query = "&".join(sorted(request.url.query.split("&")))
    said = f"{request.method} {request.url.path}?{query}\n".encode()
    return sha256(said + sha256(body).digest()).hexdigest()

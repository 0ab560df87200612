"""Recording what an `openai` or `anthropic` client sends and gets: to the letter, from the wire.

    client = record_client(OpenAI(), recorder)

Every way the client has (created, parsed, streamed, with options, sync and async) sends through
one function, and that is where is listened. Calls of tools are read from the requests: what the
model asked for, and what the program gave back for it. Within `recorder.run(…)` all of it is of
that run; outside, a conversation is a run of its own: it begins with the first request, goes on
while the model asks for tools, and ends with its answer.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from functools import wraps
from inspect import iscoroutinefunction
from threading import Lock
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

from evidentia.canonical import sha256_hex
from evidentia.errors import InputError
from evidentia.integrations.exchanges import (
    Asked,
    Reply,
    Request,
    form_of,
    read_reply,
    read_request,
)
from evidentia.integrations.json_parts import Form, as_objects, as_text
from evidentia.integrations.open_runs import OpenCall, OpenRun
from evidentia.integrations.recorder import Recorder

C = TypeVar("C")
_MOST_OPEN: Final = 1_000
"""Conversations outside of a run that wait for what tools give; the oldest is given up first."""


def record_client(client: C, recorder: Recorder) -> C:
    """Have all that a client of `openai` or `anthropic` sends and gets recorded; return it.

    The client works as before. What it was made of with `with_options` is recorded as well.
    """
    http = getattr(client, "_client", None)
    if not callable(getattr(http, "send", None)):
        raise InputError(
            f"a {type(client).__name__} is no client of openai or anthropic: give an OpenAI, "
            "AsyncOpenAI, Anthropic or AsyncAnthropic, or one made like them"
        )
    provider = type(client).__module__.partition(".")[0]
    listener = _Listener(recorder, provider)
    http.send = (  # type: ignore[union-attr]  # looked at above
        _listening_async if iscoroutinefunction(http.send) else _listening  # type: ignore[union-attr]
    )(http.send, listener)  # type: ignore[union-attr]
    return client


@dataclass(slots=True)
class _Told:
    """What is known of a run: the calls the model asked for, and what was recorded already."""

    asked: dict[str, Asked] = field(default_factory=dict)
    returned: set[str] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)


class _Listener:
    """Turns requests and replies into calls of runs; nothing it meets is raised."""

    def __init__(self, recorder: Recorder, provider: str) -> None:
        self.recorder = recorder
        self._provider = provider
        self._lock = Lock()
        self._told: WeakKeyDictionary[OpenRun, _Told] = WeakKeyDictionary()
        self._waiting: dict[str, OpenRun] = {}

    def sent(self, path: str, body: Callable[[], bytes]) -> "_Exchange | None":
        """Take a request; None if it is none that asks a model."""
        form = form_of(path)
        if form is None:
            return None
        try:
            request = read_request(form, body())
            return None if request is None else self._begun(request)
        except Exception as error:  # noqa: BLE001 - the host goes on, whatever recording meets
            self.recorder.failed(self._provider, f"{type(error).__name__}: {error}")
            return None

    def _begun(self, request: Request) -> "_Exchange":
        run, is_own = self._run_of(request)
        with self._lock:
            told = self._told.setdefault(run, _Told())
        self._retrieved(run, told, request)
        self._returned(run, told, request)
        call = run.model(
            self._provider,
            request.model,
            request.messages,
            instructions=request.instructions,
            tools=request.tools,
            request=request.rest,
        )
        return _Exchange(self, request.form, run, call, told, is_own)

    def _run_of(self, request: Request) -> tuple[OpenRun, bool]:
        """Return the run that a request is of, and whether it is one of the client's own."""
        current = self.recorder.current()
        if current is not None:
            return current, False
        with self._lock:
            for one in request.returned:
                if one.call_id in self._waiting:
                    return self._waiting[one.call_id], True
        return self.recorder.begin_run(request.model, query=_asks(request)), True

    def _retrieved(self, run: OpenRun, told: _Told, request: Request) -> None:
        """Record passages that the request carries as such, each once."""
        new = [one for one in request.documents if _digest(one) not in told.documents]
        if new:
            told.documents |= {_digest(one) for one in new}
            run.retrieval(_asks(request), name="request").end(new)

    def _returned(self, run: OpenRun, told: _Told, request: Request) -> None:
        """Record the calls of tools whose results the request brings, unless the program did."""
        told.asked |= {one.call_id: one for one in request.asked}
        for one in request.returned:
            asked = told.asked.get(one.call_id)
            if one.call_id in told.returned or asked is None:
                continue
            told.returned.add(one.call_id)
            with self._lock:
                self._waiting.pop(one.call_id, None)
            if run.has("tool", one.call_id):
                continue
            call = run.tool(asked.name, asked.arguments, call_id=one.call_id)
            if one.failed:
                call.fail(_plain(one.content))
            else:
                call.end(_plain(one.content))

    def waits(self, run: OpenRun, asked: tuple[Asked, ...]) -> None:
        """Remember which conversation goes on with the results of these calls."""
        with self._lock:
            self._waiting |= {one.call_id: run for one in asked}
            while len(self._waiting) > _MOST_OPEN:
                given_up = self._waiting.pop(next(iter(self._waiting)))
                given_up.end(error="unfinished: what a tool gave was never sent")


@dataclass(slots=True)
class _Exchange:
    """A request that was sent, until its reply is there."""

    listener: _Listener
    form: Form
    run: OpenRun
    call: OpenCall
    told: _Told
    is_own: bool
    is_over: bool = False
    body: bytearray = field(default_factory=bytearray)

    def failed(self, error: BaseException) -> None:
        """End it with what kept the reply from coming."""
        if not self.is_over:
            self.is_over = True
            self.call.fail(error)
            if self.is_own:
                self.run.end(error=error)

    def got(self, chunk: bytes) -> None:
        """Take a piece of the reply."""
        if len(self.body) <= self.listener.recorder.policy.max_run_bytes:
            self.body += chunk

    def over(self, status: int, content_type: str) -> None:
        """End it with the reply as far as it came."""
        if self.is_over:
            return
        self.is_over = True
        try:
            self._end(read_reply(self.form, status, content_type, bytes(self.body)))
        except Exception as error:  # noqa: BLE001 - the host goes on, whatever the reply is
            self.call.fail(f"the reply could not be read: {type(error).__name__}: {error}")

    def _end(self, reply: Reply) -> None:
        if reply.error:
            self.call.fail(reply.error, response=reply.message)
        else:
            self.call.end(response=reply.message, usage=reply.usage)
        self.told.asked |= {one.call_id: one for one in reply.asked}
        if reply.text and not reply.asked:
            self.run.answer(reply.text, [one.model_dump() for one in reply.citations])
        if self.is_own and reply.asked and not reply.error:
            self.listener.waits(self.run, reply.asked)
        elif self.is_own:
            self.run.end(error=reply.error)


def _listening(send: Callable[..., Any], listener: _Listener) -> Callable[..., Any]:
    @wraps(send)
    def listening(request: Any, *given: Any, **named: Any) -> Any:
        exchange = listener.sent(request.url.path, request.read)
        if exchange is None:
            return send(request, *given, **named)
        try:
            response = send(request, *given, **named)
        except BaseException as error:
            exchange.failed(error)
            raise
        _overhear(response, exchange)
        return response

    return listening


def _listening_async(send: Callable[..., Any], listener: _Listener) -> Callable[..., Any]:
    @wraps(send)
    async def listening(request: Any, *given: Any, **named: Any) -> Any:
        exchange = listener.sent(request.url.path, request.read)
        if exchange is None:
            return await send(request, *given, **named)
        try:
            response = await send(request, *given, **named)
        except BaseException as error:
            exchange.failed(error)
            raise
        _overhear(response, exchange)
        return response

    return listening


def _overhear(response: Any, exchange: _Exchange) -> None:
    """Take the reply along as the program reads it, or at once where it has been read."""
    told = response.status_code, response.headers.get("content-type", "")
    if response.is_closed and hasattr(response, "_content"):
        exchange.got(response.content)
        exchange.over(*told)
        return
    pieces, pieces_async = response.iter_bytes, response.aiter_bytes
    close, close_async = response.close, response.aclose

    def iter_bytes(chunk_size: int | None = None) -> Iterator[bytes]:
        try:
            for piece in pieces(chunk_size):
                exchange.got(piece)
                yield piece
        finally:
            exchange.over(*told)

    async def aiter_bytes(chunk_size: int | None = None) -> AsyncIterator[bytes]:
        try:
            async for piece in pieces_async(chunk_size):
                exchange.got(piece)
                yield piece
        finally:
            exchange.over(*told)

    def closing() -> None:
        close()
        exchange.over(*told)

    async def closing_async() -> None:
        await close_async()
        exchange.over(*told)

    response.iter_bytes, response.aiter_bytes = iter_bytes, aiter_bytes
    response.close, response.aclose = closing, closing_async


def _asks(request: Request) -> str:
    """Return the last thing that a user says in a request."""
    messages = request.messages
    if isinstance(messages, str):
        return messages
    said = [one for one in as_objects(messages) if one.get("role") == "user"]
    for one in reversed(said):
        text = _text_of(one.get("content"))
        if text:
            return text
    return ""


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(text for part in as_objects(content) if (text := as_text(part.get("text"))))


def _plain(content: Any) -> Any:
    """Return what a tool gave: its text where it is wrapped in parts of text alone."""
    if isinstance(content, list) and all(one.get("type") == "text" for one in as_objects(content)):
        return _text_of(content)
    return content


def _digest(document: Any) -> str:
    return sha256_hex(f"{document['id']}\n{document['text']}".encode(errors="surrogatepass"))

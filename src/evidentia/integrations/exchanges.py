"""What went to a model's API and what came back, read from the bytes of three wire formats.

OpenAI's chat completions and responses, and Anthropic's messages; streamed or not. What has
another form is not guessed at: `read_request` says None to it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import orjson

from evidentia.integrations.json_parts import Form, as_object, as_objects, as_text, read_arguments
from evidentia.integrations.run import Citation
from evidentia.integrations.streamed import read_stream

_PATHS: Final[tuple[tuple[str, Form], ...]] = (
    ("/chat/completions", "chat"),
    ("/responses", "responses"),
    ("/messages", "messages"),
)
_SHOWN_ERROR: Final = 500


@dataclass(frozen=True, slots=True)
class Asked:
    """A call of a tool that the model asked for."""

    call_id: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class Returned:
    """What a program gave back for a call of a tool, as the next request says it."""

    call_id: str
    content: Any
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What was sent: messages to the letter, and the rest of the request beside them."""

    form: Form
    model: str
    messages: Any
    instructions: Any = None
    tools: Any = ()
    rest: Mapping[str, Any] = field(default_factory=dict)
    asked: tuple[Asked, ...] = ()
    """Calls that the model asked for in the past, which the request repeats."""
    returned: tuple[Returned, ...] = ()
    documents: tuple[Mapping[str, Any], ...] = ()
    """Passages that the request carries as such, as contexts of a check."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the message as JSON, its text, and what it asks for."""

    message: Any = None
    text: str = ""
    asked: tuple[Asked, ...] = ()
    citations: tuple[Citation, ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None


def form_of(path: str) -> Form | None:
    """Return the wire format of a request by where it goes; None for any other."""
    return next((form for end, form in _PATHS if path.rstrip("/").endswith(end)), None)


def read_request(form: Form, body: bytes) -> Request | None:
    """Read a request; None if it is not one that this form has."""
    try:
        sent = orjson.loads(body)
    except ValueError:
        return None
    if not isinstance(sent, dict) or not isinstance(sent.get("model"), str):
        return None
    rest = dict(sent)
    model, tools = rest.pop("model"), rest.pop("tools", None) or ()
    if form == "responses":
        given = rest.pop("input", None)
        messages: Any = [] if given is None else given
        instructions = rest.pop("instructions", None)
    else:
        messages = rest.pop("messages", None)
        instructions = rest.pop("system", None) if form == "messages" else None
        if not isinstance(messages, list):
            return None
    asked, returned, documents = _told(form, messages if isinstance(messages, list) else [])
    return Request(form, model, messages, instructions, tools, rest, asked, returned, documents)


def read_reply(form: Form, status: int, content_type: str, body: bytes) -> Reply:
    """Read what came back, whole or streamed; what is no reply of this form has an error."""
    if status >= 400:  # noqa: PLR2004 - where HTTP's errors begin
        return Reply(error=f"HTTP {status}: {body[:_SHOWN_ERROR].decode(errors='replace')}")
    if "text/event-stream" in content_type:
        streamed = read_stream(form, body)
        if streamed.reply is None:
            return Reply(error=streamed.error or "the stream has no message")
        return _reply(form, streamed.reply, streamed.error)
    try:
        found = orjson.loads(body)
    except ValueError:
        return Reply(error="the reply is no JSON")
    if not isinstance(found, dict):
        return Reply(error="the reply is no JSON object")
    return _reply(form, found, None)


def _reply(form: Form, found: Mapping[str, Any], error: str | None) -> Reply:
    reply = _REPLIES[form](found)
    told = error or as_text(as_object(found.get("error")).get("message"))
    if reply.message is None and not told:
        told = "the reply has no message"
    return replace(reply, usage=as_object(found.get("usage")), error=told or None)


def _completion(found: Mapping[str, Any]) -> Reply:
    choices = as_objects(found.get("choices"))
    message = as_object(choices[0].get("message")) if choices else {}
    return Reply(
        message or None,
        as_text(message.get("content")),
        tuple(_chat_calls(message)),
        tuple(_annotated(as_objects(message.get("annotations")), 0)),
    )


def _response(found: Mapping[str, Any]) -> Reply:
    text, citations, asked = "", list[Citation](), list[Asked]()
    for item in as_objects(found.get("output")):
        if item.get("type") == "function_call":
            asked.append(_asked(item, "call_id", item.get("arguments")))
        for part in as_objects(item.get("content")) if item.get("type") == "message" else ():
            if part.get("type") == "output_text":
                citations += _annotated(as_objects(part.get("annotations")), len(text))
                text += as_text(part.get("text"))
    return Reply(found.get("output"), text, tuple(asked), tuple(citations))


def _message(found: Mapping[str, Any]) -> Reply:
    text, citations, asked = "", list[Citation](), list[Asked]()
    for block in as_objects(found.get("content")):
        if block.get("type") == "tool_use":
            asked.append(_asked(block, "id", block.get("input")))
        elif block.get("type") == "text":
            begins, text = len(text), text + as_text(block.get("text"))
            citations += _cited(as_objects(block.get("citations")), begins, len(text))
    message = {"role": found.get("role", "assistant"), "content": found.get("content")}
    return Reply(message, text, tuple(asked), tuple(citations))


_REPLIES: Final = {"chat": _completion, "responses": _response, "messages": _message}


def _told(
    form: Form, messages: list[Any]
) -> tuple[tuple[Asked, ...], tuple[Returned, ...], tuple[Mapping[str, Any], ...]]:
    """Return the calls that a request repeats, what came of them, and the passages in it."""
    asked, returned, documents = list[Asked](), list[Returned](), list[Mapping[str, Any]]()
    for message in as_objects(messages):
        if form == "chat":
            asked += _chat_calls(message)
            if message.get("role") == "tool":
                returned.append(_returned(message, "tool_call_id", message.get("content")))
        elif form == "responses":
            if message.get("type") == "function_call":
                asked.append(_asked(message, "call_id", message.get("arguments")))
            if message.get("type") == "function_call_output":
                returned.append(_returned(message, "call_id", message.get("output")))
        else:
            for block in as_objects(message.get("content")):
                if block.get("type") == "tool_use":
                    asked.append(_asked(block, "id", block.get("input")))
                elif block.get("type") == "tool_result":
                    returned.append(_returned(block, "tool_use_id", block.get("content")))
                    documents += _documents(as_objects(block.get("content")), len(documents))
                else:
                    documents += _documents([block], len(documents))
    return tuple(asked), tuple(returned), tuple(documents)


def _chat_calls(message: Mapping[str, Any]) -> Iterator[Asked]:
    for call in as_objects(message.get("tool_calls")):
        function = as_object(call.get("function"))
        yield _asked({"id": call.get("id"), **function}, "id", function.get("arguments"))


def _asked(call: Mapping[str, Any], key: str, arguments: Any) -> Asked:
    return Asked(as_text(call.get(key)), as_text(call.get("name")), read_arguments(arguments))


def _returned(message: Mapping[str, Any], key: str, content: Any) -> Returned:
    return Returned(as_text(message.get(key)), content, message.get("is_error") is True)


def _documents(blocks: list[Mapping[str, Any]], known: int) -> Iterator[Mapping[str, Any]]:
    """Yield the passages among a message's blocks, as contexts of a check."""
    for block in blocks:
        title, source = as_text(block.get("title")), block.get("source")
        if block.get("type") == "search_result":
            text = "\n".join(as_text(part.get("text")) for part in as_objects(block.get("content")))
            name = as_text(source) or title
        elif block.get("type") == "document" and isinstance(source, dict):
            parts = as_objects(source.get("content"))
            text = as_text(source.get("data")) if source.get("type") == "text" else ""
            text = text or "\n".join(as_text(part.get("text")) for part in parts)
            name = title or f"document {known}"
        else:
            continue
        if text:
            known += 1
            yield {"text": text, "id": name, "metadata": {"title": title}}


def _annotated(annotations: list[Mapping[str, Any]], begins: int) -> Iterator[Citation]:
    """Yield OpenAI's citations; their indexes count from where their text begins."""
    for one in annotations:
        said = {**one, **as_object(one.get(as_text(one.get("type"))))}
        source = next(
            (name for key in ("filename", "url", "file_id") if (name := as_text(said.get(key)))), ""
        )
        if source:
            start, end = said.get("start_index"), said.get("end_index")
            is_placed = isinstance(start, int) and isinstance(end, int) and 0 <= start <= end
            yield Citation(
                source=source,
                start=begins + start if is_placed and isinstance(start, int) else None,
                end=begins + end if is_placed and isinstance(end, int) else None,
                quote=as_text(said.get("quote")),
            )


def _cited(citations: list[Mapping[str, Any]], start: int, end: int) -> Iterator[Citation]:
    """Yield Anthropic's citations: each is of the whole block of text that it stands in."""
    for one in citations:
        index = one.get("document_index")
        source = as_text(one.get("source")) or as_text(one.get("url"))
        source = source or as_text(one.get("document_title")) or f"document {index}"
        yield Citation(source=source, start=start, end=end, quote=as_text(one.get("cited_text")))

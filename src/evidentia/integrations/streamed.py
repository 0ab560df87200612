"""Replies of models that came in pieces, put together as the whole reply would have been."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from evidentia.integrations.json_parts import Form, as_object, as_objects, as_text, read_arguments

_LINES: Final = re.compile(rb"\r\n|\n|\r")
_SHOWN_ERROR: Final = 500
_LAST: Final = {
    "responses": {"response.completed", "response.incomplete", "response.failed"},
    "messages": {"message_stop"},
}


@dataclass(frozen=True, slots=True)
class Streamed:
    """A reply as far as it came, None if nothing did; and what was wrong with it."""

    reply: Mapping[str, Any] | None
    error: str | None


def read_stream(form: Form, body: bytes) -> Streamed:
    """Read a stream of server-sent events, whole or cut off anywhere."""
    events = list(_events(body))
    error = _failure(events)
    if error is None and not _has_ended(form, events):
        error = "the stream was cut off"
    return Streamed(_ASSEMBLED[form](events), error)


def _events(body: bytes) -> Iterator[dict[str, Any]]:
    data: list[bytes] = []
    for line in [*_LINES.split(body), b""]:
        if line.startswith(b"data:"):
            data.append(line.removeprefix(b"data:").strip())
        elif not line and data:
            try:
                found = orjson.loads(b"\n".join(data))
            except ValueError:  # "[DONE]", or an event that was cut off
                found = None
            if isinstance(found, dict):
                yield found
            data = []


def _has_ended(form: Form, events: list[dict[str, Any]]) -> bool:
    if form == "chat":
        choices = [one for event in events for one in as_objects(event.get("choices"))]
        return any(one.get("finish_reason") for one in choices)
    return any(as_text(event.get("type")) in _LAST[form] for event in events)


def _failure(events: list[dict[str, Any]]) -> str | None:
    for event in events:
        told = event.get("error") or as_object(event.get("response")).get("error")
        if isinstance(told, dict):
            return as_text(told.get("message")) or orjson.dumps(told).decode()[:_SHOWN_ERROR]
        if event.get("type") == "error":
            return as_text(event.get("message")) or "the stream ended with an error"
    return None


def _completion(events: list[dict[str, Any]]) -> dict[str, Any] | None:
    message: dict[str, Any] = {}
    calls: dict[int, dict[str, Any]] = {}
    usage: Mapping[str, Any] = {}
    for event in events:
        usage = as_object(event.get("usage")) or usage
        for choice in as_objects(event.get("choices")):
            if not choice.get("index"):  # of several answers, the first is read
                delta = as_object(choice.get("delta"))
                for piece in as_objects(delta.get("tool_calls")):
                    _join_call(calls.setdefault(piece.get("index") or 0, {}), piece)
                _join_message(message, delta)
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return {"choices": [{"message": message}], "usage": usage} if message else None


def _join_message(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for name, value in delta.items():
        if name == "tool_calls" or value is None:
            continue
        if isinstance(value, str) and name != "role":
            message[name] = as_text(message.get(name)) + value
        elif isinstance(value, list):
            message[name] = [*message.get(name, []), *value]
        else:
            message[name] = value


def _join_call(call: dict[str, Any], piece: Mapping[str, Any]) -> None:
    given = as_object(piece.get("function"))
    function = call.setdefault("function", {"name": "", "arguments": ""})
    for name in ("name", "arguments"):
        function[name] += as_text(given.get(name))
    for name in ("id", "type"):
        if piece.get(name):
            call[name] = piece[name]


def _response(events: list[dict[str, Any]]) -> Mapping[str, Any] | None:
    for event in reversed(events):  # its end repeats it whole
        if as_text(event.get("type")) in _LAST["responses"]:
            return as_object(event.get("response")) or None
    done = [event for event in events if event.get("type") == "response.output_item.done"]
    items = [event["item"] for event in done if isinstance(event.get("item"), dict)]
    return {"output": items} if items else None


def _message(events: list[dict[str, Any]]) -> dict[str, Any] | None:
    message: dict[str, Any] = {}
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        kind, index = event.get("type"), event.get("index") or 0
        if kind == "message_start":
            message = dict(as_object(event.get("message")))
        elif kind == "content_block_start":
            blocks[index] = dict(as_object(event.get("content_block")))
        elif kind == "content_block_delta":
            _join_block(blocks.setdefault(index, {}), as_object(event.get("delta")))
        elif kind == "message_delta":
            used = {**as_object(message.get("usage")), **as_object(event.get("usage"))}
            message |= {**as_object(event.get("delta")), "usage": used}
    for block in blocks.values():
        if "partial_json" in block:
            block["input"] = read_arguments(block.pop("partial_json"))
    if not message:
        return None
    return {**message, "content": [blocks[index] for index in sorted(blocks)]}


def _join_block(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for name in ("text", "thinking", "signature", "partial_json"):
        if name in delta:
            block[name] = as_text(block.get(name)) + as_text(delta[name])
    if delta.get("type") == "citations_delta":
        block["citations"] = [*(block.get("citations") or []), delta.get("citation")]


_ASSEMBLED: Final = {"chat": _completion, "responses": _response, "messages": _message}

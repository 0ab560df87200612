"""A model's API on loopback that answers by a script, and remembers exactly what it was asked.

It speaks OpenAI's chat completions (`/v1/chat/completions`) and responses (`/v1/responses`), and
Anthropic's messages (`/v1/messages`), streamed where the request asks for it. Which turn is
answered follows from the request alone: from how many results of tools its conversation has.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

MODEL = "fake-model-1"


@dataclass(frozen=True)
class AskedTool:
    """A call of a tool that the model asks for."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Turn:
    """What the model answers at once: calls of tools, or a text with what it cites."""

    calls: Sequence[AskedTool] = ()
    text: str = ""
    citations: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Asked:
    """A request that was received: its path and its body, as they came."""

    path: str
    body: dict[str, Any]

    @property
    def messages(self) -> Any:
        """The request's messages: `messages`, or the `input` of the responses API."""
        return self.body.get("messages", self.body.get("input"))

    @property
    def instructions(self) -> Any:
        """What was sent beside the messages."""
        return self.body.get("system", self.body.get("instructions"))


@dataclass
class FakeModel:
    """A running API: `url` with `/v1`, and `requests` in the order in which they came."""

    script: Sequence[Turn]
    url: str = ""
    requests: list[Asked] = field(default_factory=list)
    fail_with: int | None = None
    """The status to answer with instead, if it is to fail."""
    _lock: Lock = field(default_factory=Lock)

    @property
    def root(self) -> str:
        """The address without `/v1`, as Anthropic's client wants it."""
        return self.url.removesuffix("/v1")

    def take(self, path: str, body: dict[str, Any]) -> Turn:
        """Remember a request; return the turn that answers it."""
        with self._lock:
            self.requests.append(Asked(path, body))
        done = _results(self.requests[-1].messages if body is None else Asked(path, body).messages)
        at = 0
        for number, turn in enumerate(self.script):
            at = number
            if done < len(turn.calls) or not turn.calls:
                break
            done -= len(turn.calls)
        return self.script[at]


def _results(messages: Any) -> int:
    """Count the results of tools in a conversation, in any of the three forms."""
    if not isinstance(messages, list):
        return 0
    count = 0
    for one in messages:
        if one.get("role") == "tool" or one.get("type") == "function_call_output":
            count += 1
        content = one.get("content")
        if isinstance(content, list):
            count += sum(1 for part in content if part.get("type") == "tool_result")
    return count


@contextmanager
def serving(script: Sequence[Turn]) -> Iterator[FakeModel]:
    """Serve a script on a free port of loopback."""
    fake = FakeModel(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

        def do_GET(self) -> None:
            self._send({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            turn = fake.take(self.path, body)
            if fake.fail_with is not None:
                self._send({"error": {"message": "the model is away", "type": "x"}}, fake.fail_with)
                return
            whole, stream = FORMS[self.path.partition("?")[0]]
            if body.get("stream"):
                self._stream(stream(turn, body))
            else:
                self._send(whole(turn, body))

        def _send(self, value: Any, status: int = 200) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, events: Iterator[tuple[str | None, Any]]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for name, value in events:
                head = f"event: {name}\n" if name else ""
                data = value if isinstance(value, str) else json.dumps(value)
                self.wfile.write(f"{head}data: {data}\n\n".encode())
            self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# OpenAI's chat completions


def _chat_message(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
            }
            for call in turn.calls
        ]
    if turn.citations:
        message["annotations"] = [dict(one) for one in turn.citations]
    return message


_CHAT_USAGE = {"prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19}


def _chat(turn: Turn, body: dict[str, Any]) -> dict[str, Any]:
    reason = "tool_calls" if turn.calls else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": body["model"],
        "choices": [{"index": 0, "message": _chat_message(turn), "finish_reason": reason}],
        "usage": _CHAT_USAGE,
    }


def _chat_stream(turn: Turn, body: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> tuple[None, dict[str, Any]]:
        return None, {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1_790_000_000,
            "model": body["model"],
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(turn.text):
        yield chunk({"content": piece})
    for number, call in enumerate(turn.calls):
        begun = {"name": call.name, "arguments": ""}
        told = {"index": number, "id": call.call_id, "type": "function", "function": begun}
        yield chunk({"tool_calls": [told]})
        for piece in _pieces(json.dumps(dict(call.arguments))):
            yield chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if turn.calls else "stop")
    if (body.get("stream_options") or {}).get("include_usage"):
        _, last = chunk({})
        yield None, {**last, "choices": [], "usage": _CHAT_USAGE}
    yield None, "[DONE]"


# OpenAI's responses


def _response_items(turn: Turn) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [
        {
            "id": f"fc_{call.call_id}",
            "type": "function_call",
            "status": "completed",
            "call_id": call.call_id,
            "name": call.name,
            "arguments": json.dumps(dict(call.arguments)),
        }
        for call in turn.calls
    ]
    if turn.text:
        cited = [dict(one) for one in turn.citations]
        part = {"type": "output_text", "text": turn.text, "annotations": cited, "logprobs": []}
        items.append(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    return items


def _response(turn: Turn, body: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": "completed",
        "model": body["model"],
        "output": _response_items(turn),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": body.get("tools", []),
        "error": None,
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "metadata": {},
        "temperature": 1.0,
        "top_p": 1.0,
        "usage": {
            "input_tokens": 12,
            "output_tokens": 7,
            "total_tokens": 19,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


def _response_stream(turn: Turn, body: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
    whole = _response(turn, body)
    number = 0

    def event(kind: str, **what: Any) -> tuple[str, dict[str, Any]]:
        nonlocal number
        number += 1
        return kind, {"type": kind, "sequence_number": number, **what}

    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=begun)
    for place, item in enumerate(whole["output"]):
        empty: dict[str, Any] = {"status": "in_progress"}
        if item["type"] == "message":
            empty["content"] = []
        else:
            empty["arguments"] = ""
        at = {"item_id": item["id"], "output_index": place}
        yield event("response.output_item.added", output_index=place, item={**item, **empty})
        if item["type"] == "message":
            part = item["content"][0]
            blank = {**part, "text": "", "annotations": []}
            at["content_index"] = 0
            yield event("response.content_part.added", **at, part=blank)
            for piece in _pieces(part["text"]):
                yield event("response.output_text.delta", **at, delta=piece, logprobs=[])
            yield event("response.output_text.done", **at, text=part["text"], logprobs=[])
            yield event("response.content_part.done", **at, part=part)
        else:
            for piece in _pieces(item["arguments"]):
                yield event("response.function_call_arguments.delta", **at, delta=piece)
            done = {"arguments": item["arguments"], "name": item["name"]}
            yield event("response.function_call_arguments.done", **at, **done)
        yield event("response.output_item.done", output_index=place, item=item)
    yield event("response.completed", response=whole)


# Anthropic's messages


def _blocks(turn: Turn) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if turn.text:
        block: dict[str, Any] = {"type": "text", "text": turn.text}
        if turn.citations:
            block["citations"] = [dict(one) for one in turn.citations]
        blocks.append(block)
    for call in turn.calls:
        told = {"id": call.call_id, "name": call.name, "input": dict(call.arguments)}
        blocks.append({"type": "tool_use", **told})
    return blocks


def _message(turn: Turn, body: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": _blocks(turn),
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 7},
    }


def _message_stream(turn: Turn, body: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
    whole = _message(turn, body)
    begun = {**whole, "content": [], "stop_reason": None}
    yield "message_start", {"type": "message_start", "message": begun}
    for index, block in enumerate(whole["content"]):
        empty: dict[str, Any] = {**block}
        if block["type"] == "text":
            empty["text"] = ""
        else:
            empty["input"] = {}
        empty.pop("citations", None)
        started = {"type": "content_block_start", "index": index, "content_block": empty}
        yield "content_block_start", started
        if block["type"] == "text":
            deltas = [{"type": "text_delta", "text": one} for one in _pieces(block["text"])]
            cited = block.get("citations", ())
            deltas += [{"type": "citations_delta", "citation": one} for one in cited]
        else:
            pieces = _pieces(json.dumps(block["input"]))
            deltas = [{"type": "input_json_delta", "partial_json": one} for one in pieces]
        for delta in deltas:
            told = {"type": "content_block_delta", "index": index, "delta": delta}
            yield "content_block_delta", told
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 7}}
    yield "message_stop", {"type": "message_stop"}


def _pieces(text: str) -> list[str]:
    return [text[at : at + 9] for at in range(0, len(text), 9)]


FORMS: Any = {
    "/v1/chat/completions": (_chat, _chat_stream),
    "/v1/responses": (_response, _response_stream),
    "/v1/messages": (_message, _message_stream),
}

"""What a run's models saw, as the inputs of a bundle; and read back from a bundle.

A message is an item, once, however many requests carry it; a request is an item that lists its
messages by their numbers, so that each request can be read back to the letter.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from evidentia.bundles.model import EvidenceBundle
from evidentia.canonical import canonical_json, parse_json
from evidentia.frozen import thaw
from evidentia.integrations.run import Addendum, ModelCall, Retrieval, Run


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """A request as a bundle keeps it: what was sent, and the message that came back."""

    call_id: str
    provider: str
    model: str
    messages: Any
    instructions: Any
    response: Any


@dataclass(slots=True)
class _Messages:
    """The messages of a run by their numbers, each once."""

    numbers: dict[bytes, int] = field(default_factory=dict)
    made: list[dict[str, Any]] = field(default_factory=list)

    def number(self, message: Any) -> int:
        text = canonical_json(thaw(message))
        known = self.numbers.get(text)
        if known is not None:
            return known
        number = self.numbers[text] = len(self.numbers)
        role = message.get("role") if isinstance(message, dict) else None
        about = {"kind": "message", "message": number}
        self.made.append({"text": text.decode(), **about, "role": role or "input"})
        return number


def evidence_of(of: Run | Addendum, run_id: str, sources: Any = None) -> list[dict[str, Any]]:
    """Return what a bundle is built of: the run itself, its requests, messages and contexts."""
    messages = _Messages()
    items = [_item("run", {**_about(of), "run_id": run_id})]
    for event in of.events:
        if isinstance(event, ModelCall):
            items.append(_item("request", _request(event, messages), call_id=event.call_id))
        elif isinstance(event, Retrieval):  # what tools did is in the tool ledger
            items += _contexts(event)
    if sources:
        items.append(_item("sources", sources))
    return [items[0], *messages.made, *items[1:]]


def seen_requests(bundle: EvidenceBundle) -> list[SeenRequest]:
    """Return the requests of a run from its bundle, in order, each as it was sent."""
    messages: dict[int, Any] = {}
    requests: list[dict[str, Any]] = []
    for item in bundle.items:
        match item.source_ref.get("kind"):
            case "message":
                messages[item.source_ref["message"]] = parse_json(item.content.encode())
            case "request":
                requests.append(parse_json(item.content.encode()))
    return [
        SeenRequest(
            call_id=one["call_id"],
            provider=one["provider"],
            model=one["model"],
            messages=_sent(one, messages),
            instructions=one["instructions"],
            response=one["response"],
        )
        for one in requests
    ]


def _sent(request: dict[str, Any], messages: dict[int, Any]) -> Any:
    listed = [
        messages[number] for first, last in request["messages"] for number in range(first, last + 1)
    ]
    return listed if request["is_list"] else listed[0]


def _request(call: ModelCall, messages: _Messages) -> dict[str, Any]:
    dumped = call.model_dump(mode="json", exclude={"messages", "kind"})
    is_list = isinstance(call.messages, list)
    numbers = [messages.number(one) for one in (call.messages if is_list else [call.messages])]
    return {**dumped, "messages": _ranges(numbers), "is_list": is_list}


def _ranges(numbers: Sequence[int]) -> list[list[int]]:
    """Return numbers as the first and last of those that follow each other."""
    if not numbers:
        return []
    starts = [0, *(at for at, (one, two) in enumerate(pairwise(numbers), 1) if two != one + 1)]
    ends = [*starts[1:], len(numbers)]
    return [[numbers[start], numbers[end - 1]] for start, end in zip(starts, ends, strict=True)]


def _about(of: Run | Addendum) -> dict[str, Any]:
    """Return what is said of a run beside its events, and in which order those came."""
    about = of.model_dump(mode="json", exclude={"events"})
    order = [{"kind": one.kind, "call_id": one.call_id, "error": one.error} for one in of.events]
    return {**about, "events": order}


def _contexts(retrieval: Retrieval) -> Iterator[dict[str, Any]]:
    about = retrieval.model_dump(mode="json", exclude={"contexts", "kind"})
    yield _item("retrieval", about, call_id=retrieval.call_id)
    for number, context in enumerate(_plain(retrieval.contexts), 1):
        text = context if isinstance(context, str) else str(context.get("text", ""))
        identity = None if isinstance(context, str) else context.get("id")
        yield {
            "text": text,
            "kind": "context",
            "retrieval": retrieval.call_id,
            "number": number,
            **({} if identity is None else {"context": identity}),
        }


def _plain(contexts: Iterable[Any]) -> list[Any]:
    return [thaw(one) for one in contexts]


def _item(kind: str, value: Any, **about: Any) -> dict[str, Any]:
    return {"text": canonical_json(value).decode(), "kind": kind, **about}

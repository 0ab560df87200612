"""Protocols: where the answer stands in each one's events, and how parts go among them.

| Protocol | A part is | Clients that don't know it |
|---|---|---|
| AI SDK 6, 7 | a `data-evidentia-…` part | keep data parts of any name |
| AG-UI 1.0 | a `CUSTOM` event `evidentia.…` | are told to leave aside names they don't know |
| OpenAI chat completions | a chunk with an empty delta, and `evidentia` in it | add nothing |
| OpenAI responses | an event of type `evidentia.…` | look at types they know |
| Anthropic messages | an event named `evidentia.…` | skip it, or look at types they know |

Clients stop reading at `[DONE]`, and AG-UI's refuse what comes after a run's end: parts go before.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from evidentia.ledger.wire.events import DONE
from evidentia.ledger.wire.parts import KINDS, ClaimPart, Part
from evidentia.sources.model import SourceItem
from evidentia.sources.wire.ag_ui import ag_ui_event
from evidentia.sources.wire.ai_sdk import ai_sdk_parts
from evidentia.sources.wire.rag import rag_payload

Event = dict[str, Any]
BREAK: Final = "\n\n"
"""What stands between two texts of one answer, as where a tool was called between them."""
_RUN_ENDS: Final = ("RUN_FINISHED", "RUN_ERROR")


@dataclass(frozen=True, slots=True)
class StreamProtocol:
    """A protocol of streams. `text` says what an event adds to the answer, or "" if nothing.

    `is_last` says whether clients may stop reading at an event. `events` and `sources` give the
    events of a part and of sources; `like` is the event before them. `is_named`: server-sent
    events carry their type as their name.
    """

    name: str
    text: Callable[[Mapping[str, Any]], str]
    is_last: Callable[[Mapping[str, Any]], bool]
    events: Callable[[Part, Mapping[str, Any]], list[Event]]
    sources: Callable[[Iterable[SourceItem], Mapping[str, Any]], list[Event]]
    is_named: bool = False


def part_data(part: Part) -> dict[str, Any]:
    """Return a part as JSON can hold it."""
    data: dict[str, Any] = part.model_dump(mode="json")
    return data


def part_type(part: Part) -> str:
    """Return what a part is called: `evidentia.claim`, `evidentia.ledger`, `evidentia.problem`."""
    return f"evidentia.{KINDS[type(part)]}"


def ai_sdk_part(part: Part) -> Event:
    """Return a part as the AI SDK's data part; a claim that is told again replaces the first."""
    found: Event = {"type": f"data-evidentia-{KINDS[type(part)]}"}
    if isinstance(part, ClaimPart):
        found["id"] = part.id
    return {**found, "data": part_data(part)}


def _never(_: Mapping[str, Any]) -> bool:
    return False


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""


# Vercel's AI SDK


def _ai_sdk_text(event: Mapping[str, Any]) -> str:
    kind = event.get("type")
    if kind == "text-start":
        return BREAK
    return _string(event.get("delta")) if kind == "text-delta" else ""


def _ai_sdk_events(part: Part, _: Mapping[str, Any]) -> list[Event]:
    return [ai_sdk_part(part)]


def _ai_sdk_sources(sources: Iterable[SourceItem], _: Mapping[str, Any]) -> list[Event]:
    return ai_sdk_parts(sources)


# AG-UI


def _ag_ui_text(event: Mapping[str, Any]) -> str:
    kind = event.get("type")
    if kind == "TEXT_MESSAGE_START":
        return BREAK
    said = kind in ("TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK")
    return _string(event.get("delta")) if said else ""


def _ag_ui_is_last(event: Mapping[str, Any]) -> bool:
    return event.get("type") in _RUN_ENDS


def _ag_ui_events(part: Part, _: Mapping[str, Any]) -> list[Event]:
    return [{"type": "CUSTOM", "name": part_type(part), "value": part_data(part)}]


def _ag_ui_sources(sources: Iterable[SourceItem], _: Mapping[str, Any]) -> list[Event]:
    return [ag_ui_event(sources)]


# OpenAI's chat completions


def _chat_text(event: Mapping[str, Any]) -> str:
    choices = event.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, Mapping) and choice.get("index", 0) == 0:
            delta = choice.get("delta")
            return _string(delta.get("content")) if isinstance(delta, Mapping) else ""
    return ""


def _chat_chunk(carried: Event, like: Mapping[str, Any]) -> Event:
    """Return a chunk of the same completion that adds nothing to it, and carries a part."""
    return {
        "id": _string(like.get("id")),
        "object": "chat.completion.chunk",
        "created": like.get("created", 0),
        "model": _string(like.get("model")),
        "choices": [{"index": 0, "delta": {}, "finish_reason": None}],
        "evidentia": carried,
    }


def _chat_events(part: Part, like: Mapping[str, Any]) -> list[Event]:
    return [_chat_chunk({"type": KINDS[type(part)], "data": part_data(part)}, like)]


def _chat_sources(sources: Iterable[SourceItem], like: Mapping[str, Any]) -> list[Event]:
    return [_chat_chunk({"type": "sources", "data": rag_payload(sources)}, like)]


# OpenAI's responses, and Anthropic's messages: types of events of our own


def _responses_text(event: Mapping[str, Any]) -> str:
    kind = event.get("type")
    if kind == "response.content_part.added":
        return BREAK
    return _string(event.get("delta")) if kind == "response.output_text.delta" else ""


def _messages_text(event: Mapping[str, Any]) -> str:
    kind = event.get("type")
    if kind == "content_block_start":
        block = event.get("content_block")
        # text goes on in the next block where a citation begins, and not where a tool is called
        is_text = not isinstance(block, Mapping) or block.get("type") == "text"
        return "" if is_text else BREAK
    delta = event.get("delta")
    if kind == "content_block_delta" and isinstance(delta, Mapping):
        return _string(delta.get("text")) if delta.get("type") == "text_delta" else ""
    return ""


def _typed_events(part: Part, _: Mapping[str, Any]) -> list[Event]:
    return [{"type": part_type(part), "data": part_data(part)}]


def _typed_sources(sources: Iterable[SourceItem], _: Mapping[str, Any]) -> list[Event]:
    return [{"type": "evidentia.sources", "data": rag_payload(sources)}]


PROTOCOLS: Final[dict[str, StreamProtocol]] = {
    "ai-sdk": StreamProtocol("ai-sdk", _ai_sdk_text, _never, _ai_sdk_events, _ai_sdk_sources),
    "ag-ui": StreamProtocol("ag-ui", _ag_ui_text, _ag_ui_is_last, _ag_ui_events, _ag_ui_sources),
    "openai-chat": StreamProtocol("openai-chat", _chat_text, _never, _chat_events, _chat_sources),
    "openai-responses": StreamProtocol(
        "openai-responses",
        _responses_text,
        _never,
        _typed_events,
        _typed_sources,
        is_named=True,
    ),
    "anthropic": StreamProtocol(
        "anthropic", _messages_text, _never, _typed_events, _typed_sources, is_named=True
    ),
}
"""Every protocol by its name."""


def adds(protocol: StreamProtocol, data: Any) -> str:
    """Return what an event's data adds to the answer."""
    return protocol.text(data) if isinstance(data, Mapping) else ""


def ends(protocol: StreamProtocol, data: Any) -> bool:
    """Whether clients may stop reading at an event of this data."""
    return data == DONE if not isinstance(data, Mapping) else protocol.is_last(data)

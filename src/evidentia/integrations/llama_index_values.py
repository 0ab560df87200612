"""What LlamaIndex hands over, as the plain values that a run has."""

from collections.abc import Mapping
from typing import Any, Final

from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock

from evidentia.integrations.asked_calls import AskedCall
from evidentia.integrations.json_parts import read_arguments

_PLAIN: Final = (Mapping, list, str, int, float, bool)
_ASKING: Final = ("str_or_query_bundle", "message", "user_msg", "input", "query", "question")
"""What arguments a question stands in, the likeliest first."""


def message_of(message: ChatMessage) -> dict[str, Any]:
    """Return a message in the form of OpenAI's, which most wire forms are like."""
    asks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    others = [block for block in message.blocks if not isinstance(block, ToolCallBlock)]
    told = dict(message.additional_kwargs)
    plain = all(isinstance(block, TextBlock) for block in others)
    said: dict[str, Any] = {"role": message.role.value}
    if plain:
        said["content"] = message.content
    else:
        said["content"] = [_part(block) for block in others]
    calls = told.pop("tool_calls", None) or [
        {
            "id": one.tool_call_id,
            "type": "function",
            "function": {"name": one.tool_name, "arguments": one.tool_kwargs},
        }
        for one in asks
    ]
    if calls:
        said["tool_calls"] = calls
    if told.get("tool_call_id"):
        said["tool_call_id"] = told["tool_call_id"]
    return said


def _part(block: Any) -> dict[str, Any]:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    dumped: dict[str, Any] = block.model_dump(mode="json", exclude_none=True)
    return {"type": dumped.pop("block_type", type(block).__name__), **dumped}


def asked_in(message: ChatMessage) -> list[AskedCall]:
    """Return the calls of tools that a message asks for."""
    found = [
        AskedCall(block.tool_call_id, block.tool_name, read_arguments(block.tool_kwargs))
        for block in message.blocks
        if isinstance(block, ToolCallBlock) and block.tool_call_id
    ]
    if found:
        return found
    calls = message.additional_kwargs.get("tool_calls") or ()
    read = [
        one.model_dump() if hasattr(one, "model_dump") else one
        for one in calls
        if isinstance(one, Mapping) or hasattr(one, "model_dump")
    ]
    return [
        AskedCall(
            str(one["id"]),
            str((one.get("function") or one).get("name")),
            read_arguments((one.get("function") or one).get("arguments")),
        )
        for one in read
        if one.get("id")
    ]


def tool_arguments(tool: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a tool is called with, by name where that is known."""
    named: dict[str, Any] = {}
    for name, value in given.items():
        if name == "kwargs":
            named |= value
        elif name == "args":
            named |= {f"argument_{at}": one for at, one in enumerate(value, 1)}
        else:
            named[name] = value
    hidden = getattr(tool, "ctx_param_name", None)
    return {name: value for name, value in named.items() if name != hidden}


def result_of(output: Any) -> Any:
    """Return what a tool gave: its value if that is plain, else its text."""
    raw = getattr(output, "raw_output", output)
    if isinstance(raw, _PLAIN):
        return raw
    return getattr(output, "content", None) or raw


def usage_of(response: Any) -> Any:
    """Return what a model's reply says of its tokens."""
    raw = getattr(response, "raw", None)
    return raw.get("usage") if isinstance(raw, Mapping) else getattr(raw, "usage", None)


def question_of(given: Mapping[str, Any]) -> str:
    """Return what an agent or an engine is asked, from the arguments it is called with."""
    sources: list[Any] = [given.get(name) for name in _ASKING]
    start = given.get("start_event")
    for name in _ASKING:
        try:
            sources.append(start.get(name))  # type: ignore[union-attr]  # a start event has it
        except (AttributeError, KeyError, TypeError):
            continue
    for one in sources:
        text = getattr(one, "query_str", None) or getattr(one, "content", None) or one
        if isinstance(text, str) and text:
            return text
    return ""


def answer_of(result: Any) -> str:
    """Return what an agent or an engine answers; nothing if it is a stream still to be read."""
    found = getattr(result, "result", result)  # of a workflow's last event
    if isinstance(found, str):
        return found
    response = getattr(found, "response", None)
    text = getattr(response, "content", response)
    return text if isinstance(text, str) else ""

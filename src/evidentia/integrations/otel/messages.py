"""Messages as models' APIs write them: role, content, calls of tools.

Conventions write them each in their own way; what is recorded is what a request or a response of
a chat has.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from evidentia.integrations.otel.attributes import json_of, objects, text_of

_TEXTS: Final = ("text", "reasoning")


def of_parts(said: Any) -> list[dict[str, Any]]:
    """Return messages that were written in parts, as the conventions of GenAI do."""
    return [_of_parts(one) for one in objects(said)]


def _of_parts(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return one message; where it has no parts it is as a chat has it already."""
    parts = objects(said.get("parts"))
    if not parts:
        return {name: one for name, one in said.items() if name != "parts"}
    message: dict[str, Any] = {"role": text_of(said.get("role")) or "user"}
    texts = [text_of(one.get("content")) for one in parts if one.get("type") in _TEXTS]
    calls = [_call(one) for one in parts if one.get("type") == "tool_call"]
    answers = [one for one in parts if one.get("type") == "tool_call_response"]
    known = (*_TEXTS, "tool_call", "tool_call_response")
    others = [one for one in parts if one.get("type") not in known]
    if len(answers) == 1 and not (texts or calls or others):
        given = answers[0].get("response", answers[0].get("result"))
        return {
            "role": "tool",
            "tool_call_id": text_of(answers[0].get("id")),
            "content": text_of(given),
        }
    message["content"] = "\n".join(texts) if texts or calls else None
    if others or answers:
        message["content"] = [
            {"type": "text", "text": text_of(one.get("content"))}
            if one.get("type") in _TEXTS
            else one
            for one in parts
            if one.get("type") != "tool_call"
        ]
    if calls:
        message["tool_calls"] = calls
    for name in ("name", "finish_reason"):
        if said.get(name) is not None:
            message[name] = said[name]
    return message


def _call(part: Mapping[str, Any]) -> dict[str, Any]:
    return called(text_of(part.get("id")), text_of(part.get("name")), part.get("arguments"))


def called(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    """Return a call of a tool as a response of a chat has it."""
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": text_of(arguments)},
    }


def content_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message, without what is no text."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    texts = (text_of(one.get("text", one.get("content"))) for one in objects(content))
    return "\n".join(filter(None, texts))


def last_said(messages: Iterable[Any], role: str) -> str:
    """Return the text of the last message of a role; empty if there is none."""
    found = [
        content_of(one)
        for one in messages
        if isinstance(one, Mapping) and str(one.get("role", "")).lower() == role
    ]
    return next(filter(None, reversed(found)), "")


_ANSWERS: Final = ("output", "answer", "response", "content", "text", "result")
_QUESTIONS: Final = ("input", "query", "question", "prompt", "text")


def plain_answer(value: Any) -> str:
    """Return the answer in what a program put out: text, messages, or an object that names it."""
    return _plain(value, _ANSWERS, "assistant")


def plain_question(value: Any) -> str:
    """Return the question in what a program was given, likewise."""
    return _plain(value, _QUESTIONS, "user")


def _plain(value: Any, names: tuple[str, ...], role: str) -> str:
    found = json_of(value)
    if isinstance(found, str):
        return found
    if isinstance(found, list):
        return last_said(of_parts(found), role)
    if isinstance(found, Mapping):
        if found.get("messages"):
            return last_said(of_parts(found["messages"]), role)
        for name in names:
            if isinstance(found.get(name), str):
                return str(found[name])
    return ""

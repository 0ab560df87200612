"""The two wire formats: what is posted, and what a reply says. Values in, values out.

A reply is hostile: whatever in it is not what the format says is a problem with its reason, and
never an answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from evidentia.canonical import canonical_json, parse_json
from evidentia.errors import CanonicalError
from evidentia.judges.llm.endpoint import LanguageModel
from evidentia.judges.llm.prompt import SCHEMA, TOOL

ANTHROPIC_VERSION: Final = "2023-06-01"
Structure = Literal["json_schema", "json_object", "none"]
_TRUNCATED: Final = "the answer was cut off at its longest"
_MOST_TOKENS: Final = 10**12


@dataclass(frozen=True, slots=True)
class Form:
    """How a server takes what not all of them take alike; it begins with what is best."""

    structure: Structure = "json_schema"
    length: str = "max_tokens"

    def otherwise(self, refusal: str) -> "Form | None":
        """Return what to try after a server refused a request; None where nothing is left."""
        if self.length == "max_tokens" and "max_completion_tokens" in refusal:
            return replace(self, length="max_completion_tokens")
        if self.structure == "json_schema":
            return replace(self, structure="json_object")
        if self.structure == "json_object":
            return replace(self, structure="none")
        return None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a reply says: the text of the answer, or a problem; and who answered, at what cost."""

    content: str = ""
    problem: str = ""
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


def path_of(model: LanguageModel) -> str:
    """Return where requests are posted."""
    return f"{model.url}/{'chat/completions' if model.api == 'openai' else 'messages'}"


def headers_of(model: LanguageModel) -> dict[str, str]:
    """Return the headers that are no secret."""
    plain = {"content-type": "application/json", "accept": "application/json"}
    return plain | ({"anthropic-version": ANTHROPIC_VERSION} if model.api == "anthropic" else {})


def key_headers(model: LanguageModel) -> dict[str, str]:
    """Return the headers that carry the key; none where there is none."""
    if model.secret is None:
        return {}
    if model.api == "anthropic":
        return {"x-api-key": model.secret.reveal()}
    return {"authorization": f"Bearer {model.secret.reveal()}"}


def request_body(model: LanguageModel, system: str, user: str, form: Form) -> dict[str, Any]:
    """Return what is posted: no randomness is asked for, and an answer in the schema's form."""
    if model.api == "anthropic":
        tool = {"name": TOOL, "description": "Give the verdicts.", "input_schema": SCHEMA}
        return {
            "model": model.model,
            "max_tokens": model.answer_tokens,
            "temperature": 0,
            "system": system,
            "messages": [{"role": "user", "content": user}],
            "tools": [tool],
            "tool_choice": {"type": "tool", "name": TOOL},
        }
    body: dict[str, Any] = {
        "model": model.model,
        form.length: model.answer_tokens,
        "temperature": 0,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
    }
    if form.structure == "json_schema":
        named = {"name": TOOL, "strict": True, "schema": SCHEMA}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    elif form.structure == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


def read_reply(model: LanguageModel, data: bytes) -> Reply:
    """Read a reply by the model's API."""
    try:
        value = parse_json(data)
    except CanonicalError:
        return Reply(problem="the reply is not JSON")
    if not isinstance(value, dict):
        return Reply(problem="the reply is not a JSON object")
    read = _read_messages if model.api == "anthropic" else _read_completion
    found = read(value)
    usage = value.get("usage")
    given = usage if isinstance(usage, dict) else {}
    names = ("prompt_tokens", "completion_tokens")
    if model.api == "anthropic":
        names = ("input_tokens", "output_tokens")
    name = value.get("model")
    return replace(
        found,
        model=name[:200] if isinstance(name, str) else "",
        input_tokens=_count(given, names[0]),
        output_tokens=_count(given, names[1]),
    )


def refusal_of(data: bytes) -> str:
    """Return what a reply with an error says of it, on one line; it may say anything."""
    try:
        value = parse_json(data)
    except CanonicalError:
        value = data.decode(errors="replace")
    match value:
        case {"error": {"message": str(text)}} | {"error": str(text)} | {"message": str(text)}:
            said = text
        case str(text):
            said = text
        case _:
            said = canonical_json(value).decode()
    return " ".join(said.split())[:300]


def _read_completion(value: Mapping[str, Any]) -> Reply:
    match value.get("choices"):
        case [{"message": dict(message), **choice}]:
            pass
        case _:
            return Reply(problem="the reply has no single answer in it")
    if choice.get("finish_reason") == "length":
        return Reply(problem=_TRUNCATED)
    if choice.get("finish_reason") == "content_filter":
        return Reply(problem="a filter of the service kept the answer back")
    if message.get("refusal"):
        return Reply(problem="the model refused to answer")
    content = message.get("content")
    if not isinstance(content, str):
        return Reply(problem="the reply has no text in it")
    return Reply(content)


def _read_messages(value: Mapping[str, Any]) -> Reply:
    if value.get("stop_reason") == "max_tokens":
        return Reply(problem=_TRUNCATED)
    if value.get("stop_reason") == "refusal":
        return Reply(problem="the model refused to answer")
    blocks = value.get("content")
    calls = [
        block["input"]
        for block in (blocks if isinstance(blocks, list) else ())
        if isinstance(block, dict)
        and (block.get("type"), block.get("name")) == ("tool_use", TOOL)
        and isinstance(block.get("input"), dict)
    ]
    if len(calls) != 1:
        return Reply(problem="the model did not answer by the tool it was given")
    return Reply(canonical_json(calls[0]).decode())


def _count(given: Mapping[str, Any], name: str) -> int | None:
    found = given.get(name)
    return found if type(found) is int and 0 <= found < _MOST_TOKENS else None

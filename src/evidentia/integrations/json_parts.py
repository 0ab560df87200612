"""Parts of JSON that somebody else wrote: what is not of the kind that is looked for is empty."""

from collections.abc import Mapping
from typing import Any, Literal

import orjson

Form = Literal["chat", "responses", "messages"]
"""Wire formats of models: OpenAI's chat completions and responses, Anthropic's messages."""


def as_object(value: Any) -> Mapping[str, Any]:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list; none for anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """Return a text; an empty one for anything else."""
    return value if isinstance(value, str) else ""


def read_arguments(given: Any) -> Any:
    """Return a call's arguments: read where they are a text of JSON; in words that are none, so."""
    if not isinstance(given, str):
        return given
    try:
        return orjson.loads(given or "{}")
    except ValueError:
        return {"text": given}

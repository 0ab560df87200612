"""Reading attributes: whatever an exporter put there, a text is a text and a list is a list."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson

from evidentia.integrations.otel.spans import number

_JSON_BEGINS: Final = ("{", "[")
_MOST_DEPTH: Final = 48
_MOST_DIGITS: Final = 6
Attributes = Mapping[str, Any]


def text_of(value: Any) -> str:
    """Return a value as text: itself, or as JSON; nothing is an empty text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def text(attributes: Attributes, *names: str) -> str:
    """Return the first of some attributes that says something, as text; empty if none does."""
    for name in names:
        found = text_of(attributes.get(name))
        if found.strip():
            return found
    return ""


def json_of(value: Any) -> Any:
    """Return what a text that is JSON holds, as far as it can be kept; other values as they are."""
    if isinstance(value, str) and value.lstrip().startswith(_JSON_BEGINS):
        try:
            return _kept(orjson.loads(value), 0)
        except (orjson.JSONDecodeError, _TooDeep):
            return value
    return value


class _TooDeep(Exception):  # noqa: N818 - no error: such a text is taken as one
    """A value is nested too deeply to be kept as one."""


def _kept(value: Any, depth: int) -> Any:
    if depth > _MOST_DEPTH:
        raise _TooDeep
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if isinstance(value, Mapping):
        return {_kept(name, depth): _kept(one, depth + 1) for name, one in value.items()}
    if isinstance(value, list):
        return [_kept(one, depth + 1) for one in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return number(value) if is_number else value


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list, given as it is or as JSON; what is none is left out."""
    found = json_of(value)
    if isinstance(found, Mapping):
        found = [found]
    if not isinstance(found, list):
        return []
    return [one for one in map(json_of, found) if isinstance(one, Mapping)]


def below(attributes: Attributes, prefix: str) -> dict[str, Any]:
    """Return the attributes whose names begin so, without that beginning."""
    return {
        name.removeprefix(prefix): value
        for name, value in attributes.items()
        if name.startswith(prefix)
    }


def numbered(attributes: Attributes, prefix: str) -> Iterator[dict[str, Any]]:
    """Give the items of a list that was flattened: `prefix.0.name`, `prefix.1.name`, in order."""
    items: dict[int, dict[str, Any]] = {}
    for name, value in below(attributes, f"{prefix}.").items():
        place, _, rest = name.partition(".")
        if rest and place.isascii() and place.isdigit() and len(place) <= _MOST_DIGITS:
            items.setdefault(int(place), {})[rest] = value
    for one in sorted(items):
        yield items[one]

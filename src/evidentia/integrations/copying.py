"""Copies of what a host hands over, made at once and cheaply: what it changes later is not ours.

A copy is JSON as bytes; it becomes a value in the background, where time is no matter.
"""

from decimal import Decimal
from typing import Any, Final

import orjson

_FORMS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("model_dump", {"mode": "json", "exclude_none": True}),
    ("to_dict", {}),
    ("dict", {}),
)
_OPTIONS: Final = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


def copied(value: Any) -> bytes:
    """Return a value's JSON; what JSON has not is what it says of itself as text."""
    try:
        return orjson.dumps(value, default=_as_json, option=_OPTIONS)
    except (TypeError, RecursionError, orjson.JSONEncodeError):
        return orjson.dumps(_shown(value).encode(errors="replace").decode())


def _as_json(value: Any) -> Any:
    if isinstance(value, Decimal) or hasattr(value, "__fspath__"):
        return str(value)
    for name, how in _FORMS:
        method = getattr(value, name, None)
        if method is not None and not isinstance(value, type):
            try:
                return method(**how)
            except Exception:  # noqa: BLE001, S112 - a foreign method may raise anything: the next
                continue
    if isinstance(value, set | frozenset):
        return sorted(map(_shown, value))
    return _shown(value)


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - whatever a foreign repr raises
        return f"<{type(value).__name__}>"

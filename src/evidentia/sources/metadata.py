"""Which metadata a reader may see: what was asked for, or a subset that gives nothing away."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from math import isfinite
from typing import Any, Final

from evidentia.frozen import freeze, thaw
from evidentia.sources.places import LOCATION_KEYS, is_location, is_path

MAX_KEYS: Final = 32
MAX_KEY_CHARS: Final = 64
MAX_VALUE_CHARS: Final = 500
MAX_MEMBERS: Final = 32
"""How many items or members a list or an object may have: vectors have more."""
MAX_COLLECTED_CHARS: Final = 1_000
"""How long a list or an object may be, written as JSON."""
MAX_NAMING_KEY: Final = 24
"""How long a value may be whose key ends in `key`: what opens something is longer."""
MAX_ASKED_CHARS: Final = 4_000
"""How long a value may be that was asked for by its key, written as JSON."""
MAX_NUMBER: Final = 2**53

_SECRET_KEYS = re.compile(
    r"pass(?:word|wd|phrase|code)|secret(?!ar)|token(?!s?_count)|credential|cookie|bearer|jwt"
    r"|(?:^|_)auth(?:_|$|entic|oriz)|signature|session_?id|(?:^|_)(?:pin|pwd|otp|salt|cvv|cvc)(?:_|$)"
    r"|(?:^|_)(?:api|access|auth|private|subscription|functions?|master|shared|account|storage|crypt\w*"
    r"|encryption|signing|service|client|deploy|webhook|host|ssh|pgp|gpg|sas|hmac|aes|rsa|licen[cs]e"
    r"|aws|azure|gcp|openai|anthropic|stripe|github|google|sendgrid|twilio)_?keys?(?:_|$)"
    r"|(?:^|_)(?:ssn|iban|passport(?:_?(?:no|nr|num|number|id))?|credit_?card)$"
    r"|social_?security|(?:card|account)_?(?:no|num|number)(?:_|$)|national_?id"
)
"""What opens something, or lets one act in somebody's name; words that only sound private pass."""
_NAMING_KEYS = re.compile(r"(?:^|_)keys?$")
_BULK_KEYS = re.compile(
    r"embed|vector|tensor|logit|(?:^|_)(?:dense|sparse|raw|blob|bytes|html)(?:_|$)"
)
_PATH_KEYS = re.compile(r"path|(?:^|_)(?:dir|folder|directory|host|hostname|bucket|mount)(?:_|$)")
_GUARDED: Final = (_SECRET_KEYS, _BULK_KEYS, _PATH_KEYS)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s.\-/:]+")
_TOLD_VALUE = re.compile(
    r"-----BEGIN|eyJ[\w-]{10,}\.|\b(?:sk|pk|ghp|gho|xox[abp])[-_]\w{8}"
    r"|\bAKIA[0-9A-Z]{12}|://[^/\s:@]+:[^/\s@]+@|\bBearer\s+\S{8}",
)


def shown_metadata(
    metadata: Mapping[Any, Any],
    include: Collection[str] | None,
    exclude: Collection[str] | None,
) -> dict[str, Any]:
    """Return what of the metadata is shown, its keys in order.

    With `include`, those keys and no others; else the safe subset: short values, lists and objects
    of them, that are no secret, no blob and no path, by their keys and by themselves. `exclude`
    takes keys away from both.
    """
    left_out = frozenset(exclude or ())
    if include is not None:
        wanted = frozenset(include)
        found = ((key, value) for key, value in metadata.items() if key in wanted)
        shown = {key: thaw(value) for key, value in found if _is_asked(key, value)}
    else:
        shown = _safe_members(metadata)
    kept = sorted(key for key in shown if key not in left_out)[:MAX_KEYS]
    return {key: shown[key] for key in kept}


def _safe_members(values: Mapping[Any, Any]) -> dict[str, Any]:
    shown = {}
    for key, value in values.items():
        if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY_CHARS or _is_guarded(key):
            continue
        if _is_safe(key, value):
            shown[key] = value
        elif isinstance(value, Mapping | list | tuple) and len(value) <= MAX_MEMBERS:
            collected = _safe_collection(key, value)
            if collected and _size(collected) <= MAX_COLLECTED_CHARS:
                shown[key] = collected
    return shown


def _safe_collection(
    key: str, value: Mapping[Any, Any] | list[Any] | tuple[Any, ...]
) -> dict[str, Any] | list[Any]:
    """Return an object's members that are safe, or a list if all of it is: one level, no more."""
    if isinstance(value, Mapping):
        plain = {name: item for name, item in value.items() if _is_scalar(item)}
        return dict(sorted(_safe_members(plain).items()))
    return list(value) if all(_is_safe(key, item) for item in value) else []


def _is_safe(key: str, value: Any) -> bool:
    """Whether a scalar gives nothing away, under a key that does not either."""
    if not isinstance(value, str):
        return value is None or isinstance(value, bool) or _is_number(value)
    if len(value) > (MAX_NAMING_KEY if _is_naming(key) else MAX_VALUE_CHARS):
        return False
    is_place = is_location if key in LOCATION_KEYS else is_path
    return _is_text(value) and not (is_place(value) or _TOLD_VALUE.search(value))


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _is_asked(key: Any, value: Any) -> bool:
    """Whether a value that was asked for can be sent: JSON, and not large."""
    try:
        freeze(value)
    except ValueError:
        return False
    return _is_text(key) and _size(value) <= MAX_ASKED_CHARS


def _size(value: Any) -> int:
    """Return about how long a value is as JSON; more than the limit where it cannot be sent."""
    if isinstance(value, str):
        return len(value) + 2 if _is_text(value) else MAX_ASKED_CHARS + 1
    if isinstance(value, Mapping):
        return sum(_size(key) + _size(item) + 2 for key, item in value.items()) + 2
    if isinstance(value, list | tuple):
        return sum(_size(item) + 1 for item in value) + 2
    if value is None or isinstance(value, bool):
        return 5
    return 20 if _is_number(value) else MAX_ASKED_CHARS + 1


def _is_number(value: Any) -> bool:
    if isinstance(value, int):
        return -MAX_NUMBER <= value <= MAX_NUMBER
    return isinstance(value, float) and isfinite(value)


def _is_text(text: str) -> bool:
    """Whether UTF-8 can hold the text: it has no lone surrogates."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


@lru_cache(maxsize=1_024)
def _is_guarded(key: str) -> bool:
    name = _plain(key)
    return any(pattern.search(name) for pattern in _GUARDED)


@lru_cache(maxsize=1_024)
def _is_naming(key: str) -> bool:
    """Whether a key is a ticket's, a project's or the like: it names something."""
    return _NAMING_KEYS.search(_plain(key)) is not None


def _plain(key: str) -> str:
    return _CAMEL.sub("_", key).lower()

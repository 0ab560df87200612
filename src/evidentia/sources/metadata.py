"""Which metadata a reader may see: what was asked for, or a subset that gives nothing away."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from math import isfinite
from typing import Any, Final

from evidentia.frozen import freeze, thaw

MAX_KEYS: Final = 32
MAX_KEY_CHARS: Final = 64
MAX_VALUE_CHARS: Final = 500
MAX_ASKED_CHARS: Final = 4_000
"""How long a value may be that was asked for by its key, written as JSON."""
MAX_NUMBER: Final = 2**53

_SECRET_KEYS = re.compile(
    r"pass(?:word|wd|phrase|code)|secret|token|api_?key|access_?key|private|credential|cookie"
    r"|(?:^|_)auth(?:_|$|entic|oriz)|bearer|jwt|signature|session_?id|(?:^|_)(?:pin|pwd|otp|salt|key)(?:_|$)"
)
_BULK_KEYS = re.compile(
    r"embed|vector|tensor|logit|(?:^|_)(?:dense|sparse|raw|blob|bytes|html)(?:_|$)"
)
_PATH_KEYS = re.compile(r"path|(?:^|_)(?:dir|folder|directory|host|hostname|bucket|mount)(?:_|$)")
_PERSONAL_KEYS = re.compile(
    r"e_?mail|phone|mobile|(?:^|_)(?:fax|ssn|dob|iban|ip|gender|sex|religion|salary|address)(?:_|$)"
    r"|birth|passport|national_?id|(?:first|last|full|middle|maiden|family|given|user)_?name"
    r"|social_?security|credit_?card|card_?number|account_?number|health|diagnosis|ethnic"
)
_GUARDED: Final = (_SECRET_KEYS, _BULK_KEYS, _PATH_KEYS, _PERSONAL_KEYS)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s.\-/:]+")
_PATH_VALUE = re.compile(r"(?:/(?!/)|~/|[A-Za-z]:[\\/]|\\\\|file:)", re.IGNORECASE)
_TOLD_VALUE = re.compile(
    r"[^\s@]+@[^\s@]+\.[^\s@]|-----BEGIN|eyJ[\w-]{10,}\.|\b(?:sk|pk|ghp|gho|xox[abp])[-_]\w{8}"
    r"|\bAKIA[0-9A-Z]{12}|://[^/\s:@]+:[^/\s@]+@|\bBearer\s+\S{8}",
)


def shown_metadata(
    metadata: Mapping[Any, Any],
    include: Collection[str] | None,
    exclude: Collection[str] | None,
) -> dict[str, Any]:
    """Return what of the metadata is shown, its keys in order.

    With `include`, those keys and no others; else the safe subset: short scalars under keys that
    name no secret, embedding, internal path or personal data. `exclude` takes keys away from both.
    """
    left_out = frozenset(exclude or ())
    if include is not None:
        wanted = frozenset(include)
        found = ((key, value) for key, value in metadata.items() if key in wanted)
        shown = {key: thaw(value) for key, value in found if _is_asked(key, value)}
    else:
        shown = {key: value for key, value in metadata.items() if _is_safe(key, value)}
    kept = sorted(key for key in shown if key not in left_out)[:MAX_KEYS]
    return {key: shown[key] for key in kept}


def _is_safe(key: Any, value: Any) -> bool:
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY_CHARS:
        return False
    if value is None or isinstance(value, bool):
        return not _is_guarded(key)
    if isinstance(value, str):
        return (
            len(value) <= MAX_VALUE_CHARS
            and _is_text(value)
            and not (_is_guarded(key) or _PATH_VALUE.match(value) or _TOLD_VALUE.search(value))
        )
    return _is_number(value) and not _is_guarded(key)


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
    name = _CAMEL.sub("_", key).lower()
    return any(pattern.search(name) for pattern in _GUARDED)

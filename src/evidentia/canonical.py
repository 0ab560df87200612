"""Canonical JSON (RFC 8785), digests and ids.

Two values that mean the same JSON have the same bytes here, on every machine: keys in UTF-16
order, numbers as ECMAScript prints them, no spaces. What has no such form is refused, never
rounded: NaN, infinities, lone surrogates, integers past 2^53 (give those as text).

Most values take a fast path through orjson. It is taken only where orjson's bytes are known to be
the canonical ones; everything else goes through the reference implementation.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NoReturn

import orjson
import rfc8785

from evidentia.errors import CanonicalError
from evidentia.frozen import FrozenDict, FrozenList

MAX_SAFE_INTEGER = 2**53 - 1
MAX_DEPTH = 100

# Where both print plain decimals: orjson switches to an exponent at 1e16 and below 1e-5.
_PLAIN_FLOAT_MIN, _PLAIN_FLOAT_MAX = 1e-4, 1e15

_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
_ATOMS = frozenset({str, int, bool, type(None)})
_OBJECTS = frozenset({dict, FrozenDict})
_LISTS = frozenset({list, tuple, FrozenList})

_LONE_SURROGATE = "text with a lone surrogate has no canonical JSON"
_TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"


class _NeedsExactPathError(Exception):
    """Raised inside the fast path when orjson's bytes might not be the canonical ones."""


def canonical_json(value: Any, *, within: int = 0) -> bytes:
    """Return the RFC 8785 bytes of a JSON value; raise `CanonicalError` if it has none.

    Takes what JSON has (mappings with text keys, lists, tuples, text, numbers, booleans, None).
    `within` says how many levels will stand around the value where it is used.
    """
    try:
        plain = value if _is_plain(value, within) else _plain(value, within)
        return orjson.dumps(plain, option=_OPTIONS)
    except (_NeedsExactPathError, TypeError):  # orjson refuses large integers and lone surrogates
        return _exact(value, within)


def canonical_row(row: dict[str, Any]) -> bytes:
    """Return the RFC 8785 bytes of an object whose keys are ASCII, and whose floats are fractions.

    Such as 0.5: from 0.001 on, and below 1. The caller knows so: nobody looks. Text, integers,
    booleans, None, and lists and objects of such are what orjson writes canonically by itself, and
    fast where there are many.
    """
    try:
        return orjson.dumps(row, option=_OPTIONS)
    except TypeError:  # a lone surrogate, or an integer past 2^53
        return canonical_json(row)


def join_members(members: Mapping[str, bytes]) -> bytes:
    """Return the RFC 8785 bytes of an object; its keys are ASCII, its values such bytes already."""
    written = (b'"%s":%s' % (name.encode(), members[name]) for name in sorted(members))
    return b"{%s}" % b",".join(written)


def parse_json(data: bytes) -> Any:
    """Parse JSON strictly: UTF-8, no duplicate keys, no NaN; raise `CanonicalError` otherwise.

    Integers past 2^53 are read as the double they equal or are the canonical form of; others are
    refused. What is given back always has a canonical form.
    """
    try:
        text = data.decode("utf-8")
        value = json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_refuse_constant,
            parse_int=_parsed_integer,
            parse_float=_finite_float,
        )
    except UnicodeDecodeError as error:
        raise CanonicalError(f"not UTF-8: {error.reason} at byte {error.start}") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise CanonicalError(f"not JSON: {error.msg} at {place}") from None
    except RecursionError:
        raise CanonicalError(_TOO_DEEP) from None
    if "\\u" in text or text.count("[") + text.count("{") > MAX_DEPTH:
        canonical_json(value)  # refuses lone surrogates and deep nesting: only here can they be
    return value


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of the bytes as 64 hexadecimal digits."""
    return sha256(data).hexdigest()


def digest(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON as 64 hexadecimal digits."""
    return sha256_hex(canonical_json(value))


def derived_id(prefix: str, value: Any, *, length: int = 16) -> str:
    """Return an id that follows from the content alone: the prefix and the digest's first digits.

    >>> derived_id("pack", {"a": 1})
    'pack_015abd7f5cc57a2d'
    """
    return f"{prefix}_{digest(value)[:length]}"


def _is_plain(value: Any, depth: int) -> bool:
    """Whether orjson writes the value canonically as it stands; it looks at integers itself."""
    kind = type(value)
    if kind in _OBJECTS:
        if not _sorts_alike("".join(value)):
            return False
        items = value.values()
    elif kind in _LISTS:
        items = value
    else:
        return kind in _ATOMS
    if depth >= MAX_DEPTH:
        return False
    for item in items:
        kind = type(item)
        if kind in _ATOMS:
            continue
        if kind is float:
            if item.is_integer() or not _PLAIN_FLOAT_MIN <= abs(item) < _PLAIN_FLOAT_MAX:
                return False
        elif not _is_plain(item, depth + 1):
            return False
    return True


def _plain(value: Any, depth: int) -> Any:
    """Copy a value into what orjson writes canonically, or ask for the exact path."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is float:
        return _plain_float(value)
    if depth >= MAX_DEPTH:
        raise CanonicalError(_TOO_DEEP)
    if kind in _OBJECTS and _sorts_alike("".join(value)):
        return {key: _plain(item, depth + 1) for key, item in value.items()}
    if kind in _LISTS:
        return [_plain(item, depth + 1) for item in value]
    raise _NeedsExactPathError


def _plain_float(value: float) -> float | int | orjson.Fragment:
    if value.is_integer():
        if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
            return int(value)  # 1.0 and -0.0 are "1" and "0" in ECMAScript
    elif _PLAIN_FLOAT_MIN <= abs(value) < _PLAIN_FLOAT_MAX:
        return value
    return orjson.Fragment(_exact(value, 0))


def _sorts_alike(keys: str) -> bool:
    """Whether keys of these letters have one order in UTF-8, orjson's, and UTF-16, the canonical.

    They part at U+D800: a letter past U+FFFF is two surrogates there, before U+E000 and above.
    """
    return keys.isascii() or max(keys) < "\ud800"


def _exact(value: Any, within: int) -> bytes:
    try:
        return rfc8785.dumps(_json_types(value, within))
    except rfc8785.CanonicalizationError as error:
        if not isinstance(error.__cause__, UnicodeEncodeError):
            raise CanonicalError(f"no canonical JSON: {error}") from None
        raise CanonicalError(_LONE_SURROGATE) from None
    except UnicodeEncodeError:
        raise CanonicalError(_LONE_SURROGATE) from None


def _json_types(value: Any, depth: int) -> Any:
    """Copy a value into the exact built-in types that JSON has; refuse every other type."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return _safe_integer(int(value))
    if isinstance(value, float):
        return float(value)
    if depth >= MAX_DEPTH:
        raise CanonicalError(_TOO_DEEP)
    if isinstance(value, Mapping):
        copied = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise CanonicalError(f"a key must be text, not {type(key).__name__}: {key!r}")
            copied[str.__str__(key)] = _json_types(item, depth + 1)
        return copied
    if isinstance(value, list | tuple):
        return [_json_types(item, depth + 1) for item in value]
    raise CanonicalError(f"{type(value).__name__} is not a JSON value: give it as text")


def _safe_integer(value: int) -> int:
    if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
        return value
    longest = 128  # in bits: Python refuses to print very long ones
    shown = str(value) if value.bit_length() <= longest else f"of {value.bit_length()} bits"
    raise CanonicalError(f"integer {shown} is past 2^53: give it as text")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value:
            raise CanonicalError(f"not JSON that can be trusted: key {key!r} stands twice")
        value[key] = item
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise CanonicalError(f"not JSON: {name} is not a number that JSON has")


def _parsed_integer(text: str) -> int | float:
    too_long = 400  # no double has more digits before the point
    if len(text) < too_long:
        number = int(text)
        if -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER:
            return number
        if abs(number) < 2**1024 - 2**970:
            double = float(number)
            if double == number or canonical_json(double) == text.encode():
                return double
    raise CanonicalError(f"integer {text[:40]} is past 2^53: give it as text")


def _finite_float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise CanonicalError(f"number {text[:40]} is too large for JSON")
    return number

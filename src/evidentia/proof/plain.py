"""What stands in plain beside what was signed: where the two differ, by the names of the fields."""

from collections.abc import Iterator
from typing import Any, Final

from evidentia.canonical import canonical_json, parse_json
from evidentia.language.counting import counted

_SHOWN: Final = 60
"""The characters of a value that are shown."""


def differences(plain: Any, signed: Any, where: str = "") -> Iterator[str]:
    """Say of each place where a JSON value is not the one that was signed what is different.

    The order of an object's fields means nothing in JSON: `reordered` tells of it.
    """
    if canonical_json(plain) == canonical_json(signed):
        return
    if isinstance(plain, dict) and isinstance(signed, dict):
        yield from _of_objects(plain, signed, where)
    elif isinstance(plain, list) and isinstance(signed, list):
        yield from _of_lists(plain, signed, where)
    else:
        yield f"{where} is {_short(plain)}, and {_short(signed)} was signed"


def reordered(document: Any) -> str | None:
    """Name the first object whose fields are not in the order of canonical JSON, if there is one.

    The outermost object has the name "the file".
    """
    return _reordered(document, parse_json(canonical_json(document)), "")


def _of_objects(plain: dict[str, Any], signed: dict[str, Any], where: str) -> Iterator[str]:
    for name, value in signed.items():
        place = _field(where, name)
        if name in plain:
            yield from differences(plain[name], value, place)
        else:
            yield f"{place} is missing, and was signed"
    for name in plain:
        if name not in signed:
            yield f"{_field(where, name)} was not signed: it is a field more"


def _of_lists(plain: list[Any], signed: list[Any], where: str) -> Iterator[str]:
    if len(plain) != len(signed):
        there, then = counted(len(plain), "item"), counted(len(signed), "was", "were")
        yield f"{where} has {there}, and {then} signed"
    elif sorted(map(canonical_json, plain)) == sorted(map(canonical_json, signed)):
        yield f"{where} is in another order than was signed"
    else:
        for index, (one, other) in enumerate(zip(plain, signed, strict=True)):
            yield from differences(one, other, f"{where}[{index}]")


def _reordered(value: Any, ordered: Any, where: str) -> str | None:
    if isinstance(value, dict):
        if list(value) != list(ordered):
            return where or "the file"
        inside = ((value[name], ordered[name], _field(where, name)) for name in value)
    elif isinstance(value, list):
        pairs = enumerate(zip(value, ordered, strict=True))
        inside = ((one, other, f"{where}[{index}]") for index, (one, other) in pairs)
    else:
        return None
    return next(filter(None, (_reordered(*one) for one in inside)), None)


def _field(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _short(value: Any) -> str:
    text = canonical_json(value).decode()
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"

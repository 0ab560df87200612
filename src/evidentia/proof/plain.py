"""What stands in plain beside a statement: where the two differ, by the names of the fields."""

from collections.abc import Iterator
from typing import Any, Final

from evidentia.canonical import canonical_json, parse_json
from evidentia.language.counting import counted

_SHOWN: Final = 60
"""The characters of a value that are shown."""


def differences(plain: Any, stated: Any, where: str = "") -> Iterator[str]:
    """Say of each place where a JSON value is not the one that is stated what is different.

    The order of an object's fields means nothing in JSON: `reordered` tells of it.
    """
    if canonical_json(plain) == canonical_json(stated):
        return
    if isinstance(plain, dict) and isinstance(stated, dict):
        yield from _of_objects(plain, stated, where)
    elif isinstance(plain, list) and isinstance(stated, list):
        yield from _of_lists(plain, stated, where)
    else:
        yield f"{where} is {_short(plain)} in plain and {_short(stated)} in the statement"


def reordered(document: Any) -> str | None:
    """Name the first object whose fields are not in the order of canonical JSON, if there is one.

    The outermost object has the name "the file".
    """
    return _reordered(document, parse_json(canonical_json(document)), "")


def _of_objects(plain: dict[str, Any], stated: dict[str, Any], where: str) -> Iterator[str]:
    for name, value in stated.items():
        place = _field(where, name)
        if name in plain:
            yield from differences(plain[name], value, place)
        else:
            yield f"{place} is in the statement and not in plain"
    for name in plain:
        if name not in stated:
            yield f"{_field(where, name)} is in plain and not in the statement"


def _of_lists(plain: list[Any], stated: list[Any], where: str) -> Iterator[str]:
    if len(plain) != len(stated):
        there = counted(len(plain), "item")
        yield f"{where} has {there} in plain and {len(stated):,} in the statement"
    elif sorted(map(canonical_json, plain)) == sorted(map(canonical_json, stated)):
        yield f"{where} is in another order than in the statement"
    else:
        for index, (one, other) in enumerate(zip(plain, stated, strict=True)):
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

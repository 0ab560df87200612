"""JSON values of what a program hands over: what JSON has not becomes text, what is long is cut.

Every value comes out as one that the trail can hold, and the same one each time.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Final

from evidentia.canonical import MAX_SAFE_INTEGER

MAX_DEPTH: Final = 60
_NUMBER: Final = 8
"""What a number, or the marks around a text, are counted as."""


@dataclass(slots=True)
class Plain:
    """Makes plain JSON of values, of at most so many bytes in all, and counts what was left out.

    `cut` is how many bytes of text are missing, `dropped` how many values, `told` how many were
    written as text because JSON has none like them.
    """

    most: int
    cut: int = 0
    dropped: int = 0
    told: int = 0
    _left: int = field(init=False)

    def __post_init__(self) -> None:
        self._left = self.most

    def of(self, value: Any, depth: int = 0) -> Any:  # noqa: PLR0911 - a line for each kind of value
        """Return a value as plain JSON."""
        self._left -= _NUMBER
        match value:
            case None | bool():
                return value
            case str():
                return self._text(value)
            case int() if abs(value) <= MAX_SAFE_INTEGER:
                return int(value)
            case float() if isfinite(value) and abs(value) <= MAX_SAFE_INTEGER:
                return float(value)
            case Mapping() if depth < MAX_DEPTH:
                return self._mapping(value, depth)
            case list() | tuple() if depth < MAX_DEPTH:
                return self._list(value, depth)
        self.told += 1
        return self._text(told(value))

    def _text(self, value: str) -> str:
        text = value.encode(errors="replace").decode().replace("\0", "\ufffd")
        if text != value:
            self.told += 1
        data = text.encode()
        room = max(self._left, 0)
        self._left -= len(data)
        if len(data) <= room:
            return text
        kept = data[:room].decode(errors="ignore")
        self.cut += len(data) - len(kept.encode())
        return f"{kept}…"

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for taken, (key, item) in enumerate(value.items()):
            if self._left <= 0:
                self.dropped += len(value) - taken
                break
            name = self._text(key if isinstance(key, str) else told(key))
            made[name] = self.of(item, depth + 1)
        return made

    def _list(self, value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        made: list[Any] = []
        for taken, item in enumerate(value):
            if self._left <= 0:
                self.dropped += len(value) - taken
                break
            made.append(self.of(item, depth + 1))
        return made


def told(value: Any) -> str:
    """Return a foreign value as text; one that cannot be shown, by its type."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - whatever a foreign object raises
        return f"<{type(value).__name__}>"

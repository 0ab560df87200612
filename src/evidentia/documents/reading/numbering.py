"""Word's automatic numbers: a list item's `2.` or a clause's `4.2` is nowhere in a file's text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MAX_LEVELS: Final = 9
_LETTERS: Final = 26
_ROMAN: Final = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)
_MAX_ROMAN: Final = 4000
BULLET: Final = "-"


@dataclass(frozen=True, slots=True)
class NumberLevel:
    """One level of a list definition: how its number is written, as in `%1.%2`."""

    format: str = "bullet"
    text: str = ""
    start: int = 1


class ListNumbers:
    """Counts the items of a document's lists, in reading order."""

    def __init__(self, levels: Mapping[tuple[str, int], NumberLevel]) -> None:
        self._levels = levels
        self._counts: dict[tuple[str, int], int] = {}

    def mark(self, list_id: str, level: int) -> str:
        """Return the mark of the next item: its number as Word shows it, or a bullet."""
        rule = self._rule(list_id, level)
        before = self._counts.get((list_id, level), rule.start - 1)
        self._counts[list_id, level] = before + 1
        for deeper in range(level + 1, MAX_LEVELS):
            self._counts.pop((list_id, deeper), None)
        if rule.format in {"bullet", "none"}:
            return BULLET if rule.format == "bullet" else ""
        mark = rule.text
        for at in range(level + 1):
            above = self._rule(list_id, at)
            number = self._counts.get((list_id, at), above.start)
            mark = mark.replace(f"%{at + 1}", written(number, above.format))
        return mark.strip() or BULLET

    def _rule(self, list_id: str, level: int) -> NumberLevel:
        return self._levels.get((list_id, level), NumberLevel())


def written(number: int, style: str) -> str:
    """Write a number in one of Word's styles; those without a rule here are plain digits."""
    if style in {"lowerLetter", "upperLetter"} and number > 0:
        letter = chr(ord("a") + (number - 1) % _LETTERS) * ((number - 1) // _LETTERS + 1)
        return letter if style == "lowerLetter" else letter.upper()
    if style in {"lowerRoman", "upperRoman"} and 0 < number < _MAX_ROMAN:
        return _roman(number) if style == "lowerRoman" else _roman(number).upper()
    return f"{number:02d}" if style == "decimalZero" else str(number)


def _roman(number: int) -> str:
    parts = []
    for value, digits in _ROMAN:
        parts.append(digits * (number // value))
        number %= value
    return "".join(parts)

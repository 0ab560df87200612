"""Offsets: code points of a text as UTF-16 units (JavaScript, Java, .NET) or as UTF-8 bytes.

A lone surrogate counts as it will be sent: one unit, or the three bytes of the replacement
character. An offset outside the text counts as the end that is nearer.
"""

from collections.abc import Iterable
from typing import Literal

Encoding = Literal["utf-16-le", "utf-8"]


def to_utf16(text: str, offset: int) -> int:
    """Return how many UTF-16 units stand before a code point.

    >>> to_utf16("a😀b", 2)
    3
    """
    return utf16_offsets(text, [offset])[0]


def to_utf8(text: str, offset: int) -> int:
    """Return how many UTF-8 bytes stand before a code point.

    >>> to_utf8("a😀b", 2)
    5
    """
    return utf8_offsets(text, [offset])[0]


def utf16_offsets(text: str, offsets: Iterable[int]) -> list[int]:
    """Return many offsets as UTF-16 units, in their order, reading the text once."""
    return _converted(text, offsets, "utf-16-le", 2)


def utf8_offsets(text: str, offsets: Iterable[int]) -> list[int]:
    """Return many offsets as UTF-8 bytes, in their order, reading the text once."""
    return _converted(text, offsets, "utf-8", 1)


def _converted(text: str, offsets: Iterable[int], encoding: Encoding, width: int) -> list[int]:
    wanted = [max(0, min(offset, len(text))) for offset in offsets]
    if text.isascii():
        return wanted
    found: dict[int, int] = {}
    at = units = 0
    for offset in sorted(set(wanted)):
        units += len(text[at:offset].encode(encoding, "surrogatepass")) // width
        found[offset] = units
        at = offset
    return [found[offset] for offset in wanted]

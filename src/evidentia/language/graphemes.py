"""Boundaries between graphemes: where a text may be cut without parting what is seen as one."""

from typing import Final

import regex

_LINKERS: Final = "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d"
"""Signs that join two consonants into one cluster since Unicode 15.1, which `\\X` does not know."""
_CLUSTER = regex.compile(rf"\X(?:(?<=[{_LINKERS}]\u200d?)(?=\p{{L}})\X)*")
_FIRST_REACH: Final = 16
_PLAIN = regex.compile(r"\p{Grapheme_Cluster_Break=Other}")


def boundary_before(text: str, index: int, start: int = 0) -> int:
    """Return the last boundary at or before the index; `start` must be a boundary before it."""
    return _around(text, index, start)[0]


def boundary_after(text: str, index: int, start: int = 0) -> int:
    """Return the first boundary at or after the index; `start` must be a boundary before it."""
    return _around(text, index, start)[1]


def _around(text: str, index: int, start: int) -> tuple[int, int]:
    """Return the boundaries next to the index: both are the index if it is one itself."""
    if index <= start or index >= len(text) or _is_plain(text[index - 1], text[index]):
        return index, index
    begin = _safe_start(text, index, start)
    reach = _FIRST_REACH
    while True:  # only a window is looked at: flags in a row are counted from its beginning
        window = text[begin : index + reach]
        place = index - begin
        cluster = next(found for found in _CLUSTER.finditer(window) if found.end() >= place)
        if cluster.end() == place:
            return index, index
        if cluster.end() < len(window) or begin + len(window) == len(text):
            return begin + cluster.start(), begin + cluster.end()
        reach *= 4


def _is_plain(before: str, after: str) -> bool:
    """Whether there is a boundary between two characters at a glance."""
    return before.isascii() and after.isascii() and (before, after) != ("\r", "\n")


def _safe_start(text: str, index: int, start: int) -> int:
    """Return a boundary to count clusters from: between two plain letters, or the start.

    Flags are pairs of letters, counted from the first of a row, however long it is.
    """
    first = index
    while first > start and "\U0001f1e6" <= text[first - 1] <= "\U0001f1ff":
        first -= 1
    if first < index and (first == start or _PLAIN.match(text, first - 1)):
        return index - 2 + (index - first) % 2
    for at in range(index - 1, start, -1):
        if _PLAIN.match(text, at) and _PLAIN.match(text, at - 1):
            return at
    return start

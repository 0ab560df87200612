"""Text as it can be printed: nothing hidden, nothing that reorders, nothing that no font has.

A character that no vendored font has is printed as `[U+XXXX]`, so that a reader sees that it was
there. Which character a font has is in `fonts/coverage.json`, made by `scripts/font_coverage.py`.
The page must name all the families of `FAMILIES`, in any order, wherever it prints such a text.
"""

import json
import unicodedata
from importlib import resources
from typing import Final

import regex

from evidentia.language.characters import strip_invisible

_CLUSTER = regex.compile(r"\n|(?s:.)[\p{M}\u200c\u200d]*")
"""A character with its marks: one font must have them all."""
_STACKED = regex.compile(r"(?<=\p{M}{4})\p{M}")
"""Marks upon marks, beyond what any writing needs: they would cover the lines around them."""
_JOINERS: Final = str.maketrans("", "", "\u200c\u200d")
_NO_BREAK_SPACE: Final = "\u00a0"
_SPACES: Final = {
    **dict.fromkeys([ord("\t"), 0x1680, *range(0x2000, 0x200B), 0x205F, 0x3000], " "),
    0x202F: _NO_BREAK_SPACE,
    0xFE0E: None,
    0xFE0F: None,
}
"""Spaces of other widths; and the choice between an emoji and its sign, which fonts don't offer."""


def printable(text: str, *, lines: bool = False) -> str:
    r"""Return a text fit to print; what is fit already stays as it is.

    Taken out are controls, zero-width characters and all that steers direction; joiners stay
    between Arabic letters. Letters and marks are composed (NFC), where a font has the composed
    letter; of the marks on a letter, those after the fourth are told. Line ends and tabs become
    spaces, unless `lines` keeps line ends; wide and narrow spaces become ordinary ones. What no
    font has is told.

    >>> printable("pay\u202e 10\u200b0 \N{GRINNING FACE}")
    'pay 100 [U+1F600]'
    """
    while (fitted := _fitted(text, lines=lines)) != text:
        text = fitted  # a joiner is useless beside what is told, and goes in the next round
    return text


def _fitted(text: str, *, lines: bool) -> str:
    text = unicodedata.normalize("NFC", strip_invisible(text)[0].translate(_SPACES))
    if not lines:
        text = text.replace("\n", " ")
    text = _STACKED.sub(lambda mark: _told(mark[0]), text)
    used = set(text) - {"\n"}
    if any(used <= family for family in _COVERAGE.values()):
        return text
    return "".join(map(_cluster, _CLUSTER.findall(text)))


def _cluster(cluster: str) -> str:
    """Return a character with its marks; marks that no font has together with it are told."""
    for form in (cluster, unicodedata.normalize("NFD", cluster)):
        bare = form.translate(_JOINERS)
        if form == "\n" or any(family.issuperset(bare) for family in _COVERAGE.values()):
            return form
    first, marks = cluster[0], cluster[1:].translate(_JOINERS)
    kept = any(first in family for family in _COVERAGE.values())
    return "".join((first if kept else _told(first), *map(_told, marks)))


def _told(character: str) -> str:
    return f"[U+{ord(character):04X}]"


def _read_coverage() -> dict[str, frozenset[str]]:
    table = resources.files(__package__).joinpath("fonts", "coverage.json").read_bytes()
    return {
        family: frozenset(chr(code) for first, last in ranges for code in range(first, last + 1))
        for family, ranges in json.loads(table).items()
    }


_COVERAGE: Final = _read_coverage()
FAMILIES: Final = tuple(_COVERAGE)
"""The names of the vendored font families."""

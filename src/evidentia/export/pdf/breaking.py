"""Breaking: where a line may break inside a name, an address or a hash that is too long for it.

Nothing but zero-width spaces is ever added. Texts come from `printable`.
"""

# ruff: noqa: RUF001 - the quotation marks of other scripts are what is read here

import re
from typing import Final

from evidentia.language.scripts import MARKS

BREAK: Final = "\u200b"
"""The zero-width space: a line may break here. It has no width, and PDF/A accepts it."""
_signs: Final = r"/\\?&=#_.,;:@|~%\-"
_PART = re.compile(rf"[^{_signs})\]]*+[{_signs})\]}}»”\"'’…{MARKS}\u200c\u200d\u2069]*+")
"""What a long name is made of, each part with the signs behind it."""
_CLUSTER = re.compile(rf"[\u2066\u2067]*+(?s:.)[{MARKS}\u200c\u200d\u2069]*+")
_LAST = re.compile(rf"{BREAK}([!-/:-@\[-`{{-~«»“”’…،؛؟{MARKS}\u200c\u200d\u2069]{{1,4}})$")
"""Punctuation behind a long word, which no line begins with."""


def breakable(text: str, *, longest: int = 24, piece: int = 8) -> str:
    """Return a text whose words can be broken over lines if they are longer than `longest`.

    They break behind the signs of URIs and names; what is still too long, after each `piece`
    characters, as hashes do. A mark is never parted from its letter.
    """

    def broken(word: re.Match[str]) -> str:
        parts = (
            _pieces(part, piece) if len(part) > longest else part
            for part in _PART.findall(word[0])
            if part
        )
        return BREAK.join(parts)

    return re.sub(rf"[^\s{BREAK}]{{{longest + 1},}}+", broken, text)


def _pieces(part: str, size: int) -> str:
    clusters = _CLUSTER.findall(part)
    pieces = (clusters[at : at + size] for at in range(0, len(clusters), size))
    return _LAST.sub(r"\1", BREAK.join(map("".join, pieces)))

"""Digits, letters and signs that look like ASCII, seen as ASCII.

Arabic-Indic, Persian and full-width characters, and the spaces and hyphens of typesetters, are
mapped one to one, so that a place in the folded text is the same place in the text.
"""

from typing import Final

import numpy as np
import re2  # type: ignore[import-untyped]  # it has no types

_LOOK_ALIKES: Final = {
    **{0x0660 + digit: ord("0") + digit for digit in range(10)},
    **{0x06F0 + digit: ord("0") + digit for digit in range(10)},
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys((0x00A0, 0x2007, 0x2008, 0x2009, 0x200A, 0x202F, 0x3000), ord(" ")),
    **dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2212), ord("-")),
}
_PRESENT = re2.compile("[" + "".join(rf"\x{{{code:x}}}" for code in sorted(_LOOK_ALIKES)) + "]")
_FOLDED = np.arange(0x10000, dtype="<u2")
_FOLDED[list(_LOOK_ALIKES)] = list(_LOOK_ALIKES.values())


def folded(text: str, encoded: bytes) -> bytes:
    """Return the text in UTF-8 with its look-alikes as ASCII; `encoded` is the text as it is."""
    if len(encoded) == len(text) or _PRESENT.search(encoded) is None:
        return encoded
    units = np.frombuffer(text.encode("utf-16-le"), dtype="<u2")
    return bytes(_FOLDED[units]).decode("utf-16-le").encode()

"""Digits, letters and signs that look like ASCII, seen as ASCII.

Arabic-Indic, Persian and full-width characters, and the spaces and hyphens of typesetters, are
mapped one to one, so that a place in the folded text is the same place in the text.
"""

import numpy as np
import re2  # type: ignore[import-untyped]  # it has no types

from evidentia.language.characters import LOOK_ALIKES

_PRESENT = re2.compile("[" + "".join(rf"\x{{{code:x}}}" for code in sorted(LOOK_ALIKES)) + "]")
_FOLDED = np.arange(0x10000, dtype="<u2")
_FOLDED[list(LOOK_ALIKES)] = list(LOOK_ALIKES.values())


def folded(text: str, encoded: bytes) -> bytes:
    """Return the text in UTF-8 with its look-alikes as ASCII; `encoded` is the text as it is."""
    if len(encoded) == len(text) or _PRESENT.search(encoded) is None:
        return encoded
    units = np.frombuffer(text.encode("utf-16-le"), dtype="<u2")
    return bytes(_FOLDED[units]).decode("utf-16-le").encode()

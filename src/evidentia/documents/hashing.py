r"""The hash that citation anchors are made of, equal to what JavaScript code computes of a text.

The text is lowercased, runs of whitespace become one space and the ends are trimmed, all as
ECMAScript defines it: its `\s` has U+FEFF and lacks U+0085 and U+001C to U+001F. Letters that are
newer than the interpreter's Unicode have no case here.
"""

import re
from hashlib import sha256
from typing import Final

from evidentia.errors import InputError

ANCHOR_LENGTH: Final = 8
FULL_LENGTH: Final = 64

_SPACES = re.compile(r"[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")


def generate_chunk_hash(content: str, length: int = ANCHOR_LENGTH) -> str:
    """Return the first `length` hexadecimal digits of the normalised text's SHA-256; 64 is all.

    >>> generate_chunk_hash("All  permanent EMPLOYEES ")
    'f9c39e82'
    """
    if not ANCHOR_LENGTH <= length <= FULL_LENGTH:
        raise InputError(f"a chunk hash has {ANCHOR_LENGTH} to {FULL_LENGTH} digits, not {length}")
    if content.isascii():  # the white space of bytes is ECMAScript's, of ASCII
        normalised = b" ".join(content.lower().encode().split())
    else:
        normalised = _utf8(_SPACES.sub(" ", content.lower()).strip(" "))
    return sha256(normalised).hexdigest()[:length]


def _utf8(text: str) -> bytes:
    """Encode as JavaScript does: surrogates in pairs are one character, lone ones are U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        units = text.encode("utf-16-le", "surrogatepass")
        return units.decode("utf-16-le", "replace").encode()

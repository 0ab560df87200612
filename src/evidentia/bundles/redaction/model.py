"""What redaction gives: the text with placeholders, and a record that holds no value."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

KIND = re.compile(r"[A-Z][A-Z0-9_]*")
"""How a kind is named."""
PLACEHOLDER = re.compile(r"\[[A-Z][A-Z0-9_]*_[1-9][0-9]*\]")
"""How a placeholder reads."""


class SensitiveSpan(NamedTuple):
    """A value of some kind, from `start` to `end` of a text."""

    kind: str
    start: int
    end: int


Detector = Callable[[str], Iterable[SensitiveSpan]]
"""Finds values in a text; its spans are in code points."""


class Redaction(NamedTuple):
    """A value that was replaced: its kind, and where its placeholder stands in the redacted text.

    The digest is HMAC-SHA-256 over the kind and the normalised value, in hexadecimal.
    """

    kind: str
    placeholder: str
    start: int
    end: int
    digest: str


@dataclass(frozen=True, slots=True)
class RedactedText:
    """A text with placeholders, and what they stand for, in the order of the text."""

    text: str
    redactions: tuple[Redaction, ...]

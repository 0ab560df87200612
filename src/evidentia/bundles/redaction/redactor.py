"""Redacting the texts of one bundle: the same value has the same placeholder in all of them.

Of hits that overlap the leftmost is taken, of those the longest, of those the first class: built-in
classes, then patterns, then detectors, each in their order. What a hit covers beyond one that was
taken is replaced as well, so that no half of a value is left.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final

from evidentia.bundles.redaction.folding import folded
from evidentia.bundles.redaction.hits import (
    apart,
    detected,
    in_code_points,
    outside_placeholders,
)
from evidentia.bundles.redaction.judging import find_built_in
from evidentia.bundles.redaction.model import Detector, RedactedText, Redaction, SensitiveSpan
from evidentia.bundles.redaction.patterns import BUILT_IN, custom_pattern
from evidentia.bundles.redaction.validating import normalised
from evidentia.errors import InputError

__all__ = ["BUILT_IN", "Redactor", "check_pattern"]

_SHORTEST_KEY: Final = 16
_BLOCK: Final = 64
_NUMBER_DIGITS: Final = 8
"""Of a digest, hexadecimal: ten digits at most, fewer than a card or an account has."""
_INNER: Final = bytes(byte ^ 0x36 for byte in range(256))
_OUTER: Final = bytes(byte ^ 0x5C for byte in range(256))
_FOLDED_KINDS: Final = frozenset(BUILT_IN)


def check_pattern(name: str, pattern: str) -> None:
    """Refuse a pattern that cannot be used, with an InputError that says why."""
    custom_pattern(name, pattern)


class Redactor:
    """Redacts texts under a key of at least 16 bytes, and numbers what it finds.

    `classes` are those of BUILT_IN to look for, all of them by default. Patterns are in RE2's
    syntax, and each is one more pass. Only digests of what was found are kept, never a value.
    `apart` takes a placeholder's number from the keyed digest, so that texts which are redacted
    apart from each other, in whatever order, say the same of the same value.
    """

    __slots__ = (
        "_apart",
        "_classes",
        "_counts",
        "_detectors",
        "_inner",
        "_numbers",
        "_outer",
        "_patterns",
    )

    def __init__(
        self,
        key: bytes,
        *,
        classes: Sequence[str] | None = None,
        patterns: Mapping[str, str] | None = None,
        detectors: Mapping[str, Detector] | None = None,
        apart: bool = False,
    ) -> None:
        if not isinstance(key, bytes) or len(key) < _SHORTEST_KEY:
            raise InputError(
                f"a redaction key is at least {_SHORTEST_KEY} bytes: make a longer one"
            )
        chosen = BUILT_IN if classes is None else tuple(classes)
        for name in chosen:
            if name not in BUILT_IN:
                raise InputError(
                    f"there is no class {name!r} to redact: choose of {', '.join(BUILT_IN)}"
                )
        block = sha256(key).digest() if len(key) > _BLOCK else key
        self._inner = sha256(block.ljust(_BLOCK, b"\0").translate(_INNER))
        self._outer = sha256(block.ljust(_BLOCK, b"\0").translate(_OUTER))
        self._classes = frozenset(chosen)
        self._patterns = {
            name: custom_pattern(name, pattern) for name, pattern in (patterns or {}).items()
        }
        self._detectors = dict(detectors or {})
        self._apart = apart
        self._numbers: dict[tuple[str, str], int] = {}
        self._counts: dict[str, int] = {}

    @property
    def counts(self) -> dict[str, int]:
        """How many different values of each kind were found so far."""
        return dict(self._counts)

    def redact(self, text: str, *, start: int = 0, end: int | None = None) -> RedactedText:
        """Return the text with its values replaced; an InputError if it is not valid Unicode.

        With `start` or `end`, only what is between them is returned; a value that begins before
        or ends after is replaced there too.
        """
        try:
            encoded = text.encode()
        except UnicodeEncodeError as problem:
            place = problem.start
        else:
            return self._redacted(text, encoded, start, len(text) if end is None else end)
        raise InputError(
            f"the text holds half a surrogate pair at character {place}: decode it again, with "
            "errors='replace' if need be"
        )

    def _redacted(self, text: str, encoded: bytes, first: int, last: int) -> RedactedText:
        seen = folded(text, encoded)
        spans = in_code_points(apart(find_built_in(seen, self._classes)), text, seen)
        if self._patterns or self._detectors:
            spans = apart([*spans, *self._own_spans(text, encoded)])
        if first or last < len(text):
            spans = [span for span in spans if span.start < last and span.end > first]
        if not spans:
            return RedactedText(text[first:last], ())
        view = text if seen is encoded else seen.decode()
        pieces: list[str] = []
        redactions: list[Redaction] = []
        done, length = first, 0
        for kind, start, end in spans:
            value = (view if kind in _FOLDED_KINDS else text)[start:end]
            placeholder, digest = self._placeholder(kind, value)
            before = text[done:start]
            pieces += (before, placeholder)
            length += len(before)
            begins, length = length, length + len(placeholder)
            redactions.append(Redaction(kind, placeholder, begins, length, digest))
            done = end
        pieces.append(text[done:last])
        return RedactedText("".join(pieces), tuple(redactions))

    def _placeholder(self, kind: str, value: str) -> tuple[str, str]:
        message = f"{kind}\0{normalised(kind, value)}".encode()
        digest = self._digest(message)
        number = self._numbers.get((kind, digest))
        if number is None:
            number = self._counts[kind] = self._counts.get(kind, 0) + 1
            if self._apart:
                number = int(digest[:_NUMBER_DIGITS], 16) + 1
            self._numbers[kind, digest] = number
        return f"[{kind}_{number}]", digest

    def _digest(self, message: bytes) -> str:
        """Return the HMAC of a message: RFC 2104 by hand, the module takes thrice as long."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(message)
        outer.update(inner.digest())
        return outer.hexdigest()

    def _own_spans(self, text: str, encoded: bytes) -> list[SensitiveSpan]:
        """Return what patterns and detectors find, in code points."""
        found: list[SensitiveSpan] = []
        for name, pattern in self._patterns.items():
            spans = [SensitiveSpan(name, *match.span()) for match in pattern.finditer(encoded)]
            found += in_code_points(spans, text, encoded)
        for name, detector in self._detectors.items():
            found += detected(name, detector, text)
        return outside_placeholders(found, text)

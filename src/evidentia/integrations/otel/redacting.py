"""Redacting spans one by one, before any of them is put down.

Spans of a trace arrive apart from each other, in any order and at several servers; so placeholders
are numbered by keyed digests, and the same value reads the same in all of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import orjson

from evidentia.bundles.redaction.model import RedactedText
from evidentia.bundles.redaction.redactor import Redactor
from evidentia.frozen import FrozenDict, FrozenList
from evidentia.integrations.otel.spans import Span
from evidentia.integrations.policy import RecordingPolicy

_JSON_BEGINS: Final = ("{", "[")
_MOST_DEPTH: Final = 64
_SHORT: Final = 64
_MOST_KNOWN: Final = 10_000


class SpanRedactor:
    """Redacts spans by a policy, under a key of their tenant."""

    def __init__(self, policy: RecordingPolicy, key: bytes) -> None:
        self._redactor = Redactor(
            key, classes=policy.redaction_classes, patterns=policy.redaction_patterns, apart=True
        )
        self._known: dict[str, RedactedText] = {}

    def redacted(self, span: Span) -> Span:
        """Return a span without the values that are to be redacted, and what was replaced where.

        Ids and times stay. A text that is JSON is redacted value by value, so that it stays JSON.
        """
        one = _Redacting(self._text)
        return replace(
            span,
            name=one.text(span.name, "name"),
            message=one.text(span.message, "message"),
            attributes=one.mapping(span.attributes, "attributes"),
            resource=one.mapping(span.resource, "resource"),
            events=tuple(
                replace(
                    event,
                    name=one.text(event.name, f"events[{place}].name"),
                    attributes=one.mapping(event.attributes, f"events[{place}].attributes"),
                )
                for place, event in enumerate(span.events)
            ),
            redactions=tuple(one.found),
        )

    def _text(self, text: str) -> RedactedText:
        """Redact a text; what is short is mostly the same in all spans, and remembered."""
        if len(text) > _SHORT:
            return self._redactor.redact(text)
        found = self._known.get(text)
        if found is None:
            found = self._redactor.redact(text)
            if len(self._known) < _MOST_KNOWN:
                self._known[text] = found
        return found


class _TooDeep(Exception):  # noqa: N818 - no error: such a text is taken as one
    """A JSON value is nested too deeply to be redacted value by value."""


class _Redacting:
    """Redacts the values of one span, and notes what it replaced."""

    def __init__(self, redact: Callable[[str], RedactedText]) -> None:
        self._redact = redact
        self.found: list[FrozenDict] = []

    def mapping(self, values: Mapping[str, Any], where: str, depth: int = 0) -> FrozenDict:
        """Return a mapping redacted; the names of attributes stay, those within values may not."""
        found = {}
        for name, one in values.items():
            shown = self.text(name, where) if depth else name
            found[shown] = self.value(one, f"{where}.{shown}", depth + 1)
        return FrozenDict(found)

    def value(self, value: Any, where: str, depth: int) -> Any:
        if depth > _MOST_DEPTH:
            raise _TooDeep
        if isinstance(value, Mapping):
            return self.mapping(value, where, depth)
        if isinstance(value, list):
            return FrozenList(
                self.value(one, f"{where}[{place}]", depth + 1) for place, one in enumerate(value)
            )
        if isinstance(value, str):
            return self._text_or_json(value, where, depth)
        if isinstance(value, int | float) and not isinstance(value, bool):
            told = str(value)  # a number may be one of a card, or of a phone
            plain = self.text(told, where)
            return value if plain == told else plain
        return value

    def text(self, text: str, where: str) -> str:
        hidden = self._redact(text)
        self.found += [
            FrozenDict(
                {
                    "field": where,
                    "kind": hit.kind,
                    "placeholder": hit.placeholder,
                    "digest": hit.digest,
                }
            )
            for hit in hidden.redactions
        ]
        return hidden.text

    def _text_or_json(self, text: str, where: str, depth: int) -> str:
        """Return a text redacted; one that is JSON is written anew only if that changed it."""
        before = len(self.found)
        if text.startswith(_JSON_BEGINS):
            try:
                hidden = self.value(orjson.loads(text), where, depth + 1)
            except (orjson.JSONDecodeError, _TooDeep):
                del self.found[before:]
            else:
                return text if len(self.found) == before else orjson.dumps(hidden).decode()
        return self.text(text, where)

"""Spans as values: what an exporter said, bounded, and nothing that is not JSON."""

import base64
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Final

from evidentia.canonical import MAX_SAFE_INTEGER, canonical_json, sha256_hex
from evidentia.errors import InputError
from evidentia.frozen import FrozenDict

MOST_SPANS: Final = 100_000
"""In one request, or one line of a file."""
MOST_ATTRIBUTES: Final = 10_000
"""Of a span: conventions that write lists as attributes need many."""
MOST_BYTES: Final = 4 * 2**20
"""Of a span, as JSON."""
MOST_DEPTH: Final = 32
_MOST_NAME: Final = 1_000
_MOST_REASONS: Final = 5
_NO_ID: Final = frozenset("0")
_HEX: Final = frozenset("0123456789abcdef")
_TRACE_ID: Final = 32
_SPAN_ID: Final = 16
ERROR: Final = 2
"""The status of a span that failed."""


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that happened within a span, such as an exception."""

    name: str
    time: int
    attributes: Mapping[str, Any] = field(default_factory=FrozenDict)


@dataclass(frozen=True, slots=True)
class Span:
    """One operation of a trace. Times are nanoseconds since 1970; ids are hexadecimal.

    `dropped` is how many attributes, events and links its own SDK left out. `redactions` says what
    was replaced in it before anything was stored: kinds, placeholders and keyed digests.
    """

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    start: int
    end: int
    attributes: Mapping[str, Any] = field(default_factory=FrozenDict)
    events: tuple[SpanEvent, ...] = ()
    status: int = 0
    message: str = ""
    resource: Mapping[str, Any] = field(default_factory=FrozenDict)
    scope: str = ""
    dropped: int = 0
    redactions: tuple[Mapping[str, Any], ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the operation ended with an error."""
        return self.status == ERROR

    @property
    def order(self) -> tuple[int, str, str]:
        """What spans are sorted by, whenever they arrived."""
        return self.start, self.span_id, self.sha256

    @property
    def sha256(self) -> str:
        """The digest of its content: spans that are equal have the same."""
        return sha256_hex(self.encode())

    def encode(self) -> bytes:
        """Return the span as canonical JSON."""
        return canonical_json(
            {
                "trace_id": self.trace_id,
                "span_id": self.span_id,
                "parent_id": self.parent_id,
                "name": self.name,
                "start": str(self.start),  # more than what JSON's numbers carry
                "end": str(self.end),
                "attributes": self.attributes,
                "events": [
                    {"name": one.name, "time": str(one.time), "attributes": one.attributes}
                    for one in self.events
                ],
                "status": self.status,
                "message": self.message,
                "resource": self.resource,
                "scope": self.scope,
                "dropped": self.dropped,
                "redactions": self.redactions,
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> "Span":
        """Return the span that `encode` wrote."""
        said: dict[str, Any] = json.loads(data)
        events = tuple(
            SpanEvent(one["name"], int(one["time"]), FrozenDict(one["attributes"]))
            for one in said.pop("events")
        )
        return cls(
            **{
                **said,
                "start": int(said["start"]),
                "end": int(said["end"]),
                "attributes": FrozenDict(said["attributes"]),
                "resource": FrozenDict(said["resource"]),
                "redactions": tuple(map(FrozenDict, said["redactions"])),
            },
            events=events,
        )


@dataclass(frozen=True, slots=True)
class Rejected:
    """A span that was not taken, and why; the id is what it said, if it said one."""

    reason: str
    span_id: str = ""


@dataclass(frozen=True, slots=True)
class Received:
    """What was in a request: the spans that can be kept, and those that cannot."""

    spans: tuple[Span, ...] = ()
    rejected: tuple[Rejected, ...] = ()

    @property
    def problem(self) -> str:
        """Why spans were rejected, in one line; empty if none was."""
        return told(self.rejected)


def told(rejected: Iterable[Rejected]) -> str:
    """Return reasons with how often each occurs, the most frequent first."""
    reasons = Counter(one.reason for one in rejected).most_common()
    said = [f"{reason} ({count:,})" for reason, count in reasons[:_MOST_REASONS]]
    more = len(reasons) - _MOST_REASONS
    return "; ".join([*said, f"and {more:,} more reasons"] if more > 0 else said)


class NotASpan(ValueError):  # noqa: N818 - it says why one span is rejected, and never gets out
    """One span cannot be kept; the others of its request can."""


def checked_id(text: str, digits: int, what: str) -> str:
    """Return an id in lower case; raise `NotASpan` if it is none, or nothing but zeros."""
    found = text.lower()
    if len(found) != digits or not set(found) <= _HEX or set(found) <= _NO_ID:
        raise NotASpan(f"the {what} is not {digits} hexadecimal digits, not all of them 0")
    return found


def checked_trace_id(text: str) -> str:
    """Return the id of a trace."""
    return checked_id(text, _TRACE_ID, "trace id")


def checked_span_id(text: str) -> str:
    """Return the id of a span."""
    return checked_id(text, _SPAN_ID, "span id")


def checked_name(text: str) -> str:
    """Return a name, of which the beginning is enough."""
    return clean(text)[:_MOST_NAME]


def clean(text: str) -> str:
    """Return a text that any database takes: no NUL, no half of a surrogate pair."""
    if text.isascii():
        return text.replace("\0", "\ufffd")
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def number(value: float) -> int | float | str:
    """Return a number as JSON carries it; what it cannot carry is text."""
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    return value if abs(value) <= MAX_SAFE_INTEGER else str(value)


def blob(value: bytes) -> str:
    """Return bytes as text."""
    return base64.b64encode(value).decode()


def checked_attributes(pairs: Iterable[tuple[str, Any]], most: int = MOST_ATTRIBUTES) -> FrozenDict:
    """Return attributes by name, the last of a name; raise `NotASpan` if they are too many."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        found[clean(name)] = value
        if len(found) > most:
            raise NotASpan(f"it has more than {most:,} attributes")
    return FrozenDict(found)


def checked_span(span: Span) -> Span:
    """Return a span that is small enough to be kept; raise `NotASpan` if it is not."""
    size = len(span.encode())
    if size > MOST_BYTES:
        raise NotASpan(f"it has more than {MOST_BYTES:,} bytes")
    return span


def refuse_too_many(count: int) -> None:
    """Raise for more spans than a request may have."""
    if count > MOST_SPANS:
        raise InputError(
            f"the request has more than {MOST_SPANS:,} spans: let the exporter send smaller batches"
        )

"""A step: what one span says in the words of a run, whatever convention it was written in."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from evidentia.integrations.otel.attributes import text
from evidentia.integrations.otel.spans import Span
from evidentia.integrations.run import Event, Loss
from evidentia.packs.fields import MAX_NAME

_BEGAN: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class Step:
    """What a span says: an event of the run if it is one, and what it knows of the whole run.

    `call_id` is what the event is called where several have another name for it.
    """

    event: Event | None = None
    losses: tuple[Loss, ...] = ()
    name: str = ""
    query: str = ""
    answer: str = ""
    session: str = ""


def named(found: str, otherwise: str = _UNKNOWN) -> str:
    """Return a name as a run takes it: not blank, and not too long."""
    return (found.strip() or otherwise)[:MAX_NAME]


def time_of(nanoseconds: int) -> str | None:
    """Return a time as text; None where none was given."""
    if not nanoseconds:
        return None
    found = _BEGAN + timedelta(microseconds=nanoseconds // 1000)
    return found.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def times(span: Span) -> dict[str, Any]:
    """Return when a span began and ended, as the fields of an event."""
    return {"started_at": time_of(span.start), "ended_at": time_of(max(span.start, span.end))}


def error_of(span: Span) -> str | None:
    """Return why a span failed; None if it did not."""
    if not span.failed:
        return None
    found = [span.message]
    for event in span.events:
        if event.name == "exception":
            kind = text(event.attributes, "exception.type")
            said = text(event.attributes, "exception.message")
            found.append(f"{kind}: {said}" if kind and said else kind or said)
    found.append(text(span.attributes, "error.type", "exception.type"))
    return next(filter(None, found), "it failed, and its span does not say why")


def not_sent(what: str, span: Span) -> Loss:
    """Return that something of a step was not in its span."""
    return Loss(
        what=named(what),
        why="not_seen",
        detail=f"span {span.span_id} ({span.name}) has none: let the tracer capture content",
    )


def plain(attributes: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the attributes that are there, under other names."""
    return {
        other: attributes[name] for name, other in names.items() if attributes.get(name) is not None
    }

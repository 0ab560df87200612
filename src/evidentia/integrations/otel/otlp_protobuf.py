"""OTLP as protobuf, as most exporters send it; `opentelemetry-proto` reads it."""

from typing import TYPE_CHECKING, Any, Final

from evidentia.errors import EnvironmentProblem, InputError
from evidentia.frozen import FrozenDict, FrozenList
from evidentia.integrations.otel.spans import (
    MOST_DEPTH,
    NotASpan,
    Received,
    Rejected,
    Room,
    Span,
    SpanEvent,
    blob,
    checked_attributes,
    checked_name,
    checked_span_id,
    checked_trace_id,
    clean,
    number,
    refuse_too_many,
    refuse_too_many_groups,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
    from opentelemetry.proto.trace.v1.trace_pb2 import Span as Message

_STATUSES: Final = (0, 1, 2)
_MOST_TIME: Final = 2**63


def parse_protobuf(data: bytes) -> Received:
    """Return the spans of a request, and those of it that cannot be kept.

    `InputError` is raised for what is no such request, `EnvironmentProblem` where the package that
    reads it is not there.
    """
    try:
        from google.protobuf.message import DecodeError  # noqa: PLC0415 - the extra otel
        from opentelemetry.proto.trace.v1.trace_pb2 import TracesData  # noqa: PLC0415 - the same
    except ImportError as error:
        raise EnvironmentProblem(
            "what is no JSON is read as OTLP's protobuf, and that needs more packages "
            f"({error.name}): pip install 'evidentia[otel]', or let the exporter send JSON"
        ) from None
    try:
        said = TracesData.FromString(data)
    except DecodeError:
        raise InputError("this is no OTLP as protobuf: it cannot be decoded") from None
    spans: list[Span] = []
    rejected: list[Rejected] = []
    room = Room()
    groups = 0
    for group in said.resource_spans:
        groups += 1 + len(group.scope_spans)
        refuse_too_many_groups(groups)
        try:
            resource = _attributes(group.resource.attributes)
        except NotASpan as problem:
            raise InputError(f"a resource cannot be read: {problem}") from None
        for part in group.scope_spans:
            scope = checked_name(part.scope.name)
            refuse_too_many(len(spans) + len(rejected) + len(part.spans))
            for one in part.spans:
                try:
                    spans.append(room.checked(_span(one, resource, scope)))
                except NotASpan as problem:
                    rejected.append(Rejected(str(problem), one.span_id.hex()))
    return Received(tuple(spans), tuple(rejected))


def _span(one: "Message", resource: FrozenDict, scope: str) -> Span:
    parent = one.parent_span_id.hex()
    return Span(
        trace_id=checked_trace_id(one.trace_id.hex()),
        span_id=checked_span_id(one.span_id.hex()),
        parent_id=checked_span_id(parent) if parent.strip("0") else None,
        name=checked_name(one.name),
        start=_time(one.start_time_unix_nano),
        end=_time(one.end_time_unix_nano),
        attributes=_attributes(one.attributes),
        events=tuple(
            SpanEvent(
                checked_name(event.name),
                _time(event.time_unix_nano),
                _attributes(event.attributes),
            )
            for event in one.events
        ),
        status=one.status.code if one.status.code in _STATUSES else 0,
        message=clean(one.status.message),
        resource=resource,
        scope=scope,
        dropped=one.dropped_attributes_count + one.dropped_events_count + one.dropped_links_count,
    )


def _time(found: int) -> int:
    if found >= _MOST_TIME:
        raise NotASpan("a time is beyond the year 2262")
    return found


def _attributes(pairs: "Iterable[KeyValue]", depth: int = 0) -> FrozenDict:
    return checked_attributes((one.key, _value(one.value, depth)) for one in pairs)


def _value(said: "AnyValue", depth: int) -> Any:
    """Return the value that is held; None where it is none that is known."""
    if depth >= MOST_DEPTH:
        raise NotASpan(f"an attribute is nested more than {MOST_DEPTH} levels deep")
    kind = said.WhichOneof("value")
    if kind == "array_value":
        return FrozenList(_value(one, depth + 1) for one in said.array_value.values)
    if kind == "kvlist_value":
        return _attributes(said.kvlist_value.values, depth + 1)
    found = _PLAIN.get(str(kind))
    return None if found is None else found(said)


_PLAIN: Final["Mapping[str, Callable[[Any], Any]]"] = {
    "string_value": lambda said: clean(said.string_value),
    "bool_value": lambda said: said.bool_value,
    "int_value": lambda said: number(said.int_value),
    "double_value": lambda said: number(said.double_value),
    "bytes_value": lambda said: blob(said.bytes_value),
}

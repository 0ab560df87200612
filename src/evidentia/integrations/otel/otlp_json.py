"""OTLP as JSON: ids are hexadecimal, 64-bit numbers may be text, unknown fields are ignored.

The JSON mapping of Protocol Buffers says otherwise of ids (base64), which is why none of its
readers is used. https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import orjson

from evidentia.errors import InputError
from evidentia.frozen import FrozenDict, FrozenList
from evidentia.integrations.otel.spans import (
    MOST_DEPTH,
    NotASpan,
    Received,
    Rejected,
    Span,
    SpanEvent,
    blob,
    checked_attributes,
    checked_name,
    checked_span,
    checked_span_id,
    checked_trace_id,
    clean,
    number,
    refuse_too_many,
)

_STATUS: Final = {"STATUS_CODE_UNSET": 0, "STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2}
_MOST_DIGITS: Final = 20
_MOST_TIME: Final = 2**63
_SHOWN: Final = 80


def parse_json(data: bytes) -> Received:
    """Return the spans of a request (or of what a collector wrote), and those it cannot keep.

    `InputError` is raised for what is no such request at all.
    """
    try:
        said = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InputError(f"this is no OTLP as JSON: {str(error)[:_SHOWN]}") from None
    if not isinstance(said, dict):
        raise InputError("this is no OTLP as JSON: an object with 'resourceSpans' is expected")
    spans: list[Span] = []
    rejected: list[Rejected] = []
    for resource, scope, one in _each(said):
        refuse_too_many(len(spans) + len(rejected) + 1)
        try:
            spans.append(_span(one, resource, scope))
        except NotASpan as problem:
            span_id = one.get("spanId") if isinstance(one, dict) else ""
            rejected.append(Rejected(str(problem), clean(str(span_id or ""))[:_SHOWN]))
    return Received(tuple(spans), tuple(rejected))


def _each(said: Mapping[str, Any]) -> Iterator[tuple[FrozenDict, str, Any]]:
    """Give the spans, each with its resource and the name of its scope."""
    for group in _objects(said, "resourceSpans"):
        try:
            resource = _attributes(_object(group, "resource"))
        except NotASpan as problem:
            raise InputError(f"a resource cannot be read: {problem}") from None
        for part in _objects(group, "scopeSpans"):
            scope = _text(_object(part, "scope"), "name")
            for one in _list(part, "spans"):
                yield resource, checked_name(scope), one


def _span(one: Any, resource: FrozenDict, scope: str) -> Span:
    if not isinstance(one, dict):
        raise NotASpan("it is no object")
    status = _object(one, "status")
    parent = _text(one, "parentSpanId")
    return checked_span(
        Span(
            trace_id=checked_trace_id(_text(one, "traceId")),
            span_id=checked_span_id(_text(one, "spanId")),
            parent_id=checked_span_id(parent) if parent.strip("0") else None,
            name=checked_name(_text(one, "name")),
            start=_time(one, "startTimeUnixNano"),
            end=_time(one, "endTimeUnixNano"),
            attributes=_attributes(one),
            events=tuple(
                SpanEvent(
                    checked_name(_text(event, "name")),
                    _time(event, "timeUnixNano"),
                    _attributes(event),
                )
                for event in _objects(one, "events")
            ),
            status=_status(status.get("code")),
            message=clean(_text(status, "message")),
            resource=resource,
            scope=scope,
            dropped=sum(
                _whole(one.get(name) or 0, name)
                for name in ("droppedAttributesCount", "droppedEventsCount", "droppedLinksCount")
            ),
        )
    )


def _attributes(one: Mapping[str, Any]) -> FrozenDict:
    return checked_attributes(
        (_text(pair, "key"), _value(pair.get("value"), 0)) for pair in _objects(one, "attributes")
    )


def _value(said: Any, depth: int) -> Any:
    """Return the value that an `AnyValue` holds; None where it holds none that is known."""
    if said is None:
        return None
    if not isinstance(said, dict):
        raise NotASpan("a value of an attribute is no object")
    if depth >= MOST_DEPTH:
        raise NotASpan(f"an attribute is nested more than {MOST_DEPTH} levels deep")
    for name, value in said.items():
        if value is not None and name in _VALUES:
            return _VALUES[name](value, depth)
    return None


def _text_value(value: Any, _: int) -> str:
    if not isinstance(value, str):
        raise NotASpan("a stringValue is no text")
    return clean(value)


def _truth(value: Any, _: int) -> bool:
    if not isinstance(value, bool):
        raise NotASpan("a boolValue is neither true nor false")
    return value


def _integer(value: Any, _: int) -> int | float | str:
    return number(_whole(value, "intValue"))


def _double(value: Any, _: int) -> int | float | str:
    if isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        try:
            return number(float(value))
        except (ValueError, OverflowError):
            pass
    raise NotASpan("a doubleValue is no number")


def _bytes(value: Any, _: int) -> str:
    try:
        return blob(base64.b64decode(value, validate=True))
    except (TypeError, ValueError, binascii.Error):
        raise NotASpan("a bytesValue is no base64") from None


def _array(value: Any, depth: int) -> FrozenList[Any]:
    return FrozenList(_value(one, depth + 1) for one in _objects_in(value, "values"))


def _pairs(value: Any, depth: int) -> FrozenDict:
    return checked_attributes(
        (_text(one, "key"), _value(one.get("value"), depth + 1))
        for one in _objects_in(value, "values")
    )


_VALUES: Final = {
    "stringValue": _text_value,
    "boolValue": _truth,
    "intValue": _integer,
    "doubleValue": _double,
    "arrayValue": _array,
    "kvlistValue": _pairs,
    "bytesValue": _bytes,
}


def _objects_in(value: Any, name: str) -> Iterable[dict[str, Any]]:
    if not isinstance(value, dict):
        raise NotASpan("a value of an attribute is no object")
    return _objects(value, name)


def _list(said: Mapping[str, Any], name: str) -> list[Any]:
    found = said.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise _Malformed(f"{name} is no list")
    return found


def _objects(said: Mapping[str, Any], name: str) -> Iterator[dict[str, Any]]:
    for one in _list(said, name):
        if not isinstance(one, dict):
            raise _Malformed(f"{name} has what is no object")
        yield one


def _object(said: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = said.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise _Malformed(f"{name} is no object")
    return found


class _Malformed(InputError, NotASpan):  # noqa: N818 - as what it is one of
    """What is not as it should be: of a span it is that span's, else the whole request's."""


def _text(said: Mapping[str, Any], name: str) -> str:
    found = said.get(name)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise _Malformed(f"{name} is no text")
    return found


def _time(said: Mapping[str, Any], name: str) -> int:
    found = _whole(said.get(name) or 0, name)
    if not 0 <= found < _MOST_TIME:
        raise NotASpan(f"{name} is no time")
    return found


def _whole(value: Any, name: str) -> int:
    """Return a whole number that is a number, or text as 64 bits are written."""
    if isinstance(value, str) and len(value) <= _MOST_DIGITS:
        digits = value.removeprefix("-")
        if digits.isascii() and digits.isdigit():
            return int(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        return value
    elif isinstance(value, float) and value.is_integer() and abs(value) < _MOST_TIME:
        return int(value)
    raise NotASpan(f"{name} is no whole number")


def _status(code: Any) -> int:
    if isinstance(code, str):
        return _STATUS.get(code, 0)
    return code if isinstance(code, int) and code in _STATUS.values() else 0

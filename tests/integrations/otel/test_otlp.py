"""Reading spans from what exporters send: both forms say the same, and nothing breaks a reader."""

import base64
import gzip
import json
import random
import sys
import zlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, TracesData

import tiers
from evidentia.errors import DocumentError, EnvironmentProblem, EvidentiaError, InputError
from evidentia.integrations.otel import bodies, files, spans
from evidentia.integrations.otel.bodies import JSON, PROTOBUF, answered, inflated, parsed
from evidentia.integrations.otel.files import read_batches
from evidentia.integrations.otel.otlp_json import parse_json
from evidentia.integrations.otel.otlp_protobuf import parse_protobuf
from evidentia.integrations.otel.spans import Received, Rejected, Span, told
from tracing import BEGAN, genai_trace, openinference_trace, request, trace_id_of

pytestmark = pytest.mark.sqlite_suffices
STRANGE = {
    "text": "naïve \U0001f600",
    "nul": "a\0b",
    "yes": True,
    "whole": 7,
    "huge": 2**62,
    "real": 0.25,
    "list": ["a", 1, {"b": [False]}],
    "empty": [],
}


def as_protobuf(data: bytes) -> bytes:
    """Write a request of JSON as protobuf, field by field."""
    said, made = json.loads(data), TracesData()
    for group in said["resourceSpans"]:
        into = made.resource_spans.add()
        for pair in group["resource"]["attributes"]:
            fill(into.resource.attributes.add(key=pair["key"]).value, pair["value"])
        for part in group["scopeSpans"]:
            scoped = into.scope_spans.add()
            scoped.scope.name = part["scope"]["name"]
            for one in part["spans"]:
                span = scoped.spans.add(
                    trace_id=bytes.fromhex(one["traceId"]),
                    span_id=bytes.fromhex(one["spanId"]),
                    parent_span_id=bytes.fromhex(one.get("parentSpanId", "")),
                    name=one["name"],
                    start_time_unix_nano=int(one["startTimeUnixNano"]),
                    end_time_unix_nano=int(one["endTimeUnixNano"]),
                )
                span.status.code = one["status"].get("code", 0)
                span.status.message = one["status"].get("message", "")
                for pair in one["attributes"]:
                    fill(span.attributes.add(key=pair["key"]).value, pair["value"])
                for event in one["events"]:
                    happened = span.events.add(
                        name=event["name"], time_unix_nano=int(event["timeUnixNano"])
                    )
                    for pair in event["attributes"]:
                        fill(happened.attributes.add(key=pair["key"]).value, pair["value"])
    written: bytes = made.SerializeToString()
    return written


def fill(into: AnyValue, said: dict[str, Any]) -> None:
    match said:
        case {"stringValue": text}:
            into.string_value = text
        case {"boolValue": truth}:
            into.bool_value = truth
        case {"intValue": number}:
            into.int_value = int(number)
        case {"doubleValue": number}:
            into.double_value = number
        case {"bytesValue": data}:
            into.bytes_value = base64.b64decode(data)
        case {"arrayValue": {"values": values}}:
            into.array_value.SetInParent()
            for one in values:
                fill(into.array_value.values.add(), one)
        case {"kvlistValue": {"values": pairs}}:
            into.kvlist_value.SetInParent()
            for one in pairs:
                fill(into.kvlist_value.values.add(key=one["key"]).value, one["value"])


def one_span(**changes: Any) -> bytes:
    """Return a request with one span of which some fields are as given, or are not there."""
    said = json.loads(request(genai_trace()[:1]))
    span = said["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    span.update(changes)
    return json.dumps(said).encode()


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {"stringValue": "deep"}
    for _ in range(depth):
        value = {"arrayValue": {"values": [value]}}
    return value


def test_both_forms_give_the_same_spans() -> None:
    strange = replace(genai_trace(3)[0], attributes=STRANGE)
    data = request([*genai_trace(1), *openinference_trace(2), strange])
    from_json, from_protobuf = parse_json(data), parse_protobuf(as_protobuf(data))
    assert from_json == from_protobuf
    assert len(from_json.spans) == 11
    assert [one.encode() for one in from_json.spans] == [
        one.encode() for one in from_protobuf.spans
    ]
    last = from_json.spans[-1].attributes
    assert last == {**STRANGE, "nul": "a\ufffdb", "huge": str(2**62)}
    assert from_json.spans[0].trace_id == trace_id_of(1)
    assert from_json.spans[0].resource == {"service.name": "support"}


def test_a_span_reads_back_as_it_was_written_down() -> None:
    for one in parse_json(request([*genai_trace(), *openinference_trace(1)])).spans:
        again = Span.decode(one.encode())
        assert again == one
        assert again.sha256 == one.sha256


def test_ids_are_hexadecimal_and_never_base64() -> None:
    ids = {"traceId": "5B8EFFF798038103D269B633813FC60C", "spanId": "EEE19B7EC3C1B174"}
    found = parse_json(one_span(**ids)).spans[0]
    assert (found.trace_id, found.span_id) == (ids["traceId"].lower(), ids["spanId"].lower())


def test_numbers_may_be_text_and_unknown_fields_are_ignored() -> None:
    found = parse_json(
        one_span(
            startTimeUnixNano=BEGAN,
            endTimeUnixNano=str(BEGAN + 1),
            kind="SPAN_KIND_CLIENT",
            status={"code": "STATUS_CODE_ERROR", "unheard": [1]},
            of_the_future={"x": 1},
            droppedAttributesCount="2",
            droppedEventsCount=1,
            parentSpanId="0000000000000000",
            attributes=[
                {"key": "text", "value": {"intValue": 12}},
                {"key": "real", "value": {"doubleValue": "0.5"}},
                {"key": "bytes", "value": {"bytesValue": "AAE="}},
                {"key": "infinite", "value": {"doubleValue": "Infinity"}},
                {"key": "float", "value": {"intValue": 3.0}},
                {"key": "none", "value": {"somethingElse": 1}},
                {"key": "nothing"},
            ],
        )
    ).spans[0]
    assert (found.start, found.end, found.failed, found.dropped) == (BEGAN, BEGAN + 1, True, 3)
    assert found.parent_id is None
    assert found.attributes == {
        "text": 12,
        "real": 0.5,
        "bytes": "AAE=",
        "infinite": "inf",
        "float": 3,
        "none": None,
        "nothing": None,
    }


def test_a_span_that_is_wrong_is_rejected_alone_with_its_reason() -> None:
    good = request(genai_trace())
    cases: tuple[tuple[dict[str, Any], str], ...] = (
        ({"traceId": "0" * 32}, "the trace id is not 32 hexadecimal digits, not all of them 0"),
        ({"traceId": "W46P+XmAOBA9Jptj"}, "the trace id is not 32 hexadecimal digits"),
        ({"spanId": ""}, "the span id is not 16 hexadecimal digits"),
        ({"spanId": 7}, "spanId is no text"),
        ({"name": []}, "name is no text"),
        ({"startTimeUnixNano": "soon"}, "startTimeUnixNano is no whole number"),
        ({"startTimeUnixNano": True}, "startTimeUnixNano is no whole number"),
        ({"endTimeUnixNano": str(2**63)}, "endTimeUnixNano is no time"),
        ({"attributes": {}}, "attributes is no list"),
        ({"attributes": ["x"]}, "attributes has what is no object"),
        ({"status": 2}, "status is no object"),
        ({"attributes": [{"key": "a", "value": 1}]}, "a value of an attribute is no object"),
        *(
            ({"attributes": [{"key": "a", "value": value}]}, reason)
            for value, reason in (
                ({"stringValue": 1}, "a stringValue is no text"),
                ({"boolValue": 1}, "a boolValue is neither true nor false"),
                ({"intValue": "1e3"}, "intValue is no whole number"),
                ({"doubleValue": "x"}, "a doubleValue is no number"),
                ({"doubleValue": True}, "a doubleValue is no number"),
                ({"bytesValue": "!"}, "a bytesValue is no base64"),
                ({"bytesValue": 1}, "a bytesValue is no base64"),
                ({"arrayValue": 1}, "a value of an attribute is no object"),
                (nested(40), "an attribute is nested more than 32 levels deep"),
            )
        ),
    )
    for changes, reason in cases:
        said = json.loads(good)
        said["resourceSpans"] += json.loads(one_span(**changes))["resourceSpans"]
        found = parse_json(json.dumps(said).encode())
        assert len(found.spans) == 5, changes
        assert len(found.rejected) == 1, changes
        assert reason in found.problem, changes
    no_object = json.loads(good)
    no_object["resourceSpans"][0]["scopeSpans"][0]["spans"].append("x")
    assert parse_json(json.dumps(no_object).encode()).problem == "it is no object (1)"


def test_protobuf_that_is_wrong_is_rejected_alone_too() -> None:
    made = TracesData.FromString(as_protobuf(request(genai_trace())))
    into = made.resource_spans[0].scope_spans[0].spans
    into[0].trace_id = b"short"
    into[1].start_time_unix_nano = 2**63
    value = into[2].attributes.add(key="deep").value
    for _ in range(33):
        value = value.array_value.values.add()
    into[3].attributes.add(key="nothing")
    into[3].status.code = 9  # as a program of the future may send
    into[3].attributes.add(key="bytes").value.bytes_value = b"\0\1"
    found = parse_protobuf(made.SerializeToString())
    assert len(found.spans) == 2
    assert found.spans[0].attributes["nothing"] is None
    assert found.spans[0].attributes["bytes"] == "AAE="
    assert found.spans[0].status == 0
    assert sorted(one.reason for one in found.rejected) == [
        "a time is beyond the year 2262",
        "an attribute is nested more than 32 levels deep",
        "the trace id is not 32 hexadecimal digits, not all of them 0",
    ]


def test_limits_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    data = request([replace(genai_trace()[0], attributes={str(n): "x" * 50 for n in range(40)})])
    both = partial(parse_json, data), partial(parse_protobuf, as_protobuf(data))
    monkeypatch.setattr(spans, "MOST_BYTES", 1_000)
    for parse in both:
        assert parse().problem == "it has more than 1,000 bytes (1)"
    monkeypatch.setattr(spans, "MOST_SPANS", 0)
    for parse in both:
        with pytest.raises(InputError, match="more than 0 spans"):
            parse()
    for names in ("abc", "aaa"):
        with pytest.raises(spans.NotASpan, match="more than 2 attributes"):
            spans.checked_attributes([(name, 1) for name in names], 2)


def test_groups_without_spans_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "MOST_GROUPS", 3)
    groups: list[dict[str, list[dict[str, Any]]]] = [
        {},
        {"scopeSpans": [{}]},
        {"scopeSpans": [{}] * 4},
    ]
    for group in groups:
        data = json.dumps({"resourceSpans": [group] * 4}).encode()
        made = TracesData()
        for _ in range(4):
            made.resource_spans.add().scope_spans.extend(
                ScopeSpans() for _ in group.get("scopeSpans", ())
            )
        for parse in (partial(parse_json, data), partial(parse_protobuf, made.SerializeToString())):
            with pytest.raises(InputError, match="more than 3 resources and scopes"):
                parse()


def test_a_large_resource_counts_for_each_of_its_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    first = genai_trace()[0]
    many = [replace(first, span_id=f"{number:016x}") for number in range(1, 41)]
    data = request(many, service="x" * 2_000)
    monkeypatch.setattr(spans, "MOST_TOGETHER", 40_000)
    for most in (4_000_000, 1_000):  # also where each of them would be rejected
        monkeypatch.setattr(spans, "MOST_BYTES", most)
        for parse in (partial(parse_json, data), partial(parse_protobuf, as_protobuf(data))):
            with pytest.raises(InputError, match="spans have more than 40,000 bytes"):
                parse()


def test_what_is_no_request_at_all_is_refused_whole() -> None:
    for data in (
        b"",
        b"nonsense",
        b"[]",
        b'{"resourceSpans": 1}',
        b'{"resourceSpans": [1]}',
        b'{"resourceSpans": [{"resource": {"attributes": [{"key": 1}]}}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": {}}]}]}',
        b'{"resourceSpans":' + b"[" * 100_000,
    ):
        with pytest.raises(InputError):
            parse_json(data)
    with pytest.raises(InputError, match="cannot be decoded"):
        parse_protobuf(b"\xff\xff\xff")
    deep = TracesData.FromString(as_protobuf(one_span()))
    value = deep.resource_spans[0].resource.attributes.add(key="deep").value
    for _ in range(33):
        value = value.array_value.values.add()
    with pytest.raises(InputError, match="a resource cannot be read"):
        parse_protobuf(deep.SerializeToString())
    assert parse_json(b"{}") == parse_json(b'{"resourceSpans": null}') == Received()
    assert parse_protobuf(b"") == Received()


def test_no_mutation_of_a_request_breaks_a_reader() -> None:
    chance = random.Random(23)
    data = request([*genai_trace(), *openinference_trace(1)])
    originals = [(data, JSON), (as_protobuf(data), PROTOBUF)]
    for _ in range(tiers.count(20_000, short=600)):
        original, form = chance.choice(originals)
        mutated = bytearray(original)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(mutated))
            match chance.randrange(4):
                case 0:
                    mutated[at] = chance.randrange(256)
                case 1:
                    del mutated[at : at + chance.randint(1, 40)]
                case 2:
                    mutated[at:at] = chance.randbytes(chance.randint(1, 8))
                case _:
                    mutated[at:at] = mutated[: chance.randint(1, 60)]
        try:
            for one in parsed(bytes(mutated), form).spans:
                assert Span.decode(one.encode()) == one
        except EvidentiaError:
            pass


def test_a_body_is_read_whatever_compressed_it() -> None:
    data = request(genai_trace())
    for encoding, body in (
        ("", data),
        ("identity", data),
        ("gzip", gzip.compress(data)),
        ("gzip", gzip.compress(data[:100]) + gzip.compress(data[100:])),
        ("deflate", zlib.compress(data)),
    ):
        assert inflated(body, encoding) == data
    for body, problem in (
        (b"nonsense", "no gzip"),
        (gzip.compress(data)[:-20], "in the middle"),
        (gzip.compress(bytes(50_000)), "more than 40,000 bytes"),
        (gzip.compress(b"") * 101, "more than 100 parts"),
    ):
        with pytest.raises(InputError, match=problem):
            inflated(body, "gzip", 40_000)
    with pytest.raises(InputError, match="more than 10 bytes"):
        inflated(data, "", 10)


def test_the_answer_counts_what_was_rejected_as_otlp_says() -> None:
    rejected = (Rejected("too large"), Rejected("too large"), Rejected("no id"))
    assert answered((), JSON) == b"{}"
    assert answered((), PROTOBUF) == b""
    said = json.loads(answered(rejected, JSON))
    assert said == {
        "partialSuccess": {"rejectedSpans": "3", "errorMessage": "too large (2); no id (1)"}
    }
    response = ExportTraceServiceResponse.FromString(answered(rejected, PROTOBUF))
    assert response.partial_success.rejected_spans == 3
    assert response.partial_success.error_message == "too large (2); no id (1)"
    assert told(Rejected(str(n)) for n in range(7)).endswith("; and 2 more reasons")


def test_files_of_a_collector_are_read_in_every_form(tmp_path: Path) -> None:
    requests = [request(genai_trace(number)) for number in range(3)]
    messages = list(map(as_protobuf, requests))
    framed = b"".join(len(one).to_bytes(4) + one for one in messages)
    pretty = json.dumps(json.loads(requests[0]), indent=1).encode()
    for name, data, spans_in in (
        ("lines.json", b"\n".join(requests) + b"\n\n", 15),
        ("bom.json", b"\xef\xbb\xbf" + requests[0], 5),
        ("pretty.json", pretty, 5),
        ("lines.json.gz", gzip.compress(b"\n".join(requests)), 15),
        ("framed.pb", framed, 15),
        ("framed.pb.gz", gzip.compress(framed), 15),
        ("single.pb", messages[0], 5),
    ):
        (tmp_path / name).write_bytes(data)
        batches = list(read_batches(tmp_path / name))
        assert sum(len(one.received.spans) for one in batches) == spans_in, name
        assert batches[-1].done <= batches[-1].total
        assert all(one.problem is None for one in batches)


def test_a_broken_line_does_not_end_a_file(tmp_path: Path) -> None:
    lines = [request(genai_trace(0)), b'{"resourceSpans": 1}', request(genai_trace(1))]
    (tmp_path / "spans.json").write_bytes(b"\n".join(lines))
    found = list(read_batches(tmp_path / "spans.json"))
    assert [len(one.received.spans) for one in found] == [5, 0, 5]
    assert found[1].problem == "resourceSpans is no list"


def test_a_file_that_cannot_be_read_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = as_protobuf(request(genai_trace()))
    monkeypatch.setattr(files, "MOST_BYTES", 10_000)
    monkeypatch.setattr(bodies, "MOST_BYTES", 10_000)
    for data, problem in (
        (b"", "it is empty"),
        (b"\x28\xb5\x2f\xfd....", "zstd -d"),
        (gzip.compress(message)[:-30], "broken gzip"),
        (len(message).to_bytes(4) + message[:-9], "in the middle of a message"),
        (b"{" + b" " * 20_000 + b"}", "a line has more than"),
        (b"{\n" + b" " * 20_000 + b"}", "an object has more than"),
        (b"PK\3\4" + bytes(20_000), "no file of spans"),
    ):
        (tmp_path / "file").write_bytes(data)
        with pytest.raises(DocumentError, match=problem):
            list(read_batches(tmp_path / "file"))
    with pytest.raises(EvidentiaError):
        list(read_batches(tmp_path))


def test_without_the_package_protobuf_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.trace.v1.trace_pb2", None)
    with pytest.raises(EnvironmentProblem, match=r"evidentia\[otel\]"):
        parse_protobuf(b"")

"""Spans: how many are read, redacted and put down in a second, and what recording a trace costs.

The yardstick is the same bytes parsed as JSON by orjson, and the same rows inserted by themselves.
"""

import json
import tempfile
import time
from pathlib import Path

import orjson
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from evidentia.integrations.otel.gathering import Gathering, put_down, record_trace
from evidentia.integrations.otel.otlp_json import parse_json
from evidentia.integrations.otel.otlp_protobuf import parse_protobuf
from evidentia.integrations.otel.redacting import SpanRedactor
from evidentia.integrations.policy import RecordingPolicy
from evidentia.store.database import insert_rows
from evidentia.workspace import open_workspace

TRACES = 400
RECORDED = 40
BEGAN = 1_795_000_000_000_000_000
PASSAGE = "Permanent employees receive 15 days of annual leave. Leave is requested in writing."


def request(traces: int) -> bytes:
    """Return traces of five spans each, as JSON."""
    kinds = (
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "support"},
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.query.text": "How much leave?",
            "gen_ai.retrieval.documents": json.dumps([{"id": "kb", "content": PASSAGE}]),
        },
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_contact",
            "gen_ai.tool.call.arguments": '{"contact_id": 5}',
            "gen_ai.tool.call.result": '{"name": "Ann"}',
        },
        {"http.request.method": "GET", "url.path": "/leave"},
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.input.messages": json.dumps(
                [{"role": "user", "parts": [{"type": "text", "content": PASSAGE}]}]
            ),
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "parts": [{"type": "text", "content": PASSAGE[:51]}]}]
            ),
        },
    )
    spans = [
        {
            "traceId": f"{trace + 1:032x}",
            "spanId": f"{trace * 8 + place + 1:016x}",
            "parentSpanId": f"{trace * 8 + 1:016x}" if place else "",
            "name": f"step {place}",
            "startTimeUnixNano": str(BEGAN + trace * 1_000_000 + place),
            "endTimeUnixNano": str(BEGAN + trace * 1_000_000 + place + 1),
            "attributes": [
                {"key": name, "value": {"stringValue": one}} for name, one in said.items()
            ],
        }
        for trace in range(traces)
        for place, said in enumerate(kinds)
    ]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


def protobuf(data: bytes) -> bytes:
    made = TracesData()
    part = made.resource_spans.add().scope_spans.add()
    for one in json.loads(data)["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        span = part.spans.add(
            trace_id=bytes.fromhex(one["traceId"]),
            span_id=bytes.fromhex(one["spanId"]),
            parent_span_id=bytes.fromhex(one["parentSpanId"]),
            name=one["name"],
            start_time_unix_nano=int(one["startTimeUnixNano"]),
            end_time_unix_nano=int(one["endTimeUnixNano"]),
        )
        for pair in one["attributes"]:
            span.attributes.add(key=pair["key"]).value.string_value = pair["value"]["stringValue"]
    written: bytes = made.SerializeToString()
    return written


def main() -> None:
    data = request(TRACES)
    wire = protobuf(data)
    count = TRACES * 5
    received = parse_json(data)
    rates: dict[str, float] = {}

    def measure(what: str, began: float, spans: int = count) -> None:
        rates[what] = spans / (time.perf_counter() - began)

    began = time.perf_counter()
    orjson.loads(data)
    measure("orjson alone", began)
    began = time.perf_counter()
    parse_json(data)
    measure("read as JSON", began)
    began = time.perf_counter()
    parse_protobuf(wire)
    measure("read as protobuf", began)
    redactor = SpanRedactor(RecordingPolicy(), b"k" * 32)
    began = time.perf_counter()
    for span in received.spans:
        redactor.redacted(span)
    measure("redacted", began)
    gathering = Gathering(RecordingPolicy(judges=["quote", "numbers"]))
    with (
        tempfile.TemporaryDirectory() as folder,
        open_workspace(home=Path(folder), create=True) as workspace,
    ):
        rows = [
            ("t", one.trace_id, one.span_id, one.sha256, 0, one.encode()) for one in received.spans
        ]
        columns = ("tenant", "trace_id", "span_id", "sha256", "recorded", "span")
        began = time.perf_counter()
        with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
            insert_rows(connection, "waiting_spans", columns, rows)
        measure("rows alone", began)
        began = time.perf_counter()
        put_down(workspace, received, gathering, at=workspace.opened.now())
        measure("redacted and put down", began)
        began = time.perf_counter()
        for trace in range(RECORDED):
            record_trace(workspace, f"{trace + 1:032x}", gathering.policy)
        measure("recorded, with a check", began, RECORDED * 5)
    print("| Spans | a second | of the yardstick |")
    print("|---|---:|---:|")
    for what, rate in rates.items():
        yardstick = rates["rows alone" if "put" in what or "recorded" in what else "orjson alone"]
        print(f"| {what} | {rate:,.0f} | {rate / yardstick:.3f} |")


if __name__ == "__main__":
    main()

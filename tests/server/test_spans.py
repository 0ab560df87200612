"""Spans that are sent to a server: by hand, by a real exporter, and to one that is killed."""

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode

from evidentia.access.actions import Action, Role
from evidentia.integrations.otel.telemetry import Exporting
from evidentia.workspace import open_workspace
from places import Place
from server.house import Furniture, House, listening, serving
from tracing import genai_trace, openinference_trace, request, trace_id_of

JSON = {"content-type": "application/json"}


def send(house: House, data: bytes, who: str = "approver", **headers: str) -> Any:
    return house.post("/v1/traces", who, content=data, headers={**JSON, **headers})


def test_spans_are_durable_when_they_are_acknowledged(house: House) -> None:
    answer = send(house, request(genai_trace()))
    assert (answer.status_code, answer.json()) == (200, {})
    assert len(house.workspace.spans.of_trace(trace_id_of(0))) == 5
    again = send(house, gzip.compress(request(genai_trace())), **{"content-encoding": "gzip"})
    assert (again.status_code, again.json()) == (200, {})
    (row,) = house.workspace.spans.open()
    assert (row.spans, row.actor, row.root) == (5, "approver", 1)
    counted = house.get("/metrics").text
    assert "evidentia_spans_received_total 10.0" in counted
    assert house.running.opened.for_("other").spans.open() == []


@pytest.mark.sqlite_suffices
def test_what_is_rejected_is_counted_with_its_reason(house: House) -> None:
    said = json.loads(request(genai_trace()))
    said["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = "no"
    answer = send(house, json.dumps(said).encode())
    assert answer.status_code == 200
    assert answer.json()["partialSuccess"] == {
        "rejectedSpans": "1",
        "errorMessage": "the trace id is not 32 hexadecimal digits, not all of them 0 (1)",
    }
    empty = house.post(
        "/v1/traces", content=b"", headers={"content-type": "application/x-protobuf"}
    )
    assert empty.status_code == 200
    assert ExportTraceServiceResponse.FromString(empty.content) == ExportTraceServiceResponse()


@pytest.mark.sqlite_suffices
def test_who_may_not_and_what_is_no_otlp_is_refused(house: House) -> None:
    data = request(genai_trace())
    for who, status in (("nobody", 401), ("viewer", 403), ("no one", 404)):
        assert send(house, data, who).status_code == status, who
    for headers, body, status in (
        ({"content-type": "text/plain"}, data, 415),
        ({"content-encoding": "br"}, data, 415),
        ({"content-encoding": "gzip"}, data, 422),
        ({}, b"nonsense", 422),
        ({"content-type": "application/x-protobuf"}, b"\xff\xff", 422),
    ):
        answer = send(house, body, **headers)
        assert answer.status_code == status, (headers, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
    assert house.workspace.spans.open() == []


@pytest.mark.sqlite_suffices
def test_a_token_sends_spans_if_it_may_also_have_them_recorded(house: House) -> None:
    for scopes, status in (([Action.CREATE], 404), ([Action.CREATE, Action.LIST], 200)):
        made = house.workspace.access.new_token("approver", scopes=scopes)
        house.tokens["exporter"] = made.text
        assert send(house, request(genai_trace()), "exporter").status_code == status, scopes
    (row,) = house.workspace.spans.open()
    assert row.scopes == "create,list"


@pytest.mark.sqlite_suffices
def test_requests_of_spans_are_limited(tmp_path: Path, sqlite_furniture: Furniture) -> None:
    place = Place(tmp_path / "home")
    with serving(place, sqlite_furniture, server_span_requests_per_minute=2) as house:
        answers = [send(house, request(genai_trace())) for _ in range(3)]
        assert [one.status_code for one in answers] == [200, 200, 429]
        assert answers[2].headers["retry-after"]


def tell(tracers: TracerProvider, traces: list[list[Any]]) -> None:
    """Make spans as a program does, from those of the traces."""
    tracer = tracers.get_tracer("tests")
    for made in traces:
        root = made[0]
        with tracer.start_as_current_span(root.name, attributes=root.attributes):
            for one in made[1:]:
                with tracer.start_as_current_span(one.name, attributes=one.attributes) as span:
                    if one.error:
                        span.set_status(Status(StatusCode.ERROR, one.error))


@pytest.mark.sqlite_suffices
def test_a_real_exporter_leads_to_runs(tmp_path: Path, sqlite_furniture: Furniture) -> None:
    place = Place(tmp_path / "home")
    policy = tmp_path / "policy.json"
    policy.write_text('{"judges": ["quote", "numbers"]}')
    settings: dict[str, Any] = {
        "server_jobs": 2,
        "otel_close_seconds": 0,
        "otel_policy_file": policy,
    }
    with serving(place, sqlite_furniture, **settings) as house, listening(house.app) as address:
        exporter = OTLPSpanExporter(
            f"{address}/v1/traces",
            headers={"Authorization": f"Bearer {house.tokens['approver']}"},
            compression=Compression.Gzip,
        )
        tracers = TracerProvider(
            resource=Resource.create({"service.name": "support"}), shutdown_on_exit=False
        )
        tracers.add_span_processor(BatchSpanProcessor(exporter))
        tell(tracers, [genai_trace(0), openinference_trace(1)])
        assert tracers.force_flush()
        tracers.shutdown()
        workspace = house.workspace
        before = {one.id for one in workspace.ledgers.list()}
        wait_for(lambda: len(workspace.ledgers.list()) >= 3 and not workspace.spans.open())
        wait_for(lambda: all(one.has_ended for one in workspace.jobs.list(kind="traces")))
        jobs = workspace.jobs.list(kind="traces")
        found = [one for job in jobs for one in job.result["traces"]]
        assert len(found) == 2
        for one in found:
            assert one["problem"] is None
            assert one["ledger_id"] not in before
            ledger = workspace.ledgers.get(one["ledger_id"])
            assert ledger.summary.by_verdict["supported"] == 1
            calls = workspace.tools.calls(one["run_id"])
            assert [call.tool_name for call in calls] == ["get_contact", "send_letter"]
            assert len(workspace.bundles.of_run(one["run_id"])) == 1


@pytest.mark.sqlite_suffices
def test_what_a_server_tells_of_itself_reaches_a_server(house: House) -> None:
    with listening(house.app) as address:
        os.environ["OTEL_EXPORTER_OTLP_HEADERS"] = (
            f"Authorization=Bearer {house.tokens['approver']}"
        )
        try:
            exporting = Exporting(house.running.opened, address)
        finally:
            del os.environ["OTEL_EXPORTER_OTLP_HEADERS"]
        answer = house.post(
            "/api/v1/sessions",
            json={"answer": "Leave has 15 days.", "library": True, "judges": ["quote"]},
        )
        assert answer.status_code in (200, 201, 202), answer.text
        exporting.close()
    (row,) = house.workspace.spans.open()
    (span,) = house.workspace.spans.of_trace(row.trace_id)
    assert json.loads(span.span)["name"] == "evidentia.check"


@contextmanager
def started(home: Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start a server of its own process; give it and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "evidentia.cli.main", "serve", "--port", str(port)]
    environment = {**os.environ, "EVIDENTIA_HOME": str(home), "EVIDENTIA_SERVER_WORKERS": "1"}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:

        def answers() -> bool:
            assert process.poll() is None, "the server ended"
            with socket.socket() as tried:
                return tried.connect_ex(("127.0.0.1", port)) == 0

        wait_for(answers)
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@pytest.mark.sqlite_suffices
def test_nothing_that_was_acknowledged_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with open_workspace(home=home, create=True) as workspace:
        workspace.access.grant("exporter", Role.APPROVER)
        token = workspace.access.new_token("exporter").text
    with started(home) as (process, address):
        exporter = OTLPSpanExporter(
            f"{address}/v1/traces", headers={"Authorization": f"Bearer {token}"}
        )
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(BatchSpanProcessor(exporter))
        tell(tracers, [genai_trace(number) for number in range(20)])
        assert tracers.force_flush()
        os.kill(process.pid, signal.SIGKILL)
        tracers.shutdown()
    with open_workspace(home=home) as workspace:
        assert sorted(row.spans for row in workspace.spans.open()) == [5] * 20


def wait_for(done: Any, seconds: float = 120) -> None:
    ends = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < ends, "it did not come to an end"
        time.sleep(0.05)

"""What goes out: spans and metrics of checks, seals and verdicts, where someone asks for it."""

import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from evidentia.errors import EnvironmentProblem, InputError
from evidentia.integrations.otel.telemetry import SPANS, Telemetry, observe
from evidentia.workspace import Workspace
from packing import decision, memo

POLICY = "# Leave\n\nPermanent employees receive 15 days of leave.\n"
SAID = "Permanent employees receive 15 days of leave. Permanent employees receive 25 days of leave."


class Watching:
    """Providers that keep in memory what they are told."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.meters = MeterProvider([self.reader], shutdown_on_exit=False)

    def spans(self) -> list[tuple[str, dict[str, Any]]]:
        found = [
            (one.name, dict(one.attributes or {})) for one in self.exporter.get_finished_spans()
        ]
        self.exporter.clear()
        return found

    def metrics(self) -> dict[str, list[tuple[dict[str, Any], Any]]]:
        data: Any = self.reader.get_metrics_data()
        return {
            metric.name: [
                (dict(point.attributes), getattr(point, "value", getattr(point, "count", None)))
                for point in metric.data.data_points
            ]
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }


@pytest.fixture
def watching() -> Watching:
    return Watching()


@pytest.mark.sqlite_suffices
def test_checks_seals_reviews_and_verdicts_are_spans_and_metrics(
    workspace: Workspace, tmp_path: Path, watching: Watching
) -> None:
    (tmp_path / "leave.md").write_text(POLICY)
    observe(workspace, watching.tracers, watching.meters)
    ledger = workspace.check(SAID, against=tmp_path / "leave.md", judges=["quote", "numbers"])
    ((name, said),) = watching.spans()
    assert name == "evidentia.check"
    assert said["evidentia.ledger.id"] == ledger.id
    assert said["evidentia.tenant"] == workspace.tenant
    assert said["evidentia.claims.supported"] == 1
    assert said["evidentia.coverage"] == ledger.summary.evidence_coverage
    given = [{"id": "a", "answer": SAID}, {"id": "b", "answer": SAID + " Ask Ann."}]
    workspace.check_many(given, against=tmp_path / "leave.md", judges=["quote"], workers=0)
    ((name, said),) = watching.spans()
    assert (name, said["evidentia.answers"]) == ("evidentia.check", 2)
    workspace.ledgers.give_verdict(
        ledger.id, ledger.entries[0].claim_id, "supported", reason="read it"
    )
    ((name, said),) = watching.spans()
    assert (name, said["evidentia.verdict"]) == ("evidentia.verdict", "supported")
    pack = workspace.assemble(decision(), memo=memo())
    ((name, said),) = watching.spans()
    assert (name, said["evidentia.pack.id"]) == ("evidentia.seal", pack.pack_id)
    assert said["evidentia.decision.id"] == pack.decision_id
    text = str(watching.metrics())
    found = watching.metrics()
    assert found["evidentia.checks"][0][1] == 3
    assert sum(count for _, count in found["evidentia.claims"]) >= 6
    assert found["evidentia.seals"][0][1] == 1
    assert found["evidentia.verdicts"][0][0]["evidentia.verdict"] == "supported"
    assert sum(count for _, count in found["evidentia.operation.duration"]) == 4
    assert "employees" not in text


@pytest.mark.sqlite_suffices
def test_what_fails_is_told_and_still_raised(workspace: Workspace, watching: Watching) -> None:
    observe(workspace, watching.tracers, watching.meters)
    with pytest.raises(InputError):
        workspace.check("Leave has 15 days.", judges=["unheard"], library=True)
    (one,) = watching.exporter.get_finished_spans()
    assert one.status.status_code.name == "ERROR"
    ((attributes, _),) = watching.metrics()["evidentia.operation.duration"]
    assert attributes["error.type"] == "InputError"


@pytest.mark.sqlite_suffices
def test_telemetry_that_fails_does_not_stop_the_work(
    workspace: Workspace, tmp_path: Path, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leave.md").write_text(POLICY)
    observe(workspace, watching.tracers, watching.meters)

    def fails(*_: object) -> None:
        raise RuntimeError("the collector is on fire")

    monkeypatch.setattr(Telemetry, "_told", fails)
    assert workspace.check(SAID, against=tmp_path / "leave.md", judges=["quote"]).id


@pytest.mark.sqlite_suffices
def test_nothing_is_told_unless_someone_asks(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "leave.md").write_text(POLICY)
    assert workspace.opened.observer is None
    assert workspace.check(SAID, against=tmp_path / "leave.md", judges=["quote"]).id
    assert workspace.opened.observer is None


@pytest.mark.sqlite_suffices
def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setitem(sys.modules, "opentelemetry.metrics", None)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(EnvironmentProblem, match=r"evidentia\[otel\]"):
        Telemetry()
    assert set(SPANS.values()) == {
        "evidentia.check",
        "evidentia.review",
        "evidentia.seal",
        "evidentia.verdict",
    }

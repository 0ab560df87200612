"""Checks, seals, reviews and people's verdicts as spans and metrics, where someone asked for it.

Nothing is sent unless a program calls `observe`, or a server's setting names an endpoint. No text
of an answer, a document or a claim is in it: ids, counts and durations alone.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evidentia import __version__
from evidentia.errors import EnvironmentProblem
from evidentia.logs import get_logger

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, TracerProvider

    from evidentia.workspace import Workspace
    from evidentia.workspace.opened import Opened

SPANS: Final[Mapping[str, str]] = {
    "ledgers.check": "evidentia.check",
    "ledgers.check_many": "evidentia.check",
    "ledgers.finish": "evidentia.check",
    "ledgers.give_verdict": "evidentia.verdict",
    "packs.assemble": "evidentia.seal",
    "packs.modify": "evidentia.review",
    "packs.review": "evidentia.review",
    "packs.seal": "evidentia.seal",
}
"""What is told of, by the rows of the guard's table, and what its span is called."""
_INSIDE: ContextVar[bool] = ContextVar("inside", default=False)
_log = get_logger("otel")


class Telemetry:
    """Tells OpenTelemetry of what a workspace does; whatever goes wrong with that, work goes on."""

    rows = frozenset(SPANS)

    def __init__(
        self, tracers: "TracerProvider | None" = None, meters: "MeterProvider | None" = None
    ) -> None:
        try:
            from opentelemetry import metrics, trace  # noqa: PLC0415 - the extra otel
        except ImportError as error:
            raise _missing(error) from None
        self._tracer = trace.get_tracer("evidentia", __version__, tracers)
        meter = metrics.get_meter("evidentia", __version__, meters)
        self._seconds = meter.create_histogram(
            "evidentia.operation.duration", "s", "How long checks, seals and verdicts took."
        )
        self._checks = meter.create_counter(
            "evidentia.checks", "{answer}", "Answers that were checked."
        )
        self._claims = meter.create_counter(
            "evidentia.claims", "{claim}", "Claims that were judged, by their verdicts."
        )
        self._coverage = meter.create_histogram(
            "evidentia.coverage", "1", "Of an answer's claims, the share that evidence supports."
        )
        self._seals = meter.create_counter("evidentia.seals", "{pack}", "Packs that were sealed.")
        self._verdicts = meter.create_counter(
            "evidentia.verdicts", "{verdict}", "Verdicts that people gave."
        )

    def __call__(self, row: str, tenant: str, call: Callable[[], Any]) -> Any:
        """Do what a row of the guard's table stands for, within a span; once, not for its parts."""
        if _INSIDE.get():
            return call()
        name = SPANS[row]
        mark = _INSIDE.set(True)
        began = time.perf_counter()
        said: dict[str, Any] = {"evidentia.tenant": tenant}
        try:
            with self._tracer.start_as_current_span(name, attributes=said) as span:
                result = call()
                self._quietly(self._told, name, span, result, tenant)
                return result
        except BaseException as error:
            said["error.type"] = type(error).__name__
            raise
        finally:
            _INSIDE.reset(mark)
            said["evidentia.operation"] = name
            self._quietly(self._seconds.record, time.perf_counter() - began, said)

    def _told(self, name: str, span: "Span", result: Any, tenant: str) -> None:
        if name == "evidentia.check":
            is_one = not hasattr(result, "checked")
            found = [_of_ledger(result)] if is_one else list(map(_of_outcome, result.checked))
            self._checked(found, span, tenant)
        elif name == "evidentia.verdict":
            verdict = str(result.verdict)
            span.set_attributes({"evidentia.verdict": verdict})
            self._verdicts.add(1, {"evidentia.tenant": tenant, "evidentia.verdict": verdict})
        else:
            decided = result.decision
            said = {"evidentia.approval_class": str(decided.approval_class if decided else "")}
            span.set_attributes(
                {"evidentia.pack.id": result.pack_id, "evidentia.decision.id": result.decision_id}
                | said
            )
            if name == "evidentia.seal":
                self._seals.add(1, {"evidentia.tenant": tenant, **said})

    def _checked(self, found: list["_Checked"], span: "Span", tenant: str) -> None:
        said = {"evidentia.tenant": tenant}
        counts: Counter[str] = Counter()
        for one in found:
            counts.update(one.verdicts)
            if one.verdicts.total():
                self._coverage.record(one.coverage, said)
        self._checks.add(len(found), said)
        for verdict, count in sorted(counts.items()):
            self._claims.add(count, {**said, "evidentia.verdict": verdict})
            span.set_attribute(f"evidentia.claims.{verdict}", count)
        span.set_attribute("evidentia.answers", len(found))
        if len(found) == 1:
            span.set_attribute("evidentia.ledger.id", found[0].ledger_id)
            span.set_attribute("evidentia.coverage", found[0].coverage)

    @staticmethod
    def _quietly(call: Callable[..., None], *given: Any) -> None:
        try:
            call(*given)
        except Exception as error:  # noqa: BLE001 - whatever it is: evidence matters more than telling of it
            _log.warning("telemetry_failed", error=f"{type(error).__name__}: {error}")


class _Checked(NamedTuple):
    """What is told of an answer that was checked."""

    ledger_id: str
    verdicts: Counter[str]
    coverage: float


def _of_ledger(ledger: Any) -> _Checked:
    summary = ledger.summary
    verdicts = Counter({str(one): count for one, count in summary.by_verdict.items() if count})
    return _Checked(ledger.id, verdicts, summary.evidence_coverage)


def _of_outcome(outcome: Any) -> _Checked:
    tally = outcome.tally
    verdicts = Counter({str(one): count for one, count in tally.by_verdict.items() if count})
    return _Checked(outcome.ledger_id, verdicts, tally.coverage)


def observe(
    workspace: "Workspace | Opened",
    tracers: "TracerProvider | None" = None,
    meters: "MeterProvider | None" = None,
) -> None:
    """Tell OpenTelemetry what a workspace does: the program's own providers, or those given."""
    opened: Any = getattr(workspace, "opened", workspace)
    opened.observer = Telemetry(tracers, meters)


class Exporting:
    """Sends what a server does to a collector, by OTLP over HTTP; close it to send the rest."""

    def __init__(self, opened: "Opened", endpoint: str) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import (  # noqa: PLC0415 - the extra otel
                OTLPMetricExporter,
            )
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - the same
                OTLPSpanExporter,
            )
            from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415 - the same
            from opentelemetry.sdk.metrics.export import (  # noqa: PLC0415 - the same
                PeriodicExportingMetricReader,
            )
            from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - the same
            from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - the same
            from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - the same
        except ImportError as error:
            raise _missing(error) from None
        resource = Resource.create({"service.name": "evidentia", "service.version": __version__})
        self._tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._tracers.add_span_processor(
            BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces"))
        )
        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(endpoint=f"{endpoint}/v1/metrics")
        )
        self._meters = MeterProvider([reader], resource, shutdown_on_exit=False)
        observe(opened, self._tracers, self._meters)

    def close(self) -> None:
        """Send what was not sent yet, and stop."""
        self._tracers.shutdown()
        self._meters.shutdown()


def _missing(error: ImportError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"OpenTelemetry needs more packages ({error.name}): pip install 'evidentia[otel]'"
    )

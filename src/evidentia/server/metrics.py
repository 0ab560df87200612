"""What a server counts, for Prometheus: no tenant, no user and no id is in it."""

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

if TYPE_CHECKING:
    from evidentia.access.openfga_client import OpenFgaClient

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The counters of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "evidentia_requests_total",
            "Requests that were answered.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "evidentia_request_seconds",
            "How long answers took.",
            ("method", "route"),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.working = Gauge(
            "evidentia_requests_in_progress",
            "Requests that are being worked on.",
            registry=self.registry,
        )
        self.not_signed_in = Counter(
            "evidentia_requests_not_signed_in_total",
            "Requests that named no one, or no one that is known.",
            registry=self.registry,
        )
        self.spans = Counter(
            "evidentia_spans_received_total",
            "Spans that were put down, or were there already.",
            registry=self.registry,
        )
        self.rejected_spans = Counter(
            "evidentia_spans_rejected_total",
            "Spans that could not be kept.",
            registry=self.registry,
        )

        self.checks = Gauge(
            "evidentia_openfga_checks",
            "Checks that OpenFGA was asked by this process, by whether they were answered.",
            ("outcome",),
            registry=self.registry,
        )
        self.openfga_away = Gauge(
            "evidentia_openfga_away",
            "Whether OpenFGA is taken for away: all that it is asked is refused at once.",
            registry=self.registry,
        )

    def text(self, openfga: "OpenFgaClient | None" = None) -> bytes:
        """Return all of it as Prometheus reads it."""
        if openfga is not None:
            for outcome in ("answered", "unanswered"):
                self.checks.labels(outcome).set(openfga.counts[outcome])
            self.openfga_away.set(openfga.is_away)
        return generate_latest(self.registry)

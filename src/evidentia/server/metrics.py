"""What a server counts, for Prometheus: no tenant, no user and no id is in it."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

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

    def text(self) -> bytes:
        """Return all of it as Prometheus reads it."""
        return generate_latest(self.registry)

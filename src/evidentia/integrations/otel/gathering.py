"""From spans that arrive to runs that are recorded: put down, closed, recorded, each once.

A span is redacted before it is put down, and durable before it is acknowledged. A trace is closed
some time after its root came; what comes later is an addendum to its run.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from evidentia.errors import (
    AccessError,
    EnvironmentProblem,
    EvidentiaError,
    InputError,
    IntegrityError,
)
from evidentia.integrations.otel.redacting import SpanRedactor
from evidentia.integrations.otel.spans import Received, Rejected, Span
from evidentia.integrations.otel.traces import addendum_of, run_of
from evidentia.integrations.policy import RecordingPolicy
from evidentia.integrations.recording import Recorded, record
from evidentia.jobs.work import Kind, Work
from evidentia.proof.files import read_bytes
from evidentia.store.sql.spans import MOST_IN_TRACE, Closing, WaitingSpan
from evidentia.times import utc_text

if TYPE_CHECKING:
    from evidentia.workspace import Workspace

TRACES_AT_ONCE: Final = 20
"""How many traces a part of a job records."""
_AGAIN_SECONDS: Final = 3_600
_LONGEST: Final = 2_000
_MOST_POLICY_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Gathering:
    """How traces are gathered: what is recorded of them, and when they are closed, in seconds."""

    policy: RecordingPolicy = field(default_factory=RecordingPolicy)
    close_seconds: int = 30
    idle_seconds: int = 1_800

    def closing(self, now: str) -> Closing:
        """Return when traces are closed of which spans come now."""
        return Closing(later(now, self.close_seconds), later(now, self.idle_seconds))


@dataclass(frozen=True, slots=True)
class TraceOutcome:
    """What became of a trace: the run that it is, or why it could not be recorded.

    `spans` are those that were new, `addendum` says that its run had been recorded before.
    """

    trace_id: str
    spans: int
    run_id: str | None = None
    recorded: Recorded | None = None
    addendum: bool = False
    problem: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        found = self.recorded
        return {
            "trace_id": self.trace_id,
            "spans": self.spans,
            "run_id": self.run_id,
            "bundle_id": found and found.bundle_id,
            "ledger_id": found and found.ledger_id,
            "pack_id": found and found.pack_id,
            "addendum": self.addendum,
            "problems": list(found.problems) if found else [],
            "problem": self.problem,
        }


def policy_in(file: Path) -> RecordingPolicy:
    """Return the policy that a file has as JSON; raise `InputError` if it has none."""
    try:
        return RecordingPolicy.model_validate_json(read_bytes(file, _MOST_POLICY_BYTES))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "it"
        raise InputError(f"{file}: no policy for recording: {where}: {first['msg']}") from None


def later(now: str, seconds: int) -> str:
    """Return a time so many seconds later, as the trail writes it."""
    return utc_text(datetime.fromisoformat(now) + timedelta(seconds=seconds))


def put_down(
    workspace: "Workspace", received: Received, gathering: Gathering, *, at: str
) -> tuple[Rejected, ...]:
    """Redact spans and put them down; return what was rejected. What is not is durable then."""
    if not received.spans:
        return received.rejected
    spans = received.spans
    if gathering.policy.redact:
        key = workspace.opened.keys.secret(workspace.tenant)
        redactor = SpanRedactor(gathering.policy, key)
        spans = tuple(map(redactor.redacted, spans))
    waiting = list(map(_waiting, spans))
    refused = workspace.spans.receive(waiting, gathering.closing(at))
    reason = f"its trace has {MOST_IN_TRACE:,} spans already"
    return (*received.rejected, *(Rejected(reason, one.span_id) for one in refused))


def _waiting(span: Span) -> WaitingSpan:
    return WaitingSpan(
        span.trace_id, span.span_id, span.sha256, span.encode(), span.parent_id is None
    )


def record_trace(workspace: "Workspace", trace_id: str, policy: RecordingPolicy) -> TraceOutcome:
    """Record what is there of a trace: its run, or what came since as an addendum to that.

    A trace in which no model, tool or retriever took part, and nothing was answered, is no run.

    Doing it again changes nothing. What cannot be recorded waits, and its outcome says why.
    """
    row = workspace.spans.find(trace_id)
    kept = workspace.spans.of_trace(trace_id)
    if row is None or not kept:
        return TraceOutcome(trace_id, 0)
    spans: dict[bool, list[Span]] = {True: [], False: []}
    for one in kept:
        spans[one.recorded].append(Span.decode(one.span))
    made: Recorded | None = None
    try:
        if row.run_id is None:
            run = run_of([*spans[True], *spans[False]])
            if run.events or run.answer or run.decision is not None:
                made = record(workspace, run, policy)
            run_id = None if made is None else made.run_id
        else:
            run_id = row.run_id
            addendum = addendum_of(run_id, spans[True], spans[False]) if spans[False] else None
            if addendum is not None:
                made = record(workspace, addendum, policy)
        workspace.spans.settle(trace_id, kept, run_id)
    except (AccessError, EnvironmentProblem, IntegrityError):
        raise
    except (EvidentiaError, ValueError) as error:
        problem = str(error)[:_LONGEST]
        again = later(workspace.opened.now(), _AGAIN_SECONDS)
        workspace.spans.put_off(trace_id, again, problem)
        return TraceOutcome(trace_id, len(spans[False]), row.run_id, problem=problem)
    return TraceOutcome(trace_id, len(spans[False]), run_id, made, row.run_id is not None)


def traces_job(gathering: Gathering) -> Kind:
    """Return how jobs are done that record traces which were closed."""

    def do(work: Work, part: int) -> None:
        traces: list[str] = json.loads(work.file(part))
        for number, trace_id in enumerate(traces, part * TRACES_AT_ONCE + 1):
            if not work.is_behind(number):
                work.go_on()
                outcome = record_trace(work.workspace(), trace_id, gathering.policy)
                work.note(number, outcome.as_json())

    return Kind(lambda work: len(work.job.asked["files"]), do, _results)


def _results(work: Work) -> Any:
    found = work.outcomes()
    return {"traces": found, "problems": sum(one["problem"] is not None for one in found)}


def parts(trace_ids: Iterable[str]) -> list[bytes]:
    """Return traces as the files of a job that records them: one for each part."""
    found = list(trace_ids)
    return [
        json.dumps(found[first : first + TRACES_AT_ONCE]).encode()
        for first in range(0, len(found), TRACES_AT_ONCE)
    ]

"""From spans that arrive to runs: each once, in whatever order, redacted before it is stored."""

import json
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import tiers
from evidentia.errors import InputError
from evidentia.integrations.otel import gathering as gathering_module
from evidentia.integrations.otel import redacting
from evidentia.integrations.otel.closing import Closer
from evidentia.integrations.otel.gathering import (
    Gathering,
    later,
    policy_in,
    put_down,
    record_trace,
    traces_job,
)
from evidentia.integrations.otel.otlp_json import parse_json
from evidentia.integrations.otel.redacting import SpanRedactor
from evidentia.integrations.otel.spans import Received
from evidentia.integrations.policy import RecordingPolicy
from evidentia.jobs.runner import Pace, Runner
from evidentia.jobs.work import DOING
from evidentia.store.sql import spans as rows
from evidentia.workspace import Workspace, open_workspace
from tracing import ANSWER, WRONG, Made, genai_trace, request, shuffled, trace_id_of

QUICK = Gathering(RecordingPolicy(judges=["quote", "numbers"]))


def send(workspace: Workspace, made: list[Made], gathering: Gathering = QUICK) -> None:
    at = workspace.opened.now()
    assert put_down(workspace, parse_json(request(made)), gathering, at=at) == ()


def evidence(workspace: Workspace, trace_id: str) -> dict[str, Any]:
    """Return what a trace became, without the times and ids that every recording has of its own."""
    outcome = record_trace(workspace, trace_id, QUICK.policy)
    assert outcome.problem is None
    made = outcome.recorded
    assert made is not None
    calls = workspace.tools.calls(made.decision_id or made.run_id)
    ledger = None if made.ledger_id is None else workspace.ledgers.get(made.ledger_id)
    return {
        "run": made.run_id,
        "bundle": workspace.bundles.get(made.bundle_id).bundle_sha256,
        "calls": [one.sha256 for one in calls],
        "verdicts": ledger and [(one.claim_text, one.verdict) for one in ledger.entries],
        "problems": made.problems,
    }


def large_trace(number: int, size: int) -> list[Made]:
    """Return a trace of which most spans are of no account, as in programs that trace all."""
    few = genai_trace(number, answer=(ANSWER, WRONG)[number % 2])
    rest = [
        Made(
            few[0].trace_id,
            f"{number:012x}{place + 16:04x}",
            "GET /",
            parent=few[0].span_id,
            start=few[0].start + place,
            attributes={"http.request.method": "GET", "url.path": f"/{place}"},
        )
        for place in range(size - len(few))
    ]
    return [*few, *rest]


@pytest.mark.sqlite_suffices
@pytest.mark.timeout(1_800)  # the whole form takes minutes
def test_spans_in_any_order_and_doubled_give_the_same_evidence(tmp_path: Path) -> None:
    traces = tiers.count(200, short=4)
    made = [one for number in range(traces) for one in large_trace(number, 500)]
    assert len(made) == tiers.count(100_000, short=2_000)
    found = []
    for name, spans, batch in (
        ("in order", made, 5_000),
        ("at random, twice", shuffled(made, seed=11), 3_333),
    ):
        with open_workspace(home=tmp_path / name, create=True) as workspace:
            for first in range(0, len(spans), batch):
                send(workspace, spans[first : first + batch])
            found.append([evidence(workspace, trace_id_of(number)) for number in range(traces)])
            assert len(workspace.bundles.list()) == traces
    assert found[0] == found[1]
    assert len(found[0][0]["calls"]) == 2
    assert found[0][0]["verdicts"] != found[0][1]["verdicts"]


def test_a_trace_is_closed_a_while_after_its_root_and_recorded_once(
    workspace: Workspace, tmp_path: Path
) -> None:
    send(workspace, genai_trace()[1:])
    row = workspace.spans.find(trace_id_of(0))
    assert row is not None
    assert row.closes_at is not None
    without_root = row.closes_at
    send(workspace, genai_trace()[:1])
    row = workspace.spans.find(trace_id_of(0))
    assert row is not None
    assert row.closes_at is not None
    assert row.closes_at < without_root
    first = record_trace(workspace, trace_id_of(0), QUICK.policy)
    size = workspace.trail.size
    send(workspace, genai_trace())  # all of it again
    assert workspace.spans.open() == []
    again = record_trace(workspace, trace_id_of(0), QUICK.policy)
    assert (again.run_id, again.spans, again.recorded) == (first.run_id, 0, None)
    assert workspace.trail.size == size
    assert record_trace(workspace, "0" * 31 + "f", QUICK.policy).spans == 0


def test_what_comes_late_is_added_to_the_run(workspace: Workspace) -> None:
    made = genai_trace()
    send(workspace, [made[0], made[1], made[4]])
    first = record_trace(workspace, trace_id_of(0), QUICK.policy)
    assert first.run_id is not None
    assert workspace.tools.calls(first.run_id) == []
    send(workspace, made)
    (row,) = workspace.spans.open()
    assert (row.spans, row.recorded, row.run_id) == (5, 3, first.run_id)
    second = record_trace(workspace, trace_id_of(0), QUICK.policy)
    assert (second.run_id, second.spans, second.addendum) == (first.run_id, 2, True)
    assert len(workspace.tools.calls(first.run_id)) == 2
    assert len(workspace.bundles.of_run(first.run_id)) == 2
    assert workspace.spans.open() == []


def test_a_crash_between_recording_and_noting_it_records_nothing_twice(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(workspace, genai_trace())

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(rows, "settle", dies)
        with pytest.raises(KeyboardInterrupt):
            record_trace(workspace, trace_id_of(0), QUICK.policy)
    size = workspace.trail.size
    outcome = record_trace(workspace, trace_id_of(0), QUICK.policy)
    assert outcome.recorded is not None
    assert workspace.trail.size == size


def test_nothing_is_put_down_that_the_policy_redacts(workspace: Workspace) -> None:
    made = genai_trace()
    secret = {"to": "ann.example@example.com", "card": 4111111111111111, "nested": "[1, 2]"}
    tool = replace(
        made[2],
        name="mail ann.example@example.com",
        attributes={
            **made[2].attributes,
            "gen_ai.tool.call.arguments": json.dumps(secret),
            "gen_ai.tool.call.result": "sent to ann.example@example.com",
            "indented": '\n {"to": "ann.example\\u0040example.com"}',
            "deep": "[" * 200 + "]" * 200,
            "list": ["ann.example@example.com", 5, True],
            "object": {"ann.example@example.com": 0.5},
            "number": 4111111111111111,
        },
        events=(("said", {"by": "ann.example@example.com"}),),
    )
    send(workspace, [made[0], tool])
    stored = b"".join(one.span for one in workspace.spans.of_trace(trace_id_of(0)))
    assert b"ann.example" not in stored
    assert b"\\u0040" not in stored
    assert b"4111111111111111" not in stored
    outcome = record_trace(workspace, trace_id_of(0), QUICK.policy)
    assert outcome.run_id is not None
    (call,) = workspace.tools.calls(outcome.run_id)
    assert "ann.example" not in call.model_dump_json()
    plain = Gathering(RecordingPolicy(redact=False))
    send(workspace, [replace(tool, trace_id=trace_id_of(7))], plain)
    kept = b"".join(one.span for one in workspace.spans.of_trace(trace_id_of(7)))
    assert b"ann.example" in kept


@pytest.mark.sqlite_suffices
def test_one_value_reads_the_same_in_all_spans_and_is_not_redacted_twice() -> None:
    said = {"a": "write to ann.example@example.com", "b": "bob.example@example.com"}
    spans = [replace(one, attributes=said) for one in parse_json(request(genai_trace()[:2])).spans]
    apart = [SpanRedactor(RecordingPolicy(), b"k" * 32).redacted(one) for one in spans]
    assert apart[0].attributes == apart[1].attributes
    a, b = (apart[0].attributes[name] for name in "ab")
    assert a.removeprefix("write to ") != b
    other = SpanRedactor(RecordingPolicy(), b"l" * 32).redacted(spans[0])
    assert other.attributes != apart[0].attributes
    again = SpanRedactor(RecordingPolicy(), b"k" * 32).redacted(apart[0])
    assert again.attributes == apart[0].attributes
    assert again.redactions == ()


def test_a_trace_has_room_for_so_many_spans(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MOST_IN_TRACE", 3)
    received = parse_json(request(genai_trace()))
    rejected = put_down(workspace, received, QUICK, at=workspace.opened.now())
    assert len(rejected) == 2
    assert "spans already" in rejected[0].reason
    assert put_down(workspace, Received(), QUICK, at=workspace.opened.now()) == ()


def test_a_trace_has_room_for_so_many_bytes_however_they_come(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = genai_trace()
    sizes = [len(one.encode()) for one in parse_json(request(made)).spans]
    monkeypatch.setattr(rows, "MOST_BYTES_IN_TRACE", sizes[0] + sizes[1] + 10)
    at = workspace.opened.now()
    refused = [bool(put_down(workspace, parse_json(request([one])), QUICK, at=at)) for one in made]
    assert refused == [False, False, True, True, True]
    assert put_down(workspace, parse_json(request(made[:2])), QUICK, at=at) == ()
    assert len(workspace.spans.of_trace(made[0].trace_id)) == 2


def test_what_cannot_be_recorded_waits_and_says_why(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(workspace, genai_trace())

    def refuses(*_: object) -> None:
        raise InputError("too much of it")

    with monkeypatch.context() as patch:
        patch.setattr(gathering_module, "record", refuses)
        outcome = record_trace(workspace, trace_id_of(0), QUICK.policy)
    assert outcome.problem == "too much of it"
    (row,) = workspace.spans.open()
    assert row.problem == "too much of it"
    assert record_trace(workspace, trace_id_of(0), QUICK.policy).recorded is not None
    assert workspace.spans.open() == []


def test_a_server_records_what_is_due_by_a_durable_job(workspace: Workspace) -> None:
    now = Gathering(QUICK.policy, close_seconds=0, idle_seconds=3_600)
    send(workspace, [*genai_trace(0), *genai_trace(1)], now)
    send(workspace, genai_trace(2)[1:], now)  # without its root
    runner = Runner(
        workspace.opened, pace=Pace(looks=0.05), kinds={**DOING, "traces": traces_job(now)}
    )
    closer = Closer(workspace.opened, runner.wake)
    assert closer.look_once() == 2
    assert closer.look_once() == 0
    (job,) = workspace.jobs.list(kind="traces")
    runner.start()
    try:
        wait_for(lambda: workspace.jobs.get(job.id).has_ended)
    finally:
        runner.close()
    done = workspace.jobs.get(job.id)
    assert done.problem is None
    assert done.result["problems"] == 0
    assert [one["spans"] for one in done.result["traces"]] == [5, 5]
    assert [one.trace_id for one in workspace.spans.open()] == [trace_id_of(2)]
    assert len(workspace.ledgers.list()) == 2


def test_traces_whose_job_failed_are_taken_again(workspace: Workspace) -> None:
    send(workspace, genai_trace(), Gathering(QUICK.policy, close_seconds=0))
    closer = Closer(workspace.opened, lambda: None)
    assert closer.look_once() == 1
    (job,) = workspace.jobs.list(kind="traces")
    workspace.jobs.cancel(job.id)
    assert closer.look_once() == 0
    row = workspace.spans.find(trace_id_of(0))
    assert row is not None
    assert row.job_id is None
    assert row.closes_at is not None
    assert row.closes_at > workspace.opened.now()


def test_a_trace_of_who_may_no_longer_is_kept_and_tried_later(workspace: Workspace) -> None:
    at = workspace.opened.now()
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        made = parse_json(request(genai_trace())).spans
        given = [gathering_module._waiting(one) for one in made]
        sender = (workspace.tenant, "gone", None)
        rows.put_down(connection, sender, given, Gathering(close_seconds=0).closing(at))
    closer = Closer(workspace.opened, lambda: None)
    assert closer.look_once() == 1
    assert workspace.jobs.list(kind="traces") == []
    row = workspace.spans.find(trace_id_of(0))
    assert row is not None
    assert row.problem


def test_spans_go_a_day_after_they_were_recorded(workspace: Workspace) -> None:
    send(workspace, [*genai_trace(0), *genai_trace(1)])
    record_trace(workspace, trace_id_of(0), QUICK.policy)
    now = workspace.opened.now()
    for after, left in ((timedelta(hours=-1), 5), (timedelta(hours=1), 0)):
        with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
            before = later(now, int(after.total_seconds()))
            rows.forget(connection, workspace.tenant, before)
        assert len(workspace.spans.of_trace(trace_id_of(0))) == left
    assert len(workspace.spans.of_trace(trace_id_of(1))) == 5


@pytest.mark.sqlite_suffices
def test_texts_are_redacted_alike_whether_they_are_remembered_or_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    span = replace(
        parse_json(request(genai_trace()[:1])).spans[0], attributes={"a": "ann@example.com"}
    )
    remembered = SpanRedactor(RecordingPolicy(), b"k" * 32).redacted(span)
    monkeypatch.setattr(redacting, "_MOST_KNOWN", 0)
    assert SpanRedactor(RecordingPolicy(), b"k" * 32).redacted(span) == remembered


@pytest.mark.sqlite_suffices
def test_a_policy_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text('{"check": "share", "share": 0.5, "redact": true}')
    assert policy_in(file).share == 0.5
    for text in ("nonsense", '{"check": "some"}', '{"unheard": 1}'):
        file.write_text(text)
        with pytest.raises(InputError, match="no policy for recording"):
            policy_in(file)


def wait_for(done: Any, seconds: float = 60) -> None:

    ends = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < ends, "it did not come to an end"
        time.sleep(0.05)

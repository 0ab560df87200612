"""A trace becomes a run: its spans in one order, whenever and however often they arrived.

What is not there is said: a root or a parent that never came, content that a tracer did not
capture, values that were redacted, two contents under one id.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from pydantic import ValidationError

from evidentia.integrations.otel.attributes import below, json_of, text
from evidentia.integrations.otel.genai import genai_step
from evidentia.integrations.otel.openinference import openinference_step
from evidentia.integrations.otel.spans import Span
from evidentia.integrations.otel.steps import Step, error_of, named, time_of
from evidentia.integrations.run import (
    Addendum,
    Decided,
    Effect,
    Event,
    Loss,
    ModelCall,
    Run,
    ToolCall,
)
from evidentia.packs.fields import MAX_ACTION

CHECK: Final = "evidentia.check"
DECISION: Final = "evidentia.decision."
EFFECT: Final = "evidentia.effect."
INTENDED: Final = "evidentia.tool.intended"
_DECISION_FIELDS: Final = (
    *("decision", "decision_ar", "approval_class", "reversibility_class", "sensitivity_class"),
    *("confidence", "high_stakes", "entity_id", "decision_id", "relied_on"),
)
_EFFECT_FIELDS: Final = ("name", "arguments", "action", "side_effects")
_SHORT: Final = 16


def run_of(spans: Iterable[Span]) -> Run:
    """Return the run that the spans of one trace are; there is at least one."""
    ordered, losses = _ordered(spans)
    root = _root(ordered)
    steps = [(one, step_of(one)) for one in ordered]
    events, more = _events(steps)
    losses += _unconnected(ordered) + more
    found = next(step for one, step in steps if one is root)
    models = [step for _, step in steps if isinstance(step.event, ModelCall)]
    decision, refused = _decision(ordered)
    answers = [found.answer, *reversed([step.answer for step in models])]
    if error_of(root) is not None and isinstance(found.event, ModelCall | None):
        answers = answers[:1]
    return Run(
        name=named(found.name or root.name, text(root.resource, "service.name") or "trace"),
        trace_id=root.trace_id,
        session=_first(text(one.attributes, "session.id") or step.session for one, step in steps)
        or None,
        query=found.query or _first(step.query for step in models),
        events=events,
        answer=_first(answers) or None,
        decision=decision,
        check=_check(ordered),
        error=error_of(root),
        started_at=time_of(min(one.start for one in ordered)),
        ended_at=time_of(max(max(one.start, one.end) for one in ordered)),
        losses=merged([*losses, *refused]),
    )


def addendum_of(run_id: str, recorded: Iterable[Span], late: Iterable[Span]) -> Addendum | None:
    """Return what late spans add to the run that the others became; None if they add nothing."""
    before = list(recorded)
    known = {(one.span_id, one.sha256) for one in before}
    ids = {span_id for span_id, _ in known}
    fresh = [one for one in late if (one.span_id, one.sha256) not in known]
    ordered, losses = _ordered(fresh)
    losses += [_conflicting(one.span_id, 2) for one in ordered if one.span_id in ids]
    steps = [(one, step_of(one)) for one in ordered]
    events, more = _events(steps)
    losses = merged([*losses, *_unchecked(before, steps), *more])
    if not events and not losses:
        return None
    return Addendum(
        run_id=run_id,
        trace_id=fresh[0].trace_id,
        decision_id=_decision_id(run_id, before),
        events=events,
        losses=losses,
    )


def _decision_id(run_id: str, spans: Iterable[Span]) -> str | None:
    """Return the id of the decision of a run that was recorded; None if it decided nothing."""
    decided, _ = _decision(_ordered(spans)[0])
    if decided is None:
        return None
    return decided.decision_id or f"dec_{run_id.removeprefix('run_')}"


def step_of(span: Span) -> Step:
    """Return what a span says; of one that says it in two conventions, what says more."""
    try:
        found = [one for one in (openinference_step(span), genai_step(span)) if one is not None]
    except ValidationError as error:
        return Step(losses=(_unreadable(span, error),))
    if not found:
        return Step()
    step = min(found, key=lambda one: (one.event is None, len(one.losses)))
    if isinstance(step.event, ToolCall):
        try:
            return _with_effect(span, step, step.event)
        except ValidationError as error:
            return Step(step.event, (*step.losses, _unreadable(span, error)), session=step.session)
    return step


def merged(losses: Iterable[Loss]) -> list[Loss]:
    """Return losses, those of the same things for the same reason as one, in order."""
    counts: dict[tuple[str, str], Loss] = {}
    for one in losses:
        there = counts.get((one.what, one.why))
        counts[one.what, one.why] = (
            one if there is None else there.model_copy(update={"count": there.count + one.count})
        )
    return [counts[key] for key in sorted(counts)]


def _ordered(spans: Iterable[Span]) -> tuple[list[Span], list[Loss]]:
    """Return spans in their order, each once, and what is to be said of those with one id."""
    different = {(one.span_id, one.sha256): one for one in spans}
    ordered = sorted(different.values(), key=lambda one: one.order)
    counts = Counter(one.span_id for one in ordered)
    losses = [_conflicting(span_id, many) for span_id, many in counts.items() if many > 1]
    return ordered, losses


def _conflicting(span_id: str, many: int) -> Loss:
    return Loss(
        what=f"which content span {span_id} has",
        why="conflicting",
        detail=f"it came with {many} different contents, and all of them are here",
    )


def _unchecked(before: Sequence[Span], late: Sequence[tuple[Span, Step]]) -> list[Loss]:
    """Say that an answer came after its run was recorded, and so is in no ledger."""
    known = any(step_of(one).answer for one in before)
    answers = [one for one, step in late if step.answer and not (known and one.parent_id)]
    detail = "it came when the trace was closed already: it is in no ledger"
    what = "the check of an answer that came late"
    return [
        Loss(what=what, why="not_seen", detail=f"span {one.span_id}: {detail}") for one in answers
    ]


def _root(ordered: Sequence[Span]) -> Span:
    """Return the span that the others are below, or the first whose parent is not there."""
    ids = {one.span_id for one in ordered}
    orphans = [one for one in ordered if one.parent_id not in ids]
    return next((one for one in ordered if one.parent_id is None), (orphans or ordered)[0])


def _unconnected(ordered: Sequence[Span]) -> list[Loss]:
    ids = {one.span_id for one in ordered}
    missing = sorted({one.parent_id for one in ordered if one.parent_id} - ids)
    losses = []
    if all(one.parent_id for one in ordered):
        losses.append(
            Loss(
                what="the root span",
                why="unfinished",
                detail="it had not come when the trace was closed",
            )
        )
    if missing:
        detail = f"spans name parents that had not come when the trace was closed: {missing[0]}"
        losses.append(
            Loss(what="parent spans", why="unfinished", count=len(missing), detail=detail)
        )
    return losses


def _events(steps: Sequence[tuple[Span, Step]]) -> tuple[list[Event], list[Loss]]:
    """Return the events of spans under names of their own, and everything that is not there."""
    events: list[Event] = []
    losses: list[Loss] = []
    redacted: Counter[str] = Counter()
    seen: set[tuple[str, str]] = set()
    for span, step in steps:
        losses += step.losses
        redacted.update(hit["kind"] for hit in span.redactions)
        if span.dropped:
            what = "attributes, events or links of spans"
            detail = f"the program's own SDK left them out, of span {span.span_id} first"
            losses.append(Loss(what=what, why="too_many", count=span.dropped, detail=detail))
        if step.event is None:
            continue
        event = step.event
        for other in (span.span_id, span.sha256[:_SHORT]):
            if (event.kind, event.call_id) in seen:
                event = event.model_copy(update={"call_id": named(f"{other}/{step.event.call_id}")})
        seen.add((event.kind, event.call_id))
        events.append(event)
    for kind, many in sorted(redacted.items()):
        detail = "they were replaced by the policy before anything was stored"
        losses.append(
            Loss(what=f"values of kind {kind}", why="redacted", count=many, detail=detail)
        )
    return events, losses


def _with_effect(span: Span, step: Step, event: ToolCall) -> Step:
    """Add what a program says of a call beyond its convention: what it meant, and what it did."""
    said = below(span.attributes, EFFECT)
    update: dict[str, Any] = {}
    if intended := text(span.attributes, INTENDED):
        update["intended"] = intended[:MAX_ACTION]
    if found := {name: said[name] for name in _EFFECT_FIELDS if said.get(name) is not None}:
        if "arguments" in found:
            found["arguments"] = json_of(found["arguments"])
        if isinstance(found.get("side_effects"), str):
            found["side_effects"] = [found["side_effects"]]
        update["effect"] = Effect(**found)
    if not update:
        return step
    return Step(
        event.model_copy(update=update),
        step.losses,
        step.name,
        step.query,
        step.answer,
        step.session,
    )


def _decision(ordered: Sequence[Span]) -> tuple[Decided | None, list[Loss]]:
    """Return what a program says that the run decided, on the first span that says so."""
    for span in ordered:
        said = below(span.attributes, DECISION)
        if not said:
            continue
        try:
            found = {name: said[name] for name in _DECISION_FIELDS if said.get(name) is not None}
            return Decided(**found), []
        except ValidationError as error:
            return None, [_unreadable(span, error)]
    return None, []


def _unreadable(span: Span, error: ValidationError) -> Loss:
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return Loss(
        what="what a span says",
        why="failed",
        detail=f"span {span.span_id}: {where}: {first['msg']}",
    )


def _check(ordered: Sequence[Span]) -> bool | None:
    said = (one.attributes.get(CHECK) for one in ordered)
    return next((one for one in said if isinstance(one, bool)), None)


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")

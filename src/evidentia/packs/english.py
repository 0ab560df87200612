"""The English side of a memo's draft."""

from collections.abc import Iterator, Sequence
from typing import Final

from evidentia.language.direction import isolated, runs_leftwards
from evidentia.language.wording import HOUR, counted_en, date_en, list_en, western_percent
from evidentia.packs.facts import (
    MOST_SOURCES,
    NAME,
    TITLE,
    MemoClaims,
    MemoEvidence,
    MemoFacts,
    MemoToolCall,
    Room,
    brief,
)
from evidentia.packs.layout import Language, cited, effects, judged, tool_names, top_numbers
from evidentia.packs.memo import TOP_ITEMS
from evidentia.packs.nouns import CALL, CLAIM, EFFECT, SOURCE, TOOL_CALL

CLASSES_EN: Final = {
    "A0": "no approval is needed",
    "A1": "a manager may examine the decision after it has taken effect",
    "A2": "a person must approve the decision before it takes effect",
    "A3": "an executive or the board must approve the decision before it takes effect",
    "R0": "the decision can be undone at once and without a trace",
    "R1": "the decision can easily be undone within the system",
    "R2": "the decision can be undone only with effort or at a cost",
    "R3": "the decision cannot be undone",
    "S0": "the decision rests on public data",
    "S1": "the decision rests on internal data",
    "S2": "the decision rests on a customer's commercial data",
    "S3": "the decision rests on personal data",
}
"""What the classes mean, in plain English."""


def title_en(facts: MemoFacts) -> str:
    """Return the memo's title."""
    return _as_written(brief(facts.title_en, TITLE)) or (
        f"Decision memo on {_as_written(brief(facts.entity_id, NAME)) or 'an unnamed entity'}"
    )


def _after_decision(facts: MemoFacts) -> Iterator[str]:
    made = f"It was made on {date_en(facts.decided_at)} by the agent {_name(facts.agent_name)}"
    yield f"{made} and {_basis(facts)}." if facts.evidence else f"{made}."
    yield _weight(facts)
    concerns = list(_concerns(facts))
    if concerns:
        yield f"Points for attention: {'; '.join(concerns)}."
    else:
        yield "The record of sources, tool calls and claims shows nothing that calls for attention."
    yield _asked(facts)


def _concerns(facts: MemoFacts) -> Iterator[str]:
    if not facts.evidence:
        yield "no source is given"
    if count := len(facts.failed):
        yield f"{counted_en(count, TOOL_CALL)} failed"
    if count := len(facts.contradicting):
        calls = f"{counted_en(count, TOOL_CALL)} contradict{'s' if count == 1 else ''}"
        yield f"{calls}, or may contradict, the intended action"
    if count := len(facts.stale):
        yield f"{counted_en(count, SOURCE)} {_is(count)} stale"
    if facts.claims is None:
        yield "the claims were not checked against the sources"
        return
    for count, predicates in (
        (facts.claims.contradicted, ("is contradicted", "are contradicted")),
        (facts.claims.not_found, ("has no support", "have no support")),
        (facts.claims.weak, ("has weak support", "have weak support")),
        (facts.claims.not_judged, ("could not be judged", "could not be judged")),
    ):
        if count:
            yield f"{counted_en(count, CLAIM)} {predicates[count > 1]}"


def _decision(facts: MemoFacts, room: Room) -> str:
    if told := brief(facts.decision_en, room):
        return f"The decision reads: “{_as_written(told.removesuffix('.'))}”."
    if told := brief(facts.decision_ar, room):
        return f"The decision, recorded in Arabic, reads: “{_as_written(told.removesuffix('.'))}”."
    return "The decision is on record without its wording."


def _origin(facts: MemoFacts) -> str:
    return (
        f"It was made on {date_en(facts.decided_at)} by the agent {_name(facts.agent_name)}, using "
        f"the model {_name(facts.model)}, and concerns the entity {_name(facts.entity_id)}."
    )


def _weight(facts: MemoFacts) -> str:
    stakes = "The decision is marked as high-stakes. " if facts.high_stakes else ""
    if facts.confidence is None:
        return f"{stakes}No level of confidence is stated."
    return f"{stakes}The stated confidence is {western_percent(facts.confidence)}."


def _classes(facts: MemoFacts) -> str:
    return (
        "; ".join(
            f"{kind} class {given}: {CLASSES_EN[given]}"
            for kind, given in (
                ("Approval", facts.approval_class),
                ("reversibility", facts.reversibility_class),
                ("sensitivity", facts.sensitivity_class),
            )
        )
        + "."
    )


def _basis(facts: MemoFacts) -> str:
    count = len(facts.evidence)
    chiefly = ", chiefly" if count > TOP_ITEMS else ":"
    top = _numbers(top_numbers(facts))
    return f"rests on {counted_en(count, SOURCE)}{chiefly} {top}"


def _evidence(facts: MemoFacts) -> Iterator[str]:
    if not facts.evidence:
        yield "No source is given for the decision."
        return
    yield f"The decision {_basis(facts)}."
    for number, item in enumerate(facts.evidence[:MOST_SOURCES], start=1):
        yield f"[{number}] {_source(item)}"
    if (more := len(facts.evidence) - MOST_SOURCES) > 0:
        yield f"Beyond these, {counted_en(more, SOURCE)} {_is(more)} listed in the evidence pack."
    yield _freshness(facts)


def _source(item: MemoEvidence) -> str:
    name = _quoted(item.known_as) if item.known_as else "a source without a name"
    trust = "not stated" if item.confidence is None else western_percent(item.confidence)
    return f"{name}: confidence {trust}{'; stale' if item.is_stale else ''}."


def _freshness(facts: MemoFacts) -> str:
    hours = facts.freshness_hours
    window = "the freshness window" + (f" of {counted_en(hours, HOUR)}" if hours else "")
    if facts.stale:
        count = len(facts.stale)
        stale = f"{counted_en(count, SOURCE)} {_is(count)} stale, that is, older than {window}"
        return f"{_capital(stale)}: {_numbers(facts.stale)}."
    return (
        f"No source is flagged as older than {window}." if hours else "No freshness window is set."
    )


def _actions(facts: MemoFacts) -> Iterator[str]:
    total = len(facts.tool_calls)
    if not total:
        yield "No tool call is on record."
        return
    yield f"The agent made {counted_en(total, TOOL_CALL)}."
    if facts.failed:
        yield f"{_capital(_of_them(len(facts.failed), total))} failed {_tools(facts.failed)}."
    else:
        yield "No failure is on record."
    if facts.contradicting:
        yield (
            f"In {_of_them(len(facts.contradicting), total)}, the action taken contradicts the "
            f"intended one, or cannot be shown to match it {_tools(facts.contradicting)}."
        )
    else:
        yield "No contradiction between intended and actual actions is on record."
    yield _effects(facts)


def _of_them(count: int, total: int) -> str:
    if count < total:
        return f"{counted_en(count, CALL).partition(' ')[0]} of them"
    return {1: "the call", 2: "both calls"}.get(count, f"all {counted_en(count, CALL)}")


def _tools(calls: Sequence[MemoToolCall]) -> str:
    names = tool_names(calls, _name, "others")
    return f"({'tools' if len(names) > 1 else 'tool'}: {list_en(names)})"


def _effects(facts: MemoFacts) -> str:
    count = len(facts.side_effects)
    if not count:
        return "No side effects are on record."
    if not facts.names_effects:
        return (
            f"{_capital(counted_en(count, EFFECT))} {_is(count)} described in the evidence pack "
            "alone, to keep personal data out of this memo."
        )
    told, more = effects(facts, _quoted)
    rest = f" The evidence pack adds {counted_en(more, EFFECT)} to these." if more else ""
    return f"Recorded side effects: {'; '.join(told)}.{rest}"


def _verification(claims: MemoClaims | None) -> Iterator[str]:
    if claims is None:
        yield "The claims were not checked against the sources."
        return
    if not claims.total:
        yield "There were no claims to check."
        return
    yield f"The check against the sources covered {counted_en(claims.total, CLAIM)}."
    told = ("support {}", "give weak support to {}", "contradict {}", "give no support to {}")
    found = list(judged(claims, lambda count: counted_en(count, CLAIM), told))
    if claims.supported == claims.total:
        all_of_it = {1: "it", 2: "both of them"}.get(claims.total, "all of them")
        yield f"The sources support {all_of_it}."
    elif found:
        yield f"The sources {list_en(found)}."
    if claims.not_judged:
        yield f"{_capital(counted_en(claims.not_judged, CLAIM))} could not be judged."


def _asked(facts: MemoFacts) -> str:
    if reviewer := brief(facts.reviewer, NAME):
        outcome = {"approved": " and approved", "rejected": " and rejected", None: ""}
        done = outcome[facts.review_outcome]
        return f"{_quoted(reviewer)} reviewed{done} the decision; this memo is for information."
    if facts.needs_review:
        return "A reviewer is asked to approve or reject the decision; until then it is unresolved."
    return "No review is pending; this memo is for information."


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _capital(text: str) -> str:
    """Return the beginning of a sentence, which is never a figure."""
    return f"In all, {text}" if text[0].isdigit() else f"{text[0].upper()}{text[1:]}"


def _numbers(numbers: Sequence[int]) -> str:
    return list_en(cited(numbers, lambda number: f"[{number}]", "others"))


def _name(text: str) -> str:
    return _quoted(brief(text, NAME) or "unnamed")


def _quoted(text: str) -> str:
    return f"“{_as_written(text)}”"


def _as_written(text: str) -> str:
    """Return a text as it stands in English: isolated if any of it runs the other way."""
    return isolated(text) if runs_leftwards(text) else text


ENGLISH: Final = Language(
    headings=(
        "Decision",
        "Classification",
        "Evidence",
        "Actions taken",
        "Verification of claims",
        "Review and action required",
    ),
    decision=_decision,
    after_decision=_after_decision,
    origin=_origin,
    weight=_weight,
    classes=_classes,
    evidence=_evidence,
    actions=_actions,
    verification=_verification,
    asked=_asked,
)
"""The words of a draft in English."""

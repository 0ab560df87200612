"""Recording a finished run in a workspace: its bundle, its calls, its ledger, its decision's pack.

All of it goes through the workspace's public methods, each of which records a thing once: so a run
that is recorded again, also after a crash in the middle, ends as one that was recorded once.
Nothing is stored before it is redacted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from evidentia.bundles.redaction.redactor import Redactor
from evidentia.errors import EvidentiaError, InputError
from evidentia.frozen import thaw
from evidentia.integrations.policy import RecordingPolicy
from evidentia.integrations.redacting import redacted_addendum, redacted_run
from evidentia.integrations.run import Addendum, Citation, Loss, Retrieval, Run, ToolCall
from evidentia.integrations.seen import evidence_of
from evidentia.integrations.wording import tool_record
from evidentia.ledger.given import MAX_CONTEXT_BYTES, MAX_CONTEXTS
from evidentia.ledger.retrieved import MAX_TITLE_CHARS
from evidentia.packs.decision import DecisionOutput, Evidence
from evidentia.packs.fields import MAX_EXCERPT, MAX_NAME
from evidentia.packs.tools import ToolVerificationLedger
from evidentia.sources.adapters import from_retrieval
from evidentia.sources.wire.rag import rag_payload
from evidentia.workspace import Workspace

USUAL: Final = RecordingPolicy()
_UNKNOWN: Final = "not said"


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was made of a run, by ids; `problems` says what could not be made of it, and why."""

    run_id: str
    bundle_id: str
    ledger_id: str | None = None
    decision_id: str | None = None
    pack_id: str | None = None
    problems: tuple[str, ...] = ()


def record(workspace: Workspace, of: Run | Addendum, policy: RecordingPolicy = USUAL) -> Recorded:
    """Record a run, or what was learned of one later; recording it again changes nothing.

    What cannot be made of it (no text to check against, a pack that lacks something) is told in
    `problems`; an `EvidentiaError` is raised where nothing could be recorded.
    """
    key = workspace.opened.keys.secret(workspace.tenant)
    if isinstance(of, Addendum):
        return _addendum(workspace, of, policy, key)
    run_id, decision_id = of.run_id, of.decision_id
    losses = (*of.losses, *_not_seen(of))
    run = _redacted(of.model_copy(update={"losses": losses}), policy, key)
    bundle_id = _bundle(workspace, run, run_id, policy)
    _calls(workspace, decision_id or run_id, run, policy)
    made = _Run(workspace, run, run_id, list(_contexts(run)))
    ledger_id = None
    if run.answer and run.answer.strip() and policy.is_checked(of):
        ledger_id = made.ledger(policy)
    pack_id = None if decision_id is None else made.pack(decision_id, bundle_id, ledger_id)
    return Recorded(run_id, bundle_id, ledger_id, decision_id, pack_id, tuple(made.problems))


def _addendum(
    workspace: Workspace, addendum: Addendum, policy: RecordingPolicy, key: bytes
) -> Recorded:
    later = addendum
    if policy.redact:
        later = redacted_addendum(addendum, _redactor(policy, key))
    bundle_id = _bundle(workspace, later, addendum.run_id, policy)
    _calls(workspace, addendum.decision_id or addendum.run_id, later, policy)
    return Recorded(addendum.run_id, bundle_id, decision_id=addendum.decision_id)


def _redactor(policy: RecordingPolicy, key: bytes) -> Redactor:
    return Redactor(key, classes=policy.redaction_classes, patterns=policy.redaction_patterns)


def _redacted(run: Run, policy: RecordingPolicy, key: bytes) -> Run:
    return redacted_run(run, _redactor(policy, key)) if policy.redact else run


def _bundle(workspace: Workspace, of: Run | Addendum, run_id: str, policy: RecordingPolicy) -> str:
    """Build the bundle of what the models saw, and record that the run used it."""
    evidence = evidence_of(of, run_id, _sources(workspace, of))
    bundle = workspace.bundle(
        {"extra_params": {"evidence": evidence}}, policy=policy.bundle_policy(len(evidence))
    )
    workspace.bundles.record_run(run_id, bundle.bundle_id)
    return bundle.bundle_id


def _sources(workspace: Workspace, of: Run | Addendum) -> Any:
    """Return what a reader is shown of what was retrieved; None if nothing was."""
    found = [
        thaw(one) for event in of.events if isinstance(event, Retrieval) for one in event.contexts
    ]
    if not found:
        return None
    retrieved = from_retrieval(found)
    packed = workspace.pack_sources(retrieved.candidates, retrieved.chunks)
    return rag_payload(packed)


def _calls(
    workspace: Workspace, decision_id: str, of: Run | Addendum, policy: RecordingPolicy
) -> None:
    """Record the calls of tools, each once, and what was offered."""
    ledger = ToolVerificationLedger()
    for event in of.events:
        if isinstance(event, ToolCall):
            ledger.record(decision_id, tool_record(event, policy.wording(event.name)))
        elif event.kind == "model":
            ledger.offer(decision_id, *filter(None, map(_offered, event.tools or ())))
    workspace.tools.take_over(decision_id, ledger)


def _offered(tool: Any) -> str | None:
    """Return the name of a tool that a request offers, in any of the usual forms."""
    if isinstance(tool, str):
        return tool
    if not isinstance(tool, dict):
        return None
    named = tool.get("name") or (tool.get("function") or {}).get("name")
    return named if isinstance(named, str) and named.strip() else None


def _contexts(run: Run) -> Iterator[dict[str, Any]]:
    """Give what the answer can rest on: what was retrieved, and what tools gave, each id once."""
    seen: set[str] = set()
    size = 0
    for event in run.events:
        for context in _given_by(event):
            size += len(context["text"].encode())
            if context["id"] in seen or not context["text"].strip():
                continue
            if len(seen) == MAX_CONTEXTS or size > MAX_CONTEXT_BYTES:
                return
            seen.add(context["id"])
            yield context


def _given_by(event: Any) -> Iterator[dict[str, Any]]:
    if isinstance(event, Retrieval):
        for number, one in enumerate(event.contexts, 1):
            plain = {"text": one} if isinstance(one, str) else thaw(one)
            identity = str(plain.get("id") or f"{event.call_id}-{number}")
            yield {**plain, "text": str(plain.get("text") or ""), "id": identity}
    elif isinstance(event, ToolCall) and event.error is None and event.result is not None:
        result = event.result
        text = result if isinstance(result, str) else _told(thaw(result))
        yield {"id": event.call_id, "text": text, "title": event.name}


def _told(value: Any) -> str:
    """Return a result as lines that a reader, and a judge, can take claims from."""
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_told(item)}" for name, item in value.items())
    if isinstance(value, list):
        return "\n".join(map(_told, value))
    return str(value)


@dataclass(slots=True)
class _Run:
    """A redacted run on its way into the workspace, and what could not be made of it."""

    workspace: Workspace
    run: Run
    run_id: str
    contexts: list[dict[str, Any]]
    problems: list[str] = field(default_factory=list)

    def ledger(self, policy: RecordingPolicy) -> str | None:
        """Have the answer checked against what the model was given, unless that was done."""
        if not self.contexts:
            said = "nothing was retrieved, and no tool gave text"
            self.problems.append(f"the answer was not checked: {said}")
            return None
        run = self.run
        given: dict[str, Any] = {
            "id": self.run_id,
            "title": run.name,
            "answer": run.answer,
            "contexts": self.contexts,
        }
        if run.query.strip():
            given["query"] = run.query
        given["citations"] = [*self._citations(str(run.answer))]
        (outcome,) = self.workspace.check_many([given], judges=policy.judges, workers=0)
        if outcome.ledger_id is None:
            self.problems.append(f"the answer was not checked: {outcome.problem}")
        return outcome.ledger_id

    def _citations(self, answer: str) -> Iterator[dict[str, Any]]:
        """Give what is cited and where; a place that the answer has not is told as a problem."""
        for one in self.run.citations:
            start, end = one.start, one.end
            if start is None or end is None:
                continue
            if start <= end <= len(answer):
                yield {"source": self._cited(one), "start": start, "end": end}
            else:
                said = f"{start} to {end} is no place in the answer"
                self.problems.append(f"the citation of {one.source} was not checked: {said}")

    def _cited(self, citation: Citation) -> str:
        """Return the id of the passage that a citation quotes, or what it calls its source."""
        quote = citation.quote.strip()
        quoted = [one for one in self.contexts if quote and quote in one["text"]]
        named = [one for one in quoted if citation.source in (one["id"], one.get("title"))]
        found = named or quoted
        return str(found[0]["id"]) if len(found) == 1 else citation.source

    def pack(self, decision_id: str, bundle_id: str, ledger_id: str | None) -> str | None:
        """Record the decision, and seal its pack, unless it has one."""
        packs = self.workspace.packs
        try:
            decision = self._decision(decision_id)
            packs.record_decision(decision)
            known = packs.list(decision=decision_id)
            if known:
                return known[0].id
            return packs.assemble(
                decision, ledger=ledger_id, bundles=[bundle_id], trace_id=self.run.trace_id
            ).pack_id
        except (EvidentiaError, ValueError) as error:
            self.problems.append(f"decision {decision_id} has no pack: {error}")
            return None

    def _decision(self, decision_id: str) -> DecisionOutput:
        run, decided = self.run, self.run.decision
        if decided is None:
            raise InputError("the run decided nothing")
        at = decided.decided_at or run.ended_at or run.started_at
        if at is None:
            raise InputError("nothing says when it was decided: give the run its times")
        models = [call.model for call in run.model_calls]
        relied_on = decided.confidence if decided.relied_on is None else decided.relied_on
        retrieved_at = {
            context["id"]: event.ended_at
            for event in reversed(run.events)
            for context in _given_by(event)
        }
        evidence = [
            Evidence(
                source=str(one.get("title") or one["id"])[:MAX_TITLE_CHARS],
                reference=one["id"],
                excerpt=one["text"][:MAX_EXCERPT],
                content=one["text"],
                retrieved_at=retrieved_at.get(one["id"]) or at,
                confidence=relied_on,
            )
            for one in self.contexts
        ]
        return DecisionOutput(
            decision_id=decision_id,
            entity_id=decided.entity_id or run.session or run.name,
            tenant_id=self.workspace.tenant,
            agent_name=run.agent or run.name,
            model=models[-1] if models else _UNKNOWN,
            decision=decided.decision,
            decision_ar=decided.decision_ar,
            approval_class=decided.approval_class,
            reversibility_class=decided.reversibility_class,
            sensitivity_class=decided.sensitivity_class,
            confidence=decided.confidence,
            high_stakes=decided.high_stakes,
            evidence=evidence,
            decided_at=at,
        )


def _not_seen(run: Run) -> Iterator[Loss]:
    """Give the calls that a model asked for and whose record nobody made."""
    seen = {call.call_id for call in run.tool_calls}
    for call in run.model_calls:
        for call_id, name, _ in asked_for(thaw(call.response)):
            if call_id not in seen:
                said = f"tool call {call_id} of {name}"[:200]
                yield Loss(what=said, why="not_seen", call_id=call_id[:MAX_NAME].strip() or None)


def asked_for(response: Any) -> Iterator[tuple[str, str, Any]]:
    """Give the calls of tools that a response asks for: ids, the tools' names, arguments.

    It is read as OpenAI's chat completions and responses, and Anthropic's messages, write it.
    """
    if isinstance(response, list):
        for one in response:
            yield from asked_for(one)
        return
    if not isinstance(response, dict):
        return
    kind = response.get("type")
    if kind == "tool_use":
        yield str(response.get("id")), str(response.get("name")), response.get("input")
    elif kind == "function_call":
        yield str(response.get("call_id")), str(response.get("name")), response.get("arguments")
    for call in response.get("tool_calls") or ():
        if isinstance(call, dict):
            named = call.get("function") or call
            yield str(call.get("id")), str(named.get("name")), named.get("arguments")
    for name in ("content", "output"):
        if isinstance(response.get(name), list):
            yield from asked_for(response[name])

"""LangGraph's interrupts as reviews: a graph stops for a decision, whose review resumes it.

    with recorder.run("contracts agent", query=question) as run:
        graph.invoke(inputs, config)
        ask_review(graph.get_state(config), run, approval_class="A2", confidence=0.9)
    ...  # somebody reviews the pack, in the browser or by workspace.packs.review
    command = reviewed(graph.get_state(config), workspace)
    if command is not None:
        graph.invoke(command, config)

What graphs do is recorded by `langchain.EvidenceMiddleware` or `langchain.EvidenceCallback`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from langgraph.types import Command

from evidentia.canonical import canonical_json, sha256_hex
from evidentia.errors import InputError
from evidentia.integrations.open_runs import OpenRun
from evidentia.integrations.values import told
from evidentia.integrations.wording import called
from evidentia.packs.model import EvidencePack, ReviewOutcome
from evidentia.workspace import Workspace

Answer = Callable[[Any, EvidencePack], Any]


def ask_review(state: Any, run: OpenRun, **weight: Any) -> str | None:
    """Say that a run decided what its graph was interrupted for; return the decision's id.

    `weight` are the fields of `run.Decided`; an interrupt whose value is an object may have some of
    them, `decision` among them. None is returned where nothing interrupts the graph.
    """
    if not state.interrupts:
        return None
    stated: dict[str, Any] = {}
    for one in state.interrupts:
        if isinstance(one.value, Mapping) and "decision" in one.value:
            stated |= one.value
    given = {**stated, **weight, "decision_id": decision_id(state)}
    decision = given.pop("decision", None) or "; ".join(
        _asked(one.value) for one in state.interrupts
    )
    run.decision(decision, **given)
    return decision_id(state)


def reviewed(state: Any, workspace: Workspace, *, answer: Answer | None = None) -> Any:
    """Return the command that resumes a graph whose decision was reviewed; None until it is.

    The outcome is read from the pack's newest version, as the trail has it. The graph is told an
    object with `approved`, `outcome`, `reviewer`, `note` and `pack_id`, or what LangChain's
    `HumanInTheLoopMiddleware` wants where it asked; `answer` may make something else of it.
    """
    if not state.interrupts:
        raise InputError("nothing interrupts this graph: there is nothing to resume")
    decision = decision_id(state)
    found = workspace.packs.list(decision=decision)
    if not found:
        raise InputError(
            f"decision {decision} has no pack: call ask_review within the run that was "
            "interrupted, and recorder.flush() before this"
        )
    pack = workspace.packs.get(max(found, key=lambda one: one.version).id)
    if pack.review_outcome is None:
        return None
    made = answer or _answer
    return Command(resume={one.id: made(one.value, pack) for one in state.interrupts})


def decision_id(state: Any) -> str:
    """Return the id of the decision that a graph waits for: the same however often it is asked."""
    thread = (state.config.get("configurable") or {}).get("thread_id")
    named = [str(thread), *sorted(str(one.id) for one in state.interrupts)]
    return f"dec_{sha256_hex(canonical_json(named))[:32]}"


def _asked(value: Any) -> str:
    """Return what an interrupt asks, in words."""
    calls = value.get("action_requests") if isinstance(value, Mapping) else None
    if not calls:
        return told(value)
    return "; ".join(called(str(one.get("name")), one.get("args")) for one in calls)


def _answer(value: Any, pack: EvidencePack) -> Any:
    approved = pack.review_outcome is ReviewOutcome.APPROVED
    calls = value.get("action_requests") if isinstance(value, Mapping) else None
    if calls:
        refused = {"type": "reject", "message": pack.review_note}
        return {"decisions": [{"type": "approve"} if approved else refused for _ in calls]}
    return {
        "approved": approved,
        "outcome": pack.review_outcome,
        "reviewer": pack.reviewer_id,
        "note": pack.review_note,
        "pack_id": pack.pack_id,
    }

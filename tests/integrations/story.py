"""One story of an agent, told to every framework: its parts as data, and what must come of it.

The agent answers a question on a supply contract. Its retriever finds two passages. Of its tools,
`get_contract` does what it is asked, `get_contact` reads another contact than it was asked for,
`send_notice` fails. The answer has a wrong number. The agent's decision is of class A2.

A test builds the agent on the parts, adds the two lines, asks `QUESTION`, and calls
`assert_story(workspace, requests)` with the requests that the fake model received.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

import tiers
from evidentia.errors import IntegrityError
from evidentia.integrations.policy import RecordingPolicy
from evidentia.integrations.seen import SeenRequest, seen_requests
from evidentia.packs.tools import ToolCallRecord
from evidentia.workspace import Workspace
from integrations.fake_model import Asked, AskedTool, Turn

BY_WORDS = RecordingPolicy(judges=None if tiers.is_whole() else ("quote", "numbers"))
"""How answers are checked: in the short form without the model, which takes seconds to load."""
QUESTION = "What is the notice period of the supply contract C-12?"
SYSTEM = "You answer from what you retrieve, and cite it."
PASSAGES: tuple[dict[str, Any], ...] = (
    {
        "id": "kb17",
        "title": "Supply contract C-12",
        "text": "The notice period of the supply contract is 30 days.",
    },
    {
        "id": "kb18",
        "title": "Payment terms",
        "text": "The supplier is paid within 45 days of receipt of the invoice.",
    },
)
WRONG_CLAIM = "The notice period of the supply contract is 60 days."
RIGHT_CLAIM = "The supplier is paid within 45 days of receipt of the invoice."
ANSWER = f"{WRONG_CLAIM} {RIGHT_CLAIM}"
DECISION = "Give notice of the supply contract."
WEIGHT: dict[str, Any] = {
    "approval_class": "A2",
    "reversibility_class": "R2",
    "sensitivity_class": "S2",
    "confidence": 0.9,
    "entity_id": "contract-C-12",
}
SCRIPT: tuple[Turn, ...] = (
    Turn(calls=[AskedTool("call_1", "get_contract", {"contract_id": "C-12"})]),
    Turn(
        calls=[
            AskedTool("call_2", "get_contact", {"contact_id": "456"}),
            AskedTool("call_3", "send_notice", {"contract_id": "C-12", "days": 60}),
        ]
    ),
    Turn(text=ANSWER),
)


class NoticeError(Exception):
    """What the failing tool raises."""


def retrieve(query: str) -> list[dict[str, Any]]:
    """Find passages, always the same."""
    del query
    return [dict(one) for one in PASSAGES]


def get_contract(contract_id: str) -> dict[str, Any]:
    """Read a contract."""
    return {"contract_id": contract_id, "supplier": "Najd Foods", "status": "active"}


def get_contact(contact_id: str) -> dict[str, Any]:
    """Read a contact: another one than was asked for, and its record says so."""
    return {"contact_id": str(int(contact_id) + 1), "name": "the purchasing office"}


def send_notice(contract_id: str, days: int) -> dict[str, Any]:
    """Send notice of a contract, which fails."""
    raise NoticeError(f"the mail server refused the notice of {contract_id} in {days} days")


TOOLS: dict[str, Callable[..., dict[str, Any]]] = {
    "get_contract": get_contract,
    "get_contact": get_contact,
    "send_notice": send_notice,
}
PARAMETERS: dict[str, dict[str, str]] = {
    "get_contract": {"contract_id": "string"},
    "get_contact": {"contact_id": "string"},
    "send_notice": {"contract_id": "string", "days": "integer"},
}


def schema(name: str) -> dict[str, Any]:
    """Return a tool's parameters as a JSON schema."""
    parameters = PARAMETERS[name]
    properties = {key: {"type": kind} for key, kind in parameters.items()}
    return {"type": "object", "properties": properties, "required": list(parameters)}


def assert_story(
    workspace: Workspace, requests: list[Asked], *, beside: Sequence[str] = ()
) -> None:
    """Assert that a workspace has all of the story, once, and tells what was wrong in it.

    `beside` names the tools that the framework has of its own.
    """
    (decision_id,) = _decisions(workspace)
    (pack,) = [workspace.packs.get(one.id) for one in workspace.packs.list()]
    audit = workspace.packs.audit()
    assert audit.missing == ()
    assert audit.late_calls == ()
    assert audit.missing_calls == ()
    assert audit.problems == ()
    assert pack.decision_id == decision_id
    assert pack.decision is not None
    assert pack.decision.approval_class == "A2"
    assert pack.decision.needs_review
    assert pack.trace_id is not None
    calls = workspace.tools.calls(decision_id)
    _assert_calls([call for call in calls if call.tool_name not in beside])
    assert len(calls) == len(TOOLS) + len(beside)
    assert {one.sha256 for one in pack.tool_calls} == {
        one.sha256 for one in workspace.tools.calls(decision_id)
    }
    assert set(TOOLS) <= set(pack.tools_offered)
    _assert_ledger(workspace, pack.ledger)
    (bundle,) = [workspace.bundles.get(one.bundle_id) for one in pack.bundles]
    assert workspace.bundles.runs(bundle.bundle_id), "the run that used the bundle is recorded"
    seen = seen_requests(bundle)
    assert len(seen) == len(requests) == len(SCRIPT)
    for one, asked in zip(seen, requests, strict=True):
        assert spoken_of(one) == spoken(asked.messages, asked.instructions)
    contexts = [one.content for one in bundle.items if one.source_ref.get("kind") == "context"]
    assert contexts == [one["text"] for one in PASSAGES]


def assert_exact(workspace: Workspace, requests: list[Asked]) -> None:
    """Assert that the messages in the bundle are those of the requests, to the letter."""
    (bundle,) = [workspace.bundles.get(one) for one in workspace.bundles.ids()]
    seen = seen_requests(bundle)
    assert [one.messages for one in seen] == [one.messages for one in requests]
    assert [one.instructions for one in seen] == [one.instructions for one in requests]


def assert_found_missing(workspace: Workspace) -> None:
    """Assert that the audit tells of a call that was taken away, or is not in the pack."""
    try:
        audit = workspace.packs.audit()
    except IntegrityError as error:  # a log that lacks an entry is not read on
        assert "is missing" in str(error)  # noqa: PT017 - either is an answer
        return
    assert audit.missing or audit.late_calls or audit.missing_calls or audit.problems


def _decisions(workspace: Workspace) -> list[str]:
    entries = workspace.trail.entries(kind="decision", proved=True)
    return [one.entry.subject.removeprefix("decision/") for one in entries]


def _assert_calls(calls: list[ToolCallRecord]) -> None:
    by_name = {call.tool_name: call for call in calls}
    assert set(by_name) == set(TOOLS)
    assert len(calls) == len(TOOLS), "each call is recorded once"
    assert not by_name["get_contract"].contradiction_flag
    assert by_name["get_contract"].outcome == "succeeded"
    assert by_name["get_contact"].contradiction_flag
    assert "457" in by_name["get_contact"].actual_action
    assert by_name["send_notice"].outcome == "failed"
    assert "the mail server refused" in str(by_name["send_notice"].error)
    assert dict(by_name["get_contract"].inputs) == {"contract_id": "C-12"}


def _assert_ledger(workspace: Workspace, reference: Any) -> None:
    assert reference is not None
    ledger = workspace.ledgers.get(reference.ledger_id)
    verdicts = {one.claim_text.rstrip("."): one.verdict.value for one in ledger.entries}
    assert verdicts[WRONG_CLAIM.rstrip(".")] == "contradicted"
    assert verdicts[RIGHT_CLAIM.rstrip(".")] in ("supported", "weak")


# What was said, whatever the form it was written in


def spoken_of(seen: SeenRequest) -> list[tuple[Any, ...]]:
    """Return what a request in a bundle says."""
    return spoken(seen.messages, seen.instructions)


def spoken(messages: Any, instructions: Any = None) -> list[tuple[Any, ...]]:
    """Return a conversation as (role, text), (asks, id, name, arguments) and (gives, id, text)."""
    said: list[tuple[Any, ...]] = []
    if instructions:
        said.append(("system", _text(instructions)))
    if isinstance(messages, str):
        return [*said, ("user", messages)]
    for one in messages:
        said += _said(one)
    return said


def _said(one: dict[str, Any]) -> list[tuple[Any, ...]]:
    kind = one.get("type")
    if kind == "function_call":
        return [("asks", one["call_id"], one["name"], _arguments(one["arguments"]))]
    if kind == "function_call_output":
        return [("gives", one["call_id"], _text(one["output"]))]
    role = {"developer": "system", "ai": "assistant", "human": "user"}.get(
        one.get("role") or kind or "", one.get("role") or kind
    )
    if role == "tool":
        return [("gives", one.get("tool_call_id"), _text(one.get("content")))]
    content = one.get("content")
    said: list[tuple[Any, ...]] = []
    if text := _text(content):
        said.append((role, text))
    for part in content if isinstance(content, list) else ():
        if part.get("type") == "tool_use":
            said.append(("asks", part["id"], part["name"], _arguments(part["input"])))
        elif part.get("type") == "tool_result":
            said.append(("gives", part["tool_use_id"], _text(part.get("content"))))
    for call in one.get("tool_calls") or ():
        function = call.get("function") or call
        arguments = function.get("arguments", function.get("args"))
        said.append(("asks", call["id"], function["name"], _arguments(arguments)))
    return said


def _arguments(given: Any) -> Any:
    return json.loads(given) if isinstance(given, str) else given


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(one.get("text", "")) for one in parts if isinstance(one, dict))

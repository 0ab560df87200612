"""The tools' part: calls as the trail keeps them, so that no one can leave one out."""

from typing import Any

from evidentia.errors import InputError
from evidentia.packs.tools import ToolCallRecord, ToolVerificationLedger
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.part import Part


class Tools(ToolVerificationLedger, Part, name="tools"):
    """A tenant's tool ledger, which is in its trail."""

    def __init__(self, acting: Acting) -> None:
        ToolVerificationLedger.__init__(self)
        Part.__init__(self, acting)

    def record(self, decision_id: str, call: ToolCallRecord) -> None:
        """Add a call that was made for a decision; it is durable when this returns.

        `InputError` is raised for one whose contradiction was told, not worked out.
        """
        if problem := call.departure():
            raise InputError(f"the call of {call.tool_name} is not recorded: {problem}")
        _append(self._acting, decision_id, {"call": call.model_dump(mode="json")})

    def offer(self, decision_id: str, *tools: str) -> None:
        """Note tools that the agent could have used for a decision."""
        _append(self._acting, decision_id, {"offered": list(dict.fromkeys(tools))})

    def calls(self, decision_id: str) -> list[ToolCallRecord]:
        """Return the calls of a decision, failures too, in the order in which they were recorded.

        A call whose entry was erased is left out: the trail says so.
        """
        return calls_of(self._acting, decision_id)

    def offered(self, decision_id: str) -> list[str]:
        """Return the tools that were offered for a decision, in the order of the offers."""
        bodies = _recorded(self._acting, decision_id)
        offered = (body["offered"] for body in bodies if "offered" in body)
        return list(dict.fromkeys(tool for tools in offered for tool in tools))

    def take_over(self, decision_id: str, other: ToolVerificationLedger) -> None:
        """Record the calls of a decision that another ledger has and this one does not yet."""
        known = [call.sha256 for call in calls_of(self._acting, decision_id)]
        for call in other.calls(decision_id):
            if call.sha256 in known:
                known.remove(call.sha256)
            else:
                self.record(decision_id, call)
        known_tools = self.offered(decision_id)
        new = [tool for tool in other.offered(decision_id) if tool not in known_tools]
        if new:
            self.offer(decision_id, *new)


def calls_of(acting: Acting, decision_id: str) -> list[ToolCallRecord]:
    """Return the calls of a decision, in the order in which they were recorded."""
    bodies = _recorded(acting, decision_id)
    return [ToolCallRecord.recorded(body["call"]) for body in bodies if "call" in body]


def _append(acting: Acting, decision_id: str, body: dict[str, Any]) -> None:
    acting.record(EntryKind.TOOL_CALL, f"decision/{decision_id}", {**body, "by": acting.actor})


def _recorded(acting: Acting, decision_id: str) -> list[dict[str, Any]]:
    logged = acting.entries(EntryKind.TOOL_CALL, f"decision/{decision_id}")
    return [one.body for one in logged if isinstance(one.body, dict)]

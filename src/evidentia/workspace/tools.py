"""The calls of tools as the trail keeps them: what was recorded can be left out by no one."""

from collections.abc import Callable
from typing import Any

from evidentia.errors import InputError
from evidentia.packs.tools import ToolCallRecord, ToolVerificationLedger

Append = Callable[[str, dict[str, Any]], None]
Read = Callable[[str], list[dict[str, Any]]]


class TrailToolLedger(ToolVerificationLedger):
    """A tool ledger in the trail of a workspace."""

    def __init__(self, append: Append, read: Read) -> None:
        super().__init__()
        self._append = append
        self._read = read

    def record(self, decision_id: str, call: ToolCallRecord) -> None:
        """Add a call that was made for a decision; it is durable when this returns.

        `InputError` is raised for one whose contradiction was told, not worked out.
        """
        if problem := call.departure():
            raise InputError(f"the call of {call.tool_name} is not recorded: {problem}")
        self._append(decision_id, {"call": call.model_dump(mode="json")})

    def offer(self, decision_id: str, *tools: str) -> None:
        """Note tools that the agent could have used for a decision."""
        self._append(decision_id, {"offered": list(dict.fromkeys(tools))})

    def calls(self, decision_id: str) -> tuple[ToolCallRecord, ...]:
        """Return the calls of a decision, failures too, in the order in which they were recorded.

        A call whose entry was erased is left out: the trail says so.
        """
        return tuple(
            ToolCallRecord.recorded(body["call"])
            for body in self._read(decision_id)
            if "call" in body
        )

    def offered(self, decision_id: str) -> tuple[str, ...]:
        """Return the tools that were offered for a decision, in the order of the offers."""
        offered = (body["offered"] for body in self._read(decision_id) if "offered" in body)
        return tuple(dict.fromkeys(tool for tools in offered for tool in tools))

    def take_over(self, decision_id: str, other: ToolVerificationLedger) -> None:
        """Record the calls of a decision that another ledger has and this one does not yet."""
        known = [call.sha256 for call in self.calls(decision_id)]
        for call in other.calls(decision_id):
            if call.sha256 in known:
                known.remove(call.sha256)
            else:
                self.record(decision_id, call)
        known_tools = self.offered(decision_id)
        new = [tool for tool in other.offered(decision_id) if tool not in known_tools]
        if new:
            self.offer(decision_id, *new)

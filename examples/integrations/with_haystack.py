"""An agent of Haystack, recorded: two lines, and its run is evidence.

    pip install "evidentia[haystack]"
    python with_haystack.py

A scripted model stands for yours, so that it runs without a network.
"""

from typing import Any

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import Tool

import evidentia as ev
from evidentia.integrations.haystack import record_haystack
from evidentia.integrations.recorder import Recorder


@component
class ScriptedModel:
    """Asks for the tool, and then answers with a wrong number."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: Any = None) -> dict[str, Any]:
        """Answer by the script, which knows the tools."""
        del tools
        if messages[-1].tool_call_results:
            reply = ChatMessage.from_assistant("The notice period of contract C-12 is 60 days.")
        else:
            asked = ToolCall("notice_period", {"contract": "C-12"}, id="call_1")
            reply = ChatMessage.from_assistant(tool_calls=[asked])
        return {"replies": [reply]}


def notice_period(contract: str) -> str:
    """Say how long the notice period of a contract is."""
    return f"The notice period of contract {contract} is 30 days."


tool = Tool(
    name="notice_period",
    description="Says how long the notice period of a contract is.",
    parameters={"type": "object", "properties": {"contract": {"type": "string"}}},
    function=notice_period,
)

recorder = Recorder("evidence")  # the first line
record_haystack(recorder)  # the second

agent = Agent(chat_generator=ScriptedModel(), tools=[tool])
given = agent.run([ChatMessage.from_user("How long is the notice for C-12?")])
print(given["last_message"].text)
recorder.close()

(run,) = recorder.recorded
with ev.open("evidence") as workspace:
    for entry in workspace.ledgers.get(run.ledger_id or "").entries:
        print(f"{entry.verdict}: {entry.claim_text}")
    for call in workspace.tools.calls(run.run_id):
        print(f"{call.outcome}: {call.actual_action}")

"""An agent of LlamaIndex, recorded: two lines, and its run is evidence.

    pip install "evidentia[llama-index]"
    python with_llama_index.py

A scripted model stands for yours, so that it runs without a network.
"""

import asyncio
from collections.abc import Sequence

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms import MockFunctionCallingLLM

import evidentia as ev
from evidentia.integrations.llama_index import record_llama_index
from evidentia.integrations.recorder import Recorder


def notice_period(contract: str) -> str:
    """Say how long the notice period of a contract is."""
    return f"The notice period of contract {contract} is 30 days."


def script(messages: Sequence[ChatMessage], **_: object) -> ChatMessage:
    """Ask for the tool, and then answer with a wrong number."""
    if messages[-1].role.value == "tool":
        return ChatMessage("The notice period of contract C-12 is 60 days.", role="assistant")
    asked = {"tool_name": "notice_period", "tool_kwargs": {"contract": "C-12"}}
    return ChatMessage([ToolCallBlock(tool_call_id="call_1", **asked)], role="assistant")


async def ask(question: str) -> str:
    """Run the agent."""
    model = MockFunctionCallingLLM(response_generator=script)
    agent = FunctionAgent(name="contracts agent", tools=[notice_period], llm=model, streaming=False)
    return str(await agent.run(question))


recorder = Recorder("evidence")  # the first line
record_llama_index(recorder)  # the second

print(asyncio.run(ask("How long is the notice for C-12?")))
recorder.close()

(run,) = recorder.recorded
with ev.open("evidence") as workspace:
    for entry in workspace.ledgers.get(run.ledger_id or "").entries:
        print(f"{entry.verdict}: {entry.claim_text}")
    for call in workspace.tools.calls(run.run_id):
        print(f"{call.outcome}: {call.actual_action}")

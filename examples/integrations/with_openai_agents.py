"""An agent of the OpenAI Agents SDK, recorded: two lines, and its trace is evidence.

    pip install "evidentia[openai-agents]"
    OPENAI_API_KEY=… python with_openai_agents.py

OPENAI_BASE_URL says which API is asked, if it is not OpenAI's own.
"""

import os

from agents import Agent, Runner, function_tool, set_trace_processors

import evidentia as ev
from evidentia.integrations.openai_agents import EvidenceProcessor
from evidentia.integrations.recorder import Recorder


def notice_period(contract: str) -> str:
    """Say how long the notice period of a contract is."""
    return f"The notice period of contract {contract} is 30 days."


recorder = Recorder("evidence")  # the first line
set_trace_processors([EvidenceProcessor(recorder)])  # the second

agent = Agent(
    "contracts", tools=[function_tool(notice_period)], model=os.environ.get("MODEL", "gpt-5-mini")
)
Runner.run_sync(agent, "How long is the notice for C-12?")
recorder.close()

(run,) = recorder.recorded
with ev.open("evidence") as workspace:
    for entry in workspace.ledgers.get("latest").entries:
        print(f"{entry.verdict}: {entry.claim_text}")
    for call in workspace.tools.calls(run.run_id):
        print(f"{call.outcome}: {call.actual_action}")

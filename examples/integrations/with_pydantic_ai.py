"""An agent of pydantic-ai, recorded: two lines, and its run is evidence.

    pip install "evidentia[pydantic-ai]"
    OPENAI_API_KEY=… python with_pydantic_ai.py

OPENAI_BASE_URL says which API is asked, if it is not OpenAI's own.
"""

import os

from pydantic_ai import Agent

import evidentia as ev
from evidentia.integrations.pydantic_ai import EvidenceCapability
from evidentia.integrations.recorder import Recorder


def notice_period(contract: str) -> str:
    """Say how long the notice period of a contract is."""
    return f"The notice period of contract {contract} is 30 days."


recorder = Recorder("evidence")  # the first line
agent = Agent(
    f"openai-chat:{os.environ.get('MODEL', 'gpt-5-mini')}",
    tools=[notice_period],
    capabilities=[EvidenceCapability(recorder)],  # the second
)

agent.run_sync("How long is the notice for C-12?")
recorder.close()

(run,) = recorder.recorded
with ev.open("evidence") as workspace:
    for entry in workspace.ledgers.get("latest").entries:
        print(f"{entry.verdict}: {entry.claim_text}")
    for call in workspace.tools.calls(run.run_id):
        print(f"{call.outcome}: {call.actual_action}")

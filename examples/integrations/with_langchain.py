"""An agent of LangChain, recorded: two lines, and its run is evidence.

    pip install "evidentia[langchain]"
    python with_langchain.py

A scripted model stands for yours, so that it runs without a network.
"""

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

import evidentia as ev
from evidentia.integrations.langchain import EvidenceMiddleware
from evidentia.integrations.recorder import Recorder


class ScriptedModel(FakeMessagesListChatModel):
    """Asks for the tool, and then answers with a wrong number."""

    def bind_tools(self, *_given: object, **_named: object) -> "ScriptedModel":
        """Take the tools; the script knows them."""
        return self


@tool
def notice_period(contract: str) -> str:
    """Say how long the notice period of a contract is."""
    return f"The notice period of contract {contract} is 30 days."


asked = {"id": "call_1", "name": "notice_period", "args": {"contract": "C-12"}}
model = ScriptedModel(
    responses=[
        AIMessage("", tool_calls=[asked]),
        AIMessage("The notice period of contract C-12 is 60 days."),
    ]
)

recorder = Recorder("evidence")  # the first line
agent = create_agent(
    model, [notice_period], middleware=[EvidenceMiddleware(recorder)]
)  # the second

agent.invoke({"messages": [{"role": "user", "content": "How long is the notice for C-12?"}]})
recorder.close()

(run,) = recorder.recorded
with ev.open("evidence") as workspace:
    for entry in workspace.ledgers.get("latest").entries:
        print(f"{entry.verdict}: {entry.claim_text}")
    for call in workspace.tools.calls(run.run_id):
        print(f"{call.outcome}: {call.actual_action}")

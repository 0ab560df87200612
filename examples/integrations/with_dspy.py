"""An agent of DSPy, recorded: two lines, and its call is evidence.

    pip install "evidentia[dspy]"
    OPENAI_API_KEY=… python with_dspy.py

OPENAI_BASE_URL says which API is asked, if it is not OpenAI's own.
"""

import os

import dspy

import evidentia as ev
from evidentia.integrations.dspy import EvidenceCallback
from evidentia.integrations.recorder import Recorder


def notice_period(contract: str) -> str:
    """Say how long the notice period of a contract is."""
    return f"The notice period of contract {contract} is 30 days."


recorder = Recorder("evidence")  # the first line
dspy.configure(
    lm=dspy.LM(
        f"openai/{os.environ.get('MODEL', 'gpt-5-mini')}",
        api_base=os.environ.get("OPENAI_BASE_URL"),
        engine="lm15",  # DSPy's own client
    ),
    adapter=dspy.ChatAdapter(use_native_function_calling=True),
    callbacks=[EvidenceCallback(recorder)],  # the second
)

agent = dspy.ReActV2("question -> answer", tools=[notice_period])
agent(question="How long is the notice for C-12?")
recorder.close()

(run,) = recorder.recorded
with ev.open("evidence") as workspace:
    for entry in workspace.ledgers.get("latest").entries:
        print(f"{entry.verdict}: {entry.claim_text}")
    for call in workspace.tools.calls(run.run_id):
        print(f"{call.outcome}: {call.actual_action}")

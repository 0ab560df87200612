"""A client of openai, recorded: two lines, and what it asked and was answered is evidence.

    pip install evidentia openai
    python with_openai.py

A script stands for the API, so that it runs without a network. An Anthropic client is recorded by
the same line.
"""

import json

import httpx2
from openai import OpenAI

import evidentia as ev
from evidentia.integrations.clients import record_client
from evidentia.integrations.recorder import Recorder

PASSAGE = {"id": "kb17", "text": "The notice period of contract C-12 is 30 days."}


def script(request: httpx2.Request) -> httpx2.Response:
    """Answer with a wrong number."""
    asked = json.loads(request.content)
    message = {"role": "assistant", "content": "The notice period of contract C-12 is 60 days."}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    about = {"id": "1", "object": "chat.completion", "created": 0, "model": asked["model"]}
    return httpx2.Response(200, json={**about, "choices": [choice]})


scripted = httpx2.Client(transport=httpx2.MockTransport(script))

recorder = Recorder("evidence")  # the first line
client = record_client(OpenAI(api_key="-", http_client=scripted), recorder)  # the second

question = "How long is the notice for C-12?"
with recorder.run("contracts assistant", query=question) as run:
    with run.retrieval(question) as retrieval:
        retrieval.end([PASSAGE])
    reply = client.chat.completions.create(
        model="gpt-5",
        messages=[{"role": "user", "content": f"{PASSAGE['text']}\n\n{question}"}],
    )
print(reply.choices[0].message.content)
recorder.close()
client.close()

(done,) = recorder.recorded
with ev.open("evidence") as workspace:
    for entry in workspace.ledgers.get(done.ledger_id or "").entries:
        print(f"{entry.verdict}: {entry.claim_text}")

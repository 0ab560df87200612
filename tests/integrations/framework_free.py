"""The story as a program without a framework: plain HTTP, a loop, and the recorder."""

import json
from typing import Any

import httpx2

from evidentia.integrations.recorder import Recorder
from integrations import story
from integrations.fake_model import MODEL, FakeModel

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": story.schema(name)}}
    for name in story.TOOLS
]


def answer(recorder: Recorder, fake: FakeModel) -> str:
    """Run the agent once."""
    with recorder.run("contracts agent", query=story.QUESTION, session="session-1") as run:
        with run.retrieval(story.QUESTION) as retrieval:
            passages = story.retrieve(story.QUESTION)
            retrieval.end(passages)
        shown = "\n".join(f"[{one['id']}] {one['text']}" for one in passages)
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": story.SYSTEM},
            {"role": "user", "content": f"{shown}\n\n{story.QUESTION}"},
        ]
        while True:
            message = _asked(recorder, fake, messages)
            messages.append(message)
            if not message.get("tool_calls"):
                break
            messages += [_used(recorder, call) for call in message["tool_calls"]]
        recorder.answer(message["content"])
        recorder.decision(story.DECISION, **story.WEIGHT)
    return str(message["content"])


def _asked(recorder: Recorder, fake: FakeModel, messages: list[dict[str, Any]]) -> dict[str, Any]:
    with recorder.model("openai", MODEL, messages, tools=TOOLS) as call:
        body = {"model": MODEL, "messages": messages, "tools": TOOLS}
        reply = httpx2.post(f"{fake.url}/chat/completions", json=body).json()
        message: dict[str, Any] = reply["choices"][0]["message"]
        call.end(response=message, usage=reply["usage"])
    return message


def _used(recorder: Recorder, call: dict[str, Any]) -> dict[str, Any]:
    name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
    try:
        with recorder.tool(name, arguments, call_id=call["id"]) as recorded:
            result = story.TOOLS[name](**arguments)
            recorded.end(result)
        content = json.dumps(result)
    except story.NoticeError as error:
        content = f"error: {error}"
    return {"role": "tool", "tool_call_id": call["id"], "content": content}

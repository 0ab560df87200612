"""The story as programs on the vendors' own clients, and two lines that record them."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import anthropic
import openai

from evidentia.integrations.clients import record_client
from evidentia.integrations.recorder import Recorder
from integrations import story
from integrations.fake_model import MODEL, FakeModel

Asks = Callable[[list[dict[str, Any]]], Any]
_CHAT = [
    {"type": "function", "function": {"name": name, "parameters": story.schema(name)}}
    for name in story.TOOLS
]
_RESPONSES = [
    {"type": "function", "name": name, "parameters": story.schema(name), "strict": None}
    for name in story.TOOLS
]
_MESSAGES = [{"name": name, "input_schema": story.schema(name)} for name in story.TOOLS]


def chat(recorder: Recorder, fake: FakeModel, *, streams: bool) -> str:
    """Run the agent on OpenAI's chat completions."""
    given = openai.OpenAI(api_key="-", base_url=fake.url)
    messages: list[Any] = [
        {"role": "system", "content": story.SYSTEM},
        {"role": "user", "content": _question()},
    ]
    with (
        record_client(given, recorder) as client,
        recorder.run("contracts agent", query=story.QUESTION),
    ):
        _retrieved(recorder)
        while True:
            message = _completed(client, messages, streams=streams)
            messages.append(message)
            if not message.get("tool_calls"):
                recorder.decision(story.DECISION, **story.WEIGHT)
                return str(message["content"])
            for call in message["tool_calls"]:
                function = call["function"]
                content = _used(recorder, function["name"], function["arguments"], call["id"])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


def _completed(client: openai.OpenAI, messages: list[Any], *, streams: bool) -> dict[str, Any]:
    asked: dict[str, Any] = {"model": MODEL, "messages": messages, "tools": _CHAT}
    if streams:
        with client.chat.completions.stream(**asked) as stream:
            found = stream.get_final_completion().choices[0].message
    else:
        found = client.chat.completions.create(**asked).choices[0].message
    return {
        "role": "assistant",
        "content": found.content,
        **(
            {
                "tool_calls": [
                    {
                        "id": one.id,
                        "type": "function",
                        "function": {
                            "name": one.function.name,
                            "arguments": one.function.arguments,
                        },
                    }
                    for one in found.tool_calls
                    if one.type == "function"
                ]
            }
            if found.tool_calls
            else {}
        ),
    }


async def responses(recorder: Recorder, fake: FakeModel, *, streams: bool) -> str:
    """Run the agent on OpenAI's responses, asynchronously."""
    client = record_client(openai.AsyncOpenAI(api_key="-", base_url=fake.url), recorder)
    items: list[Any] = [{"role": "user", "content": _question()}]
    async with client:
        with recorder.run("contracts agent", query=story.QUESTION):
            _retrieved(recorder)
            while True:
                asked: dict[str, Any] = {"model": MODEL, "input": items, "tools": _RESPONSES}
                asked["instructions"] = story.SYSTEM
                if streams:
                    async with client.responses.stream(**asked) as stream:
                        found: Any = await stream.get_final_response()
                else:
                    found = await client.responses.create(**asked)
                calls = [one for one in found.output if one.type == "function_call"]
                if not calls:
                    recorder.decision(story.DECISION, **story.WEIGHT)
                    return str(found.output_text)
                for call in calls:
                    told = {"call_id": call.call_id, "name": call.name, "arguments": call.arguments}
                    items.append({"type": "function_call", **told})
                    output = _used(recorder, call.name, call.arguments, call.call_id)
                    items.append(
                        {"type": "function_call_output", "call_id": call.call_id, "output": output}
                    )


def messages(recorder: Recorder, fake: FakeModel, *, streams: bool) -> str:
    """Run the agent on Anthropic's messages; its tools are known from the requests alone."""
    given = anthropic.Anthropic(api_key="-", base_url=fake.root)
    said: list[Any] = [{"role": "user", "content": [*_documents(), _text(story.QUESTION)]}]
    with (
        record_client(given, recorder) as client,
        recorder.run("contracts agent", query=story.QUESTION),
    ):
        while True:
            asked: dict[str, Any] = {"model": MODEL, "messages": said, "tools": _MESSAGES}
            asked |= {"system": story.SYSTEM, "max_tokens": 1_000}
            if streams:
                with client.messages.stream(**asked) as stream:
                    found: Any = stream.get_final_message()
            else:
                found = client.messages.create(**asked)
            calls = [one for one in found.content if one.type == "tool_use"]
            if not calls:
                recorder.decision(story.DECISION, **story.WEIGHT)
                return "".join(one.text for one in found.content)
            blocks = [
                {"type": "tool_use", "id": one.id, "name": one.name, "input": one.input}
                for one in calls
            ]
            said += [
                {"role": "assistant", "content": blocks},
                {"role": "user", "content": [_result(one) for one in calls]},
            ]


def _result(call: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"type": "tool_result", "tool_use_id": call.id}
    try:
        return {**told, "content": json.dumps(story.TOOLS[call.name](**call.input))}
    except story.NoticeError as error:
        return {**told, "content": str(error), "is_error": True}


def _used(recorder: Recorder, name: str, arguments: str, call_id: str) -> str:
    try:
        with recorder.tool(name, arguments, call_id=call_id) as call:
            result = story.TOOLS[name](**json.loads(arguments))
            call.end(result)
            return json.dumps(result)
    except story.NoticeError as error:
        return f"error: {error}"


def _retrieved(recorder: Recorder) -> None:
    with recorder.retrieval(story.QUESTION) as retrieval:
        retrieval.end(story.retrieve(story.QUESTION))


def _question() -> str:
    shown = "\n".join(f"[{one['id']}] {one['text']}" for one in story.PASSAGES)
    return f"{shown}\n\n{story.QUESTION}"


def _documents() -> list[dict[str, Any]]:
    return [
        {
            "type": "document",
            "title": one["id"],
            "source": {"type": "text", "media_type": "text/plain", "data": one["text"]},
            "citations": {"enabled": True},
        }
        for one in story.PASSAGES
    ]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


PROGRAMS: dict[str, Callable[..., str]] = {
    "chat": chat,
    "responses": lambda *given, **named: asyncio.run(responses(*given, **named)),
    "messages": messages,
}

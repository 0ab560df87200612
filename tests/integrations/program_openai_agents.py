"""The story as an agent of the OpenAI Agents SDK: a folder, the model's address, and how."""

import asyncio
import sys
from typing import Any

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_trace_processors,
)
from openai import AsyncOpenAI

from evidentia.integrations.openai_agents import EvidenceProcessor
from evidentia.integrations.recorder import Recorder
from integrations import story
from integrations.fake_model import MODEL


def why(context: Any, error: Exception) -> str:
    """Return what the model, and the trace, are told of a tool that failed."""
    del context
    return str(error)


TOOLS: list[Any] = [function_tool(one, failure_error_function=why) for one in story.TOOLS.values()]


def main(home: str, url: str, how: str) -> None:
    """Run the agent once."""
    with Recorder(home) as recorder:
        set_trace_processors([EvidenceProcessor(recorder)])
        client = AsyncOpenAI(base_url=url, api_key="-", max_retries=0)
        kind: Any = OpenAIChatCompletionsModel if how == "chat" else OpenAIResponsesModel
        model = kind(MODEL, openai_client=client)
        agent = Agent("contracts agent", instructions=story.SYSTEM, tools=TOOLS, model=model)
        with recorder.run("contracts agent", query=story.QUESTION):
            with recorder.retrieval(story.QUESTION) as retrieval:
                found = story.retrieve(story.QUESTION)
                retrieval.end(found)
            shown = "\n".join(f"[{one['id']}] {one['text']}" for one in found)
            answer = asked(agent, f"{shown}\n\n{story.QUESTION}", how)
            assert answer == story.ANSWER, answer
            recorder.answer(answer)
            recorder.decision(story.DECISION, **story.WEIGHT)
    for failure in recorder.failures:
        sys.stdout.write(f"{failure}\n")


def asked(agent: Any, question: str, how: str) -> str:
    """Return what the agent answers."""
    if how == "sync":
        return str(Runner.run_sync(agent, question).final_output)
    if how == "stream":
        return asyncio.run(streamed(agent, question))
    return str(asyncio.run(Runner.run(agent, question)).final_output)


async def streamed(agent: Any, question: str) -> str:
    """Return what the agent answers, read while it comes."""
    result = Runner.run_streamed(agent, question)
    assert [event async for event in result.stream_events()]
    return str(result.final_output)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The story as an agent of pydantic-ai: a folder, the model's address, and how."""

import asyncio
import sys
from typing import Any

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

from evidentia.integrations.pydantic_ai import EvidenceCapability
from evidentia.integrations.recorder import Recorder
from integrations import story
from integrations.fake_model import MODEL


def send_notice(contract_id: str, days: int) -> dict[str, Any]:
    """Send notice of a contract, which fails."""
    try:
        return story.send_notice(contract_id, days)
    except story.NoticeError as error:
        raise ModelRetry(str(error)) from error


def main(home: str, url: str, how: str) -> None:
    """Run the agent once."""
    with Recorder(home) as recorder:
        provider = OpenAIProvider(base_url=url, api_key="-")
        kind: Any = OpenAIResponsesModel if how == "responses" else OpenAIChatModel
        agent = Agent(
            kind(MODEL, provider=provider),
            instructions=story.SYSTEM,
            tools=[story.get_contract, story.get_contact, send_notice],
            capabilities=[EvidenceCapability(recorder)],
        )
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


def asked(agent: Agent, question: str, how: str) -> str:
    """Return what the agent answers."""
    if how == "sync":
        return str(agent.run_sync(question).output)
    if how == "stream":
        return asyncio.run(streamed(agent, question))
    return str(asyncio.run(agent.run(question)).output)


async def streamed(agent: Agent, question: str) -> str:
    """Return what the agent answers, read while it comes."""
    async with agent.run_stream(question) as stream:
        return str([text async for text in stream.stream_text()][-1])


if __name__ == "__main__":
    main(*sys.argv[1:])

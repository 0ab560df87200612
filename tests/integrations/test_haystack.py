"""Haystack's agents and pipelines, the real ones, against a model's API on loopback."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline, component, tracing
from haystack.components.agents import Agent
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.generators.utils import print_streaming_chunk
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.tools import Tool
from haystack.utils import Secret

import evidentia as ev
from evidentia.integrations.haystack import EvidenceRecorder, record_haystack
from evidentia.integrations.policy import RecordingPolicy
from evidentia.integrations.recorder import Recorder
from evidentia.integrations.seen import seen_requests
from evidentia.workspace import Workspace
from integrations import story
from integrations.fake_model import MODEL, FakeModel, Turn, serving

pytestmark = pytest.mark.sqlite_suffices
UNCHECKED = RecordingPolicy(check="on_request", redact=False)
TEMPLATE = [
    ChatMessage.from_user(
        "{% for one in documents %}[{{ one.id }}] {{ one.content }}\n{% endfor %}\n{{ query }}"
    )
]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with ev.open(tmp_path / "home") as opened:
        yield opened


@pytest.fixture(autouse=True)
def _untraced() -> Iterator[None]:
    yield
    tracing.disable_tracing()


@component
class Passages:
    """Finds the story's passages."""

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, Any]:
        return {
            "documents": [
                Document(id=one["id"], content=one["text"], meta={"title": one["title"]})
                for one in story.retrieve(query)
            ]
        }


def generator(fake: FakeModel) -> OpenAIChatGenerator:
    return OpenAIChatGenerator(
        api_key=Secret.from_token("-"), model=MODEL, api_base_url=fake.url, max_retries=0
    )


def agent(fake: FakeModel) -> Agent:
    tools = [
        Tool(name=name, description=name, parameters=story.schema(name), function=function)
        for name, function in story.TOOLS.items()
    ]
    return Agent(
        chat_generator=generator(fake),
        tools=tools,
        system_prompt=story.SYSTEM,
        raise_on_tool_invocation_failure=False,
    )


def pipeline(fake: FakeModel) -> Pipeline:
    made = Pipeline()
    made.add_component("retriever", Passages())
    made.add_component("prompt", ChatPromptBuilder(TEMPLATE, required_variables="*"))
    made.add_component("agent", agent(fake))
    made.connect("retriever.documents", "prompt.documents")
    made.connect("prompt.prompt", "agent.messages")
    return made


async def asked_async(made: Pipeline, asked: dict[str, Any]) -> dict[str, Any]:
    try:
        return await made.run_async(asked)
    finally:
        await made.close_async()


def decided(answer: str) -> dict[str, Any]:
    assert answer == story.ANSWER
    return {"decision": story.DECISION, **story.WEIGHT}


ASKED = {"retriever": {"query": story.QUESTION}, "prompt": {"query": story.QUESTION}}


@pytest.mark.parametrize("how", ["sync", "async", "streamed"])
def test_an_agent_in_a_pipeline_tells_the_whole_story(how: str, workspace: Workspace) -> None:
    heard: list[Any] = []
    asked: dict[str, Any] = {**ASKED}
    if how == "streamed":
        asked["agent"] = {"streaming_callback": heard.append}
    with serving(story.SCRIPT) as fake:
        with Recorder(workspace) as recorder:
            record_haystack(recorder)
            made = pipeline(fake)
            with recorder.run("contracts agent", query=story.QUESTION):
                given = asyncio.run(asked_async(made, asked)) if how == "async" else made.run(asked)
                assert given["agent"]["last_message"].text == story.ANSWER
                recorder.decision(story.DECISION, **story.WEIGHT)
            made.close()
        assert recorder.failures == ()
        assert bool(heard) is (how == "streamed")
        story.assert_story(workspace, fake.requests)

"""Haystack's agents and pipelines, the real ones, against a model's API on loopback."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from haystack import Document, Pipeline, component, tracing
from haystack.components.agents import Agent
from haystack.components.builders import ChatPromptBuilder
from haystack.components.generators.chat import OpenAIChatGenerator
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


@pytest.fixture
def recorder(workspace: Workspace) -> Iterator[Recorder]:
    with Recorder(workspace, UNCHECKED) as made:
        record_haystack(made)
        yield made


def told(recorder: Recorder, workspace: Workspace) -> list[dict[str, Any]]:
    assert recorder.flush(60)
    bundles = [workspace.bundles.get(one.bundle_id) for one in recorder.recorded]
    return [json.loads(bundle.items[0].content) for bundle in bundles]


def kinds(run: dict[str, Any]) -> list[str]:
    return [one["kind"] for one in run["events"]]


def test_outside_of_a_run_each_pipeline_is_one_and_those_at_once_do_not_mix(
    recorder: Recorder, workspace: Workspace
) -> None:
    async def both(fake: FakeModel) -> None:
        made = [pipeline(fake), pipeline(fake)]
        await asyncio.gather(*(asked_async(one, ASKED) for one in made))

    with serving(story.SCRIPT) as fake:
        asyncio.run(both(fake))
    runs = told(recorder, workspace)
    assert [(run["name"], run["query"], run["answer"]) for run in runs] == 2 * [
        ("pipeline", story.QUESTION, story.ANSWER)
    ]
    for run in runs:
        assert sorted(kinds(run)) == ["model"] * 3 + ["retrieval"] + ["tool"] * 3
        assert {one["call_id"] for one in run["events"] if one["kind"] == "tool"} == {
            "call_1",
            "call_2",
            "call_3",
        }
    for bundle_id in workspace.bundles.ids():
        seen = seen_requests(workspace.bundles.get(bundle_id))
        assert {one.model for one in seen} == {MODEL}
    assert recorder.failures == ()


def test_a_component_in_the_pipeline_says_the_answer_and_what_was_decided(
    workspace: Workspace,
) -> None:
    store = InMemoryDocumentStore()
    store.write_documents([Document(id="kb17", content=story.PASSAGES[0]["text"])])
    with serving([Turn(text=story.ANSWER)]) as fake, Recorder(workspace, UNCHECKED) as recorder:
        record_haystack(recorder)
        made = Pipeline()
        made.add_component("retriever", InMemoryBM25Retriever(store))
        made.add_component("prompt", ChatPromptBuilder(TEMPLATE, required_variables="*"))
        made.add_component("model", generator(fake))
        made.add_component("evidence", EvidenceRecorder(recorder, decided))
        made.connect("retriever.documents", "prompt.documents")
        made.connect("prompt.prompt", "model.messages")
        made.connect("model.replies", "evidence.replies")
        given = made.run(ASKED)
        made.close()
        assert given["evidence"]["replies"][0].text == story.ANSWER
    (run,) = told(recorder, workspace)
    assert kinds(run) == ["retrieval", "model"]
    assert run["decision"]["decision"] == story.DECISION
    assert run["answer"] == story.ANSWER
    (bundle_id,) = workspace.bundles.ids()
    (seen,) = seen_requests(workspace.bundles.get(bundle_id))
    assert seen.messages == fake.requests[0].messages


def test_the_component_alone_records_what_it_is_given(workspace: Workspace) -> None:
    with Recorder(workspace, UNCHECKED) as recorder:
        alone = EvidenceRecorder(recorder)
        alone.run(["30 days."], documents=[Document(id="kb17", content="30 days.")], query="Well?")
    (run,) = told(recorder, workspace)
    assert (run["query"], run["answer"], kinds(run)) == ("Well?", "30 days.", ["retrieval"])


def test_a_model_that_is_away_is_a_call_that_failed_and_the_program_hears_of_it_as_before(
    recorder: Recorder, workspace: Workspace
) -> None:
    with serving(story.SCRIPT) as fake:
        fake.fail_with = 500
        made = pipeline(fake)
        with pytest.raises(Exception, match="the model is away"):
            made.run(ASKED)
        made.close()
    (run,) = told(recorder, workspace)
    assert "the model is away" in run["error"]
    assert "the model is away" in run["events"][-1]["error"]


def test_a_tracer_that_is_there_is_told_as_before_and_content_stays_out_of_it(
    recorder: Recorder, workspace: Workspace
) -> None:
    names: list[str] = []
    tags: dict[str, Any] = {}

    class Span(tracing.Span):
        def set_tag(self, key: str, value: Any) -> None:
            tags[key] = value

    class Tracer(tracing.Tracer):
        @contextmanager
        def trace(
            self,
            operation_name: str,
            tags: dict[str, Any] | None = None,  # noqa: ARG002 - Haystack's
            parent_span: tracing.Span | None = None,
        ) -> Iterator[tracing.Span]:
            assert parent_span is None or isinstance(parent_span, Span)
            names.append(operation_name)
            yield Span()

        def current_span(self) -> tracing.Span | None:
            return None

    tracing.enable_tracing(Tracer())
    record_haystack(recorder)
    record_haystack(recorder)
    with serving([Turn(text="30 days.")]) as fake:
        made = pipeline(fake)
        made.run(ASKED)
        made.close()
    assert names[:2] == ["haystack.pipeline.run", "haystack.component.run"]
    assert not any(key.endswith(("input", "output")) for key in tags)
    (run,) = told(recorder, workspace)
    assert kinds(run) == ["retrieval", "model"]


def test_nothing_that_recording_meets_is_raised_into_the_program(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("not today")

    for part in ("question_of", "answer_of", "_messages"):
        monkeypatch.setattr(f"evidentia.integrations.haystack.{part}", broken)
    with serving([Turn(text="30 days.")]) as fake:
        made = pipeline(fake)
        assert made.run(ASKED)["agent"]["last_message"].text == "30 days."
        made.close()
    assert {one.problem for one in recorder.failures} == {"RuntimeError: not today"}

"""LlamaIndex's agents and engines, the real ones, against a model's API on loopback."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import AsyncStreamingResponse
from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
from llama_index.core.llms import MockFunctionCallingLLM, MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.calling import call_tool_with_selection

import evidentia as ev
from evidentia.integrations.llama_index import record_llama_index, stop_recording
from evidentia.integrations.policy import RecordingPolicy
from evidentia.integrations.recorder import Recorder
from evidentia.integrations.seen import seen_requests
from evidentia.workspace import Workspace
from integrations import story
from integrations.fake_model import AskedTool, FakeModel, Turn, serving
from integrations.llama_index_model import OwnModel

pytestmark = [
    pytest.mark.sqlite_suffices,
    # LlamaIndex looks at all members of its agents, pydantic's old ones too
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecatedSince20"),
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecatedSince211"),
]
UNCHECKED = RecordingPolicy(check="on_request", redact=False)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with ev.open(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def recorder(workspace: Workspace) -> Iterator[Recorder]:
    with Recorder(workspace, UNCHECKED) as made:
        record_llama_index(made)
        yield made
        stop_recording(made)


class Passages(BaseRetriever):
    """Finds the story's passages."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [
            NodeWithScore(
                node=TextNode(id_=one["id"], text=one["text"], metadata={"title": one["title"]})
            )
            for one in story.retrieve(query_bundle.query_str)
        ]


def tools() -> list[Any]:
    return [FunctionTool.from_defaults(function) for function in story.TOOLS.values()]


def question(found: list[NodeWithScore]) -> str:
    shown = "\n".join(f"[{one.node_id}] {one.text}" for one in found)
    return f"{shown}\n\n{story.QUESTION}"


async def asked_agent(fake: FakeModel, *, streams: bool) -> str:
    found = await Passages().aretrieve(story.QUESTION)
    agent = FunctionAgent(
        name="contracts agent",
        tools=tools(),
        llm=OwnModel(url=fake.url),
        system_prompt=story.SYSTEM,
        streaming=streams,
    )
    return str(await agent.run(question(found)))


def asked_in_a_loop(fake: FakeModel) -> str:
    model = OwnModel(url=fake.url)
    messages = [
        ChatMessage(role="system", content=story.SYSTEM),
        ChatMessage(role="user", content=question(Passages().retrieve(story.QUESTION))),
    ]
    while True:
        reply = model.chat_with_tools(tools(), chat_history=messages)
        messages.append(reply.message)
        calls = model.get_tool_calls_from_response(reply)
        if not calls:
            return str(reply.message.content)
        for call in calls:
            output = call_tool_with_selection(call, tools())
            told = {"tool_call_id": call.tool_id}
            messages.append(
                ChatMessage(role="tool", content=output.content, additional_kwargs=told)
            )


@pytest.mark.parametrize("how", ["sync", "async", "streamed"])
def test_an_agent_tells_the_whole_story(how: str, workspace: Workspace) -> None:
    with serving(story.SCRIPT) as fake:
        with Recorder(workspace) as recorder:
            record_llama_index(recorder)
            with recorder.run("contracts agent", query=story.QUESTION):
                if how == "sync":
                    said = asked_in_a_loop(fake)
                    recorder.answer(said)
                else:
                    said = asyncio.run(asked_agent(fake, streams=how == "streamed"))
                assert said == story.ANSWER
                recorder.decision(story.DECISION, **story.WEIGHT)
            stop_recording(recorder)
        assert recorder.failures == ()
        story.assert_story(workspace, fake.requests)


def told(recorder: Recorder, workspace: Workspace) -> list[dict[str, Any]]:
    assert recorder.flush(60)
    bundles = [workspace.bundles.get(one.bundle_id) for one in recorder.recorded]
    return [json.loads(bundle.items[0].content) for bundle in bundles]


def kinds(run: dict[str, Any]) -> list[str]:
    return [one["kind"] for one in run["events"]]


def test_outside_of_a_run_each_agent_is_one_and_those_at_once_do_not_mix(
    recorder: Recorder, workspace: Workspace
) -> None:
    record_llama_index(recorder)  # again: it is heard once

    async def both(fake: FakeModel) -> None:
        await asyncio.gather(*(asked_agent(fake, streams=True) for _ in range(2)))

    with serving(story.SCRIPT) as fake:
        asyncio.run(both(fake))
    runs = told(recorder, workspace)
    assert [kinds(run) for run in runs if run["name"] == "retrieval"] == 2 * [["retrieval"]]
    agents = [run for run in runs if run["name"] == "contracts agent"]
    assert len(agents) == 2
    for run in agents:
        assert run["query"].endswith(story.QUESTION)
        assert run["answer"] == story.ANSWER
        calls = {one["call_id"]: one for one in run["events"] if one["kind"] == "tool"}
        assert set(calls) == {"call_1", "call_2", "call_3"}
        assert "the mail server refused" in calls["call_3"]["error"]
        assert kinds(run).count("model") == 3
    assert recorder.failures == ()


def engine(fake: FakeModel, *, streams: bool) -> RetrieverQueryEngine:
    synthesizer = get_response_synthesizer(llm=OwnModel(url=fake.url), streaming=streams)
    return RetrieverQueryEngine(retriever=Passages(), response_synthesizer=synthesizer)


async def queried(fake: FakeModel, *, streams: bool) -> str:
    found = await engine(fake, streams=streams).aquery(story.QUESTION)
    if isinstance(found, AsyncStreamingResponse):
        return "".join([piece async for piece in found.async_response_gen()])
    return str(found)


@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_a_query_is_a_run_that_ends_with_its_answer(
    how: str, *, streams: bool, recorder: Recorder, workspace: Workspace
) -> None:
    with serving([Turn(text="It is 30 days, as the contract says.")]) as fake:
        if how == "async":
            answer = asyncio.run(queried(fake, streams=streams))
        else:
            answer = str(engine(fake, streams=streams).query(story.QUESTION))
    assert answer == "It is 30 days, as the contract says."
    (run,) = told(recorder, workspace)
    assert (run["name"], run["query"]) == ("RetrieverQueryEngine", story.QUESTION)
    assert run["answer"] == answer
    assert kinds(run) == ["retrieval", "model"]
    (bundle_id,) = workspace.bundles.ids()
    (seen,) = seen_requests(workspace.bundles.get(bundle_id))
    assert seen.messages == fake.requests[0].messages
    assert seen.response == {"role": "assistant", "content": answer}


async def chatted(made: Any) -> str:
    found = await made.astream_chat(story.QUESTION)
    return "".join([piece async for piece in found.async_response_gen()])


@pytest.mark.parametrize("name", ["ContextChatEngine", "SimpleChatEngine"])
def test_a_turn_of_a_chat_is_a_run_however_it_is_answered(
    name: str, recorder: Recorder, workspace: Workspace
) -> None:
    with serving([Turn(text="It is 30 days, as the contract says.")]) as fake:
        model = OwnModel(url=fake.url)
        given: Any = {"llm": model, "memory": ChatMemoryBuffer.from_defaults()}
        made: Any = (
            ContextChatEngine.from_defaults(retriever=Passages(), **given)
            if name == "ContextChatEngine"
            else SimpleChatEngine.from_defaults(**given)
        )
        said = [made.chat(story.QUESTION).response]
        said.append("".join(made.stream_chat(story.QUESTION).response_gen))
        said.append(asyncio.run(chatted(made)))
    assert set(said) == {"It is 30 days, as the contract says."}
    runs = told(recorder, workspace)
    assert [(run["name"], run["answer"], run["error"]) for run in runs] == [
        (name, one, None) for one in said
    ]
    events = ["retrieval", "model"] if name == "ContextChatEngine" else ["model"]
    assert [kinds(run) for run in runs] == 3 * [events]


def test_a_stream_that_is_not_read_to_its_end_keeps_what_came(
    recorder: Recorder, workspace: Workspace
) -> None:
    with serving([Turn(text="It is 30 days, as the contract says.")]) as fake:
        found: Any = engine(fake, streams=True).query(story.QUESTION)
        assert next(found.response_gen) == "It is 30 days, as th"
        found.response_gen.close()
    (run,) = told(recorder, workspace)
    assert kinds(run) == ["retrieval", "model"]
    assert run["error"] == "the stream was cut off"


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
def test_a_model_that_is_away_is_a_call_that_failed_and_the_program_hears_of_it_as_before(
    *, streams: bool, recorder: Recorder, workspace: Workspace
) -> None:
    with serving(story.SCRIPT) as fake:
        fake.fail_with = 500
        with pytest.raises(Exception, match="the model is away"):
            asyncio.run(asked_agent(fake, streams=streams))
    (run,) = [one for one in told(recorder, workspace) if one["name"] == "contracts agent"]
    assert "the model is away" in run["error"]
    assert "the model is away" in run["events"][0]["error"]


def test_a_tool_that_the_agent_has_not_is_a_call_that_failed(
    recorder: Recorder, workspace: Workspace
) -> None:
    script = [Turn(calls=[AskedTool("call_1", "fly", {"to": "Riyadh"})]), Turn(text="No.")]
    with serving(script) as fake:
        asyncio.run(asked_agent(fake, streams=False))
    (run,) = [one for one in told(recorder, workspace) if one["name"] == "contracts agent"]
    assert [one["call_id"] for one in run["events"] if one["kind"] == "tool"] == ["call_1"]
    (done,) = [one for one in recorder.recorded if workspace.tools.calls(one.run_id)]
    (call,) = workspace.tools.calls(done.run_id)
    assert (call.tool_name, dict(call.inputs)) == ("fly", {"to": "Riyadh"})
    assert "fly not found" in str(call.error)


def test_a_tool_says_what_it_does_and_what_is_decided_by_it(
    recorder: Recorder, workspace: Workspace
) -> None:
    def end_contract(contract_id: str) -> str:
        """End a contract."""
        recorder.effect(action=f"ended contract {contract_id}", side_effects=["a letter is sent"])
        recorder.decision(story.DECISION, **story.WEIGHT)
        return "done"

    asks = AskedTool("call_1", "end_contract", {"contract_id": "C-12"})
    with serving([Turn(calls=[asks]), Turn(text="It is ended.")]) as fake:
        made = FunctionAgent(
            tools=[FunctionTool.from_defaults(end_contract)], llm=OwnModel(url=fake.url)
        )

        async def ask() -> None:
            await made.run("End it.")

        asyncio.run(ask())
    (run,) = told(recorder, workspace)
    assert run["decision"]["decision"] == story.DECISION
    (done,) = recorder.recorded
    (call,) = workspace.tools.calls(run["decision"]["decision_id"] or f"dec_{done.run_id[4:]}")
    assert call.actual_action == "ended contract C-12"
    assert list(call.side_effects) == ["a letter is sent"]


def test_a_request_that_goes_through_several_methods_of_a_model_is_one(
    recorder: Recorder, workspace: Workspace
) -> None:
    asked = [ChatMessage("Well?")]
    asyncio.run(MockFunctionCallingLLM(is_chat_model=True).achat(asked))  # which calls chat
    MockLLM().chat(asked)  # which calls complete
    runs = told(recorder, workspace)
    assert [(run["name"], kinds(run)) for run in runs] == 2 * [("model", ["model"])]


def test_nothing_that_recording_meets_is_raised_into_the_program(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("not today")

    for part in ("question_of", "message_of", "tool_arguments"):
        monkeypatch.setattr(f"evidentia.integrations.llama_index.{part}", broken)
    with serving(story.SCRIPT) as fake:
        assert asyncio.run(asked_agent(fake, streams=False)) == story.ANSWER
    assert {one.problem for one in recorder.failures} == {"RuntimeError: not today"}

"""Cases of LangChain's integration, run by pytest in the environment of LangChain."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models.fake import FakeListLLM
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

import evidentia as ev
from evidentia.integrations.langchain import EvidenceCallback, EvidenceMiddleware
from evidentia.integrations.policy import RecordingPolicy
from evidentia.integrations.recorder import Recorder
from evidentia.workspace import Workspace
from integrations.fake_model import MODEL, AskedTool, FakeModel, Turn, serving

UNCHECKED = RecordingPolicy(check="on_request", redact=False)
ASKED = {"messages": [{"role": "user", "content": "How long is the notice?"}]}
CALL = AskedTool("call_1", "days_of_notice", {"contract_id": "C-12"})
SCRIPT = [Turn(calls=[CALL]), Turn(text="It is 30 days.")]


@tool
def days_of_notice(contract_id: str) -> str:
    """Return the days of notice."""
    return f"30 days for {contract_id}"


class Shelf(BaseRetriever):
    """Finds one passage, or nothing where it is asked about nothing."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        del run_manager
        if query == "nothing":
            raise LookupError("the shelf is empty")
        return [Document(page_content="30 days.", metadata={"source": "C-12"})]


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    with serving(SCRIPT) as served:
        yield served


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with ev.open(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def recorder(workspace: Workspace) -> Iterator[Recorder]:
    with Recorder(workspace, UNCHECKED) as made:
        yield made


def model(fake: FakeModel, **how: Any) -> ChatOpenAI:
    return ChatOpenAI(model=MODEL, base_url=fake.url, api_key="-", max_retries=0, **how)


def agent(fake: FakeModel, recorder: Recorder, **how: Any) -> Any:
    evidence = EvidenceMiddleware(recorder, **how)
    return create_agent(model(fake), [days_of_notice], middleware=[evidence])


def told(recorder: Recorder, workspace: Workspace) -> list[dict[str, Any]]:
    """Return what is said of the runs that were recorded, in the order of their ends."""
    assert recorder.flush(60)
    assert recorder.failures == ()
    bundles = [workspace.bundles.get(one.bundle_id) for one in recorder.recorded]
    return [json.loads(one.items[0].content) for one in bundles]


def kinds(run: dict[str, Any]) -> list[str]:
    return [one["kind"] for one in run["events"]]


def test_an_agent_is_a_run_of_its_own(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    agent(fake, recorder, name="notices").invoke(ASKED)
    (run,) = told(recorder, workspace)
    assert (run["name"], run["query"]) == ("notices", "How long is the notice?")
    assert (run["answer"], run["error"]) == ("It is 30 days.", None)
    assert kinds(run) == ["model", "tool", "model"]


def test_agents_at_the_same_time_do_not_mix(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    async def ask() -> None:
        asked = [
            {"messages": [{"role": "user", "content": f"Question {number}"}]} for number in range(4)
        ]
        made = agent(fake, recorder)
        await asyncio.gather(*(made.ainvoke(one) for one in asked))

    asyncio.run(ask())
    runs = told(recorder, workspace)
    assert sorted(run["query"] for run in runs) == [f"Question {number}" for number in range(4)]
    assert all(kinds(run) == ["model", "tool", "model"] for run in runs)


def test_a_model_that_is_away_ends_the_run_and_the_program_hears_of_it_as_before(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    fake.fail_with = 500
    with pytest.raises(Exception, match="the model is away"):
        agent(fake, recorder).invoke(ASKED)
    (run,) = told(recorder, workspace)
    assert "the model is away" in run["error"]
    assert "the model is away" in run["events"][0]["error"]


def test_a_chain_is_a_run_by_its_callback_alone(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    prompt = ChatPromptTemplate.from_template("{passages} {question}")
    chain = (
        RunnableLambda(lambda asked: {**asked, "passages": Shelf().invoke(asked["question"])})
        | prompt
        | model(fake)
    )
    fake.script = SCRIPT[1:]
    chain.invoke({"question": "How long?"}, config={"callbacks": [EvidenceCallback.of(recorder)]})
    (run,) = told(recorder, workspace)
    assert (run["query"], run["answer"]) == ("How long?", "It is 30 days.")
    assert kinds(run) == ["retrieval", "model"]


def test_within_a_run_all_is_heard_without_being_told_of_it(
    recorder: Recorder, workspace: Workspace
) -> None:
    EvidenceCallback.of(recorder)
    with recorder.run("shelf", query="Well?"):
        Shelf().invoke("How long?")
        with pytest.raises(LookupError):
            Shelf().invoke("nothing")
        FakeListLLM(responses=["30"]).invoke("Say it.")
        days_of_notice.invoke({"contract_id": "C-12"})
    (run,) = told(recorder, workspace)
    assert kinds(run) == ["retrieval", "retrieval", "model", "tool"]
    assert run["events"][1]["error"] == "LookupError: the shelf is empty"
    Shelf().invoke("outside of it, and not asked for")
    assert len(told(recorder, workspace)) == 1


def test_a_call_outside_of_a_run_and_a_chain_is_a_run_of_its_own(
    recorder: Recorder, workspace: Workspace
) -> None:
    config: Any = {"callbacks": [EvidenceCallback.of(recorder)]}
    Shelf().invoke("How long?", config=config)
    with pytest.raises(LookupError):
        Shelf().invoke("nothing", config=config)
    assert [kinds(run) for run in told(recorder, workspace)] == [["retrieval"], ["retrieval"]]


def test_a_tool_says_what_it_really_does_and_a_tool_decides(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    @tool
    def days_of_notice(contract_id: str) -> str:
        """Do something else."""
        recorder.effect(action=f"deleted contract {contract_id}", side_effects=["deleted it"])
        recorder.decision("Delete it.", approval_class="A1", confidence=0.5)
        return "done"

    create_agent(model(fake), [days_of_notice], middleware=[EvidenceMiddleware(recorder)]).invoke(
        ASKED
    )
    assert recorder.flush(60)
    (done,) = recorder.recorded
    assert done.decision_id is not None
    (call,) = workspace.tools.calls(done.decision_id)
    assert call.contradiction_flag
    assert call.actual_action == "deleted contract C-12"


def test_nothing_that_recording_meets_is_raised_into_the_program(
    recorder: Recorder, fake: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("not today")

    monkeypatch.setattr("evidentia.integrations.langchain_calls.convert_to_openai_messages", broken)
    state = agent(fake, recorder).invoke(ASKED)
    assert state["messages"][-1].content == "It is 30 days."
    assert recorder.failures


if __name__ == "__main__":
    own = [__file__, "-q", "--noconftest", "-p", "no:cacheprovider", "-p", "no:langsmith_plugin"]
    sys.exit(pytest.main([*own, "--rootdir", sys.argv[1], "-c", "/dev/null"]))

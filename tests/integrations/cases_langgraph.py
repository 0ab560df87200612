"""Cases of LangGraph's interrupts, run by pytest in the environment of LangChain."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

import evidentia as ev
from evidentia.errors import InputError
from evidentia.integrations.langchain import EvidenceMiddleware
from evidentia.integrations.langgraph import ask_review, reviewed
from evidentia.integrations.policy import RecordingPolicy
from evidentia.integrations.recorder import Recorder
from evidentia.workspace import Workspace
from integrations.fake_model import MODEL, AskedTool, Turn, serving

CONFIG: Any = {"configurable": {"thread_id": "contract C-12"}}
WEIGHT: dict[str, Any] = {"approval_class": "A2", "reversibility_class": "R2", "confidence": 0.9}
PASSAGES = [{"id": "kb17", "text": "The notice period of the supply contract is 30 days."}]


class State(TypedDict):
    """What the graph knows."""

    sent: str


def ask(_: State) -> State:
    """Send the notice, if a reviewer lets it."""
    said = interrupt({"decision": "Give notice of the contract.", **WEIGHT})
    return {"sent": f"{said['outcome']} by {said['reviewer']}: {said['note']}"}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with ev.open(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def recorder(workspace: Workspace) -> Iterator[Recorder]:
    with Recorder(workspace, RecordingPolicy(check="on_request")) as made:
        yield made


def a_graph() -> Any:
    made = StateGraph(State)
    made.add_node("ask", ask)
    made.add_edge(START, "ask")
    made.add_edge("ask", END)
    return made.compile(checkpointer=InMemorySaver())


def interrupted(graph: Any, recorder: Recorder) -> str:
    with recorder.run("contracts agent", query="Give notice?") as run:
        run.retrieval("notice").end(PASSAGES)
        graph.invoke({"sent": ""}, CONFIG)
        decision = ask_review(graph.get_state(CONFIG), run)
    assert recorder.flush(60)
    assert recorder.failures == ()
    assert decision is not None
    return decision


@pytest.mark.parametrize("outcome", ["approved", "rejected"])
def test_a_review_of_the_pack_resumes_the_graph(
    recorder: Recorder, workspace: Workspace, outcome: str
) -> None:
    graph = a_graph()
    decision = interrupted(graph, recorder)
    (listed,) = workspace.packs.list(decision=decision)
    assert reviewed(graph.get_state(CONFIG), workspace) is None, "it is awaited"
    workspace.packs.review(listed.id, outcome, reviewer="sara", note="seen")
    command = reviewed(graph.get_state(CONFIG), workspace)
    assert graph.invoke(command, CONFIG) == {"sent": f"{outcome} by sara: seen"}
    with pytest.raises(InputError, match="nothing interrupts this graph"):
        reviewed(graph.get_state(CONFIG), workspace)
    with recorder.run("later") as run:
        assert ask_review(graph.get_state(CONFIG), run) is None


def test_a_review_that_was_not_asked_for_resumes_nothing(workspace: Workspace) -> None:
    graph = a_graph()
    graph.invoke({"sent": ""}, CONFIG)
    with pytest.raises(InputError, match=r"has no pack: call ask_review within the run"):
        reviewed(graph.get_state(CONFIG), workspace)


def test_a_graph_may_be_told_of_the_review_in_words_of_its_own(
    recorder: Recorder, workspace: Workspace
) -> None:
    graph = a_graph()
    (listed,) = workspace.packs.list(decision=interrupted(graph, recorder))
    workspace.packs.review(listed.id, "approved", reviewer="sara")
    told = {"outcome": "go", "reviewer": "us", "note": ""}
    command = reviewed(graph.get_state(CONFIG), workspace, answer=lambda *_: told)
    assert graph.invoke(command, CONFIG) == {"sent": "go by us: "}


@pytest.mark.parametrize(("outcome", "calls"), [("approved", ["C-12"]), ("rejected", [])])
def test_a_tool_that_a_person_must_let_through_runs_after_its_review(
    recorder: Recorder, workspace: Workspace, outcome: str, calls: list[str]
) -> None:
    done: list[str] = []

    @tool
    def give_notice(contract_id: str) -> str:
        """Give notice of a contract."""
        done.append(contract_id)
        return "notice was given"

    call = AskedTool("call_1", "give_notice", {"contract_id": "C-12"})
    with serving([Turn(calls=[call]), Turn(text="Done.")]) as fake:
        graph = create_agent(
            ChatOpenAI(model=MODEL, base_url=fake.url, api_key="-"),
            [give_notice],
            middleware=[
                EvidenceMiddleware(recorder),
                HumanInTheLoopMiddleware(interrupt_on={"give_notice": True}),
            ],
            checkpointer=InMemorySaver(),
        )
        with recorder.run("contracts agent", query="Give notice?") as run:
            run.retrieval("notice").end(PASSAGES)
            graph.invoke({"messages": [{"role": "user", "content": "Give notice."}]}, CONFIG)
            decision = ask_review(graph.get_state(CONFIG), run, **WEIGHT)
        assert recorder.flush(60)
        (listed,) = workspace.packs.list(decision=decision)
        pack = workspace.packs.get(listed.id)
        assert pack.decision is not None
        assert pack.decision.decision == 'give_notice(contract_id="C-12")'
        assert done == []
        workspace.packs.review(listed.id, outcome, reviewer="sara", note="not now")
        graph.invoke(reviewed(graph.get_state(CONFIG), workspace), CONFIG)
    assert done == calls


if __name__ == "__main__":
    own = [__file__, "-q", "--noconftest", "-p", "no:cacheprovider", "-p", "no:langsmith_plugin"]
    sys.exit(pytest.main([*own, "--rootdir", sys.argv[1], "-c", "/dev/null"]))

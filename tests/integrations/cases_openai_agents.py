"""Cases of the OpenAI Agents SDK's integration, run by pytest in the environment of the SDK."""

import asyncio
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from agents import (
    Agent,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
    set_trace_processors,
    trace,
)
from openai import AsyncOpenAI

from evidentia.integrations.openai_agents import EvidenceProcessor
from evidentia.integrations.recorder import Recorder
from evidentia.workspace import Workspace
from integrations import cases
from integrations.cases import kinds, told
from integrations.fake_model import MODEL, FakeModel

QUESTION = "How long is the notice?"


@pytest.fixture(autouse=True)
def processor(recorder: Recorder) -> Iterator[EvidenceProcessor]:
    made = EvidenceProcessor(recorder)
    set_trace_processors([made])
    yield made
    set_trace_processors([])


def agent(fake: FakeModel, *tools: Any) -> Any:
    client = AsyncOpenAI(base_url=fake.url, api_key="-", max_retries=0)
    model = OpenAIResponsesModel(MODEL, openai_client=client)
    used = [function_tool(one) for one in tools or [cases.days_of_notice]]
    return Agent("notices", tools=used, model=model)


def test_a_trace_is_a_run_of_its_own(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    Runner.run_sync(agent(fake), QUESTION, run_config=RunConfig(workflow_name="notices"))
    (run,) = told(recorder, workspace)
    assert (run["name"], run["query"]) == ("notices", QUESTION)
    assert (run["answer"], run["error"], run["losses"]) == (cases.ANSWER, None, [])
    assert kinds(run) == ["model", "tool", "model"]
    assert run["events"][1]["call_id"] == "call_1"


def test_two_runs_in_one_trace_are_one_run(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    with trace("both"):
        Runner.run_sync(agent(fake), QUESTION)
        Runner.run_sync(agent(fake), "And now?")
    (run,) = told(recorder, workspace)
    assert (run["name"], run["query"]) == ("both", QUESTION)
    assert kinds(run) == ["model", "tool", "model"] * 2


def test_agents_at_the_same_time_do_not_mix(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    made = agent(fake)

    async def ask() -> None:
        await asyncio.gather(*(Runner.run(made, f"Question {number}") for number in range(4)))

    asyncio.run(ask())
    runs = told(recorder, workspace)
    assert sorted(run["query"] for run in runs) == [f"Question {number}" for number in range(4)]
    assert all(kinds(run) == ["model", "tool", "model"] for run in runs)


def test_a_model_that_is_away_ends_the_run_and_the_program_hears_of_it_as_before(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    fake.fail_with = 400
    with pytest.raises(Exception, match="the model is away"):
        Runner.run_sync(agent(fake), QUESTION)
    (run,) = told(recorder, workspace)
    assert "the model is away" in run["error"]
    assert "the model is away" in run["events"][0]["error"]
    assert [loss["what"] for loss in run["losses"]] == ["model: messages"]


def test_a_tool_that_fails_is_a_failed_call_and_the_agent_goes_on(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    def days_of_notice(contract_id: str) -> str:
        raise LookupError(f"there is no {contract_id}")

    Runner.run_sync(agent(fake, days_of_notice), QUESTION)
    (run,) = told(recorder, workspace)
    assert kinds(run) == ["model", "tool", "model"]
    assert "Error running tool" in run["events"][1]["error"]
    assert (run["answer"], run["error"]) == (cases.ANSWER, None)


def test_a_tool_that_fails_for_good_ends_the_run(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    def days_of_notice(contract_id: str) -> str:
        raise LookupError(f"there is no {contract_id}")

    made = agent(fake)
    made.tools = [function_tool(days_of_notice, failure_error_function=None)]
    with pytest.raises(Exception, match="there is no C-12"):
        Runner.run_sync(made, QUESTION)
    (run,) = told(recorder, workspace)
    assert "there is no C-12" in run["events"][1]["error"]
    assert "there is no C-12" in run["error"]


def test_a_tool_says_what_it_really_does_and_a_tool_decides(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    def days_of_notice(contract_id: str) -> str:
        recorder.effect(action=f"deleted contract {contract_id}", side_effects=["deleted it"])
        recorder.decision("Delete it.", approval_class="A1", confidence=0.5)
        return "done"

    Runner.run_sync(agent(fake, days_of_notice), QUESTION)
    assert recorder.flush(60)
    (done,) = recorder.recorded
    assert done.decision_id is not None
    (call,) = workspace.tools.calls(done.decision_id)
    assert call.contradiction_flag
    assert call.actual_action == "deleted contract C-12"


def test_what_the_trace_is_told_to_leave_out_is_a_loss(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    Runner.run_sync(agent(fake), QUESTION, run_config=RunConfig(trace_include_sensitive_data=False))
    (run,) = told(recorder, workspace)
    assert kinds(run) == ["model", "tool", "model"]
    assert {loss["what"] for loss in run["losses"]} >= {"model: messages", "tool: arguments"}


def test_nothing_that_recording_meets_is_raised_into_the_program(
    recorder: Recorder, fake: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("not today")

    monkeypatch.setattr(EvidenceProcessor, "_trace", broken)
    assert Runner.run_sync(agent(fake), QUESTION).final_output == cases.ANSWER
    assert any("not today" in failure.problem for failure in recorder.failures)


if __name__ == "__main__":
    sys.exit(cases.run_all(__file__))

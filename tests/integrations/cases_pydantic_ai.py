"""Cases of pydantic-ai's integration, run by pytest in the environment of pydantic-ai."""

import asyncio
import sys
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from evidentia.integrations.pydantic_ai import EvidenceCapability
from evidentia.integrations.recorder import Recorder
from evidentia.workspace import Workspace
from integrations import cases
from integrations.cases import kinds, told
from integrations.fake_model import MODEL, AskedTool, FakeModel, Turn

QUESTION = "How long is the notice?"


def agent(fake: FakeModel, recorder: Recorder, *tools: Any, **how: Any) -> Agent[Any, Any]:
    provider = OpenAIProvider(base_url=fake.url, api_key="-")
    return Agent(
        OpenAIChatModel(MODEL, provider=provider),
        tools=tools or [cases.days_of_notice],
        capabilities=[EvidenceCapability(recorder)],
        **how,
    )


def test_an_agent_is_a_run_of_its_own(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    agent(fake, recorder, name="notices").run_sync(QUESTION)
    (run,) = told(recorder, workspace)
    assert (run["name"], run["query"]) == ("notices", QUESTION)
    assert (run["answer"], run["error"], run["losses"]) == (cases.ANSWER, None, [])
    assert kinds(run) == ["model", "tool", "model"]


def test_agents_at_the_same_time_do_not_mix(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    made = agent(fake, recorder)

    async def ask() -> None:
        await asyncio.gather(*(made.run(f"Question {number}") for number in range(4)))

    asyncio.run(ask())
    runs = told(recorder, workspace)
    assert sorted(run["query"] for run in runs) == [f"Question {number}" for number in range(4)]
    assert all(kinds(run) == ["model", "tool", "model"] for run in runs)


def test_a_model_that_is_away_ends_the_run_and_the_program_hears_of_it_as_before(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    fake.fail_with = 400
    with pytest.raises(Exception, match="the model is away"):
        agent(fake, recorder).run_sync(QUESTION)
    (run,) = told(recorder, workspace)
    assert "the model is away" in run["error"]
    assert "the model is away" in run["events"][0]["error"]


def test_a_tool_that_fails_ends_the_run_and_the_program_hears_of_it_as_before(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    def days_of_notice(contract_id: str) -> str:
        raise LookupError(f"there is no {contract_id}")

    with pytest.raises(LookupError, match="there is no C-12"):
        agent(fake, recorder, days_of_notice).run_sync(QUESTION)
    (run,) = told(recorder, workspace)
    assert kinds(run) == ["model", "tool"]
    assert run["events"][1]["error"] == "LookupError: there is no C-12"
    assert "there is no C-12" in run["error"]


def test_a_tool_says_what_it_really_does_and_a_tool_decides(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    def days_of_notice(contract_id: str) -> str:
        recorder.effect(action=f"deleted contract {contract_id}", side_effects=["deleted it"])
        recorder.decision("Delete it.", approval_class="A1", confidence=0.5)
        return "done"

    agent(fake, recorder, days_of_notice).run_sync(QUESTION)
    assert recorder.flush(60)
    (done,) = recorder.recorded
    assert done.decision_id is not None
    (call,) = workspace.tools.calls(done.decision_id)
    assert call.contradiction_flag
    assert call.actual_action == "deleted contract C-12"


def test_an_agent_that_a_tool_asks_is_of_the_same_run(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    async def days_of_notice(contract_id: str) -> str:
        other = agent(fake, recorder)
        return str((await other.run(f"And {contract_id}?")).output)

    agent(fake, recorder, days_of_notice).run_sync(QUESTION)
    (run,) = told(recorder, workspace)
    assert sorted(kinds(run)) == ["model"] * 4 + ["tool"] * 2


class Notice(BaseModel):
    """What the agent answers."""

    days: int


def test_an_output_with_fields_is_the_answer_and_no_call_is_missed(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    fake.script = [Turn(calls=[AskedTool("call_1", "final_result", {"days": 30})])]
    done = agent(fake, recorder, output_type=Notice).run_sync(QUESTION)
    assert done.output == Notice(days=30)
    (run,) = told(recorder, workspace)
    assert (run["answer"], run["losses"]) == ('{"days":30}', [])
    assert kinds(run) == ["model", "tool"]
    with Recorder(workspace) as checking:
        agent(fake, checking, output_type=Notice).run_sync(QUESTION)
    (failure,) = checking.failures
    assert "nothing was retrieved, and no tool gave text" in failure.problem, "not by itself"


def test_a_call_whose_arguments_a_tool_does_not_take_has_failed(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    asked = AskedTool("call_1", "days_of_notice", {"contract": "C-12"})
    fake.script = [Turn(calls=[asked]), Turn(text=cases.ANSWER)]
    agent(fake, recorder).run_sync(QUESTION)
    (run,) = told(recorder, workspace)
    assert kinds(run) == ["model", "tool", "model"]
    assert "contract_id" in run["events"][1]["error"]
    assert run["losses"] == []


def test_nothing_that_recording_meets_is_raised_into_the_program(
    recorder: Recorder, workspace: Workspace, fake: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("not today")

    monkeypatch.setattr("evidentia.integrations.pydantic_ai._messages", broken)
    monkeypatch.setattr("evidentia.integrations.pydantic_ai._said", broken)
    assert agent(fake, recorder).run_sync(QUESTION).output == cases.ANSWER
    (run,) = told(recorder, workspace)
    assert any("not today" in loss["detail"] for loss in run["losses"])


if __name__ == "__main__":
    sys.exit(cases.run_all(__file__))

"""Cases of DSPy's integration, run by pytest in the environment of DSPy."""

import asyncio
import sys
from typing import Any

import dspy
import pytest

from evidentia.integrations.dspy import EvidenceCallback
from evidentia.integrations.recorder import Recorder
from evidentia.workspace import Workspace
from integrations import cases
from integrations.cases import kinds, told
from integrations.fake_model import MODEL, AskedTool, FakeModel, Turn

QUESTION = "How long is the notice?"
SUBMITTED = Turn(calls=[AskedTool("call_2", "submit", {"answer": cases.ANSWER})])


@pytest.fixture(autouse=True)
def configured(recorder: Recorder, fake: FakeModel) -> None:
    fake.script = [cases.SCRIPT[0], SUBMITTED]
    dspy.configure(
        lm=dspy.LM(f"openai/{MODEL}", api_base=fake.url, api_key="-", cache=False, num_retries=0),
        adapter=dspy.ChatAdapter(use_native_function_calling=True),
        callbacks=[EvidenceCallback(recorder)],
    )


def agent(*tools: Any) -> Any:
    used = [dspy.Tool(one) for one in tools or [cases.days_of_notice]]
    return dspy.ReActV2("question -> answer", tools=used)


def test_the_outermost_module_is_a_run_of_its_own(recorder: Recorder, workspace: Workspace) -> None:
    agent()(question=QUESTION)
    (run,) = told(recorder, workspace)
    assert (run["name"], run["query"]) == ("ReActV2", QUESTION)
    assert (run["answer"], run["error"], run["losses"]) == (cases.ANSWER, None, [])
    assert kinds(run) == ["model", "tool", "model", "tool"]
    assert [run["events"][at]["call_id"] for at in (1, 3)] == ["call_1", "call_2"]


def test_programs_at_the_same_time_do_not_mix(recorder: Recorder, workspace: Workspace) -> None:
    made = agent()

    async def ask() -> None:
        await asyncio.gather(*(made.acall(question=f"Question {number}") for number in range(4)))

    asyncio.run(ask())
    dspy.Parallel(num_threads=2, disable_progress_bar=True)(
        [(made, {"question": f"Question {number}"}) for number in range(4, 8)]
    )
    runs = told(recorder, workspace)
    assert sorted(run["query"] for run in runs) == [f"Question {number}" for number in range(8)]
    assert all(kinds(run) == ["model", "tool", "model", "tool"] for run in runs)


def test_a_model_that_is_away_ends_the_run_and_the_program_hears_of_it_as_before(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    fake.fail_with = 400
    with pytest.raises(Exception, match="the model is away"):
        agent()(question=QUESTION)
    (run,) = told(recorder, workspace)
    assert "the model is away" in run["error"]
    assert "the model is away" in run["events"][0]["error"]


def test_a_tool_that_fails_is_a_failed_call_and_the_agent_goes_on(
    recorder: Recorder, workspace: Workspace
) -> None:
    def days_of_notice(contract_id: str) -> str:
        raise LookupError(f"there is no {contract_id}")

    agent(days_of_notice)(question=QUESTION)
    (run,) = told(recorder, workspace)
    assert run["events"][1]["error"] == "LookupError: there is no C-12"
    assert (run["answer"], run["error"]) == (cases.ANSWER, None)


def test_a_tool_says_what_it_really_does_and_a_tool_decides(
    recorder: Recorder, workspace: Workspace
) -> None:
    def days_of_notice(contract_id: str) -> str:
        recorder.effect(action=f"deleted contract {contract_id}", side_effects=["deleted it"])
        recorder.decision("Delete it.", approval_class="A1", confidence=0.5)
        return "done"

    agent(days_of_notice)(question=QUESTION)
    assert recorder.flush(60)
    (done,) = recorder.recorded
    assert done.decision_id is not None
    call, _submitted = workspace.tools.calls(done.decision_id)
    assert call.contradiction_flag
    assert call.actual_action == "deleted contract C-12"


def test_a_request_and_a_tool_outside_of_a_module_are_runs_of_their_own(
    recorder: Recorder, workspace: Workspace, fake: FakeModel
) -> None:
    fake.script = cases.SCRIPT[1:]
    assert dspy.settings.lm(QUESTION) == [cases.ANSWER]
    dspy.Tool(cases.days_of_notice)(contract_id="C-12")
    assert [kinds(run) for run in told(recorder, workspace)] == [["model"], ["tool"]]


def test_within_a_run_of_the_program_all_is_of_that_run(
    recorder: Recorder, workspace: Workspace
) -> None:
    with recorder.run("notices", query="Well?"):
        agent()(question=QUESTION)
        dspy.Tool(cases.days_of_notice)(contract_id="C-13")
    (run,) = told(recorder, workspace)
    assert run["name"] == "notices"
    assert kinds(run) == ["model", "tool", "model", "tool", "tool"]


def test_nothing_that_recording_meets_is_raised_into_the_program(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("not today")

    monkeypatch.setattr(EvidenceCallback, "_parent", broken)
    assert agent()(question=QUESTION).answer == cases.ANSWER
    assert any("not today" in failure.problem for failure in recorder.failures)


if __name__ == "__main__":
    sys.exit(cases.run_all(__file__))

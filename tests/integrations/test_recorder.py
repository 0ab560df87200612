import asyncio
import contextvars
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

import evidentia as ev
from evidentia.integrations import recorder as recorders
from evidentia.integrations.policy import RecordingPolicy
from evidentia.integrations.recorder import Recorder
from evidentia.integrations.recording import Recorded
from evidentia.integrations.run import Addendum, Run
from evidentia.workspace import Workspace

pytestmark = pytest.mark.sqlite_suffices
UNCHECKED = RecordingPolicy(check="on_request")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with ev.open(tmp_path_factory.mktemp("recorder")) as opened:
        yield opened


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[Run | Addendum]:
    """What would be recorded, in its order; nothing is."""
    seen: list[Run | Addendum] = []

    def note(_: Workspace, of: Run | Addendum, __: RecordingPolicy) -> Recorded:
        seen.append(of)
        return Recorded("run", "bundle")

    monkeypatch.setattr(recorders, "record", note)
    return seen


def test_threads_and_tasks_do_not_mix_their_runs(
    workspace: Workspace, taken: list[Run | Addendum]
) -> None:
    with Recorder(workspace, UNCHECKED) as recorder:

        def work(name: str) -> None:
            with recorder.run(name):
                for number in range(20):
                    with recorder.tool(name, {"number": number}) as call:
                        call.end(number)

        async def task(name: str) -> None:
            with recorder.run(name):
                for number in range(20):
                    with recorder.tool(name, {"number": number}) as call:
                        await asyncio.sleep(0)
                        call.end(number)

        async def tasks() -> None:
            await asyncio.gather(*(task(f"task {number}") for number in range(8)))

        threads = [Thread(target=work, args=(f"thread {number}",)) for number in range(8)]
        for thread in threads:
            thread.start()
        asyncio.run(tasks())
        for thread in threads:
            thread.join()
    assert len(taken) == 16
    for run in taken:
        assert isinstance(run, Run)
        assert [call.arguments for call in run.tool_calls] == [{"number": n} for n in range(20)]
        assert {call.name for call in run.tool_calls} == {run.name}


def test_a_thread_of_a_run_belongs_to_it_by_its_context(
    workspace: Workspace, taken: list[Run | Addendum]
) -> None:
    with Recorder(workspace, UNCHECKED) as recorder:
        with recorder.run("parent"):
            context = contextvars.copy_context()
            thread = Thread(target=context.run, args=(lambda: recorder.tool("a", {}).end(1),))
            thread.start()
            thread.join()
        assert recorder.current() is None
    (run,) = taken
    assert [event.call_id for event in run.events] == ["tool-1"]


class Hostile:
    """An object whose every word is an error."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__

    def model_dump(self, **_: Any) -> Any:
        raise RuntimeError("no")


def test_nothing_is_raised_into_the_host_and_what_is_lost_is_told(
    workspace: Workspace, taken: list[Run | Addendum]
) -> None:
    with Recorder(workspace, UNCHECKED) as recorder:
        with recorder.run("hostile", query=Hostile()) as run:
            recorder.model("openai", "m", [Hostile(), {1: {2, 1}}, b"\xff"]).end(response=Hostile())
            recorder.model("openai", "m", [], tools=7).end(response="yes")
            recorder.retrieval(Hostile()).end([Hostile(), "a passage", 7])
            recorder.tool("t", Hostile(), call_id="x").end(Hostile(), effect={"nothing": 1})
            recorder.tool("t", "\ud800", call_id="x").fail(Hostile())
            recorder.tool("t", '{"a": 1}').end(float("nan"))
            recorder.decision("decided", approval_class="A9", confidence=3)
            recorder.answer(Hostile(), citations=7)
            run.answer("yes", [{"nothing": 1}])
            run.lost("something", "no such reason")
        recorder.decision("outside", approval_class="A2", confidence=1)
        recorder.answer("outside")
        recorder.effect(action="outside")
    said = [failure.problem for failure in recorder.failures]
    assert any("outside of a run" in one for one in said)
    (run_made,) = taken
    assert isinstance(run_made, Run)
    kinds = [event.kind for event in run_made.events]
    assert kinds == ["model", "model", "retrieval", "tool", "tool", "tool"]
    assert [one.call_id for one in run_made.events[3:5]] == ["x", "x+"]
    assert run_made.retrievals[0].contexts == [{"text": "a passage"}]
    assert run_made.tool_calls[2].arguments == {"a": 1}
    assert {loss.what for loss in run_made.losses} >= {
        "effect",
        "decision",
        "citations",
        "something",
        "model: tools",
        "retrieval: passage 1",
    }


def test_an_exception_of_the_host_is_recorded_and_goes_on(
    workspace: Workspace, taken: list[Run | Addendum]
) -> None:
    with (
        Recorder(workspace, UNCHECKED) as recorder,
        pytest.raises(ZeroDivisionError),
        recorder.run("failing"),
        recorder.tool("divide", {}),
    ):
        _ = 1 / 0
    (run,) = taken
    assert isinstance(run, Run)
    assert run.error == "ZeroDivisionError: division by zero"
    assert run.events[0].error == run.error


def test_runs_that_find_no_room_are_counted_and_recorded_as_lost(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    going, seen = Event(), []

    def slow(_: Workspace, of: Run, __: RecordingPolicy) -> Recorded:
        going.wait(60)
        seen.append(of)
        return Recorded(of.run_id, "bundle")

    monkeypatch.setattr(recorders, "record", slow)
    policy = UNCHECKED.model_copy(update={"max_waiting": 2})
    with Recorder(workspace, policy) as recorder:
        for number in range(10):
            recorder.begin_run(f"run {number}").end()
        going.set()
        assert recorder.flush(60)
    lost = [loss for run in seen for loss in run.losses]
    assert sum(loss.count for loss in lost) + len([one for one in seen if not one.losses]) == 10
    assert {loss.why for loss in lost} == {"queue_full"}


def test_a_failure_of_recording_is_data_and_logged_once(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(recorders, "record", fail)
    with caplog.at_level(logging.WARNING), Recorder(workspace, UNCHECKED) as recorder:
        for _ in range(3):
            recorder.begin_run("one").end()
    assert [one.problem for one in recorder.failures] == ["OSError: the disk is full"] * 3
    assert len([one for one in caplog.records if "run_not_recorded" in one.getMessage()]) == 1


def test_what_was_given_is_in_no_failure_and_in_no_log(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> None:
        Run.model_validate({"name": {"password": "hunter2"}})

    monkeypatch.setattr(recorders, "record", fail)
    with caplog.at_level(logging.WARNING), Recorder(workspace, UNCHECKED) as recorder:
        recorder.begin_run("one").end()
    (failure,) = recorder.failures
    assert failure.problem.startswith("ValidationError: name: ")
    assert "hunter2" not in failure.problem + caplog.text


def test_a_process_that_starts_no_more_threads_is_told_so_and_not_disturbed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, taken: list[Run | Addendum]
) -> None:
    def refuses(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    with Recorder(workspace, UNCHECKED) as recorder:
        with monkeypatch.context() as patch:
            patch.setattr(Thread, "start", refuses)
            recorder.begin_run("one").end()
            assert not recorder.flush()
        assert taken == []
        recorder.begin_run("two").end()
        assert recorder.flush()
    assert [one.name for one in taken if isinstance(one, Run)] == ["one", "two"]


def test_what_comes_after_the_end_of_a_run_is_an_addendum(
    workspace: Workspace, taken: list[Run | Addendum]
) -> None:
    with Recorder(workspace, UNCHECKED) as recorder:
        run = recorder.begin_run("early")
        run.end("done")
        run.end("again")
        run.tool("late", {}).end(1)
    first, second = taken
    assert isinstance(first, Run)
    assert isinstance(second, Addendum)
    assert second.run_id == first.run_id
    assert first.answer == "done"


def test_a_run_that_is_open_when_the_recorder_closes_is_recorded_as_unfinished(
    workspace: Workspace, taken: list[Run | Addendum]
) -> None:
    recorder = Recorder(workspace, UNCHECKED)
    recorder.begin_run("open").tool("t", {"a": 1})
    recorder.close()
    recorder.close()
    (run,) = taken
    assert isinstance(run, Run)
    assert str(run.error).startswith("unfinished")
    assert str(run.events[0].error).startswith("unfinished")


def test_a_call_outside_of_a_run_is_a_run_of_its_own(
    workspace: Workspace, taken: list[Run | Addendum]
) -> None:
    with Recorder(workspace, UNCHECKED) as recorder:
        recorder.model("openai", "m", "hello").end(response={"content": "hi"})
    (run,) = taken
    assert isinstance(run, Run)
    assert run.model_calls[0].messages == "hello"
    assert run.error is None


def test_what_the_host_changes_later_does_not_reach_the_copy(
    workspace: Workspace, taken: list[Run | Addendum]
) -> None:
    with Recorder(workspace, UNCHECKED) as recorder, recorder.run("copying"):
        messages = [{"role": "user", "content": "first"}]
        call = recorder.model("openai", "m", messages)
        messages[0]["content"] = "second"
        messages.append({"role": "user", "content": "third"})
        call.end(response={})
    (run,) = taken
    assert isinstance(run, Run)
    assert run.model_calls[0].messages == [{"role": "user", "content": "first"}]


def test_a_tool_says_from_within_what_it_does(
    workspace: Workspace, taken: list[Run | Addendum]
) -> None:
    with (
        Recorder(workspace, UNCHECKED) as recorder,
        recorder.run("within"),
        recorder.tool("get_contact", {"contact_id": "4"}) as call,
    ):
        recorder.effect(action="deleted contact 4", side_effects="deleted contact 4")
        call.end({})
    (run,) = taken
    assert isinstance(run, Run)
    effect = run.tool_calls[0].effect
    assert effect is not None
    assert effect.action == "deleted contact 4"
    assert list(effect.side_effects) == ["deleted contact 4"]


def test_a_run_of_ten_thousand_events_is_bounded(
    workspace: Workspace, taken: list[Run | Addendum]
) -> None:
    policy = UNCHECKED.model_copy(update={"max_events": 100, "max_value_bytes": 1_000})
    with Recorder(workspace, policy) as recorder, recorder.run("long"):
        for number in range(10_000):
            recorder.tool("t", {"number": number}).end("x" * 5_000)
    (run,) = taken
    assert isinstance(run, Run)
    assert len(run.events) == 100
    assert [loss.count for loss in run.losses if loss.why == "too_many"] == [9_900]
    assert len(json.dumps(run.model_dump(mode="json"))) < 200_000


def test_a_recorder_opens_a_folder_by_itself(tmp_path: Path) -> None:
    with Recorder(tmp_path / "home", UNCHECKED) as recorder:
        with recorder.run("small") as run:
            run.tool("t", {}).end(1)
        assert recorder.flush(60)
        (done,) = recorder.recorded
    with ev.open(tmp_path / "home") as workspace:
        assert workspace.bundles.of_run(done.run_id)[0].bundle_id == done.bundle_id

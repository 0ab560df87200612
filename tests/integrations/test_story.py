import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

import evidentia as ev
from evidentia.integrations import recorder as recorders
from evidentia.integrations.exchanges import read_reply
from evidentia.integrations.policy import RecordingPolicy
from evidentia.integrations.recorder import Recorder
from evidentia.integrations.recording import Recorded, record
from evidentia.integrations.run import Addendum, Citation, Run, ToolCall
from evidentia.workspace import Workspace
from insider import without_guards
from integrations import framework_free, story
from integrations.fake_model import FakeModel, serving

pytestmark = pytest.mark.sqlite_suffices


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeModel]:
    with serving(story.SCRIPT) as served:
        yield served


@pytest.fixture(scope="module")
def run(fake: FakeModel, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The story's run, as the recorder makes it."""
    taken: list[Run | Addendum] = []

    def note(_: Workspace, of: Run | Addendum, __: RecordingPolicy) -> Recorded:
        taken.append(of)
        return Recorded("run", "bundle")

    with ev.open(tmp_path_factory.mktemp("taken")) as workspace, pytest.MonkeyPatch.context() as to:
        to.setattr(recorders, "record", note)
        with Recorder(workspace) as recorder:
            framework_free.answer(recorder, fake)
    (made,) = taken
    assert isinstance(made, Run)
    return made


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with ev.open(tmp_path / "home") as opened:
        yield opened


def test_a_program_without_a_framework_tells_the_whole_story(workspace: Workspace) -> None:
    with serving(story.SCRIPT) as fake:
        with Recorder(workspace, story.BY_WORDS) as recorder:
            assert framework_free.answer(recorder, fake) == story.ANSWER
        assert recorder.failures == ()
        story.assert_story(workspace, fake.requests)
        story.assert_exact(workspace, fake.requests)
        with pytest.raises(AssertionError):
            story.assert_found_missing(workspace)


def test_a_call_that_was_recorded_and_is_not_in_the_pack_is_found(
    workspace: Workspace, run: Run
) -> None:
    record(workspace, run, story.BY_WORDS)
    later = ToolCall(call_id="call_9", name="get_contract", arguments={"contract_id": "C-13"})
    record(
        workspace,
        Addendum(run_id=run.run_id, decision_id=run.decision_id, events=[later]),
        story.BY_WORDS,
    )
    story.assert_found_missing(workspace)
    assert len(workspace.packs.audit().late_calls) == 1
    assert len(workspace.bundles.of_run(run.run_id)) == 2, "the addendum names the run"


def test_a_run_recorded_twice_is_there_once(workspace: Workspace, run: Run) -> None:
    first = record(workspace, run, story.BY_WORDS)
    size = workspace.trail.size
    assert (
        record(workspace, Run.model_validate(run.model_dump(mode="json")), story.BY_WORDS) == first
    )
    assert workspace.trail.size == size


@pytest.mark.parametrize("part", ["bundles.record_run", "tools.take_over", "packs.assemble"])
def test_a_run_whose_recording_stopped_in_the_middle_is_finished_by_the_next(
    workspace: Workspace, run: Run, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, method = part.split(".")

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(getattr(workspace, owner)), method, stop)
        with pytest.raises(KeyboardInterrupt):
            record(workspace, run, story.BY_WORDS)
    record(workspace, run, story.BY_WORDS)
    size = workspace.trail.size
    record(workspace, run, story.BY_WORDS)
    assert workspace.trail.size == size
    audit = workspace.packs.audit()
    assert (audit.packs, audit.missing, audit.late_calls, audit.problems) == (1, (), (), ())
    assert len(workspace.tools.calls(run.decision_id or "")) == 3
    assert len(workspace.ledgers.list()) == 1
    assert len(workspace.bundles.ids()) == 1


def test_a_call_that_the_model_asked_for_and_nobody_recorded_is_a_loss(
    workspace: Workspace, run: Run
) -> None:
    kept = [event for event in run.events if event.call_id != "call_2"]
    done = record(workspace, run.model_copy(update={"events": kept}), story.BY_WORDS)
    about = workspace.bundles.get(done.bundle_id).items[0].content
    assert "tool call call_2 of get_contact" in about
    assert "not_seen" in about
    story.assert_found_missing(workspace)
    audit = workspace.packs.audit()
    (said,) = audit.missing_calls
    assert said == (
        f"pack {done.pack_id}: tool call call_2 of get_contact was asked for by the model, and "
        "nobody recorded it"
    )
    assert (audit.late_calls, audit.problems) == ((), ())
    (part,) = [one for one in workspace.audit().parts if one.name == "packs"]
    assert said in part.notes

    (late,) = [event for event in run.events if event.call_id == "call_2"]
    record(
        workspace,
        Addendum(run_id=done.run_id, decision_id=done.decision_id, events=[late]),
        story.BY_WORDS,
    )
    assert workspace.packs.audit().missing_calls == (), "it was recorded, if late"
    calls = workspace.tools.calls(done.decision_id or "")
    told = {"tool_calls": [one.model_dump(mode="json") for one in calls]}
    workspace.packs.revise(done.pack_id or "", told)
    audit = workspace.packs.audit()
    assert (audit.late_calls, audit.missing_calls) == ((), ())


@pytest.mark.parametrize("tables", [("trail_entries", "trail_bodies"), ("trail_bodies",)])
def test_a_recorded_call_that_was_taken_out_of_the_database_is_found(
    workspace: Workspace, run: Run, tables: tuple[str, ...]
) -> None:
    record(workspace, run.model_copy(update={"answer": None}), story.BY_WORDS)
    last = workspace.trail.entries(kind="tool_call")[-1].entry.seq

    def take_away(connection: Connection) -> None:
        for table in tables:
            connection.exec_driver_sql(f"DELETE FROM {table} WHERE seq = {last}")

    without_guards(workspace, take_away)
    story.assert_found_missing(workspace)
    with ev.open(workspace.opened.home.folder) as reopened:
        story.assert_found_missing(reopened)


def test_a_recorded_call_whose_entry_was_erased_is_told(workspace: Workspace, run: Run) -> None:
    pack_id = record(workspace, run, story.BY_WORDS).pack_id
    calls = workspace.trail.entries(kind="tool_call", proved=True)
    (call,) = [one for one in calls if one.body.get("call", {}).get("tool_name") == "get_contact"]
    workspace.trail.erase(call.entry.seq, reason="it was about a person", by="owner")
    audit = workspace.packs.audit()
    (said,) = audit.missing_calls
    assert said == (
        f"pack {pack_id}: it has a call of get_contact that succeeded, and the tool ledger of "
        f"{run.decision_id} does not: its entry was erased, or never made"
    )
    assert audit.holds, "who erases a body may"


def test_what_the_model_s_api_cites_is_cited_in_the_ledger(workspace: Workspace, run: Run) -> None:
    answer = f"Ask noura@example.com. {story.ANSWER}"
    ends = answer.index(story.RIGHT_CLAIM)
    (payment,) = [one for one in story.PASSAGES if one["text"] == story.RIGHT_CLAIM]
    message = {  # as Anthropic's API has it: a block of text, and what all of it rests on
        "content": [
            {"type": "text", "text": answer[:ends]},
            {
                "type": "text",
                "text": answer[ends:],
                "citations": [
                    {
                        "type": "char_location",
                        "cited_text": payment["text"],
                        "document_index": 1,
                        "document_title": payment["title"],
                        "start_char_index": 0,
                        "end_char_index": len(payment["text"]),
                    }
                ],
            },
        ]
    }
    body = json.dumps({"type": "message", "role": "assistant", **message}).encode()
    (cited,) = read_reply("messages", 200, "application/json", body).citations
    beyond = Citation(source="Payment terms", start=0, end=10_000)
    unplaced = Citation(source="Payment terms")
    told = {"answer": answer, "citations": [cited, beyond, unplaced]}
    done = record(workspace, run.model_copy(update=told), story.BY_WORDS)
    ledger = workspace.ledgers.get(done.ledger_id or "")
    cites = {one.text: one.citations for one in ledger.session.claims}
    assert cites[story.RIGHT_CLAIM.rstrip(".")] == [payment["id"]]
    assert cites[story.WRONG_CLAIM.rstrip(".")] == []
    (check,) = ledger.citations
    assert (check.label, check.resolved, check.bears) == (payment["id"], True, True)
    (problem,) = done.problems
    assert problem.startswith("the citation of Payment terms was not checked: 0 to ")


def test_personal_data_is_redacted_before_anything_is_stored(
    workspace: Workspace, run: Run, tmp_path: Path
) -> None:
    private = ToolCall(
        call_id="call_8",
        name="find_person",
        arguments={"email": "noura@example.com"},
        result="noura@example.com\nis away",
    )
    told = {"events": [*run.events, private], "answer": "Ask noura@example.com. " + story.ANSWER}
    record(workspace, run.model_copy(update=told), story.BY_WORDS)
    workspace.close()
    for file in (tmp_path / "home").rglob("*"):
        if file.is_file():
            assert b"noura@example.com" not in file.read_bytes(), file


def test_without_redaction_it_is_kept_as_it_was(workspace: Workspace, run: Run) -> None:
    told = run.model_copy(update={"query": "Where is noura@example.com?", "decision": None})
    done = record(workspace, told, story.BY_WORDS.model_copy(update={"redact": False}))
    assert "noura@example.com" in workspace.bundles.get(done.bundle_id).items[0].content


def test_a_share_of_the_answers_is_checked_and_always_the_same_ones(run: Run) -> None:
    runs = [run.model_copy(update={"name": f"agent {number}"}) for number in range(200)]
    policy = RecordingPolicy(check="share", share=0.25)
    picked = [policy.is_checked(one) for one in runs]
    assert picked == [policy.is_checked(one) for one in runs]
    assert 30 <= sum(picked) <= 70
    asked = RecordingPolicy(check="on_request")
    assert not asked.is_checked(run)
    assert asked.is_checked(run.model_copy(update={"check": True}))


def test_a_run_without_a_decision_keeps_its_calls_under_its_own_id(
    workspace: Workspace, run: Run
) -> None:
    done = record(workspace, run.model_copy(update={"decision": None}), story.BY_WORDS)
    assert done.pack_id is None
    assert len(workspace.tools.calls(done.run_id)) == 3

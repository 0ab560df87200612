"""Many answers: by processes that may be killed, none lost, none recorded twice, and resumable."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import tiers
import worker_processes
from evidentia.errors import AccessError, EnvironmentProblem, InputError, UsageError
from evidentia.ledger.outcomes import CheckedAnswers
from evidentia.loading.pieces import WORKER
from evidentia.loading.workers import Done, Workers
from evidentia.workspace import Workspace, open_workspace
from many_judges import INTERRUPTIBLE, POISON, SLOW, DiesOnceJudge, TroubleJudge, WorkersJudge
from places import Place, kept_file
from workspace.policies import CONTRADICTED, NOT_FOUND, SUPPORTED, count, read_here, write_policies

TESTS = Path(__file__).parent.parent
WORDS = ("quote", "numbers")


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


@pytest.fixture(autouse=True)
def _nothing_is_left_running() -> Iterator[None]:
    """Whatever became of the workers, none of them is there afterwards."""
    before = set(psutil.Process().children(recursive=True))
    yield
    assert set(psutil.Process().children(recursive=True)) <= before


@pytest.fixture
def filled(workspace: Workspace, tmp_path: Path) -> Workspace:
    workspace.ingest(write_policies(tmp_path / "docs"))
    return workspace


@pytest.fixture
def embedded(sqlite_place: Place, tmp_path: Path) -> Workspace:
    workspace = sqlite_place.open()
    workspace.ingest(write_policies(tmp_path / "docs"))
    return workspace


def answers(number: int) -> list[dict[str, Any]]:
    texts = (SUPPORTED, CONTRADICTED, NOT_FOUND)
    return [
        {"id": f"a{place}", "answer": f"{texts[place % 3]} Room {place} is blue.", "query": "?"}
        for place in range(number)
    ]


def ids(found: CheckedAnswers) -> list[str | None]:
    return [one.id for one in found.checked]


# What comes out


@pytest.mark.sqlite_suffices
def test_each_answer_gets_the_ledger_that_it_would_get_alone(filled: Workspace) -> None:
    given = answers(4)
    told: list[tuple[int, int]] = []
    checked = filled.check_many(
        given, judges=WORDS, workers=2, progress=lambda *done: told.append(done)
    )
    assert ids(checked) == ["a0", "a1", "a2", "a3"]
    assert told == [(done, 4) for done in range(5)]
    for one, asked in zip(checked, given, strict=True):
        ledger = filled.ledgers.get(str(one.ledger_id))
        alone = filled.check(asked["answer"], query="?", answer_name=asked["id"], judges=WORDS)
        assert ledger.entry == one.entry
        assert ledger.session.answer == asked["answer"]
        assert [
            (entry.verdict, entry.evidence_snippet, entry.notes) for entry in ledger.entries
        ] == [(entry.verdict, entry.evidence_snippet, entry.notes) for entry in alone.entries]
        assert alone.session.id == ledger.session.id
        assert alone.previous_ledger_id == ledger.id
        assert one.tally.by_verdict == {
            verdict: number
            for verdict, number in one.tally.by_verdict.items()
            if number == sum(entry.verdict is verdict for entry in alone.entries)
        }
    assert {filename for _, filename in checked.tally.by_document} == {"leave.md", "travel.md"}
    assert filled.audit().holds


def test_several_processes_check_on_one_thread_each(embedded: Workspace, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    embedded.check_many(answers(6), judges=[WorkersJudge(notes)], workers=2)
    told = {tuple(line.split()) for line in notes.read_text().splitlines()}
    assert {threads for _, threads in told} == {"1"}
    assert str(os.getpid()) not in {process for process, _ in told}


def test_without_workers_this_process_checks(embedded: Workspace, tmp_path: Path) -> None:
    notes = tmp_path / "notes"

    class Mine(WorkersJudge):
        """No other process could make it."""

    checked = embedded.check_many(answers(2), judges=[Mine(notes)], workers=0)
    assert len(checked.checked) == 2
    assert {line.split()[0] for line in notes.read_text().splitlines()} == {str(os.getpid())}


@pytest.mark.sqlite_suffices
def test_what_is_no_answer_is_told_and_the_others_go_on(filled: Workspace, tmp_path: Path) -> None:
    given: list[Any] = [
        SUPPORTED,
        {"id": "b"},
        {"id": "c", "answer": " "},
        {"id": "d", "answer": SUPPORTED, "against": str(tmp_path / "nowhere")},
        {"id": "e", "answer": "\0"},
        {"id": "f", "answer": SUPPORTED, "query": "\0"},
        {"id": "g", "answer": "\ud800"},
        NOT_FOUND,
    ]
    checked = filled.check_many(given, judges=WORDS, workers=1)
    assert [one.number for one in checked.checked] == [1, 8]
    problems = {one.id: one.problem for one in checked.failed}
    assert all(one.is_given or one.id == "d" for one in checked.failed)
    assert problems["b"] == "it has no 'answer', but 'id'"
    assert problems["c"] == "the answer is empty: there is nothing to check"
    assert "no such file or folder" in str(problems["d"])
    assert "NUL" in str(problems["e"])
    assert problems["f"] == "its query is not text"
    assert problems["g"] == "the answer is not text: surrogates not allowed"


def test_no_answers_are_no_work(workspace: Workspace) -> None:
    checked = workspace.check_many([])
    assert (len(checked), checked.tally.claims, checked.worst()) == (0, 0, [])


def test_an_empty_library_is_told_once_and_not_for_each_answer(workspace: Workspace) -> None:
    with pytest.raises(InputError, match="there are no documents to check against"):
        workspace.check_many(answers(3), judges=WORDS, workers=1)


def test_an_answer_may_name_what_it_is_checked_by(embedded: Workspace, tmp_path: Path) -> None:
    other = write_policies(tmp_path / "other", {"pets.md": f"# Pets\n\n{NOT_FOUND}\n"})
    given: list[Any] = [
        {"id": "all", "answer": SUPPORTED},
        {"id": "own", "answer": SUPPORTED, "against": [str(other)]},
        {"id": "pets", "answer": NOT_FOUND, "against": str(other)},
    ]
    every, own, pets = embedded.check_many(given, judges=WORDS, workers=2)
    assert [one.tally.coverage for one in (every, own, pets)] == [1.0, 0.0, 1.0]


def test_an_answer_with_contexts_is_checked_by_them_alone(sqlite_place: Place) -> None:
    empty = sqlite_place.open()
    given = [
        {"id": "own", "answer": SUPPORTED, "contexts": [{"id": "kb-1", "text": SUPPORTED}]},
        {"id": "bad", "answer": SUPPORTED, "contexts": [{"id": "kb-1"}]},
    ]
    own, bad = empty.check_many(given, judges=WORDS, workers=0)
    session = empty.ledgers.get(str(own.ledger_id)).session
    assert [one.id for one in session.contexts or ()] == ["kb-1"]
    assert session.corpus is None
    assert "context 1 has no text" in str(bad.problem)
    (again, _) = empty.check_many(given, judges=WORDS, workers=0)
    assert (again.ledger_id, again.is_earlier) == (own.ledger_id, True)
    given[0]["contexts"] = [{"id": "kb-2", "text": SUPPORTED}]
    (anew, _) = empty.check_many(given, judges=WORDS, workers=0)
    assert anew.ledger_id != own.ledger_id


def test_files_that_changed_are_told_once(embedded: Workspace, tmp_path: Path) -> None:
    (tmp_path / "docs" / "leave.md").write_text("other")
    given = [{"id": place, "answer": f"{SUPPORTED} It is {place}."} for place in "abc"]
    checked = embedded.check_many(given, judges=WORDS, workers=1)
    assert [change.filename for change in checked.file_changes] == ["leave.md"]


@pytest.mark.parametrize("form", ["jsonl", "csv", "junit", "sarif"])
def test_every_form_has_every_answer(embedded: Workspace, form: str) -> None:
    checked = embedded.check_many(answers(3), judges=WORDS, workers=0)
    made = embedded.ledgers.render_many(checked, form, file="answers.jsonl")
    assert all(f"Room {place} is blue" in made for place in range(3))


# Not again, and again


def test_what_was_checked_is_not_checked_again_unless_asked(filled: Workspace) -> None:
    given = answers(3)
    first = filled.check_many(given, judges=WORDS, workers=0)
    second = filled.check_many([*given, *answers(4)[3:]], judges=WORDS, workers=0)
    assert [one.is_earlier for one in second] == [True, True, True, False]
    assert [one.ledger_id for one in second][:3] == [one.ledger_id for one in first]
    assert second[0].tally == first[0].tally
    third = filled.check_many(given, judges=WORDS, workers=0, again=True)
    assert not any(one.is_earlier for one in third)
    assert count(filled, "ledgers") == 7


@pytest.mark.parametrize("change", ["library", "judges", "against", "query", "title", "program"])
def test_what_changed_is_checked_again(
    embedded: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    given = answers(1)
    how: dict[str, Any] = {"judges": WORDS, "workers": 0}
    embedded.check_many(given, **how)
    match change:
        case "library":
            embedded.ingest(write_policies(tmp_path / "more", {"new.md": "# New\n\nIt is new.\n"}))
        case "judges":
            how["judges"] = ("quote",)
        case "against":
            how["against"] = embedded.documents.list()[:2]
        case "program":
            monkeypatch.setattr("evidentia.workspace.checking.__version__", "9.9.9")
        case _:
            given = [{**given[0], change: "another"}]
    (one,) = embedded.check_many(given, **how)
    assert not one.is_earlier
    if change != "program":
        (same,) = embedded.check_many(given, **how)
        assert same.is_earlier


def test_a_damaged_ledger_is_no_reason_not_to_check(embedded: Workspace) -> None:
    (first,) = embedded.check_many(answers(1), judges=WORDS, workers=0)
    digest = embedded.ledgers.find(str(first.ledger_id)).statement_sha256
    kept_file(embedded, digest).unlink()
    (second,) = embedded.check_many(answers(1), judges=WORDS, workers=0)
    assert not second.is_earlier
    assert second.ledger_id != first.ledger_id


# Trouble


@pytest.mark.sqlite_suffices
def test_an_answer_whose_worker_dies_is_tried_again(filled: Workspace, tmp_path: Path) -> None:
    judge = DiesOnceJudge(tmp_path / "mark")
    checked = filled.check_many(answers(3), judges=[judge], workers=2)
    assert ids(checked) == ["a0", "a1", "a2"]
    assert sorted(one.tries for one in checked) == [1, 1, 2]
    assert count(filled, "ledgers") == 3


@pytest.mark.sqlite_suffices
def test_poison_is_told_after_a_few_tries_and_stops_no_other(filled: Workspace) -> None:
    given = [*answers(2), {"id": "bad", "answer": POISON}, *answers(4)[2:]]
    checked = filled.check_many(given, judges=[TroubleJudge()], workers=2)
    assert ids(checked) == ["a0", "a1", "a2", "a3"]
    (bad,) = checked.failed
    assert (bad.id, bad.tries, bad.is_given) == ("bad", 3, False)
    assert bad.problem == (
        "the process that checked it ended, 3 times (killed by SIGKILL); is there too little "
        "memory?"
    )
    assert filled.audit().holds


def test_what_was_recorded_and_not_reported_is_not_recorded_twice(filled: Workspace) -> None:
    """A worker may be killed between the two, also where all are checked again."""
    given = answers(1)
    filled.check_many(given, judges=WORDS, workers=0)

    class Unheard:
        """Loses what it hears of each answer once."""

        def run(self, how: Any, asked: Any) -> Any:
            from evidentia.workspace.many import Here  # noqa: PLC0415 - what it stands before

            here, asked = Here(filled._acting), list(asked)
            list(here.run(how, asked))
            yield from here.run(how, asked)

    filled.check_many(given, judges=WORDS, executor=Unheard(), again=True)
    assert count(filled, "ledgers") == 2


@pytest.mark.sqlite_suffices
def test_workers_that_are_killed_are_replaced(filled: Workspace) -> None:
    given = answers(tiers.count(30, short=8))
    killed: list[int] = []

    def progress(done: int, _: int) -> None:
        if done in {2, 5}:  # one of them, and then all
            for process in worker_processes.running(WORKER)[: 1 if done == 2 else None]:
                process.kill()
                killed.append(process.pid)

    checked = filled.check_many(given, judges=WORDS, workers=2, progress=progress)
    assert len(killed) == 3
    assert ids(checked) == [one["id"] for one in given]
    assert count(filled, "ledgers") == len(given)
    assert filled.audit().holds


def start(place: Place, folder: Path, given: list[dict[str, Any]]) -> subprocess.Popen[bytes]:
    """Check answers in a process of its own, with a judge that is slow where a snail is."""
    script = (
        "import json, sys; sys.path.insert(0, sys.argv[4])\n"
        "import evidentia as ev; from many_judges import TroubleJudge\n"
        "home, url, given = sys.argv[1:4]\n"
        "ws = ev.open(url, home=home) if url else ev.open(home)\n"
        "ws.check_many(json.loads(given), judges=[TroubleJudge()], workers=2)\n"
    )
    asked = [str(place.home.folder), place.url or "", json.dumps(given), str(TESTS)]
    command = [*INTERRUPTIBLE, sys.executable, "-c", script, *asked]
    return subprocess.Popen(command, cwd=folder)


def wait_for(what: Callable[[], object]) -> None:
    for _ in range(1_200):
        if what():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come to pass within a minute")


def test_a_run_that_was_killed_goes_on_where_it_was(place: Place, tmp_path: Path) -> None:
    goes_on_after(signal.SIGKILL, place, tmp_path)


def test_ctrl_c_leaves_no_process_and_the_run_goes_on_where_it_was(
    sqlite_place: Place, tmp_path: Path
) -> None:
    goes_on_after(signal.SIGINT, sqlite_place, tmp_path)


def goes_on_after(how: signal.Signals, place: Place, tmp_path: Path) -> None:
    workspace = place.open()
    workspace.ingest(write_policies(tmp_path / "docs"))
    slow = [{"id": f"s{number}", "answer": f"{SLOW} {number}"} for number in range(2)]
    given = [*answers(3), *slow]
    with start(place, tmp_path, given) as running:
        wait_for(lambda: count(workspace, "ledgers") == 3)
        workers = psutil.Process(running.pid).children()
        assert len(workers) == 2
        running.send_signal(how)
        running.wait(20)
        if how is signal.SIGKILL:  # they end once they have checked what they were asked
            for worker in workers:
                worker.kill()
    psutil.wait_procs(workers, 10)
    assert not any(worker.is_running() for worker in workers)
    again = [{**one, "answer": one["answer"].replace("snail", "hare")} for one in given]
    checked = workspace.check_many(again, judges=[TroubleJudge()], workers=2)
    assert [one.is_earlier for one in checked] == [True, True, True, False, False]
    assert count(workspace, "ledgers") == 5
    assert workspace.audit().holds


def test_workers_end_by_themselves_when_nobody_asks_any_more(
    sqlite_place: Place, tmp_path: Path
) -> None:
    workspace = sqlite_place.open()
    workspace.ingest(write_policies(tmp_path / "docs"))
    given = answers(tiers.count(300, short=30))
    with start(sqlite_place, tmp_path, given) as running:
        wait_for(lambda: count(workspace, "ledgers") >= 3)
        workers = psutil.Process(running.pid).children()
        running.kill()
    _, alive = psutil.wait_procs(workers, 60)
    assert alive == []
    done = count(workspace, "ledgers")
    assert done < len(given)
    checked = workspace.check_many(given, judges=[TroubleJudge()], workers=2)
    assert sum(one.is_earlier for one in checked) == done
    assert count(workspace, "ledgers") == len(given)


@pytest.mark.sqlite_suffices
def test_two_runs_at_once_share_a_workspace(place: Place, tmp_path: Path) -> None:
    workspace = place.open()
    workspace.ingest(write_policies(tmp_path / "docs"))
    mine = [{**one, "id": f"mine {one['id']}"} for one in answers(6)]
    with start(place, tmp_path, answers(6)) as running:
        checked = workspace.check_many(mine, judges=WORDS, workers=2)
        assert running.wait(60) == 0
    assert len(checked.checked) == 6
    assert count(workspace, "ledgers") == 12
    assert workspace.audit().holds


def test_an_error_that_is_not_about_the_answer_is_raised(
    embedded: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopped:
        """Something that all answers would meet."""

        def __init__(self, error: Exception) -> None:
            self.error = error

        def run(self, how: Any, asked: Any) -> Any:
            del how
            yield Done(next(iter(asked)), self.error, 1)

    for error in (EnvironmentProblem("the disk is full"), AccessError("you may not")):
        with pytest.raises(type(error), match=str(error)):
            embedded.check_many(answers(2), judges=WORDS, executor=Stopped(error))
    with pytest.raises(EnvironmentProblem, match="its worker answered ValueError"):
        embedded.check_many(answers(2), judges=WORDS, executor=Stopped(ValueError()))


def test_an_unexpected_error_in_one_answer_is_told_by_its_name(
    embedded: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evidentia.workspace.ledgers import Ledgers  # noqa: PLC0415 - what is broken here

    check = Ledgers.check

    def broken(self: Ledgers, answer: str, **how: Any) -> object:
        if "pets" in answer:
            raise KeyError("pets")
        return check(self, answer, **how)

    monkeypatch.setattr(Ledgers, "check", broken)
    checked = embedded.check_many(answers(3), judges=WORDS, workers=0)
    (failed,) = checked.failed
    assert (failed.id, failed.problem, failed.is_given) == ("a2", "KeyError: 'pets'", False)


# Judges, keys and users


def test_a_judge_that_no_other_process_can_make_is_refused(embedded: Workspace) -> None:
    class Local(TroubleJudge):
        """Is in no module."""

    with pytest.raises(InputError, match=r"cannot be handed to worker processes .*workers=0"):
        embedded.check_many(answers(2), judges=[Local()], workers=1)


def test_a_judge_whose_module_a_worker_does_not_find_is_refused(
    embedded: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = [path for path in sys.path if Path(path) != TESTS]
    monkeypatch.setattr("evidentia.loading.pieces.sys.path", known)
    with pytest.raises(InputError, match=r"cannot be made in a worker process .*many_judges"):
        embedded.check_many(answers(2), judges=[TroubleJudge()], workers=1)


def test_judges_that_are_unknown_are_refused_before_a_process_is_started(
    embedded: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Workers, "_start", None)
    with pytest.raises(InputError, match="judge 'fortune' is unknown"):
        embedded.check_many(answers(2), judges=["fortune"])
    with pytest.raises(InputError, match="there cannot be -1 workers"):
        embedded.check_many(answers(2), workers=-1)


def test_workers_sign_with_an_encrypted_key_and_a_person_is_asked_once(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "home", passphrase="correct horse") as workspace:
        workspace.ingest(write_policies(tmp_path / "docs"))
    asked: list[int] = []

    def ask() -> str:
        asked.append(1)
        return "correct horse"

    with open_workspace(tmp_path / "home", passphrase=ask) as workspace:
        checked = workspace.check_many(answers(2), judges=WORDS, workers=2)
        assert len(checked.checked) == 2
        assert workspace.audit().holds
    assert asked == [1]


def test_keys_of_ones_own_stay_in_this_process(embedded: Workspace) -> None:
    class Keys:
        """Keys that are held elsewhere."""

    opened = embedded.opened
    opened.keys = Keys()  # type: ignore[assignment]
    with pytest.raises(UsageError, match="in this process alone: check with workers=0"):
        embedded.check_many(answers(2), judges=WORDS, workers=1)


@pytest.mark.sqlite_suffices
def test_workers_check_in_the_name_of_the_same_user_and_tenant(
    place: Place, tmp_path: Path
) -> None:
    owner = place.open("acme")
    owner.ingest(write_policies(tmp_path / "docs"))
    owner.access.grant("ann", "approver")
    checked = owner.acting_as("ann").check_many(answers(2), judges=WORDS, workers=1)
    assert len(checked.checked) == 2
    for one in checked:
        assert owner.trail.entry(int(str(one.entry))).body["by"] == "ann"
    with pytest.raises(AccessError, match="bob may not make or record evidence"):
        owner.acting_as("bob").check_many(answers(2), judges=WORDS)

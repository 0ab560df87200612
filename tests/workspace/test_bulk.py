"""Bulk work by workers that have no keys: judged there, recorded here, and none of it lost."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from evidentia.errors import EnvironmentProblem, InputError, UsageError
from evidentia.jobs.ray_workers import RayWorkers
from evidentia.judges.measuring import Label
from evidentia.ledger.outcomes import CheckedAnswers
from evidentia.loading.pieces import ByProcesses
from evidentia.loading.workers import Bulk
from evidentia.store import ranges
from evidentia.store.keys import FileKeys
from evidentia.verifying import verify
from evidentia.workspace import Workspace, ledgers, many
from evidentia.workspace import bulk as bulk_work
from evidentia.workspace.evaluating import Pair, chosen_judges, evaluate, evaluate_in_bulk
from many_judges import POISON, DiesOnceJudge, TroubleJudge
from places import Place, record
from workspace.policies import CONTRADICTED, NOT_FOUND, SUPPORTED, count, read_here, write_policies

WORDS = ("quote", "numbers")


class Distant(ByProcesses):
    """Processes that are treated as if they were on other machines."""

    is_elsewhere = True


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


@pytest.fixture(scope="module", params=["processes", pytest.param("ray", marks=pytest.mark.whole)])
def bulk(request: pytest.FixtureRequest) -> Iterator[Bulk]:
    if request.param == "ray" and find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    found: Bulk = RayWorkers("local") if request.param == "ray" else ByProcesses(2)
    yield found
    found.close()


@pytest.fixture
def filled(workspace: Workspace, tmp_path: Path, bulk: Bulk) -> Workspace:
    workspace.ingest(write_policies(tmp_path / "docs"))
    workspace.opened.bulk = bulk
    return workspace


def answers(number: int) -> list[dict[str, Any]]:
    texts = (SUPPORTED, CONTRADICTED, NOT_FOUND)
    return [
        {"id": f"a{place}", "answer": f"{texts[place % 3]} Room {place} is blue.", "query": "?"}
        for place in range(number)
    ]


def said(workspace: Workspace, checked: CheckedAnswers) -> list[Any]:
    """Return what the ledgers say, without what differs between two checks of one answer."""
    return [
        [
            (entry.verdict, entry.evidence_snippet, entry.notes)
            for entry in workspace.ledgers.get(str(one.ledger_id)).entries
        ]
        for one in checked
    ]


@pytest.mark.sqlite_suffices
def test_each_answer_gets_the_ledger_that_processes_here_would_give_it(filled: Workspace) -> None:
    given = answers(6)
    there = filled.check_many(given, judges=WORDS, workers=2)
    here = filled.check_many(given, judges=WORDS, workers=0, again=True)
    assert [one.problem for one in there] == [None] * 6
    assert said(filled, there) == said(filled, here)
    assert [one.id for one in there] == [one["id"] for one in given]
    assert [one.title for one in there] == [one.title for one in here]
    assert [one.tally for one in there] == [one.tally for one in here]
    assert filled.audit().holds


def test_workers_are_told_no_key(filled: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    kind: Any = type(filled.opened.bulk)
    run = kind.run

    def watched(self: Any, ready: Any, what: Any, pieces: Any, **named: Any) -> Any:
        told.append(what)
        return run(self, ready, what, pieces, **named)

    monkeypatch.setattr(kind, "run", watched)
    keys = filled.opened.keys
    assert isinstance(keys, FileKeys)
    filled.check_many(answers(2), judges=WORDS)
    (what,) = told
    assert isinstance(what, bulk_work.ToldToJudge)
    assert what.place._fields == ("address", "folder", "tenant", "origin", "server")


@pytest.mark.sqlite_suffices
def test_what_was_checked_is_not_judged_again(filled: Workspace) -> None:
    first = filled.check_many(answers(3), judges=WORDS)
    again = filled.check_many(answers(5), judges=WORDS)
    assert [one.is_earlier for one in again] == [True, True, True, False, False]
    assert [one.ledger_id for one in again][:3] == [one.ledger_id for one in first]
    assert count(filled, "ledgers") == 5


@pytest.mark.sqlite_suffices
def test_a_killed_workers_answer_is_checked_again_and_poison_ends_with_a_reason(
    filled: Workspace, tmp_path: Path
) -> None:
    given = [*answers(3), {"id": "p", "answer": POISON}]
    checked = filled.check_many(given, judges=[TroubleJudge()])
    assert len(checked.checked) == 3
    (poison,) = checked.failed
    assert poison.id == "p"
    assert "ended, 3 times" in str(poison.problem)
    checked = filled.check_many(answers(4), judges=[DiesOnceJudge(tmp_path / "mark")])
    assert [one.problem for one in checked] == [None] * 4
    assert max(one.tries for one in checked) == 2
    assert count(filled, "ledgers") == 7


@pytest.mark.sqlite_suffices
def test_what_one_answer_lacks_is_told_and_the_others_go_on(filled: Workspace) -> None:
    given: list[Any] = [
        {"id": "a", "answer": SUPPORTED},
        {"id": "b", "answer": "\0"},
        {"id": "c", "answer": SUPPORTED, "contexts": [{"id": "kb-1", "text": SUPPORTED}]},
        {"id": "d"},
    ]
    a, b, c, d = filled.check_many(given, judges=WORDS)
    assert "NUL" in str(b.problem)
    assert d.is_given
    session = filled.ledgers.get(str(c.ledger_id)).session
    assert ([one.id for one in session.contexts or ()], session.corpus) == (["kb-1"], None)
    assert filled.ledgers.get(str(a.ledger_id)).session.corpus is not None


@pytest.mark.sqlite_suffices
def test_files_that_changed_on_this_machine_are_told(filled: Workspace, tmp_path: Path) -> None:
    (tmp_path / "docs" / "leave.md").write_text("other")
    checked = filled.check_many(answers(1), judges=WORDS)
    assert [change.filename for change in checked.file_changes] == ["leave.md"]


def test_one_that_cannot_be_recorded_does_not_stop_those_of_its_group(
    filled: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = ledgers.keep_checked

    def refusing(acting: Any, sessions: Any) -> list[int]:
        if any("Room 1 " in one.answer for one in sessions):
            raise InputError("it is too large")
        return keep(acting, sessions)

    monkeypatch.setattr(many, "keep_checked", refusing)
    checked = filled.check_many(answers(4), judges=WORDS)
    assert [one.problem for one in checked] == [None, "it is too large", None, None]


def test_a_long_audit_is_shared_out_and_finds_the_same(
    filled: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranges, "RANGE", 256)
    for _ in range(3):
        filled.trail.append_many([record(number) for number in range(200)])
    shared = filled.trail.audit()
    filled.opened.bulk = None
    assert shared == filled.trail.audit()
    assert shared.size > 600


def test_a_folder_is_not_checked_on_other_machines(sqlite_place: Any, tmp_path: Path) -> None:
    workspace = sqlite_place.open()
    workspace.ingest(write_policies(tmp_path / "docs"))
    workspace.opened.bulk = Distant(1)
    with pytest.raises(UsageError, match="EVIDENTIA_RAY=local"):
        workspace.check_many(answers(1), judges=WORDS)
    assert len(workspace.check_many(answers(1), judges=WORDS, workers=0).checked) == 1


def test_a_worker_that_finds_another_log_there_says_so(
    filled: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = bulk_work.place_of

    def other(*given: Any) -> bulk_work.Place:
        return place(*given)._replace(origin="another.log")

    monkeypatch.setattr(bulk_work, "place_of", other)
    with pytest.raises(EnvironmentProblem, match="another log"):
        filled.check_many(answers(1), judges=WORDS)


@pytest.mark.sqlite_suffices
@pytest.mark.parametrize("form", ["html", "pdf"])
def test_many_ledgers_are_exported_as_each_alone_is(
    filled: Workspace, tmp_path: Path, form: str
) -> None:
    filled.check_many(answers(2), judges=WORDS, workers=0)
    filled.trail.checkpoint()
    ids = [one.id for one in filled.ledgers.list()]
    there = filled.ledgers.export_many({one: tmp_path / f"{one}.{form}" for one in ids}, form=form)
    key = filled.trail.public_key()
    for one, file in zip(ids, there, strict=True):
        alone = filled.ledgers.export(one, tmp_path / f"alone-{one}.{form}", form=form)
        assert file.read_bytes() == alone.read_bytes()
        assert verify(file, key=key).holds


def test_pairs_are_judged_as_here(bulk: Bulk) -> None:
    pairs = [
        Pair(f"Leave is {n} days.", f"Leave is {n + n % 2} days.", Label.SUPPORTED, n)
        for n in range(45)
    ]
    told: list[int] = []
    there = evaluate_in_bulk(bulk, "set", pairs, WORDS, told.append)
    assert there.judged == evaluate("set", pairs, chosen_judges(WORDS)).judged
    assert told == [20, 40, 45]


def test_a_log_that_has_not_begun_begins_before_workers_are_told_of_it(sqlite_place: Place) -> None:
    """Who gets ready once the first ledger is there would find another log than it was told."""
    workspace = sqlite_place.open()
    told = bulk_work.place_of(workspace._acting, ByProcesses(1))
    assert told.origin is not None
    assert workspace.trail.size > 0
    assert bulk_work.place_of(workspace._acting, ByProcesses(1)) == told

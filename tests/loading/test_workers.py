"""Workers: processes that may crash, hang or print, and do no harm to the one that asks.

This module is its own worker: run as a command, it does what it is asked to.
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from evidentia.errors import (
    DocumentError,
    EnvironmentProblem,
    EvidentiaError,
    InputError,
    IntegrityError,
)
from evidentia.loading.workers import Done, WorkerEndedError, Workers, cores, serve
from evidentia.store.files import make_folder

WORKER = Path(__file__).stem
TOLD: list[Any] = []
"""What a worker was told first."""
CRASHES = {"exit": "exit status 3", "kill": "exit status -9", "segfault": "exit status -11"}


class Attack:
    """What a worker that was taken over could answer: a call, to be made where it is read."""

    def __init__(self, call: tuple[Any, tuple[Any, ...]]) -> None:
        self.call = call

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return self.call


def die_unless(folder: str) -> None:
    """Die, unless a folder is there; make it before."""
    if not Path(folder).exists():
        make_folder(Path(folder))
        os._exit(3)


SAYS: dict[str, Callable[[Any], Any]] = {
    "group": lambda _: os.getpgrp(),
    "pid": lambda _: os.getpid(),
    "environment": os.environ.get,
    "tell": TOLD.append,
    "told": lambda _: TOLD,
    "die unless": die_unless,
}
"""What a worker can be asked that does no harm."""


def answer(question: tuple[str, Any]) -> Any:
    """Do what is asked, in a worker."""
    what, value = question
    match what:
        case "exit":
            os._exit(3)
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "segfault":
            ctypes.string_at(0)
        case "half":
            os.write(3, b"\x80\x05")  # a pickle's first bytes, and no more
            os._exit(0)
        case "hang":
            time.sleep(1_000)
        case "raise":
            raise value
        case "unsendable":
            return lambda: value
        case "attack":
            return Attack(value)
        case "print":
            print(value)  # noqa: T201 - as libraries do
            sys.stdout.flush()
            os.write(1, value.encode())
            os.write(2, value.encode())
        case _:
            return SAYS[what](value) if what in SAYS else value
    return None


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an interpreter find this module by its name."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _nothing_is_left_running() -> Iterator[None]:
    """Whatever a test did to its workers, none of them is there afterwards."""
    before = set(psutil.Process().children(recursive=True))
    yield
    assert set(psutil.Process().children(recursive=True)) <= before


def ask(*questions: tuple[str, Any], count: int = 2, seconds: float | None = None) -> list[Any]:
    with Workers(WORKER, count, seconds=seconds) as workers:
        return list(workers.map(questions))


def test_answers_come_in_the_order_of_the_questions() -> None:
    asked = [("say", number) for number in range(50)]
    assert ask(*asked) == list(range(50))


def test_large_questions_and_answers_go_through_the_pipe() -> None:
    data = bytes(range(256)) * 40_000
    assert ask(("say", data), ("say", data)) == [data, data]


@pytest.mark.parametrize(
    "call",
    [
        (os.system, ("touch attacked",)),
        (eval, ("open('attacked', 'w')",)),
        (Path.touch, (Path("attacked"),)),
        (Workers, ("os", 1)),
        (make_folder, (Path("attacked"),)),
    ],
    ids=["shell", "code", "method", "class", "function"],
)
def test_what_a_worker_answers_is_never_called(
    call: tuple[Any, tuple[Any, ...]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused, said = ask(("attack", call), ("say", "more"), count=1)
    assert isinstance(refused, WorkerEndedError)
    assert said == "more"
    assert list(tmp_path.iterdir()) == []


def test_no_questions_start_no_workers() -> None:
    with Workers(WORKER, 2) as workers:
        assert list(workers.map([])) == []
        assert not workers._processes


def test_one_worker_answers_many_questions() -> None:
    assert len(set(ask(*[("pid", None)] * 5, count=1))) == 1


def test_a_worker_is_another_process_with_one_thread_for_arithmetic() -> None:
    pid, threads = ask(("pid", None), ("environment", "OPENBLAS_NUM_THREADS"), count=1)
    assert pid != os.getpid()
    assert threads == "1"


@pytest.mark.parametrize("count", [1, 2])
def test_questions_are_taken_only_a_few_ahead_of_their_answers(count: int) -> None:
    taken = 0

    def questions() -> Iterator[tuple[str, int]]:
        nonlocal taken
        for number in range(20):
            taken += 1
            yield "say", number

    with Workers(WORKER, count) as workers:
        for answered, _ in enumerate(workers.map(questions()), 1):
            assert taken <= answered + count
    assert taken == 20


@pytest.mark.parametrize("crash", [*CRASHES, "half"])
@pytest.mark.parametrize("count", [1, 2])
def test_a_crash_costs_its_own_question_alone(
    capfd: pytest.CaptureFixture[str], crash: str, count: int
) -> None:
    answers = ask(*[("say", 0), (crash, None), ("say", 2), ("say", 3)], count=count)
    assert [item for item in answers if not isinstance(item, WorkerEndedError)] == [0, 2, 3]
    assert isinstance(answers[1], WorkerEndedError)
    assert CRASHES.get(crash, "exit status") in str(answers[1])


def test_every_worker_may_crash_again_and_again() -> None:
    answers = ask(*[("exit", None)] * 5, ("say", "still here"))
    assert [type(item) for item in answers[:5]] == [WorkerEndedError] * 5
    assert answers[5] == "still here"


def test_a_worker_that_takes_too_long_is_stopped() -> None:
    answers = ask(("hang", None), ("say", 1), count=1, seconds=4.0)
    assert isinstance(answers[0], WorkerEndedError)
    assert answers[1] == 1


@pytest.mark.parametrize(
    "error",
    [DocumentError("a.pdf: broken"), InputError("é\n"), IntegrityError(""), EvidentiaError("x")],
)
def test_an_error_of_ours_comes_back_as_a_value(error: EvidentiaError) -> None:
    first, second = ask(("raise", error), ("say", 2), count=1)
    assert (type(first), str(first)) == (type(error), str(error))
    assert second == 2


@pytest.mark.parametrize("question", [("raise", KeyError("x")), ("unsendable", None)])
def test_any_other_error_ends_the_worker(
    capfd: pytest.CaptureFixture[str], question: tuple[str, Any]
) -> None:
    first, second = ask(question, ("say", 2), count=1)
    assert isinstance(first, WorkerEndedError)
    assert second == 2
    assert "Error" in capfd.readouterr().err


def test_what_a_worker_prints_does_not_reach_its_answers(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert ask(("print", "hello"), ("say", 2), count=1) == [None, 2]
    printed = capfd.readouterr()
    assert printed.out == ""
    assert printed.err.count("hello") == 3


def test_who_leaves_early_waits_for_no_answer() -> None:
    with Workers(WORKER, 2) as workers:
        answers = workers.map([("say", 1), *[("hang", None)] * 8])
        assert next(answers) == 1


def test_an_error_in_the_questions_ends_the_workers_too() -> None:
    def questions() -> Iterator[tuple[str, Any]]:
        yield "hang", None
        raise InputError("no more")

    with pytest.raises(InputError, match="no more"), Workers(WORKER, 2) as workers:
        list(workers.map(questions()))


def test_a_module_that_is_not_there_answers_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    with Workers("no_such_module", 1) as workers:
        (found,) = workers.map([1])
    assert isinstance(found, WorkerEndedError)
    assert "No module named no_such_module" in capfd.readouterr().err


# Asked again


def run(
    *questions: tuple[str, Any], first: tuple[str, Any] | None = None, count: int = 2
) -> list[Done]:
    with Workers(WORKER, count, first=first) as workers:
        return sorted(workers.run(questions), key=lambda done: str(done.question))


def test_each_question_comes_back_with_its_answer() -> None:
    questions = [("same", number) for number in range(9)]
    assert run(*questions) == [Done(question, question[1], 1) for question in questions]
    assert run() == []


def test_answers_come_once_they_are_there(tmp_path: Path) -> None:
    with Workers(WORKER, 2) as workers:
        assert next(workers.run([("hang", None), ("same", 1)])).answer == 1


def test_a_question_whose_worker_ended_is_asked_again(tmp_path: Path) -> None:
    question = ("die unless", str(tmp_path / "mark"))
    assert run(question, ("same", 2)) == [Done(question, None, 2), Done(("same", 2), 2, 1)]


def test_a_question_that_ends_every_worker_is_given_up_and_the_others_go_on() -> None:
    *others, bad = run(*(("same", number) for number in range(4)), ("~exit", 0), ("exit", 0))[::-1]
    assert (bad.tries, str(bad.answer), bad.answer.status) == (3, "exit status 3", 3)
    assert sorted(done.answer for done in others) == [0, 0, 1, 2, 3]


def test_an_error_of_ours_is_an_answer_and_is_not_asked_again() -> None:
    (done,) = run(("raise", InputError("no")))
    assert (type(done.answer), str(done.answer), done.tries) == (InputError, "no", 1)


def test_every_worker_is_told_first_and_again_when_it_is_replaced() -> None:
    found = run(("exit", 0), ("told", 1), ("told", 2), first=("tell", "it"), count=1)
    assert [done.answer for done in found if done.question[0] == "told"] == [["it"], ["it"]]


def test_an_error_in_answer_to_what_is_told_first_is_raised() -> None:
    with pytest.raises(IntegrityError, match="not here"):
        run(("same", 1), first=("raise", IntegrityError("not here")))


def test_workers_that_end_over_what_they_are_told_first_are_not_started_for_ever() -> None:
    with pytest.raises(EnvironmentProblem, match=r"before they can be asked anything \(exit"):
        run(*(("same", number) for number in range(9)), first=("exit", None))


def test_a_worker_that_ended_over_what_it_was_told_first_costs_no_try(tmp_path: Path) -> None:
    first = ("die unless", str(tmp_path / "mark"))
    assert run(("same", 1), first=first) == [Done(("same", 1), 1, 1)]


def test_ctrl_c_on_a_terminal_does_not_reach_the_workers() -> None:
    (group,) = ask(("group", None), count=1)
    assert group != os.getpgrp()


def test_no_module_of_the_current_folder_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ctypes.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    assert ask(("same", 1)) == [1]


def test_there_is_a_core_on_every_system(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert cores() == os.cpu_count()
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


if __name__ == "__main__":
    serve(answer)

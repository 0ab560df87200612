"""A job of many answers that a cluster judges: durable, whatever ends in the middle of it."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from evidentia.jobs.work import batches
from jobs.test_runner import asked, ended, recorded, until
from places import Place

RAY = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
Begin = Callable[[], "subprocess.Popen[bytes]"]


@pytest.fixture(params=["processes", pytest.param("local", marks=[pytest.mark.whole, RAY])])
def begin(place: Place, request: pytest.FixtureRequest) -> Iterator[Begin]:
    """Give what starts another process that does jobs, and has bulk work done so."""
    started: list[subprocess.Popen[bytes]] = []

    def begin() -> "subprocess.Popen[bytes]":
        script = Path(__file__).with_name("runs.py")
        where = [str(place.home.folder), place.url or "", request.param]
        started.append(subprocess.Popen([sys.executable, str(script), *where]))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.sqlite_suffices
def test_a_server_that_is_killed_in_the_middle_leaves_a_job_that_goes_on(
    place: Place, begin: Begin
) -> None:
    workspace, first, answers = place.open(), begin(), asked(30)
    answers[7] = {"answer": " "}
    files = batches(answers, 20)
    job = workspace.jobs.start("checks", {"at_once": 20}, total=len(answers), files=files)
    until(lambda: workspace.jobs.get(job.id).row.done >= 3)
    first.kill()
    first.wait()
    assert workspace.jobs.get(job.id).row.done < len(answers), "it was killed in the middle"
    begin()
    found = ended(workspace, job)
    assert (found.state, found.row.done) == ("done", len(answers)), found.problem
    results = found.result["results"]
    assert [one["number"] for one in results] == list(range(1, len(answers) + 1))
    assert [one["number"] for one in results if one["problem"]] == [8]
    del answers[7]
    assert recorded(workspace) == Counter(one["answer"] for one in answers)

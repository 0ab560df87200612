"""Files that are read by processes which others use, too."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from evidentia.documents.model import ReadFile
from evidentia.errors import BusyError, DocumentError
from evidentia.jobs.processes import TaskWorkers
from evidentia.jobs.tasks import Limits
from evidentia.loading.reader import MAX_ADDRESSES, MAX_MEMORY
from evidentia.loading.reading import Asked, read_files

ENDS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "crash.pdf": (os.abort, ()),
    "endless.pdf": (time.sleep, (1_000,)),
    "huge.pdf": (bytearray, (MAX_MEMORY,)),
}
"""What the reading of a file comes to, by its name."""


class Shared:
    """One process; some files end it as hostile ones would end a reader."""

    def __init__(self, workers: TaskWorkers) -> None:
        self.workers = workers
        self.patient: list[bool] = []

    def submit(
        self, function: Callable[..., Any], *arguments: Any, seconds: float, patient: bool = False
    ) -> Future[Any]:
        self.patient.append(patient)
        what, given = ENDS.get(arguments[0].filename, (function, arguments))
        limit = 0.1 if what is time.sleep else seconds
        return self.workers.submit(what, *given, seconds=limit, patient=patient)


@pytest.fixture
def shared() -> Iterator[Shared]:
    with TaskWorkers(1, Limits(MAX_MEMORY, MAX_ADDRESSES), most_waiting=0) as workers:
        yield Shared(workers)


def read(shared: Shared, *names: str) -> list[ReadFile | DocumentError]:
    asked = [Asked(f"doc_{place}", name, b"Some text.") for place, name in enumerate(names)]
    return list(read_files(asked, count=len(asked), apart=shared))  # type: ignore[arg-type]


def test_a_file_that_ends_its_reader_is_a_problem_of_its_own(shared: Shared) -> None:
    found = read(shared, "a.md", "crash.pdf", "b.md", "endless.pdf", "huge.pdf", "c.md", "d.pdf")
    assert [isinstance(one, ReadFile) for one in found] == [
        True,
        False,
        True,
        False,
        False,
        True,
        False,
    ]
    said = [str(one) for one in found if not isinstance(one, ReadFile)]
    assert said[0].startswith("crash.pdf: its reader crashed")
    assert said[1].startswith("endless.pdf: takes longer than")
    assert said[2].startswith("huge.pdf: its reader crashed, or needed too much memory")
    assert said[3].startswith("d.pdf: ")


def test_the_first_file_may_be_refused_and_those_behind_it_wait(shared: Shared) -> None:
    assert len(read(shared, *("a.md",) * 4)) == 4
    assert shared.patient == [False, True, True, True]
    running = shared.workers.submit(time.sleep, 0.5)
    with pytest.raises(BusyError):
        read(shared, "a.md")
    running.result()

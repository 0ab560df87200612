"""Worker processes with limits: they run functions that compute for long, or may crash.

What runs in one holds no lock of the process that asks. A worker that crashes, or takes more memory
or time than it may, is ended and replaced, and costs its own task alone. Workers start when they
are needed, stay while there is work, and end with the process that started them.
"""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar

from evidentia.jobs.tasks import Limits, Task
from evidentia.loading.reader import MAX_ADDRESSES, MAX_MEMORY
from evidentia.loading.workers import Workers, cores

WORKER: Final = "evidentia.jobs.worker"
JUDGING_MEMORY: Final = 3 * 2**30
"""What a worker that judges may hold: the model, and what it remembers of libraries."""
IDLE_SECONDS: Final = 300.0
"""How long a worker is kept that has nothing to do: loading the model takes a second or two."""
WAITING_FOR_EACH: Final = 16
"""How many tasks may wait for each worker."""
_Result = TypeVar("_Result")


class TaskWorkers:
    """Workers that run functions, so many at once; threads may share it. Keeps `Apart`.

    A function is found in a worker by its module and name; it and its arguments come from us. What
    it returns is read as data, since it may have read a hostile file: built-in values, frozen
    values of ours, errors of ours.
    """

    def __init__(
        self,
        count: int,
        limits: Limits,
        *,
        most_waiting: int | None = None,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self.count = count
        self._workers = Workers(
            WORKER,
            count,
            first=limits,
            idle_seconds=idle_seconds,
            most_waiting=WAITING_FOR_EACH * count if most_waiting is None else most_waiting,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self, function: Callable[..., _Result], *arguments: Any, seconds: float = 60.0
    ) -> _Result:
        """Run a function in a worker and return what it returns, or raise what it raises.

        `WorkerEndedError` says that its worker crashed, or needed more memory or time than it may;
        `BusyError` that too much waits already.
        """
        found: _Result = self.submit(function, *arguments, seconds=seconds).result()
        return found

    def submit(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        seconds: float = 60.0,
        patient: bool = False,
    ) -> Future[Any]:
        """Begin to run a function; what is returned waits for it, as `run` does.

        The seconds count from when a worker begins with it. `patient` lets it wait also where too
        much waits already: for what goes on with something that was let in.
        """
        return self._workers.submit(Task(function, arguments), seconds=seconds, patient=patient)

    def close(self) -> None:
        """End all workers, whatever they do."""
        self._workers.close()


@dataclass(frozen=True, slots=True)
class Processes:
    """The workers of a process that serves others: some that judge, and some that read files.

    They are apart since those that judge know how to open the database, and those that read are
    the ones that a hostile file might take over.
    """

    judging: TaskWorkers
    reading: TaskWorkers

    @classmethod
    def of(cls, count: int | None = None) -> Self:
        """Return as many of each as there are cores, or as given; none has started yet."""
        each = count or cores()
        return cls(
            TaskWorkers(each, Limits(JUDGING_MEMORY)),
            TaskWorkers(each, Limits(MAX_MEMORY, MAX_ADDRESSES)),
        )

    def close(self) -> None:
        """End all workers."""
        self.judging.close()
        self.reading.close()

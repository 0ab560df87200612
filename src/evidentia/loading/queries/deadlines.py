"""Deadlines for what a database does, which cannot be stopped from its own thread."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import TIMEOUT_MAX, Timer
from time import monotonic

from evidentia.errors import InputError
from evidentia.language.counting import agreed


class Deadline:
    """A moment after which nothing more is waited for; `name` is what takes so long."""

    def __init__(self, name: str, seconds: float) -> None:
        self._name, self._seconds = name, seconds
        self._end = monotonic() + seconds

    @property
    def is_over(self) -> bool:
        """Whether the moment has passed."""
        return monotonic() >= self._end

    def check(self) -> None:
        """Raise `InputError` if the moment has passed."""
        if self.is_over:
            raise InputError(
                f"{self._name} took longer than {self._seconds:g} "
                f"{agreed(self._seconds, 'second', 'seconds')}: narrow the query"
            )


@contextmanager
def deadline(name: str, seconds: float, interrupt: Callable[[], object]) -> Iterator[Deadline]:
    """Call `interrupt`, from another thread, if the block takes longer.

    Whatever the block raises after that moment is raised as the `InputError` of being too late.
    """
    clock = Deadline(name, seconds)
    timer = Timer(min(seconds, TIMEOUT_MAX), interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield clock
    except Exception:
        clock.check()
        raise
    finally:
        timer.cancel()
        timer.join()

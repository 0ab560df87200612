"""What a worker that runs functions is told: its limits first, then one task after the other."""

import contextlib
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from evidentia.loading.workers import OUT_OF_MEMORY


class Limits(NamedTuple):
    """How many bytes a worker may hold, and how many it may address."""

    memory: int
    addresses: int | None = None

    def take_effect(self) -> None:
        """Let the system refuse more, where it can."""
        with contextlib.suppress(ImportError, ValueError, OSError):
            import resource  # noqa: PLC0415 - not on every system

            for limit, most in (
                (resource.RLIMIT_CORE, 0),  # what a crash leaves has what it read
                (resource.RLIMIT_DATA, self.memory),
                (resource.RLIMIT_AS, self.addresses),
            ):
                if most is not None:
                    _, hard = resource.getrlimit(limit)
                    resource.setrlimit(limit, (most, hard))


class Task(NamedTuple):
    """A function to run, and what it is given."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def answer(question: Limits | Task) -> Any:
    """Run a function, once the limits are known."""
    if isinstance(question, Limits):
        return question.take_effect()
    try:
        return question.function(*question.arguments)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)  # what it still holds of its task goes with it

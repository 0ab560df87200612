"""What a worker that checks answers is told first, and how it gets ready, once for all answers."""

import pickle
import sys
from typing import Final, NamedTuple

from evidentia.errors import InputError
from evidentia.workspace.checking import Answered, Asked, Checker, Failed
from evidentia.workspace.reopening import Reopening

WORKER: Final = "evidentia.workspace.checker"


class Setup(NamedTuple):
    """What a worker is told first: the workspace, and how to check, as bytes.

    The bytes hold judges of the caller's own, whose modules are found by `path`.
    """

    workspace: Reopening
    how: bytes
    path: tuple[str, ...]


class Worker:
    """Answers what it is asked, once it was told where and how."""

    def __init__(self) -> None:
        self._checker: Checker | None = None

    def __call__(self, question: Setup | Asked) -> Answered | Failed | None:
        """Get ready, or check an answer."""
        if isinstance(question, Setup):
            self._checker = _prepared(question)
            return None
        if self._checker is None:
            raise InputError("a checker is told where and how to check first")
        return self._checker.check(question)


def _prepared(setup: Setup) -> Checker:
    from evidentia.judges.threads import limit_threads  # noqa: PLC0415 - checking alone needs it

    limit_threads(1)  # as many workers as cores: more threads would only wait for each other
    sys.path[:] = setup.path
    try:
        how = pickle.loads(setup.how)  # noqa: S301 - our own process at the other end
    except Exception as error:
        raise InputError(
            f"the judges cannot be made in a worker process ({type(error).__name__}: {error}): put "
            "the classes of your own into a module that can be imported, or check with workers=0"
        ) from error
    return Checker(setup.workspace.open(), how)

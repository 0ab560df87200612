"""What a worker process that checks answers is told, and how it gets ready, once for all answers.

It opens the workspace and loads what judges need. Each check is the ordinary one, in the same
user's name, and it is recorded there: judging and recording go on beside each other, and what is
recorded is safe whatever becomes of the process that asked.
"""

import pickle
from collections.abc import Callable
from typing import NamedTuple

from evidentia.errors import InputError
from evidentia.workspace.checking import Answered, Asked, Checker, Failed
from evidentia.workspace.reopening import Reopening


class Setup(NamedTuple):
    """What a worker is told: the workspace, and how to check, as bytes.

    The bytes hold judges of the caller's own.
    """

    workspace: Reopening
    how: bytes


def checking(setup: Setup) -> Callable[[Asked], Answered | Failed]:
    """Get ready to check, once for all answers."""
    from evidentia.judges.threads import limit_threads  # noqa: PLC0415 - checking alone needs it

    limit_threads(1)  # as many workers as cores: more threads would only wait for each other
    try:
        how = pickle.loads(setup.how)  # noqa: S301 - our own process at the other end
    except Exception as error:
        raise InputError(
            f"the judges cannot be made in a worker process ({type(error).__name__}: {error}): put "
            "the classes of your own into a module that can be imported, or check with workers=0"
        ) from error
    return Checker(setup.workspace.open(), how).check

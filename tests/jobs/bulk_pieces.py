"""What workers do in the tests of bulk work; they find it by its module's name."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evidentia.errors import InputError


def doubling(told: Any) -> Callable[[Any], Any]:
    """Get ready to double numbers; note in a file that one got ready."""
    if told == "refuse":
        raise InputError("it does not get ready")
    if told == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if isinstance(told, Path):
        with told.open("a") as notes:
            notes.write(f"{os.getpid()}\n")

    def do(piece: Any) -> Any:
        match piece:
            case ("poison", _):
                os.kill(os.getpid(), signal.SIGKILL)
            case ("once", mark):
                try:
                    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    return "went on"
                os.kill(os.getpid(), signal.SIGKILL)
            case ("wrong", _):
                raise InputError("it is wrong")
            case ("crash", _):
                raise RuntimeError("no error of ours")
            case ("environment", _):
                return sorted(name for name in os.environ if name.startswith("EVIDENTIA"))
            case ("stranger", _):
                return Stranger()
            case ("slow", mark):
                Path(mark).write_text(str(os.getpid()))
                time.sleep(600)
        return piece * 2

    return do


class Stranger:
    """No class of ours: an answer must not have one."""

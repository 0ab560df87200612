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
        return _TROUBLE[piece[0]](piece[1]) if isinstance(piece, tuple) else piece * 2

    return do


def _die(_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _die_once(mark: str) -> str:
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return "went on"
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


def _go_wrong(_: Any) -> None:
    raise InputError("it is wrong")


def _crash(_: Any) -> None:
    raise RuntimeError("no error of ours")


def _settings(_: Any) -> list[str]:
    return sorted(name for name in os.environ if name.startswith("EVIDENTIA"))


def _take_long(mark: str) -> None:
    Path(mark).write_text(str(os.getpid()))
    time.sleep(600)


class Stranger:
    """No class of ours: an answer must not have one."""


_TROUBLE: dict[str, Callable[[Any], Any]] = {
    "poison": _die,
    "once": _die_once,
    "wrong": _go_wrong,
    "crash": _crash,
    "environment": _settings,
    "stranger": lambda _: Stranger(),
    "slow": _take_long,
}

"""Pieces of bulk work: what a worker is told once, what it does, and worker processes that do so.

Whoever has something done in pieces names a function that gets a worker ready, and what that is
told; it is all the same to it whether the workers are processes here or a cluster's.
"""

import pickle
import sys
from collections.abc import Callable, Generator, Iterable
from typing import Any, Final, NamedTuple

from evidentia.errors import InputError
from evidentia.loading.workers import Bulk, Done, Workers, cores

WORKER: Final = "evidentia.loading.piece_worker"
Ready = Callable[[Any], Callable[[Any], Any]]


class Told(NamedTuple):
    """What a worker is told first: the function that gets it ready, and what that is told.

    Both as bytes, since they may be of modules of the caller's own, which are found by `path`.
    """

    how: bytes
    path: tuple[str, ...]


def told(ready: Ready, what: Any, *, path: Iterable[str] = ()) -> Told:
    """Return what workers are told; raise `InputError` for what cannot go to another process."""
    try:
        return Told(pickle.dumps((ready, what)), tuple(path))
    except Exception as error:
        raise InputError(
            f"this cannot be handed to other processes ({type(error).__name__}: {error}): do it "
            "in this one, with workers=0"
        ) from error


class PieceWorker:
    """Does pieces, once it was told how."""

    def __init__(self) -> None:
        self._do: Callable[[Any], Any] | None = None

    def __call__(self, asked: Any) -> Any:
        """Get ready, or do a piece."""
        if isinstance(asked, Told):
            self._do = _ready(asked)
            return None
        if self._do is None:
            raise InputError("a worker is told what to do first")
        return self._do(asked)


def _ready(asked: Told) -> Callable[[Any], Any]:
    sys.path[:] = [*sys.path, *(one for one in asked.path if one not in sys.path)]
    try:
        ready, what = pickle.loads(asked.how)  # noqa: S301 - our own process at the other end
    except Exception as error:
        raise InputError(
            f"what is needed cannot be made in a worker ({type(error).__name__}: {error}): put "
            "the classes of your own into a module that can be imported there"
        ) from error
    found: Callable[[Any], Any] = ready(what)
    return found


class ByProcesses(Bulk):
    """Worker processes on this machine, which are there while there is work."""

    is_elsewhere = False

    def __init__(self, count: int | None = None) -> None:
        self._count = count or cores()

    def size(self) -> int:
        """Return how many pieces are done at once."""
        return self._count

    def run(
        self, ready: Ready, what: Any, pieces: Iterable[Any], *, most: int | None = None
    ) -> Generator[Done, None, None]:
        """Have pieces done, each once at least; give each when it is done."""
        count = min(self._count, most or self._count)
        with Workers(WORKER, count, first=told(ready, what, path=sys.path)) as workers:
            yield from workers.run(pieces)

    def close(self) -> None:
        """Do nothing: none is there without work."""


def in_order(done: Iterable[Done], number: Callable[[Any], int]) -> Generator[Done, None, None]:
    """Give what is done in the order of the pieces, whose numbers begin with 0."""
    early: dict[int, Done] = {}
    following = 0
    for one in done:
        early[number(one.question)] = one
        while following in early:
            yield early.pop(following)
            following += 1

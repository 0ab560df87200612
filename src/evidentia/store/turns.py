"""Taking turns: a lock between processes that serves them in the order they came.

SQLite's own busy handler lets writers starve each other. Here every writer draws a number and
waits for the one before it. The waiting is done by the kernel on byte-range locks, which it
releases when a process dies, so a killed writer never blocks the others:

* byte 0 guards the counter for the moment it takes to draw a number;
* byte `_TICKETS + n` is held by whoever drew n, and waited for by whoever drew n + 1;
* byte 1 is held by whoever's turn it is. It keeps turns exclusive even if someone in the middle of
  the queue dies, which lets the next in line move up early.
"""

import os
import struct
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from evidentia.errors import EnvironmentProblem

try:
    import fcntl

    _SET_AND_WAIT: int | None = fcntl.F_OFD_SETLKW
except (ImportError, AttributeError):  # locks that belong to an open file are Linux's own
    _SET_AND_WAIT = None

_COUNTER: Final = 0
_TURN: Final = 1
_TICKETS: Final = 1 << 20
_NUMBERS: Final = 1 << 40
_COUNTER_BYTES: Final = 8


def _asked(kind: int, byte: int) -> bytes:
    """Return what the system is asked about one byte of a file."""
    return struct.pack("hhqqi0q", kind, os.SEEK_SET, byte, 1, 0)


if _SET_AND_WAIT is not None:
    _TAKE_TURN, _END_TURN = _asked(fcntl.F_WRLCK, _TURN), _asked(fcntl.F_UNLCK, _TURN)

_locks: "weakref.WeakSet[FairLock]" = weakref.WeakSet()


class FairLock:
    """A lock on a file, taken in order of arrival by threads and processes alike.

    Where the system has no such locks it does nothing, and the database's own waiting remains.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = threading.Lock()
        self._file = -1
        _locks.add(self)

    @property
    def is_open(self) -> bool:
        """Whether the file is open, as it is from the first turn on."""
        return self._file >= 0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for our turn, and hold it for the length of the `with` block."""
        if _SET_AND_WAIT is None:
            yield
            return
        with self._threads:
            if self._file < 0:
                self._file = self._open()
            with self._explained():
                holder, ticket = os.getpid(), self._draw()
            try:
                with self._explained():
                    self._wait(ticket - 1)
                    self._lock(_TURN)
                yield
            finally:
                if os.getpid() == holder:  # a child forked meanwhile must not end our turn
                    self._unlock(_TURN)
                    self._unlock(_TICKETS + ticket)

    @contextmanager
    def moment(self) -> Iterator[None]:
        """Hold the lock like a turn, but without standing in line: for what takes microseconds."""
        if _SET_AND_WAIT is None:
            yield
            return
        with self._threads:
            if self._file < 0:
                self._file = self._open()
            holder = os.getpid()
            try:
                fcntl.fcntl(self._file, _SET_AND_WAIT, _TAKE_TURN)
            except OSError as error:
                raise self._problem(error) from error
            try:
                yield
            finally:
                if os.getpid() == holder:
                    fcntl.fcntl(self._file, _SET_AND_WAIT, _END_TURN)

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Wait for whoever has the lock, and keep others from it meanwhile; any number may look.

        Nothing is made or changed for it: where there is no file to lock, no one has written yet.
        """
        file = -1
        if _SET_AND_WAIT is not None:
            with suppress(OSError):
                file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if file >= 0:
                with self._explained():
                    _set(file, fcntl.F_RDLCK, _TURN)
            yield
        finally:
            if file >= 0:
                _set(file, fcntl.F_UNLCK, _TURN)  # a child forked meanwhile has the file, too
                os.close(file)

    def close(self) -> None:
        """Close the file; a later turn opens it again."""
        with self._threads:
            if self._file >= 0:
                os.close(self._file)
            self._file = -1

    def after_fork(self) -> None:
        """Let go of the open file in a child: its locks are the parent's, and would outlive it."""
        self._threads = threading.Lock()
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def _open(self) -> int:
        with self._explained():
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._problem(error) from error

    def _problem(self, error: OSError) -> EnvironmentProblem:
        why = error.strerror
        return EnvironmentProblem(f"{self._path}: cannot be used to take turns at writing ({why})")

    def _draw(self) -> int:
        self._lock(_COUNTER)
        try:
            data = os.pread(self._file, _COUNTER_BYTES, 0)
            ticket = int.from_bytes(data, "big") % _NUMBERS + 1
            os.pwrite(self._file, ticket.to_bytes(_COUNTER_BYTES, "big"), 0)
            self._lock(_TICKETS + ticket)
        finally:
            self._unlock(_COUNTER)
        return ticket

    def _wait(self, ticket: int) -> None:
        self._lock(_TICKETS + ticket)
        self._unlock(_TICKETS + ticket)

    def _lock(self, byte: int) -> None:
        _set(self._file, fcntl.F_WRLCK, byte)

    def _unlock(self, byte: int) -> None:
        _set(self._file, fcntl.F_UNLCK, byte)


def _set(file: int, kind: int, byte: int) -> None:
    assert _SET_AND_WAIT is not None  # noqa: S101 - narrows the type; callers have checked
    fcntl.fcntl(file, _SET_AND_WAIT, _asked(kind, byte))


def _after_fork() -> None:
    for lock in list(_locks):
        lock.after_fork()


if _SET_AND_WAIT is not None:
    os.register_at_fork(after_in_child=_after_fork)

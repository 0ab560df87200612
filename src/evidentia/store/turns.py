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
from collections.abc import Iterator
from contextlib import contextmanager
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


class FairLock:
    """A lock on a file, taken in order of arrival by threads and processes alike.

    Where the system has no such locks it does nothing, and the database's own waiting remains.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = threading.Lock()
        self._file = -1
        self._pid = 0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for our turn, and hold it for the length of the `with` block."""
        if _SET_AND_WAIT is None:
            yield
            return
        if self._pid != os.getpid():
            self._reopen()
        with self._threads:
            ticket = self._draw()
            try:
                self._wait(ticket - 1)
                self._lock(_TURN)
                yield
            finally:
                self._unlock(_TURN)
                self._unlock(_TICKETS + ticket)

    def close(self) -> None:
        """Close the file; a later turn opens it again."""
        if self._file >= 0 and self._pid == os.getpid():
            os.close(self._file)
        self._file, self._pid = -1, 0

    def _reopen(self) -> None:
        """Open the file for this process: an open file inherited from a parent shares its locks."""
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise EnvironmentProblem(
                f"{self._path}: cannot be opened to take turns at writing ({error.strerror})"
            ) from None
        self._threads = threading.Lock()
        self._pid = os.getpid()

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
        self._set(fcntl.F_WRLCK, byte)

    def _unlock(self, byte: int) -> None:
        self._set(fcntl.F_UNLCK, byte)

    def _set(self, kind: int, byte: int) -> None:
        assert _SET_AND_WAIT is not None  # noqa: S101 - narrows the type; `turn` has checked
        fcntl.fcntl(
            self._file, _SET_AND_WAIT, struct.pack("hhqqi0q", kind, os.SEEK_SET, byte, 1, 0)
        )

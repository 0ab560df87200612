"""Seeing at once whether an SQLite database was changed, by whatever thread or process."""

import threading
from types import ModuleType
from typing import Any


class Changes:
    """A connection of its own that only looks; threads may share it, and none ever waits.

    It is closed before a process forks, and opened again when it is asked.
    """

    def __init__(self, module: ModuleType, uri: str) -> None:
        self._module = module
        self._uri = uri
        self._lock = threading.Lock()
        self._connection: Any = None
        self._opened = 0

    def state(self) -> tuple[int, int] | None:
        """Return what is another value once anyone has committed a change; None if it is unknown.

        What was committed before this is called is seen.
        """
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._open()
                    self._opened += 1  # numbers of another connection say nothing
                (number,) = self._connection.execute("PRAGMA data_version").fetchone()
            except self._module.Error:  # someone recovers the file right now: it is not waited for
                return None
            return self._opened, number

    def close(self) -> None:
        """Close the connection, until the next question."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> Any:
        return self._module.connect(
            f"{self._uri}?mode=ro",
            uri=True,
            timeout=0,
            isolation_level=None,
            check_same_thread=False,
        )

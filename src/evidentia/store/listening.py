"""What a process has with PostgreSQL outside of transactions: it listens, and it keeps a turn."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from evidentia.errors import EvidentiaError
from evidentia.logs import get_logger
from evidentia.store.database import Database, Transactions, keep_turn
from evidentia.store.hearing import said_at

_AGAIN_SECONDS: Final = 0.5
"""After what time a lost connection is made again. Nothing depends on it but how fast all is."""
_READY_SECONDS: Final = 2.0
_LOST_SECONDS: Final = 0.9
"""After what time a turn is lost in which nothing is asked."""
_log = get_logger("store")


@contextmanager
def kept_turn(database: Database, name: str, within: float) -> Iterator[Transactions | None]:
    """Keep a turn over many transactions; give what begins them. None if another has it.

    The turn goes with the connection of these: at once where the process dies, after a second where
    it is stopped between two of them, and after the seconds `within` where it is in the midst of
    one. In a transaction that takes long, PostgreSQL is at work, and the turn stays.
    """
    with database.keeping() as begin:
        with begin() as connection:
            has_it = keep_turn(connection, name, _LOST_SECONDS, within)
        yield begin if has_it else None


class Listener:
    """Calls `tell` with what is said on a channel; `tell(None)` after a break."""

    def __init__(
        self, database: Database, channel: str, tell: Callable[[str | None], None]
    ) -> None:
        self._database = database
        self._channel = channel
        self._tell = tell
        self._listens = threading.Event()
        self._stopped = False
        self._read, self._write = os.pipe()
        self._thread = threading.Thread(target=self._run, name="evidentia-receipts", daemon=True)
        self._thread.start()
        self._listens.wait(_READY_SECONDS)

    def stop(self) -> None:
        """End the thread."""
        if not self._stopped:
            self._stopped = True
            os.write(self._write, b".")
            self._thread.join()
            os.close(self._read)
            os.close(self._write)

    def _run(self) -> None:
        while not self._stopped:
            try:
                with self._database.apart() as connection:
                    connection.execute(f"LISTEN {self._channel}")
                    self._listens.set()
                    self._tell(None)
                    self._follow(connection)
            except (EvidentiaError, OSError) as error:
                if not self._stopped:
                    _log.warning("receipts_not_heard", reason=str(error))
                    said_at([self._read], _AGAIN_SECONDS)

    def _follow(self, connection: Any) -> None:
        while not self._stopped:
            if self._read in said_at([connection.fileno(), self._read], None):
                return
            for told in connection.notifies(timeout=0):
                with suppress(EvidentiaError):  # who waits looks for it, some time later
                    self._tell(told.payload)

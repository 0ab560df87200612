"""What a process has with PostgreSQL outside of transactions: it listens, and it keeps a turn."""

import os
import select
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from evidentia.errors import EvidentiaError
from evidentia.logs import get_logger
from evidentia.store.database import Database

_AGAIN_SECONDS: Final = 0.5
"""After what time a lost connection is made again. Nothing depends on it but how fast all is."""
_READY_SECONDS: Final = 2.0
_RENEW_SECONDS: Final = 0.25
_LOST_SECONDS: Final = 0.9
"""After what time a turn is lost that is not renewed."""
_log = get_logger("store")


@contextmanager
def kept_turn(database: Database, name: str) -> Iterator["Callable[[], None] | None"]:
    """Keep a turn over many transactions; give what shows, every second, that it is still wanted.

    None if another has it. A process that is stopped, or cut off, loses it after some seconds.
    """
    with database.apart() as connection:
        connection.execute(
            "SELECT set_config('idle_session_timeout', %s, false)", (f"{_LOST_SECONDS:g}s",)
        )
        sql = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
        if not connection.execute(sql, (name,)).fetchone()[0]:
            yield None
            return
        renewed = time.monotonic()

        def renew() -> None:
            nonlocal renewed
            if time.monotonic() - renewed > _RENEW_SECONDS:
                connection.execute("SELECT 1")
                renewed = time.monotonic()

        yield renew


class Listener:
    """Calls `tell` with the tickets that are named on a channel; `tell(None)` after a break."""

    def __init__(
        self, database: Database, channel: str, tell: Callable[[Sequence[str] | None], None]
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
                    select.select([self._read], [], [], _AGAIN_SECONDS)

    def _follow(self, connection: Any) -> None:
        while not self._stopped:
            ready, _, _ = select.select([connection.fileno(), self._read], [], [])
            if self._read in ready:
                return
            for told in connection.notifies(timeout=0):
                with suppress(EvidentiaError):  # who waits looks for it, some time later
                    self._tell(told.payload.split(","))

"""Files that are being made for download: a few at once, kept for a while when they are done.

What is made follows from the evidence, so it is lost without harm: whoever asks for it again has
it made again, by this server or another one.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

_MOST_KEPT: Final = 32


class Downloads:
    """Files by their names, made in threads of their own."""

    def __init__(self, threads: int = 2) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="evidentia-download")
        self._lock = threading.Lock()
        self._made: OrderedDict[str, Future[bytes]] = OrderedDict()

    def file(self, name: str, make: Callable[[], bytes]) -> bytes | None:
        """Return a file, or None while it is made: that begins now, unless it has begun.

        Raise what making it raised, once: the next one to ask has it tried again.
        """
        with self._lock:
            found = self._made.get(name)
            if found is None:
                found = self._made[name] = self._pool.submit(make)
            self._made.move_to_end(name)
            if found.done() and found.exception() is not None:
                del self._made[name]
            self._forget()
        return found.result() if found.done() else None

    def knows(self, name: str) -> bool:
        """Whether a file is here, or is being made."""
        with self._lock:
            return name in self._made

    def _forget(self) -> None:
        for name in [name for name, one in self._made.items() if one.done()][:-_MOST_KEPT]:
            del self._made[name]

    def close(self) -> None:
        """Wait for what is being made, and begin nothing more."""
        self._pool.shutdown(cancel_futures=True)

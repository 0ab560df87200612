"""Files that are being made for download: a few at once, kept for a while when they are done.

Those that cannot be made again are kept where the files of jobs are, so that every server of the
workspace finds them, also after this one has ended.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from evidentia.canonical import sha256_hex
from evidentia.store.job_files import JobFiles

_MOST_KEPT: Final = 32
_MAKING_SECONDS: Final = 300.0
"""How long another server is believed to be making a file."""


class Downloads:
    """Files by their names, which begin with their tenant's, made in threads of their own."""

    def __init__(self, files: JobFiles, threads: int = 2) -> None:
        self.threads = threads
        self._files = files
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="evidentia-download")
        self._lock = threading.Lock()
        self._made: OrderedDict[str, Future[bytes]] = OrderedDict()

    def file(self, name: str, make: Callable[[], bytes], *, remade: bool = False) -> bytes | None:
        """Return a file, or None while it is made: that begins now, unless it has begun.

        Raise what making it raised, once: the next one to ask has it tried again. One that can be
        `remade` at any time, as it follows from the evidence, is not kept on the disk.
        """
        with self._lock:
            found = self._made.get(name)
            if found is None and remade:
                found = self._made[name] = self._pool.submit(make)
            elif found is None:
                place = _place(name)
                kept = self._files.only(*place)
                if kept is not None or self._files.is_begun(*place, _MAKING_SECONDS):
                    return kept
                self._files.begin(*place)
                found = self._made[name] = self._pool.submit(self._kept, place, make)
            self._made.move_to_end(name)
            if found.done() and found.exception() is not None:
                del self._made[name]
            self._forget()
        return found.result() if found.done() else None

    def knows(self, name: str) -> bool:
        """Whether a file is there, or is being made, here or by another server."""
        with self._lock:
            if name in self._made:
                return True
        place = _place(name)
        is_begun = self._files.is_begun(*place, _MAKING_SECONDS)
        return is_begun or self._files.only(*place) is not None

    def _kept(self, place: tuple[str, str], make: Callable[[], bytes]) -> bytes:
        try:
            data = make()
        except BaseException:
            self._files.remove(*place)
            raise
        self._files.put(*place, data)
        return data

    def _forget(self) -> None:
        for name in [name for name, one in self._made.items() if one.done()][:-_MOST_KEPT]:
            del self._made[name]

    def close(self) -> None:
        """Wait for what is being made, and begin nothing more."""
        self._pool.shutdown(cancel_futures=True)


def _place(name: str) -> tuple[str, str]:
    """Return the tenant of a file, and what its place is called."""
    return name.partition("/")[0], f"file_{sha256_hex(name.encode())[:32]}"

"""Whether something was said at a socket or a pipe, however many files a process has open."""

import select
from collections.abc import Iterable


def said_at(files: Iterable[int], seconds: float | None) -> list[int]:
    """Return at which of some files something waits to be read; None waits until it does."""
    looking = select.poll()  # `select` knows numbers up to 1,023 alone
    for file in files:
        looking.register(file, select.POLLIN)
    return [file for file, _ in looking.poll(None if seconds is None else seconds * 1_000)]

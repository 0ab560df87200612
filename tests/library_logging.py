"""Logging as the library does it before an application or the command line configures it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from evidentia import logs


@contextmanager
def unconfigured_logging() -> Iterator[None]:
    """Forget any configuration for a while, and leave logging as it was."""
    logger = logging.getLogger("evidentia")
    level = logger.level
    before = logger.handlers[:], logger.propagate, logs._render[:]
    logger.handlers[:], logger.propagate, logs._render[:] = [], True, logs._PROCESSORS["text"]
    logger.setLevel(logging.NOTSET)
    try:
        yield
    finally:
        logger.handlers[:], logger.propagate, logs._render[:] = before
        logger.setLevel(level)

"""Logging as the library does it before an application or the command line configures it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from evidentia.logs import EventLogger


@contextmanager
def unconfigured_logging() -> Iterator[None]:
    """Forget any configuration for a while, and leave logging as it was."""
    logger = logging.getLogger("evidentia")
    level = logger.level
    before = logger.handlers[:], logger.propagate, EventLogger.format
    logger.handlers[:], logger.propagate, EventLogger.format = [], True, "text"
    logger.setLevel(logging.NOTSET)
    try:
        yield
    finally:
        logger.handlers[:], logger.propagate, EventLogger.format = before
        logger.setLevel(level)

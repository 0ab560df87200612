"""Structured logging: library code logs events with fields, and never prints.

Events go to Python's own `logging` under the name `evidentia`, so an application that configures
logging sees them among its own. The command line and the server call `configure`. What renders
events is loaded with the first one that somebody hears.
"""

import logging
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from structlog.typing import Processor

LogFormat = Literal["text", "json"]


class EventLogger:
    """Logs events with fields; one that nobody hears is not rendered."""

    format: LogFormat = "text"
    """How all events are written."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(f"evidentia.{name}")

    def is_heard(self, level: int) -> bool:
        """Whether somebody hears events of a level."""
        return self._logger.isEnabledFor(level)

    def debug(self, event: str, **fields: Any) -> None:
        """Log what only a developer wants to know."""
        self._log(logging.DEBUG, "debug", event, fields)

    def info(self, event: str, **fields: Any) -> None:
        """Log what was done."""
        self._log(logging.INFO, "info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        """Log what may need somebody's attention."""
        self._log(logging.WARNING, "warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        """Log what went wrong."""
        self._log(logging.ERROR, "error", event, fields)

    def _log(self, level: int, name: str, event: str, fields: dict[str, Any]) -> None:
        if self._logger.isEnabledFor(level):
            rendered: Any = {"event": event, **fields}
            for processor in _processors(EventLogger.format):
                rendered = processor(self._logger, name, rendered)
            self._logger.log(level, "%s", rendered, stacklevel=3)


def get_logger(name: str) -> EventLogger:
    """Return a structured logger that writes through `logging`."""
    return EventLogger(name)


def configure(level: str = "warning", log_format: LogFormat = "text") -> None:
    """Send Evidentia's events to standard error, as text or as one JSON object a line."""
    EventLogger.format = log_format
    handler = logging.StreamHandler(sys.stderr)
    pattern = "%(levelname)s %(message)s" if log_format == "text" else "%(message)s"
    handler.setFormatter(logging.Formatter(pattern))
    logger = logging.getLogger("evidentia")
    logger.handlers[:] = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False


@cache
def _processors(log_format: LogFormat) -> "tuple[Processor, ...]":
    import structlog  # noqa: PLC0415 - slow to import, and most events are not heard

    if log_format == "text":
        return (structlog.processors.LogfmtRenderer(key_order=["event"]),)
    return (
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.JSONRenderer(),
    )

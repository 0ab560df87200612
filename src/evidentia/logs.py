"""Structured logging: library code logs events with fields, and never prints.

Events go to Python's own `logging` under the name `evidentia`, so an application that configures
logging sees them among its own. The command line and the server call `configure`.
"""

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import Any, Literal

LogFormat = Literal["text", "json"]
_PLAIN = re.compile(r'[^\s="\\]+')


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
        self._log(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: Any) -> None:
        """Log what was done."""
        self._log(logging.INFO, event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        """Log what may need somebody's attention."""
        self._log(logging.WARNING, event, fields)

    def error(self, event: str, **fields: Any) -> None:
        """Log what went wrong."""
        self._log(logging.ERROR, event, fields)

    def _log(self, level: int, event: str, fields: dict[str, Any]) -> None:
        if self._logger.isEnabledFor(level):
            said = {"event": event, **fields}
            if EventLogger.format == "json":
                said |= {
                    "level": logging.getLevelName(level).lower(),
                    "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z"),  # noqa: TID251 - when it was logged
                }
                rendered = json.dumps(said, default=str)
            else:
                rendered = " ".join(f"{name}={_text(value)}" for name, value in said.items())
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


def _text(value: object) -> str:
    """Return a value as logfmt writes it: in quotes where it would not end with its last letter."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = "" if value is None else str(value)
    return text if not text or _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)

"""Structured logging: library code logs events with fields, and never prints.

Events go to Python's own `logging` under the name `evidentia`, so an application that configures
logging sees them among its own. The command line and the server call `configure`.
"""

import logging
import sys
from typing import Literal, cast

import structlog

LogFormat = Literal["text", "json"]

_PROCESSORS: dict[LogFormat, list[structlog.typing.Processor]] = {
    "text": [structlog.processors.LogfmtRenderer(key_order=["event"])],
    "json": [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.JSONRenderer(),
    ],
}
_render: list[structlog.typing.Processor] = list(_PROCESSORS["text"])


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """Return a structured logger that writes through `logging`, whatever the global set-up is."""
    return cast(
        "structlog.stdlib.BoundLogger",
        structlog.wrap_logger(
            logging.getLogger(f"evidentia.{name}"),
            processors=[structlog.stdlib.filter_by_level, _render_event],
            wrapper_class=structlog.stdlib.BoundLogger,
        ).bind(),  # once, and not again for each event
    )


def configure(level: str = "warning", log_format: LogFormat = "text") -> None:
    """Send Evidentia's events to standard error, as text or as one JSON object a line."""
    _render[:] = _PROCESSORS[log_format]
    handler = logging.StreamHandler(sys.stderr)
    pattern = "%(levelname)s %(message)s" if log_format == "text" else "%(message)s"
    handler.setFormatter(logging.Formatter(pattern))
    logger = logging.getLogger("evidentia")
    logger.handlers[:] = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False


def _render_event(
    logger: structlog.typing.WrappedLogger, method: str, event: structlog.typing.EventDict
) -> structlog.typing.ProcessorReturnValue:
    rendered: structlog.typing.ProcessorReturnValue = event
    for processor in _render:
        rendered = processor(logger, method, cast("structlog.typing.EventDict", rendered))
    return rendered

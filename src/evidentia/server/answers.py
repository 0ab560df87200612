"""Answers as JSON, written by orjson."""

from typing import Any

import orjson
from starlette.responses import Response


class JSONAnswer(Response):
    """JSON of plain values, which are not looked at again."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the bytes."""
        return orjson.dumps(content)

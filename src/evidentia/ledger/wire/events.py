"""Server-sent events: a stream of them cut into whole ones, and what they carry.

The pieces joined are what came in, byte for byte. A client can do nothing with half an event, so
none waits for what it could have used.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, AnyStr, Final, Generic

LARGEST_EVENT: Final = 4 * 2**20
"""How long an event without an end may be, before it is passed on as it is."""
DONE: Final = "[DONE]"
_LINE: Final = r"(?>\r\n|\n|\r)"
_END_OF_TEXT: Final = re.compile(_LINE + _LINE)
_END_OF_BYTES: Final = re.compile((_LINE + _LINE).encode())
_LINES: Final = re.compile(_LINE)
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


class EventCutter(Generic[AnyStr]):
    """Cuts a stream into whole events, wherever its pieces begin and end."""

    def __init__(self, nothing: AnyStr) -> None:
        self._nothing: AnyStr = nothing
        self._rest: AnyStr = nothing
        self._end: re.Pattern[AnyStr] = _END_OF_TEXT if isinstance(nothing, str) else _END_OF_BYTES

    def cut(self, piece: AnyStr) -> Iterator[AnyStr]:
        """Give the events that a piece completes; what is left waits for the next."""
        text, at = self._rest + piece, 0
        # an end may have begun in what is left, by three characters at most
        look = max(0, len(self._rest) - 3)
        while found := self._end.search(text, max(at, look)):
            yield text[at : found.end()]
            at = found.end()
        self._rest = text[at:]
        if len(self._rest) > LARGEST_EVENT:
            yield self.rest()

    def rest(self) -> AnyStr:
        """Return what came after the last whole event, at the stream's end."""
        rest, self._rest = self._rest, self._nothing
        return rest


def event_data(event: str | bytes) -> Any:
    """Return the JSON that an event carries; `[DONE]` as it is, None for anything else."""
    text = event.decode("utf-8", "replace") if isinstance(event, bytes) else event
    if "\n" not in text.rstrip("\r\n") and text.startswith("data:"):
        data = text[5:].strip()
    else:
        lines = _LINES.split(text.removeprefix("\ufeff"))
        data = "\n".join(line[5:].strip() for line in lines if line.startswith("data:"))
    if data == DONE:
        return DONE
    if not data:
        return None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def as_event(fields: Mapping[str, Any], name: str | None = None) -> str:
    r"""Return an event of one line; `name` is its type, where a protocol names events.

    >>> as_event({"a": 1}, "x")
    'event: x\ndata: {"a":1}\n\n'
    """
    said = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    data = f"data: {_SURROGATES.sub(chr(0xFFFD), said)}\n\n"
    return data if name is None else f"event: {name}\n{data}"


def whole_characters(text: str) -> str:
    """Join surrogate pairs whose halves came in two deltas; a half alone becomes U+FFFD."""
    if _SURROGATES.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

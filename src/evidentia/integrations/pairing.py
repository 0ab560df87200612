"""Which call of a model a tool carries out, where the framework's callback doesn't say."""

from threading import Lock
from typing import Any

import orjson

from evidentia.integrations.copying import copied
from evidentia.integrations.recording import asked_for


class AskedCalls:
    """The calls that a model asked for and that no tool has begun: first asked, first begun."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: list[tuple[str, str, Any]] = []

    def heard(self, response: Any) -> None:
        """Take note of the calls in a response, as `recording.asked_for` reads it."""
        found = [
            (call_id, name, _plain(arguments))
            for call_id, name, arguments in asked_for(orjson.loads(copied(response)))
        ]
        with self._lock:
            self._waiting += found

    def begun(self, name: str, arguments: Any) -> str | None:
        """Return the id of the call that a tool begins, by its name and arguments, once.

        Arguments that a tool has read and completed may differ from those that were asked for:
        then it is the first of that name.
        """
        plain = _plain(arguments)
        with self._lock:
            named = [one for one in self._waiting if one[1] == name]
            if not named:
                return None
            same = next((one for one in named if one[2] == plain), named[0])
            self._waiting.remove(same)
        return same[0]


def _plain(arguments: Any) -> Any:
    if isinstance(arguments, str):
        try:
            return orjson.loads(arguments)
        except ValueError:
            return arguments
    return orjson.loads(copied(arguments or {}))

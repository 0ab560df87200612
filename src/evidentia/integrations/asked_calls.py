"""Which call of a tool a model asked for, where a framework doesn't say so as the tool is called.

A framework tells of the tool's name and arguments; the model's reply has them with an id. So a
call that is made is the first of those that were asked for, and not made yet, that is like it.
"""

from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from evidentia.integrations.open_runs import OpenRun


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A call that a model asked for: its id, the tool, and the arguments as an object."""

    call_id: str
    name: str
    arguments: Any


@dataclass(slots=True)
class AskedCalls:
    """The calls that models asked for in open runs, and that were not made yet."""

    _of: WeakKeyDictionary[OpenRun, list[AskedCall]] = field(default_factory=WeakKeyDictionary)
    _lock: Lock = field(default_factory=Lock)

    def ask(self, run: OpenRun, calls: list[AskedCall]) -> None:
        """Note what a reply asks for."""
        with self._lock:
            self._of.setdefault(run, []).extend(calls)

    def made(self, run: OpenRun, name: str, arguments: Any) -> AskedCall | None:
        """Return the call that is made now: one with these arguments, else one of this tool."""
        with self._lock:
            waiting = self._of.get(run, [])
            of_tool = [one for one in waiting if one.name == name]
            found = next((one for one in of_tool if one.arguments == arguments), None)
            found = found or next(iter(of_tool), None)
            if found is not None:
                waiting.remove(found)
            return found

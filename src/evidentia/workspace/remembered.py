"""What a process remembers of what it read: so much of it, the most recently used."""

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Remembered(Generic[Key, Value]):
    """At most `most` values by their keys; threads may share one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        """Return a value and mark it as used; None if it is not remembered."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def forget(self, key: Key) -> None:
        """Forget a value, if it is remembered."""
        with self._lock:
            self._values.pop(key, None)

    def put(self, key: Key, value: Value) -> None:
        """Remember a value; the one that was not used for longest is forgotten for it."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._most:
                self._values.popitem(last=False)

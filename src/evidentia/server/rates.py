"""How often something may be done: so many times a minute, for each who asks."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from enum import StrEnum
from math import ceil
from typing import Final

_MOST_KNOWN: Final = 10_000
_MINUTE: Final = 60.0


class Limited(StrEnum):
    """What is limited."""

    SIGN_IN = "sign_in"
    CHECK = "check"
    EXPORT = "export"
    SPANS = "spans"
    REFUSED = "refused"


class Rates:
    """A bucket of tokens for each who asks, refilled as time passes; threads may share one.

    Of very many who ask, those that were not seen for longest begin anew.
    """

    def __init__(self, per_minute: Mapping[Limited, int], clock: Callable[[], float]) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._lock = threading.Lock()
        self._left: OrderedDict[tuple[Limited, str], tuple[float, float]] = OrderedDict()

    def take(self, what: Limited, who: str) -> int | None:
        """Count one; return None if it may be done, else after how many seconds it may."""
        most, now = self._per_minute[what], self._clock()
        with self._lock:
            left, since = self._left.pop((what, who), (float(most), now))
            left = min(most, left + (now - since) * most / _MINUTE)
            allowed = left >= 1
            self._left[what, who] = (left - 1 if allowed else left, now)
            if len(self._left) > _MOST_KNOWN:
                self._left.popitem(last=False)
        return None if allowed else max(1, ceil((1 - left) * _MINUTE / most))

"""What follows a log's growth: its newest checkpoint is brought to where it is kept elsewhere.

After the commit and beside it, so that nothing is waited for over a network while a log is held.
Of what grew meanwhile only the newest goes; what could not be brought is tried again.
"""

import os
import threading
import time
from collections.abc import Callable
from typing import Final

from evidentia.errors import EvidentiaError, IntegrityError, environment_problem
from evidentia.logs import get_logger
from evidentia.trail.checkpoint import Checkpoint

PACE_SECONDS: Final = 1.0
_LONGEST_SECONDS: Final = 30.0
_CLOSING_SECONDS: Final = 10.0
_AT_ONCE: Final = 8
_log = get_logger("store")

Newest = tuple[Checkpoint, str]


class Following:
    """Brings checkpoints by a function, `bring`, each log's at most once in `pace` seconds.

    Threads may share one; a forked process begins its own. A log of which `bring` raises
    `IntegrityError` is not followed any more, and `alarm` says why.
    """

    def __init__(
        self,
        bring: Callable[[Checkpoint, str], None],
        pace: float = PACE_SECONDS,
        closing: float = _CLOSING_SECONDS,
    ) -> None:
        self._bring, self._pace, self._patience = bring, pace, closing
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._changed = threading.Condition()
        self._waiting: dict[str, Newest] = {}
        self._under_way: set[str] = set()
        self._next: dict[str, float] = {}
        self._pause: dict[str, float] = {}
        self._alarms: dict[str, IntegrityError] = {}
        self._brought: dict[str, int] = {}
        self._thread: threading.Thread | None = None
        self._closing = False

    def grew(self, checkpoint: Checkpoint, note: str) -> None:
        """Have a log's newest checkpoint follow; returns at once."""
        if self._pid != os.getpid():
            self._begin()
        tenant = checkpoint.tenant
        with self._changed:
            if tenant in self._alarms or checkpoint.size <= self._brought.get(tenant, -1):
                return
            known = self._waiting.get(tenant)
            if known is None or known[0].size <= checkpoint.size:
                self._waiting[tenant] = checkpoint, note
            if self._thread is None:
                self._closing = False
                self._thread = threading.Thread(
                    target=self._follow, name="evidentia-checkpoints", daemon=True
                )
                self._thread.start()
            self._changed.notify_all()

    def alarm(self, tenant: str) -> IntegrityError | None:
        """Return why a log must not go on, if that was found."""
        return self._alarms.get(tenant)

    def close(self) -> None:
        """Bring what waits, if that is soon done."""
        if self._pid != os.getpid():
            return
        ends = time.monotonic() + self._patience
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            while (self._waiting or self._under_way) and time.monotonic() < ends:
                self._changed.wait(max(0.0, ends - time.monotonic()))
            left = sorted(self._waiting)
            self._waiting.clear()
        for tenant in left:
            _log.warning("checkpoint_left_behind", tenant=tenant)

    def _follow(self) -> None:
        with self._changed:
            while not self._closing or self._waiting or self._under_way:
                now = time.monotonic()
                free = [one for one in self._waiting if one not in self._under_way]
                due = [one for one in free if self._due(one) <= now]
                for tenant in due[: _AT_ONCE - len(self._under_way)]:
                    self._under_way.add(tenant)
                    threading.Thread(
                        target=self._one,
                        args=(tenant, *self._waiting.pop(tenant)),
                        name="evidentia-checkpoint",
                        daemon=True,  # a service that hangs must not keep a process from ending
                    ).start()
                soonest = min((self._due(one) for one in free if one not in due), default=None)
                self._changed.wait(None if soonest is None else max(0.0, soonest - now))
            self._thread = None

    def _due(self, tenant: str) -> float:
        """Return when a log is to be followed; at the end all are that did not just fail."""
        is_last = self._closing and tenant not in self._pause
        return 0.0 if is_last else self._next.get(tenant, 0.0)

    def _one(self, tenant: str, checkpoint: Checkpoint, note: str) -> None:
        failed: EvidentiaError | None = None
        try:
            self._bring(checkpoint, note)
        except EvidentiaError as error:
            failed = error
        except OSError as error:
            failed = environment_problem(error)
        except Exception as error:  # noqa: BLE001 - a thread that ends silently follows nothing
            failed = EvidentiaError(f"{type(error).__name__}: {error}")
        with self._changed:
            self._under_way.discard(tenant)
            now = time.monotonic()
            if failed is None:
                self._brought[tenant] = max(checkpoint.size, self._brought.get(tenant, -1))
                self._pause.pop(tenant, None)
                self._next[tenant] = now + self._pace
            elif isinstance(failed, IntegrityError):
                self._alarms[tenant] = failed
                self._waiting.pop(tenant, None)
            else:
                self._waiting.setdefault(tenant, (checkpoint, note))
                pause = min(2 * self._pause.get(tenant, self._pace / 2), _LONGEST_SECONDS)
                self._pause[tenant] = pause
                self._next[tenant] = now + pause
            self._changed.notify_all()
        if isinstance(failed, IntegrityError):
            _log.error("log_forked", tenant=tenant, size=checkpoint.size, reason=str(failed))
        elif failed is not None:
            _log.warning(
                "checkpoint_not_followed", tenant=tenant, size=checkpoint.size, reason=str(failed)
            )

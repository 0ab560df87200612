"""Closing traces on a server: whoever of its servers sees that one is due begins a job for it."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from evidentia.access.actions import Action
from evidentia.errors import EvidentiaError, UsageError
from evidentia.integrations.otel.gathering import later, parts
from evidentia.logs import get_logger
from evidentia.store.sql import across
from evidentia.store.sql import spans as rows
from evidentia.workspace.acting import OWNER, Asked
from evidentia.workspace.jobs import new_id

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from evidentia.workspace.opened import Opened

KEPT_SECONDS: Final = 24 * 3_600
"""How long spans are kept once they are recorded, to know what comes twice."""
_MOST: Final = 1_000
_LOOKS_SECONDS: Final = 1.0
_AGAIN_SECONDS: Final = 300
_TIDIED_SECONDS: Final = 600.0
_LONGEST: Final = 2_000
_log = get_logger("otel")


class Closer:
    """Begins jobs for traces that are due, in a thread; close it before what is opened."""

    def __init__(self, opened: "Opened", wake: Callable[[], None]) -> None:
        self._opened = opened
        self._wake = wake
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._tidied = 0.0

    def start(self) -> None:
        """Begin to look."""
        self._thread = threading.Thread(target=self._look, name="evidentia-traces", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop looking; what is due is closed by another server, or when this one starts again."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _look(self) -> None:
        said = ""
        while not self._stop.wait(_LOOKS_SECONDS):
            try:
                self.look_once()
                said = ""
            except UsageError:  # it was closed
                return
            except Exception as error:  # noqa: BLE001 - whatever it is: traces wait, and it is tried again
                if (now := f"{type(error).__name__}: {error}") != said:
                    said = now
                    _log.error("traces_waiting", reason=said)

    def look_once(self) -> int:
        """Begin jobs for all traces that are due now; return how many traces they are of."""
        opened = self._opened
        now = opened.now()
        self._tidy(now)
        for tenant in opened.database.ask(across.traces_left):
            with opened.database.of(tenant).write() as connection:
                rows.give_back(connection, tenant, later(now, _AGAIN_SECONDS))
        groups: defaultdict[tuple[str, str, str | None], list[str]] = defaultdict(list)
        for row in opened.database.ask(across.traces_due, now, _MOST):
            groups[row.tenant, row.actor, row.scopes].append(row.trace_id)
        for sender, trace_ids in groups.items():
            self._begin(sender, trace_ids, now)
        return sum(map(len, groups.values()))

    def _begin(self, sender: tuple[str, str, str | None], trace_ids: list[str], now: str) -> None:
        """Write down a job, and in the same transaction that it has these traces."""
        tenant, actor, scopes = sender
        job_id = ""

        def take(connection: "Connection") -> None:
            if rows.take(connection, tenant, trace_ids, job_id) != sorted(trace_ids):
                raise _TakenError

        asked = Asked(
            scopes=None if scopes is None else frozenset(map(Action, scopes.split(","))),
            within=take,
        )
        workspace = self._opened.for_(tenant, None if actor == OWNER else actor, asked)
        job_id = new_id(workspace._acting)  # noqa: SLF001 - as the server's own routes do
        try:
            files = parts(sorted(trace_ids))
            workspace.jobs.start("traces", {}, total=len(trace_ids), files=files, job_id=job_id)
        except _TakenError:  # another server was quicker with one of them: look again
            return
        except EvidentiaError as error:
            _log.warning("traces_refused", tenant=tenant, user=actor, reason=str(error))
            with self._opened.database.of(tenant).write() as connection:
                for one in trace_ids:
                    until = later(now, _AGAIN_SECONDS)
                    rows.put_off(connection, (tenant, one), until, str(error)[:_LONGEST])
            return
        self._wake()

    def _tidy(self, now: str) -> None:
        if self._tidied and time.monotonic() - self._tidied < _TIDIED_SECONDS:
            return
        self._tidied = time.monotonic()
        before, database = later(now, -KEPT_SECONDS), self._opened.database
        for tenant in database.ask(across.traces_recorded, before):
            with database.of(tenant).write() as connection:
                rows.forget(connection, tenant, before)


class _TakenError(Exception):
    """Another server has one of the traces."""

"""The sequencer: gives waiting entries their place, many in one transaction.

Whoever appends while no one else does commits at once. Whoever comes during a commit waits, and
the first of them then commits for all that have gathered. There is no timer and no thread of its
own, so a lone append never waits, and nothing is lost when a process ends.
"""

import os
import threading
from collections.abc import Sequence

from evidentia.errors import ConflictError, EnvironmentProblem
from evidentia.store.database import Database
from evidentia.store.sql.log import NewOrigin, Receipt, append, lock_head, move_head
from evidentia.trail.waiting import Waiting

MAX_TOGETHER = 5_000
"""How many entries one transaction takes from the queue, so that others get their turn."""


class _Request:
    """What one caller waits for."""

    def __init__(self, tenant: str, waiting: Sequence[Waiting]) -> None:
        self.tenant = tenant
        self.waiting = waiting
        self.receipts: list[Receipt] = []
        self.error: BaseException | None = None
        self.leads = False
        self.ready = threading.Event()


class Sequencer:
    """Appends on behalf of all threads of a process; other processes have their own."""

    def __init__(self, database: Database, new_origin: NewOrigin) -> None:
        self._database = database
        self._new_origin = new_origin
        self._lock = threading.Lock()
        self._queue: list[_Request] = []
        self._busy = False
        self._pid = os.getpid()

    def append(self, tenant: str, waiting: Sequence[Waiting]) -> list[Receipt]:
        """Append entries, all or none; they are durable when this returns."""
        if self._pid != os.getpid():
            self._begin_as_child()
        request = _Request(tenant, waiting)
        with self._lock:
            self._queue.append(request)
            request.leads = not self._busy
            self._busy = True
        if not request.leads:
            try:
                request.ready.wait()
            except BaseException:
                self._withdraw(request)
                raise
        if request.leads:
            self._lead()
        if request.error is not None:
            raise request.error
        return request.receipts

    def _begin_as_child(self) -> None:
        """Forget what the parent's threads were doing when it forked."""
        self._lock = threading.Lock()
        self._queue = []
        self._busy = False
        self._pid = os.getpid()

    def _withdraw(self, request: _Request) -> None:
        """Leave the queue, unless the request is being committed; others must not wait for it."""
        with self._lock:
            if request in self._queue:
                self._queue.remove(request)
                if request.leads:
                    self._appoint()

    def _appoint(self) -> None:
        """Let the first in the queue lead; the lock is held."""
        self._busy = bool(self._queue)
        if self._queue:
            self._queue[0].leads = True
            self._queue[0].ready.set()

    def _lead(self) -> None:
        """Commit what has gathered, then hand over to the first of those who came meanwhile."""
        requests = self._take()
        try:
            self._commit(requests)
        except BaseException as error:
            interrupted = EnvironmentProblem(
                "the append was interrupted before it was confirmed: look for it, and retry"
            )
            for request in requests:
                request.error = error if isinstance(error, Exception) else interrupted
            if not isinstance(error, Exception):
                raise
        finally:
            with self._lock:
                self._appoint()
            for request in requests:
                request.ready.set()

    def _take(self) -> list[_Request]:
        """Take the first waiting requests; the first one always, however large."""
        with self._lock:
            taken, count = 1, len(self._queue[0].waiting)
            while taken < len(self._queue) and count < MAX_TOGETHER:
                count += len(self._queue[taken].waiting)
                taken += 1
            requests, self._queue = self._queue[:taken], self._queue[taken:]
        return requests

    def _commit(self, requests: Sequence[_Request]) -> None:
        """Append the requests' entries in one transaction, and then fill in their receipts."""
        receipts: list[tuple[_Request, list[Receipt]]] = []
        with self._database.write() as connection:
            # Heads are locked in order of their tenants, so that two sequencers cannot deadlock.
            for tenant in sorted({request.tenant for request in requests}):
                first = head = lock_head(connection, tenant, self._new_origin)
                for request in requests:
                    if request.tenant == tenant:
                        try:
                            head, added = append(connection, head, request.waiting)
                        except ConflictError as error:  # found before anything was written
                            request.error = error
                        else:
                            receipts.append((request, added))
                if head.size > first.size:
                    move_head(connection, first, head)
        for request, added in receipts:
            request.receipts = added

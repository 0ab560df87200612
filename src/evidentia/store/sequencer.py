"""The sequencer: gives waiting entries their place, many in one transaction.

Whoever appends while no one else does commits at once. Whoever comes during a commit waits, and
the first of them then commits for all that have gathered. There is no timer and no thread of its
own, so a lone append never waits, and nothing is lost when a process ends. Each commit ends in a
signed checkpoint of every log that it appends to.
"""

import os
import threading
from collections.abc import Sequence

from evidentia.errors import ConflictError, EnvironmentProblem, EvidentiaError
from evidentia.store.appending import Appending, HeldLog
from evidentia.store.database import Database
from evidentia.store.sql.log import Receipt
from evidentia.trail.waiting import Waiting

MAX_TOGETHER = 5_000
"""How many entries one transaction takes from the queue, so that others get their turn."""


class _Request:
    """What one caller waits for."""

    def __init__(self, tenant: str, waiting: Sequence[Waiting], by: str) -> None:
        self.tenant = tenant
        self.waiting = waiting
        self.by = by
        self.receipts: list[Receipt] = []
        self.error: BaseException | None = None
        self.leads = False
        self.ready = threading.Event()


class _RefusedError(Exception):
    """Ends a transaction in which one tenant's log can't be appended to, or not be signed."""

    def __init__(self, tenant: str, error: EvidentiaError) -> None:
        super().__init__(tenant)
        self.tenant = tenant
        self.error = error


class Sequencer:
    """Appends on behalf of all threads of a process; other processes have their own."""

    def __init__(self, database: Database, appending: Appending) -> None:
        self._database = database
        self._appending = appending
        self._lock = threading.Lock()
        self._queue: list[_Request] = []
        self._busy = False
        self._pid = os.getpid()

    def append(self, tenant: str, waiting: Sequence[Waiting], by: str) -> list[Receipt]:
        """Append entries, all or none; they are durable and signed when this returns."""
        if self._pid != os.getpid():
            self._begin_as_child()
        request = _Request(tenant, waiting, by)
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
        """Take the first waiting requests; the first one always, however large.

        A tenant whose key a command holds shares its transaction with no other: so no log is locked
        longer than its own signer may take.
        """
        with self._lock:
            taken, count = 1, len(self._queue[0].waiting)
            while taken < len(self._queue) and count < MAX_TOGETHER:
                tenants = {self._queue[0].tenant, self._queue[taken].tenant}
                if len(tenants) > 1 and any(map(self._appending.signs_by_command, tenants)):
                    break
                count += len(self._queue[taken].waiting)
                taken += 1
            requests, self._queue = self._queue[:taken], self._queue[taken:]
        return requests

    def _commit(self, requests: Sequence[_Request]) -> None:
        """Append what was asked for; a tenant whose log refuses doesn't keep the others from it."""
        left = list(requests)
        while left:
            try:
                self._write(left)
            except _RefusedError as refused:  # nothing of this transaction is there
                for request in left:
                    if request.tenant == refused.tenant:
                        request.error = refused.error
                left = [request for request in left if request.tenant != refused.tenant]
            else:
                return

    def _write(self, requests: Sequence[_Request]) -> None:
        """Append the requests' entries in one transaction, and then fill in their receipts."""
        receipts: list[tuple[_Request, list[Receipt]]] = []
        logs: list[HeldLog] = []
        with self._database.write() as connection:
            # Heads are locked in order of their tenants, so that two sequencers cannot deadlock.
            for tenant in sorted({request.tenant for request in requests}):
                own = [request for request in requests if request.tenant == tenant]
                try:
                    held = self._appending.hold(connection, tenant, by=own[0].by)
                    for request in own:
                        try:
                            added = held.append(request.waiting)
                        except ConflictError as error:  # found before anything was written
                            request.error = error
                        else:
                            receipts.append((request, added))
                    held.sign()
                except EvidentiaError as error:
                    raise _RefusedError(tenant, error) from error
                logs.append(held)
        for held in logs:
            self._appending.committed(held)
        for request, added in receipts:
            request.receipts = added

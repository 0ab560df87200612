"""Who waits in a process for entries to be appended, and in which line."""

import threading
from collections.abc import Sequence

from evidentia.errors import EvidentiaError
from evidentia.store.sql.log import Receipt
from evidentia.trail.waiting import Waiting

_NO_ONE = threading.Event()
"""Wakes no one: the many that other processes wait for need none of their own."""


class Request:
    """What one caller wants to be appended; what becomes of it is kept under its ticket, if any.

    `ready` wakes who waits for it, to look at the rest: whether it is done, whether to lead.
    """

    def __init__(
        self,
        tenant: str,
        waiting: Sequence[Waiting],
        by: str,
        ticket: str | None = None,
        until: str = "",
        *,
        waits: bool = True,
    ) -> None:
        self.tenant = tenant
        self.waiting = waiting
        self.by = by
        self.ticket = ticket
        self.until = until
        self.outcome: list[Receipt] | BaseException | None = None
        self.leads = False
        self.is_direct = False
        self.signed_by: tuple[str, str] | None = None
        self.ready = threading.Event() if waits else _NO_ONE

    def end(self, outcome: list[Receipt] | BaseException) -> None:
        """Give the caller what it waits for."""
        self.outcome = outcome
        if self.ready is not _NO_ONE:
            self.ready.set()

    def result(self) -> list[Receipt]:
        """Return the receipts, or raise what was in the way."""
        assert self.outcome is not None  # noqa: S101 - it was waited for
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


class Line:
    """Those of this process who wait for one log; in SQLite, for any."""

    def __init__(self, tenant: str) -> None:
        self.tenant = tenant
        self.queue: list[Request] = []
        self.busy = False
        self.posted: dict[str, Request] = {}
        self.next_try = 0.0
        self.next_look = 0.0
        self.led_elsewhere = 0.0
        self.came = threading.Event()

    def appoint(self) -> None:
        """Let the first in the queue lead."""
        self.busy = bool(self.queue)
        if self.queue:
            self.queue[0].leads = True
            self.queue[0].ready.set()

    def end(self, outcomes: dict[str, list[Receipt] | EvidentiaError]) -> None:
        """End those requests of which is known what became of them, by their tickets."""
        for ticket, outcome in outcomes.items():
            if (request := self.posted.pop(ticket, None)) is not None:
                request.end(outcome)

"""The sequencer: gives waiting entries their place, many in one transaction.

Whoever appends while no one else does commits at once. Whoever comes during a commit waits, and
the first of them then commits for all that have gathered. Each commit ends in a signed checkpoint
of every log that it appends to.

On PostgreSQL many processes append. One at a time has a log's turn, by an advisory lock; who has
not posts what is to be appended to an inbox, and waits for the receipt. Who has the turn appends
what was posted with their own. There is no process that must live for it: whoever waits tries to
take the turn, too, and a turn ends with its transaction. That a log is right depends on none of
this, but on its head, which every transaction holds that appends.
"""

import os
import random
import threading
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Final

from sqlalchemy import Connection

from evidentia.errors import (
    EnvironmentProblem,
    EvidentiaError,
    IntegrityError,
    NotFoundError,
)
from evidentia.logs import get_logger
from evidentia.store.answered import kept, outcome_of
from evidentia.store.appending import Appending, HeldLog
from evidentia.store.database import Database, Transactions, has_turn
from evidentia.store.lines import Line, Request
from evidentia.store.listening import Listener, kept_turn
from evidentia.store.sql import inbox, log
from evidentia.store.sql.log import Receipt
from evidentia.trail.posting import (
    ASKED_LATER,
    WAITED,
    Posted,
    Posting,
    Tickets,
    is_ticket,
    later,
    posted,
    read_posted,
    read_told,
    ticket_of,
    told,
)
from evidentia.trail.waiting import Waiting

MAX_TOGETHER: Final = 5_000
"""How many entries one transaction takes from the queue, so that others get their turn."""
_TAKEN: Final = 1_000
"""How many posted entries one takes: few enough for the turn to be renewed often."""
MOST_POSTED: Final = 1_000
"""How many entries are posted at once; whoever has more waits for the log itself."""
TURN_SECONDS: Final = 10.0
"""How long a process may do nothing in its turn: a stopped one must not stop all others."""
_STOPPED_SECONDS: Final = 3.0
"""The same for a process that keeps the turn, whose batches are small."""
WAIT_SECONDS: Final = 60.0
"""How long a receipt is waited for."""
_RETRY_SECONDS: Final = 0.2
_KEPT_SECONDS: Final = 1.0
_SOON_SECONDS: Final = 0.002
_LATER_SECONDS: Final = 0.032
_MOST_KEEPERS: Final = 4
_LOOK_SECONDS: Final = 0.5
_CLOSING_SECONDS: Final = 5.0
_FORGET_EVERY: Final = 256
_BY_ITSELF: Final = "evidentia"
_NO_TURN: Final = (
    f"the log could not be appended to for {WAIT_SECONDS:g} seconds, and nothing was: others hold "
    "it (pg_stat_activity names them); try again"
)
_TOO_LATE: Final = "it waited for longer than its receipt is kept, and was not appended any more"
_UNCONFIRMED: Final = "the append was interrupted before it was confirmed: look for it, and retry"
_log = get_logger("store")


_End = tuple[Request, list[Receipt] | EvidentiaError]
"""A request, and what becomes of it once its transaction is committed."""


class _RefusedError(Exception):
    """Ends a transaction in which one tenant's log can't be appended to, or not be signed."""

    def __init__(self, tenant: str, error: EvidentiaError) -> None:
        super().__init__(tenant)
        self.tenant = tenant
        self.error = error


class Sequencer:
    """Appends on behalf of all threads of a process; other processes have their own."""

    def __init__(
        self,
        database: Database,
        appending: Appending,
        now: Callable[[], str],
        randomness: Callable[[int], bytes],
    ) -> None:
        self._database = database
        self._appending = appending
        self._now = now
        self._randomness = randomness
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._tickets = Tickets(time.time_ns, self._randomness)
        self._lock = threading.Lock()
        self._listening = threading.Lock()
        self._lines: dict[str, Line] = {}
        self._signs: dict[str, tuple[str, str]] = {}
        self._unwaited: list[Request] = []
        self._attendant: threading.Thread | None = None
        self._listener: Listener | None = None
        self._keepers: set[threading.Thread] = set()
        self._closing = False
        self._turns = 0

    def append(self, tenant: str, waiting: Sequence[Waiting], by: str) -> list[Receipt]:
        """Append entries, all or none; they are durable and signed when this returns."""
        self._begin_as_child()
        request = Request(tenant, waiting, by)
        try:
            return self._carried(request)
        except IntegrityError:
            if not self._was_replaced(request):
                raise
        again = Request(tenant, waiting, by)
        again.is_direct = True
        return self._carried(again)

    def post(self, tenant: str, waiting: Sequence[Waiting], by: str) -> str:
        """Have entries appended, all or none; return a ticket that their receipts are asked by.

        They are durable when this returns, and appended, though no one waits for it.
        """
        self._begin_as_child()
        ticket = self.ticket()
        if self.is_posted(tenant, waiting):
            with self._database.of(tenant).write() as connection:
                self.post_within(connection, tenant, waiting, by, ticket)
            self.see_to(tenant, ticket)
        else:
            until = later(waiting[-1].at, ASKED_LATER)
            self._carried(Request(tenant, waiting, by, ticket, until))
        return ticket

    def ticket(self) -> str:
        """Return a new ticket."""
        with self._lock:
            return self._tickets.new()

    def is_posted(self, tenant: str, waiting: Sequence[Waiting]) -> bool:
        """Whether entries go by the inbox where no one waits for them."""
        return len(waiting) <= MOST_POSTED and self._secret(tenant) is not None

    def post_within(
        self,
        connection: Connection,
        tenant: str,
        waiting: Sequence[Waiting],
        by: str,
        ticket: str,
    ) -> None:
        """Post entries inside a transaction; the caller has them seen to once it is committed."""
        until = later(waiting[-1].at, ASKED_LATER)
        inbox.post(connection, [self._posted(Request(tenant, waiting, by, ticket, until))])

    def keep(
        self, connection: Connection, tenant: str, ticket: str, receipts: Sequence[Receipt]
    ) -> None:
        """Keep the receipts of what a transaction appended, to be asked for by a ticket."""
        inbox.answer(
            connection, [(tenant, ticket, later(self._now(), ASKED_LATER), kept(receipts))]
        )

    def see_to(self, tenant: str, ticket: str) -> None:
        """Have what was posted under a ticket appended, while the caller goes on."""
        request = Request(tenant, (), "", ticket)
        with self._lock:
            line = self._line(tenant)
            if ticket in line.posted:
                return
            line.posted[ticket] = request
            self._unwaited.append(request)
            if self._attendant is None:
                self._attendant = threading.Thread(
                    target=self._attend, name="evidentia-posted", daemon=True
                )
                self._attendant.start()

    def receipts(self, tenant: str, ticket: str) -> list[Receipt] | None:
        """Return the receipts that were promised by a ticket; None while it waits.

        Raise what was in the way, or `NotFoundError` where nothing is known of it.
        """
        self._begin_as_child()
        if is_ticket(ticket):
            with self._database.of(tenant).read() as connection:
                said = inbox.said(connection, tenant, [ticket])
                waits = not said and inbox.waits(connection, tenant, ticket)
            if waits:
                self.see_to(tenant, ticket)
                return None
            if said:
                watched = Request(tenant, (), "", ticket)
                watched.end(outcome_of(said[ticket]))
                return watched.result()
        raise NotFoundError(
            f"ticket {ticket[:60]!r} is not known: it is of another tenant or database, or was "
            f"given more than {ASKED_LATER.days} days ago"
        )

    def close(self) -> None:
        """Append what was posted here, if that is soon done; the inbox keeps the rest."""
        if self._pid != os.getpid():
            return
        attendant = self._attendant
        if attendant is not None:
            attendant.join(_CLOSING_SECONDS)
        self._closing = True
        for keeper in list(self._keepers):
            keeper.join(_CLOSING_SECONDS)
        with self._listening:
            if self._listener is not None:
                self._listener.stop()
                self._listener = None

    def _begin_as_child(self) -> None:
        """Forget what the parent's threads were doing when it forked."""
        if self._pid != os.getpid():
            self._begin()

    # Waiting in line

    def _line(self, tenant: str) -> Line:
        """Return the line of a log; the lock is held."""
        name = "" if self._database.is_sqlite else tenant
        return self._lines.setdefault(name, Line(name))

    def _carried(self, request: Request) -> list[Receipt]:
        """Wait for what becomes of a request, or lead those who wait; return its receipts."""
        with self._lock:
            line = self._line(request.tenant)
            line.queue.append(request)
            request.leads = not line.busy
            line.busy = True
            line.came.set()
        try:
            self._wait(line, request)
        except BaseException:
            self._leave(line, request)
            raise
        return request.result()

    def _wait(self, line: Line, request: Request) -> None:
        """Return when something became of a request; do what is to be done for it."""
        end = None
        while request.outcome is None:
            if self._takes_lead(line, request):
                self._lead(line)
                continue
            patience = None
            if request.ticket in line.posted:
                end = end or time.monotonic() + WAIT_SECONDS
                if time.monotonic() > end:
                    self._give_up(line, EnvironmentProblem(_NO_TURN), request)
                    continue
                patience = _RETRY_SECONDS
            request.ready.wait(patience)
            request.ready.clear()

    def _takes_lead(self, line: Line, request: Request) -> bool:
        """Whether this thread is to lead: it was appointed, or looks after what is posted."""
        with self._lock:
            if request.leads:
                request.leads = False
                return True
            now = time.monotonic()
            waits = now < max(line.next_try, line.led_elsewhere)
            if line.busy or request.ticket not in line.posted or waits:
                return False
            line.next_try = now + _RETRY_SECONDS * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
            line.busy = True
            return True

    def _leave(self, line: Line, request: Request) -> None:
        """Leave the line, unless the request is being committed; others must not wait for it."""
        with self._lock:
            line.posted.pop(request.ticket or "", None)
            if request in line.queue:
                line.queue.remove(request)
                if request.leads:
                    line.appoint()

    def _lead(self, line: Line) -> None:
        """Commit what has gathered, then hand over to the first of those who came meanwhile."""
        is_kept = False
        try:
            is_kept = self._work(line) and self._keeps(line)
        finally:
            if not is_kept:
                with self._lock:
                    line.appoint()

    def _work(self, line: Line, begin: Transactions | None = None) -> bool:
        """Commit what has gathered; return whether other processes have posted something.

        `begin` begins transactions where the turn is kept.
        """
        requests = self._take(line)
        try:
            return self._commit(line, requests, begin)
        except BaseException as error:
            interrupted = EnvironmentProblem(_UNCONFIRMED)
            with self._lock:
                for request in requests:
                    line.posted.pop(request.ticket or "", None)
                    request.end(error if isinstance(error, Exception) else interrupted)
            if not isinstance(error, EvidentiaError):
                raise
            _log.warning("append_failed", requests=len(requests), reason=str(error))
        return False

    def _keeps(self, line: Line) -> bool:
        """Have a thread keep the turn, and lead this line, for as long as others post."""
        with self._lock:
            if self._closing or len(self._keepers) >= _MOST_KEEPERS:
                return False
            keeper = threading.Thread(
                target=self._keep, args=(line,), name="evidentia-sequencer", daemon=True
            )
            self._keepers.add(keeper)
        keeper.start()
        return True

    def _keep(self, line: Line) -> None:
        """Append what this process wants and what others post, until no one has for a while."""
        try:
            database = self._database.of(line.tenant)
            with kept_turn(database, _turn_of(line.tenant), _STOPPED_SECONDS) as begin:
                busy, pause = time.monotonic(), _SOON_SECONDS
                while begin is not None and not self._closing:
                    line.came.clear()
                    if self._work(line, begin):
                        busy, pause = time.monotonic(), _SOON_SECONDS
                    elif time.monotonic() - busy > _KEPT_SECONDS:
                        break
                    else:
                        pause = min(2 * pause, _LATER_SECONDS)
                    line.came.wait(pause)
        except EvidentiaError as error:
            _log.warning("turn_lost", tenant=line.tenant, reason=str(error))
        finally:
            with self._lock:
                self._keepers.discard(threading.current_thread())
                line.appoint()

    def _take(self, line: Line) -> list[Request]:
        """Take the first waiting requests; the first one always, however large.

        A tenant whose key a command or a token holds shares its transaction with no other: so no
        log is locked longer than its own signer may take.
        """
        with self._lock:
            taken = count = 0
            while taken < len(line.queue) and count < MAX_TOGETHER:
                tenants = {line.queue[0].tenant, line.queue[taken].tenant}
                if len(tenants) > 1 and any(map(self._appending.signs_elsewhere, tenants)):
                    break
                count += len(line.queue[taken].waiting)
                taken += 1
            requests, line.queue = line.queue[:taken], line.queue[taken:]
        return requests

    # Committing

    def _commit(self, line: Line, requests: Sequence[Request], begin: Transactions | None) -> bool:
        """Append what was asked for; a tenant whose log refuses doesn't keep the others from it.

        Return whether other processes have posted something.
        """
        if not self._database.is_sqlite:
            try:
                return self._take_turn(line, requests, begin)
            except _RefusedError as refused:  # nothing of this transaction is there
                for request in requests:
                    request.end(refused.error)
                with self._lock:
                    posted_here = list(line.posted.values())
                self._give_up(line, refused.error, *posted_here)
            return False
        left = list(requests)
        while left:
            try:
                self._write(line, left)
            except _RefusedError as refused:
                for request in left:
                    if request.tenant == refused.tenant:
                        request.end(refused.error)
                left = [request for request in left if request.tenant != refused.tenant]
            else:
                break
        return False

    def _write(self, line: Line, requests: Sequence[Request]) -> None:
        """Append the requests' entries in one transaction, and then give them their receipts."""
        work: list[tuple[HeldLog, list[_End]]] = []
        with self._database.write() as connection:
            # Heads are locked in order of their tenants, so that two sequencers cannot deadlock.
            for tenant in sorted({request.tenant for request in requests}):
                own = [request for request in requests if request.tenant == tenant]
                work.append(self._append(connection, tenant, own, (), ()))
        for held, ends in work:
            self._committed(line, held, ends)

    def _take_turn(
        self, line: Line, requests: Sequence[Request], begin: Transactions | None
    ) -> bool:
        """Append what requests want and what was posted, or post it where another has the turn.

        Return whether other processes had posted something.
        """
        tenant = line.tenant
        size = sum(len(request.waiting) for request in requests)
        may_post = (
            0 < size <= MOST_POSTED
            and not any(request.is_direct for request in requests)
            and self._secret(tenant) is not None
        )
        signs_elsewhere = self._appending.signs_elsewhere(tenant)
        ours = list(line.posted)
        write = partial(self._database.of(tenant).write, sequencing=True)
        with (begin or write)() as connection:
            seconds = 0 if signs_elsewhere else TURN_SECONDS
            is_led = may_post and time.monotonic() < line.led_elsewhere
            if begin or (not is_led and has_turn(connection, _turn_of(tenant), seconds)):
                rows, said = inbox.take(connection, tenant, _TAKEN)
                if ours:
                    said |= inbox.said(connection, tenant, ours)
                self._forget(connection, tenant)
            elif may_post:
                self._post(connection, line, requests)
                return False
            else:
                rows, said = [], self._look(connection, line, tenant)
            held: HeldLog | None = None
            ends: list[_End] = []
            if requests or rows:
                theirs = {row.ticket for row in rows if row.ticket not in ours}
                held, ends = self._append(connection, tenant, requests, rows, theirs)
        with self._lock:
            line.end({ticket: outcome_of(text) for ticket, text in said.items()})
        if held is not None:
            self._committed(line, held, ends)
        return any(row.ticket not in ours for row in rows)

    def _append(
        self,
        connection: Connection,
        tenant: str,
        requests: Sequence[Request],
        rows: Sequence[Posted],
        tell: Collection[str],
    ) -> tuple[HeldLog, list[_End]]:
        """Append what was posted and what requests want, and sign it; say what becomes of each."""
        try:
            held = self._appending.hold(
                connection, tenant, by=requests[0].by if requests else _BY_ITSELF
            )
            now = self._now()
            wanted = [*self._read(held, rows, now), *requests]
            good = [request for request in wanted if request.outcome is None]
            appended = iter(held.append_each([request.waiting for request in good]))
            ends: list[_End] = [
                (request, request.outcome)
                if isinstance(request.outcome, EvidentiaError)
                else (request, next(appended))
                for request in wanted
            ]
            held.sign()
        except EvidentiaError as error:
            raise _RefusedError(tenant, error) from error
        answers = [
            (
                tenant,
                request.ticket,
                request.until or later(now, ASKED_LATER),
                kept(outcome),
            )
            for request, outcome in ends
            if request.ticket is not None
        ]
        secret = self._posting_secret(held) if tell else None
        heard = [
            ticket if secret is None else told(ticket, said, secret)
            for _, ticket, _, said in answers
            if ticket in tell
        ]
        inbox.answer(connection, answers, heard)
        return held, ends

    def _posting_secret(self, held: HeldLog) -> bytes | None:
        tenant, origin, *_ = held.head
        return self._appending.posting_secret(tenant, origin, held.key_ids[-1:])

    def _read(self, held: HeldLog, rows: Sequence[Posted], now: str) -> list[Request]:
        """Return what was posted, with its outcome where it can't be appended."""
        secret = self._posting_secret(held) if rows else None
        found = []
        for row in rows:
            request = Request(row.tenant, (), "", row.ticket, row.until, waits=False)
            try:
                if row.until < now:
                    raise EnvironmentProblem(_TOO_LATE)
                if secret is None:
                    raise IntegrityError(f"posting {row.ticket} is of a log that is not posted to")
                posting = read_posted(row, secret)
            except EvidentiaError as error:
                named = {"tenant": row.tenant, "ticket": row.ticket}
                _log.warning("posting_refused", **named, reason=str(error))
                request.outcome = error
            else:
                request.waiting, request.by = posting.items, posting.by
            found.append(request)
        return found

    def _committed(self, line: Line, held: HeldLog, ends: Sequence[_End]) -> None:
        """Remember what was signed, and give requests what became of them."""
        self._appending.committed(held)
        if held.key_ids:
            self._signs[held.head.tenant] = held.head.origin, held.key_ids[-1]
        with self._lock:
            for request, outcome in ends:
                request.end(outcome)
            line.end({request.ticket: outcome for request, outcome in ends if request.ticket})

    # Posting

    def _secret(self, tenant: str) -> bytes | None:
        """Return what postings to a log are coded with; None where nothing can be posted."""
        if self._database.is_sqlite:
            return None
        if tenant not in self._signs:
            with self._database.of(tenant).read() as connection:
                state = log.state(connection, tenant)
            if state is None or not state.keys:
                return None
            self._signs[tenant] = state.head.origin, state.keys[-1][1]
        origin, key_id = self._signs[tenant]
        return self._appending.posting_secret(tenant, origin, [key_id])

    def _post(self, connection: Connection, line: Line, requests: Sequence[Request]) -> None:
        """Post what requests want; they are known before it is there, as the answer may be fast."""
        self._listen()
        rows = []
        for request in requests:
            request.ticket = request.ticket or self.ticket()
            request.until = request.until or later(request.waiting[-1].at, WAITED)
            rows.append(self._posted(request))
        inbox.post(connection, rows, soon=True)
        with self._lock:
            line.posted |= {str(request.ticket): request for request in requests}

    def _posted(self, request: Request) -> Posted:
        secret = self._secret(request.tenant)
        assert secret is not None  # noqa: S101 - was asked for before
        request.signed_by = self._signs[request.tenant]
        tenant, ticket = request.tenant, str(request.ticket)
        posting = Posting(tenant, ticket, request.until, request.by, request.waiting)
        return posted(posting, secret)

    def _was_replaced(self, request: Request) -> bool:
        """Whether something was posted for a key that the log doesn't sign with any more."""
        if request.signed_by is None:
            return False
        self._signs.pop(request.tenant, None)
        self._secret(request.tenant)
        return self._signs.get(request.tenant) != request.signed_by

    def _listen(self) -> None:
        with self._listening:
            if self._listener is None and not self._closing:
                channel = inbox.channel(self._tickets.maker)
                self._listener = Listener(self._database, channel, self._told)

    def _told(self, message: str | None) -> None:
        """Take what was told of some tickets, or look for the receipts of all waited for."""
        named = {ticket_of(one): one for one in ("" if message is None else message).split("\n")}
        with self._lock:
            lines = [(tenant, line, list(line.posted)) for tenant, line in self._lines.items()]
        for tenant, line, posted_here in lines:
            known = [one for one in posted_here if message is None or one in named]
            if not known:
                continue
            said = self._heard(tenant, [named[ticket] for ticket in known if ticket in named])
            if left := [one for one in known if one not in said]:
                with self._database.of(tenant).read() as connection:
                    said |= inbox.said(connection, tenant, left)
            with self._lock:
                line.led_elsewhere = time.monotonic() + _RETRY_SECONDS
                line.end({ticket: outcome_of(text) for ticket, text in said.items()})

    def _heard(self, tenant: str, told: Sequence[str]) -> dict[str, str]:
        """Return what became of postings, as far as who signs the log told it with them."""
        secret = self._secret(tenant)
        if secret is None:
            return {}
        said = {ticket_of(one): read_told(one, secret) for one in told}
        return {ticket: text for ticket, text in said.items() if text is not None}

    def _look(self, connection: Connection, line: Line, tenant: str) -> dict[str, str]:
        """Look for receipts now and then: it may be that no one told that they are there."""
        now = time.monotonic()
        if now < line.next_look or not line.posted:
            return {}
        line.next_look = now + _LOOK_SECONDS
        return inbox.said(connection, tenant, list(line.posted))

    def _give_up(self, line: Line, error: EvidentiaError, *requests: Request) -> None:
        """End requests with an error; what of them was posted is taken back, if it still waits.

        What was promised to whoever has the ticket stays.
        """
        with self._lock:
            for request in requests:
                line.posted.pop(str(request.ticket), None)
        ours = {str(request.ticket): request for request in requests if request.waiting}
        back: set[str] = set()
        said: dict[str, str] = {}
        try:
            if ours:
                tenant = requests[0].tenant
                with self._database.of(tenant).write(sequencing=True) as connection:
                    back = inbox.withdraw(connection, tenant, list(ours))
                    said = inbox.said(connection, tenant, list(ours))
        except EvidentiaError as problem:
            _log.warning("postings_not_taken_back", reason=str(problem))
        for request in requests:
            ticket = str(request.ticket)
            if ticket in said:
                request.end(outcome_of(said[ticket]))
            elif ticket in back or ticket not in ours:
                request.end(error)
            else:
                request.end(EnvironmentProblem(_UNCONFIRMED))

    def _forget(self, connection: Connection, tenant: str) -> None:
        """Remove old receipts, now and then."""
        self._turns += 1
        if self._turns % _FORGET_EVERY == 1:
            inbox.forget(connection, tenant, self._now())

    def _attend(self) -> None:
        """See that what was posted is appended where no one waits for it."""
        while True:
            with self._lock:
                self._unwaited = [one for one in self._unwaited if one.outcome is None]
                if not self._unwaited:
                    self._attendant = None
                    return
                request = self._unwaited[0]
                line = self._line(request.tenant)
            try:
                self._listen()
                self._wait(line, request)
            except EvidentiaError as error:
                request.end(error)
                self._leave(line, request)


def _turn_of(tenant: str) -> str:
    """Return the name of a log's turn."""
    return f"evidentia log {tenant}"

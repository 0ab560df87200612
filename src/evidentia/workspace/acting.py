"""Who acts, and where: one tenant's evidence in one user's name, on what a process has opened."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, Concatenate, Final

from sqlalchemy import Connection

from evidentia.errors import InputError
from evidentia.proof.authority import KINDS as AUTHORITY
from evidentia.store.checkpoints import refuse_to_fork
from evidentia.store.database import Arguments, Result, is_storable, limit_idle
from evidentia.store.lake import Lake
from evidentia.store.sql import log
from evidentia.store.sql.log import Receipt
from evidentia.trail.adoption import Adoption
from evidentia.trail.deciding import DECIDING
from evidentia.trail.entry import SALT_BYTES, EntryKind, check_tenant
from evidentia.trail.waiting import Waiting, waiting
from evidentia.workspace.logged import LoggedEntry, committed
from evidentia.workspace.reading_ahead import AHEAD, NotReadError, ReadAhead, reading_nothing

if TYPE_CHECKING:
    from evidentia.access.actions import Action
    from evidentia.access.guard import Guard
    from evidentia.workspace.access import Access
    from evidentia.workspace.opened import Opened

OWNER: Final = "owner"
"""Who acts where no user is named: the owner of an embedded workspace."""
HELD_SECONDS: Final = 30.0
"""How long a process may do nothing while it holds a log: others wait for it."""
AGENT: Final = "agent:"
"""How the name begins under which is recorded what an agent did."""
_MOST_NAMED: Final = 1_000
_ENDLESS: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Asked:
    """How something was asked for, where that says more than who asked.

    `scopes` are the actions that a user's token narrows them to; None narrows nothing. `agent` asks
    in the user's or the owner's name, where it is not they themselves. `access` is what is known of
    roles where it was looked up for this, and counts until it is done. `within` is called in every
    transaction that appends, and may refuse it by raising: what it writes is committed with what
    was asked for. `behind` is called likewise behind what was appended alone, with where that is,
    or with the ticket of what no one waits for. `in_bulk` says that it is one of many: what is
    begun is not judged by this server's own processes.
    """

    scopes: "frozenset[Action] | None" = None
    agent: str | None = None
    access: "Access | None" = None
    within: Callable[[Connection], None] | None = None
    behind: Callable[[Connection, Sequence[Receipt] | str], None] | None = None
    in_bulk: bool = False


PLAINLY: Final = Asked()
"""As the command line and programs ask."""


class Acting:
    """What every part of a workspace stands on; `user` is None where the owner acts."""

    def __init__(
        self, opened: "Opened", tenant: str, user: str | None, asked: Asked = PLAINLY
    ) -> None:
        if user is not None:
            check_name(user, "a user")
            if user == OWNER:
                raise InputError(f"{OWNER!r} is who acts without a name: no user is called so")
            if user.startswith(AGENT):
                raise InputError(f"{user[:80]!r} is how an agent is recorded: no user is called so")
        self.opened = opened
        self.tenant = check_tenant(tenant)
        self.user = user
        self.asked = asked
        if asked.agent is not None:
            check_agent(asked.agent)
            check_name(self.actor, "who acts")
        self.database = opened.database.of(self.tenant)

    @property
    def actor(self) -> str:
        """Who is recorded as the one who acts; of a user's agent, also whose."""
        if self.asked.agent is None:
            return self.user or OWNER
        agent = f"{AGENT}{self.asked.agent}"
        return agent if self.user is None else f"{agent} of {self.user}"

    @property
    def is_owner(self) -> bool:
        """Whether the owner of an embedded workspace acts, and no agent in their name."""
        return self.user is None and self.asked.agent is None

    @cached_property
    def _lake(self) -> Lake:
        return self.opened.lake.of(self.tenant)

    @property
    def lake(self) -> Lake:
        """Where the tenant's files are; `reading_ahead` says what it reads under a lock."""
        ahead = AHEAD.get()
        return self._lake if ahead is None else ahead.of(self._lake)

    @property
    def now(self) -> str:
        """The time, as the trail writes it."""
        return self.opened.now()

    @cached_property
    def guard(self) -> "Guard":
        """What every method passes before it does anything."""
        from evidentia.access.guard import Guard  # noqa: PLC0415 - the owner needs none
        from evidentia.workspace.access import authorizer, pack_id_of  # noqa: PLC0415 - the same

        find = cache(lambda: authorizer(self)) if self.asked.access else lambda: authorizer(self)
        named = partial(pack_id_of, self)
        return Guard(self.user, self.tenant, find, named, self.asked.agent)

    def admit(self, method: str) -> None:
        """Raise `AccessError` unless a method may be called, as far as it is about no pack."""
        from evidentia.access.guard import TABLE, On  # noqa: PLC0415 - the owner needs none

        need = TABLE.get(method)
        for_no_agent = self.asked.agent is not None and not (need and need.agent)
        by_user = self.user is not None and need and (need.owner or need.on is On.TENANT)
        if need is None or for_no_agent or by_user:
            self.guard.admit(method)

    # Appending

    def writing_ahead(
        self,
        do: Callable[[Connection], Result],
        *,
        first: Callable[[Connection], object] | None = None,
    ) -> Result:
        """Do something in a transaction of `writing`; what it reads of the lake is read before.

        Where the lake is far away, it is done until it meets what was not read yet; that is read
        once the transaction has been given up, and all is done again. `first` reads much of it at
        once, without a lock.
        """
        ahead = ReadAhead()
        if first is not None and self._lake.is_remote:
            with ahead.reading_all(), self.database.read() as connection:
                first(connection)
        while True:
            try:
                with ahead.given(), self.writing() as connection:
                    return do(connection)
            except NotReadError as missing:
                ahead.read(self._lake, missing.digest)

    def record(self, kind: EntryKind, subject: str, body: Any) -> Receipt:
        """Append one entry, together with whoever else appends; it is durable when this returns."""
        if kind in AUTHORITY:  # signed for its place, which no one else may take meanwhile
            with self.writing() as connection:
                return self.append_within(connection, kind, subject, body)
        self.refuse_to_fork()
        return self.append([self._waiting(kind, subject, body)])[0]

    def append(self, items: Sequence[Waiting]) -> list[Receipt]:
        """Append entries of kinds that need no signature of their own, all or none."""
        if self.asked.within is None:
            return self.opened.sequencer.append(self.tenant, items, self.actor)
        with self.writing() as connection:  # no one shares a transaction that may be refused
            receipts = self.opened.appending.held(connection).append(items)
            if self.asked.behind is not None:
                self.asked.behind(connection, receipts)
            return receipts

    def post(self, items: Sequence[Waiting]) -> str:
        """Have entries appended as `append` does, without waiting; return their ticket."""
        sequencer = self.opened.sequencer
        if self.asked.within is None:
            return sequencer.post(self.tenant, items, self.actor)
        ticket = sequencer.ticket()
        if sequencer.is_posted(self.tenant, items):
            with self.database.write() as connection:
                self.asked.within(connection)
                sequencer.post_within(connection, self.tenant, items, self.actor, ticket)
                if self.asked.behind is not None:
                    self.asked.behind(connection, ticket)
            sequencer.see_to(self.tenant, ticket)
            return ticket
        with self.writing() as connection:
            receipts = self.opened.appending.held(connection).append(items)
            sequencer.keep(connection, self.tenant, ticket, receipts)
            if self.asked.behind is not None:
                self.asked.behind(connection, ticket)
        return ticket

    @contextmanager
    def writing(
        self, *, by_another_key: bool = False, adopting: bool = False
    ) -> Iterator[Connection]:
        """Give a transaction in which this log is ours alone: no one else appends meanwhile.

        What is appended in it is signed at its end. `by_another_key` does not ask for the log's own
        key, and `adopting` holds a log whose newest entries are not signed.
        """
        self.refuse_rollback() if by_another_key else self.refuse_to_fork()
        appending = self.opened.appending
        with self.database.write(sequencing=True) as connection:
            held = appending.hold(connection, self.tenant, by=self.actor, adopting=adopting)
            if not appending.signs_elsewhere(self.tenant):  # which has a time limit of its own
                limit_idle(connection, HELD_SECONDS)
            if self.asked.within is not None:
                self.asked.within(connection)
            with reading_nothing():
                yield connection
            held.sign()
        appending.committed(held)

    def append_within(
        self, connection: Connection, kind: EntryKind, subject: str, body: Any
    ) -> Receipt:
        """Append one entry inside a transaction of `writing`, which does something else too.

        One that permits or forbids gets a signature of its own: the log's, or the acting user's.
        """
        held = self.opened.appending.held(connection)
        if kind not in AUTHORITY:
            return held.append([self._waiting(kind, subject, body)])[0]
        from evidentia.workspace.authority import signer  # noqa: PLC0415 - it knows this module

        key = signer(self, connection, body)
        return held.append_signed(kind.value, subject, body, at=self.now, key=key)

    def append_all_within(
        self, connection: Connection, kind: EntryKind, bodies: Sequence[tuple[str, Any]]
    ) -> list[Receipt]:
        """Append entries that permit and forbid nothing, given by their subjects and bodies."""
        held = self.opened.appending.held(connection)
        items = [self._waiting(kind, subject, body) for subject, body in bodies]
        return held.append(items) if items else []

    def _waiting(self, kind: EntryKind, subject: str, body: Any) -> Waiting:
        return waiting(kind.value, subject, body, self.now, self.opened.randomness(SALT_BYTES))

    # Reading

    def read(
        self,
        query: Callable[Concatenate[Connection, str, Arguments], Result],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        """Return what one query gives of this tenant."""
        return self.database.ask(query, self.tenant, *arguments, **named)

    def entry(self, seq: int) -> LoggedEntry:
        """Return an entry, proved; raise `IntegrityError` if it is not what was signed."""
        with self.database.read() as connection:
            log.require_head(connection, self.tenant)
            return self.entry_within(connection, seq)

    def entry_within(self, connection: Connection, seq: int) -> LoggedEntry:
        """Return an entry inside a transaction, as `entry` does."""
        return committed(self.opened.appending.proved(connection, self.tenant, seq))

    def entries(
        self,
        kind: EntryKind,
        subject: str | None = None,
        *,
        connection: Connection | None = None,
        after: int | None = None,
    ) -> list[LoggedEntry]:
        """Return entries of a kind, the oldest first, each as it commits to its body.

        Those of a kind that decides are proved against the signed log, as it was before this
        transaction. Raise `IntegrityError` for one that is missing or is not what was signed.
        """
        if connection is None:
            with self.database.read() as opened:
                return self.entries(kind, subject, connection=opened, after=after)
        if kind in DECIDING:
            of = kind.value, subject or ""
            rows = self.opened.appending.decided(
                connection, self.tenant, of, after=-1 if after is None else after
            )
        else:
            rows = log.find_entries(
                connection, self.tenant, kind=kind, subject=subject, after=after
            )
        return [committed(row) for row in rows]

    def unvouched(self, connection: Connection | None = None) -> tuple[Adoption, ...]:
        """Return the ranges of entries that no key vouched for in time; reads only what is new.

        They were adopted, or are not signed at all, or by a key that nothing vouches for.
        """
        if connection is None:
            with self.database.read() as opened:
                return self.unvouched(opened)
        signed, size = self.opened.appending.signed_size(connection, self.tenant)
        adopted = self._adopted(connection)
        return (*adopted, Adoption(signed, _ENDLESS, "", "", "")) if signed < size else adopted

    def _adopted(self, connection: Connection) -> tuple[Adoption, ...]:
        last, found = self.opened.adopted.get(self.tenant) or (-1, ())
        for logged in self.entries(EntryKind.KEY, connection=connection, after=last):
            adoption = Adoption.read(logged.body)
            last, found = logged.entry.seq, (*found, adoption) if adoption else found
        self.opened.adopted.put(self.tenant, (last, found))
        return found

    # What the log must continue

    def refuse_to_fork(self) -> None:
        """Before the first write, check that the log can go on: its past and its key are here."""
        opened = self.opened
        self.refuse_rollback()
        who = f"{self.tenant}/{self.actor}"
        if not opened.ready.get(who):
            from evidentia.workspace.authority import prepare  # noqa: PLC0415 - as above

            prepare(self)
            opened.ready.put(who, value=True)
        if not opened.ready.get(self.tenant):
            with self.database.read() as connection:
                state = log.state(connection, self.tenant)
                opened.appending.read_ahead(connection, state and state.head)
            key_ids = [key_id for _, key_id, _ in state.keys] if state else []
            opened.appending.prepare(self.tenant, state.head.origin if state else "", key_ids)
            opened.ready.put(self.tenant, value=True)

    def refuse_rollback(self) -> None:
        """Before the first write, check that the log continues the checkpoint kept apart."""
        opened = self.opened
        if not opened.continuing.get(self.tenant):
            refuse_to_fork(self.database, self.tenant, opened.home, opened.tiles, opened.elsewhere)
            opened.continuing.put(self.tenant, value=True)


def check_name(name: str, what: str) -> None:
    """Raise `InputError` for what can be the name of no one and nothing."""
    if not name.strip() or len(name) > _MOST_NAMED or not is_storable(name):
        raise InputError(f"{what} has a name: text of 1 to {_MOST_NAMED:,} characters")


def check_agent(name: str) -> None:
    """Raise `InputError` for what can be the name of no agent: it is one word."""
    check_name(name, "an agent")
    if name.split() != [name] or not name.isprintable():
        raise InputError(
            f"an agent's name is one word, and {name[:80]!r} is not: write it with '-'"
        )

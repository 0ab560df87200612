"""Who acts, and where: one tenant's evidence in one user's name, on what a process has opened."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Concatenate, Final

from sqlalchemy import Connection

from evidentia.errors import InputError
from evidentia.store.checkpoints import refuse_to_fork
from evidentia.store.database import Arguments, Result, is_storable
from evidentia.store.sql import log
from evidentia.store.sql.log import Receipt
from evidentia.trail.entry import SALT_BYTES, EntryKind, check_tenant
from evidentia.trail.waiting import Waiting, waiting
from evidentia.workspace.logged import LoggedEntry, committed

if TYPE_CHECKING:
    from evidentia.access.guard import Guard
    from evidentia.workspace.opened import Opened

OWNER: Final = "owner"
"""Who acts where no user is named: the owner of an embedded workspace."""
_MOST_NAMED: Final = 1_000


class Acting:
    """What every part of a workspace stands on; `user` is None where the owner acts."""

    def __init__(self, opened: "Opened", tenant: str, user: str | None) -> None:
        if user is not None:
            check_name(user, "a user")
            if user == OWNER:
                raise InputError(f"{OWNER!r} is who acts without a name: no user is called so")
        self.opened = opened
        self.tenant = check_tenant(tenant)
        self.user = user
        self.database = opened.database

    @property
    def actor(self) -> str:
        """Who is recorded as the one who acts."""
        return self.user or OWNER

    @property
    def now(self) -> str:
        """The time, as the trail writes it."""
        return self.opened.now()

    @cached_property
    def guard(self) -> "Guard":
        """What every method passes before it does anything."""
        from evidentia.access.guard import Guard  # noqa: PLC0415 - the owner needs none
        from evidentia.workspace.access import authorizer, pack_id  # noqa: PLC0415 - the same

        return Guard(
            self.user, self.tenant, lambda: authorizer(self), lambda name: pack_id(self, name)
        )

    # Appending

    def record(self, kind: EntryKind, subject: str, body: Any) -> Receipt:
        """Append one entry, together with whoever else appends; it is durable when this returns."""
        self.refuse_to_fork()
        return self.opened.sequencer.append(self.tenant, [self._waiting(kind, subject, body)])[0]

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a transaction in which this log is ours alone: no one else appends meanwhile."""
        self.refuse_to_fork()
        with self.database.write() as connection:
            log.lock_head(connection, self.tenant, self.opened.new_origin)
            yield connection

    def append_within(
        self, connection: Connection, kind: EntryKind, subject: str, body: Any
    ) -> Receipt:
        """Append one entry inside a transaction that does something else too."""
        item = self._waiting(kind, subject, body)
        return log.append_all(connection, self.tenant, [item], self.opened.new_origin)[0]

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
        """Return an entry; raise `IntegrityError` if its body is not what it commits to."""
        with self.database.read() as connection:
            log.require_head(connection, self.tenant)
            return committed(log.entry_at(connection, self.tenant, seq))

    def entries(
        self,
        kind: EntryKind,
        subject: str | None = None,
        *,
        connection: Connection | None = None,
        after: int | None = None,
        newest: bool = False,
    ) -> list[LoggedEntry]:
        """Return entries of a kind, the oldest first, each as it commits to its body.

        `newest` gives the last one alone.
        """
        if connection is None:
            with self.database.read() as opened:
                return self.entries(kind, subject, connection=opened, after=after, newest=newest)
        rows = log.find_entries(
            connection,
            self.tenant,
            kind=kind,
            subject=subject,
            after=after,
            limit=1 if newest else None,
            newest_first=newest,
        )
        return [committed(row) for row in rows]

    # What the log must continue

    def refuse_to_fork(self) -> None:
        """Before the first write, check that the log continues the checkpoint kept apart."""
        opened = self.opened
        if not opened.continuing.get(self.tenant):
            refuse_to_fork(self.database, self.tenant, opened.home, opened.tiles)
            opened.continuing.put(self.tenant, value=True)


def check_name(name: str, what: str) -> None:
    """Raise `InputError` for what can be the name of no one and nothing."""
    if not name.strip() or len(name) > _MOST_NAMED or not is_storable(name):
        raise InputError(f"{what} has a name: text of 1 to {_MOST_NAMED:,} characters")

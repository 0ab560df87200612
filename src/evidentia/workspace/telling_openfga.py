"""Keeping OpenFGA in step with the trail: what it is to know, telling it, and finding drift.

The trail is the outbox: an entry that changes who may do what is committed with the change itself.
Whoever tells it notes in the database whom and what new entries are about, and brings OpenFGA in
step about each: what is there is read, compared with what the trail proves now, and only the
difference is written. So what is told twice, late or in another order comes to the same, and a row
that was made up permits nothing. No lock of the database is held while OpenFGA is asked.
"""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from evidentia.access.openfga import (
    Relationship,
    agents_of,
    is_of_tenant,
    pack_object,
    relationships,
    tenant_object,
    user_id,
)
from evidentia.access.openfga_client import OpenFgaClient, OpenFgaError
from evidentia.access.roles import PackFacts
from evidentia.errors import BusyError, InputError
from evidentia.language.counting import counted
from evidentia.logs import get_logger
from evidentia.store.sql import log
from evidentia.store.sql import openfga as rows
from evidentia.store.sql.openfga import Pending
from evidentia.workspace.access import Access, permitting
from evidentia.workspace.acting import Acting

if TYPE_CHECKING:
    from sqlalchemy import Connection

HOLD_SECONDS: Final = 60
"""How long a process that says nothing more keeps others from telling OpenFGA in its place."""
_ENTRIES_AT_ONCE: Final = 1_000
_TOLD_AT_ONCE: Final = 50
_LONGEST_PAUSE: Final = 3_600
_MOST_PROBLEM: Final = 1_000
_MOST_NAMED: Final = 100
_LOOK_SECONDS: Final = 0.1
_log = get_logger("access")


@dataclass(frozen=True, slots=True)
class Synced:
    """What was written to OpenFGA and deleted there, so that it says what the trail says."""

    written: tuple[Relationship, ...]
    deleted: tuple[Relationship, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "written": [str(one) for one in self.written],
            "deleted": [str(one) for one in self.deleted],
        }


@dataclass(frozen=True, slots=True)
class Drift:
    """How OpenFGA differs from the trail: what it lacks, and what someone else wrote there.

    What is on its way is neither, nor are tuples that count no more.
    """

    compared: int
    missing: tuple[Relationship, ...] = ()
    extra: tuple[Relationship, ...] = ()
    on_the_way: int = 0
    ended: int = 0
    others: int = 0
    """Tuples of relations that do not follow from the trail: the operator's own."""

    @property
    def findings(self) -> list[str]:
        """What is wrong, tuple by tuple."""
        missing = [f"{one}: OpenFGA lacks it, and the trail grants it" for one in self.missing]
        extra = [f"{one}: OpenFGA has it, and nothing in the trail does" for one in self.extra]
        return missing + extra

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "compared": self.compared,
            "missing": [str(one) for one in self.missing],
            "extra": [str(one) for one in self.extra],
            "on_the_way": self.on_the_way,
            "ended": self.ended,
            "others": self.others,
        }


@dataclass(frozen=True, slots=True)
class Telling:
    """How far OpenFGA was told what the trail says: entries so far, and what it refused."""

    entries: int | None
    size: int
    waiting: tuple[Pending, ...] = field(default=())

    @property
    def is_in_step(self) -> bool:
        """Whether nothing is on its way."""
        return self.entries is not None and self.entries >= self.size and not self.waiting

    @property
    def refused(self) -> list[Pending]:
        """What OpenFGA refused, and is tried again more and more seldom."""
        return [one for one in self.waiting if one.problem is not None]

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {
            "in_step": self.is_in_step,
            "entries": self.entries,
            "of": self.size,
            "waiting": len(self.waiting),
            "refused": [
                {"subject": one.subject, "tries": one.tries, "problem": one.problem}
                for one in self.refused[:_MOST_NAMED]
            ],
        }


def openfga_of(acting: Acting) -> OpenFgaClient:
    """Return the OpenFGA that this process was given; raise `InputError` if it was given none."""
    found = acting.opened.openfga
    if found is None:
        raise InputError(
            "no OpenFGA is set up: set EVIDENTIA_OPENFGA_URL, or open the workspace with "
            "authorizer=OpenFgaClient(OpenFgaServer(…)).authorizer()"
        )
    return found


# What OpenFGA is to know


def should_know(acting: Acting) -> frozenset[Relationship]:
    """Return all tuples that follow from the trail as it is now."""
    found: dict[str, list[tuple[str, str, bool]]] = {}
    for pack_id, decision, agent, conflicted in acting.read(rows.all_packs):
        found.setdefault(decision, []).append((pack_id, agent, conflicted))
    packs = [fact for chain in found.values() for fact in _facts(acting.tenant, chain)]
    return frozenset(_related(acting, permitting(acting), packs))


def _facts(tenant: str, chain: Sequence[tuple[str, str, bool]]) -> list[PackFacts]:
    """Return what is known of the versions of a pack, of which one may be marked as conflicted."""
    conflicted = any(one for _, _, one in chain)
    told = {"tenant_id": tenant, "conflicted": conflicted}
    return [PackFacts(pack_id=one, agent_name=chain[0][1], **told) for one, _, _ in chain]


def _related(
    acting: Acting, access: Access, packs: Iterable[PackFacts] = (), user: str | None = None
) -> tuple[Relationship, ...]:
    """Return the tuples of grants, owners and packs; of one `user` alone if it is given.

    A grant of a machine whose clock is ahead is told at once: that it counts only from then on is
    what the trail says, which is asked too.
    """
    now = acting.now
    grants = [
        one.model_copy(update={"granted_at": min(one.granted_at, now)})
        for one in access.grants.values()
        if user in (None, one.user)
    ]
    owners = [one for one in access.owners if user in (None, one.user)]
    return relationships(grants, owners, packs, now)


def _about(
    acting: Acting, client: OpenFgaClient, subject: str
) -> tuple[list[Relationship], list[Relationship]]:
    """Return what OpenFGA is to know about a user or a pack, and what it knows."""
    tenant = acting.tenant
    if subject.startswith(rows.USER):
        user = subject.removeprefix(rows.USER)
        named, agents = user_id(user), agents_of(tenant)
        known = [
            *client.read(user=named, object=tenant_object(tenant)),
            *(
                one
                for one in client.read(user=named, object="agent:")
                if one.object.startswith(agents)
            ),
        ]
        return list(_related(acting, permitting(acting), user=user)), known
    chain = [(one, agent, bad) for one, _, agent, bad in acting.read(rows.chain_of, subject)]
    objects = sorted({pack_object(one) for one in (subject, *(one for one, _, _ in chain))})
    known = [one for named in objects for one in client.read(object=named)]
    return list(relationships((), (), _facts(tenant, chain), acting.now)), known


def _difference(
    wanted: Iterable[Relationship], known: Iterable[Relationship]
) -> tuple[list[Relationship], list[Relationship]]:
    """Return what is to be written, and what is to be deleted, of tuples that are ours to keep."""
    should, has = set(wanted), {one for one in known if one.is_ours}
    return sorted(should - has, key=str), sorted(has - should, key=str)


# Telling it


def tell(acting: Acting, client: OpenFgaClient, *, seconds: float = 30.0) -> int:
    """Tell OpenFGA what is new in the trail, for so many seconds; return how much was told.

    Nothing is done while another process does it. Raise `OpenFgaError` if the server is away: what
    was not told waits. What it refuses is tried again later, more and more seldom.
    """
    of, end = (acting.tenant, client.server.store_id), time.monotonic() + seconds
    turn = _Turn(acting, of)
    if not _is_work(acting, of) or not turn.taken():
        return 0
    done = 0
    try:
        if acting.read(rows.followed, of[1]) is None:
            found = _sync(acting, client, turn)
            done = len(found.written) + len(found.deleted)
        while time.monotonic() < end:
            _take_in(acting, turn)
            some = acting.database.ask(rows.due, of, acting.now, _TOLD_AT_ONCE)
            if not some:
                break
            for one in some:
                done += _tell_about(acting, client, turn, one)
    except _LostError:
        pass  # who has the turn by now goes on
    finally:
        turn.end()
    return done


def _is_work(acting: Acting, of: tuple[str, str]) -> bool:
    """Whether there is anything to tell: asked often, and so without writing anything."""

    def asked(connection: "Connection") -> bool:
        head = log.read_head(connection, of[0])
        if head is None:
            return False
        entries = rows.followed(connection, *of)
        return (
            entries is None or entries < head.size or bool(rows.due(connection, of, acting.now, 1))
        )

    return acting.database.ask(asked)


def _take_in(acting: Acting, turn: "_Turn") -> None:
    """Note whom and what the entries are about that were not looked at yet."""
    of = turn.of
    while True:
        with acting.database.write() as connection:
            head = log.require_head(connection, of[0])
            first = rows.followed(connection, *of) or 0
            found, end = rows.changed(connection, of[0], (first, head.size), _ENTRIES_AT_ONCE)
            rows.put(connection, of, found, acting.now)
            rows.go_on(connection, of, turn.holder, end)
        if end >= head.size:
            return
        turn.keep()


def _tell_about(acting: Acting, client: OpenFgaClient, turn: "_Turn", one: Pending) -> int:
    """Bring OpenFGA in step about one; return whether it heard of it."""
    of = turn.of
    try:
        turn.keep()
        writes, deletes = _difference(*_about(acting, client, one.subject))
        turn.keep()
        if writes or deletes:
            client.write(writes, deletes)
    except OpenFgaError as error:
        if not error.refused:
            raise
        until = _later(acting.now, min(2 ** min(one.tries, 20), _LONGEST_PAUSE))
        with acting.database.write() as connection:
            rows.put_off(connection, of, one, until, str(error)[:_MOST_PROBLEM])
        _log.error("openfga_refused_tuples", tenant=of[0], subject=one.subject, reason=str(error))
        return 0
    with acting.database.write() as connection:
        rows.told(connection, of, [one])
    if writes or deletes:
        told = {"written": len(writes), "deleted": len(deletes)}
        _log.info("openfga_told", tenant=of[0], subject=one.subject, **told)
    return 1


def sync(acting: Acting, client: OpenFgaClient, *, seconds: float = HOLD_SECONDS) -> Synced:
    """Compare all that OpenFGA has of a tenant with the trail, and write and delete what differs.

    Raise `BusyError` if another process tells it something for longer than so many seconds, and
    `OpenFgaError` where the store lacks the model that is asked.
    """
    client.require_model()
    turn = _Turn(acting, (acting.tenant, client.server.store_id))
    end = time.monotonic() + seconds
    while not turn.taken():
        if time.monotonic() > end:
            raise BusyError("another process tells OpenFGA what is in the trail: try again later")
        time.sleep(_LOOK_SECONDS)
    try:
        return _sync(acting, client, turn)
    finally:
        turn.end()


def _sync(acting: Acting, client: OpenFgaClient, turn: "_Turn") -> Synced:
    head = acting.read(log.read_head)
    size = 0 if head is None else head.size
    wanted = should_know(acting)
    writes, deletes = _difference(wanted, _known(acting, client, wanted, turn.keep))
    for start in range(0, len(deletes), _TOLD_AT_ONCE):
        turn.keep()
        client.write([], deletes[start : start + _TOLD_AT_ONCE])
    for start in range(0, len(writes), _TOLD_AT_ONCE):
        turn.keep()
        client.write(writes[start : start + _TOLD_AT_ONCE], [])
    turn.keep()
    with acting.database.write() as connection:
        rows.told_all(connection, turn.of, size)
        rows.go_on(connection, turn.of, turn.holder, size)
    told = {"written": len(writes), "deleted": len(deletes)}
    _log.info("openfga_synced", tenant=acting.tenant, **told)
    return Synced(tuple(writes), tuple(deletes))


def _known(
    acting: Acting,
    client: OpenFgaClient,
    wanted: Iterable[Relationship],
    go_on: Callable[[], None] = lambda: None,
) -> list[Relationship]:
    """Return what a store says of a tenant: all is read, as anyone may have written some.

    That may take long: `go_on` is called for each that was read.
    """
    packs, found = frozenset(one.object for one in wanted), []
    for one in client.read():
        go_on()
        if is_of_tenant(one, acting.tenant, packs):
            found.append(one)
    return found


class _LostError(BusyError):
    """Another process has taken the turn."""


class _Turn:
    """Whose turn it is to tell a store of a log: noted in a row, and not by a lock that is held."""

    def __init__(self, acting: Acting, of: tuple[str, str]) -> None:
        self.of = of
        self.holder = os.urandom(8).hex()
        self._acting = acting
        self._due = ""

    def taken(self, seconds: float = HOLD_SECONDS) -> bool:
        """Take the turn, or keep it for so many seconds more; say whether it is ours."""
        now = self._acting.now
        self._due = _later(now, HOLD_SECONDS / 3)
        with self._acting.database.write() as connection:
            return rows.claim(connection, self.of, self.holder, now, _later(now, seconds))

    def keep(self) -> None:
        """Keep the turn, by a write now and then; raise `BusyError` if another process has it."""
        if self._acting.now >= self._due and not self.taken():
            raise _LostError("another process has begun to tell OpenFGA: run it again")

    def end(self) -> None:
        """Leave it to others."""
        self.taken(0)


def _later(now: str, seconds: float) -> str:
    at = datetime.fromisoformat(now) + timedelta(seconds=seconds)
    return at.isoformat(timespec="microseconds")[:-6] + "Z"


# Looking at it


def telling(acting: Acting, client: OpenFgaClient) -> Telling:
    """Return how far OpenFGA was told what the trail says."""
    of = acting.tenant, client.server.store_id

    def asked(connection: "Connection") -> Telling:
        head = log.read_head(connection, of[0])
        size = 0 if head is None else head.size
        waiting = tuple(rows.waiting(connection, of))
        return Telling(rows.followed(connection, *of), size, waiting)

    return acting.database.ask(asked)


def drift(acting: Acting, client: OpenFgaClient) -> Drift:
    """Compare all that OpenFGA has of a tenant with what the trail proves; nothing is written.

    Raise `OpenFgaError` where the store lacks the model that is asked: no check would be answered.
    """
    client.require_model()
    wanted = should_know(acting)
    known = _known(acting, client, wanted)
    missing, extra = _difference(wanted, known)
    now = acting.now
    counting = [one for one in extra if one.expires_at is None or one.expires_at > now]
    moving = _moving(acting, client)
    told = [one for one in (*missing, *counting) if not moving & {one.user, one.object}]
    return Drift(
        compared=len(wanted),
        missing=tuple(one for one in told if one in wanted),
        extra=tuple(one for one in told if one not in wanted),
        on_the_way=len(missing) + len(counting) - len(told),
        ended=len(extra) - len(counting),
        others=sum(not one.is_ours for one in known),
    )


def _moving(acting: Acting, client: OpenFgaClient) -> frozenset[str]:
    """Return whom and what OpenFGA is still to hear of, by its own names."""
    of, soon = (acting.tenant, client.server.store_id), _later(acting.now, HOLD_SECONDS)

    def asked(connection: "Connection") -> list[Pending]:
        head = log.read_head(connection, of[0])
        first = rows.followed(connection, *of)
        if head is None or first is None:  # it was told nothing yet: all of it is missing
            return []
        found, _ = rows.changed(connection, of[0], (first, head.size), head.size + 1)
        due = rows.due(connection, of, soon, head.size + 1)  # others would wait for ever
        return [*found, *(one for one in due if one.problem is None)]

    return frozenset(
        user_id(one.subject.removeprefix(rows.USER))
        if one.subject.startswith(rows.USER)
        else pack_object(one.subject)
        for one in acting.database.ask(asked)
    )


def drift_found(acting: Acting, client: OpenFgaClient) -> tuple[str, list[str], list[str]]:
    """Return what an audit says of OpenFGA: what was compared, what is wrong, and notes."""
    found = drift(acting, client)
    notes = []
    if found.on_the_way:
        notes.append(f"{counted(found.on_the_way, 'tuple')} on the way to OpenFGA")
    if found.ended:
        notes.append(f"{counted(found.ended, 'tuple')} in OpenFGA that count no more, by their end")
    if found.others:
        notes.append(
            f"{counted(found.others, 'tuple')} in OpenFGA of relations that do not follow from the "
            "trail"
        )
    named = found.findings
    more = len(named) - _MOST_NAMED
    cut = [*named[:_MOST_NAMED], f"and {more:,} more"] if more > 0 else named
    return f"{counted(found.compared, 'tuple')} against the trail", cut, notes

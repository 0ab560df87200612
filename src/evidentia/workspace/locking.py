"""S3's Object Lock on packs' files: the bucket keeps them for as long as the trail says.

A lock is set once the trail has the entry that asks for it; where a process ends in between, an
audit finds it, and `bring_in_step` sets it. In governance mode a file can still be erased by law;
compliance mode forbids that too, and is a tenant's own choice.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from sqlalchemy import Connection

from evidentia.errors import EvidentiaError, InputError, NotFoundError, UsageError
from evidentia.packs.retention import LegalHold, RetentionPolicy, kept_until
from evidentia.store.lake import Lake, Placed, newest
from evidentia.store.objects import ObjectLake
from evidentia.store.sql import objects, packs
from evidentia.store.sql.log import Receipt
from evidentia.store.sql.objects import StoredObject
from evidentia.store.sql.packs import ListedPack
from evidentia.trail.adoption import covers
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.authority import counting
from evidentia.workspace.holds import holds_of

if TYPE_CHECKING:
    from evidentia.store.object_lock import Locked, LockMode, ObjectLock

GOVERNANCE: Final = "governance"
COMPLIANCE: Final = "compliance"
NO_ERASURE: Final = (
    "in compliance mode no one can remove a pack's files before their retention has ended, not "
    "even where the law wants them erased, and no one can end that for files that are locked"
)
_SUBJECT: Final = "lock"


@dataclass(frozen=True, slots=True)
class Locks:
    """How a tenant's packs are locked: in which mode, for how long, and which are held."""

    mode: "LockMode"
    policy: RetentionPolicy
    held: dict[str, LegalHold]

    def until(self, pack: ListedPack) -> str:
        """Return until when a pack's files are locked."""
        return kept_until(pack.created_at, self.policy)


@dataclass(frozen=True, slots=True)
class _File:
    """A file of packs: until when the longest kept of them is, and whether one is held."""

    digest: str
    until: str
    held: bool


def mode_of(acting: Acting) -> "LockMode":
    """Return the mode in which a tenant's packs are locked: governance, unless it chose another."""
    adopted = acting.unvouched()
    for logged in reversed(counting(acting, acting.entries(EntryKind.RETENTION, _SUBJECT))):
        match logged.body:
            case {"mode": "governance" | "compliance" as mode} if not covers(
                adopted, logged.entry.seq
            ):
                return cast("LockMode", mode)
    return GOVERNANCE


def set_mode(acting: Acting, mode: str, *, accept_no_erasure: bool) -> Receipt:
    """Choose the mode in which a tenant's packs are locked from now on."""
    if mode not in {GOVERNANCE, COMPLIANCE}:
        raise InputError(f"there is no mode {mode!r}: use {GOVERNANCE} or {COMPLIANCE}")
    if mode == COMPLIANCE and not accept_no_erasure:
        raise InputError(
            f"{NO_ERASURE}: accept that (--accept-no-erasure; in Python accept_no_erasure=True), "
            "or leave the mode as it is"
        )
    return acting.record(EntryKind.RETENTION, _SUBJECT, {"mode": mode, "by": acting.actor})


def locks_of(lake: Lake) -> "ObjectLock | None":
    """Return the locks of a lake's bucket; None of one that has no Object Lock."""
    bucket = newest(lake)
    if not isinstance(bucket, ObjectLake) or bucket.scheme != "s3" or not bucket.locks.is_on:
        return None
    return bucket.locks


def unlocked(lake: Lake) -> str | None:
    """Return what has to be known of packs in a lake on S3 without Object Lock; None of others."""
    bucket = newest(lake)
    if not isinstance(bucket, ObjectLake) or bucket.scheme != "s3" or bucket.locks.is_on:
        return None
    return (
        f"{bucket.address}: its bucket has no Object Lock, so whoever may delete in it can remove "
        "packs before their time, those on legal hold too"
    )


def lock_packs(acting: Acting, ids: Iterable[str]) -> list[str]:
    """Lock the files of packs as the trail says; return the digests of those that were not so."""
    locks = locks_of(acting.lake)
    if locks is None:
        return []
    wanted = _wanted(acting)
    with acting.database.read() as connection:
        listed = [packs.find_pack(connection, acting.tenant, one) for one in ids]
        files = list(_files(acting, connection, wanted, listed))
    return [one.digest for one in files if _lock(acting, locks, wanted, one)]


def bring_in_step(acting: Acting) -> list[str]:
    """Lock the files of all packs as the trail says; return the digests that were not so."""
    if locks_of(acting.lake) is None:
        raise InputError(
            "the lake is in no bucket with Object Lock: make one with it, and name it as the lake "
            "(EVIDENTIA_LAKE)"
        )
    with acting.database.read() as connection:
        ids = [pack_id for pack_id, _ in packs.recorded_packs(connection, acting.tenant)]
    return lock_packs(acting, ids)


def auditing_locks(acting: Acting) -> Callable[[ListedPack], Iterator[str]]:
    """Return what gives how the bucket keeps a pack's files otherwise than the trail says."""
    locks = locks_of(acting.lake)
    if locks is None:
        return lambda _: iter(())
    return partial(_audited_pack, acting, locks, _wanted(acting))


def _audited_pack(
    acting: Acting, locks: "ObjectLock", wanted: Locks, row: ListedPack
) -> Iterator[str]:
    with acting.database.read() as connection:
        files = list(_files(acting, connection, wanted, [row]))
        rows = {one.digest: objects.find(connection, acting.tenant, one.digest) for one in files}
    for one in files:
        yield from _audited(acting, locks, wanted, one, rows[one.digest])


def refuse_locked(acting: Acting, connection: Connection, digests: Iterable[str]) -> None:
    """Raise `UsageError` if a file cannot be erased yet, because it is locked for compliance."""
    for digest in digests:
        row = objects.find(connection, acting.tenant, digest)
        if row and row.mode == COMPLIANCE and (row.kept_until or "") > acting.now:
            raise UsageError(
                f"the bucket keeps {row.place.key} in compliance mode until {row.kept_until}, and "
                "gives it up to no one before: nothing was erased"
            )


def _wanted(acting: Acting) -> Locks:
    from evidentia.workspace.retention import holds, policy_of  # noqa: PLC0415 - it knows this module

    with acting.database.read() as connection:
        held = holds(acting, connection) if holds_of(acting, connection).by_pack else {}
    return Locks(mode_of(acting), policy_of(acting), held)


def _files(
    acting: Acting, connection: Connection, wanted: Locks, listed: Iterable[ListedPack]
) -> Iterator[_File]:
    """Give the files of packs, each once, as it is to be locked for all packs that have it."""
    seen: set[str] = set()
    for pack in listed:
        named = (uri.rpartition("/")[2] for uri in pack.attachments)
        for digest in (pack.statement_sha256, *named):
            if digest not in seen:
                seen.add(digest)
                others = packs.having_attached(connection, acting.tenant, digest)
                having = [pack, *others]
                until = max(wanted.until(one) for one in having)
                yield _File(digest, until, held=any(one.id in wanted.held for one in having))


def _lock(acting: Acting, locks: "ObjectLock", wanted: Locks, file: _File) -> bool:
    """Lock a file's object as it is to be; return whether it was not so."""
    with acting.database.read() as connection:
        row = objects.find(connection, acting.tenant, file.digest)
    place = acting.lake.placed(file.digest) if row is None else row.place
    if place is None or place.version is None:
        raise NotFoundError(
            f"{file.digest} is not in the bucket: it was kept elsewhere before, and stays there; "
            "put a copy into the bucket, and lock it then"
        )
    is_ended = file.until <= acting.now
    found = _found(locks, place, is_new=row is not None and row.mode is None and not is_ended)
    longer = not is_ended and not _lasts(found, wanted.mode, file.until)
    if longer:
        anew = found.mode not in {None, wanted.mode}
        locks.retain(place, wanted.mode, file.until, anew=anew)
    if found.held != file.held:
        locks.hold(place, held=file.held)
    now = StoredObject(place, wanted.mode, file.until, file.held)
    if now != row and not is_ended:
        with acting.database.write() as connection:
            objects.place(connection, acting.tenant, [place])
            objects.lock(connection, acting.tenant, now)
    return longer or found.held != file.held


def _found(locks: "ObjectLock", place: Placed, *, is_new: bool) -> "Locked":
    """Return what an object is locked by; one that was just made is not asked."""
    from evidentia.store.object_lock import Locked  # noqa: PLC0415 - only this needs it

    found = Locked() if is_new else locks.locked(place)
    if found is None:
        raise NotFoundError(
            f"version {place.version} of {place.key} is not in the bucket, and cannot be locked: "
            "'evidentia pack audit' says more"
        )
    return found


def _lasts(found: "Locked", mode: str, until: str) -> bool:
    """Whether an object is locked at least so; what is locked for compliance stays so."""
    same = found.mode in {mode, COMPLIANCE}
    return same and found.until is not None and _seconds(found.until) >= _seconds(until)


def _seconds(time: str) -> datetime:
    return datetime.fromisoformat(time).replace(microsecond=0)


def _audited(
    acting: Acting, locks: "ObjectLock", wanted: Locks, file: _File, row: StoredObject | None
) -> Iterator[str]:
    """Give what is wrong with a file's object, against its row and the trail."""
    place = acting.lake.placed(file.digest) if row is None else row.place
    if place is None:
        yield f"file {file.digest} is not in the bucket; bring it back from a copy"
        return
    try:
        versions = [one for one in locks.versions(place.key) if one.key == place.key]
        found = locks.locked(place)
    except EvidentiaError as error:
        yield str(error)
        return
    if row is None:
        yield f"no row of the database points to {place.key}: 'evidentia pack lock' makes it"
    if any(one.is_marker for one in versions):
        yield (
            f"{place.key} was deleted in the bucket: a marker hides it, and its version "
            f"{place.version} is still there"
        )
    others = [one.version for one in versions if not one.is_marker and one.version != place.version]
    if others:
        yield f"{place.key} has other versions in the bucket than was sealed: {', '.join(others)}"
    if found is None:
        yield f"version {place.version} of {place.key} is not in the bucket"
        return
    yield from _differing(acting, wanted, file, place, found)


def _differing(
    acting: Acting, wanted: Locks, file: _File, place: Placed, found: "Locked"
) -> Iterator[str]:
    remedy = "'evidentia pack lock' brings it in step"
    if file.until > acting.now:
        if found.until is None:
            yield f"{place.key} is not locked in the bucket, and kept until {file.until}: {remedy}"
        elif not _lasts(found, wanted.mode, file.until):
            yield (
                f"{place.key} is locked in the bucket until {found.until} ({found.mode}), and the "
                f"trail keeps it until {file.until} ({wanted.mode}): {remedy}"
            )
        elif found.mode == COMPLIANCE != wanted.mode:
            yield (
                f"{place.key} is locked in the bucket in compliance mode, which the trail does not "
                "ask for: it cannot be erased by law before its time"
            )
    if found.held != file.held:
        said = ("on hold", "not on hold")
        here, there = said if found.held else reversed(said)
        yield f"{place.key} is {here} in the bucket, and {there} in the trail: {remedy}"

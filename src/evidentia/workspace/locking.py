"""S3's Object Lock on packs' files: the bucket keeps them for as long as the trail says.

A lock is set once the trail has the entry that asks for it; where a process ends in between, an
audit finds it, and `bring_in_step` sets it. In governance mode a file can still be erased by law;
compliance mode forbids that too, and is a tenant's own choice.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from sqlalchemy import Connection

from evidentia.errors import (
    EnvironmentProblem,
    EvidentiaError,
    InputError,
    IntegrityError,
    NotFoundError,
    UsageError,
)
from evidentia.language.counting import agreed, counted
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
    require_locks(acting)
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


def require_locks(acting: Acting) -> "ObjectLock":
    """Return the locks of the lake's bucket; raise `InputError` if it has no Object Lock."""
    locks = locks_of(acting.lake)
    if locks is None:
        raise InputError(
            "the lake is in no bucket with Object Lock: make one with it, and name it as the lake "
            "(EVIDENTIA_LAKE)"
        )
    return locks


def lock_recorded(acting: Acting, ids: Iterable[str], entry: int) -> None:
    """Lock the files of packs as an entry of the trail asks for.

    The entry is durable: `EnvironmentProblem` says so where the bucket does not do it. What is not
    in the bucket stays as it is.
    """
    try:
        locks = locks_of(acting.lake)
        done = _Done() if locks is None else _lock_packs(acting, locks, ids)
    except EvidentiaError as error:
        done = _Done(failed=[error])
    if done.failed:
        raise EnvironmentProblem(
            f"it is recorded (entry {entry} of the trail), and not all of its files are locked as "
            f"it says: {done.failed[0]}; once that is mended, 'evidentia pack lock' locks them"
        )


def bring_in_step(acting: Acting) -> list[str]:
    """Lock the files of all packs as the trail says; return the digests that were not so.

    Raise for what could not be locked, once all others are.
    """
    locks = require_locks(acting)
    with acting.database.read() as connection:
        ids = [pack_id for pack_id, _ in packs.recorded_packs(connection, acting.tenant)]
    done = _lock_packs(acting, locks, ids)
    if done.failed:
        first, others = done.failed[0], len(done.failed) - 1
        more = f" (and so for {counted(others, 'other file')})" if others else ""
        raise type(first)(f"{first}{more}; what could be locked is")
    if done.elsewhere:
        raise NotFoundError(_told_elsewhere(acting, done.elsewhere))
    return done.anew


@dataclass(slots=True)
class _Done:
    """Files that were locked anew, those that lie in no bucket, and why others were not locked."""

    anew: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    failed: list[EvidentiaError] = field(default_factory=list)


def _lock_packs(acting: Acting, locks: "ObjectLock", ids: Iterable[str]) -> _Done:
    """Lock the files of packs as the trail says; one that can't be locked stops no other."""
    wanted, done = _wanted(acting), _Done()
    with acting.database.read() as connection:
        listed = [packs.find_pack(connection, acting.tenant, one) for one in ids]
        files = list(_files(acting, connection, wanted, listed))
    for one in files:
        try:
            if _lock(acting, locks, wanted, one):
                done.anew.append(one.digest)
        except _ElsewhereError:
            done.elsewhere.append(one.digest)
        except (IntegrityError, UsageError) as error:
            done.failed.append(error)
        except EnvironmentProblem as error:  # which the next one would only meet again
            done.failed.append(error)
            break
    return done


class _ElsewhereError(Exception):
    """A file lies where the lake was before, and in no bucket."""


def _told_elsewhere(acting: Acting, digests: Sequence[str]) -> str:
    number = counted(len(digests), "file")
    bucket = cast("ObjectLake", newest(acting.lake))
    return (
        f"{number} of packs {agreed(len(digests), 'is', 'are')} in no bucket, and not locked: kept "
        f"in a folder before, and still there. All others are locked. To have {digests[0]} "
        f"locked, copy it to {bucket.address_of(digests[0])}, and run this again"
    )


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


class LockedError(UsageError):
    """A file cannot be erased yet, because it is locked for compliance."""


def refuse_locked(acting: Acting, connection: Connection, digests: Iterable[str]) -> None:
    """Raise `LockedError` if a file that is to be erased is locked for compliance."""
    for digest in digests:
        row = objects.find(connection, acting.tenant, digest)
        if row and row.mode == COMPLIANCE and (row.kept_until or "") > acting.now:
            raise LockedError(
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


def _place(acting: Acting, digest: str, row: StoredObject | None) -> Placed | None:
    """Return where a file is: as its row says, if that is a place of this file at all."""
    bucket = cast("ObjectLake", newest(acting.lake))
    return row.place if row is not None and bucket.names(row.place) else acting.lake.placed(digest)


def _lock(acting: Acting, locks: "ObjectLock", wanted: Locks, file: _File) -> bool:
    """Lock a file's object as it is to be; return whether it was not so."""
    with acting.database.read() as connection:
        row = objects.find(connection, acting.tenant, file.digest)
    place = _place(acting, file.digest, row)
    if place is None or place.version is None:
        if acting.lake.holds(file.digest):
            raise _ElsewhereError
        raise NotFoundError(f"{file.digest} is not in the bucket: bring it back from a copy")
    is_ended = file.until <= acting.now
    is_new = row is not None and row == StoredObject(place) and not is_ended
    found = _found(locks, place, is_new=is_new)
    longer = not (
        is_ended or _lasts(found, wanted.mode, file.until) or _is_fixed(acting, wanted, found)
    )
    if longer:
        anew = found.mode not in {None, wanted.mode}
        try:
            locks.retain(place, wanted.mode, file.until, anew=anew)
        except EnvironmentProblem:  # refused where another server has just locked it for longer
            found = _found(locks, place, is_new=False)
            if not _lasts(found, wanted.mode, file.until):
                raise
            longer = False
    if found.held != file.held:
        locks.hold(place, held=file.held)
        if not file.held:
            _release_hidden(locks, place)
    mode, until = found.mode, found.until
    if longer or (mode == wanted.mode and _seconds(until) == _seconds(file.until)):
        mode, until = wanted.mode, file.until
    now = StoredObject(place, mode, until, file.held)
    if now != row:
        with acting.database.write() as connection:
            objects.place(connection, acting.tenant, [place])
            objects.lock(connection, acting.tenant, now)
    return longer or found.held != file.held


def _release_hidden(locks: "ObjectLock", place: Placed) -> None:
    """End the hold on versions that a marker or a later one hides: they were on hold as well."""
    for one in locks.versions(place.key):
        if one.key == place.key and not one.is_marker and one.version != place.version:
            other = replace(place, version=one.version)
            found = locks.locked(other)
            if found is not None and found.held:
                locks.hold(other, held=False)


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
    there, wanted = _seconds(found.until), _seconds(until)
    same = found.mode in {mode, COMPLIANCE}
    return same and there is not None and wanted is not None and there >= wanted


def _is_fixed(acting: Acting, wanted: Locks, found: "Locked") -> bool:
    """Whether a lock can't be changed as the trail asks: compliance stays until it has ended."""
    still = found.until is not None and found.until > acting.now
    return found.mode == COMPLIANCE != wanted.mode and still


def _seconds(time: str | None) -> datetime | None:
    """Return a time as precisely as a bucket has it."""
    return None if time is None else datetime.fromisoformat(time).replace(microsecond=0)


def _audited(
    acting: Acting, locks: "ObjectLock", wanted: Locks, file: _File, row: StoredObject | None
) -> Iterator[str]:
    """Give what is wrong with a file's object, against its row and the trail."""
    bucket = cast("ObjectLake", newest(acting.lake))
    if row is not None and not bucket.names(row.place):
        yield (
            f"the row of file {file.digest} points to another object, {row.place.key}: 'evidentia "
            "pack lock' makes it point to its own"
        )
    place = _place(acting, file.digest, row)
    if place is None:
        if acting.lake.holds(file.digest):
            yield (
                f"file {file.digest} is in no bucket, and not locked: it was kept in a folder "
                f"before, and is there; {bucket.address_of(file.digest)} is where a copy of it "
                "would be locked by 'evidentia pack lock'"
            )
        else:
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
            once = f"once that lock has ended, {remedy}"
            yield (
                f"{place.key} is locked in the bucket until {found.until} ({found.mode}), and the "
                f"trail keeps it until {file.until} ({wanted.mode}): "
                f"{once if _is_fixed(acting, wanted, found) else remedy}"
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

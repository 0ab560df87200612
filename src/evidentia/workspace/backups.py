"""Backups of whole workspaces: verified by restoring them aside, and restored once they hold.

This is an operator's work on a database and a lake, of one tenant or of all. It passes no guard,
as whoever may read both can copy them, and records nothing in the log that it copies.
"""

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from evidentia import __version__
from evidentia.errors import (
    ConflictError,
    EvidentiaError,
    InputError,
    IntegrityError,
)
from evidentia.language.counting import agreed, counted, ranged
from evidentia.proof.keys import TrustedKey
from evidentia.store import restoring, schema
from evidentia.store.backing_up import KeysTaken, MadeBackup, Source, back_up
from evidentia.store.backup_places import LATEST, BackupPlace
from evidentia.store.database import Database, ServerOptions, unhurried
from evidentia.store.elsewhere import Elsewhere, known_checkpoints, newest_known
from evidentia.store.files import sync_folder
from evidentia.store.home import Home
from evidentia.store.keyrings import file_keys, open_keys
from evidentia.store.keys import Keys
from evidentia.store.lake import Lake, LakeWriter
from evidentia.store.lakes import open_lake
from evidentia.store.pruning import Pruned, prune
from evidentia.times import utc_text
from evidentia.trail.backup import BackupManifest, TenantBackup
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.workspace.auditing import WorkspaceAudit
from evidentia.workspace.locking import locks_of
from evidentia.workspace.opened import Opened

if TYPE_CHECKING:
    from evidentia.workspace import Workspace

Progress = Callable[[str, int, int], None]
"""Is told of what how much is done, and of how much."""
_TOKEN_BYTES: Final = 8
_UNFINISHED: Final = "restoring.db"
_OF_ANOTHER: Final = ("-wal", "-shm", "-journal")
_BESIDE: Final = ("", ".turns", *_OF_ANOTHER)


@dataclass(frozen=True, slots=True)
class Lost:
    """A log that was restored shorter than a checkpoint that was kept of it, or with another past.

    Nothing is appended to it until that is accepted.
    """

    tenant: str
    size: int
    kept: int

    def __str__(self) -> str:
        if self.kept <= self.size:
            return (
                f"the log of tenant {self.tenant!r} has another past than the checkpoint of "
                f"{counted(self.kept, 'entry', 'entries')} that was kept of it"
            )
        which = ranged(self.size, self.kept - 1, "entry", "entries")
        are = agreed(self.kept - self.size, "is", "are")
        return (
            f"the log of tenant {self.tenant!r} has {counted(self.size, 'entry', 'entries')}, and "
            f"a checkpoint was kept of {self.kept:,}: {which} {are} missing"
        )


@dataclass(frozen=True, slots=True)
class BackupReport:
    """What a backup holds, or what is wrong with it, tenant by tenant.

    `lost` are logs that are shorter than a checkpoint that was kept; `keys` what keys were put.
    """

    name: str
    manifest: BackupManifest
    audits: tuple[WorkspaceAudit, ...]
    notes: tuple[str, ...] = ()
    lost: tuple[Lost, ...] = ()
    keys: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong, and something from outside tells whose logs these are."""
        return not self.findings

    @property
    def findings(self) -> tuple[str, ...]:
        """All that is wrong, tenant by tenant."""
        several = len(self.audits) > 1
        return tuple(
            f"tenant {audit.tenant!r}: {one}" if several else one
            for audit in self.audits
            for one in audit.findings
        )

    @property
    def is_consistent(self) -> bool:
        """Whether nothing is wrong but that no one outside says whose logs these are."""
        unknown = {audit.log.unknown for audit in self.audits if audit.log is not None}
        return all(one in unknown for audit in self.audits for one in audit.findings)

    @property
    def verdict(self) -> str:
        """Return in words whether it holds."""
        if self.holds:
            return "holds"
        return "is consistent, signer unknown" if self.is_consistent else "does not hold"

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {
            "holds": self.holds,
            "backup": self.name,
            "created_at": self.manifest.created_at,
            "tenants": [_tenant_json(one) for one in self.manifest.tenants],
            "findings": list(self.findings),
            "notes": list(self.notes),
            "lost": [
                {"tenant": one.tenant, "size": one.size, "kept": one.kept} for one in self.lost
            ],
            "keys": list(self.keys),
        }


def make_backup(
    opened: Opened,
    place: BackupPlace,
    *,
    tenant: str | None = None,
    keys: KeysTaken = KeysTaken.NONE,
    verify: bool = True,
    progress: Progress = lambda *_: None,
) -> MadeBackup:
    """Back up a database and its lake, of one tenant or of all, while others go on writing.

    What the place has already is not sent again; what is sent is read again and compared, unless
    `verify` is False. Nothing is signed, and nothing is recorded in the log.
    """
    files = file_keys(opened.keys)
    source = Source(
        opened.database,
        opened.home,
        opened.lake,
        tenant,
        keys,
        None if files is None else files.folder,
    )
    program = f"evidentia {__version__}"
    token = opened.randomness(_TOKEN_BYTES).hex()
    with unhurried():
        return back_up(
            source,
            place,
            now=opened.now(),
            token=token,
            program=program,
            verify=verify,
            progress=progress,
        )


def prune_backups(place: BackupPlace, keep: int) -> Pruned:
    """Remove all backups but so many of the newest, and what they alone had."""
    now = utc_text(datetime.now(UTC))  # noqa: TID251 - the shell brings the clock
    return prune(place, keep, now=now, token=os.urandom(_TOKEN_BYTES).hex())


def verify_backup(
    place: BackupPlace,
    name: str = LATEST,
    *,
    trusted: Sequence[TrustedKey] = (),
    keys: Keys | None = None,
    progress: Progress = lambda *_: None,
) -> BackupReport:
    """Verify a backup from its own bytes: restore it aside, and audit all of it there.

    `trusted` are public keys; without any, those count whose private halves are in `keys`. Raise
    `IntegrityError` for a part that is missing or was changed.
    """
    name, manifest = place.manifest(name)
    restoring.require_known(manifest)
    with tempfile.TemporaryDirectory(prefix="evidentia-backup-") as folder:
        database = Database.sqlite(Path(folder) / _UNFINISHED)
        with closing(database):
            restoring.prepare(database, manifest)
            restoring.fill(database, place, manifest, progress)
            schema.upgrade(database)
            for tenant in manifest.tenants:
                for key in tenant.keys:
                    place.parts.check(key.sha256)
            audits, notes = _audits(
                database,
                lambda tenant: _BackupLake(place, tenant),
                manifest,
                trusted,
                keys,
                progress,
            )
            lost = _lost_since(Path(folder), manifest, database)
    return BackupReport(name, manifest, audits, notes, lost)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a backup is restored to: a home, and what is not in it, as the settings name it."""

    home: Home
    url: str | None = None
    lake: str | None = None
    keys: str | None = None
    checkpoints: str | None = None
    server: ServerOptions | None = None

    @property
    def opened_keys(self) -> Keys:
        """What signs there."""
        return open_keys(self.keys, self.home)


def restore_backup(
    place: BackupPlace,
    target: Target,
    name: str = LATEST,
    *,
    trusted: Sequence[TrustedKey] = (),
    since: Sequence[str] = (),
    anyway: bool = False,
    progress: Progress = lambda *_: None,
) -> BackupReport:
    """Restore a backup into an empty place, and audit all of it there.

    In a folder, the database is put in its place only once the audit holds, or if it was said that
    it is to be put there anyway. `since` are newer checkpoints that others kept: a log that is
    shorter takes no entries. A checkpoint that the home keeps is never replaced by a smaller one.
    """
    name, manifest = place.manifest(name)
    restoring.require_known(manifest)
    keys = target.opened_keys
    with _elsewhere(target) as elsewhere, _database(target) as (database, settle):
        newer = _outside(target.home, elsewhere, manifest, since)
        restoring.prepare(database, manifest)
        lake = open_lake(target.lake, target.home, by_tenant=not database.is_sqlite)
        for tenant in manifest.tenants:
            restoring.restore_files(lake, place, tenant, progress)
        restoring.fill(database, place, manifest, progress)
        schema.upgrade(database)
        for tenant in manifest.tenants:
            restoring.note_files(database, lake, place, tenant)
        audits, notes = _audits(database, lambda _: lake, manifest, trusted, keys, progress, newer)
        notes = (*notes, *_erased_since(place, name, manifest))
        report = BackupReport(name, manifest, audits, notes)
        is_believed = report.holds or anyway
        if not is_believed and database.is_sqlite:
            return report
        # behind the audit, and by it: what a backup brings says nothing about whose log it is
        files = file_keys(keys)
        put = [
            name
            for tenant in (manifest.tenants if is_believed else ())
            for name in restoring.restore_keys((files or target.home.keys).folder, place, tenant)
        ]
        for tenant in manifest.tenants:
            own = restoring.checkpoints_of(tenant) if is_believed else ()
            for note in (*own, *newer.get(tenant.tenant, ())):
                _keep(target.home, tenant, note)
        lost = tuple(_lost(target.home, elsewhere, manifest, database))
        settle()
    return replace(report, lost=lost, keys=tuple(put))


def _erased_since(place: BackupPlace, name: str, manifest: BackupManifest) -> Iterator[str]:
    """Say what has to be erased again, by what a newer backup in the same place tells."""
    for tenant in manifest.tenants:
        try:
            for erased, by in restoring.erased_since(place, name, tenant):
                said = f"of tenant {tenant.tenant!r} was erased since, by entry {by} of a newer "
                yield (
                    f"entry {erased} {said}backup: erase it again ('evidentia trail erase "
                    f"{erased}')"
                    if isinstance(erased, int)
                    else f"the text of document {erased} {said}backup: erase it again ('evidentia "
                    f"documents remove {erased} --erase')"
                )
        except (EvidentiaError, KeyError, TypeError, ValueError) as error:
            yield f"what was erased since could not be read of a newer backup: {error}"


@contextmanager
def _database(target: Target) -> Iterator[tuple[Database, Callable[[], None]]]:
    """Give the database to restore to, and what puts it in its place at the end.

    In a folder, it is another file until then, which goes if it is not.
    """
    if target.url is not None:
        with closing(Database.server(target.url, target.server)) as server:
            yield server, lambda: None
        return
    home = target.home
    if home.database.exists():
        raise ConflictError(
            f"{home.database} is there already, and a backup is restored to an empty place alone: "
            "name another home (--home), or move that one away"
        )
    for ending in _OF_ANOTHER:
        left = home.database.with_name(f"{home.database.name}{ending}")
        if left.exists():
            raise ConflictError(
                f"{left} is of a database that was there before, and would be taken for this one's "
                "own: move it away"
            )
    home.create()
    path = home.folder / _UNFINISHED
    _remove(path)
    settled: list[bool] = []
    try:
        with closing(Database.sqlite(path)) as database:
            yield database, lambda: settled.append(True)
        if settled:
            if home.database.exists():
                raise ConflictError(f"{home.database} was made meanwhile: nothing was put there")
            path.replace(home.database)
            sync_folder(home.folder)
    finally:
        _remove(path)


def _remove(path: Path) -> None:
    for ending in _BESIDE:
        path.with_name(f"{path.name}{ending}").unlink(missing_ok=True)


@contextmanager
def _elsewhere(target: Target) -> Iterator[Elsewhere | None]:
    """Give where checkpoints are kept beside the home, if anywhere."""
    if target.checkpoints is None:
        yield None
        return
    with closing(Elsewhere(target.checkpoints)) as elsewhere:
        yield elsewhere


def _outside(
    home: Home, elsewhere: Elsewhere | None, manifest: BackupManifest, since: Sequence[str]
) -> dict[str, list[str]]:
    """Return the checkpoints that are known of a backup's logs; raise for one of another log."""
    by_tenant: dict[str, list[str]] = {}
    origins = {one.tenant: one.log.origin for one in manifest.tenants if one.log is not None}
    given = [("the checkpoint given with --since", note) for note in since]
    given += [
        (known.place, known.note)
        for tenant in manifest.tenants
        for known in known_checkpoints(home, tenant.tenant, elsewhere)
    ]
    for named, note in given:
        checkpoint, _ = read_checkpoint(note)
        if origins.get(checkpoint.tenant) != checkpoint.origin:
            raise ConflictError(
                f"{named} is of log {checkpoint.origin}, which is none of this backup: restore "
                "into another home, or name the checkpoint of this log"
            )
        by_tenant.setdefault(checkpoint.tenant, []).append(note)
    return by_tenant


def _keep(home: Home, tenant: TenantBackup, note: str) -> None:
    """Keep a checkpoint at home, if it is of this log and none is there that is larger."""
    checkpoint, _ = read_checkpoint(note)
    if tenant.log is not None and checkpoint.origin == tenant.log.origin:
        home.keep_checkpoint(tenant.tenant, note)


def _lost(
    home: Home, elsewhere: Elsewhere | None, manifest: BackupManifest, database: Database
) -> Iterator[Lost]:
    """Give the logs that do not continue what is kept of them."""
    from evidentia.store.checkpoints import refuse_to_fork  # noqa: PLC0415 - rarely needed
    from evidentia.store.tree import TileCache  # noqa: PLC0415 - the same

    for tenant in manifest.tenants:
        kept = newest_known(home, tenant.tenant, elsewhere)
        if kept is None or tenant.log is None:
            continue
        own = database.of(tenant.tenant)
        try:
            refuse_to_fork(own, tenant.tenant, home, TileCache(), elsewhere)
        except IntegrityError:
            yield Lost(tenant.tenant, tenant.log.size, kept.checkpoint.size)


def _lost_since(folder: Path, manifest: BackupManifest, database: Database) -> tuple[Lost, ...]:
    """Return the logs that were too short already when they were backed up, by what was kept."""
    with closing(Home(folder / "kept")) as home:
        for tenant in manifest.tenants:
            if tenant.kept is not None:
                _keep(home, tenant, tenant.kept)
        return tuple(_lost(home, None, manifest, database))


def _audits(  # noqa: PLR0917 - what both who verify and who restore have at hand
    database: Database,
    lake: Callable[[TenantBackup], Lake],
    manifest: BackupManifest,
    trusted: Sequence[TrustedKey],
    keys: Keys | None,
    progress: Progress,
    newer: "dict[str, list[str]] | None" = None,
) -> tuple[tuple[WorkspaceAudit, ...], tuple[str, ...]]:
    """Audit all tenants, in a home of its own: what is kept of a newer log is no damage here."""
    audits, notes = [], list[str]()
    with tempfile.TemporaryDirectory(prefix="evidentia-backup-") as folder:
        home = Home(Path(folder))
        with closing(home):
            for tenant in manifest.tenants:
                if tenant.log is None:
                    continue
                for note in (newer or {}).get(tenant.tenant, ()):
                    with suppress(EvidentiaError):
                        if read_checkpoint(note)[0].size <= tenant.log.size:
                            home.keep_checkpoint(tenant.tenant, note)
                opened = Opened(database, home, lake=lake(tenant), keys=keys)
                origin = tenant.log.origin
                named = [key for key in trusted if key.is_for(origin)] or trusted
                workspace = opened.for_(tenant.tenant)
                if newer is not None:
                    _lock_files(workspace)
                audit = workspace.audit(keys=named, progress=progress)
                erased = [one.sha256 for one in tenant.missing if one.why == "erased"]
                audit, told = _without(audit, erased)
                audits.append(audit)
                notes += [
                    f"erased while the backup was made, as it says and nothing in it proves: {one}"
                    for one in told
                ]
    return tuple(audits), tuple(notes)


def _lock_files(workspace: "Workspace") -> None:
    """Lock what was restored to a bucket with Object Lock; where it can't be, the audit says so."""
    if locks_of(workspace.opened.lake) is not None:
        with suppress(EvidentiaError):
            workspace.packs.lock()


def _without(audit: WorkspaceAudit, erased: Sequence[str]) -> tuple[WorkspaceAudit, Sequence[str]]:
    """Return an audit without what it finds of files that were erased, and what that was."""
    if not erased:
        return audit, ()

    def is_of(finding: str) -> bool:
        return any(digest in finding for digest in erased)

    parts = tuple(
        replace(part, findings=tuple(one for one in part.findings if not is_of(one)))
        for part in audit.parts
    )
    told = [one for part in audit.parts for one in part.findings if is_of(one)]
    return replace(audit, parts=parts), told


def _tenant_json(tenant: TenantBackup) -> dict[str, Any]:
    log = tenant.log
    return {
        "tenant": tenant.tenant,
        "origin": log.origin if log else None,
        "size": log.size if log else 0,
        "root": log.root if log else None,
        "files": tenant.files.count,
        "missing": [one.model_dump() for one in tenant.missing],
        "keys": [one.name for one in tenant.keys],
    }


class _BackupLake(Lake):
    """The files that a backup has of a tenant, as a lake that is only read."""

    def __init__(self, place: BackupPlace, tenant: TenantBackup) -> None:
        self._place, self._tenant = place, tenant

    def shared(self) -> None:
        """Return nothing: a backup's files are the tenant's own."""

    def put(self, data: bytes, *, copy: int = 0) -> NoReturn:
        """Refuse: a backup is only read."""
        del data, copy
        self._refuse()

    def writer(self) -> AbstractContextManager[LakeWriter]:
        """Refuse, as `put`."""
        self._refuse()

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest."""
        return self._place.parts.get(digest)

    def open(self, digest: str) -> AbstractContextManager[BufferedReader]:
        """Give the bytes of a digest as a stream."""
        return self._place.parts.open(digest)

    def check(self, digest: str) -> int:
        """Return how many bytes a digest has, once all of them were read and found the same."""
        return self._place.parts.check(digest)

    def holds(self, digest: str) -> bool:
        """Whether there are bytes under a digest."""
        return self._place.parts.holds(digest)

    def digests(self) -> Iterator[str]:
        """Give the digests that the backup lists."""
        return restoring.files(self._place, self._tenant)

    def remove(self, digest: str, *, through: int = 0) -> NoReturn:
        """Refuse, as `put`."""
        del digest, through
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise InputError("a backup is only read: nothing is written to it or removed")

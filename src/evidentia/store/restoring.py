"""Restoring a backup: parts compared with their digests, rows in one transaction, heads last.

A database that is restored to is empty, and stays so until all rows are in it. It is made with the
schema that the backup was made with, and is upgraded then as any older database is.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection

from evidentia.canonical import parse_json, sha256_hex
from evidentia.documents.recording import ERASED, REMOVED
from evidentia.errors import (
    ConflictError,
    EnvironmentProblem,
    EvidentiaError,
    GoneError,
    IntegrityError,
    ProofError,
)
from evidentia.language.counting import counted
from evidentia.store import schema
from evidentia.store.backup_places import BackupPlace
from evidentia.store.database import Database, speak_for
from evidentia.store.files import make_folder, write_durably
from evidentia.store.lake import Lake
from evidentia.store.sql import across, copying, objects, uses
from evidentia.trail.backup import (
    MAX_LINE_BYTES,
    BackupLog,
    BackupManifest,
    BackupPart,
    BackupTable,
    TenantBackup,
    decode_file,
    decode_row,
)
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.entry import ERASED_PREFIX, EntryKind
from evidentia.trail.merkle import EMPTY_ROOT, leaf_hash
from evidentia.trail.tiles import Frontier

_ROWS_AT_ONCE: Final = 500
_FILES_AT_ONCE: Final = 256
_THREADS: Final = 8
_READ_AT_ONCE: Final = 2**20
_ENTRIES: Final = "trail_entries"

Progress = Callable[[str, int, int], None]
"""Is told of what how much is done, and of how much."""


def require_known(manifest: BackupManifest) -> None:
    """Raise `EnvironmentProblem` for a backup of a later program than this one, or of no one."""
    if not manifest.tenants:
        raise IntegrityError("the backup's manifest names no tenant: there is nothing in it")
    if manifest.revision > schema.HEAD:
        raise EnvironmentProblem(
            f"the backup has schema {manifest.revision}, made by a newer program ("
            f"{manifest.program}); this one knows {schema.HEAD}: upgrade evidentia"
        )


def prepare(database: Database, manifest: BackupManifest) -> None:
    """Make the schema that a backup was made with; one that is there must have no rows.

    It may be one that was left by restoring the same backup, which was interrupted.
    """
    require_known(manifest)
    with database.read() as connection:
        found = schema.revision(connection)
    made_with = min(manifest.revision, schema.head(database))
    if found is None:
        schema.upgrade(database, to=made_with)
        return
    if found != made_with:
        schema.require_current(database)
    with database.of(manifest.tenants[0].tenant).read() as connection:
        filled = _filled(connection, manifest)
    if filled is not None:
        raise ConflictError(
            f"{database.where} has rows already (in {filled}), and a backup is restored to an "
            "empty database alone: name another one"
        )


def fill(
    database: Database,
    place: BackupPlace,
    manifest: BackupManifest,
    progress: Progress = lambda *_: None,
) -> None:
    """Write all rows of a backup into a database that was prepared: all of them, or none."""
    with database.of(manifest.tenants[0].tenant).write(sequencing=True) as connection:
        filled = _filled(connection, manifest)
        if filled is not None:
            raise ConflictError(f"{database.where} was written to meanwhile (in {filled})")
        total = sum(table.rows for one in manifest.tenants for table in one.tables)
        done = 0
        for tenant in manifest.tenants:
            speak_for(connection, tenant.tenant)
            for table in _in_order(connection, tenant):
                _write(connection, place, tenant, table)
                done += table.rows
                progress("rows", done, total)


def _filled(connection: Connection, manifest: BackupManifest) -> str | None:
    """Return a table that has rows of any tenant, as far as they are seen; None if none has."""
    if across.can_be_asked(connection) and across.tenants(connection):
        return copying.HEADS
    for tenant in manifest.tenants:
        speak_for(connection, tenant.tenant)
        if (found := copying.first_filled(connection)) is not None:
            return found
    return None


def files(place: BackupPlace, tenant: TenantBackup) -> Iterator[str]:
    """Give the digests of the files of the lake that a backup has of a tenant, in order."""
    before = ""
    for part in tenant.files.parts:
        for line in _lines(place, part):
            digest = decode_file(line)
            if digest <= before:
                raise IntegrityError(f"part {part.sha256}: its files are out of order")
            before = digest
            yield digest


def restore_files(
    lake: Lake, place: BackupPlace, tenant: TenantBackup, progress: Progress = lambda *_: None
) -> None:
    """Put the files of a tenant into a lake; those that it has are compared, and stay."""
    own, done = lake.of(tenant.tenant), 0
    found = files(place, tenant)

    def put(digest: str) -> None:
        with suppress(GoneError, IntegrityError):
            own.check(digest)
            return
        with place.parts.open(digest) as file, own.writer() as writer:
            while data := file.read(_READ_AT_ONCE):
                writer.write(data)
            writer.keep()

    with ThreadPoolExecutor(_THREADS) as pool:
        while batch := list(islice(found, _FILES_AT_ONCE)):
            for _ in pool.map(put, batch):
                done += 1
            progress("files", done, tenant.files.count)


def note_files(database: Database, lake: Lake, place: BackupPlace, tenant: TenantBackup) -> None:
    """Note where a bucket has the files of a tenant; no removal from before takes one of them."""
    own, name = lake.of(tenant.tenant), tenant.tenant
    database = database.of(name)
    found = files(place, tenant) if own.is_remote else iter(())
    with ThreadPoolExecutor(_THREADS) as pool:
        while batch := list(islice(found, _FILES_AT_ONCE)):
            places = [one for one in pool.map(own.placed, batch) if one is not None]
            with database.write() as connection:
                objects.place(connection, name, places)
    needed = [
        one for one in database.ask(uses.condemned, name) if database.ask(uses.is_used, name, one)
    ]
    if needed:
        with database.write() as connection:
            uses.settle_removals(connection, name, needed)


class Erased(NamedTuple):
    """What was erased since: the body of an entry, or the text of a document; and which says so."""

    what: int | str
    by: int


def erased_since(place: BackupPlace, name: str, tenant: TenantBackup) -> Iterator[Erased]:
    """Give what the newest backup of the same log, if it is newer, says was erased since.

    What was erased stands in this backup.
    """
    later = _later(place, name, tenant)
    if tenant.log is None or later is None:
        return
    size, gone = tenant.log.size, dict[int, str]()
    for row in _named_rows(place, later, _ENTRIES, first=size):
        if row["seq"] < size:
            continue
        if row["kind"] == EntryKind.ERASURE:
            erased = row["subject"].removeprefix(ERASED_PREFIX)
            if erased.isdecimal() and int(erased) < size:
                yield Erased(int(erased), row["seq"])
        elif row["kind"] == EntryKind.DOCUMENT and row["subject"].startswith(REMOVED):
            gone[row["seq"]] = row["subject"].removeprefix(REMOVED)
    if not gone:
        return
    by = {
        gone[row["seq"]]: row["seq"]
        for row in _named_rows(place, later, "trail_bodies")
        if row["seq"] in gone and parse_json(row["body"])["text"] == ERASED
    }
    here = {row["id"] for row in _named_rows(place, tenant, "documents") if row["id"] in by}
    for document in sorted(here, key=by.__getitem__):
        yield Erased(document, by[document])


def _later(place: BackupPlace, name: str, tenant: TenantBackup) -> TenantBackup | None:
    """Return the newest backup of a tenant's log that is newer than one, whoever else is in it."""
    for newer in reversed(place.names()):
        if newer <= name or tenant.log is None:
            return None
        _, manifest = place.manifest(newer)
        for one in manifest.tenants:
            if one.log is not None and one.log.origin == tenant.log.origin:
                return one
    return None


def _named_rows(
    place: BackupPlace, tenant: TenantBackup, table: str, *, first: int = 0
) -> Iterator[dict[str, Any]]:
    """Give the rows that a backup has of a table, by the names of their columns.

    Parts before the one with the row `first` are passed over.
    """
    found, seen = tenant.table(table), 0
    if found is None:
        return
    names, kinds = [column.name for column in found.columns], found.kinds
    for part in found.parts:
        seen += part.rows
        if seen <= first:
            continue
        for line in _lines(place, part):
            yield dict(zip(names, decode_row(line, kinds), strict=True))


def restore_keys(keys: Path, place: BackupPlace, tenant: TenantBackup) -> list[str]:
    """Put the private keys of a tenant into a folder; what is there stays. Return what was put."""
    folder, put = keys / tenant.tenant, []
    for key in tenant.keys:
        data, path = place.parts.get(key.sha256), folder / key.name
        if path.exists():
            if sha256_hex(path.read_bytes()) != key.sha256:
                raise ConflictError(
                    f"{path} is there already, and is not what the backup has: move it away, or "
                    "restore into another home (--home)"
                )
            continue
        make_folder(folder.parent)
        make_folder(folder)
        write_durably(path, data, mode=0o600, aside=folder.parent)
        put.append(key.name)
    return put


def checkpoints_of(tenant: TenantBackup) -> list[str]:
    """Return the checkpoints that a backup brings along, of its log as it was and as was kept."""
    of_log = tenant.log.checkpoint if tenant.log else None
    return [note for note in (of_log, tenant.kept) if note is not None]


def _in_order(connection: Connection, tenant: TenantBackup) -> Iterator[BackupTable]:
    """Give a tenant's tables in the order in which they are written; raise for a strange one."""
    order = {table.name: at for at, table in enumerate(copying.copied())}
    for table in sorted(tenant.tables, key=lambda one: order.get(one.name, -1)):
        there = copying.columns_there(connection, table.name) if table.name in order else ()
        strange = [column.name for column in table.columns if column.name not in there]
        if strange:
            raise EnvironmentProblem(
                f"the backup has table {table.name} with column {strange[0]}, and this database "
                "does not: restore into a database without a schema, which is made as it was then"
            )
        yield table


def _write(
    connection: Connection, place: BackupPlace, tenant: TenantBackup, table: BackupTable
) -> None:
    tree = _Tree(tenant.log) if table.name == _ENTRIES else None
    kinds = table.kinds
    for part in table.parts:
        lines = _lines(place, part)
        while batch := list(islice(lines, _ROWS_AT_ONCE)):
            try:
                rows = [decode_row(line, kinds) for line in batch]
            except ProofError as error:
                raise IntegrityError(f"part {part.sha256} of table {table.name}: {error}") from None
            if tree is not None:
                tree.see(table, rows)
            copying.write(connection, tenant.tenant, table, rows)
    if tree is not None:
        tree.require_same(tenant.tenant)


class _Tree:
    """The tree of the entries as they are written, compared with what the manifest says."""

    def __init__(self, said: BackupLog | None) -> None:
        self._said = said
        self._frontier = Frontier()
        self._signed = None
        if said is not None and said.checkpoint is not None:
            self._signed, _ = read_checkpoint(said.checkpoint)
        self._root_signed = EMPTY_ROOT

    def see(self, table: BackupTable, rows: list[list[object]]) -> None:
        at = next(at for at, column in enumerate(table.columns) if column.name == "entry")
        leaves = [leaf_hash(row[at]) for row in rows]  # type: ignore[arg-type]
        if self._signed is not None:
            left = self._signed.size - self._frontier.size
            if 0 < left <= len(leaves):
                self._frontier.extend(leaves[:left])
                self._root_signed = self._frontier.root()
                leaves = leaves[left:]
        self._frontier.extend(leaves)

    def require_same(self, tenant: str) -> None:
        said, found = self._said, self._frontier
        if said is None and not found.size:
            return
        if said is None or (said.size, said.root) != (found.size, found.root().hex()):
            raise IntegrityError(
                f"the backup's {counted(found.size, 'entry', 'entries')} of tenant {tenant!r} are "
                "not those that its manifest says: it is no backup of this log"
            )
        if self._signed is None:
            return
        if (self._signed.origin, self._signed.root) != (said.origin, self._root_signed):
            raise IntegrityError(
                f"the backup's checkpoint of tenant {tenant!r} is not of its entries: it is of "
                "another log, or they were changed"
            )


def _lines(place: BackupPlace, part: BackupPart) -> Iterator[bytes]:
    """Give the lines of a part, which was compared with its digest before."""
    count = size = 0
    try:
        with place.parts.open(part.sha256) as file:
            while line := file.readline(MAX_LINE_BYTES):
                if not line.endswith(b"\n"):
                    raise IntegrityError(f"part {part.sha256}: a line has no end")
                count, size = count + 1, size + len(line)
                yield line
    except GoneError:
        raise GoneError(f"{place.address}: part {part.sha256} is missing") from None
    except EvidentiaError as error:
        if part.sha256 in str(error):
            raise
        raise IntegrityError(f"part {part.sha256}: {error}") from error
    if (count, size) != (part.rows, part.bytes):
        raise IntegrityError(
            f"part {part.sha256} has {counted(count, 'line')}, and the manifest says {part.rows:,}"
        )

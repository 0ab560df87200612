"""Making a backup: one view of the database, the files it refers to, and last the manifest.

Rows are read in one view, without a lock. Files are copied behind it: what they are kept for was
there before any row named them, so whatever the view names is there, unless it was erased by law
meanwhile. Then all is read again, as it is now, which costs little: what the place already has is
not sent again.
"""

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from heapq import merge
from itertools import groupby, islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

from sqlalchemy import Connection

from evidentia.canonical import sha256_hex
from evidentia.errors import (
    EnvironmentProblem,
    EvidentiaError,
    GoneError,
    InputError,
    IntegrityError,
    NotFoundError,
    ProofError,
    environment_problem,
)
from evidentia.language.counting import counted
from evidentia.proof.keys import is_encrypted
from evidentia.store import schema
from evidentia.store.appending import signed_note
from evidentia.store.backup_places import BackupPlace
from evidentia.store.database import Database, speak_for
from evidentia.store.home import Home
from evidentia.store.lake import FileLake, Lake, MovedLake
from evidentia.store.objects import ObjectLake
from evidentia.store.sql import copying, log, uses
from evidentia.store.sql.roles import lacks_rights
from evidentia.trail.backup import (
    FORMAT,
    VERSION,
    BackupFiles,
    BackupLog,
    BackupManifest,
    BackupPart,
    BackupTable,
    KeyFile,
    MissingFile,
    TenantBackup,
    encode_file,
    encode_row,
)
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.merkle import leaf_hash
from evidentia.trail.tiles import Frontier

ALIGNED: Final = 16_384
"""How many of the log's numbers a part covers at most, from a multiple of it on: 64 tiles."""
_MOST_BYTES: Final = 16 * 2**20
_ONE_IN: Final = 1_024
"""Which rows end a part, of those without numbers, by what they say: so new rows change few."""
_TRIES: Final = 3
_AT_ONCE: Final = 8
_BATCH: Final = 256
_READ_AT_ONCE: Final = 2**20
_DIGEST_BYTES: Final = 32

Progress = Callable[[str, int, int], None]
"""Is told of what how much is done, and of how much."""


class KeysTaken(StrEnum):
    """Which private keys a backup takes along."""

    NONE = "none"
    ENCRYPTED = "encrypted"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Source:
    """What is backed up: a database, its home and its lake; of one tenant, or of all."""

    database: Database
    home: Home
    lake: Lake
    tenant: str | None = None
    taken: KeysTaken = KeysTaken.NONE
    keys: Path | None = None
    """The folder of private keys; None where they are in no files."""


@dataclass(slots=True)
class Sent:
    """What was sent, as the place did not have it; and what the backup has in all."""

    parts: int = 0
    bytes: int = 0
    files: int = 0


@dataclass(frozen=True, slots=True)
class MadeBackup:
    """A backup that was made: its name and manifest, what was sent, and what is wrong.

    `problems` are of the workspace itself: the backup has it as it is. `notes` are worth knowing.
    """

    name: str
    manifest: BackupManifest
    sent: Sent
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def back_up(
    source: Source,
    place: BackupPlace,
    *,
    now: str,
    token: str,
    program: str,
    verify: bool = True,
    progress: Progress = lambda *_: None,
) -> MadeBackup:
    """Back up a workspace; what is sent is read again and compared, unless `verify` is False.

    Others may go on writing. The backup is there once this returns; where it raises, there is none.
    """
    with place.making(now, token) as finish:
        for left in reversed(range(_TRIES)):
            making = _Making(source, place, progress, verify, is_last=not left)
            try:
                parts = making.run()
                break
            except _ErasedError:
                continue
            except EnvironmentProblem as error:
                if not lacks_rights(error):
                    raise
                raise EnvironmentProblem(
                    "no backup was made, as the role that connects may not read all tenants: "
                    f"connect as the auditor's ('evidentia db roles'); {error}"
                ) from error
        manifest = BackupManifest(
            format=FORMAT,
            v=VERSION,
            created_at=now,
            program=program,
            revision=making.revision,
            tenants=parts,
        )
        name = finish(manifest)
    return MadeBackup(name, manifest, making.sent, tuple(making.problems), tuple(making.notes))


class _ErasedError(Exception):
    """Ends an attempt that has met a file which was erased since: all is read anew."""


_Range = tuple[int, int]
"""Where digests begin and end."""


class _Digests:
    """Digests on the disk, in ranges: as many as there are, in little memory."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._end = 0

    def add(self, digests: Iterable[str]) -> _Range:
        """Take digests in; return where they are."""
        start = self._end
        for digest in digests:
            self._file.write(bytes.fromhex(digest))
            self._end += _DIGEST_BYTES
        self._file.flush()
        return start, self._end

    def of(self, where: _Range) -> Iterator[str]:
        """Give the digests of a range; several may be read at once."""
        at, end = where
        while at < end:
            data = os.pread(self._file.fileno(), min(_DIGEST_BYTES * _BATCH, end - at), at)
            at += len(data)
            for cut in range(0, len(data), _DIGEST_BYTES):
                yield data[cut : cut + _DIGEST_BYTES].hex()


@dataclass(slots=True)
class _Rows:
    """What a view has of one tenant, and the digests that it refers to, in a file."""

    tenant: str
    log: BackupLog | None
    tables: list[BackupTable]
    used: _Range
    condemned: Sequence[str]
    """What is to be removed by an erasure, and may lie there still."""


@dataclass(slots=True)
class _Kept:
    """A checkpoint that was kept of a log, and the root that its entries have at that size."""

    signed: Checkpoint
    root: bytes | None = None

    def problem(self, head: log.Head) -> str | None:
        """Say how a log is not the one that was signed; None if it goes on with that."""
        if self.signed.origin != head.origin:
            return f"a checkpoint was kept of another log, {self.signed.origin}"
        if self.signed.size > head.size:
            return (
                f"it has {counted(head.size, 'entry', 'entries')}, and a checkpoint was kept of "
                f"{self.signed.size:,}: look for what is missing"
            )
        is_same = not self.signed.size or self.root == self.signed.root
        return None if is_same else "a checkpoint was kept of another past"


@dataclass(slots=True)
class _Making:
    source: Source
    place: BackupPlace
    progress: Progress
    verify: bool
    is_last: bool
    sent: Sent = field(default_factory=Sent)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    revision: str = ""
    _done: tuple[int, int] = (0, 0)
    """How many entries of all logs are behind those of the log that is read, and of how many."""

    def run(self) -> list[TenantBackup]:
        database = self.source.database.unbound
        with database.read() as connection:
            self.revision = _known_revision(database, connection)
            names = self._tenants(connection)
        for name in names:
            _refuse_within(self.place, self.source.lake.of(name))
        kept = {name: self._kept(name) for name in names}  # before what it must be in
        taken = {name: self._keys(name) for name in names}
        with TemporaryFile() as file:
            digests = _Digests(file)
            read, others = self._read(names, digests, kept)
            return [
                self._with_files(rows, digests, others, kept[rows.tenant], taken[rows.tenant])
                for rows in read
            ]

    def _read(
        self, names: Sequence[str], digests: _Digests, kept: Mapping[str, str | None]
    ) -> tuple[list[_Rows], Mapping[str, _Range]]:
        """Read all rows in one view; return them, and which files are whose, where they share."""
        read, others, done = list[_Rows](), dict[str, _Range](), 0
        with self.source.database.of(names[0]).read() as connection:
            everyone = copying.tenants(connection)
            sizes = [head.size for name in names if (head := self._head(connection, name))]
            for name in names:
                speak_for(connection, name)
                self._done = (done, sum(sizes))
                read.append(self._rows(connection, name, digests, kept[name]))
                done += read[-1].log.size if read[-1].log else 0
            has_shared = any(self.source.lake.of(one).shared() is not None for one in names)
            if has_shared and len(everyone) > 1:
                others = {rows.tenant: rows.used for rows in read}
                for name in everyone:
                    if name not in others:
                        speak_for(connection, name)
                        others[name] = digests.add(uses.used(connection, name))
        return read, others

    def _kept(self, tenant: str) -> str | None:
        """Return the checkpoint that the home has kept, if it is one."""
        note = self.source.home.kept_checkpoint(tenant)
        try:
            return note if note is None or read_checkpoint(note) else None
        except ProofError as error:
            self.problems.append(
                f"the checkpoint that was kept of tenant {tenant!r} is none, and is not in the "
                f"backup: {error}"
            )
            return None

    def _head(self, connection: Connection, tenant: str) -> log.Head | None:
        speak_for(connection, tenant)
        return log.read_head(connection, tenant)

    def _tenants(self, connection: Connection) -> list[str]:
        found, asked = copying.tenants(connection), self.source.tenant
        if asked is not None and asked not in found:
            raise NotFoundError(f"tenant {asked!r} has nothing here that could be backed up")
        if not found:
            raise NotFoundError("there is nothing here yet that could be backed up")
        return found if asked is None else [asked]

    # Rows

    def _rows(
        self, connection: Connection, tenant: str, digests: _Digests, note: str | None
    ) -> _Rows:
        kept = None if note is None else _Kept(read_checkpoint(note)[0])
        head, tables = log.read_head(connection, tenant), []
        frontier, leaves = Frontier(), list[bytes]()
        for table in copying.copied():
            rows: Iterator[list[Any]] = copying.rows(connection, tenant, table)
            if table.name == "trail_entries":
                rows = self._noted(rows, frontier, leaves, kept)
            parts = self._parts(table, rows)
            tables.append(table.model_copy(update={"parts": parts}))
        frontier.extend(leaves)
        return _Rows(
            tenant,
            None if head is None else self._log(connection, head, frontier, kept),
            tables,
            digests.add(uses.used(connection, tenant)),
            sorted(uses.condemned(connection, tenant)),
        )

    def _noted(
        self,
        rows: Iterator[list[Any]],
        frontier: Frontier,
        leaves: list[bytes],
        kept: _Kept | None,
    ) -> Iterator[list[Any]]:
        """Give the entries, and build their tree meanwhile."""
        done, total = self._done
        for row in rows:
            leaves.append(leaf_hash(bytes(row[3])))
            is_kept = kept is not None and frontier.size + len(leaves) == kept.signed.size
            if len(leaves) == _BATCH or is_kept:
                frontier.extend(leaves)
                leaves.clear()
                self.tell("log", done + frontier.size, total)
            if kept is not None and is_kept:
                kept.root = frontier.root()
            yield row

    def _log(
        self, connection: Connection, head: log.Head, frontier: Frontier, kept: _Kept | None
    ) -> BackupLog:
        """Return what a log was, compared with its entries and with what was signed of it."""
        if kept is not None and (problem := kept.problem(head)) is not None:
            self.problems.append(f"the log of tenant {head.tenant!r}: {problem}")
        if (frontier.size, frontier.root()) != (head.size, head.root):
            self.problems.append(
                f"the log of tenant {head.tenant!r}: its entries are not those of its head: run "
                "'evidentia trail verify'"
            )
        note = None
        if head.size:
            try:
                keys = log.keys(connection, head.tenant)
                notes = log.notes(connection, head.tenant, head.size)
                note = signed_note(connection, log.State(head, keys, notes))
            except EvidentiaError as error:
                self.problems.append(f"the log of tenant {head.tenant!r}: {error}")
                newest = islice(log.newest_checkpoints(connection, head.tenant, head.size), 1)
                note = next((found for _, _, found in newest), None)
        return BackupLog(origin=head.origin, size=head.size, root=head.root.hex(), checkpoint=note)

    def _parts(self, table: BackupTable, rows: Iterable[Sequence[Any]]) -> list[BackupPart]:
        numbered, kinds = copying.is_numbered(table), table.kinds
        part, parts, until = bytearray(), list[BackupPart](), 0
        count = 0
        for row in rows:
            if numbered and row[0] >= until:
                if count:
                    parts.append(self._keep(bytes(part), count))
                    part, count = bytearray(), 0
                until = (row[0] // ALIGNED + 1) * ALIGNED
            line = encode_row(row, kinds)
            part += line
            count += 1
            if len(part) >= _MOST_BYTES or (not numbered and not zlib.crc32(line) % _ONE_IN):
                parts.append(self._keep(bytes(part), count))
                part, count = bytearray(), 0
        if count:
            parts.append(self._keep(bytes(part), count))
        return parts

    def _keep(self, data: bytes, rows: int) -> BackupPart:
        """Keep a part, unless the place has it: in a folder it is compared, and mended."""
        digest = sha256_hex(data)
        is_there = self.place.parts.holds(digest)
        if not is_there or not self.place.parts.is_remote:
            self.place.parts.put(data)
        if not is_there:
            self.sent.parts += 1
            self.sent.bytes += len(data)
            self._check(digest)
        return BackupPart(sha256=digest, bytes=len(data), rows=rows)

    def _check(self, digest: str) -> None:
        if self.verify:
            self.place.parts.check(digest)

    # Files

    def _with_files(
        self,
        rows: _Rows,
        digests: _Digests,
        others: Mapping[str, _Range],
        kept: str | None,
        keys: list[KeyFile],
    ) -> TenantBackup:
        missing: list[MissingFile] = []
        theirs = [digests.of(where) for name, where in others.items() if name != rows.tenant]
        if self.source.lake.of(rows.tenant).shared() is None:
            theirs = []
        theirs.append(iter(rows.condemned))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            copied = self._copied(rows, digests, theirs, pool, missing)
            parts = self._file_parts(map(encode_file, copied))
        if kept is not None and rows.log is None:
            self.problems.append(
                f"the log of tenant {rows.tenant!r} is gone, and a checkpoint of it was kept"
            )
        return TenantBackup(
            tenant=rows.tenant,
            log=rows.log,
            kept=kept,
            tables=rows.tables,
            files=BackupFiles(parts=parts),
            missing=missing,
            keys=keys,
        )

    def _file_parts(self, lines: Iterator[bytes]) -> list[BackupPart]:
        part, parts, count = bytearray(), list[BackupPart](), 0
        for line in lines:
            part += line
            count += 1
            if len(part) >= _MOST_BYTES or not zlib.crc32(line) % (_ONE_IN * 8):
                parts.append(self._keep(bytes(part), count))
                part, count = bytearray(), 0
        if count:
            parts.append(self._keep(bytes(part), count))
        return parts

    def _copied(
        self,
        rows: _Rows,
        digests: _Digests,
        theirs: Sequence[Iterator[str]],
        pool: ThreadPoolExecutor,
        missing: list[MissingFile],
    ) -> Iterator[str]:
        """Copy the files of a tenant that the place lacks; give the digests that it then has."""
        lake = self.source.lake.of(rows.tenant)
        total = (rows.used[1] - rows.used[0]) // _DIGEST_BYTES
        wanted = _wanted(
            digests.of(rows.used), lake.digests(), merge(*theirs), self.place.parts.digests()
        )
        done = 0
        copy = partial(self._copy, lake, rows.tenant)
        while batch := list(islice(wanted, _BATCH)):
            for (digest, is_used, _), found in zip(batch, pool.map(copy, batch), strict=True):
                done += is_used
                if isinstance(found, int):
                    self.sent.files += found >= 0
                    self.sent.bytes += max(found, 0)
                    yield digest
                elif is_used:
                    missing.append(MissingFile(sha256=digest, why=found))
                    self._tell_missing(rows.tenant, digest, found)
            self.tell("files", done, total)

    def _copy(self, lake: Lake, tenant: str, one: tuple[str, bool, bool]) -> int | str:
        """Copy a file; return how many bytes were sent, -1 for none, or why it can't be."""
        digest, is_used, is_there = one
        if is_there:
            return -1
        try:
            with lake.open(digest) as file, self.place.parts.writer() as writer:
                while data := file.read(_READ_AT_ONCE):
                    writer.write(data)
                kept, size = writer.keep(), writer.byte_count
        except GoneError:
            if is_used and not self._is_used(tenant, digest):
                if not self.is_last:
                    raise _ErasedError from None
                return "erased"
            return "gone"
        except IntegrityError:
            return "changed"
        if kept != digest:  # between the comparing and the copying
            return "changed"
        self._check(digest)
        return size

    def _is_used(self, tenant: str, digest: str) -> bool:
        return self.source.database.of(tenant).ask(uses.is_used, tenant, digest)

    def _tell_missing(self, tenant: str, digest: str, why: str) -> None:
        if why == "erased":
            self.notes.append(
                f"file {digest} of tenant {tenant!r} was erased while the backup was made"
            )
        else:
            said = "is gone from" if why == "gone" else "was changed in"
            self.problems.append(
                f"file {digest} of tenant {tenant!r} {said} the lake: bring it back from an older "
                "backup, or from another copy"
            )

    # Keys

    def _keys(self, tenant: str) -> list[KeyFile]:
        """Take the private keys along that are wanted; never plain ones unless it was said."""
        if self.source.taken is KeysTaken.NONE:
            return []
        if self.source.keys is None:
            raise InputError(
                "private keys are in no files here, and can't be taken along: leave --with-keys out"
            )
        found = []
        for path in _key_files(self.source.keys / tenant):
            try:
                data = path.read_bytes()
            except OSError as error:
                raise environment_problem(error) from error
            is_plain = path.suffix == ".pem" and not is_encrypted(data)
            if self.source.taken is KeysTaken.ENCRYPTED:
                if is_plain:
                    raise InputError(
                        f"{path}: this private key is plain, and whoever has the backup would have "
                        "it: encrypt it first (evidentia keys protect), or say --with-plain-keys"
                    )
                if path.suffix == ".key":
                    self.notes.append(
                        f"{path} is a plain secret, and is not in the backup: copy it yourself, or "
                        "say --with-plain-keys"
                    )
                    continue
            part = self._keep(data, 0)
            found.append(KeyFile(name=path.name, sha256=part.sha256))
        return found

    def tell(self, what: str, done: int, total: int) -> None:
        self.progress(what, done, total)


def _key_files(folder: Path) -> list[Path]:
    """Return the files in the folder of a tenant's private keys."""
    return [path for path in sorted(folder.glob("*")) if path.suffix in {".pem", ".json", ".key"}]


def _refuse_within(place: BackupPlace, lake: Lake) -> None:
    """Raise `InputError` for a place whose parts would be files of the lake, and its files parts.

    Pruning would remove those that no backup has yet.
    """
    if _places(place.parts) & _places(lake):
        raise InputError(
            f"{place.address} is where the lake has its files: name another place for backups"
        )


def _places(lake: Lake) -> set[str]:
    if isinstance(lake, MovedLake):
        return _places(lake.lake) | _places(lake.before)
    if isinstance(lake, FileLake):
        return {str(lake.folder.resolve())}
    return {lake.place} if isinstance(lake, ObjectLake) else set()


def _known_revision(database: Database, connection: Connection) -> str:
    """Return the schema's revision, which may be from before a contraction that waits.

    Raise `EnvironmentProblem` where the schema may have more than this program knows of.
    """
    found, known = schema.revision(connection), schema.head(database)
    if found is None or found > known:
        raise EnvironmentProblem(
            f"{database.where} has schema {found or 'none'}, and this program backs up {known}: "
            "use the program that the schema is of, or run 'evidentia db upgrade'"
        )
    return found


def _wanted(
    used: Iterable[str], lying: Iterable[str], others: Iterable[str], there: Iterable[str]
) -> Iterator[tuple[str, bool, bool]]:
    """Give what is to be in a backup, in order: a digest, whether it is used, whether it is there.

    All that rows refer to, and all that lies in the lake beside it, but for what is only others',
    or is to be removed.
    """
    tagged = merge(
        ((digest, "used") for digest in used),
        ((digest, "lying") for digest in lying),
        ((digest, "others") for digest in others),
        ((digest, "there") for digest in there),
    )
    for digest, found in groupby(tagged, key=lambda one: one[0]):
        tags = {tag for _, tag in found}
        if "used" in tags or ("lying" in tags and "others" not in tags):
            yield digest, "used" in tags, "there" in tags


def told(made: MadeBackup) -> str:
    """Say in a line what a backup has, and what of it was sent."""
    files = sum(one.files.count for one in made.manifest.tenants)
    entries = sum(one.log.size for one in made.manifest.tenants if one.log)
    sent = made.sent
    return (
        f"{counted(entries, 'entry', 'entries')} and {counted(files, 'file')} of "
        f"{counted(len(made.manifest.tenants), 'tenant')}; sent were "
        f"{counted(sent.parts, 'part')} and {counted(sent.files, 'file')}, "
        f"{counted(sent.bytes, 'byte')}"
    )

"""The lake: bytes by their SHA-256, written once, checked when they are read."""

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import file_digest, sha256
from heapq import merge
from io import BufferedReader
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Final, Protocol, TypeVar

from evidentia.canonical import sha256_hex
from evidentia.errors import EnvironmentProblem, GoneError, InputError, IntegrityError
from evidentia.store.files import (
    make_folder,
    remove_unfinished,
    sync_folder,
    sync_within,
    unfinished,
    write_durably,
)
from evidentia.trail.entry import check_tenant

_DIGEST = re.compile(r"[0-9a-f]{64}")
_COPY = re.compile(r"([0-9a-f]{64})(?:\.([1-9][0-9]{0,8}))?")
_DEPTH: Final = 4
"""How many folders a file is in, the lake's own among them."""
_SYNCED_AT_ONCE: Final = 8
_Read = TypeVar("_Read")
_Synced = TypeVar("_Synced", int, Path)


class LakeWriter(Protocol):
    """Bytes on their way into a lake; `byte_count` says how many were written so far."""

    byte_count: int

    def write(self, data: bytes) -> None:
        """Add bytes after those before."""

    def keep(self) -> str:
        """Keep what was written, and return its digest. It is durable when this returns."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where object storage has the bytes of a digest: under which key, as which version of it."""

    digest: str
    key: str
    version: str | None


class Lake(Protocol):
    """Where bytes are kept by their digest, whatever lies behind it.

    Write-once: the bytes of a digest never change, and keeping them again changes nothing, but
    that bytes which were damaged are mended. Durable: what `put` or `keep` has returned survives a
    crash. Checked: bytes whose digest is another are never given. Any number of threads and
    processes may use one at the same time. A digest that is none raises `InputError`, bytes that
    are gone `GoneError`, changed ones `IntegrityError`, a failing disk or network
    `EnvironmentProblem`.

    Bytes can have several copies, numbered from 0. Whoever removes bytes says up to which copy, so
    that a copy with a higher number, which someone made to rely on, is safe from a slow removal.
    """

    is_remote: bool = False
    """Whether every call goes over a network: none is made while a database's lock is held."""

    def of(self, tenant: str) -> "Lake":
        """Return the part of it that is a tenant's own; itself, where all tenants share it."""
        del tenant
        return self

    def shared(self) -> "Lake | None":
        """Return the part of it where the bytes of other tenants are, too; None if there is none.

        That part of a tenant's lake is read, and nothing is removed from it by `remove`.
        """
        return self

    def put(self, data: bytes, *, copy: int = 0) -> str:
        """Keep bytes; return their digest."""

    def put_all(
        self, data: Collection[bytes], *, copies: Mapping[str, int] = MappingProxyType({})
    ) -> list[str]:
        """Keep bytes of several digests, which are durable together; return the digests.

        `copies` says of some digests which copy is kept; of all others it is the first.
        """
        return [self.put(one, copy=copies.get(sha256_hex(one), 0)) for one in data]

    def writer(self) -> AbstractContextManager[LakeWriter]:
        """Give what keeps bytes piece by piece; what is not kept when the block ends is gone."""

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest."""

    def open(self, digest: str) -> AbstractContextManager[BufferedReader]:
        """Give the bytes of a digest as a stream, which was checked before; for large ones."""

    def check(self, digest: str) -> int:
        """Return how many bytes a digest has, once all of them were read and found the same."""

    def holds(self, digest: str) -> bool:
        """Whether there are bytes under a digest; they are not checked."""

    def digests(self) -> Iterator[str]:
        """Give the digests under which there are bytes, which are not checked, in order."""

    def remove(self, digest: str, *, through: int = 0) -> None:
        """Remove the copies of a digest up to one, where the law wants them erased."""

    def placed(self, digest: str) -> Placed | None:
        """Return where object storage has the bytes; None of a lake that is no object storage."""
        del digest
        return None

    def presigned(self, digest: str, seconds: int, *, at: Placed | None = None) -> str | None:
        """Return an address that gives the bytes to anyone for some seconds; None if it has none.

        `at` is where they were kept, as far as that is noted: that version is given, and not what
        took its place since. Who may have them is to be asked before.
        """
        del digest, seconds, at
        return None


class FileLake(Lake):
    """A lake in a folder: `sha256/ab/cd/abcd…`; a copy has its number behind it, `abcd….1`.

    With `by_tenant`, each tenant has a folder in it, and finds what all of them once shared.
    `tenant` is whose alone it is.
    """

    def __init__(self, folder: Path, *, by_tenant: bool = False, tenant: str | None = None) -> None:
        self._folder = folder if tenant is None else folder / check_tenant(tenant)
        self._is_tidy = False
        self._by_tenant = by_tenant
        self._tenant = tenant

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self._folder

    def of(self, tenant: str) -> Lake:
        """Return a tenant's own folder, before what all shared; itself, where all share it."""
        if not self._by_tenant:
            return self
        return MovedLake(FileLake(self._folder, tenant=tenant), FileLake(self._folder))

    def shared(self) -> Lake | None:
        """Return itself, unless it is one tenant's alone."""
        return self if self._tenant is None else None

    def put(self, data: bytes, *, copy: int = 0) -> str:
        """Keep bytes; return their digest."""
        self._tidy()
        digest = sha256_hex(data)
        path = self._path(digest, copy)
        with _writing(path):
            if not _has(path, data):
                make_folder(path.parent)
                write_durably(path, data, mode=0o600, aside=self._folder)
            sync_within(path.parent, self._folder)  # also what another process was killed before
        return digest

    def put_all(
        self, data: Collection[bytes], *, copies: Mapping[str, int] = MappingProxyType({})
    ) -> list[str]:
        """Keep bytes of several digests, which are durable together; return the digests.

        To wait for the disk once for all of them takes a fraction of the time.
        """
        self._tidy()
        digests = [sha256_hex(one) for one in data]
        paths = [self._path(digest, copies.get(digest, 0)) for digest in digests]
        with ExitStack() as stack, _writing(self._folder):
            written = []
            for path, one in zip(paths, data, strict=True):
                if not _has(path, one):
                    self._make_folder(path.parent)
                    file, temporary = stack.enter_context(unfinished(self._folder))
                    file.write(one)
                    file.flush()
                    written.append((file, temporary, path))
            _all_at_once(os.fsync, [file.fileno() for file, _, _ in written])
            for _, temporary, path in written:
                temporary.replace(path)
            above = {place for path in paths for place in path.parents[:_DEPTH]}
            _all_at_once(sync_folder, above)
        return digests

    def _make_folder(self, folder: Path) -> None:
        """Make a folder of the lake, which its owner alone can read; it is synchronised later."""
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            pass
        except FileNotFoundError:
            make_folder(folder.parent)
            folder.mkdir(mode=0o700, exist_ok=True)

    @contextmanager
    def writer(self) -> Iterator["FileLakeWriter"]:
        """Give what keeps bytes piece by piece; what is not kept when the block ends is gone."""
        self._tidy()
        make_folder(self._folder)
        with ExitStack() as stack:
            with _writing(self._folder):
                file, temporary = stack.enter_context(unfinished(self._folder))
            yield FileLakeWriter(self._path, file, temporary, self._folder)

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest."""
        path = self._found(digest)
        with _reading(path):
            data = path.read_bytes()
        if sha256_hex(data) != digest:
            raise _changed(path)
        return data

    @contextmanager
    def open(self, digest: str) -> Iterator[BufferedReader]:
        """Give the bytes of a digest as a stream, which was checked before; for large ones."""
        path = self._found(digest)
        with _reading(path):
            file = path.open("rb")
        with file:
            with _reading(path):
                same = file_digest(file, sha256).hexdigest() == digest
                file.seek(0)
            if not same:
                raise _changed(path)
            yield file

    def check(self, digest: str) -> int:
        """Return how many bytes a digest has, once all of them were read and found the same."""
        with self.open(digest) as file:
            return file.seek(0, os.SEEK_END)

    def holds(self, digest: str) -> bool:
        """Whether there are bytes under a digest; they are not checked."""
        return self._found(digest).exists()

    def digests(self) -> Iterator[str]:
        """Give the digests under which there are bytes, which are not checked, in order."""
        given = ""
        for path in sorted((self._folder / "sha256").glob("??/??/*")):
            digest, copy = named_copy(path.name)
            if digest != given and digest and path == self._path(digest, copy):
                given = digest
                yield digest

    def remove(self, digest: str, *, through: int = 0) -> None:
        """Remove the copies of a digest up to one, where the law wants them erased."""
        for copy in range(through + 1):
            try:
                self._path(digest, copy).unlink(missing_ok=True)
            except OSError as error:
                raise EnvironmentProblem(
                    f"{digest}: cannot be removed ({error.strerror})"
                ) from error

    def _tidy(self) -> None:
        """Before the first write, remove what a killed process left half-written."""
        if not self._is_tidy:
            remove_unfinished(self._folder)
            self._is_tidy = True

    def _path(self, digest: str, copy: int = 0) -> Path:
        return self._folder.joinpath(*place_of(digest, copy))

    def _found(self, digest: str) -> Path:
        """Return where the first copy of a digest is that is there."""
        first = self._path(digest)
        if first.exists():
            return first
        return min(first.parent.glob(f"{digest}.*"), key=lambda one: one.name, default=first)


class MovedLake(Lake):
    """A lake that took another one's place: new bytes go into it, and old ones stay readable."""

    def __init__(self, lake: Lake, before: Lake) -> None:
        self.lake = lake
        self.before = before
        self.is_remote = lake.is_remote

    def of(self, tenant: str) -> Lake:
        """Return a tenant's own part, before its part of the older one."""
        return MovedLake(self.lake.of(tenant), self.before.of(tenant))

    def shared(self) -> Lake | None:
        """Return the older part that other tenants use, too, if they do."""
        return self.lake.shared() or self.before.shared()

    def put(self, data: bytes, *, copy: int = 0) -> str:
        """Keep bytes; return their digest."""
        return self.lake.put(data, copy=copy)

    def put_all(
        self, data: Collection[bytes], *, copies: Mapping[str, int] = MappingProxyType({})
    ) -> list[str]:
        """Keep bytes of several digests, which are durable together; return the digests."""
        return self.lake.put_all(data, copies=copies)

    def writer(self) -> AbstractContextManager[LakeWriter]:
        """Give what keeps bytes piece by piece; what is not kept when the block ends is gone."""
        return self.lake.writer()

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest."""
        return self._first(digest, lambda lake: lake.get(digest))

    @contextmanager
    def open(self, digest: str) -> Iterator[BufferedReader]:
        """Give the bytes of a digest as a stream, which was checked before; for large ones."""
        with ExitStack() as stack:
            yield self._first(digest, lambda lake: stack.enter_context(lake.open(digest)))

    def check(self, digest: str) -> int:
        """Return how many bytes a digest has, once all of them were read and found the same."""
        return self._first(digest, lambda lake: lake.check(digest))

    def holds(self, digest: str) -> bool:
        """Whether there are bytes under a digest; they are not checked."""
        return self.lake.holds(digest) or self.before.holds(digest)

    def digests(self) -> Iterator[str]:
        """Give the digests under which there are bytes in either, in order.

        In the older one may be those of other tenants.
        """
        given = ""
        for digest in merge(self.lake.digests(), self.before.digests()):
            if digest != given:
                given = digest
                yield digest

    def remove(self, digest: str, *, through: int = 0) -> None:
        """Remove the copies of a digest up to one, except from a part that others use, too."""
        for part in (self.lake, self.before):
            if part.shared() is not part:
                part.remove(digest, through=through)

    def placed(self, digest: str) -> Placed | None:
        """Return where object storage has the bytes; None of a lake that is no object storage."""
        return self.lake.placed(digest)

    def presigned(self, digest: str, seconds: int, *, at: Placed | None = None) -> str | None:
        """Return an address that gives the bytes to anyone for some seconds; None if it has none.

        `at` is where they were kept, as far as that is noted: that version is given, and not what
        took its place since. Who may have them is to be asked before.
        """
        return self.lake.presigned(digest, seconds, at=at) if self.lake.holds(digest) else None

    def _first(self, digest: str, read: Callable[[Lake], _Read]) -> _Read:
        """Read where the bytes are; where they are nowhere, say so of the newer one."""
        try:
            return read(self.lake)
        except GoneError:
            if not self.before.holds(digest):
                raise
            return read(self.before)


def newest(lake: Lake) -> Lake:
    """Return the part of a lake that new bytes go into."""
    return newest(lake.lake) if isinstance(lake, MovedLake) else lake


def place_of(digest: str, copy: int = 0) -> tuple[str, str, str, str]:
    """Return the names of folders and file under which a lake keeps a copy of a digest."""
    if not _DIGEST.fullmatch(digest):
        raise InputError(f"{digest[:80]!r} is not a SHA-256 digest in hexadecimal")
    return "sha256", digest[:2], digest[2:4], f"{digest}.{copy}" if copy else digest


def named_copy(name: str) -> tuple[str, int]:
    """Return the digest and the number of the copy that a name is of; no digest if of none."""
    found = _COPY.fullmatch(name)
    return (found[1], int(found[2] or 0)) if found else ("", 0)


def _all_at_once(sync: Callable[[_Synced], object], those: Collection[_Synced]) -> None:
    """Wait for the disk for several things: a file system writes what waits together at once."""
    if len(those) < 2:  # noqa: PLR2004 - one needs no one beside it
        for one in those:
            sync(one)
        return
    with ThreadPoolExecutor(min(_SYNCED_AT_ONCE, len(those))) as pool:
        list(pool.map(sync, those))


class FileLakeWriter(LakeWriter):
    """Bytes on their way into a lake in a folder."""

    def __init__(
        self, place: Callable[[str], Path], file: BinaryIO, temporary: Path, folder: Path
    ) -> None:
        self.byte_count = 0
        self._place, self._file, self._temporary = place, file, temporary
        self._folder = folder
        self._digest = sha256()

    def write(self, data: bytes) -> None:
        """Add bytes after those before."""
        with _writing(self._temporary):
            self._file.write(data)
        self._digest.update(data)
        self.byte_count += len(data)

    def keep(self) -> str:
        """Keep what was written, and return its digest. It is durable when this returns."""
        digest = self._digest.hexdigest()
        path = self._place(digest)
        with _writing(path):
            if not _has_digest(path, digest):
                make_folder(path.parent)
                self._file.flush()
                os.fsync(self._file.fileno())
                self._temporary.replace(path)
            sync_within(path.parent, self._folder)
        return digest


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EnvironmentProblem(f"{path}: cannot be written ({error.strerror})") from error


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise GoneError(f"{path}: gone from the lake; bring it back from a copy") from None
    except OSError as error:
        raise EnvironmentProblem(f"{path}: cannot be read ({error.strerror})") from error


def _changed(path: Path) -> IntegrityError:
    return IntegrityError(f"{path}: its bytes were changed since they were kept")


def _has_digest(path: Path, digest: str) -> bool:
    try:
        with path.open("rb") as file:
            return file_digest(file, sha256).hexdigest() == digest
    except OSError:
        return False


def _has(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() == data
    except OSError:
        return False

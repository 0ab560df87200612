"""The lake: files by the SHA-256 of their bytes, written once, checked when they are read."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import file_digest, sha256
from pathlib import Path
from typing import BinaryIO

from evidentia.canonical import sha256_hex
from evidentia.errors import EnvironmentProblem, InputError, IntegrityError
from evidentia.store.files import make_folder, sync_folder, write_durably

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Lake:
    """A folder of immutable files: `sha256/ab/cd/abcd…`. The same bytes are kept once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, data: bytes) -> str:
        """Keep bytes; return their digest. They are durable when this returns."""
        digest = sha256_hex(data)
        path = self.path(digest)
        if not _holds(path, data):
            make_folder(path.parent)
            write_durably(path, data, mode=0o600)
        return digest

    @contextmanager
    def writer(self) -> Iterator["LakeWriter"]:
        """Give what keeps bytes piece by piece; what is not kept when the block ends is gone."""
        make_folder(self.folder)
        with _writing(self.folder):
            handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=".writing.")
        file = os.fdopen(handle, "wb")
        try:
            yield LakeWriter(self, file, Path(temporary))
        finally:
            with suppress(OSError):  # what is not kept need not be written
                file.close()
            Path(temporary).unlink(missing_ok=True)

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest; raise `IntegrityError` if they are gone or changed."""
        path = self.path(digest)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise IntegrityError(f"{path}: gone from the lake; bring it back from a copy") from None
        except OSError as error:
            raise EnvironmentProblem(f"{path}: cannot be read ({error.strerror})") from error
        if sha256_hex(data) != digest:
            raise IntegrityError(f"{path}: its bytes were changed since they were kept")
        return data

    def remove(self, digest: str) -> None:
        """Remove the bytes of a digest, where the law wants them erased."""
        try:
            self.path(digest).unlink(missing_ok=True)
        except OSError as error:
            raise EnvironmentProblem(f"{digest}: cannot be removed ({error.strerror})") from error

    def path(self, digest: str) -> Path:
        """Return where the bytes of a digest are, if they are kept; they are not checked."""
        if not _DIGEST.fullmatch(digest):
            raise InputError(f"{digest[:80]!r} is not a SHA-256 digest in hexadecimal")
        return self.folder / "sha256" / digest[:2] / digest[2:4] / digest


class LakeWriter:
    """Bytes on their way into a lake; `byte_count` says how many were written so far."""

    def __init__(self, lake: Lake, file: BinaryIO, temporary: Path) -> None:
        self.byte_count = 0
        self._lake, self._file, self._temporary = lake, file, temporary
        self._digest = sha256()

    def write(self, data: bytes) -> None:
        """Add bytes after those before."""
        with _writing(self._temporary):
            self._file.write(data)
        self._digest.update(data)
        self.byte_count += len(data)

    def keep(self) -> str:
        """Keep what was written, under its digest. It is durable when this returns."""
        digest = self._digest.hexdigest()
        path = self._lake.path(digest)
        with _writing(path):
            if not _has_digest(path, digest):
                make_folder(path.parent)
                self._file.flush()
                os.fsync(self._file.fileno())
                self._temporary.replace(path)
                sync_folder(path.parent)
        return digest


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EnvironmentProblem(f"{path}: cannot be written ({error.strerror})") from error


def _has_digest(path: Path, digest: str) -> bool:
    try:
        with path.open("rb") as file:
            return file_digest(file, sha256).hexdigest() == digest
    except OSError:
        return False


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() == data
    except OSError:
        return False

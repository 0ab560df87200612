"""The lake: files by the SHA-256 of their bytes, written once, checked when they are read."""

import re
from pathlib import Path

from evidentia.canonical import sha256_hex
from evidentia.errors import EnvironmentProblem, InputError, IntegrityError
from evidentia.store.files import make_folder, write_durably

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Lake:
    """A folder of immutable files: `sha256/ab/cd/abcd…`. The same bytes are kept once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, data: bytes) -> str:
        """Keep bytes; return their digest. They are durable when this returns."""
        digest = sha256_hex(data)
        path = self._path(digest)
        if not _holds(path, data):
            make_folder(path.parent)
            write_durably(path, data, mode=0o600)
        return digest

    def get(self, digest: str) -> bytes:
        """Return the bytes of a digest; raise `IntegrityError` if they are gone or changed."""
        path = self._path(digest)
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
            self._path(digest).unlink(missing_ok=True)
        except OSError as error:
            raise EnvironmentProblem(f"{digest}: cannot be removed ({error.strerror})") from error

    def _path(self, digest: str) -> Path:
        if not _DIGEST.fullmatch(digest):
            raise InputError(f"{digest[:80]!r} is not a SHA-256 digest in hexadecimal")
        return self.folder / "sha256" / digest[:2] / digest[2:4] / digest


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.read_bytes() == data
    except OSError:
        return False

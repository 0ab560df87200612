"""The files that bundles are made of: below one folder, the lake's root, and never beyond it."""

import fnmatch
import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Final

from evidentia.errors import InputError, NotFoundError

MAX_BYTES: Final = 512 * 2**20
"""What is read of one text, response or transcript; results are streamed and may be larger."""
KEPT: Final = "sha256"
"""The folder of a lake in which files are kept by their digest."""
PRIVATE: Final = ".evidentia"
"""The folder in a lake whose files no reference may name: it holds the lake's secret key."""


class Originals:
    """The files below a folder, by their path within it; a path that leaves it is refused.

    So is what is `private`, a folder that may be within, and everything where there is no root.
    """

    def __init__(self, root: Path | None, *, private: Path | None = None) -> None:
        self._root = root
        self._private = private

    @property
    def root(self) -> Path:
        """The folder; raise `InputError` where none was given."""
        if self._root is None:
            raise InputError("a reference names a file: say with lake_root below which folder")
        return self._root

    def require(self) -> None:
        """Raise `NotFoundError` if the folder is not there."""
        if not self.root.is_dir():
            raise NotFoundError(f"lake_root {self.root}: no such folder")

    def path(self, lake_uri: str, origin: str) -> Path:
        """Return where a file is; raise `InputError` naming the reference if it is none."""
        path = self._inside(lake_uri, origin)
        if path.is_dir():
            raise InputError(
                f"{origin}: {lake_uri} is a folder; name a file, or give "
                f'{{"folder": "{lake_uri}"}} for all files in it'
            )
        if not path.exists():
            raise InputError(f"{origin}: {lake_uri} is not in the lake: paths begin at its root")
        if not path.is_file():
            raise InputError(f"{origin}: {lake_uri} is not a file")
        return path

    def read(self, lake_uri: str, origin: str) -> bytes:
        """Return a file's bytes."""
        path = self.path(lake_uri, origin)
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise InputError(f"{origin}: {lake_uri} cannot be read ({error.strerror})") from None
        if len(data) > MAX_BYTES:
            raise InputError(
                f"{origin}: {lake_uri} has more than the {MAX_BYTES:,} bytes that are read: "
                "split the file"
            )
        return data

    def within(self, folder: str, pattern: str, origin: str) -> list[str]:
        """Return the files of a folder and the folders in it that fit a pattern, sorted by name.

        Hidden files are left out, and what bundles keep in the lake by its digest. `*` alone
        stands for all; a pattern is compared with the name.
        """
        start = self._inside(folder, origin)
        if not start.is_dir():
            raise InputError(
                f"{origin}: there is no folder {folder} in the lake: paths begin at its root"
            )
        found = []
        root = self.root.resolve()
        for parent, folders, names in os.walk(start, onerror=_refuse(origin)):
            kept = KEPT if Path(parent) == root else None
            folders[:] = sorted(
                name
                for name in folders
                if not name.startswith(".")
                and name != kept
                and not self._is_private(Path(parent, name))
            )
            found += [
                Path(parent, name).relative_to(root).as_posix()
                for name in names
                if not name.startswith(".") and fnmatch.fnmatchcase(name, pattern)
            ]
        if not found:
            raise InputError(f"{origin}: no file in {folder} fits {pattern!r}")
        return sorted(found)

    def _inside(self, lake_uri: str, origin: str) -> Path:
        try:
            lake_uri.encode()
        except UnicodeEncodeError:
            raise InputError(f"{origin}: {lake_uri!a} is not a path") from None
        parts = PurePosixPath(lake_uri)
        drive = ":" in lake_uri.split("/", 1)[0]
        if not lake_uri.isprintable() or "\\" in lake_uri or drive:
            raise InputError(f"{origin}: {lake_uri!a} is not a path within the lake")
        if PRIVATE in parts.parts:
            raise InputError(f"{origin}: {lake_uri} is private to the lake")
        if parts.is_absolute() or ".." in parts.parts:
            raise InputError(
                f"{origin}: {lake_uri} leaves the lake: give a path from its root, without '..'"
            )
        try:
            root = self.root.resolve()
            path = (root / parts).resolve()
        except (OSError, RuntimeError):  # links that lead to themselves; names that are too long
            raise InputError(f"{origin}: {lake_uri} leads nowhere") from None
        if not path.is_relative_to(root) or PRIVATE in path.relative_to(root).parts:
            raise InputError(f"{origin}: {lake_uri} is a link that leaves the lake")
        if self._is_private(path):
            raise InputError(f"{origin}: {lake_uri} is private to the workspace")
        try:
            path.stat()
        except FileNotFoundError:
            pass
        except OSError as error:
            raise InputError(f"{origin}: {lake_uri} cannot be read ({error.strerror})") from None
        return path

    def _is_private(self, path: Path) -> bool:
        return self._private is not None and path.is_relative_to(self._private.resolve())


def _refuse(origin: str) -> Callable[[OSError], None]:
    def refuse(error: OSError) -> None:
        raise InputError(f"{origin}: a folder cannot be read ({error.strerror})") from None

    return refuse

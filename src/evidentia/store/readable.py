"""A copy of an embedded database that can be read where the file itself can't, or may not change.

SQLite reads a file in WAL mode only where it may write beside it. An auditor's copy is often on a
medium or in a folder that no one may write to. What stands in its WAL is part of it: so the file
is never read without.
"""

import shutil
import tempfile
from pathlib import Path
from types import ModuleType

from evidentia.errors import EnvironmentProblem

_ATTEMPTS = 3
_BESIDE = ("wal", "journal")
"""What completes a file, or takes back what was not finished in it."""
_REFUSALS = ("unable to open", "readonly", "read-only")


class ReadableCopy:
    """A copy of a database's file, with its WAL or journal, in a folder of its own."""

    def __init__(self, folder: Path, file: Path) -> None:
        self._folder = folder
        self.file = file

    @classmethod
    def if_needed(cls, path: Path, module: ModuleType) -> "ReadableCopy | None":
        """Return a copy of a file that SQLite refuses to open where it is; None if it doesn't.

        What else may be wrong with the file is found when it is read.
        """
        if not path.exists():
            return None
        try:
            connection = module.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
            try:
                connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
            finally:
                connection.close()
        except module.Error as error:
            if any(word in str(error) for word in _REFUSALS):
                return cls.made(path)
        return None

    @classmethod
    def made(cls, path: Path) -> "ReadableCopy":
        """Copy a file with its WAL or journal; raise `EnvironmentProblem` if that can't be done."""
        folder = Path(tempfile.mkdtemp(prefix="evidentia-"))
        copy = cls(folder, folder / path.name)
        files = [path, *(path.with_name(f"{path.name}-{kind}") for kind in _BESIDE)]
        try:
            for _ in range(_ATTEMPTS):
                before = [_state(one) for one in files]
                for one, state in zip(files, before, strict=True):
                    (folder / one.name).unlink(missing_ok=True)
                    if state is not None or one == path:
                        shutil.copyfile(one, folder / one.name)
                if before == [_state(one) for one in files]:
                    return copy
        except OSError as error:
            copy.remove()
            raise EnvironmentProblem(
                f"{path}: cannot be read, nor copied to {folder} to be read ({error.strerror})"
            ) from error
        copy.remove()
        raise EnvironmentProblem(
            f"{path}: cannot be read where it is, and is written while it is copied: try again, or "
            "read a copy of your own"
        )

    def remove(self) -> None:
        """Remove the copy."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _state(path: Path) -> tuple[int, int] | None:
    """Return a file's size and when it was changed; None if it is not there."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns

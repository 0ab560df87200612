"""Files that are there whole or not at all, and stay after a power cut.

A file is written under a name of its own first, and then moved to its place. Its writer holds a
lock on it, which the system lets go of when the process ends, however it ends: so what a killed
process left behind can be told from what is still being written, and is removed.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from evidentia.errors import EnvironmentProblem, InputError

try:
    import fcntl
except ImportError:  # not on every system; what is left behind is told by its age there
    fcntl = None  # type: ignore[assignment]

_UNFINISHED: Final = ".evidentia-writing-"
_OLD_SECONDS: Final = 24 * 3600


def make_folder(folder: Path, *, mode: int = 0o700) -> None:
    """Make a folder that its owner alone can read, if it is not there; it survives a power cut.

    The folders above it that are not there either are made the same way.
    """
    try:
        new = [place for place in (folder, *folder.parents) if not place.exists()]
        for place in reversed(new):
            place.mkdir(mode=mode, exist_ok=True)
            sync_folder(place.parent)
        folder.mkdir(exist_ok=True)  # a file of that name is in the way
    except OSError as error:
        raise EnvironmentProblem(f"{folder}: cannot be made ({error.strerror})") from error


def write_durably(path: Path, data: bytes, *, mode: int = 0o644, aside: Path | None = None) -> None:
    """Write a file: beside its place first, synchronised, and then moved over it.

    `aside` is another folder of the same disk to write it in first, which `remove_unfinished` is
    called for when it is opened; without it, what a killed process left beside the file is removed
    here.
    """
    try:
        make_folder(path.parent, mode=0o777)
        if aside is None:
            remove_unfinished(path.parent)
        with unfinished(aside or path.parent) as (file, temporary):
            os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise EnvironmentProblem(f"{path}: cannot be written ({error.strerror})") from error


@contextmanager
def unfinished(folder: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Give a new file in a folder, and its name; if it is still there at the end, it is removed."""
    file, path = _new_file(folder)
    try:
        yield file, path
    finally:
        with suppress(OSError):  # what was not moved to its place need not be written
            file.close()
        with suppress(OSError):  # nor be removed now: whoever opens the folder next does it
            path.unlink(missing_ok=True)


def remove_unfinished(folder: Path) -> None:
    """Remove what writers that are no more have left in a folder; it need not be there.

    What cannot be looked at or removed stays: it is in nobody's way.
    """
    with suppress(OSError), os.scandir(folder) as found:
        for one in found:
            if one.name.startswith(_UNFINISHED):
                with suppress(OSError):
                    _remove_if_left(Path(one.path))


def _new_file(folder: Path) -> tuple[BinaryIO, Path]:
    """Make a file and lock it; if it was taken for a left one before that, make another."""
    while True:
        handle, name = tempfile.mkstemp(dir=folder, prefix=_UNFINISHED)
        file = os.fdopen(handle, "wb")
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX)
            if os.fstat(handle).st_nlink:
                return file, Path(name)
        except BaseException:
            file.close()
            Path(name).unlink(missing_ok=True)
            raise
        file.close()


def _remove_if_left(path: Path) -> None:
    """Remove a file if its writer is no more: nobody holds its lock, or it is a day old."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif time.time() - os.fstat(handle).st_mtime < _OLD_SECONDS:  # noqa: TID251 - by the disk's clock
            return
        path.unlink()
    finally:
        os.close(handle)


def check_name(path: Path) -> None:
    """Raise `InputError` for a path that nothing can be called by: too long, or not readable."""
    try:
        path.lstat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: no file can be there ({why})") from None


def check_writable(path: Path, *, overwrite: bool) -> None:
    """Raise `InputError` where a file that was asked for cannot go, before the work is done."""
    check_name(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file")
    if path.exists() and not overwrite:
        raise InputError(f"{path} is there already: name another file, or overwrite it (--force)")
    if not path.parent.is_dir():
        raise InputError(f"{path.parent}: there is no such folder")


def sync_within(folder: Path, root: Path) -> None:
    """Make a folder, and those it lies in up to a root, survive a power cut."""
    for place in (folder, *folder.parents):
        sync_folder(place)
        if place == root:
            break


def sync_folder(folder: Path) -> None:
    """Make what a folder lists survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

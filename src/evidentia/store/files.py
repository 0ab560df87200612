"""Files that are there whole or not at all, and stay after a power cut."""

import os
import tempfile
from pathlib import Path

from evidentia.errors import EnvironmentProblem, InputError


def make_folder(folder: Path) -> None:
    """Make a folder that its owner alone can read, if it is not there; it survives a power cut."""
    try:
        new = [place for place in (folder, *folder.parents) if not place.exists()]
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for place in new:
            sync_folder(place.parent)
    except OSError as error:
        raise EnvironmentProblem(f"{folder}: cannot be made ({error.strerror})") from error


def write_durably(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """Write a file: beside its place first, synchronised, and then moved over it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                os.fchmod(file.fileno(), mode)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        sync_folder(path.parent)
    except OSError as error:
        raise EnvironmentProblem(f"{path}: cannot be written ({error.strerror})") from error


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


def sync_folder(folder: Path) -> None:
    """Make what a folder lists survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

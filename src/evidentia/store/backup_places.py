"""Where backups are kept: a folder or a bucket, with any number of them side by side.

`sha256/ab/cd/…` has the parts of all of them, each once, by its digest: the same layout as a lake.
`backups/NAME.json` is a manifest, written last: a backup without one was never finished. Who makes
one says so under `working/`, so that no part is removed meanwhile that it relies on.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from evidentia.canonical import sha256_hex
from evidentia.errors import (
    BusyError,
    EnvironmentProblem,
    GoneError,
    IntegrityError,
    NotFoundError,
    environment_problem,
)
from evidentia.store.files import make_folder, remove_unfinished, write_durably
from evidentia.store.lake import FileLake, Lake
from evidentia.store.objects import ObjectLake, is_bucket
from evidentia.trail.backup import BackupManifest

_NAME: Final = re.compile(r"\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{12}")
_MANIFESTS: Final = "backups"
_WORKING: Final = "working"
_MAKES, _PRUNES = "makes", "prunes"
LATEST: Final = "latest"
_FORGOTTEN_HOURS: Final = 48
"""After so long, what was left by a process that was killed keeps no one from pruning."""

Finish = Callable[[BackupManifest], str]
"""Keeps a manifest, which makes a backup one, and returns its name."""


class _Files(Protocol):
    """Small files by their names, whole or not at all."""

    def write(self, name: str, data: bytes) -> None:
        """Keep a file durably."""

    def read(self, name: str) -> bytes | None:
        """Return a file; None if there is none."""

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder, in order."""

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""


class BackupPlace:
    """A folder or a bucket with backups; threads may share one.

    Nothing is made before the first backup is written.
    """

    def __init__(self, address: str) -> None:
        remote = is_bucket(address)
        self.address = address.rstrip("/") if remote else address
        self.parts: Lake
        self._files: _Files
        if remote:
            lake = ObjectLake(address)
            self.parts, self._files = lake, _BucketFiles(lake)
        else:
            self.parts, self._files = FileLake(Path(address)), _FolderFiles(Path(address))

    def names(self) -> list[str]:
        """Return the names of the backups that were finished, the oldest first."""
        found = (name.removesuffix(".json") for name in self._files.names(_MANIFESTS))
        return [name for name in found if _NAME.fullmatch(name)]

    def manifest(self, name: str = LATEST) -> tuple[str, BackupManifest]:
        """Return a backup's name and manifest; raise `IntegrityError` if it was changed."""
        if name == LATEST:
            name = next(reversed(self.names()), "")
            if not name:
                raise NotFoundError(f"{self.address}: there is no backup here")
        data = self._files.read(f"{_MANIFESTS}/{name}.json") if _NAME.fullmatch(name) else None
        if data is None:
            raise NotFoundError(
                f"{self.address}: there is no backup {name[:80]!r}; 'evidentia backup list' names "
                "those there are"
            )
        if sha256_hex(data)[:12] != name.rpartition("-")[2]:
            raise IntegrityError(
                f"{self.address}: the manifest of backup {name} was changed: its digest is not the "
                "one that it is named after"
            )
        return name, BackupManifest.decode(data, f"{self.address}: the manifest of {name}")

    def finish(self, manifest: BackupManifest) -> str:
        """Keep a manifest, which makes a backup one; return its name."""
        data = manifest.encode()
        name = name_of(manifest.created_at, data)
        self._files.write(f"{_MANIFESTS}/{name}.json", data)
        return name

    def forget(self, name: str) -> None:
        """Remove a manifest; its parts stay until they are pruned."""
        self._files.remove(f"{_MANIFESTS}/{name}.json")

    @contextmanager
    def making(self, now: str, token: str) -> Iterator[Finish]:
        """Keep parts from being pruned meanwhile; any number may make backups at once.

        Give what finishes the backup, unless it took so long that parts may be gone.
        """
        with self._working(_MAKES, now, token) as marker:
            if since := self._under_way(_PRUNES, now):
                raise BusyError(
                    f"{self.address}: it is being pruned since {since}, and no backup is made "
                    f"meanwhile: try again once it is done; {_killed(_PRUNES)}"
                )
            yield partial(self._finish, marker)

    def _finish(self, marker: str, manifest: BackupManifest) -> str:
        name = self.finish(manifest)
        # Behind the manifest: whoever prunes forgets who makes backups before reading manifests.
        if self._files.read(marker) is None:
            self.forget(name)
            raise BusyError(
                f"{self.address}: the backup took more than {_FORGOTTEN_HOURS} hours, and older "
                "ones were pruned meanwhile, with parts that it may need: there is no backup; make "
                "it again, which sends little, and prune once it is there"
            )
        return name

    @contextmanager
    def pruning(self, now: str, token: str) -> Iterator[Callable[[], None]]:
        """Have no one make a backup meanwhile; raise `BusyError` if anyone does.

        Give what is to be called now and then: it raises `BusyError` once that took so long that
        someone may make a backup.
        """
        with self._working(_PRUNES, now, token) as marker:
            if since := self._under_way(_MAKES, now):
                raise BusyError(
                    f"{self.address}: a backup is being made since {since}, and nothing is pruned "
                    f"meanwhile: try again once it is done; {_killed(_MAKES)}"
                )
            yield partial(self._go_on, marker)

    def _go_on(self, marker: str) -> None:
        if self._files.read(marker) is None:
            raise BusyError(
                f"{self.address}: pruning took more than {_FORGOTTEN_HOURS} hours, and a backup "
                "was begun meanwhile: prune again once it is done, which goes on with it"
            )

    @contextmanager
    def _working(self, what: str, now: str, token: str) -> Iterator[str]:
        name = f"{_WORKING}/{what}-{_compact(now)}-{token}"
        self._files.write(name, b"")
        try:
            yield name
        finally:
            with suppress(EnvironmentProblem):  # what is left behind is forgotten in time
                self._files.remove(name)

    def _under_way(self, what: str, now: str) -> str | None:
        """Return since when someone does something, if they do; what is too old is removed."""
        for name in self._files.names(_WORKING):
            found = re.fullmatch(rf"{what}-(\d{{8}}T\d{{6}}\.\d{{6}}Z)-[0-9a-f]+", name)
            if found and _hours_between(found[1], _compact(now)) < _FORGOTTEN_HOURS:
                return found[1]
            if found:
                self._files.remove(f"{_WORKING}/{name}")
        return None


def name_of(created_at: str, manifest: bytes) -> str:
    """Return the name of a backup: when it was made, and its manifest's digest."""
    return f"{_compact(created_at)}-{sha256_hex(manifest)[:12]}"


def _killed(what: str) -> str:
    return (
        f"if it was killed, remove {_WORKING}/{what}-…, which counts for {_FORGOTTEN_HOURS} hours"
    )


def _compact(time: str) -> str:
    return time.replace("-", "").replace(":", "")


def _hours_between(earlier: str, later: str) -> float:
    from datetime import datetime  # noqa: PLC0415 - rarely needed

    form = "%Y%m%dT%H%M%S.%fZ"
    between = datetime.strptime(later, form) - datetime.strptime(earlier, form)  # noqa: DTZ007 - both are in UTC
    return between.total_seconds() / 3600


class _FolderFiles(_Files):
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, name: str, data: bytes) -> None:
        path = self._folder / name
        make_folder(path.parent)
        remove_unfinished(path.parent)
        write_durably(path, data, mode=0o600, aside=path.parent)

    def read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise environment_problem(error) from error

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(path.name for path in (self._folder / folder).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise environment_problem(error) from error

    def remove(self, name: str) -> None:
        try:
            (self._folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise environment_problem(error) from error


class _BucketFiles(_Files):
    def __init__(self, lake: ObjectLake) -> None:
        self._lake = lake

    def write(self, name: str, data: bytes) -> None:
        with self._lake.asking(name) as client:
            client.put(self._lake.store, name, data)

    def read(self, name: str) -> bytes | None:
        try:
            with self._lake.asking(name) as client:
                return bytes(client.get(self._lake.store, name).bytes())
        except GoneError:
            return None

    def names(self, folder: str) -> list[str]:
        with self._lake.asking(folder) as client:
            return sorted(
                one["path"].rpartition("/")[2]
                for page in client.list(self._lake.store, f"{folder}/")
                for one in page
            )

    def remove(self, name: str) -> None:
        with suppress(GoneError), self._lake.asking(name) as client:
            client.delete(self._lake.store, name)

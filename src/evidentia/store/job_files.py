"""Files of jobs: what one was given to work on, and what it made; each job has a place of its own.

They are where the lake is, so that every server of a workspace finds them: in the bucket, in the
folder that servers share, or in the home. Bytes are checked when they are read. They are no
evidence, and go with their job.
"""

import re
import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Protocol

from evidentia.canonical import sha256_hex
from evidentia.errors import EnvironmentProblem, GoneError, InputError
from evidentia.store.files import make_folder
from evidentia.store.home import Home
from evidentia.store.lake import FileLake
from evidentia.store.objects import ObjectLake

_PLAIN: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_FOLDER: Final = "_jobs"
"""No tenant is called so: what is in it is no part of anyone's lake."""
_BEGUN: Final = sha256_hex(b"")
"""What marks a place in a bucket where files are being made, which has no folders."""


class JobFiles(Protocol):
    """The files of all jobs of a workspace, by tenant, job and digest; any number may use them."""

    def put(self, tenant: str, job_id: str, data: bytes) -> str:
        """Keep bytes for a job, durably; return their digest."""

    def get(self, tenant: str, job_id: str, digest: str) -> bytes:
        """Return bytes of a job; raise `GoneError` if they went with it."""

    def begin(self, tenant: str, job_id: str) -> None:
        """Make the place of files that are being made."""

    def is_begun(self, tenant: str, job_id: str, seconds: float) -> bool:
        """Whether a place was made within the last so many seconds, and nothing is there yet."""

    def only(self, tenant: str, job_id: str) -> bytes | None:
        """Return the one file that a place has; None if there is none."""

    def remove(self, tenant: str, job_id: str) -> None:
        """Remove all files of a job, if there are any."""

    def older(self, seconds: float) -> list[tuple[str, str]]:
        """Return the tenants and ids of jobs whose files were last added to so long ago."""


def open_job_files(lake: str | None, home: Home) -> JobFiles:
    """Return the files of jobs beside a lake; those that were in the home are found there."""
    at_home = FolderJobFiles(home.jobs)
    if lake is None:
        return at_home
    made = BucketJobFiles(lake) if "://" in lake else FolderJobFiles(Path(lake) / _FOLDER)
    return MovedJobFiles(made, at_home)


class FolderJobFiles(JobFiles):
    """The files of all jobs of a workspace, in a folder: `TENANT/JOB/…`, by digest."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, tenant: str, job_id: str, data: bytes) -> str:
        """Keep bytes for a job, durably; return their digest."""
        place = self._place(tenant, job_id)
        make_folder(place)
        return FileLake(place).put(data)

    def get(self, tenant: str, job_id: str, digest: str) -> bytes:
        """Return bytes of a job; raise `GoneError` if they went with it."""
        return FileLake(self._place(tenant, job_id)).get(digest)

    def begin(self, tenant: str, job_id: str) -> None:
        """Make the place of files that are being made."""
        make_folder(self._place(tenant, job_id))

    def is_begun(self, tenant: str, job_id: str, seconds: float) -> bool:
        """Whether a place was made within the last so many seconds, and nothing is there yet."""
        place = self._place(tenant, job_id)
        try:
            made = place.stat().st_mtime
        except FileNotFoundError:
            return False
        is_new = made > time.time() - seconds  # noqa: TID251 - as the disk's own times are
        return is_new and not any(FileLake(place).digests())

    def only(self, tenant: str, job_id: str) -> bytes | None:
        """Return the one file that a place has; None if there is none."""
        lake = FileLake(self._place(tenant, job_id))
        for digest in lake.digests():
            try:
                return lake.get(digest)
            except GoneError:  # it was removed just now
                return None
        return None

    def remove(self, tenant: str, job_id: str) -> None:
        """Remove all files of a job, if there are any."""
        try:
            shutil.rmtree(self._place(tenant, job_id))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise EnvironmentProblem(
                f"{self._place(tenant, job_id)}: cannot be removed ({error.strerror})"
            ) from error

    def older(self, seconds: float) -> list[tuple[str, str]]:
        """Return the tenants and ids of jobs whose files were last added to so long ago."""
        before = time.time() - seconds  # noqa: TID251 - as the disk's own times are
        return [
            (place.parent.name, place.name)
            for place in self._folder.glob("*/*")
            if place.is_dir() and place.stat().st_mtime < before
        ]

    def _place(self, tenant: str, job_id: str) -> Path:
        return self._folder.joinpath(*_named(tenant, job_id))


class BucketJobFiles(JobFiles):
    """The files of all jobs of a workspace, in its bucket: `PREFIX/_jobs/TENANT/JOB/…`."""

    def __init__(self, address: str) -> None:
        self._lake = ObjectLake(address)

    def put(self, tenant: str, job_id: str, data: bytes) -> str:
        """Keep bytes for a job, durably; return their digest."""
        return self._place(tenant, job_id).put(data)

    def get(self, tenant: str, job_id: str, digest: str) -> bytes:
        """Return bytes of a job; raise `GoneError` if they went with it."""
        return self._place(tenant, job_id).get(digest)

    def begin(self, tenant: str, job_id: str) -> None:
        """Mark the place of files that are being made."""
        self._place(tenant, job_id).put(b"")

    def is_begun(self, tenant: str, job_id: str, seconds: float) -> bool:
        """Whether a place was marked within the last so many seconds, and nothing is there yet."""
        found = {name.rpartition("/")[2]: at for name, at in self._place(tenant, job_id).written()}
        return found.keys() == {_BEGUN} and found[_BEGUN] > _before(seconds)

    def only(self, tenant: str, job_id: str) -> bytes | None:
        """Return the one file that a place has; None if there is none."""
        place = self._place(tenant, job_id)
        for digest in place.digests():
            if digest != _BEGUN:
                try:
                    return place.get(digest)
                except GoneError:  # it was removed just now
                    return None
        return None

    def remove(self, tenant: str, job_id: str) -> None:
        """Remove all files of a job, if there are any."""
        self._place(tenant, job_id).clear()

    def older(self, seconds: float) -> list[tuple[str, str]]:
        """Return the tenants and ids of jobs whose files were last added to so long ago."""
        newest: dict[tuple[str, str], datetime] = {}
        for name, at in self._lake.below(_FOLDER).written():
            tenant, job_id, *_ = name.split("/", 2)
            newest[tenant, job_id] = max(at, newest.get((tenant, job_id), at))
        return sorted(place for place, at in newest.items() if at < _before(seconds))

    def _place(self, tenant: str, job_id: str) -> ObjectLake:
        return self._lake.below("/".join((_FOLDER, *_named(tenant, job_id))))


class MovedJobFiles(JobFiles):
    """Files of jobs that are kept elsewhere than before: those from before are still found."""

    def __init__(self, files: JobFiles, before: JobFiles) -> None:
        self._files = files
        self._before = before

    def put(self, tenant: str, job_id: str, data: bytes) -> str:
        """Keep bytes for a job, durably; return their digest."""
        return self._files.put(tenant, job_id, data)

    def get(self, tenant: str, job_id: str, digest: str) -> bytes:
        """Return bytes of a job; raise `GoneError` if they went with it."""
        try:
            return self._files.get(tenant, job_id, digest)
        except GoneError as gone:
            try:
                return self._before.get(tenant, job_id, digest)
            except GoneError:
                raise gone from None

    def begin(self, tenant: str, job_id: str) -> None:
        """Make the place of files that are being made."""
        self._files.begin(tenant, job_id)

    def is_begun(self, tenant: str, job_id: str, seconds: float) -> bool:
        """Whether a place was made within the last so many seconds, and nothing is there yet."""
        return self._files.is_begun(tenant, job_id, seconds)

    def only(self, tenant: str, job_id: str) -> bytes | None:
        """Return the one file that a place has; None if there is none."""
        found = self._files.only(tenant, job_id)
        return self._before.only(tenant, job_id) if found is None else found

    def remove(self, tenant: str, job_id: str) -> None:
        """Remove all files of a job, if there are any."""
        self._files.remove(tenant, job_id)
        self._before.remove(tenant, job_id)

    def older(self, seconds: float) -> list[tuple[str, str]]:
        """Return the tenants and ids of jobs whose files were last added to so long ago."""
        return sorted({*self._files.older(seconds), *self._before.older(seconds)})


def _named(tenant: str, job_id: str) -> tuple[str, str]:
    for name in (tenant, job_id):
        if not _PLAIN.fullmatch(name) or ".." in name:
            raise InputError(f"{name[:80]!r} names no job")
    return tenant, job_id


def _before(seconds: float) -> datetime:
    return datetime.now(UTC) - timedelta(seconds=seconds)  # noqa: TID251 - as the service's own times are

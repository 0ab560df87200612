"""Files of jobs: what one was given to work on, and what it made; each job has a place of its own.

Every server of a workspace finds them there, as it finds the lake. Bytes are checked when they are
read. They are no evidence, and go with their job.
"""

import re
import shutil
import time
from pathlib import Path
from typing import Final

from evidentia.errors import EnvironmentProblem, GoneError, InputError
from evidentia.store.files import make_folder
from evidentia.store.lake import FileLake

_PLAIN: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


class JobFiles:
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
        for name in (tenant, job_id):
            if not _PLAIN.fullmatch(name) or ".." in name:
                raise InputError(f"{name[:80]!r} names no job")
        return self._folder / tenant / job_id

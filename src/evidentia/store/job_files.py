"""Files of jobs: what one was given to work on, and what it made; each job has a place of its own.

Every server of a workspace finds them there, as it finds the lake. Bytes are checked when they are
read. They are no evidence, and go with their job.
"""

import re
import shutil
import time
from pathlib import Path
from typing import Final

from evidentia.errors import EnvironmentProblem, InputError
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

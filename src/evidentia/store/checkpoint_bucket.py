"""Checkpoints of logs in a bucket: one object for each size, written once.

Never backwards: nothing is written over, and the newest is the one of the largest size. On S3 each
version of an object counts, so that what hides the newest one, or was put in its place, hides
nothing that the bucket still has; under Object Lock it still has all.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from evidentia.errors import EnvironmentProblem, EvidentiaError, IntegrityError
from evidentia.language.counting import counted
from evidentia.store.objects import ObjectLake, problem
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.entry import check_tenant
from evidentia.trail.note import MAX_NOTE_BYTES

_LARGEST: Final = 10**19
_DIGITS: Final = 20
_PAGE: Final = 100
_KEY: Final = re.compile(r"[^/]+/[0-9]{20}-[0-9]+-[^/]*\.txt")


class CheckpointBucket:
    """Keeps checkpoints of all tenants below an address such as `s3://bucket/prefix`.

    Any number of processes may keep at once. Nothing is asked of the service before the first call.
    """

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._objects = ObjectLake(address)

    def keep(self, checkpoint: Checkpoint, note: str) -> None:
        """Keep a checkpoint; it is durable when this returns.

        Raise `IntegrityError` where another one of this size is kept: the log was forked.
        """
        key = _key(checkpoint)
        with self._asking(key) as obstore:
            try:
                obstore.put(
                    self._objects.store, key, note.encode(), mode="create", use_multipart=False
                )
            except obstore.exceptions.AlreadyExistsError:
                pass
            else:
                return
        found = self._first_kept(key)
        if found is not None:
            if found[0] == checkpoint:
                return
            raise IntegrityError(
                f"{self.where(checkpoint)} signs other "
                f"{counted(checkpoint.size, 'entry', 'entries')} than this log has: it was forked "
                "or rewritten, and nothing more is appended. Run 'evidentia trail verify', and "
                "look which database each server writes to"
            )
        raise EnvironmentProblem(
            f"{self.where(checkpoint)}: what is there is no checkpoint of this log: see who can "
            "write to the bucket"
        )

    def newest(self, tenant: str) -> tuple[str, str] | None:
        """Return a tenant's newest checkpoint and where it is; None if there is none.

        Of whichever log that is: one that was begun anew does not hide what was before it.
        """
        for key in self._keys(f"{check_tenant(tenant)}/"):
            found = self._first_kept(key)
            if found is not None:
                return self.where(found[0]), found[1]
        return None

    def where(self, checkpoint: Checkpoint) -> str:
        """Say where a checkpoint is kept."""
        return f"{self.address}/{_key(checkpoint)}"

    def _first_kept(self, key: str) -> tuple[Checkpoint, str] | None:
        """Return the first checkpoint that was ever kept under a key: what came later hides it."""
        versions: list[str | None] = [None]
        if self._objects.scheme == "s3":
            whole = self._full(key)
            versions = [
                None if one.version == "null" else one.version
                for one in reversed(self._objects.locks.versions(whole))
                if one.key == whole and not one.is_marker
            ]
        for version in versions:
            note = self._get(key, version)
            found = None if note is None else _read(note)
            if note is not None and found is not None and _key(found) == key:
                return found, note
        return None

    def _keys(self, begins: str) -> Iterator[str]:
        """Give the keys that checkpoints have, the largest sizes first, hidden ones among them."""
        given = ""
        for page in self._pages(begins):
            for key in page:
                if key != given and _KEY.fullmatch(key):
                    given = key
                    yield key

    def _pages(self, begins: str) -> Iterator[list[str]]:
        if self._objects.scheme == "s3":
            prefix = self._full("")
            for found in self._objects.locks.pages_of_versions(self._full(begins), _PAGE):
                yield sorted(one.key.removeprefix(prefix) for one in found if not one.is_marker)
            return
        with self._asking(begins) as obstore:
            for page in obstore.list(self._objects.store, begins, chunk_size=_PAGE):
                yield sorted(one["path"] for one in page)

    def _get(self, key: str, version: str | None) -> str | None:
        with self._asking(key) as obstore:
            how = None if version is None else {"version": version}
            try:
                found = obstore.get(self._objects.store, key, options=how)
            except FileNotFoundError:
                return None
            if found.meta["size"] > MAX_NOTE_BYTES:
                return None
            return bytes(found.bytes()).decode(errors="replace")

    def _full(self, key: str) -> str:
        prefix = self.address.partition("://")[2].partition("/")[2]
        return f"{prefix}/{key}" if prefix else key

    @contextmanager
    def _asking(self, key: str) -> Iterator[Any]:
        """Give the client, and turn its errors into ours."""
        _ = self._objects.store  # says where its package is missing
        import obstore  # noqa: PLC0415 - an extra
        import obstore.exceptions  # noqa: PLC0415 - the same

        try:
            yield obstore
        except obstore.exceptions.AlreadyExistsError:
            raise
        except (obstore.exceptions.BaseError, OSError) as error:
            if "NoSuchBucket" in str(error) or "ContainerNotFound" in str(error):
                raise EnvironmentProblem(
                    f"{self.address}: there is no such bucket: make it, or correct "
                    "EVIDENTIA_CHECKPOINTS"
                ) from None
            raise problem(f"{self.address}/{key}", error) from error


def _key(checkpoint: Checkpoint) -> str:
    """Return the key of a checkpoint: the largest size is listed first."""
    log = checkpoint.origin.split("/")[-2] if "/" in checkpoint.origin else checkpoint.origin
    inverted = f"{_LARGEST - checkpoint.size:0{_DIGITS}}"
    return f"{checkpoint.tenant}/{inverted}-{checkpoint.size}-{log}.txt"


def _read(note: str) -> Checkpoint | None:
    try:
        return read_checkpoint(note)[0]
    except EvidentiaError:
        return None

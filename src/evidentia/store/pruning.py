"""Removing older backups: their manifests first, and then the parts that no other one names."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, Final, Self

from evidentia.errors import ConflictError, EvidentiaError, InputError
from evidentia.store.backup_places import BackupPlace
from evidentia.store.restoring import files
from evidentia.trail.backup import BackupManifest

_LOOKED_EVERY: Final = 100
"""After how many removals it is looked whether someone makes a backup now."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was removed: backups by their names, and how many parts and files."""

    backups: tuple[str, ...]
    parts: int


def prune(place: BackupPlace, keep: int, *, now: str, token: str) -> Pruned:
    """Remove all backups but the newest ones, and what they alone had.

    Raise `BusyError` while a backup is being made, also one that was begun since, and
    `ConflictError` where a log would be in no backup any more. Where it is interrupted, it is gone
    on with by the next one: a part is removed only when no manifest names it.
    """
    if keep < 1:
        raise InputError("at least one backup is kept: name how many, 1 or more")
    with place.pruning(now, token) as go_on, _Digests() as needed:
        names, stay = place.names(), set[tuple[str, str]]()
        for name in names[-keep:]:  # all of them can be read, or nothing is removed
            _, manifest = place.manifest(name)
            stay |= _logs(manifest)
            for tenant in manifest.tenants:
                needed.add(tenant.digests())
                needed.add(files(place, tenant))
        _refuse_last(place, names[:-keep], stay)
        for name in names[:-keep]:
            place.forget(name)
        removed = 0
        for digest in _unneeded(place, needed):
            if not removed % _LOOKED_EVERY:
                go_on()
            place.parts.remove(digest)
            removed += 1
    return Pruned(tuple(names[:-keep]), removed)


def _logs(manifest: BackupManifest) -> set[tuple[str, str]]:
    """Return the tenants and origins of a backup's logs; what only waits for a log is none."""
    return {(one.tenant, one.log.origin) for one in manifest.tenants if one.log is not None}


def _refuse_last(
    place: BackupPlace, names: Sequence[str], stay: AbstractSet[tuple[str, str]]
) -> None:
    """Raise `ConflictError` if one of the backups that go is the only one of a log."""
    for name in reversed(names):
        gone: list[str] = []
        with suppress(EvidentiaError):  # what can't be read is no backup of anything
            gone = sorted(tenant for tenant, _ in _logs(place.manifest(name)[1]) - stay)
        if gone:
            raise ConflictError(
                f"{place.address}: backup {name} is the newest of tenant {gone[0]!r}, and none of "
                "it would be left: keep more, and have backups of one tenant alone in a place of "
                f"their own; if it is to go, remove backups/{name}.json first"
            )


def _unneeded(place: BackupPlace, needed: "_Digests") -> Iterator[str]:
    """Give the digests that a place has and that are not needed."""
    first, known = "", frozenset[bytes]()
    for digest in place.parts.digests():
        if digest[:2] != first:
            first, known = digest[:2], needed.beginning(digest[:2])
        if bytes.fromhex(digest) not in known:
            yield digest


class _Digests:
    """Digests on the disk, by their first byte: as many as there are, in little memory."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._files: dict[str, IO[bytes]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, digests: Iterator[str]) -> None:
        """Take digests in."""
        for digest in digests:
            first = digest[:2]
            if first not in self._files:
                self._files[first] = self._stack.enter_context(TemporaryFile())  # noqa: SIM115 - entered
            self._files[first].write(bytes.fromhex(digest))

    def beginning(self, first: str) -> frozenset[bytes]:
        """Return those that begin with a byte."""
        file = self._files.get(first)
        if file is None:
            return frozenset()
        file.seek(0)
        found = []
        while one := file.read(32):
            found.append(one)
        return frozenset(found)

"""The newest checkpoint of a log, kept in a file apart from the database.

It follows each commit, so it is written over where that leaves the old or the new one, whatever
happens: to put another file in its place takes ten times as long, as the system then writes that
one out first. Readers and writers wait for each other, threads and processes alike; where the
system has no locks for that, nothing is written over.
"""

import os
from pathlib import Path
from typing import Final

from evidentia.errors import EnvironmentProblem, ProofError
from evidentia.store.files import make_folder, unfinished, write_durably
from evidentia.store.turns import FairLock
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.note import MAX_NOTE_BYTES

_SECTOR_BYTES: Final = 512
"""What a disk writes whole or not at all."""
_MODE: Final = 0o644


class KeptCheckpoint:
    """The file of one log's newest checkpoint; threads may share one, and processes the file."""

    def __init__(self, path: Path, turns: FairLock) -> None:
        self.path = path
        self._turns = turns
        self._last: tuple[bytes, Checkpoint | None] = b"", None

    def read(self) -> str | None:
        """Return the checkpoint, or None if there is none yet.

        An empty file is none: a power cut leaves it behind where the disk was not waited for.
        """
        try:
            with self._turns.looking():
                kept = self.path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise EnvironmentProblem(f"{self.path}: cannot be read ({error.strerror})") from error
        return kept if kept.strip("\0") else None

    def keep(self, checkpoint: Checkpoint, note: str, *, durably: bool) -> None:
        """Keep a checkpoint, unless a larger one of the same log is there; `note` is it, signed."""
        data = note.encode()
        if not self._turns.is_open:
            make_folder(self.path.parent)
        with self._turns.moment():
            file = self._open()
            try:
                kept = os.read(file, MAX_NOTE_BYTES) if file >= 0 else b""
                if kept == data or not self._is_next(checkpoint, kept):
                    return
                fits = self._turns.is_open and len(kept) == len(data) <= _SECTOR_BYTES
                if durably or not fits or os.pwrite(file, data, 0) != len(data):
                    self._replace(data, durably=durably)
            finally:
                if file >= 0:
                    os.close(file)
            self._last = data, checkpoint

    def _open(self) -> int:
        try:
            return os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return -1

    def _is_next(self, new: Checkpoint, kept: bytes) -> bool:
        """Whether a checkpoint is to take the place of what is kept, if that is one."""
        data, old = self._last
        if data != kept or old is None:
            try:
                old, _ = read_checkpoint(kept.decode(errors="replace"))
            except ProofError:
                return True
        return old.origin != new.origin or old.size <= new.size

    def _replace(self, data: bytes, *, durably: bool) -> None:
        folder = self.path.parent
        if durably:
            write_durably(self.path, data, aside=folder)
        else:
            make_folder(folder)
            with unfinished(folder) as (file, fresh):
                os.fchmod(file.fileno(), _MODE)
                file.write(data)
                file.flush()
                fresh.replace(self.path)

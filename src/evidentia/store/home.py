"""A workspace's folder: the database, the lake, private keys, checkpoints kept apart, places."""

import os
from pathlib import Path

from evidentia.errors import EnvironmentProblem, ProofError
from evidentia.store.files import make_folder, remove_unfinished, write_durably
from evidentia.store.keys import FileKeys, Passphrase
from evidentia.store.turns import FairLock
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.note import MAX_NOTE_BYTES

DATABASE = "evidentia.db"
_SECTOR_BYTES = 512


class Home:
    """A workspace's folder: its database, lake and keys, and what is remembered beside them."""

    def __init__(self, folder: Path, passphrase: Passphrase | None = None) -> None:
        self.folder = folder
        self.keys = FileKeys(folder / "keys", passphrase)
        self._turns = FairLock(folder / "checkpoints" / ".turns")
        self._newest: dict[str, tuple[bytes, Checkpoint]] = {}

    @property
    def database(self) -> Path:
        """The embedded database's file."""
        return self.folder / DATABASE

    @property
    def lake(self) -> Path:
        """The folder of the lake."""
        return self.folder / "lake"

    def answers(self, tenant: str) -> Path:
        """Where answers of services to judges are remembered; it may be deleted at any time."""
        return self.folder / "answers" / tenant

    def create(self) -> None:
        """Make the folder and its lake, readable by their owner alone."""
        for folder in (self.folder, self.lake):
            make_folder(folder)

    def tidy(self) -> None:
        """Remove what processes that were killed left half-written in the folder."""
        for name in ("lake", "keys", "checkpoints", "places", "answers"):
            remove_unfinished(self.folder / name)

    def places(self, tenant: str) -> Path:
        """Return the folder that says where a tenant's documents were read from on this machine."""
        return self.folder / "places" / tenant

    def checkpoint_file(self, tenant: str) -> Path:
        """Where the newest checkpoint of a log is kept, apart from the database."""
        return self.folder / "checkpoints" / f"{tenant}.txt"

    def kept_checkpoint(self, tenant: str) -> str | None:
        """Return the checkpoint kept here, or None if there is none yet.

        An empty file is none: a power cut leaves it behind where the disk was not waited for.
        """
        path = self.checkpoint_file(tenant)
        try:
            with self._turns.looking():  # it may be being written over
                kept = path.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise EnvironmentProblem(f"{path}: cannot be read ({error.strerror})") from error
        return kept if kept.strip("\0") else None

    def keep_checkpoint(self, tenant: str, note: str, *, durably: bool = True) -> None:
        """Keep a checkpoint, unless another process kept a larger one of the same log meanwhile.

        The caller has checked that it follows the one kept before. Unless it is kept `durably`, a
        power cut may bring back an older one.
        """
        new, _ = read_checkpoint(note)
        path, data = self.checkpoint_file(tenant), note.encode()
        if not self._turns.is_open:
            make_folder(path.parent)
        with self._turns.moment():
            kept = _contents(path)
            if kept == data or not self._follows(tenant, kept, new):
                return
            if durably:
                write_durably(path, data, aside=path.parent)
            elif len(kept) != len(data) or not _write_over(path, data):
                make_folder(path.parent)
                fresh = path.with_name(f".{path.name}.new")
                fresh.write_bytes(data)
                fresh.replace(path)
            self._newest[tenant] = data, new

    def _follows(self, tenant: str, kept: bytes, new: Checkpoint) -> bool:
        """Whether a checkpoint is to take the place of the one that is kept, which may be none."""
        data, old = self._newest.get(tenant, (b"", new))
        if data != kept:  # another process kept it
            try:
                old, _ = read_checkpoint(kept.decode(errors="replace"))
            except ProofError:
                return True
        return old.origin != new.origin or old.size <= new.size

    def close(self) -> None:
        """Let go of what was opened to keep checkpoints; a later one opens it again."""
        self._turns.close()


def _contents(path: Path) -> bytes:
    """Return what a file holds; nothing if there is none."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return b""
    try:
        return os.read(file, MAX_NOTE_BYTES)
    finally:
        os.close(file)


def _write_over(path: Path, data: bytes) -> bool:
    """Write data over as many bytes of a file, if they fit into one sector of a disk.

    Say whether all of it was written. After a power cut a sector holds the old or the new. To put
    another file in its place would take ten times as long: the system writes that one out first.
    """
    if len(data) > _SECTOR_BYTES:
        return False
    file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        return os.write(file, data) == len(data)
    finally:
        os.close(file)

"""A workspace's folder: the database, the lake, private keys, checkpoints kept apart, places."""

from pathlib import Path

from evidentia.store.files import make_folder, remove_unfinished
from evidentia.store.kept import KeptCheckpoint
from evidentia.store.keys import FileKeys, Passphrase
from evidentia.store.turns import FairLock
from evidentia.trail.checkpoint import read_checkpoint

DATABASE = "evidentia.db"


class Home:
    """A workspace's folder: its database, lake and keys, and what is remembered beside them."""

    def __init__(self, folder: Path, passphrase: Passphrase | None = None) -> None:
        self.folder = folder
        self.passphrase = passphrase
        self.keys = FileKeys(folder / "keys", passphrase)
        self._turns = FairLock(folder / "checkpoints" / ".turns")
        self._kept: dict[str, KeptCheckpoint] = {}

    @property
    def database(self) -> Path:
        """The embedded database's file."""
        return self.folder / DATABASE

    @property
    def lake(self) -> Path:
        """The folder of the lake."""
        return self.folder / "lake"

    @property
    def jobs(self) -> Path:
        """The folder of jobs' files; each job's go with it."""
        return self.folder / "jobs"

    def answers(self, tenant: str) -> Path:
        """Where answers of services to judges are remembered; it may be deleted at any time."""
        return self.folder / "answers" / tenant

    def create(self) -> None:
        """Make the folder and its lake, readable by their owner alone."""
        for folder in (self.folder, self.lake):
            make_folder(folder)

    def tidy(self) -> None:
        """Remove what processes that were killed left half-written in the folder."""
        for name in ("lake", "keys", "checkpoints", "places", "answers", "search"):
            remove_unfinished(self.folder / name)

    def places(self, tenant: str) -> Path:
        """Return the folder that says where a tenant's documents were read from on this machine."""
        return self.folder / "places" / tenant

    def search(self, tenant: str) -> Path:
        """Return the folder of a tenant's search index; it may be deleted at any time."""
        return self.folder / "search" / tenant

    def checkpoint_file(self, tenant: str) -> Path:
        """Where the newest checkpoint of a log is kept, apart from the database."""
        return self.kept(tenant).path

    def kept_checkpoint(self, tenant: str) -> str | None:
        """Return the checkpoint kept here, or None if there is none yet."""
        return self.kept(tenant).read()

    def keep_checkpoint(self, tenant: str, note: str) -> None:
        """Keep a checkpoint durably, unless a larger one of the same log was kept meanwhile.

        The caller has checked that it follows the one kept before.
        """
        checkpoint, _ = read_checkpoint(note)
        self.kept(tenant).keep(checkpoint, note, durably=True)

    def kept(self, tenant: str) -> KeptCheckpoint:
        """Return what keeps the newest checkpoint of a log."""
        kept = self._kept.get(tenant)
        if kept is None:
            path = self.folder / "checkpoints" / f"{tenant}.txt"
            kept = self._kept.setdefault(tenant, KeptCheckpoint(path, self._turns))
        return kept

    def close(self) -> None:
        """Let go of what was opened to keep checkpoints; a later one opens it again."""
        self._turns.close()

"""A workspace's folder: the database, the lake, private keys, checkpoints kept apart, places."""

from pathlib import Path

from evidentia.errors import EnvironmentProblem, ProofError
from evidentia.store.files import make_folder, remove_unfinished, write_durably
from evidentia.store.keys import FileKeys, Passphrase
from evidentia.store.turns import FairLock
from evidentia.trail.checkpoint import read_checkpoint

DATABASE = "evidentia.db"


class Home:
    """A workspace's folder: its database, lake and keys, and what is remembered beside them."""

    def __init__(self, folder: Path, passphrase: Passphrase | None = None) -> None:
        self.folder = folder
        self.keys = FileKeys(folder / "keys", passphrase)
        self._turns = FairLock(folder / "checkpoints" / ".turns")

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
        try:
            kept = self.checkpoint_file(tenant).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            path = self.checkpoint_file(tenant)
            raise EnvironmentProblem(f"{path}: cannot be read ({error.strerror})") from error
        return kept if kept.strip("\0") else None

    def keep_checkpoint(self, tenant: str, note: str, *, durably: bool = True) -> None:
        """Keep a checkpoint, unless another process kept a larger one of the same log meanwhile.

        The caller has checked that it follows the one kept before. Unless it is kept `durably`, a
        power cut may bring back an older one.
        """
        path = self.checkpoint_file(tenant)
        if not path.parent.exists():
            make_folder(path.parent)
        with self._turns.turn():
            kept = self.kept_checkpoint(tenant)
            if kept is not None and not _goes_on(kept, note):
                return
            if durably:
                write_durably(path, note.encode(), aside=path.parent)
            else:
                fresh = path.with_name(f".{path.name}.new")
                fresh.write_bytes(note.encode())
                fresh.replace(path)

    def close(self) -> None:
        """Let go of what was opened to keep checkpoints; a later one opens it again."""
        self._turns.close()


def _goes_on(kept: str, note: str) -> bool:
    """Whether a checkpoint is to take the place of the one that is kept."""
    new, _ = read_checkpoint(note)
    try:
        old, _ = read_checkpoint(kept)
    except ProofError:
        return True
    return kept != note and (old.origin != new.origin or old.size <= new.size)

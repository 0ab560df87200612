"""What stands in the home folder beside the database: private keys, and checkpoints kept apart."""

from pathlib import Path

from evidentia.errors import EnvironmentProblem, ProofError
from evidentia.proof.keys import SigningKey
from evidentia.store.files import make_folder, write_durably
from evidentia.store.turns import FairLock
from evidentia.trail.checkpoint import read_checkpoint

DATABASE = "evidentia.db"


class Home:
    """A workspace's folder: `evidentia.db`, `lake/`, `keys/` and `checkpoints/`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def database(self) -> Path:
        """The embedded database's file."""
        return self.folder / DATABASE

    @property
    def lake(self) -> Path:
        """The folder of the lake."""
        return self.folder / "lake"

    def create(self) -> None:
        """Make the folder and its lake, readable by their owner alone."""
        for folder in (self.folder, self.lake):
            make_folder(folder)

    def key_file(self, tenant: str, key_id: str) -> Path:
        """Where a private key is kept."""
        return self.folder / "keys" / tenant / f"{key_id}.pem"

    def redaction_key_file(self, tenant: str) -> Path:
        """Where the secret is kept that digests of redacted values are made with."""
        return self.folder / "keys" / tenant / "redaction.key"

    def save_key(self, tenant: str, key: SigningKey) -> None:
        """Keep a private key, readable by its owner alone."""
        path = self.key_file(tenant, key.verifier.key_id)
        make_folder(self.folder)
        make_folder(path.parent)
        write_durably(path, key.to_pem(), mode=0o600)

    def load_key(self, tenant: str, key_id: str, name: str) -> SigningKey | None:
        """Return a private key, or None if it is not here."""
        try:
            pem = self.key_file(tenant, key_id).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            path = self.key_file(tenant, key_id)
            raise EnvironmentProblem(f"{path}: cannot be read ({error.strerror})") from error
        return SigningKey.from_pem(name, pem)

    def checkpoint_file(self, tenant: str) -> Path:
        """Where the newest checkpoint of a log is kept, apart from the database."""
        return self.folder / "checkpoints" / f"{tenant}.txt"

    def kept_checkpoint(self, tenant: str) -> str | None:
        """Return the checkpoint kept here, or None if there is none yet."""
        try:
            return self.checkpoint_file(tenant).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            path = self.checkpoint_file(tenant)
            raise EnvironmentProblem(f"{path}: cannot be read ({error.strerror})") from error

    def keep_checkpoint(self, tenant: str, note: str) -> None:
        """Keep a checkpoint, unless another process kept a larger one of the same log meanwhile.

        The caller has checked that it follows the one kept before.
        """
        path = self.checkpoint_file(tenant)
        make_folder(path.parent)
        lock = FairLock(path.with_name(f".{path.name}.turns"))
        try:
            with lock.turn():
                kept = self.kept_checkpoint(tenant)
                if kept is None or _goes_on(kept, note):
                    write_durably(path, note.encode())
        finally:
            lock.close()


def _goes_on(kept: str, note: str) -> bool:
    """Whether a checkpoint is to take the place of the one that is kept."""
    new, _ = read_checkpoint(note)
    try:
        old, _ = read_checkpoint(kept)
    except ProofError:
        return True
    return kept != note and (old.origin != new.origin or old.size <= new.size)

"""What stands in the home folder beside the database: private keys, and checkpoints kept apart."""

import os
import unicodedata
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final

from evidentia.errors import EnvironmentProblem, InputError, ProofError
from evidentia.proof.keys import PROTECTION_BYTES, SigningKey, is_encrypted
from evidentia.store.files import make_folder, write_durably
from evidentia.store.signing import CommandSigner
from evidentia.store.turns import FairLock
from evidentia.trail.checkpoint import read_checkpoint

DATABASE = "evidentia.db"
LEAST_PASSPHRASE: Final = 12
_WRITABLE_BY_OTHERS: Final = 0o022

Passphrase = str | bytes | Callable[[], str | bytes]
"""The passphrase of private keys, or what asks for it when one has to be opened."""


class KeyPlace(StrEnum):
    """Where the private half of a key is."""

    PLAIN = "plain"
    ENCRYPTED = "encrypted"
    COMMAND = "command"
    UNREADABLE = "unreadable"
    ELSEWHERE = "elsewhere"


class Home:
    """A workspace's folder: `evidentia.db`, `lake/`, `keys/` and `checkpoints/`.

    With a passphrase, encrypted keys can be opened, and new ones are encrypted.
    """

    def __init__(self, folder: Path, passphrase: Passphrase | None = None) -> None:
        self.folder = folder
        self._passphrase = passphrase
        self._opened: dict[tuple[str, bytes], SigningKey] = {}

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

    def command_file(self, tenant: str, key_id: str) -> Path:
        """Where the command is kept that signs with a key held elsewhere."""
        return self.folder / "keys" / tenant / f"{key_id}.json"

    def redaction_key_file(self, tenant: str) -> Path:
        """Where the secret is kept that digests of redacted values are made with."""
        return self.folder / "keys" / tenant / "redaction.key"

    def save_key(self, tenant: str, key: SigningKey, passphrase: bytes | None = None) -> None:
        """Keep a private key, encrypted if there is a passphrase, or the command that has it.

        The file is readable by its owner alone.
        """
        key_id = key.verifier.key_id
        if isinstance(key.private_key, CommandSigner):
            path, data = self.command_file(tenant, key_id), key.private_key.encode()
        elif passphrase is None:
            path, data = self.key_file(tenant, key_id), key.to_pem()
        else:
            path, data = self.key_file(tenant, key_id), _encrypted(key, passphrase)
        make_folder(self.folder)
        make_folder(path.parent)
        write_durably(path, data, mode=0o600)

    def load_key(self, tenant: str, key_id: str, name: str) -> SigningKey | None:
        """Return a private key, or what signs with it; None if neither is here.

        One that is encrypted is opened once, and the passphrase asked for then.
        """
        path = self.key_file(tenant, key_id)
        try:
            pem = path.read_bytes()
        except FileNotFoundError:
            return self._command_key(tenant, key_id, name)
        except OSError as error:
            raise EnvironmentProblem(f"{path}: cannot be read ({error.strerror})") from error
        if not is_encrypted(pem):
            return _read(path, name, pem)
        opened = self._opened.get((name, pem))
        if opened is None:
            opened = _read(path, name, pem, self._ask(path))
            if opened.verifier.key_id != key_id:
                raise InputError(f"{path}: holds another key, {opened.verifier.key_id}")
            self._opened[name, pem] = opened
        return opened

    def key_place(self, tenant: str, key_id: str) -> KeyPlace:
        """Say where the private half of a key is, as far as can be seen from here."""
        try:
            pem = self.key_file(tenant, key_id).read_bytes()
        except FileNotFoundError:
            is_command = self.command_file(tenant, key_id).exists()
            return KeyPlace.COMMAND if is_command else KeyPlace.ELSEWHERE
        except OSError:
            return KeyPlace.UNREADABLE
        return KeyPlace.ENCRYPTED if is_encrypted(pem) else KeyPlace.PLAIN

    def is_protected(self, tenant: str) -> bool:
        """Whether any of a tenant's private keys is encrypted."""
        return any(is_encrypted(pem) for _, pem in self._key_files(tenant))

    def new_key_passphrase(self, tenant: str) -> bytes | None:
        """Return what a new key is to be encrypted with, or None if it is to be kept plain.

        Where keys are encrypted already, it has to open one of them: so a new key is never plain
        beside them, nor lost to a slip of the hand.
        """
        encrypted = [(path, pem) for path, pem in self._key_files(tenant) if is_encrypted(pem)]
        if self._passphrase is None and not encrypted:
            return None
        passphrase = _long_enough(self._ask(encrypted[-1][0] if encrypted else None))
        if encrypted and not any(_opens(pem, passphrase) for _, pem in encrypted):
            raise InputError(
                f"{encrypted[-1][0]}: the passphrase does not open it, so no new key is made with "
                "that one"
            )
        self._passphrase = passphrase
        return passphrase

    def protect_keys(self, tenant: str, passphrase: str | bytes) -> list[str]:
        """Encrypt the private keys that are here plain; return their ids.

        If any is encrypted already, the passphrase has to be the same; if not, nothing is changed.
        """
        secret = _long_enough(_as_bytes(passphrase))
        found = [(path, pem, _read(path, "", pem, secret)) for path, pem in self._key_files(tenant)]
        changed = [
            (path, _encrypted(key, secret)) for path, pem, key in found if not is_encrypted(pem)
        ]
        for path, data in changed:
            write_durably(path, data, mode=0o600)
        self._passphrase = secret
        return [path.stem for path, _ in changed]

    def unprotect_keys(self, tenant: str, passphrase: str | bytes) -> list[str]:
        """Keep the encrypted private keys plain again; return their ids.

        If the passphrase does not open one of them, nothing is changed.
        """
        secret = _as_bytes(passphrase)
        changed = [
            (path, _read(path, "", pem, secret).to_pem())
            for path, pem in self._key_files(tenant)
            if is_encrypted(pem)
        ]
        for path, data in changed:
            write_durably(path, data, mode=0o600)
        self._passphrase = None
        return [path.stem for path, _ in changed]

    def _key_files(self, tenant: str) -> Iterator[tuple[Path, bytes]]:
        for path in sorted((self.folder / "keys" / tenant).glob("*.pem")):
            try:
                yield path, path.read_bytes()
            except OSError as error:
                raise EnvironmentProblem(f"{path}: cannot be read ({error.strerror})") from error

    def _command_key(self, tenant: str, key_id: str, name: str) -> SigningKey | None:
        path = self.command_file(tenant, key_id)
        try:
            with path.open("rb") as file:
                mode = os.fstat(file.fileno()).st_mode
                data = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise EnvironmentProblem(f"{path}: cannot be read ({error.strerror})") from error
        if mode & _WRITABLE_BY_OTHERS:
            raise EnvironmentProblem(
                f"{path}: others may write it, and so choose what is run; look at it, and then "
                f"'chmod 600' it"
            )
        try:
            key = SigningKey(name, CommandSigner.decode(data))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        if key.verifier.key_id != key_id:
            raise InputError(f"{path}: is of another key, {key.verifier.key_id}")
        return key

    def _ask(self, path: Path | None) -> bytes:
        """Return the passphrase for a key's file, or for a new one."""
        if self._passphrase is None:
            raise EnvironmentProblem(
                f"{path}: the private key is encrypted, and there is no passphrase: run this on a "
                "terminal, which asks for it, or name a file that has it in "
                "EVIDENTIA_KEY_PASSPHRASE_FILE (in Python: passphrase=)"
            )
        return _as_bytes(self._passphrase() if callable(self._passphrase) else self._passphrase)

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


def _read(path: Path, name: str, pem: bytes, passphrase: bytes | None = None) -> SigningKey:
    try:
        return SigningKey.from_pem(name, pem, passphrase)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _opens(pem: bytes, passphrase: bytes) -> bool:
    try:
        SigningKey.from_pem("", pem, passphrase)
    except InputError:
        return False
    return True


def _encrypted(key: SigningKey, passphrase: bytes) -> bytes:
    """Return a key encrypted, and read back once: it may take the place of the only plain one."""
    pem = key.to_encrypted_pem(passphrase, os.urandom(PROTECTION_BYTES))
    SigningKey.from_pem(key.name, pem, passphrase)
    return pem


def _as_bytes(passphrase: str | bytes) -> bytes:
    """Return a passphrase's bytes: of text, the same however its letters were composed."""
    try:
        data = (
            unicodedata.normalize("NFC", passphrase).encode()
            if isinstance(passphrase, str)
            else passphrase
        )
    except UnicodeEncodeError:
        raise InputError("the passphrase has characters that are no text") from None
    if not data:
        raise InputError("the passphrase is empty")
    return data


def _long_enough(passphrase: bytes) -> bytes:
    if len(passphrase.decode(errors="replace")) < LEAST_PASSPHRASE:
        raise InputError(
            f"the passphrase is too short: take {LEAST_PASSPHRASE} characters at least, "
            "better several words"
        )
    return passphrase

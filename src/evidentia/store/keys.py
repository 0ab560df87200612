"""Private keys: where they are held, and what signs with them."""

import os
import stat
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from evidentia.errors import EnvironmentProblem, InputError
from evidentia.proof.keys import PROTECTION_BYTES, SEED_BYTES, SigningKey, is_encrypted
from evidentia.store.files import make_folder, sync_folder, unfinished, write_durably
from evidentia.store.signing import CommandSigner

LEAST_PASSPHRASE: Final = 12
SECRET_BYTES: Final = 32
_WRITABLE_BY_OTHERS: Final = 0o022
_WRITABLE_BY_ALL: Final = 0o002
_HARM: Final = "put another key in its place"

Passphrase = str | bytes | Callable[[], str | bytes]
"""The passphrase of private keys, or what asks for it when one has to be opened."""


_Looks = tuple[int, ...]
"""How a file looks from outside, and who may write in the folders it lies in."""


class KeyPlace(StrEnum):
    """Where the private half of a key is."""

    PLAIN = "plain"
    ENCRYPTED = "encrypted"
    COMMAND = "command"
    TOKEN = "token"  # noqa: S105 - a place
    UNREADABLE = "unreadable"
    UNREACHABLE = "unreachable"
    ELSEWHERE = "elsewhere"


class Keys(Protocol):
    """Where the private halves of tenants' keys are held, whatever lies behind it.

    Durable: a key that `make` or `save` has returned from is there after a crash. A key is never
    changed or removed. What is given signs, and need not show the private half. Any number of
    threads and processes may use one at the same time. A key that cannot be opened or asked raises
    `EnvironmentProblem`, one that is not the key that it should be `InputError`.
    """

    def make(
        self,
        tenant: str,
        name: str,
        randomness: Callable[[int], bytes],
        passphrase: bytes | None = None,
    ) -> SigningKey:
        """Make a key that signs under a name, and keep it: encrypted, if there is a passphrase."""

    def save(self, tenant: str, key: SigningKey, passphrase: bytes | None = None) -> None:
        """Keep a private key, encrypted if there is a passphrase, or what signs with it."""

    def load(self, tenant: str, key_id: str, name: str) -> SigningKey | None:
        """Return a private key, or what signs with it; None if neither is here."""

    def place(self, tenant: str, key_id: str) -> KeyPlace:
        """Say where the private half of a key is, as far as can be seen from here."""

    def where(self, tenant: str, key_id: str) -> str:
        """Say where a private key is looked for."""

    def new_passphrase(self, tenant: str) -> bytes | None:
        """Return what a new key is to be encrypted with, or None if it is to be kept plain."""

    def secret(self, tenant: str) -> bytes:
        """Return the secret behind digests of redacted values; the first call makes it."""


class FileKeys(Keys):
    """Keys in a folder, one for each tenant below it.

    With a passphrase, encrypted keys can be opened, and new ones are encrypted.
    """

    def __init__(self, folder: Path, passphrase: Passphrase | None = None) -> None:
        self._folder = folder
        self._passphrase = passphrase
        self._opened: dict[tuple[str, str, bytes], SigningKey] = {}
        self._seen: dict[tuple[str, str, str], tuple[_Looks, SigningKey]] = {}

    @property
    def folder(self) -> Path:
        """Where they are, each tenant's in a folder below it."""
        return self._folder

    def file(self, tenant: str, key_id: str) -> Path:
        """Where a private key is kept."""
        return self._folder / tenant / f"{key_id}.pem"

    def command_file(self, tenant: str, key_id: str) -> Path:
        """Where the command is kept that signs with a key held elsewhere."""
        return self._folder / tenant / f"{key_id}.json"

    def where(self, tenant: str, key_id: str) -> str:
        """Say where a private key is looked for."""
        return str(self.file(tenant, key_id))

    def secret(self, tenant: str) -> bytes:
        """Return the secret behind digests of redacted values; the first call makes it."""
        return secret_key(self.secret_file(tenant), os.urandom)

    def secret_file(self, tenant: str) -> Path:
        """Where that secret is kept."""
        return self._folder / tenant / "redaction.key"

    def make(
        self,
        tenant: str,
        name: str,
        randomness: Callable[[int], bytes],
        passphrase: bytes | None = None,
    ) -> SigningKey:
        """Make a key that signs under a name, and keep it in a file."""
        key = SigningKey.from_seed(name, randomness(SEED_BYTES))
        self.save(tenant, key, passphrase)
        return key

    def save(self, tenant: str, key: SigningKey, passphrase: bytes | None = None) -> None:
        """Keep a private key, encrypted if there is a passphrase, or the command that has it.

        The file is readable by its owner alone.
        """
        key_id = key.verifier.key_id
        if isinstance(key.private_key, CommandSigner):
            path, data = self.command_file(tenant, key_id), key.private_key.encode()
        elif passphrase is None:
            path, data = self.file(tenant, key_id), key.to_pem()
        else:
            path, data = self.file(tenant, key_id), _encrypted(key, passphrase)
        make_folder(self._folder.parent)
        make_folder(path.parent)
        write_durably(path, data, mode=0o600, aside=self._folder)

    def load(self, tenant: str, key_id: str, name: str) -> SigningKey | None:
        """Return a private key, or what signs with it; None if neither is here.

        The file is looked at each time, as every append asks for it, and read if it looks changed;
        what is in it is opened once, and the passphrase asked for then.
        """
        asked = tenant, key_id, name
        looks = _looks(f"{self._folder}/{tenant}", f"/{key_id}.pem")
        seen = self._seen.get(asked)
        if seen is not None and seen[0] == looks:
            return seen[1]
        path = self.file(tenant, key_id)
        found = _guarded(path, _HARM)
        if found is None:
            return self._command_key(tenant, key_id, name)
        opened = self._opened.get((name, key_id, found))
        if opened is None:
            passphrase = self._ask(path) if is_encrypted(found) else None
            opened = _is(key_id, path, _read(path, name, found, passphrase))
            self._opened[name, key_id, found] = opened
            self._passphrase = passphrase or self._passphrase  # a person is asked once
        if looks is not None:
            self._seen[asked] = looks, opened
        return opened

    def place(self, tenant: str, key_id: str) -> KeyPlace:
        """Say where the private half of a key is, as far as can be seen from here."""
        try:
            pem = self.file(tenant, key_id).read_bytes()
        except FileNotFoundError:
            is_command = self.command_file(tenant, key_id).exists()
            return KeyPlace.COMMAND if is_command else KeyPlace.ELSEWHERE
        except OSError:
            return KeyPlace.UNREADABLE
        return KeyPlace.ENCRYPTED if is_encrypted(pem) else KeyPlace.PLAIN

    def is_protected(self, tenant: str) -> bool:
        """Whether any of a tenant's private keys is encrypted."""
        return any(is_encrypted(pem) for _, pem in self._key_files(tenant))

    def new_passphrase(self, tenant: str) -> bytes | None:
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

    def for_worker(self, tenant: str) -> bytes | None:
        """Return the passphrase for a process of ours that signs too; None if it needs none."""
        if self._passphrase is None or not self.is_protected(tenant):
            return None
        return self._ask(None)

    def protect(self, tenant: str, passphrase: str | bytes) -> list[str]:
        """Encrypt the private keys that are here plain; return their ids.

        If any is encrypted already, the passphrase has to be the same; if not, nothing is changed.
        """
        secret = _long_enough(as_bytes(passphrase))
        found = [(path, pem, _read(path, "", pem, secret)) for path, pem in self._key_files(tenant)]
        changed = [
            (path, _encrypted(key, secret)) for path, pem, key in found if not is_encrypted(pem)
        ]
        for path, data in changed:
            write_durably(path, data, mode=0o600, aside=self._folder)
        self._passphrase = secret
        return [path.stem for path, _ in changed]

    def unprotect(self, tenant: str, passphrase: str | bytes) -> list[str]:
        """Keep the encrypted private keys plain again; return their ids.

        If the passphrase does not open one of them, nothing is changed.
        """
        secret = as_bytes(passphrase)
        changed = [
            (path, _read(path, "", pem, secret).to_pem())
            for path, pem in self._key_files(tenant)
            if is_encrypted(pem)
        ]
        for path, data in changed:
            write_durably(path, data, mode=0o600, aside=self._folder)
        self._passphrase = None
        return [path.stem for path, _ in changed]

    def _key_files(self, tenant: str) -> Iterator[tuple[Path, bytes]]:
        for path in sorted((self._folder / tenant).glob("*.pem")):
            if (pem := _guarded(path, _HARM)) is not None:
                yield path, pem

    def _command_key(self, tenant: str, key_id: str, name: str) -> SigningKey | None:
        path = self.command_file(tenant, key_id)
        data = _guarded(path, "choose what is run")
        if data is None:
            return None
        try:
            key = SigningKey(name, CommandSigner.decode(data))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        return _is(key_id, path, key)

    def _ask(self, path: Path | None) -> bytes:
        """Return the passphrase for a key's file, or for a new one."""
        if self._passphrase is None:
            raise EnvironmentProblem(
                f"{path}: the private key is encrypted, and there is no passphrase: run this on a "
                "terminal, which asks for it, or name a file that has it in "
                "EVIDENTIA_KEY_PASSPHRASE_FILE (in Python: passphrase=)"
            )
        return as_bytes(self._passphrase() if callable(self._passphrase) else self._passphrase)


def secret_key(path: Path, randomness: Callable[[int], bytes]) -> bytes:
    """Return the secret that a file keeps; it is made where it is not there."""
    found = _guarded(path, "choose what redacted values are known by")
    if found is None:
        return _new_key(path, randomness)
    try:
        key = bytes.fromhex(found.decode("ascii").strip())
    except ValueError:
        key = b""
    if len(key) != SECRET_BYTES:
        raise EnvironmentProblem(
            f"{path}: not a key of {SECRET_BYTES} bytes in hexadecimal; bring it back from a copy, "
            "or remove it"
        )
    return key


def _new_key(path: Path, randomness: Callable[[int], bytes]) -> bytes:
    make_folder(path.parent)
    try:
        with unfinished(path.parent.parent) as (file, fresh):
            file.write(f"{randomness(SECRET_BYTES).hex()}\n".encode())
            file.flush()
            os.fsync(file.fileno())
            with suppress(FileExistsError):  # the first of several processes wins
                os.link(fresh, path)
        sync_folder(path.parent)
    except OSError as error:
        raise EnvironmentProblem(f"{path}: cannot be made ({error.strerror})") from error
    return secret_key(path, randomness)


def _looks(folder: str, name: str) -> _Looks | None:
    """Return what changes when a file is written, replaced or opened to others; None if it is gone.

    Where all of it is the same, the key that was read from the file is still the one in it.
    """
    look = os.stat  # every append comes here, and a path would take longer than the look
    try:
        file, near, above = look(folder + name), look(folder), look(f"{folder}/..")
    except OSError:
        return None
    changed = file.st_mtime_ns, file.st_ctime_ns
    return file.st_dev, file.st_ino, file.st_size, *changed, file.st_mode, near[0], above[0]


def _guarded(path: Path, harm: str) -> bytes | None:
    """Return what a file holds that no one else may write; None if there is none.

    Nor may everyone write in its folder, or in the one above: they could put another there.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read()
        open_to_all = [one for one in (path.parent, path.parent.parent) if _is_open_to_all(one)]
    except FileNotFoundError:
        return None
    except OSError as error:
        raise EnvironmentProblem(f"{path}: cannot be read ({error.strerror})") from error
    if mode & _WRITABLE_BY_OTHERS:
        raise EnvironmentProblem(
            f"{path}: others may write it, and so {harm}; look at it, and then 'chmod 600' it"
        )
    if open_to_all:
        raise EnvironmentProblem(
            f"{open_to_all[0]}: everyone may write in it, and so {harm}; look at {path.name}, and "
            "then 'chmod 700' the folder"
        )
    return data


def _is_open_to_all(folder: Path) -> bool:
    """Whether anyone may replace what is in a folder; where it is sticky, only its owner may."""
    mode = folder.stat().st_mode
    return bool(mode & _WRITABLE_BY_ALL) and not mode & stat.S_ISVTX


def _is(key_id: str, path: Path, key: SigningKey) -> SigningKey:
    """Return a key that is the one its file is named after; raise `InputError` if it is not."""
    if key.verifier.key_id != key_id:
        raise InputError(f"{path}: holds another key, {key.verifier.key_id}")
    return key


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


def as_bytes(passphrase: str | bytes) -> bytes:
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

"""Reading the files that verification is given: evidence, and public keys."""

from pathlib import Path

from evidentia.errors import InputError, NotFoundError
from evidentia.proof.keys import TrustedKey
from evidentia.trail.note import VerifierKey

MAX_KEY_BYTES = 65_536
MAX_SERVICE_KEY_BYTES = 4_096


def read_key(key: str | Path | VerifierKey | TrustedKey) -> TrustedKey:
    """Read a public key from its text or from a file; raise `InputError` if it is none."""
    match key:
        case TrustedKey():
            return key
        case VerifierKey():
            return TrustedKey(key.public_key, key.name)
        case Path():
            return _key_file(key)
    try:
        return TrustedKey.parse(key)
    except InputError as error:
        if not _names_something(key):
            raise InputError(f"{error}; and there is no file of that name") from None
    return _key_file(Path(key))


def read_bytes(path: str | Path, limit: int) -> bytes:
    """Read a file up to a limit; raise `NotFoundError` or `InputError` naming it."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(limit + 1)
    except (FileNotFoundError, ValueError):  # the latter for what no file can be called
        raise NotFoundError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    if len(data) > limit:
        raise InputError(f"{path}: larger than the {limit} bytes that are read")
    return data


def key_in(file: Path) -> str:
    """Read a service's key from a file; a line break at its end is not part of it."""
    data = read_bytes(file, MAX_SERVICE_KEY_BYTES).removesuffix(b"\n").removesuffix(b"\r")
    if not data.isascii():
        raise InputError(f"{file}: the key is not plain text")
    return data.decode()


def _names_something(text: str) -> bool:
    try:
        return bool(text) and Path(text).exists()
    except (OSError, ValueError):  # too long, or otherwise nothing that a file can be called
        return False


def _key_file(path: Path) -> TrustedKey:
    data = read_bytes(path, MAX_KEY_BYTES)
    try:
        return TrustedKey.parse(data.decode())
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a public key, and not even text") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None

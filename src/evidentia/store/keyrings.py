"""Opening keys: those in the home's folder, in another folder, or in a token."""

from pathlib import Path

from evidentia.store.home import Home
from evidentia.store.keys import FileKeys, Keys
from evidentia.store.pkcs11_keys import Pkcs11Keys
from evidentia.store.pkcs11_uri import SCHEME, Pkcs11Uri


def open_keys(address: str | None, home: Home) -> Keys:
    """Open the keys of an address, by default those in the home; nothing is asked of a token yet.

    Beside a token, what the home has in files still signs: it vouches for the token's keys.
    """
    if address is None:
        return home.keys
    if address.startswith(SCHEME):
        return Pkcs11Keys(Pkcs11Uri.parse(address), home.keys, home.passphrase)
    return FileKeys(Path(address), home.passphrase)


def file_keys(keys: Keys) -> FileKeys | None:
    """Return the keys that are files, of those that are opened; None if none could be."""
    if isinstance(keys, Pkcs11Keys):
        return keys.files
    return keys if isinstance(keys, FileKeys) else None

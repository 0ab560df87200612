"""Where the command line takes the passphrase of private keys from: a setting, a file, a person."""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from evidentia.settings import Settings

if TYPE_CHECKING:
    from evidentia.store.keys import Passphrase

_MOST_BYTES = 1024


def for_workspace(
    found: Settings, folder: Path, tenant: str, *, may_ask: bool
) -> "Passphrase | None":
    """Return what the settings give; else what asks a person, for encrypted keys or a token."""
    from evidentia.store.home import Home
    from evidentia.store.keyrings import file_keys, open_keys
    from evidentia.store.pkcs11_keys import Pkcs11Keys
    from evidentia.trail.entry import check_tenant

    if found.key_passphrase is not None:
        return found.key_passphrase
    if found.key_passphrase_file is not None:
        return partial(_read, found.key_passphrase_file)
    if not (may_ask and _is_terminal()):
        return None
    keys = open_keys(found.keys, Home(folder))
    if isinstance(keys, Pkcs11Keys) and keys.needs_pin:
        return partial(_ask_pin, str(keys.uri))
    files = file_keys(keys)
    if files is not None and files.is_protected(check_tenant(tenant)):
        return partial(_ask, is_new=False)
    return None


def for_keys(found: Settings, file: Path | None, *, is_new: bool) -> str:
    """Return the passphrase from a file, the settings or a person, who types a new one twice."""
    from evidentia.errors import UsageError

    if file is not None:
        return _read(file)
    if found.key_passphrase is not None:
        return found.key_passphrase
    if found.key_passphrase_file is not None:
        return _read(found.key_passphrase_file)
    if _is_terminal():
        return _ask(is_new=is_new)
    raise UsageError(
        "there is no terminal to ask for the passphrase on: give it with --passphrase-file FILE or "
        "EVIDENTIA_KEY_PASSPHRASE_FILE"
    )


def _is_terminal() -> bool:
    return sys.stdin.isatty() or sys.stderr.isatty()


def _ask_pin(token: str) -> str:
    asked: str = typer.prompt(f"PIN of {token}", hide_input=True, err=True)
    return asked


def _ask(*, is_new: bool) -> str:
    text = "New passphrase of the private keys" if is_new else "Passphrase of the private keys"
    again = "The same again" if is_new else False
    asked: str = typer.prompt(text, hide_input=True, confirmation_prompt=again, err=True)
    return asked


def _read(file: Path) -> str:
    """Read a passphrase from a file; a line break at its end is not part of it."""
    from evidentia.errors import InputError
    from evidentia.proof.files import read_bytes

    data = read_bytes(file, _MOST_BYTES)
    try:
        return data.removesuffix(b"\n").removesuffix(b"\r").decode()
    except UnicodeDecodeError:
        raise InputError(f"{file}: the passphrase is not text in UTF-8") from None

"""Where a token is, as RFC 7512 writes it: which PKCS #11 library, which token, where its PIN is.

The PIN itself is never in it: such an address ends up in process lists, logs and messages.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from urllib.parse import unquote

from evidentia.errors import InputError

SCHEME: Final = "pkcs11:"
_TOKEN: Final = {
    "token": "token",
    "serial": "serial",
    "manufacturer": "manufacturer",
    "model": "model",
}
_SLOT: Final = "slot-id"
_MODULE: Final = "module-path"
_PIN: Final = "pin-source"
_TIMEOUT: Final = "timeout"
MOST_SECONDS: Final = 3_600
_PIN_ITSELF: Final = "pin-value"
_ESCAPED: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_EXAMPLE: Final = (
    "pkcs11:token=evidentia?module-path=/usr/lib/softhsm/libsofthsm2.so"
    "&pin-source=file:/run/secrets/pin"
)


@dataclass(frozen=True, slots=True)
class Pkcs11Uri:
    """A token's address, taken apart; what it leaves out may be anything."""

    module: str
    token: str | None = None
    serial: str | None = None
    manufacturer: str | None = None
    model: str | None = None
    slot: int | None = None
    pin_file: Path | None = None
    seconds: float | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an address; raise `InputError`, which never shows a PIN, if it is none."""
        if not text.startswith(SCHEME):
            raise InputError(f"an address of a token begins with {SCHEME}, such as {_EXAMPLE}")
        if _PIN_ITSELF in text.lower():
            raise InputError(
                f"the address of a token has {_PIN_ITSELF}, and would show the PIN to whoever sees "
                f"it: put the PIN into a file, and name that by {_PIN}=file:/run/secrets/pin"
            )
        path, _, query = text.removeprefix(SCHEME).partition("?")
        found, asked = _attributes(path, ";"), _attributes(query, "&")
        for name in (*found, *asked):
            if name not in {*_TOKEN, _SLOT, _MODULE, _PIN, _TIMEOUT}:
                raise InputError(
                    f"the address of a token has {name[:60]!r}, which is not known: it has "
                    f"{', '.join((*_TOKEN, _SLOT))}, and behind the question mark {_MODULE}, "
                    f"{_PIN} and {_TIMEOUT}"
                )
        module = asked.get(_MODULE, "")
        if not module.startswith("/") or not set(found) <= {*_TOKEN, _SLOT}:
            raise InputError(
                f"the address of a token names its library by its whole path behind a question "
                f"mark ({_MODULE}=/…), and before it which token: {_EXAMPLE}"
            )
        if not found:
            raise InputError(f"the address of a token doesn't say which token: {_EXAMPLE}")
        slot = found.get(_SLOT)
        if slot is not None and not (slot.isascii() and slot.isdigit()):
            raise InputError(f"the {_SLOT} of a token is {slot[:60]!r}: it must be a number")
        return cls(
            module,
            **{field: found[name] for name, field in _TOKEN.items() if name in found},
            slot=None if slot is None else int(slot),
            pin_file=_file(asked[_PIN]) if _PIN in asked else None,
            seconds=_seconds(asked[_TIMEOUT]) if _TIMEOUT in asked else None,
        )

    def __str__(self) -> str:
        """Say which token it is, in messages."""
        name = self.token or self.serial or self.model or self.manufacturer
        which = repr(name) if name is not None else f"in slot {self.slot}"
        return f"the token {which} ({self.module})"


def _attributes(text: str, separator: str) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for part in text.split(separator) if text else ():
        name, equals, value = part.partition("=")
        if not equals or _ESCAPED.search(value) or name in found:
            raise InputError(
                f"the address of a token has {part[:60]!r}, where each name stands once, with = "
                "and a value, in which %XX stands for other characters"
            )
        found[name] = unquote(value)
    return found


def _seconds(text: str) -> float:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= MOST_SECONDS):
        raise InputError(
            f"the {_TIMEOUT} of a token is {text[:60]!r}: it must be how many seconds a signature "
            f"may take, 1 to {MOST_SECONDS:,}"
        )
    return float(text)


def _file(source: str) -> Path:
    """Return the file that a PIN is in; a command or another address is none."""
    path = source.removeprefix("file://").removeprefix("file:")
    if not path.startswith("/"):
        raise InputError(
            f"the {_PIN} of a token must be a file, by its whole path: {_PIN}=file:/run/secrets/pin"
        )
    return Path(path)

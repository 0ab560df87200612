"""Signed notes (C2SP signed-note): text with Ed25519 signatures that name their key."""

import base64
import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from evidentia.errors import InputError, ProofError

MAX_NOTE_BYTES = 65_536
PUBLIC_KEY_BYTES = 32
_ED25519 = b"\x01"
_ID_BYTES = 4
_SIGNATURE_BYTES = 64
_NAME = re.compile(r"[^\s+\ud800-\udfff]+")
_NO_TEXT = re.compile(r"[\x00-\x09\x0b-\x1f\ud800-\udfff]")
"""What a note cannot hold: control characters, and what UTF-8 cannot write."""
_LINE = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})")


class PrivateKey(Protocol):
    """What signs: an Ed25519 private key, or something that has one elsewhere and signs with it."""

    def sign(self, data: bytes, /) -> bytes:
        """Return the 64 bytes of an Ed25519 signature over the data."""

    def public_key(self) -> Ed25519PublicKey:
        """Return the public half."""


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key and the name it signs under; `str` gives the usual one-line form."""

    name: str
    public_key: bytes

    @property
    def key_id(self) -> str:
        """The eight hexadecimal digits by which signatures name this key."""
        return self.key_hash.hex()

    @property
    def key_hash(self) -> bytes:
        """The same as four bytes."""
        return sha256(self.name.encode() + b"\n" + _ED25519 + self.public_key).digest()[:_ID_BYTES]

    def __str__(self) -> str:
        encoded = base64.b64encode(_ED25519 + self.public_key).decode()
        return f"{self.name}+{self.key_id}+{encoded}"

    @classmethod
    def parse(cls, text: str) -> "VerifierKey":
        """Read the one-line form `name+id+base64`; raise `InputError` if it is not one."""
        name, _, rest = text.strip().partition("+")
        key_id, _, encoded = rest.partition("+")
        data = decode_base64(encoded)
        if not _NAME.fullmatch(name) or data is None or len(data) != 1 + PUBLIC_KEY_BYTES:
            raise InputError("not a public key of the form name+id+base64 (see 'evidentia keys')")
        if data[:1] != _ED25519:
            raise InputError(f"key {name!r} is of type {data[0]}, and only Ed25519 (1) is known")
        key = cls(name, data[1:])
        if key.key_id != key_id:
            raise InputError(f"key {name!r} says its id is {key_id!r}, but it is {key.key_id}")
        return key

    def verifies(self, signature: bytes, text: str) -> bool:
        """Whether the signature is this key's over the text."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public_key).verify(signature, text.encode())
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """A signature line: who is said to have signed, and the bytes."""

    name: str
    key_id: str
    signature: bytes


@dataclass(frozen=True, slots=True)
class Note:
    """A signed note taken apart; nothing in it is checked until `signed_by` says so."""

    text: str
    signatures: tuple[NoteSignature, ...]

    @classmethod
    def parse(cls, data: str) -> "Note":
        """Take a signed note apart; raise `ProofError` if it is not one."""
        if len(data) > MAX_NOTE_BYTES or _NO_TEXT.search(data):
            raise ProofError("not a signed note: too long, or with control characters")
        text, blank, block = data.rpartition("\n\n")
        if not blank or not block.endswith("\n"):
            raise ProofError("not a signed note: no signatures after a blank line (cut short?)")
        return cls(text + "\n", tuple(_parse_line(line) for line in block[:-1].split("\n")))

    def signed_by(self, keys: Iterable[VerifierKey]) -> VerifierKey | None:
        """Return the first of the keys that signed, or None if none of them is named.

        Raise `ProofError` where a known key is named and its signature is wrong.
        """
        known = {(key.name, key.key_id): key for key in keys}
        signer = None
        for line in self.signatures:
            key = known.get((line.name, line.key_id))
            if key is None:
                continue
            if not key.verifies(line.signature, self.text):
                raise ProofError(f"the signature by key {key.key_id} does not match the text")
            signer = signer or key
        return signer


def sign_note(text: str, name: str, private_key: PrivateKey, public: bytes | None = None) -> str:
    """Sign text (which ends in a newline) under the name; return the whole note.

    `public` is the key's public half, where it is at hand: it costs time to derive.
    """
    if not text.endswith("\n") or _NO_TEXT.search(text):
        raise InputError("a note's text must end in a newline and have no control characters")
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} is no name to sign under: it has spaces or '+', or is empty")
    public = public or private_key.public_key().public_bytes_raw()
    key_hash = VerifierKey(name, public).key_hash
    encoded = base64.b64encode(key_hash + private_key.sign(text.encode())).decode()
    return f"{text}\n— {name} {encoded}\n"


def _parse_line(line: str) -> NoteSignature:
    match = _LINE.fullmatch(line)
    data = decode_base64(match[2]) if match else None
    if match is None or data is None or len(data) <= _ID_BYTES:
        raise ProofError(f"not a signature line: {line[:60]!r}")
    return NoteSignature(match[1], data[:_ID_BYTES].hex(), data[_ID_BYTES:])


def decode_base64(text: str) -> bytes | None:
    """Return what base64 text stands for; None if it is not the one way to write it."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return data if base64.b64encode(data).decode() == text else None

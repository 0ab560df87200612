"""Keys: an Ed25519 key that signs under a log's name, and the public keys a verifier is given."""

import re
from dataclasses import dataclass, field

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from evidentia.errors import InputError
from evidentia.trail.note import VerifierKey

SEED_BYTES = 32
_RAW_HEX = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key and the log's origin it signs for. Its `repr` does not show the key."""

    name: str
    private_key: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def from_seed(cls, name: str, seed: bytes) -> "SigningKey":
        """Make the key that follows from 32 random bytes."""
        return cls(name, Ed25519PrivateKey.from_private_bytes(seed))

    @classmethod
    def from_pem(cls, name: str, pem: bytes) -> "SigningKey":
        """Read a key that `to_pem` wrote; raise `InputError` if it is none."""
        try:
            key = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise InputError(f"not a private key in PEM form: {error}") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise InputError("the private key is not an Ed25519 key")
        return cls(name, key)

    def to_pem(self) -> bytes:
        """Return the private key as PKCS #8 PEM."""
        return self.private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    @property
    def verifier(self) -> VerifierKey:
        """The public half, to give away."""
        return VerifierKey(self.name, self.private_key.public_key().public_bytes_raw())


@dataclass(frozen=True, slots=True)
class TrustedKey:
    """A public key the verifier was given; `name` is the log it is for, where that was said."""

    public_key: bytes
    name: str | None = None

    @classmethod
    def parse(cls, text: str) -> "TrustedKey":
        """Read `name+id+base64`, a PEM public key, or 64 hexadecimal digits."""
        stripped = text.strip()
        if _RAW_HEX.fullmatch(stripped):
            return cls(bytes.fromhex(stripped))
        if stripped.startswith("-----BEGIN"):
            try:
                key = load_pem_public_key(stripped.encode())
            except (ValueError, UnsupportedAlgorithm):
                key = None
            if not isinstance(key, Ed25519PublicKey):
                raise InputError("the PEM file holds no Ed25519 public key")
            return cls(key.public_bytes_raw())
        parsed = VerifierKey.parse(stripped)
        return cls(parsed.public_key, parsed.name)

    def is_for(self, origin: str) -> bool:
        """Whether the key may vouch for this log: no log was named, or this one."""
        return self.name in {None, origin}

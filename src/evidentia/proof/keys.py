"""Keys: an Ed25519 key that signs under a log's name, and the public keys a verifier is given."""

import base64
import re
from dataclasses import dataclass, field
from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from evidentia.errors import InputError, UsageError
from evidentia.trail.note import PrivateKey, VerifierKey

SEED_BYTES = 32
PROTECTION_BYTES: Final = 32
"""How many random bytes the encryption of a private key takes: a salt, and a first block."""
_BLOCK: Final = 16
_ENCRYPTED_FROM: Final = b"-----BEGIN ENCRYPTED PRIVATE KEY-----"
_ENCRYPTED_TO: Final = b"-----END ENCRYPTED PRIVATE KEY-----"
_SCRYPT_COST = (1 << 14, 8, 5)
"""N, r and p: about as dear as 2^17, 8 and 1, in as little memory as OpenSSL reads a key with."""
_INTEGER, _OCTETS, _SEQUENCE = 0x02, 0x04, 0x30
_PBES2_ID: Final = bytes.fromhex("06092a864886f70d01050d")
_SCRYPT_ID: Final = bytes.fromhex("06092b06010401da47040b")
_AES_ID: Final = bytes.fromhex("060960864801650304012a")
_RAW_HEX = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key and the log's origin it signs for. Its `repr` does not show the key.

    The private half may be elsewhere: then `private_key` is what signs with it.
    """

    name: str
    private_key: PrivateKey = field(repr=False)
    verifier: VerifierKey = field(init=False, repr=False, compare=False)
    """The public half, to give away; derived once, as every append asks for it."""

    def __post_init__(self) -> None:
        public = self.private_key.public_key().public_bytes_raw()
        object.__setattr__(self, "verifier", VerifierKey(self.name, public))

    @classmethod
    def from_seed(cls, name: str, seed: bytes) -> "SigningKey":
        """Make the key that follows from 32 random bytes."""
        return cls(name, Ed25519PrivateKey.from_private_bytes(seed))

    @classmethod
    def from_pem(cls, name: str, pem: bytes, passphrase: bytes | None = None) -> "SigningKey":
        """Read a key that `to_pem` or `to_encrypted_pem` wrote; raise `InputError` if it is none.

        The passphrase is for one that is encrypted, and is left alone for one that is not.
        """
        if is_encrypted(pem) and passphrase is None:
            raise InputError("the private key is encrypted, and no passphrase was given")
        try:
            key = load_pem_private_key(pem, passphrase if is_encrypted(pem) else None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            if is_encrypted(pem) and _is_whole(pem):
                raise InputError("the passphrase does not open the private key") from None
            raise InputError(f"not a private key in PEM form: {error}") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise InputError("the private key is not an Ed25519 key")
        return cls(name, key)

    def to_pem(self) -> bytes:
        """Return the private key as PKCS #8 PEM; raise `UsageError` if it is held elsewhere."""
        return self._written(Encoding.PEM)

    def to_encrypted_pem(self, passphrase: bytes, randomness: bytes) -> bytes:
        """Return the private key as PKCS #8 PEM, encrypted (PBES2: scrypt and AES-256-CBC).

        `randomness` is `PROTECTION_BYTES` random bytes, for this one use.
        """
        salt, start = randomness[:_BLOCK], randomness[_BLOCK:PROTECTION_BYTES]
        secret = Scrypt(salt, SEED_BYTES, *_SCRYPT_COST).derive(passphrase)
        plain = self._written(Encoding.DER)
        padding = _BLOCK - len(plain) % _BLOCK
        cipher = Cipher(AES256(secret), CBC(start)).encryptor()
        hidden = cipher.update(plain + bytes([padding]) * padding) + cipher.finalize()
        cost = [_der(_INTEGER, n.to_bytes(n.bit_length() // 8 + 1, "big")) for n in _SCRYPT_COST]
        scrypt = _der(_SEQUENCE, _SCRYPT_ID, _der(_SEQUENCE, _der(_OCTETS, salt), *cost))
        aes = _der(_SEQUENCE, _AES_ID, _der(_OCTETS, start))
        how = _der(_SEQUENCE, _PBES2_ID, _der(_SEQUENCE, scrypt, aes))
        encoded = base64.b64encode(_der(_SEQUENCE, how, _der(_OCTETS, hidden)))
        lines = [encoded[at : at + 64] for at in range(0, len(encoded), 64)]
        return b"\n".join((_ENCRYPTED_FROM, *lines, _ENCRYPTED_TO, b""))

    def _written(self, encoding: Encoding) -> bytes:
        if not isinstance(self.private_key, Ed25519PrivateKey):
            raise UsageError("the private key is not here: it is held by what signs with it")
        return self.private_key.private_bytes(encoding, PrivateFormat.PKCS8, NoEncryption())


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


def is_encrypted(pem: bytes) -> bool:
    """Whether a private key's PEM says that it is encrypted."""
    return _ENCRYPTED_FROM in pem


def _is_whole(pem: bytes) -> bool:
    """Whether an encrypted key has the form of one, so that only the passphrase is wrong."""
    try:
        load_pem_private_key(pem, password=None)
    except TypeError:  # it asks for the passphrase
        return True
    except (ValueError, UnsupportedAlgorithm):
        pass
    return False


def _der(tag: int, *parts: bytes) -> bytes:
    """Return a DER value of less than 256 bytes."""
    content = b"".join(parts)
    size = [len(content)] if len(content) < 0x80 else [0x81, len(content)]  # noqa: PLR2004 - DER
    return bytes([tag, *size]) + content

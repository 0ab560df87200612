"""Envelopes: a payload with its type and Ed25519 signatures over both (DSSE version 1)."""

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from evidentia.errors import ProofError
from evidentia.proof.keys import SigningKey
from evidentia.trail.note import VerifierKey, decode_base64

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature, and the id of the key that made it."""

    key_id: str
    value: bytes

    def as_json(self) -> dict[str, str]:
        """Return the signature as a JSON object."""
        return {"keyid": self.key_id, "sig": base64.b64encode(self.value).decode()}

    @classmethod
    def from_json(cls, value: Any) -> "Signature":
        """Read a signature; raise `ProofError` if it is none."""
        match value:
            case {"keyid": str(key_id), "sig": str(encoded), **others} if not others:
                data = decode_base64(encoded)
                if data is not None:
                    return cls(key_id, data)
        raise ProofError("a signature of the envelope is not a key's id with a Base64 signature")

    def is_by(self, key: VerifierKey, payload: bytes, payload_type: str = PAYLOAD_TYPE) -> bool:
        """Whether this is a key's signature over a payload of a type."""
        try:
            public = Ed25519PublicKey.from_public_bytes(key.public_key)
            public.verify(self.value, signed_bytes(payload, payload_type))
        except (InvalidSignature, ValueError):  # the latter for what is no key
            return False
        return True


@dataclass(frozen=True, slots=True)
class Envelope:
    """A signed payload. The payload is taken as it is, never written anew."""

    payload: bytes
    signatures: tuple[Signature, ...]

    @classmethod
    def sign(cls, payload: bytes, key: SigningKey) -> "Envelope":
        """Sign a payload."""
        value = key.private_key.sign(signed_bytes(payload))
        return cls(payload, (Signature(key.verifier.key_id, value),))

    def signed_by(self, keys: Iterable[VerifierKey]) -> VerifierKey | None:
        """Return the first of the keys that signed this, or None if none of them is named in it.

        Raises `ProofError` if any signature names one of the keys and is not by it.
        """
        signers = []
        for key in keys:
            for signature in self.signatures:
                if signature.key_id != key.key_id:
                    continue
                if not signature.is_by(key, self.payload):
                    raise ProofError(
                        f"the statement's signature is not by key {key.key_id}: "
                        "the statement or the signature was changed"
                    )
                signers.append(key)
        return signers[0] if signers else None

    def as_json(self) -> dict[str, Any]:
        """Return the envelope as a JSON object."""
        return {
            "payloadType": PAYLOAD_TYPE,
            "payload": base64.b64encode(self.payload).decode(),
            "signatures": [signature.as_json() for signature in self.signatures],
        }

    @classmethod
    def from_json(cls, value: Any) -> "Envelope":
        """Read an envelope; raise `ProofError` saying what is wrong with it."""
        match value:
            case {
                "payloadType": "application/vnd.in-toto+json",
                "payload": str(payload),
                "signatures": [_, *_] as signatures,
                **others,
            } if not others:
                data = decode_base64(payload)
                if data is not None:
                    return cls(data, tuple(map(Signature.from_json, signatures)))
                raise ProofError("the envelope's payload is not Base64")
        raise ProofError("the envelope is not a signed in-toto payload (DSSE)")


def signed_bytes(payload: bytes, payload_type: str = PAYLOAD_TYPE) -> bytes:
    """Return what is signed: the payload and its type, each with its length before it."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)

"""The proof file: an entry, its body where it is disclosed, its place in the tree, a checkpoint.

Where the body names a statement by its digest (a ledger's does), the statement comes along in a
signed envelope, and files that the statement names by their digests (a pack's attachments) may.
In version 2 the statement's predicate also stands in plain, for people to read. In version 3 the
entries of later versions come along, too, under the same checkpoint.
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from evidentia.canonical import parse_json
from evidentia.errors import CanonicalError, ProofError
from evidentia.proof.envelope import Envelope
from evidentia.proof.statement import Statement
from evidentia.trail.entry import SALT_BYTES, Entry
from evidentia.trail.merkle import HASH_BYTES
from evidentia.trail.note import decode_base64

PROOF_FORMAT = "evidentia/proof"
PROOF_VERSION = 1
PLAIN_VERSION = 2
"""The version in which the statement's predicate stands in plain beside its envelope."""
LATER_VERSION = 3
"""The version that also has the entries of later versions of what it is about."""
MAX_LATER = 1_000
MAX_PROOF_BYTES = 64 * 1024 * 1024
_REQUIRED = ("checkpoint", "entry", "format", "inclusion", "v")
_OPTIONAL = ("attachments", "body", "envelope", "salt")
_MORE = {
    PROOF_VERSION: (),
    PLAIN_VERSION: ("envelope", "predicate"),
    LATER_VERSION: ("envelope", "later", "predicate"),
}
"""What each version must have, too."""
_LATER_FIELDS = ("body", "entry", "inclusion", "salt")
_HEX = re.compile(r"[0-9a-f]*")


@dataclass(frozen=True, slots=True)
class Disclosure:
    """An entry's body and the salt it was committed with."""

    body: Any
    salt: bytes


@dataclass(frozen=True, slots=True)
class Later:
    """An entry of a later version: its place under the same checkpoint, and its body."""

    entry: Entry
    inclusion: tuple[bytes, ...]
    disclosure: Disclosure

    def as_json(self) -> dict[str, Any]:
        """Return it as the JSON object that a proof file holds."""
        return {
            "entry": self.entry.as_json(),
            "inclusion": [item.hex() for item in self.inclusion],
            "body": self.disclosure.body,
            "salt": self.disclosure.salt.hex(),
        }


@dataclass(frozen=True, slots=True)
class Proof:
    """Everything a stranger needs to check one entry, but the public key."""

    entry: Entry
    inclusion: tuple[bytes, ...]
    checkpoint: str
    disclosure: Disclosure | None = None
    envelope: Envelope | None = None
    attachments: tuple[tuple[str, bytes], ...] = ()
    """Files by their names, which the statement names as `attachment/` and the name."""
    predicate: Mapping[str, Any] | None = None
    """The statement's predicate in plain, as the file has it: whoever verifies it compares."""
    later: tuple[Later, ...] = ()
    """The entries of later versions, the oldest first; they come with the predicate only."""

    @property
    def version(self) -> int:
        """The version of the format that the proof is written in."""
        if self.predicate is None:
            return PROOF_VERSION
        return LATER_VERSION if self.later else PLAIN_VERSION

    def in_plain(self) -> "Proof":
        """Return the proof with what its statement says in plain; without one, as it is."""
        if self.envelope is None:
            return self
        return replace(self, predicate=Statement.parse(self.envelope.payload).predicate)

    def as_json(self) -> dict[str, Any]:
        """Return the proof as the JSON object a proof file holds."""
        document: dict[str, Any] = {
            "format": PROOF_FORMAT,
            "v": self.version,
            "entry": self.entry.as_json(),
            "inclusion": [item.hex() for item in self.inclusion],
            "checkpoint": self.checkpoint,
        }
        if self.disclosure is not None:
            document |= {"body": self.disclosure.body, "salt": self.disclosure.salt.hex()}
        if self.envelope is not None:
            document["envelope"] = self.envelope.as_json()
        if self.attachments:
            document["attachments"] = [
                {"name": name, "data": base64.b64encode(data).decode()}
                for name, data in self.attachments
            ]
        if self.predicate is not None:
            document["predicate"] = self.predicate
            if self.later:
                document["later"] = [one.as_json() for one in self.later]
        return document

    @classmethod
    def parse(cls, data: bytes) -> "Proof":
        """Read a proof file's bytes; raise `ProofError` saying what is wrong and where."""
        if len(data) > MAX_PROOF_BYTES:
            raise ProofError(f"the proof is larger than {MAX_PROOF_BYTES} bytes")
        try:
            document = parse_json(data)
        except CanonicalError as error:
            raise ProofError(f"the proof cannot be read: {error}") from None
        if not isinstance(document, dict) or document.get("format") != PROOF_FORMAT:
            raise ProofError(f"not a proof: its format is not {PROOF_FORMAT!r}")
        _check_fields(document)
        return cls(
            Entry.from_json(document["entry"]),
            _hashes(document["inclusion"]),
            document["checkpoint"],
            _disclosure(document),
            _envelope(document),
            _attachments(document),
            document.get("predicate"),
            _later(document),
        )


def _check_fields(document: dict[str, Any]) -> None:
    version = document.get("v")
    if type(version) is int and version > LATER_VERSION:
        raise ProofError(
            f"the proof has format version {version}, this program reads {PROOF_VERSION} to "
            f"{LATER_VERSION}: upgrade evidentia"
        )
    known = version if type(version) is int and version in _MORE else None
    required = (*_REQUIRED, *_MORE[known or PROOF_VERSION])
    missing = [name for name in sorted(required) if name not in document]
    unknown = sorted(set(document) - {*required, *_OPTIONAL})
    if missing:
        raise ProofError(f"the proof is cut short: it has no {', '.join(missing)}")
    if unknown:
        raise ProofError(f"the proof has fields that are unknown: {', '.join(unknown)}")
    if known is None:
        raise ProofError(
            f"the proof's v must be from {PROOF_VERSION} to {LATER_VERSION}, not {version!r}"
        )
    if not isinstance(document["checkpoint"], str):
        raise ProofError("the proof's checkpoint is not text")
    if "predicate" in document and not isinstance(document["predicate"], dict):
        raise ProofError("the proof's predicate is not a JSON object")


def _hashes(value: Any) -> tuple[bytes, ...]:
    if not isinstance(value, list) or not all(_is_hex(item, HASH_BYTES) for item in value):
        raise ProofError("the proof's inclusion is not a list of SHA-256 hashes in hexadecimal")
    return tuple(bytes.fromhex(item) for item in value)


def _disclosure(document: dict[str, Any]) -> Disclosure | None:
    if "body" not in document and "salt" not in document:
        return None
    return _disclosed(document)


def _disclosed(document: dict[str, Any]) -> Disclosure:
    salt = document.get("salt")
    if "body" not in document or not _is_hex(salt, SALT_BYTES):
        raise ProofError(f"a body must come with its salt of {SALT_BYTES} bytes in hexadecimal")
    return Disclosure(document["body"], bytes.fromhex(salt))


def _later(document: dict[str, Any]) -> tuple[Later, ...]:
    if "later" not in document:
        return ()
    given = document["later"]
    if not isinstance(given, list) or not 0 < len(given) <= MAX_LATER:
        raise ProofError(f"the proof's later entries are not a list of 1 to {MAX_LATER}")
    return tuple(map(_later_entry, given))


def _later_entry(value: Any) -> Later:
    if not isinstance(value, dict) or sorted(value) != list(_LATER_FIELDS):
        raise ProofError(f"a later entry must have exactly the fields {', '.join(_LATER_FIELDS)}")
    entry = Entry.from_json(value["entry"])
    return Later(entry, _hashes(value["inclusion"]), _disclosed(value))


def _envelope(document: dict[str, Any]) -> Envelope | None:
    if "envelope" not in document:
        return None
    if "body" not in document:
        raise ProofError("an envelope must come with the entry's body, which names what is in it")
    return Envelope.from_json(document["envelope"])


def _attachments(document: dict[str, Any]) -> tuple[tuple[str, bytes], ...]:
    if "attachments" not in document:
        return ()
    if "envelope" not in document:
        raise ProofError("attachments must come with the envelope that names them")
    given = document["attachments"]
    if not isinstance(given, list) or not given:
        raise ProofError("the proof's attachments are not a list of files")
    return tuple(map(_attachment, given))


def _attachment(value: Any) -> tuple[str, bytes]:
    match value:
        case {"name": str(name), "data": str(encoded), **others} if not others:
            data = decode_base64(encoded)
            if data is not None:
                return name, data
    raise ProofError("an attachment of the proof is not a name with its bytes in Base64")


def _is_hex(value: Any, length: int) -> TypeGuard[str]:
    return isinstance(value, str) and len(value) == 2 * length and bool(_HEX.fullmatch(value))

"""Witnesses (C2SP tlog-witness, tlog-cosignature): others who saw a log at a size, and only once.

A witness remembers the newest checkpoint of a log that it has seen, and cosigns a larger one only
if that continues it. So who shows two histories of one log needs the witnesses for it, too.
"""

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from evidentia.errors import InputError, ProofError
from evidentia.trail.note import (
    MAX_NOTE_BYTES,
    PUBLIC_KEY_BYTES,
    Note,
    NoteSignature,
    VerifierKey,
    decode_base64,
)

ADD_CHECKPOINT: Final = "add-checkpoint"
"""The path, under a witness's URL, that checkpoints are posted to."""
SIZE_TYPE: Final = "text/x.tlog.size"
"""The content type of an answer that tells the size which a witness knows."""
MAX_WITNESSES: Final = 32
_COSIGNATURE: Final = b"\x04"
_TIME_BYTES: Final = 8
_COSIGNATURE_BYTES: Final = _TIME_BYTES + 64
_LATEST: Final = 253_402_300_799
"""The last second of the year 9999: a later one is no time."""
_NAME: Final = re.compile(r"[^\s+\ud800-\udfff]+")
_SIZE: Final = re.compile(rb"(0|[1-9][0-9]{0,17})\n?")


@dataclass(frozen=True, slots=True)
class WitnessKey:
    """A witness's public key and its name; `str` gives the usual one-line form."""

    name: str
    public_key: bytes

    @property
    def key_id(self) -> str:
        """The eight hexadecimal digits by which cosignatures name this key."""
        text = self.name.encode() + b"\n" + _COSIGNATURE + self.public_key
        return sha256(text).digest()[:4].hex()

    def __str__(self) -> str:
        encoded = base64.b64encode(_COSIGNATURE + self.public_key).decode()
        return f"{self.name}+{self.key_id}+{encoded}"

    @classmethod
    def parse(cls, text: str) -> "WitnessKey":
        """Read the one-line form `name+id+base64`; raise `InputError` if it is not one."""
        name, _, rest = text.strip().partition("+")
        key_id, _, encoded = rest.partition("+")
        data = decode_base64(encoded)
        if not _NAME.fullmatch(name) or data is None or len(data) != 1 + PUBLIC_KEY_BYTES:
            raise InputError(
                "not the public key of a witness: it has the form name+id+base64, and its operator "
                "publishes it"
            )
        if data[:1] != _COSIGNATURE:
            raise InputError(
                f"key {name!r} is of type {data[0]}, and a witness's is of type 4 (cosignature/v1)"
            )
        key = cls(name, data[1:])
        if key.key_id != key_id:
            raise InputError(f"key {name!r} says its id is {key_id!r}, but it is {key.key_id}")
        return key

    def cosigned_at(self, line: NoteSignature, text: str) -> int | None:
        """Return when the witness cosigned a text, in seconds since 1970; None if it did not."""
        if len(line.signature) != _COSIGNATURE_BYTES:
            return None
        at = int.from_bytes(line.signature[:_TIME_BYTES], "big")
        verifier = VerifierKey(self.name, self.public_key)
        signed = f"cosignature/v1\ntime {at}\n{text}"
        good = at <= _LATEST and verifier.verifies(line.signature[_TIME_BYTES:], signed)
        return at if good else None


def cosignatures(note: Note, witnesses: Iterable[WitnessKey]) -> Mapping[WitnessKey, int]:
    """Return which of the witnesses cosigned a checkpoint, and when, in seconds since 1970.

    Raise `ProofError` where a known witness is named and its cosignature is wrong.
    """
    known = {(key.name, key.key_id): key for key in witnesses}
    found: dict[WitnessKey, int] = {}
    for line in note.signatures:
        key = known.get((line.name, line.key_id))
        if key is None:
            continue
        at = key.cosigned_at(line, note.text)
        if at is None:
            raise ProofError(
                f"the cosignature by witness {key.name} ({key.key_id}) does not match the text"
            )
        found[key] = max(at, found.get(key, 0))
    return found


def request(old_size: int, proof: Sequence[bytes], note: str) -> bytes:
    """Return what is posted to a witness: the size it knows, the way from there, a checkpoint."""
    hashes = (base64.b64encode(one).decode() for one in proof)
    return "".join(f"{line}\n" for line in (f"old {old_size}", *hashes, "")).encode() + (
        note.encode()
    )


def told_size(reply: bytes) -> int | None:
    """Return the size that a witness says it knows; None if its answer says none."""
    found = _SIZE.fullmatch(reply)
    return int(found[1]) if found else None


def with_cosignatures(note: str, answer: str, witness: WitnessKey) -> str:
    """Return a checkpoint with the cosignature that a witness answered with, in place of an older.

    Raise `ProofError` if the answer holds no good one by this witness. Its other lines are left
    out: whose they are is not known.
    """
    signed = Note.parse(note)
    answered = Note.parse(f"{signed.text}\n{answer}")
    if witness not in cosignatures(answered, [witness]):
        raise ProofError(f"the answer has no cosignature by {witness.name} ({witness.key_id})")
    mine = (witness.name, witness.key_id)
    lines = [line for line in signed.signatures if (line.name, line.key_id) != mine]
    new = max(
        (line for line in answered.signatures if (line.name, line.key_id) == mine),
        key=lambda line: line.signature[:_TIME_BYTES],
    )
    return _written(signed.text, (*lines, new))


def merged(note: str, others: str) -> str:
    """Return a checkpoint with the signature lines of another note of the same text.

    A note of another text, or one that would make it too long, adds nothing.
    """
    signed = Note.parse(note)
    other = Note.parse(others)
    if other.text != signed.text:
        return note
    there = {(line.name, line.key_id) for line in signed.signatures}
    more = [line for line in other.signatures if (line.name, line.key_id) not in there]
    whole = _written(signed.text, (*signed.signatures, *more))
    return whole if len(whole) <= MAX_NOTE_BYTES else note


def _written(text: str, lines: Iterable[NoteSignature]) -> str:
    """Return a note of a text and its signature lines."""
    block = "".join(
        f"— {line.name} {base64.b64encode(bytes.fromhex(line.key_id) + line.signature).decode()}\n"
        for line in lines
    )
    return f"{text}\n{block}"

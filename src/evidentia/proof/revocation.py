"""Revocation: from which size of a log on a key is not to be believed."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evidentia.trail.checkpoint import Checkpoint
from evidentia.trail.entry import Entry, EntryKind
from evidentia.trail.note import Note

_SUBJECT = re.compile(r"revoked/([0-9a-f]{8})/([1-9][0-9]{0,17})")


@dataclass(frozen=True, slots=True, order=True)
class Revocation:
    """An entry that revokes a key: its number, whose signatures, and from which size on.

    The reason is empty where only the entry is known, and not its body.
    """

    seq: int
    key_id: str
    from_size: int
    reason: str = ""
    by: str = ""

    @property
    def subject(self) -> str:
        """What the entry is about. It has all that a reader needs who has no bodies."""
        return f"revoked/{self.key_id}/{self.from_size}"

    def body(self) -> dict[str, Any]:
        """Return the body of the entry."""
        return {
            "revokes": self.key_id,
            "from_size": self.from_size,
            "reason": self.reason,
            "by": self.by,
        }

    @property
    def told(self) -> str:
        """What it says, for a person."""
        why = f": {self.reason}" if self.reason else ""
        return (
            f"key {self.key_id} is revoked from size {self.from_size:,} on (entry {self.seq}{why})"
        )

    def is_of(self, key_id: str, size: int) -> bool:
        """Whether it concerns what a key signed of a log of a size."""
        return key_id == self.key_id and size >= self.from_size

    def as_json(self) -> dict[str, Any]:
        """Return the revocation as a JSON object."""
        return {
            "key_id": self.key_id,
            "from_size": self.from_size,
            "entry": self.seq,
            "reason": self.reason,
            "by": self.by,
        }


def revocation_by(entry: Entry, body: Any = None) -> Revocation | None:
    """Return what an entry revokes; None if that is nothing. The body is the entry's own."""
    found = _SUBJECT.fullmatch(entry.subject) if entry.kind == EntryKind.KEY else None
    if found is None:
        return None
    key_id, size = found[1], int(found[2])
    match body:
        case {"reason": str(reason), "by": str(by)}:
            return Revocation(entry.seq, key_id, size, reason, by)
    return Revocation(entry.seq, key_id, size)


def revoked(
    revocations: Iterable[Revocation], checkpoint: Checkpoint, note: Note
) -> Revocation | None:
    """Return what revokes a checkpoint; None where a key that signed it is still believed."""
    known = sorted(revocations)
    signers = [line.key_id for line in note.signatures if line.name == checkpoint.origin]
    found = [
        next((one for one in known if one.is_of(signer, checkpoint.size)), None)
        for signer in signers
    ]
    return None if None in found else next(iter(found), None)

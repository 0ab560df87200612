"""Checkpoints (C2SP tlog-checkpoint): a log's size and root, signed.

Whoever keeps a checkpoint elsewhere can tell later that the log was cut back or rewritten.
"""

import base64
import re
from dataclasses import dataclass

from evidentia.errors import ProofError
from evidentia.trail.merkle import HASH_BYTES
from evidentia.trail.note import Note, PrivateKey, decode_base64, sign_note

_SIZE = re.compile(r"0|[1-9][0-9]{0,17}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A log at one moment: its origin, how many entries it had, and their root."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The three lines that are signed."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    @property
    def tenant(self) -> str:
        """The tenant whose log this is: the last part of the origin."""
        return self.origin.rpartition("/")[2]

    @classmethod
    def parse(cls, text: str) -> "Checkpoint":
        """Read a note's text as a checkpoint; raise `ProofError` if it is none.

        Lines after the third are extensions and are left alone, as the format asks.
        """
        *lines, rest = text.split("\n")
        if len(lines) < len(("origin", "size", "root")) or not all(lines) or rest:
            raise ProofError("not a checkpoint: it has no origin, size and root lines")
        origin, size, encoded = lines[:3]
        root = decode_base64(encoded)
        if not _SIZE.fullmatch(size) or root is None or len(root) != HASH_BYTES:
            raise ProofError("not a checkpoint: its size or its root is malformed")
        return cls(origin, int(size), root)

    def sign(self, private_key: PrivateKey, public: bytes | None = None) -> str:
        """Return the checkpoint as a note signed under its origin's name.

        `public` is the key's public half, where it is at hand.
        """
        return sign_note(self.text, self.origin, private_key, public)


def read_checkpoint(note: str) -> tuple[Checkpoint, Note]:
    """Take a signed checkpoint apart; raise `ProofError` if it is none. Checks no signature."""
    parsed = Note.parse(note)
    return Checkpoint.parse(parsed.text), parsed


def log_origin(log_id: str, tenant: str) -> str:
    """Return the origin that names a tenant's log everywhere: `evidentia/<log id>/<tenant>`."""
    return f"evidentia/{log_id}/{tenant}"

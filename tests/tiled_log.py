"""A reader of published logs, written from the texts of C2SP alone.

It shares no code with the package: https://c2sp.org/tlog-tiles, /tlog-checkpoint, /signed-note.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


@dataclass(frozen=True)
class TiledLog:
    """A folder served as a tiled log, read against a verifier key `name+hash+base64`."""

    folder: Path
    verifier_key: str

    def checkpoint(self) -> tuple[str, int, bytes]:
        """Return origin, size and root, after checking the signature."""
        text, _, signatures = (self.folder / "checkpoint").read_text().rpartition("\n\n")
        name, key_hash, encoded = self.verifier_key.split("+", 2)
        key = base64.b64decode(encoded)
        assert key[0] == 1, "the key is not of type Ed25519"
        assert sha256(f"{name}\n".encode() + key).digest()[:4].hex() == key_hash
        mine = [line for line in signatures.splitlines() if line.startswith(f"— {name} ")]
        signature = base64.b64decode(mine[0].rpartition(" ")[2])
        assert signature[:4].hex() == key_hash, "the signature is by another key"
        public = Ed25519PublicKey.from_public_bytes(key[1:])
        public.verify(signature[4:], f"{text}\n".encode())
        origin, size, root = text.split("\n")[:3]
        assert origin == name
        return origin, int(size), base64.b64decode(root)

    def tile(self, level: int | str, index: int, size: int) -> bytes:
        """Fetch the tile or bundle that a tree of this size has there, full or partial."""
        below = size if level == "entries" else size // 256 ** int(level)
        width = min(256, below - index * 256)
        digits = f"{index:03d}"
        digits = digits.zfill(-(-len(digits) // 3) * 3)
        parts = [digits[at : at + 3] for at in range(0, len(digits), 3)]
        path = "/".join([f"x{part}" for part in parts[:-1]] + parts[-1:])
        suffix = "" if width == 256 else f".p/{width}"
        return (self.folder / "tile" / str(level) / f"{path}{suffix}").read_bytes()

    def entries(self, size: int) -> list[bytes]:
        """Return all entries out of the bundles."""
        found = []
        for index in range(-(-size // 256)):
            bundle = self.tile("entries", index, size)
            while bundle:
                length = int.from_bytes(bundle[:2], "big")
                found.append(bundle[2 : 2 + length])
                bundle = bundle[2 + length :]
        return found

    def hashes(self, level: int, size: int) -> list[bytes]:
        """Return all hashes of a level out of its tiles."""
        count = size // 256**level
        data = b"".join(self.tile(level, index, size) for index in range(-(-count // 256)))
        return [data[at : at + 32] for at in range(0, len(data), 32)]

    def check(self) -> int:
        """Check everything that is published against the checkpoint; return the size."""
        _, size, root = self.checkpoint()
        leaves = [sha256(b"\x00" + entry).digest() for entry in self.entries(size)]
        assert len(leaves) == size
        assert merkle_tree_hash(leaves) == root
        level = 0
        while size // 256**level:
            count, width = size // 256**level, 256**level
            expected = [
                merkle_tree_hash(leaves[at * width : (at + 1) * width]) for at in range(count)
            ]
            assert self.hashes(level, size) == expected, f"level {level}"
            level += 1
        return size


def merkle_tree_hash(leaves: Sequence[bytes]) -> bytes:
    """Return the root over leaf hashes, as RFC 6962 defines it."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    half = 1 << (len(leaves) - 1).bit_length() - 1
    left, right = merkle_tree_hash(leaves[:half]), merkle_tree_hash(leaves[half:])
    return sha256(b"\x01" + left + right).digest()

"""A small log that proofs can be made of, for the tests of proofs."""

from typing import Any

from evidentia.canonical import canonical_json
from evidentia.proof.document import Disclosure, Proof
from evidentia.proof.keys import SigningKey
from evidentia.trail.checkpoint import Checkpoint
from evidentia.trail.entry import Entry, body_commitment, genesis_prev
from evidentia.trail.merkle import inclusion_proof, leaf_hash, root_hash

ORIGIN = "evidentia/0123abcd/acme"
KEY = SigningKey.from_seed(ORIGIN, bytes([1]) * 32)
OTHER_KEY = SigningKey.from_seed(ORIGIN, bytes([2]) * 32)
BODY = {"confidence": 0.5, "note": "é", "total": 100000.0}
SALT = bytes(range(32))


def make_entries(size: int, body: Any) -> list[Entry]:
    """Return the entries of a log, each with the same body."""
    entries: list[Entry] = []
    commitment = body_commitment(SALT, canonical_json(body))
    for seq in range(size):
        prev = leaf_hash(entries[-1].encode()).hex() if entries else genesis_prev(ORIGIN)
        at = f"2026-01-31T09:30:{seq:02d}.000000Z"
        entries.append(Entry("acme", seq, prev, "evidence_record", f"ob-{seq}", at, commitment))
    return entries


def make_proof(
    seq: int = 2,
    size: int = 5,
    *,
    body: Any = BODY,
    disclosed: bool = True,
    key: SigningKey = KEY,
    origin: str = ORIGIN,
) -> Proof:
    """Return a proof of one entry of a small log."""
    entries = make_entries(size, body)
    leaves = [leaf_hash(entry.encode()) for entry in entries]

    def node(height: int, index: int) -> bytes:
        return root_hash(leaves[index << height : (index + 1) << height])

    checkpoint = Checkpoint(origin, size, root_hash(leaves))
    return Proof(
        entries[seq],
        tuple(inclusion_proof(node, seq, size)),
        checkpoint.sign(key.private_key),
        Disclosure(body, SALT) if disclosed else None,
    )


def proof_bytes(proof: Proof) -> bytes:
    """Return the proof as a file holds it."""
    return canonical_json(proof.as_json())

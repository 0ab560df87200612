"""Logs of one entry that is about a statement, signed by the tests' own key."""

from hashlib import sha256
from typing import Any

from evidentia.canonical import canonical_json
from evidentia.packs.verification import written
from evidentia.proof.document import Disclosure, Proof
from evidentia.proof.envelope import Envelope
from evidentia.trail.checkpoint import Checkpoint
from evidentia.trail.entry import Entry, body_commitment, genesis_prev
from evidentia.trail.merkle import leaf_hash
from proofs import KEY, SALT


def recorded(payload: bytes, kind: str, subject: str, **more: Any) -> bytes:
    """Return the proof of the one entry, as it stands in an exported file."""
    body: dict[str, Any] = {"statement_sha256": sha256(payload).hexdigest(), **more}
    commitment = body_commitment(SALT, canonical_json(body))
    origin = KEY.verifier.name
    at = "2026-01-31T09:30:00.000000Z"
    entry = Entry("acme", 0, genesis_prev(origin), kind, subject, at, commitment)
    note = Checkpoint(origin, 1, leaf_hash(entry.encode())).sign(KEY.private_key)
    proof = Proof(entry, (), note, Disclosure(body, SALT), Envelope.sign(payload, KEY))
    return written(proof.as_json())

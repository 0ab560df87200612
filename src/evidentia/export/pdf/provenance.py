"""What a document says of where it comes from: what is embedded, who signed it, its place."""

import base64
from typing import Any, Final

from evidentia.canonical import sha256_hex
from evidentia.export.pdf.fields import code, count, size, time
from evidentia.proof.document import Proof
from evidentia.proof.envelope import Envelope
from evidentia.trail.checkpoint import read_checkpoint

EVIDENCE: Final = "evidence.json"
RENDERING: Final = "rendering.json"
COMMAND: Final = "evidentia verify FILE.pdf --key KEY"
_GROUP: Final = 4


def provenance(
    proof: Proof, envelope: Envelope, evidence: bytes, rendering: bytes
) -> dict[str, Any]:
    """Return what the page about the document itself prints."""
    checkpoint, _ = read_checkpoint(proof.checkpoint)
    signers = dict.fromkeys(signature.key_id for signature in envelope.signatures)
    return {
        "evidence": size(len(evidence)),
        "has_files": bool(proof.attachments),
        "rendering": size(len(rendering)),
        "signer": code(", ".join(signers)),
        "log": code(checkpoint.origin),
        "entry": count(proof.entry.seq),
        "recorded": time(proof.entry.at),
        "size": count(checkpoint.size),
        "root": code(base64.b64encode(checkpoint.root).decode()),
        "content": code(sha256_hex(envelope.payload)),
        "command": COMMAND,
        "fingerprint": fingerprint(evidence),
    }


def fingerprint(evidence: bytes) -> list[str]:
    """Return the SHA-256 of the evidence in groups of four digits."""
    digest = sha256_hex(evidence)
    return [digest[at : at + _GROUP] for at in range(0, len(digest), _GROUP)]


def attached() -> list[dict[str, str]]:
    """Return how the embedded files are named and described in the PDF."""
    return [
        {
            "name": EVIDENCE,
            "relationship": "source",
            "description": "The signed evidence with the proof of its place in the trail",
        },
        {
            "name": RENDERING,
            "relationship": "supplement",
            "description": "How the pages were made of the evidence",
        },
    ]

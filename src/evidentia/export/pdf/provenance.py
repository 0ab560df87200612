"""What a document says of where it comes from: what is embedded, who signed it, its place."""

import base64
from typing import Any, Final

from evidentia.canonical import sha256_hex
from evidentia.export.pdf.fields import code, count, size, time
from evidentia.language.digits import in_groups
from evidentia.proof.document import Proof
from evidentia.proof.envelope import Envelope
from evidentia.trail.checkpoint import read_checkpoint

EVIDENCE: Final = "evidence.json"
RENDERING: Final = "rendering.json"
COMMAND: Final = "evidentia verify FILE.pdf --key KEY"


def provenance(
    proof: Proof, envelope: Envelope, evidence: bytes, rendering: bytes
) -> dict[str, Any]:
    """Return what the page about the document itself prints.

    The fingerprint is that of what was signed, so that all copies of it have the same one.
    """
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
        "command": COMMAND,
        "fingerprint": in_groups(sha256_hex(envelope.payload)),
    }


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

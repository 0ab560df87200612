"""What a stranger calls: one function for whatever leaves the product, offline."""

from pathlib import Path

from evidentia.errors import InputError
from evidentia.kinds import verify_evidence, verify_pdf
from evidentia.proof.document import MAX_PROOF_BYTES
from evidentia.proof.files import read_bytes, read_key
from evidentia.proof.foreign import foreign, no_evidence
from evidentia.proof.keys import TrustedKey
from evidentia.proof.verification import Check, ProofReport
from evidentia.trail.note import VerifierKey

MAX_PDF_BYTES = 2 * MAX_PROOF_BYTES
"""Room for the largest evidence, packed, and for its pages."""


def verify(
    evidence: str | Path | bytes, *, key: str | Path | VerifierKey | TrustedKey | None = None
) -> ProofReport:
    """Verify a proof, an exported pack or a PDF, offline: from the file (or its bytes) and a key.

    `key` is a public key, its text (`name+id+base64`, PEM or hexadecimal) or a file with it. A PDF
    is verified by the evidence in it, and its pages by making them again (the extra `pdf`).
    """
    keys = [] if key is None else [read_key(key)]
    if isinstance(evidence, bytes):
        data, called_pdf = evidence, False
    else:
        if Path(evidence).is_dir():
            raise InputError(f"{evidence}: {no_evidence('it is a folder')}")
        called_pdf = str(evidence).lower().endswith(".pdf")
        data = read_bytes(evidence, MAX_PDF_BYTES if called_pdf else MAX_PROOF_BYTES)
    if called_pdf or data.startswith(b"%PDF-"):
        return verify_pdf(data, keys)
    if (says := foreign(data)) is not None:
        return ProofReport((Check("format", holds=False, says=says),))
    return verify_evidence(data, keys)

"""What a stranger calls: one function for whatever leaves the product, offline."""

from pathlib import Path

from evidentia.proof.document import MAX_PROOF_BYTES
from evidentia.proof.files import read_bytes, read_key
from evidentia.proof.keys import TrustedKey
from evidentia.proof.verification import ProofReport, verify_proof
from evidentia.trail.note import VerifierKey


def verify(
    evidence: str | Path | bytes, *, key: str | Path | VerifierKey | TrustedKey | None = None
) -> ProofReport:
    """Verify a proof or an exported pack, offline: from the file (or its bytes) and a key alone.

    `key` is a public key, its text (`name+id+base64`, PEM or hexadecimal) or a file with it.
    """
    from evidentia.packs.verification import with_pack_checks  # noqa: PLC0415 - not all need it

    data = evidence if isinstance(evidence, bytes) else read_bytes(evidence, MAX_PROOF_BYTES)
    return with_pack_checks(data, verify_proof(data, [] if key is None else [read_key(key)]))

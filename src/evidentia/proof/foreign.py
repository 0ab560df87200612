"""What is no evidence: files that were handed to a verifier and can't be any, told by their bytes.

Evidence that was damaged is not among them: what is wrong with it, verifying it tells.
"""

from typing import Final

from evidentia.canonical import parse_json
from evidentia.errors import CanonicalError
from evidentia.proof.document import PROOF_FORMAT

WHAT_CAN_BE_VERIFIED: Final = (
    "a proof or an exported pack (JSON), or a PDF or an HTML page of 'evidentia pack export' or "
    "'evidentia ledger export', each as it was written"
)
_BEGINNINGS: Final = {
    b"\x89PNG\r\n\x1a\n": "a picture (PNG)",
    b"\xff\xd8\xff": "a picture (JPEG)",
    b"GIF8": "a picture (GIF)",
    b"II*\x00": "a picture (TIFF)",
    b"MM\x00*": "a picture (TIFF)",
    b"PK\x03\x04": "a ZIP archive, as Word and Excel files are too",
    b"PK\x05\x06": "a ZIP archive with nothing in it",
    b"\x1f\x8b": "a gzip archive",
}


def no_evidence(what: str) -> str:
    """Say that a file is no evidence but something else, and what can be verified."""
    return f"this is no evidence file: {what}; what can be verified: {WHAT_CAN_BE_VERIFIED}"


def foreign(data: bytes) -> str | None:
    """Say what a file is in place of evidence; None if it is evidence, whole or damaged."""
    if not data.strip():
        return no_evidence("it is empty")
    for beginning, kind in _BEGINNINGS.items():
        if data.startswith(beginning):
            return no_evidence(f"it is {kind}")
    if PROOF_FORMAT.encode() in data:
        return None
    try:
        document = parse_json(data)
    except CanonicalError:
        return no_evidence("it is text" if _is_text(data) else "it is neither JSON nor a PDF")
    if isinstance(document, dict) and document.get("format") == PROOF_FORMAT:
        return None  # spelled with escapes
    return no_evidence("it is JSON without a proof in it")


def _is_text(data: bytes) -> bool:
    try:
        return "\x00" not in data.decode()
    except UnicodeDecodeError:
        return False

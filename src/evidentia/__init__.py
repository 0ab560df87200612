"""The evidence layer for AI systems.

What an AI read, was shown, claimed, did and decided, as evidence that a person can follow and a
stranger can verify. Start with `evidentia.open()`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from evidentia.errors import EvidentiaError
    from evidentia.proof.files import verify
    from evidentia.proof.keys import TrustedKey
    from evidentia.proof.verification import ProofReport
    from evidentia.trail.entry import EntryKind
    from evidentia.trail.note import VerifierKey
    from evidentia.trail.record import (
        EvidenceRecord,
        PackagedEvidence,
        SkippedObligation,
        VerificationResult,
        create_evidence_record,
        create_status_change_record,
        package_evidence,
    )
    from evidentia.trail.validation import (
        validate_evidence_chain,
        validate_evidence_chain_against_obligations,
    )
    from evidentia.workspace import Workspace
    from evidentia.workspace import open_workspace as open  # noqa: A004 - ev.open() reads best

_HOMES = {
    "EntryKind": "trail.entry",
    "EvidenceRecord": "trail.record",
    "EvidentiaError": "errors",
    "PackagedEvidence": "trail.record",
    "ProofReport": "proof.verification",
    "SkippedObligation": "trail.record",
    "TrustedKey": "proof.keys",
    "VerificationResult": "trail.record",
    "VerifierKey": "trail.note",
    "Workspace": "workspace",
    "create_evidence_record": "trail.record",
    "create_status_change_record": "trail.record",
    "open": "workspace:open_workspace",
    "package_evidence": "trail.record",
    "validate_evidence_chain": "trail.validation",
    "validate_evidence_chain_against_obligations": "trail.validation",
    "verify": "proof.files",
}
"""Where each public name lives; it is imported when it is first asked for."""

__all__ = [
    "EntryKind",
    "EvidenceRecord",
    "EvidentiaError",
    "PackagedEvidence",
    "ProofReport",
    "SkippedObligation",
    "TrustedKey",
    "VerificationResult",
    "VerifierKey",
    "Workspace",
    "create_evidence_record",
    "create_status_change_record",
    "open",
    "package_evidence",
    "validate_evidence_chain",
    "validate_evidence_chain_against_obligations",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import a public name from where it lives."""
    if name not in _HOMES:
        raise AttributeError(f"module 'evidentia' has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    value = getattr(import_module(f"evidentia.{module}"), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""The evidence layer for AI systems.

What an AI read, was shown, claimed, did and decided, as evidence that a person can follow and a
stranger can verify. Start with `evidentia.open()`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from evidentia.access.actions import Action, Authorizer, Role
    from evidentia.access.openfga import OpenFgaAuthorizer
    from evidentia.access.openfga_client import OpenFgaClient, OpenFgaServer
    from evidentia.access.roles import Grant
    from evidentia.bundles.accounting import EvidenceType, InputFate
    from evidentia.bundles.model import EvidenceBundle, EvidenceItem
    from evidentia.bundles.policy import EvidencePolicy
    from evidentia.bundles.redaction.model import SensitiveSpan
    from evidentia.bundles.redaction.presidio import presidio_detector
    from evidentia.bundles.redaction.redactor import Redactor
    from evidentia.bundles.rendering import Rendered
    from evidentia.documents.hashing import generate_chunk_hash
    from evidentia.documents.model import DocumentChunk
    from evidentia.errors import EvidentiaError
    from evidentia.export.forms import export_ledger
    from evidentia.judges.llm.endpoint import LanguageModel
    from evidentia.ledger.citations import CitationResolution, resolve_citation
    from evidentia.ledger.claims import extract_claims
    from evidentia.ledger.commitment import NamedCorpus
    from evidentia.ledger.confidence import calculate_confidence
    from evidentia.ledger.judging import Judge, Opinion
    from evidentia.ledger.membership import CorpusProof
    from evidentia.ledger.metrics import LedgerMetrics
    from evidentia.ledger.model import (
        Claim,
        ClaimType,
        ConfidenceComponents,
        EvidenceLedger,
        EvidenceMatch,
        Importance,
        LedgerEntry,
        LedgerSummary,
        Passage,
        RiskFlag,
        RiskType,
        Severity,
        SourceDocument,
        SupportLevel,
        Verdict,
        VerdictAssignment,
        WeakSupport,
    )
    from evidentia.ledger.outcomes import AnswerOutcome, CheckedAnswers
    from evidentia.ledger.pages import JudgedClaim, LedgerHead
    from evidentia.ledger.risks import RISK_DEFINITIONS, RiskDefinition, generate_risk_flags
    from evidentia.ledger.session import LedgerSession, SearchedBy
    from evidentia.ledger.verdicts import assign_verdict
    from evidentia.ledger.votes import AskedService, Judging, JudgingPolicy, Vote
    from evidentia.loading.assembling import build_evidence_bundle
    from evidentia.loading.ingesting import FileProblem, IngestedDocument, Ingestion
    from evidentia.loading.places import FileChange
    from evidentia.packs.decision import (
        ApprovalClass,
        DecisionOutput,
        Evidence,
        PackRequirement,
        ReversibilityClass,
        SensitivityClass,
        pack_requirement,
    )
    from evidentia.packs.drafting import MemoWriter
    from evidentia.packs.memo import BilingualMemo
    from evidentia.packs.model import EvidencePack, EvidenceSource, PromptRecord, ReviewOutcome
    from evidentia.packs.recording import deciding, recorded_tool
    from evidentia.packs.retention import LegalHold, RetentionPolicy
    from evidentia.packs.tools import ToolCallRecord, ToolVerificationLedger
    from evidentia.proof.document import Proof
    from evidentia.proof.keys import TrustedKey
    from evidentia.proof.verification import ProofReport
    from evidentia.sources.adapters import from_retrieval
    from evidentia.sources.model import (
        CandidateItem,
        EvidenceChunk,
        EvidencePacker,
        EvidencePackOptions,
        PackedSources,
        SourceItem,
        SourceSnippet,
    )
    from evidentia.sources.packing import DefaultEvidencePacker
    from evidentia.sources.wire import WIRE_FORMATS
    from evidentia.store.auditing import AuditReport
    from evidentia.store.database import ServerOptions
    from evidentia.store.keys import Keys
    from evidentia.store.lake import Lake
    from evidentia.store.publishing import Publication
    from evidentia.store.sql.bundles import ListedBundle, TrackedItem
    from evidentia.store.sql.ledgers import ListedLedger
    from evidentia.store.sql.library import Collection, StoredDocument
    from evidentia.store.sql.log import Receipt
    from evidentia.store.sql.packs import ListedPack
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
    from evidentia.verifying import verify
    from evidentia.workspace import Workspace
    from evidentia.workspace import open_workspace as open  # noqa: A004 - ev.open() reads best
    from evidentia.workspace.access import AllowedEndpoint
    from evidentia.workspace.auditing import AuditedPart, WorkspaceAudit
    from evidentia.workspace.bundles import BundleReport
    from evidentia.workspace.ledger_pages import LedgerPage
    from evidentia.workspace.ledgers import RecordedLedger
    from evidentia.workspace.library import DocumentsRecorded
    from evidentia.workspace.logged import LoggedEntry
    from evidentia.workspace.membership import CorpusVersion, LedgerCorpus
    from evidentia.workspace.opened import Opened, open_all
    from evidentia.workspace.passages import FoundPassage, PageText
    from evidentia.workspace.removing import RemovedDocument, Synced
    from evidentia.workspace.retention import PackAudit, SweptPack
    from evidentia.workspace.signing import AnnouncedKey

_HOMES = {
    "Action": "access.actions",
    "AllowedEndpoint": "workspace.access",
    "AnnouncedKey": "workspace.signing",
    "AnswerOutcome": "ledger.outcomes",
    "ApprovalClass": "packs.decision",
    "AskedService": "ledger.votes",
    "AuditReport": "store.auditing",
    "AuditedPart": "workspace.auditing",
    "Authorizer": "access.actions",
    "BilingualMemo": "packs.memo",
    "BundleReport": "workspace.bundles",
    "CandidateItem": "sources.model",
    "CheckedAnswers": "ledger.outcomes",
    "CitationResolution": "ledger.citations",
    "Claim": "ledger.model",
    "ClaimType": "ledger.model",
    "Collection": "store.sql.library",
    "ConfidenceComponents": "ledger.model",
    "CorpusProof": "ledger.membership",
    "CorpusVersion": "workspace.membership",
    "DecisionOutput": "packs.decision",
    "DefaultEvidencePacker": "sources.packing",
    "DocumentChunk": "documents.model",
    "DocumentsRecorded": "workspace.library",
    "EntryKind": "trail.entry",
    "Evidence": "packs.decision",
    "EvidenceBundle": "bundles.model",
    "EvidenceChunk": "sources.model",
    "EvidenceItem": "bundles.model",
    "EvidenceLedger": "ledger.model",
    "EvidenceMatch": "ledger.model",
    "EvidencePack": "packs.model",
    "EvidencePackOptions": "sources.model",
    "EvidencePacker": "sources.model",
    "EvidencePolicy": "bundles.policy",
    "EvidenceRecord": "trail.record",
    "EvidenceSource": "packs.model",
    "EvidenceType": "bundles.accounting",
    "EvidentiaError": "errors",
    "FileChange": "loading.places",
    "FileProblem": "loading.ingesting",
    "FoundPassage": "workspace.passages",
    "Grant": "access.roles",
    "Importance": "ledger.model",
    "IngestedDocument": "loading.ingesting",
    "Ingestion": "loading.ingesting",
    "InputFate": "bundles.accounting",
    "Judge": "ledger.judging",
    "JudgedClaim": "ledger.pages",
    "Judging": "ledger.votes",
    "JudgingPolicy": "ledger.votes",
    "Keys": "store.keys",
    "Lake": "store.lake",
    "LanguageModel": "judges.llm.endpoint",
    "LedgerCorpus": "workspace.membership",
    "LedgerEntry": "ledger.model",
    "LedgerHead": "ledger.pages",
    "LedgerMetrics": "ledger.metrics",
    "LedgerPage": "workspace.ledger_pages",
    "LedgerSession": "ledger.session",
    "LedgerSummary": "ledger.model",
    "LegalHold": "packs.retention",
    "ListedBundle": "store.sql.bundles",
    "ListedLedger": "store.sql.ledgers",
    "ListedPack": "store.sql.packs",
    "LoggedEntry": "workspace.logged",
    "MemoWriter": "packs.drafting",
    "NamedCorpus": "ledger.commitment",
    "OpenFgaAuthorizer": "access.openfga",
    "OpenFgaClient": "access.openfga_client",
    "OpenFgaServer": "access.openfga_client",
    "Opened": "workspace.opened",
    "Opinion": "ledger.judging",
    "PackAudit": "workspace.retention",
    "PackRequirement": "packs.decision",
    "PackagedEvidence": "trail.record",
    "PackedSources": "sources.model",
    "PageText": "workspace.passages",
    "Passage": "ledger.model",
    "PromptRecord": "packs.model",
    "Proof": "proof.document",
    "ProofReport": "proof.verification",
    "Publication": "store.publishing",
    "RISK_DEFINITIONS": "ledger.risks",
    "Receipt": "store.sql.log",
    "RecordedLedger": "workspace.ledgers",
    "Redactor": "bundles.redaction.redactor",
    "RemovedDocument": "workspace.removing",
    "Rendered": "bundles.rendering",
    "RetentionPolicy": "packs.retention",
    "ReversibilityClass": "packs.decision",
    "ReviewOutcome": "packs.model",
    "RiskDefinition": "ledger.risks",
    "RiskFlag": "ledger.model",
    "RiskType": "ledger.model",
    "Role": "access.actions",
    "SearchedBy": "ledger.session",
    "SensitiveSpan": "bundles.redaction.model",
    "SensitivityClass": "packs.decision",
    "ServerOptions": "store.database",
    "Severity": "ledger.model",
    "SkippedObligation": "trail.record",
    "SourceDocument": "ledger.model",
    "SourceItem": "sources.model",
    "SourceSnippet": "sources.model",
    "StoredDocument": "store.sql.library",
    "SupportLevel": "ledger.model",
    "SweptPack": "workspace.retention",
    "Synced": "workspace.removing",
    "ToolCallRecord": "packs.tools",
    "ToolVerificationLedger": "packs.tools",
    "TrackedItem": "store.sql.bundles",
    "TrustedKey": "proof.keys",
    "Verdict": "ledger.model",
    "VerdictAssignment": "ledger.model",
    "VerificationResult": "trail.record",
    "VerifierKey": "trail.note",
    "Vote": "ledger.votes",
    "WIRE_FORMATS": "sources.wire",
    "WeakSupport": "ledger.model",
    "Workspace": "workspace",
    "WorkspaceAudit": "workspace.auditing",
    "assign_verdict": "ledger.verdicts",
    "build_evidence_bundle": "loading.assembling",
    "calculate_confidence": "ledger.confidence",
    "create_evidence_record": "trail.record",
    "create_status_change_record": "trail.record",
    "deciding": "packs.recording",
    "export_ledger": "export.forms",
    "extract_claims": "ledger.claims",
    "from_retrieval": "sources.adapters",
    "generate_chunk_hash": "documents.hashing",
    "generate_risk_flags": "ledger.risks",
    "open": "workspace:open_workspace",
    "open_all": "workspace.opened",
    "pack_requirement": "packs.decision",
    "package_evidence": "trail.record",
    "presidio_detector": "bundles.redaction.presidio",
    "recorded_tool": "packs.recording",
    "resolve_citation": "ledger.citations",
    "validate_evidence_chain": "trail.validation",
    "validate_evidence_chain_against_obligations": "trail.validation",
    "verify": "verifying",
}
"""Where each public name lives; it is imported when it is first asked for."""

__all__ = [
    "RISK_DEFINITIONS",
    "WIRE_FORMATS",
    "Action",
    "AllowedEndpoint",
    "AnnouncedKey",
    "AnswerOutcome",
    "ApprovalClass",
    "AskedService",
    "AuditReport",
    "AuditedPart",
    "Authorizer",
    "BilingualMemo",
    "BundleReport",
    "CandidateItem",
    "CheckedAnswers",
    "CitationResolution",
    "Claim",
    "ClaimType",
    "Collection",
    "ConfidenceComponents",
    "CorpusProof",
    "CorpusVersion",
    "DecisionOutput",
    "DefaultEvidencePacker",
    "DocumentChunk",
    "DocumentsRecorded",
    "EntryKind",
    "Evidence",
    "EvidenceBundle",
    "EvidenceChunk",
    "EvidenceItem",
    "EvidenceLedger",
    "EvidenceMatch",
    "EvidencePack",
    "EvidencePackOptions",
    "EvidencePacker",
    "EvidencePolicy",
    "EvidenceRecord",
    "EvidenceSource",
    "EvidenceType",
    "EvidentiaError",
    "FileChange",
    "FileProblem",
    "FoundPassage",
    "Grant",
    "Importance",
    "IngestedDocument",
    "Ingestion",
    "InputFate",
    "Judge",
    "JudgedClaim",
    "Judging",
    "JudgingPolicy",
    "Keys",
    "Lake",
    "LanguageModel",
    "LedgerCorpus",
    "LedgerEntry",
    "LedgerHead",
    "LedgerMetrics",
    "LedgerPage",
    "LedgerSession",
    "LedgerSummary",
    "LegalHold",
    "ListedBundle",
    "ListedLedger",
    "ListedPack",
    "LoggedEntry",
    "MemoWriter",
    "NamedCorpus",
    "OpenFgaAuthorizer",
    "OpenFgaClient",
    "OpenFgaServer",
    "Opened",
    "Opinion",
    "PackAudit",
    "PackRequirement",
    "PackagedEvidence",
    "PackedSources",
    "PageText",
    "Passage",
    "PromptRecord",
    "Proof",
    "ProofReport",
    "Publication",
    "Receipt",
    "RecordedLedger",
    "Redactor",
    "RemovedDocument",
    "Rendered",
    "RetentionPolicy",
    "ReversibilityClass",
    "ReviewOutcome",
    "RiskDefinition",
    "RiskFlag",
    "RiskType",
    "Role",
    "SearchedBy",
    "SensitiveSpan",
    "SensitivityClass",
    "ServerOptions",
    "Severity",
    "SkippedObligation",
    "SourceDocument",
    "SourceItem",
    "SourceSnippet",
    "StoredDocument",
    "SupportLevel",
    "SweptPack",
    "Synced",
    "ToolCallRecord",
    "ToolVerificationLedger",
    "TrackedItem",
    "TrustedKey",
    "Verdict",
    "VerdictAssignment",
    "VerificationResult",
    "VerifierKey",
    "Vote",
    "WeakSupport",
    "Workspace",
    "WorkspaceAudit",
    "assign_verdict",
    "build_evidence_bundle",
    "calculate_confidence",
    "create_evidence_record",
    "create_status_change_record",
    "deciding",
    "export_ledger",
    "extract_claims",
    "from_retrieval",
    "generate_chunk_hash",
    "generate_risk_flags",
    "open",
    "open_all",
    "pack_requirement",
    "package_evidence",
    "presidio_detector",
    "recorded_tool",
    "resolve_citation",
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

"""Decisions, memos, packs and their exports for tests."""

from typing import Any

from evidentia.canonical import canonical_json, sha256_hex
from evidentia.ledger.model import LedgerSummary
from evidentia.packs.decision import DecisionOutput, Evidence
from evidentia.packs.fields import AS_RECORDED
from evidentia.packs.memo import BilingualMemo
from evidentia.packs.model import (
    Attachment,
    BundleReference,
    DecisionSummary,
    EvidencePack,
    EvidenceSource,
    LedgerReference,
    PromptRecord,
)
from evidentia.packs.statement import PREDICATE_TYPES, statement_bytes
from evidentia.packs.tools import ToolCallRecord
from evidentia.packs.verification import written
from evidentia.proof.document import Disclosure, Proof
from evidentia.proof.envelope import Envelope
from evidentia.proof.keys import SigningKey
from evidentia.trail.checkpoint import Checkpoint
from evidentia.trail.entry import Entry, body_commitment, genesis_prev
from evidentia.trail.merkle import inclusion_proof, leaf_hash, root_hash
from proofs import KEY, ORIGIN, SALT

NOW = "2026-11-16T09:00:00.000000Z"
LATER = "2026-11-17T10:30:00.000000Z"
TENANT = "acme"
FILE = b"%PDF-1.7 as it was retrieved"


def evidence(**changes: Any) -> Evidence:
    fields = {
        "source": "crm.hubspot.contact",
        "uri": "hubspot://contacts/456",
        "excerpt": "Company size: 120 employees; industry: healthcare",
        "retrieved_at": "2026-11-16T08:00:00Z",
        "confidence": 0.9,
    }
    return Evidence.model_validate({**fields, **changes})


def decision(**changes: Any) -> DecisionOutput:
    fields = {
        "decision_id": "dec_abc123",
        "entity_id": "lead_xyz789",
        "tenant_id": TENANT,
        "agent_name": "icp_matcher",
        "model": "claude-sonnet-4-5",
        "decision": "Approach the hospital this quarter.",
        "approval_class": "A2",
        "reversibility_class": "R1",
        "sensitivity_class": "S1",
        "confidence": 0.84,
        "evidence": (evidence(),),
        "decided_at": NOW,
    }
    return DecisionOutput.model_validate({**fields, **changes})


def memo(**changes: Any) -> BilingualMemo:
    fields = {
        "title_ar": "توصية",
        "title_en": "Recommendation",
        "body_ar": "نوصي بالتواصل [1].",
        "body_en": "We recommend it [1].",
        "executive_summary_ar": "الشركة مناسبة.",
        "executive_summary_en": "The company fits.",
    }
    return BilingualMemo.model_validate({**fields, **changes})


def source(**changes: Any) -> EvidenceSource:
    fields = {
        "source": "crm.hubspot.contact",
        "uri": "hubspot://contacts/456",
        "excerpt": "Company size: 120 employees",
        "content_hash": f"sha256:{sha256_hex(FILE)}",
        "retrieved_at": "2026-11-16T08:00:00Z",
        "confidence": 0.9,
    }
    return EvidenceSource.model_validate({**fields, **changes})


def call(**changes: Any) -> ToolCallRecord:
    fields = {
        "tool_name": "hubspot.get_contact",
        "intended_action": "retrieve contact 456 read-only",
        "actual_action": "retrieved contact 456 read-only",
        "called_at": NOW,
        "duration_ms": 12.5,
    }
    return ToolCallRecord.model_validate({**fields, **changes})


def failed_call(**changes: Any) -> ToolCallRecord:
    fields = {
        "tool_name": "hubspot.update_contact",
        "intended_action": "update contact 456",
        "actual_action": "failed: TimeoutError",
        "outcome": "failed",
        "error": "TimeoutError",
        "verification_status": "failed",
    }
    return call(**{**fields, **changes})


def attachment(**changes: Any) -> Attachment:
    fields = {"name": "contact.pdf", "sha256": sha256_hex(FILE), "bytes": len(FILE), "source": 1}
    return Attachment.model_validate({**fields, **changes})


def pack(**changes: Any) -> EvidencePack:
    """Return the smallest pack that can be sealed, with changes."""
    fields = {
        "decision_id": "dec_abc123",
        "entity_id": "lead_xyz789",
        "tenant_id": TENANT,
        "agent_name": "icp_matcher",
        "model": "claude-sonnet-4-5",
        "sources": (source(),),
        "memo": memo(),
        "created_at": NOW,
    }
    return EvidencePack.model_validate({**fields, **changes})


def full_pack(**changes: Any) -> EvidencePack:
    """Return a pack in which every field says something; it replaces another, and is reviewed."""
    fields = {
        "model_version": "2026-10",
        "decision": DecisionSummary.of(decision(decision_ar="التواصل مع المستشفى.")),
        "sources": (source(), source(source="erp", uri=None, reference="erp/7", confidence=0.4)),
        "tool_calls": (
            call(inputs={"id": "456"}, outputs={"tags": ["a", {"b": 1}], "score": 0.5}),
            failed_call(side_effects=("opened a session",)),
            call(contradiction_flag=True, contradiction_reason="a person saw another contact"),
        ),
        "tools_offered": ("hubspot.get_contact", "hubspot.delete_contact"),
        "prompts": (
            PromptRecord(
                template_name="icp", template_version="1.0", content_hash=f"sha256:{'1' * 64}"
            ),
        ),
        "bundles": (BundleReference(bundle_id="bundle_1", bundle_sha256="a" * 64),),
        "ledger": LedgerReference(
            ledger_id="ledger_1", statement_sha256="b" * 64, summary=LedgerSummary.of(())
        ),
        "attachments": (attachment(), attachment(name="notes.txt", source=None)),
        "data_freshness_window_hours": 24,
        "reviewer_id": "u_fatimah",
        "reviewed_at": LATER,
        "review_outcome": "approved",
        "review_note": "Seen and agreed.",
        "memo": memo(body_ar="نوصي بالتواصل [1-2].", body_en="We recommend it [1, 2]."),
        "trace_id": "0af7651916cd43dd8448eb211c80319c",
        "version": 2,
        "replaces": "pack_0123456789abcdef",
    }
    return pack(**{**fields, **changes})


def unflagged_call(**changes: Any) -> ToolCallRecord:
    """Return a call as rules that saw no contradiction in it would have recorded it."""
    made = call(actual_action="deleted contact 456", **changes)
    unflagged = {
        "contradiction_flag": False,
        "contradiction_basis": "same",
        "contradiction_reason": "",
    }
    return ToolCallRecord.recorded({**made.model_dump(mode="json"), **unflagged})


def long_memo() -> BilingualMemo:
    """Return a memo as rules that count words in another way would have let it pass."""
    fields = {**memo().model_dump(), "body_en": "We recommend it [1]. " + "word " * 600}
    return BilingualMemo.model_validate(fields, context=AS_RECORDED)


def recorded_body(made: EvidencePack) -> dict[str, Any]:
    """Return the body of the entry that records a pack."""
    return {
        "statement_sha256": sha256_hex(statement_bytes(made)),
        "predicate_type": PREDICATE_TYPES[made.v],
        "decision_id": made.decision_id,
        "version": made.version,
        "replaces": made.replaces,
        "by": "owner",
    }


def proof_of(
    made: EvidencePack,
    *,
    files: tuple[tuple[str, bytes], ...] = (),
    key: SigningKey = KEY,
    body: Any = None,
    **entry: Any,
) -> Proof:
    """Return the proof of a pack that is the second of the three entries of a log."""
    payload = statement_bytes(made)
    body = recorded_body(made) if body is None else body
    commitment = body_commitment(SALT, canonical_json(body))
    entries: list[Entry] = []
    for seq in range(3):
        prev = leaf_hash(entries[-1].encode()).hex() if entries else genesis_prev(ORIGIN)
        kind = "review" if made.reviewer_id else "pack"
        named = {"tenant": TENANT, "kind": kind, "subject": made.pack_id, **entry}
        entries.append(Entry(seq=seq, prev=prev, at=NOW, body=commitment, **named))
    leaves = [leaf_hash(one.encode()) for one in entries]

    def node(height: int, index: int) -> bytes:
        return root_hash(leaves[index << height : (index + 1) << height])

    return Proof(
        entries[1],
        tuple(inclusion_proof(node, 1, 3)),
        Checkpoint(ORIGIN, 3, root_hash(leaves)).sign(key.private_key),
        Disclosure(body, SALT),
        Envelope.sign(payload, key),
        files,
    )


def exported(made: EvidencePack, **how: Any) -> bytes:
    """Return a pack as it is exported: one file that verifies itself."""
    return written(proof_of(made, **how).in_plain().as_json())


def exported_before(made: EvidencePack, **how: Any) -> bytes:
    """Return a pack as it was exported before it stood in plain, in version 1."""
    return written(proof_of(made, **how).as_json())

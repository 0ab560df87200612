"""Assembling a pack: a decision's evidence becomes its sources, and its tool calls come along."""

from collections.abc import Sequence

from evidentia.canonical import sha256_hex
from evidentia.packs.decision import DecisionOutput, Evidence
from evidentia.packs.drafting import MemoWriter
from evidentia.packs.facts import MemoClaims, MemoEvidence, MemoFacts, MemoToolCall
from evidentia.packs.memo import BilingualMemo
from evidentia.packs.model import (
    Attachment,
    BundleReference,
    DecisionSummary,
    EvidencePack,
    EvidenceSource,
    LedgerReference,
    PromptRecord,
    is_stale,
)
from evidentia.packs.tools import ToolCallRecord, ToolVerificationLedger


def assemble(
    decision: DecisionOutput,
    *,
    memo: BilingualMemo | MemoWriter,
    tool_ledger: ToolVerificationLedger,
    created_at: str,
    prompts: Sequence[PromptRecord] = (),
    bundles: Sequence[BundleReference] = (),
    ledger: LedgerReference | None = None,
    attachments: Sequence[Attachment] = (),
    trace_id: str | None = None,
) -> EvidencePack:
    """Return the draft of a decision's pack, with every call of its tools, failures too.

    The memo is given, or written from what the pack has.
    """
    calls = tool_ledger.calls(decision.decision_id)
    sources = tuple(map(promoted, ranked(decision.evidence)))
    if not isinstance(memo, BilingualMemo):
        memo = memo.write(memo_facts(decision, sources, calls, ledger))
    return EvidencePack(
        decision_id=decision.decision_id,
        entity_id=decision.entity_id,
        tenant_id=decision.tenant_id,
        agent_name=decision.agent_name,
        model=decision.model,
        model_version=decision.model_version,
        decision=DecisionSummary.of(decision),
        sources=sources,
        tool_calls=calls,
        tools_offered=tool_ledger.offered(decision.decision_id),
        prompts=tuple(prompts),
        bundles=tuple(bundles),
        ledger=ledger,
        attachments=tuple(attachments),
        data_freshness_window_hours=decision.data_freshness_window_hours,
        memo=memo,
        trace_id=trace_id,
        created_at=created_at,
    )


def memo_facts(
    decision: DecisionOutput,
    sources: Sequence[EvidenceSource],
    calls: Sequence[ToolCallRecord],
    ledger: LedgerReference | None,
) -> MemoFacts:
    """Return what a memo on a decision is written from."""
    window, decided = decision.data_freshness_window_hours, decision.decided_at
    return MemoFacts(
        decision_en=decision.decision,
        decision_ar=decision.decision_ar,
        entity_id=decision.entity_id,
        agent_name=decision.agent_name,
        model=decision.model,
        decided_at=decided,
        approval_class=decision.approval_class.value,
        reversibility_class=decision.reversibility_class.value,
        sensitivity_class=decision.sensitivity_class.value,
        confidence=decision.confidence,
        high_stakes=decision.high_stakes,
        evidence=tuple(
            MemoEvidence(
                name=one.source,
                reference=one.uri or one.reference or "",
                confidence=one.confidence,
                is_stale=is_stale(one, decided, window),
            )
            for one in sources
        ),
        tool_calls=tuple(
            MemoToolCall(
                tool_name=call.tool_name,
                outcome=call.outcome.value,
                contradiction=call.contradiction_flag,
                side_effects=call.side_effects,
            )
            for call in calls
        ),
        claims=MemoClaims(**ledger.summary.by_verdict) if ledger else None,
        needs_review=decision.needs_review,
        freshness_hours=window,
    )


def ranked(evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return evidence with what is relied on most first; the rest stays in its order."""
    return sorted(evidence, key=lambda item: -(item.confidence or 0.0))


def promoted(evidence: Evidence) -> EvidenceSource:
    """Return evidence as a source; the digest of its content is worked out where that is there."""
    content_hash = evidence.content_hash
    if evidence.content is not None:
        content_hash = f"sha256:{sha256_hex(evidence.content.encode())}"
    return EvidenceSource(
        source=evidence.source,
        uri=evidence.uri,
        reference=evidence.reference,
        excerpt=evidence.excerpt,
        content_hash=content_hash,
        retrieved_at=evidence.retrieved_at,
        confidence=evidence.confidence,
    )

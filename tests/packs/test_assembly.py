from typing import Any

import pytest
from pydantic import ValidationError

from evidentia.canonical import sha256_hex
from evidentia.ledger.model import LedgerSummary, Verdict
from evidentia.packs.assembly import assemble, memo_facts, promoted, ranked
from evidentia.packs.drafting import TemplateWriter
from evidentia.packs.facts import MemoClaims, MemoFacts
from evidentia.packs.memo import BilingualMemo
from evidentia.packs.model import (
    BundleReference,
    DecisionSummary,
    EvidencePack,
    LedgerReference,
    PromptRecord,
)
from evidentia.packs.rules import AntiPattern, unmet
from evidentia.packs.tools import ToolVerificationLedger
from packs.making import LATER, NOW, attachment, call, decision, evidence, failed_call, memo

TOOLS = ToolVerificationLedger()
TOOLS.offer("dec_abc123", "hubspot.get_contact", "hubspot.delete_contact")
TOOLS.record("dec_abc123", call())
TOOLS.record("dec_other", call(tool_name="other"))
TOOLS.record("dec_abc123", failed_call())

SUMMARY = LedgerSummary.model_validate(
    {
        "total_claims": 15,
        "by_verdict": {verdict.value: number for number, verdict in enumerate(Verdict, start=1)},
        "by_importance": {},
        "evidence_coverage": 0.2,
        "unsupported_rate": 0.8,
    }
)
LEDGER = LedgerReference(ledger_id="ledger_1", statement_sha256="b" * 64, summary=SUMMARY)


def assembled(**changes: Any) -> EvidencePack:
    fields = {"memo": memo(), "tool_ledger": TOOLS, "created_at": LATER}
    made = changes.pop("decision", decision())
    return assemble(made, **{**fields, **changes})


class Writer:
    """Keeps the facts that it was asked to write from."""

    name = "keeping"

    def __init__(self) -> None:
        self.asked: list[MemoFacts] = []

    def write(self, facts: MemoFacts) -> BilingualMemo:
        self.asked.append(facts)
        return memo()


def test_a_pack_has_what_its_decision_says() -> None:
    made = decision(model_version="2026-10", data_freshness_window_hours=24)
    pack = assembled(decision=made)
    for name in (
        "decision_id",
        "entity_id",
        "tenant_id",
        "agent_name",
        "model",
        "model_version",
        "data_freshness_window_hours",
    ):
        assert getattr(pack, name) == getattr(made, name)
    assert pack.decision == DecisionSummary.of(made)
    assert pack.created_at == LATER
    assert (pack.version, pack.replaces) == (1, None)


def test_every_call_of_the_decision_comes_along_failures_too() -> None:
    pack = assembled()
    assert pack.tool_calls == [call(), failed_call()]
    assert unmet(pack, TOOLS.calls(pack.decision_id)) == []


def test_tools_that_were_offered_and_not_used_can_be_told() -> None:
    pack = assembled()
    assert pack.tools_offered == ["hubspot.get_contact", "hubspot.delete_contact"]
    used = {one.tool_name for one in pack.tool_calls}
    assert set(pack.tools_offered) - used == {"hubspot.delete_contact"}


def test_what_else_is_given_is_in_the_pack() -> None:
    prompts = [PromptRecord(template_name="icp", template_version="1.0")]
    bundles = [BundleReference(bundle_id="bundle_1", bundle_sha256="a" * 64)]
    pack = assembled(
        prompts=prompts,
        bundles=bundles,
        ledger=LEDGER,
        attachments=[attachment()],
        trace_id="0" * 31 + "1",
    )
    assert pack.prompts == list(prompts)
    assert pack.bundles == list(bundles)
    assert pack.ledger == LEDGER
    assert pack.attachments == [attachment()]
    assert pack.trace_id == "0" * 31 + "1"


def test_the_same_is_assembled_the_same() -> None:
    assert assembled(memo=TemplateWriter()) == assembled(memo=TemplateWriter())


def test_a_decision_that_needs_a_person_is_unresolved() -> None:
    assert not assembled(decision=decision(approval_class="A3")).is_resolved
    assert assembled(decision=decision(approval_class="A1")).is_resolved


def test_a_decision_without_evidence_has_no_pack() -> None:
    with pytest.raises(ValidationError, match=AntiPattern.PROSE_ONLY):
        assembled(decision=decision(evidence=()))


class TestSources:
    def test_evidence_becomes_a_source_with_nothing_added(self) -> None:
        given = evidence(reference="file 7", content_hash=f"sha256:{'0' * 64}")
        made = promoted(given)
        assert made.model_dump() == given.model_dump(exclude={"content"})
        bare = promoted(evidence(confidence=None, retrieved_at=None))
        assert (bare.confidence, bare.retrieved_at, bare.content_hash) == (None, None, None)

    @pytest.mark.parametrize("content", ["", "Company size: 120", "حجم الشركة"])
    def test_the_digest_is_worked_out_where_the_content_is_there(self, content: str) -> None:
        made = promoted(evidence(content=content, content_hash="sha256:..."))
        assert made.content_hash == f"sha256:{sha256_hex(content.encode())}"

    def test_what_is_relied_on_most_comes_first_and_the_rest_stays_in_order(self) -> None:
        given = [
            evidence(source="a", confidence=None),
            evidence(source="b", confidence=0.2),
            evidence(source="c", confidence=0.9),
            evidence(source="d", confidence=0.0),
            evidence(source="e", confidence=0.9),
        ]
        assert [one.source for one in ranked(given)] == ["c", "e", "b", "a", "d"]
        pack = assembled(decision=decision(evidence=given))
        assert [one.source for one in pack.sources] == ["c", "e", "b", "a", "d"]


class TestMemos:
    def test_a_memo_that_is_given_is_kept(self) -> None:
        assert assembled().memo == memo()

    def test_a_draft_can_be_sealed(self) -> None:
        given = [evidence(source=f"crm.{number}") for number in range(5)]
        pack = assembled(decision=decision(evidence=given), memo=TemplateWriter(), ledger=LEDGER)
        assert unmet(pack, TOOLS.calls(pack.decision_id)) == []

    def test_a_writer_is_told_what_the_pack_has(self) -> None:
        writer = Writer()
        made = decision(
            decision_ar="نعم",
            high_stakes=True,
            data_freshness_window_hours=24,
            evidence=[
                evidence(uri=None, reference="file 7", confidence=0.5),
                evidence(source="old", retrieved_at="2026-11-15T08:59:00Z"),
            ],
        )
        pack = assembled(decision=made, memo=writer, ledger=LEDGER)
        (facts,) = writer.asked
        assert facts == memo_facts(made, pack.sources, pack.tool_calls, LEDGER)
        assert (facts.decision_en, facts.decision_ar) == (made.decision, "نعم")
        assert (facts.approval_class, facts.confidence) == ("A2", 0.84)
        assert facts.decided_at == NOW
        assert facts.high_stakes
        assert facts.needs_review
        assert facts.freshness_hours == 24
        assert [(one.name, one.reference) for one in facts.evidence] == [
            ("old", "hubspot://contacts/456"),
            ("crm.hubspot.contact", "file 7"),
        ]
        assert list(facts.stale) == pack.stale_sources == [1]
        assert [one.tool_name for one in facts.failed] == ["hubspot.update_contact"]
        assert [one.tool_name for one in facts.contradicting] == ["hubspot.update_contact"]
        assert facts.claims == MemoClaims(
            supported=1, weak=2, contradicted=3, not_found=4, not_judged=5
        )

    def test_without_a_ledger_nothing_is_said_of_claims(self) -> None:
        writer = Writer()
        assembled(memo=writer)
        assert writer.asked[0].claims is None

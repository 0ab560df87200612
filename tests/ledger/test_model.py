from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evidentia.frozen import FrozenModel, LaterFields
from evidentia.ledger import model
from evidentia.ledger.model import (
    CitationCheck,
    Claim,
    ClaimType,
    Comparison,
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
)

TEXT = st.text(max_size=20)
SCORE = st.floats(0, 1)
SOURCES = st.builds(
    SourceDocument,
    id=TEXT,
    filename=TEXT,
    page_number=st.none() | st.integers(1, 999),
    heading_path=st.none() | st.lists(TEXT, max_size=3).map(tuple),
)
PASSAGES = st.builds(
    Passage,
    chunk_id=TEXT,
    chunk_hash=TEXT,
    snippet=TEXT,
    page=st.integers(1, 99),
    start=st.integers(0, 99),
    end=st.integers(100, 200),
    context=TEXT,
    source=SOURCES,
)
COMPARISONS = st.builds(
    Comparison,
    kind=TEXT,
    conflict=st.booleans(),
    claim_start=st.integers(0, 9),
    claim_end=st.integers(0, 9),
    start=st.none() | st.integers(0, 9),
    end=st.none() | st.integers(0, 9),
)
MATCHES = st.builds(
    EvidenceMatch,
    similarity=SCORE,
    support_level=st.sampled_from(SupportLevel),
    contradicts=st.booleans(),
    snippet=TEXT,
    passage=st.none() | PASSAGES,
    judge=TEXT,
    reason=TEXT,
    says=TEXT,
    compared=st.lists(COMPARISONS, max_size=2).map(tuple),
)
COMPONENTS = st.builds(
    ConfidenceComponents,
    semantic_similarity=SCORE,
    evidence_count=st.integers(0, 9),
    directness=SCORE,
    source_quality=SCORE,
)
ENTRIES = st.builds(
    LedgerEntry,
    id=TEXT,
    claim_id=TEXT,
    claim_text=TEXT,
    claim_type=st.sampled_from(ClaimType),
    claim_importance=st.sampled_from(Importance),
    verdict=st.sampled_from(Verdict),
    confidence_score=SCORE,
    evidence_chunk_ids=st.lists(TEXT, max_size=2).map(tuple),
    evidence_snippet=TEXT,
    source_document=st.none() | SOURCES,
    notes=TEXT,
    judge=TEXT,
    confidence_components=st.none() | COMPONENTS,
    component_confidence=st.none() | SCORE,
    evidence=st.lists(MATCHES, max_size=2).map(tuple),
)
FLAGS = st.builds(
    RiskFlag,
    id=TEXT,
    type=st.sampled_from(RiskType),
    severity=st.sampled_from(Severity),
    description=TEXT,
    affected_claim_ids=st.lists(TEXT, max_size=2).map(tuple),
    mitigation=st.none() | TEXT,
)
CHECKS = st.builds(
    CitationCheck,
    claim_id=TEXT,
    label=TEXT,
    resolved=st.booleans(),
    bears=st.booleans(),
    problem=st.none() | TEXT,
)
CLAIMS = st.builds(
    Claim,
    id=TEXT,
    text=TEXT,
    type=st.sampled_from(ClaimType),
    importance=st.sampled_from(Importance),
    requires_citation=st.booleans(),
    start=st.integers(0, 5),
    end=st.integers(5, 9),
    source_text=TEXT,
    citations=st.lists(TEXT, max_size=2).map(tuple),
)
LEDGERS = (
    st.lists(ENTRIES, max_size=2)
    .map(tuple)
    .flatmap(
        lambda entries: st.builds(
            EvidenceLedger,
            id=TEXT,
            session_id=TEXT,
            created_at=TEXT,
            updated_at=TEXT,
            entries=st.just(entries),
            summary=st.just(LedgerSummary.of(entries)),
            risk_flags=st.lists(FLAGS, max_size=2).map(tuple),
            follow_up_questions=st.lists(TEXT, max_size=2).map(tuple),
            previous_ledger_id=st.none() | TEXT,
            citations=st.lists(CHECKS, max_size=2).map(tuple),
        )
    )
)
ASSIGNMENTS = st.builds(
    VerdictAssignment, verdict=st.sampled_from(Verdict), confidence=SCORE, notes=TEXT
)


@given(st.one_of(CLAIMS, LEDGERS, ASSIGNMENTS))
def test_every_value_survives_json(value: FrozenModel) -> None:
    assert type(value).model_validate_json(value.model_dump_json()) == value
    assert type(value).model_validate(value.model_dump(mode="json")) == value


def test_every_model_is_among_those_that_are_tested() -> None:
    bases = (FrozenModel, LaterFields)
    models = {
        name
        for name, found in vars(model).items()
        if isinstance(found, type) and issubclass(found, FrozenModel) and found not in bases
    }
    assert models == {
        "CitationCheck",
        "Claim",
        "Comparison",
        "ConfidenceComponents",
        "EvidenceLedger",
        "EvidenceMatch",
        "LedgerEntry",
        "LedgerSummary",
        "Passage",
        "RiskFlag",
        "SourceDocument",
        "VerdictAssignment",
    }


def test_values_are_frozen_to_the_bottom() -> None:
    summary = LedgerSummary.of(())
    with pytest.raises(ValidationError):
        summary.total_claims = 3  # type: ignore[misc]
    counts: Any = summary.by_verdict
    with pytest.raises(TypeError):
        counts["supported"] = 3


@pytest.mark.parametrize("score", [-0.01, 1.01, float("nan"), float("inf")])
def test_a_score_is_between_0_and_1(score: float) -> None:
    with pytest.raises(ValidationError):
        VerdictAssignment(verdict=Verdict.WEAK, confidence=score, notes="")


def test_the_json_of_a_ledger_has_the_names_it_was_specified_with() -> None:
    assert set(EvidenceLedger.model_fields) >= {
        "id",
        "session_id",
        "created_at",
        "updated_at",
        "entries",
        "summary",
        "risk_flags",
        "follow_up_questions",
    }
    assert set(LedgerEntry.model_fields) >= {
        "id",
        "claim_id",
        "claim_text",
        "claim_type",
        "claim_importance",
        "verdict",
        "confidence_score",
        "evidence_chunk_ids",
        "evidence_snippet",
        "source_document",
        "notes",
    }
    assert [verdict.value for verdict in Verdict] == [
        "supported",
        "weak",
        "contradicted",
        "not_found",
        "not_judged",
    ]
    assert [kind.value for kind in ClaimType] == ["fact", "policy", "numeric", "definition"]
    assert [level.value for level in Importance] == ["critical", "material", "minor"]
    assert [kind.value for kind in RiskType] == [
        "missing_evidence",
        "contradiction",
        "outdated_source",
        "ambiguous_evidence",
        "conflicting_sources",
        "low_confidence",
    ]

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidentia.ledger.confidence import (
    ConfidenceBand,
    calculate_confidence,
    confidence_band,
    percent,
)
from evidentia.ledger.model import (
    Claim,
    ConfidenceComponents,
    EvidenceMatch,
    Passage,
    SourceDocument,
    SupportLevel,
    Verdict,
    WeakSupport,
)
from evidentia.ledger.verdicts import assign_verdict, in_order

CLAIM = Claim(id="clm_1", text="Leave is paid")
SIMILARITIES = (0.0, 0.3, 0.85, 0.8500001, 0.92, 1.0)


def match(
    similarity: float,
    level: SupportLevel = SupportLevel.FULL,
    *,
    contradicts: bool = False,
    snippet: str = "quote",
) -> EvidenceMatch:
    return EvidenceMatch(
        similarity=similarity, support_level=level, contradicts=contradicts, snippet=snippet
    )


MATCHES = st.builds(
    EvidenceMatch,
    similarity=st.one_of(st.sampled_from(SIMILARITIES), st.floats(0, 1)),
    support_level=st.sampled_from(SupportLevel),
    contradicts=st.booleans(),
    snippet=st.text(max_size=5),
)


def test_no_evidence_is_not_found() -> None:
    given_verdict = assign_verdict(CLAIM, [])
    assert given_verdict.verdict is Verdict.NOT_FOUND
    assert given_verdict.confidence == 0
    assert given_verdict.notes == "No matching evidence found in provided documents"


def test_a_contradiction_decides_with_its_own_similarity() -> None:
    evidence = [
        match(0.99),
        match(0.2, contradicts=True, snippet="low"),
        match(0.4, contradicts=True),
    ]
    given_verdict = assign_verdict(CLAIM, evidence)
    assert given_verdict.verdict is Verdict.CONTRADICTED
    assert given_verdict.confidence == 0.4
    assert given_verdict.notes == 'Evidence contradicts claim: "quote"'


@pytest.mark.parametrize(
    ("similarity", "level", "verdict", "confidence", "notes"),
    [
        (0.92, "full", Verdict.SUPPORTED, 0.92, 'Directly supported by: "quote"'),
        (0.85, "full", Verdict.WEAK, 0.85 * 0.8, 'Partially supported: "quote"'),
        (0.92, "partial", Verdict.WEAK, 0.92 * 0.8, 'Partially supported: "quote"'),
        (0.5, "partial", Verdict.WEAK, 0.5 * 0.8, 'Partially supported: "quote"'),
        (0.5, "none", Verdict.WEAK, 0.5 * 0.8, 'Partially supported: "quote"'),
        (0.92, "none", Verdict.NOT_FOUND, 0, "Evidence does not adequately support claim"),
    ],
)
def test_the_best_match_decides_by_level_and_similarity(
    similarity: float, level: str, verdict: Verdict, confidence: float, notes: str
) -> None:
    given_verdict = assign_verdict(CLAIM, [match(similarity, SupportLevel(level))])
    assert (given_verdict.verdict, given_verdict.confidence) == (verdict, confidence)
    assert given_verdict.notes == notes


@pytest.mark.parametrize(
    ("similarity", "level", "support"),
    [
        (0.85, "full", WeakSupport.PROBABLE),
        (0.5, "full", WeakSupport.PROBABLE),
        (0.92, "partial", WeakSupport.PARTIAL),
        (0.5, "partial", WeakSupport.PARTIAL),
        (0.5, "none", WeakSupport.PARTIAL),
        (0.92, "full", None),
        (0.92, "none", None),
    ],
)
def test_a_weak_claim_is_probable_if_its_best_match_is_full_and_partial_otherwise(
    similarity: float, level: str, support: WeakSupport | None
) -> None:
    given_verdict = assign_verdict(CLAIM, [match(similarity, SupportLevel(level)), match(0.1)])
    assert given_verdict.support is support


@given(st.lists(MATCHES, max_size=4))
def test_weak_verdicts_say_why_and_no_others(evidence: list[EvidenceMatch]) -> None:
    given_verdict = assign_verdict(CLAIM, evidence)
    assert (given_verdict.support is not None) == (given_verdict.verdict is Verdict.WEAK)


@given(st.lists(MATCHES, max_size=4))
def test_the_rules_give_every_evidence_a_verdict_in_any_order(
    evidence: list[EvidenceMatch],
) -> None:
    verdicts = [assign_verdict(CLAIM, order) for order in permutations(evidence)]
    assert all(found == verdicts[0] for found in verdicts)
    assert verdicts[0].verdict is not Verdict.NOT_JUDGED
    assert 0 <= verdicts[0].confidence <= 1


@given(st.lists(MATCHES, min_size=1, max_size=4))
def test_the_rules_are_those_of_the_specification(evidence: list[EvidenceMatch]) -> None:
    """The rules once more, as they are specified, on evidence with the most similar first."""
    ordered = in_order(evidence)
    best = ordered[0]
    assert best.similarity == max(item.similarity for item in evidence)
    contradicting = [item for item in ordered if item.contradicts]
    if contradicting:
        expected = (Verdict.CONTRADICTED, contradicting[0].similarity)
    elif best.support_level == "full" and best.similarity > 0.85:
        expected = (Verdict.SUPPORTED, best.similarity)
    elif best.support_level == "partial" or best.similarity <= 0.85:
        expected = (Verdict.WEAK, best.similarity * 0.8)
    else:
        expected = (Verdict.NOT_FOUND, 0.0)
    found = assign_verdict(CLAIM, evidence)
    assert (found.verdict, found.confidence) == expected


def test_equal_matches_are_put_in_order_by_their_place() -> None:
    source = SourceDocument(id="doc", filename="a.pdf")
    first, second = (
        match(0.9).model_copy(
            update={
                "passage": Passage(
                    chunk_id=name, chunk_hash="h", snippet="quote", start=0, end=5, source=source
                )
            }
        )
        for name in ("chunk_a", "chunk_b")
    )
    assert in_order([second, first]) == [first, second]


@pytest.mark.parametrize(
    ("similarity", "count", "directness", "quality", "expected"),
    [
        (1.0, 1, 1.0, 1.0, 0.85),
        (1.0, 4, 1.0, 1.0, 1.0),
        (1.0, 9, 1.0, 1.0, 1.0),
        (0.8, 2, 0.5, 0.5, 0.8 * 0.6 + 0.05 + 0.075 + 0.05),
        (0.0, 0, 0.0, 0.0, 0.0),
        (0.5, 0, 0.0, 0.0, 0.25),
    ],
)
def test_confidence_weighs_its_components(
    similarity: float, count: int, directness: float, quality: float, expected: float
) -> None:
    components = ConfidenceComponents(
        semantic_similarity=similarity,
        evidence_count=count,
        directness=directness,
        source_quality=quality,
    )
    assert calculate_confidence(components) == pytest.approx(expected)


@given(
    st.builds(
        ConfidenceComponents,
        semantic_similarity=st.floats(0, 1),
        evidence_count=st.integers(0, 100),
        directness=st.floats(0, 1),
        source_quality=st.floats(0, 1),
    )
)
def test_confidence_stays_between_0_and_1(components: ConfidenceComponents) -> None:
    assert 0 <= calculate_confidence(components) <= 1


@pytest.mark.parametrize(
    ("score", "band"),
    [
        (1.0, ConfidenceBand.HIGH),
        (0.85, ConfidenceBand.HIGH),
        (0.8499, ConfidenceBand.GOOD),
        (0.845, ConfidenceBand.GOOD),
        (0.7, ConfidenceBand.GOOD),
        (0.695, ConfidenceBand.MODERATE),
        (0.5, ConfidenceBand.MODERATE),
        (0.3, ConfidenceBand.LOW),
        (0.295, ConfidenceBand.VERY_LOW),
        (0.0, ConfidenceBand.VERY_LOW),
    ],
)
def test_bands_have_no_gaps(score: float, band: ConfidenceBand) -> None:
    assert confidence_band(score) is band


@pytest.mark.parametrize(
    ("score", "shown"),
    # what JavaScript prints for (score * 100).toFixed(0)
    [
        (0.125, "13%"),
        (0.285, "28%"),
        (0.005, "1%"),
        (0.595, "60%"),
        (0.545, "55%"),
        (1.0, "100%"),
        (0.0, "0%"),
        (0.015, "2%"),
        (0.145, "14%"),
    ],
)
def test_percentages_are_rounded_as_javascript_rounds(score: float, shown: str) -> None:
    assert percent(score) == shown

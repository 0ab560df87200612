from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evidentia.ledger.model import (
    ClaimType,
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
)
from evidentia.ledger.risks import (
    OUTDATED_AFTER_DAYS,
    RISK_DEFINITIONS,
    DocumentAge,
    RiskContext,
    follow_up_questions,
    generate_risk_flags,
    recommended_actions,
)

HR = SourceDocument(id="doc_hr", filename="HR_Policy.pdf", page_number=12)
OLD = SourceDocument(id="doc_old", filename="Old_Policy.pdf", page_number=3)
TODAY = date(2026, 1, 3)


def entry(
    number: int,
    verdict: Verdict = Verdict.SUPPORTED,
    *,
    confidence: float = 0.9,
    importance: Importance = Importance.MATERIAL,
    source: SourceDocument | None = HR,
    evidence: Sequence[EvidenceMatch] = (),
) -> LedgerEntry:
    return LedgerEntry(
        id=f"ent_{number}",
        claim_id=f"clm_{number}",
        claim_text=f"Claim {number} holds",
        claim_type=ClaimType.FACT,
        claim_importance=importance,
        verdict=verdict,
        confidence_score=confidence,
        evidence_snippet="what it says" if source else "",
        source_document=source,
        evidence=tuple(evidence),
    )


def ledger(*entries: LedgerEntry, flags: Sequence[RiskFlag] = ()) -> EvidenceLedger:
    return EvidenceLedger(
        id="led_1",
        session_id="ses_1",
        created_at="2026-01-03T14:30:00Z",
        updated_at="2026-01-03T14:30:00Z",
        entries=entries,
        summary=LedgerSummary.of(entries),
        risk_flags=tuple(flags),
    )


def flags(*entries: LedgerEntry, context: RiskContext | None = None) -> dict[RiskType, RiskFlag]:
    found = generate_risk_flags(ledger(*entries), context)
    assert len({flag.type for flag in found}) == len(found)
    return {flag.type: flag for flag in found}


def test_a_ledger_takes_datetimes_for_its_times() -> None:
    noon = datetime(2026, 1, 3, 12, 0, tzinfo=UTC)
    update = {"created_at": noon, "updated_at": "2026-01-03T14:30:00Z"}
    made = ledger().model_copy(update=update)
    assert made.created_at == "2026-01-03T12:00:00.000000Z"
    assert made.updated_at == "2026-01-03T14:30:00Z"
    with pytest.raises(ValidationError, match="does not say its time zone"):
        ledger().model_copy(update={"created_at": noon.replace(tzinfo=None)})


def test_flags_are_a_list() -> None:
    assert generate_risk_flags(ledger(entry(1))) == []
    found = generate_risk_flags(ledger(entry(1, Verdict.CONTRADICTED)))
    assert isinstance(found, list)
    assert found[0].affected_claim_ids == ["clm_1"]
    assert isinstance(ledger(entry(1), flags=found).risk_flags, list)


def match(
    similarity: float,
    level: SupportLevel,
    source: SourceDocument | None,
    *,
    contradicts: bool = False,
    says: str = "",
) -> EvidenceMatch:
    passage = None
    if source:
        passage = Passage(chunk_id="c", chunk_hash="h", snippet="s", start=0, end=1, source=source)
    return EvidenceMatch(
        similarity=similarity,
        support_level=level,
        contradicts=contradicts,
        snippet=f"{source.filename if source else 'nobody'} at {similarity}",
        passage=passage,
        says=says,
    )


def test_a_ledger_without_risks_has_no_flags() -> None:
    assert flags(entry(1), entry(2)) == {}
    assert flags() == {}


def test_critical_claims_that_were_not_found_are_missing_evidence() -> None:
    found = flags(
        entry(1, Verdict.NOT_FOUND, importance=Importance.CRITICAL, source=None),
        entry(2, Verdict.NOT_FOUND, source=None),
        entry(3, Verdict.NOT_JUDGED, importance=Importance.CRITICAL, source=None),
        entry(4),
    )
    assert list(found) == [RiskType.MISSING_EVIDENCE]
    flag = found[RiskType.MISSING_EVIDENCE]
    assert flag.severity is Severity.HIGH
    assert flag.description == "1 critical claim has no supporting evidence"
    assert flag.affected_claim_ids == ["clm_1"]
    assert flag.mitigation == "Upload relevant documents or revise response"


def test_contradicted_claims_are_a_contradiction() -> None:
    flag = flags(entry(1, Verdict.CONTRADICTED), entry(2), entry(3, Verdict.CONTRADICTED))[
        RiskType.CONTRADICTION
    ]
    assert flag.severity is Severity.HIGH
    assert flag.description == "2 claims contradict the source documents"
    assert flag.affected_claim_ids == ["clm_1", "clm_3"]
    assert flag.mitigation == "Review and correct the contradicted claims"


def test_a_low_mean_of_confidence_is_flagged_as_medium() -> None:
    found = flags(entry(1, confidence=0.9), entry(2, confidence=0.2), entry(3, confidence=0.6))
    flag = found[RiskType.LOW_CONFIDENCE]
    assert flag.severity is Severity.MEDIUM
    assert flag.description == "Overall confidence is low (57%)"
    assert flag.affected_claim_ids == ["clm_2"]
    assert flag.mitigation is None
    assert flags(entry(1, confidence=0.6)) == {}


def test_confidence_is_summed_and_rounded_as_in_javascript() -> None:
    """Ten times 0.6 is less than 6 there, so a flag is raised that affects no claim."""
    flag = flags(*(entry(number, confidence=0.6) for number in range(10)))[RiskType.LOW_CONFIDENCE]
    assert flag.description == "Overall confidence is low (60%)"
    assert flag.affected_claim_ids == []
    half = flags(entry(1, confidence=0.125))[RiskType.LOW_CONFIDENCE]
    assert half.description == "Overall confidence is low (13%)"


@pytest.mark.parametrize(
    ("age", "reason"),
    [
        (
            DocumentAge("HR_Policy.pdf", TODAY - timedelta(days=OUTDATED_AFTER_DAYS + 1)),
            "HR_Policy.pdf is of 2024-01-03, more than 730 days ago",
        ),
        (
            DocumentAge("HR_Policy.pdf", TODAY, superseded=True),
            "HR_Policy.pdf has a newer version among the documents",
        ),
        (DocumentAge("HR_Policy.pdf", TODAY - timedelta(days=OUTDATED_AFTER_DAYS)), None),
        (DocumentAge("HR_Policy.pdf"), None),
    ],
)
def test_a_claim_on_an_old_document_is_flagged_with_the_reason(
    age: DocumentAge, reason: str | None
) -> None:
    context = RiskContext(today=TODAY, ages={"doc_hr": age})
    found = flags(entry(1), entry(2), entry(3, source=None), entry(4, source=OLD), context=context)
    if reason is None:
        assert found == {}
    else:
        flag = found[RiskType.OUTDATED_SOURCE]
        assert flag.severity is Severity.MEDIUM
        assert flag.description == reason
        assert flag.affected_claim_ids == ["clm_1", "clm_2"]


def test_a_source_whose_last_day_has_passed_is_outdated() -> None:
    age = DocumentAge("HR_Policy.pdf", date(2026, 1, 1), until=date(2026, 6, 30))
    for day, outdated in ((date(2026, 6, 30), False), (date(2026, 7, 1), True)):
        found = flags(entry(1), context=RiskContext(today=day, ages={"doc_hr": age}))
        assert (RiskType.OUTDATED_SOURCE in found) is outdated
    said = found[RiskType.OUTDATED_SOURCE].description
    assert said == "HR_Policy.pdf holds until 2026-06-30, which has passed"


def test_without_a_day_only_newer_versions_make_a_source_outdated() -> None:
    old = DocumentAge("HR_Policy.pdf", date(1990, 1, 1))
    assert flags(entry(1), context=RiskContext(ages={"doc_hr": old})) == {}


@pytest.mark.parametrize(
    ("evidence", "ambiguous"),
    [
        ([match(0.9, SupportLevel.FULL, HR), match(0.86, SupportLevel.PARTIAL, HR)], True),
        ([match(0.9, SupportLevel.FULL, HR), match(0.84, SupportLevel.PARTIAL, HR)], False),
        (
            [
                match(0.9, SupportLevel.FULL, HR),
                match(0.9, SupportLevel.NONE, HR, contradicts=True),
            ],
            True,
        ),
        ([match(0.9, SupportLevel.FULL, HR), match(0.89, SupportLevel.FULL, OLD)], False),
        ([match(0.5, SupportLevel.PARTIAL, HR)], False),
    ],
)
def test_evidence_of_like_weight_that_differs_is_ambiguous(
    evidence: list[EvidenceMatch],
    ambiguous: bool,  # noqa: FBT001 - a column of the table
) -> None:
    found = flags(entry(1, evidence=evidence))
    assert (RiskType.AMBIGUOUS_EVIDENCE in found) == ambiguous
    if ambiguous:
        assert found[RiskType.AMBIGUOUS_EVIDENCE].severity is Severity.MEDIUM


def test_documents_that_disagree_are_named_with_what_they_say() -> None:
    full = match(0.95, SupportLevel.FULL, HR)
    against = match(0.7, SupportLevel.NONE, OLD, contradicts=True)
    for evidence in ([full, against], [against, full]):
        flag = flags(entry(1, evidence=evidence))[RiskType.CONFLICTING_SOURCES]
        assert flag.severity is Severity.HIGH
        assert 'HR_Policy.pdf says "HR_Policy.pdf at 0.95"' in flag.description
        assert 'Old_Policy.pdf says "Old_Policy.pdf at 0.7"' in flag.description


@pytest.mark.parametrize(
    ("first", "second", "conflict"),
    [
        ("15 days", "10 days", True),
        ("2 weeks", "14 days", False),
        ("15 days", "", False),
    ],
)
def test_documents_that_contradict_a_claim_with_different_values_disagree(
    first: str,
    second: str,
    conflict: bool,  # noqa: FBT001 - a column of the table
) -> None:
    evidence = [
        match(0.9, SupportLevel.NONE, HR, contradicts=True, says=first),
        match(0.7, SupportLevel.NONE, OLD, contradicts=True, says=second),
    ]
    found = flags(entry(1, Verdict.CONTRADICTED, evidence=evidence))
    assert (RiskType.CONFLICTING_SOURCES in found) == conflict


def test_one_document_does_not_conflict_with_itself_nor_a_hint_with_anything() -> None:
    against = match(0.7, SupportLevel.NONE, HR, contradicts=True)
    assert RiskType.CONFLICTING_SOURCES not in flags(
        entry(1, evidence=[match(0.95, SupportLevel.FULL, HR), against]),
        entry(2, evidence=[match(0.95, SupportLevel.PARTIAL, OLD), against]),
        entry(3, evidence=[match(0.95, SupportLevel.FULL, None), against]),
    )


def test_flags_with_the_same_content_have_the_same_id() -> None:
    first = flags(entry(1, Verdict.CONTRADICTED))[RiskType.CONTRADICTION]
    assert first == flags(entry(1, Verdict.CONTRADICTED))[RiskType.CONTRADICTION]
    assert first.id != flags(entry(2, Verdict.CONTRADICTED))[RiskType.CONTRADICTION].id


def test_every_risk_is_defined_as_specified() -> None:
    assert set(RISK_DEFINITIONS) == set(RiskType)
    low = RISK_DEFINITIONS[RiskType.LOW_CONFIDENCE]
    assert low.default_severity is Severity.LOW
    assert low.user_action == "Consider qualifying or removing claim"
    assert RISK_DEFINITIONS[RiskType.CONFLICTING_SOURCES].default_severity is Severity.HIGH


def test_questions_name_what_is_missing() -> None:
    entries = [
        entry(1),
        entry(2, Verdict.WEAK),
        entry(3, Verdict.CONTRADICTED),
        entry(4, Verdict.NOT_FOUND, source=None),
        entry(5, Verdict.NOT_JUDGED, source=None),
        entry(6, Verdict.WEAK, source=None),
    ]
    assert follow_up_questions(entries) == [
        'Does a document say in full that "Claim 2 holds"? HR_Policy.pdf supports it in part.',
        'Which is right: "Claim 3 holds", or HR_Policy.pdf with "what it says"?',
        'Which document says that "Claim 4 holds"?',
        'Can a person judge the claim "Claim 5 holds"?',
        'Does a document say in full that "Claim 6 holds"? A source supports it in part.',
    ]


def test_actions_come_in_order_of_weight_and_name_claims_by_number() -> None:
    entries = (
        entry(1, source=OLD),
        entry(2, Verdict.WEAK, source=OLD),
        entry(3, Verdict.CONTRADICTED),
        entry(4, Verdict.NOT_FOUND, importance=Importance.CRITICAL, source=None),
        entry(5, Verdict.NOT_JUDGED, source=None),
    )
    context = RiskContext(today=TODAY, ages={"doc_old": DocumentAge("Old.pdf", superseded=True)})
    found = generate_risk_flags(ledger(*entries), context)
    assert recommended_actions(ledger(*entries, flags=found)) == [
        "Correct claim #3 or remove it",
        'Upload additional documents covering "Claim 4 holds"',
        "Verify with current documentation (claims #1, #2)",
        "Review claim #4 and consider removing or qualifying",
        "Review claim #2 and consider qualifying",
        "Judge claim #5 again, or by hand",
    ]


def test_a_flag_on_one_claim_is_an_action_on_one_claim() -> None:
    entries = (
        entry(
            1,
            evidence=[
                match(0.95, SupportLevel.FULL, HR),
                match(0.9, SupportLevel.NONE, OLD, contradicts=True),
            ],
        ),
    )
    found = generate_risk_flags(ledger(*entries))
    assert recommended_actions(ledger(*entries, flags=found)) == [
        "Seek clarification or additional sources (claim #1)",
        "Determine authoritative source (claim #1)",
    ]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(Verdict), st.sampled_from(Importance), st.floats(0, 1, allow_nan=False)
        ),
        max_size=12,
    )
)
def test_the_summary_adds_up_and_flags_name_claims_of_the_ledger(
    rows: list[tuple[Verdict, Importance, float]],
) -> None:
    entries = tuple(
        entry(number, verdict, importance=importance, confidence=confidence)
        for number, (verdict, importance, confidence) in enumerate(rows)
    )
    made = ledger(*entries)
    summary = made.summary
    assert sum(summary.by_verdict.values()) == summary.total_claims == len(rows)
    assert sum(summary.by_importance.values()) == len(rows)
    assert set(summary.by_verdict) == {verdict.value for verdict in Verdict}
    covered = sum(verdict in (Verdict.SUPPORTED, Verdict.WEAK) for verdict, _, _ in rows)
    assert summary.evidence_coverage == (covered / len(rows) if rows else 0)
    if rows:
        assert summary.evidence_coverage + summary.unsupported_rate == pytest.approx(1)
    known = {item.claim_id for item in entries}
    for flag in generate_risk_flags(made):
        assert set(flag.affected_claim_ids) <= known
    assert len(follow_up_questions(entries)) == sum(
        verdict is not Verdict.SUPPORTED for verdict, _, _ in rows
    )


def test_the_counts_of_a_description_agree_with_what_they_count() -> None:
    critical = Importance.CRITICAL
    for verdict, one, many in (
        (Verdict.NOT_FOUND, "1 critical claim has no", "2 critical claims have no"),
        (Verdict.CONTRADICTED, "1 claim contradicts", "2 claims contradict"),
    ):
        for number, said in ((1, one), (2, many)):
            entries = [entry(place, verdict, importance=critical) for place in range(number)]
            assert generate_risk_flags(ledger(*entries))[0].description.startswith(f"{said} ")

"""The story of the product, end to end and without a file: an answer against three documents."""

from collections.abc import Sequence

from evidentia.judges import make_judges
from evidentia.ledger.claims import extract_claims
from evidentia.ledger.judging import Judge, Opinion
from evidentia.ledger.model import Claim, EvidenceLedger, LedgerEntry, Passage, RiskType, Verdict
from ledger.corpora import (
    HR_POLICY,
    LEAVE_GUIDELINES,
    TRAVEL_POLICY,
    anchors,
    check,
    chunks_in,
    leave_corpus,
)
from ledger.stubs import StubJudge

ANSWER = """\
Sure! Employees are entitled to 15 days of annual leave [1]. Leave requests must be submitted 2
weeks in advance [2]. Unused leave can be carried forward to next year.

- Maximum carryover is 5 days.
- Hotel costs are refunded up to $200 per night.
- Pets may travel with employees.

Let me know if you need more.

## Sources
[1] HR_Policy.pdf, p. 1
[2] Leave_Guidelines.pdf
"""
PAGES = {
    "HR_Policy.pdf": HR_POLICY,
    "Leave_Guidelines.pdf": LEAVE_GUIDELINES,
    "Travel_Policy.pdf": TRAVEL_POLICY,
}


def fails_on_pets(claim: Claim, passages: Sequence[Passage]) -> list[Opinion | None]:
    """Fail on pets, as a judge whose model is not at hand does, and else have no opinion."""
    if "Pets" in claim.text:
        raise RuntimeError("no model at hand")
    return [None] * len(passages)


def ledger() -> EvidenceLedger:
    judges: list[Judge] = [
        *make_judges(["quote", "numbers"]),
        StubJudge("pets", fails_on_pets),
    ]
    return check(ANSWER, leave_corpus(), judges)


def test_each_claim_gets_its_verdict_its_quote_and_its_place() -> None:
    made = ledger()
    assert [row(entry) for entry in made.entries] == [
        (
            "Employees are entitled to 15 days of annual leave",
            "policy",
            "supported",
            "HR_Policy.pdf",
            1,
            "4.1 Annual leave",
            "All permanent employees shall receive 15 days of paid annual leave per calendar year.",
        ),
        (
            "Leave requests must be submitted 2 weeks in advance",
            "policy",
            "supported",
            "Leave_Guidelines.pdf",
            1,
            "Section 3.2",
            (
                "Leave applications must be submitted at least 14 calendar days before the "
                "intended start date."
            ),
        ),
        (
            "Unused leave can be carried forward to next year",
            "policy",
            "weak",
            "HR_Policy.pdf",
            2,
            "4.2 Carrying leave over",
            (
                "Unused annual leave may be carried over at the discretion of the department head, "
                "subject to operational requirements."
            ),
        ),
        ("Maximum carryover is 5 days", "numeric", "not_found", "", None, "", ""),
        (
            "Hotel costs are refunded up to $200 per night",
            "numeric",
            "contradicted",
            "Travel_Policy.pdf",
            1,
            "Travel",
            "Hotel costs are refunded up to $150 per night.",
        ),
        ("Pets may travel with employees", "policy", "not_judged", "", None, "", ""),
    ]


def row(entry: LedgerEntry) -> tuple[str, str, str, str, int | None, str, str]:
    source = entry.source_document
    return (
        entry.claim_text,
        entry.claim_type.value,
        entry.verdict.value,
        source.filename if source else "",
        source.page_number if source else None,
        source.heading_path[-1] if source and source.heading_path else "",
        entry.evidence_snippet,
    )


def test_every_quote_opens_at_its_place() -> None:
    quoted = [match.passage for entry in ledger().entries for match in entry.evidence]
    assert quoted
    for passage in quoted:
        assert passage is not None
        page = PAGES[passage.source.filename][passage.page - 1]
        assert page[passage.start : passage.end] == passage.snippet


def test_the_ledger_adds_up_and_flags_what_is_at_risk() -> None:
    made = ledger()
    assert dict(made.summary.by_verdict) == {
        "supported": 2,
        "weak": 1,
        "contradicted": 1,
        "not_found": 1,
        "not_judged": 1,
    }
    assert made.summary.evidence_coverage == 0.5
    flagged = {flag.type: flag.affected_claim_ids for flag in made.risk_flags}
    by_verdict = {entry.verdict: entry.claim_id for entry in made.entries}
    assert flagged[RiskType.MISSING_EVIDENCE] == [by_verdict[Verdict.NOT_FOUND]]
    assert flagged[RiskType.CONTRADICTION] == [by_verdict[Verdict.CONTRADICTED]]
    assert set(flagged) == {
        RiskType.MISSING_EVIDENCE,
        RiskType.CONTRADICTION,
        RiskType.LOW_CONFIDENCE,
    }
    assert len(made.follow_up_questions) == 4


def test_its_citations_hold_and_its_anchors_lead_back() -> None:
    made = ledger()
    assert [(found.label, found.resolved, found.bears) for found in made.citations] == [
        ("1", True, True),
        ("2", True, True),
    ]
    corpus = leave_corpus()
    issued = anchors(corpus)
    texts = {chunk.chunk_hash: chunk.text for chunk in chunks_in(corpus)}
    for entry in made.entries:
        for anchor in entry.evidence_chunk_ids:
            assert entry.evidence_snippet in texts[issued[anchor]]


def test_what_is_no_claim_is_said() -> None:
    reasons = {piece.text: piece.reason for piece in extract_claims(ANSWER).left_out}
    assert reasons["Sure!"] == "greeting"
    assert reasons["Let me know if you need more."] == "about the answer"
    assert reasons["Sources"] == "heading"

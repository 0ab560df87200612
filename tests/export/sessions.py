"""Sessions for tests of exports: one with every verdict, and ones with hostile text."""

from collections.abc import Sequence

from evidentia.ledger.claims import extract_claims
from evidentia.ledger.model import (
    Claim,
    ClaimType,
    EvidenceLedger,
    Importance,
    LedgerEntry,
    LedgerSummary,
    Passage,
    SourceDocument,
    Verdict,
    WeakSupport,
)
from evidentia.ledger.risks import follow_up_questions, generate_risk_flags
from evidentia.ledger.session import LedgerSession
from ledger.corpora import NOW

HR = SourceDocument(id="doc_hr001", filename="HR_Policy.pdf", page_number=12)
GUIDELINES = SourceDocument(
    id="doc_lg001", filename="Leave_Guidelines.pdf", heading_path=("Leave", "Section 3.2")
)
ANSWER = (
    "Employees are entitled to 15 days of annual leave. Leave requests must be submitted 2 "
    "weeks in advance.\n\nUnused leave can be carried forward to next year. Maximum carryover is 5 "
    "days.\n"
)


def entry(
    claim: Claim,
    verdict: Verdict,
    confidence: float,
    *,
    source: SourceDocument | None = None,
    snippet: str = "",
    importance: Importance | None = None,
    anchor: str = "a1b2c3d4",
    notes: str = "Why.",
    support: WeakSupport = WeakSupport.PARTIAL,
    nearest: Passage | None = None,
) -> LedgerEntry:
    return LedgerEntry(
        id=f"ent_{claim.id}",
        claim_id=claim.id,
        claim_text=claim.text,
        claim_type=claim.type,
        claim_importance=importance or claim.importance,
        verdict=verdict,
        confidence_score=confidence,
        evidence_chunk_ids=(anchor,) if source else (),
        evidence_snippet=snippet,
        source_document=source,
        notes=notes,
        judge="numbers" if source else "",
        support=support if verdict is Verdict.WEAK else None,
        nearest=nearest,
    )


def session_of(
    *entries: LedgerEntry,
    claims: Sequence[Claim],
    answer: str = "",
    title: str = "Leave Policy Q&A",
    created_at: str = NOW,
    answer_name: str = "answer.md",
) -> LedgerSession:
    ledger = EvidenceLedger(
        id="led_abc123",
        session_id="ses_xyz789",
        created_at=created_at,
        updated_at=created_at,
        entries=entries,
        summary=LedgerSummary.of(entries),
        follow_up_questions=follow_up_questions(entries),
    )
    ledger = ledger.model_copy(update={"risk_flags": generate_risk_flags(ledger)})
    return LedgerSession(
        id="ses_xyz789",
        title=title,
        answer_name=answer_name,
        answer=answer,
        claims=claims,
        ledger=ledger,
    )


def leave_session() -> LedgerSession:
    """Return a session with the claims of the specification's example."""
    claims = extract_claims(ANSWER).claims
    return session_of(
        entry(
            claims[0],
            Verdict.SUPPORTED,
            0.92,
            source=HR,
            snippet="All permanent employees shall receive 15 days of paid annual leave per "
            "calendar year.",
        ),
        entry(
            claims[1],
            Verdict.SUPPORTED,
            0.88,
            source=GUIDELINES,
            snippet="Leave applications must be submitted at least 14 calendar days before the "
            "intended start date.",
            anchor="b2c3d4e5",
        ),
        entry(
            claims[2],
            Verdict.WEAK,
            0.65,
            source=HR,
            snippet="Unused annual leave may be carried over.",
        ),
        entry(claims[3], Verdict.NOT_FOUND, 0.0),
        claims=claims,
        answer=ANSWER,
    )


def every_verdict() -> LedgerSession:
    """Return a session with one claim of every verdict."""
    claims = tuple(
        Claim(
            id=f"clm_{number}",
            text=f"Claim {number}",
            type=ClaimType.FACT,
            start=number,
            end=number + 1,
        )
        for number in range(5)
    )
    return session_of(
        *(
            entry(claim, verdict, 0.5, source=HR if verdict is not Verdict.NOT_FOUND else None)
            for claim, verdict in zip(claims, Verdict, strict=True)
        ),
        claims=claims,
        answer="a\nbcd\n\nef",
    )


def passage(snippet: str, source: SourceDocument) -> Passage:
    """Return a passage of a document."""
    return Passage(
        chunk_id="chunk_1",
        chunk_hash="ab" * 32,
        snippet=snippet,
        start=0,
        end=len(snippet),
        source=source,
    )


NEAR = "Leave can be moved to another month."


def weak_session() -> LedgerSession:
    """Return a session with a probable claim, a partly supported one, and one not found."""
    answer = "Leave is paid. Pets are welcome. Leave can be sold.\n"
    claims = extract_claims(answer).claims
    return session_of(
        entry(
            claims[0],
            Verdict.WEAK,
            0.64,
            source=HR,
            snippet="Annual leave is with pay.",
            support=WeakSupport.PROBABLE,
        ),
        entry(claims[1], Verdict.WEAK, 0.4, source=HR, snippet="Dogs are welcome."),
        entry(claims[2], Verdict.NOT_FOUND, 0.0, nearest=passage(NEAR, GUIDELINES)),
        claims=claims,
        answer=answer,
    )


def first_form(session: LedgerSession) -> LedgerSession:
    """Return a session as one of the first form, which does not say why claims are weak."""
    ledger = session.ledger
    entries = [one.model_copy(update={"support": None, "nearest": None}) for one in ledger.entries]
    summary = ledger.summary.model_copy(update={"by_support": None})
    update = {"entries": entries, "summary": summary}
    return session.model_copy(update={"ledger": ledger.model_copy(update=update)})


def hostile_session(text: str) -> LedgerSession:
    """Return a session with the same text wherever a text may stand."""
    claims = tuple(
        Claim(id=f"clm_{number}", text=text, start=0, end=len(text), source_text=text)
        for number in range(5)
    )
    source = SourceDocument(id=text, filename=text, page_number=1, heading_path=(text, text))
    return session_of(
        *(
            entry(
                claim,
                verdict,
                0.5,
                source=source,
                snippet=text,
                anchor=text,
                notes=text,
                nearest=passage(text, source) if verdict is Verdict.NOT_FOUND else None,
            )
            for claim, verdict in zip(claims, Verdict, strict=True)
        ),
        claims=claims,
        answer=text,
        title=text,
        created_at=text,
        answer_name=text,
    )

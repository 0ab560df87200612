import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evidentia.canonical import canonical_json
from evidentia.export.jsonform import to_json
from evidentia.ledger.session import LedgerSession
from export.sessions import (
    NEAR,
    every_verdict,
    first_form,
    hostile_session,
    leave_session,
    session_of,
    weak_session,
)


def test_a_ledger_has_the_export_form_it_was_specified_in() -> None:
    session = leave_session()
    made = to_json(session)
    claim = session.claims[0]
    assert {name: made[name] for name in ("ledger_id", "session_id", "generated_at")} == {
        "ledger_id": "led_abc123",
        "session_id": "ses_xyz789",
        "generated_at": "2026-01-03T14:30:00Z",
    }
    assert made["summary"] == {
        "total_claims": 4,
        "evidence_coverage": 0.75,
        "by_verdict": {"supported": 2, "weak": 1, "contradicted": 0, "not_found": 1},
        "by_importance": {"critical": 2, "material": 2, "minor": 0},
        "unsupported_rate": 0.25,
        "by_support": {"probable": 0, "partial": 1},
    }
    assert made["entries"][0] == {
        "claim_id": claim.id,
        "claim_text": "Employees are entitled to 15 days of annual leave",
        "claim_type": "policy",
        "importance": "critical",
        "start": 0,
        "end": 50,
        "verdict": "supported",
        "confidence_score": 0.92,
        "evidence": {
            "chunk_ids": ["a1b2c3d4"],
            "snippet": "All permanent employees shall receive 15 days of paid annual leave per "
            "calendar year.",
            "source": {
                "document_id": "doc_hr001",
                "filename": "HR_Policy.pdf",
                "page_number": 12,
            },
        },
        "judge": "numbers",
        "notes": "Why.",
    }
    assert made["entries"][1]["evidence"]["source"] == {
        "document_id": "doc_lg001",
        "filename": "Leave_Guidelines.pdf",
        "heading_path": ["Leave", "Section 3.2"],
    }
    assert made["entries"][3]["evidence"] == {"chunk_ids": [], "snippet": "", "source": None}
    assert made["risk_flags"] == [
        {
            "type": "missing_evidence",
            "severity": "high",
            "description": "1 critical claim has no supporting evidence",
            "affected_claims": [session.claims[3].id],
        }
    ]
    assert len(made["follow_up_questions"]) == 2


def test_not_judged_is_counted_where_it_occurs() -> None:
    assert to_json(every_verdict())["summary"]["by_verdict"]["not_judged"] == 1
    assert "not_judged" not in to_json(leave_session())["summary"]["by_verdict"]


def test_an_entry_says_why_it_is_weak_and_what_came_nearest_where_there_is_something() -> None:
    made = to_json(weak_session())
    assert made["summary"]["by_support"] == {"probable": 1, "partial": 1}
    probable, partial, missing = made["entries"]
    assert (probable["support"], partial["support"]) == ("probable", "partial")
    assert missing["nearest"] == {
        "snippet": NEAR,
        "source": {
            "document_id": "doc_lg001",
            "filename": "Leave_Guidelines.pdf",
            "heading_path": ["Leave", "Section 3.2"],
        },
    }
    assert missing["evidence"] == {"chunk_ids": [], "snippet": "", "source": None}
    assert "nearest" not in probable
    assert "support" not in missing


def test_a_ledger_of_the_first_form_is_written_as_it_was() -> None:
    made = to_json(first_form(weak_session()))
    assert "by_support" not in made["summary"]
    assert not any({"support", "nearest"} & set(one) for one in made["entries"])


@given(st.text())
def test_any_text_has_a_canonical_form(text: str) -> None:
    made = to_json(hostile_session(text))
    assert json.loads(canonical_json(made)) == made
    assert made["entries"][0]["claim_text"] == text


def test_a_session_has_the_claims_of_its_ledger() -> None:
    session = leave_session()
    assert LedgerSession.model_validate_json(session.model_dump_json()) == session
    assert set(session.claims_by_id()) == {entry.claim_id for entry in session.ledger.entries}
    with pytest.raises(ValidationError, match="is in the ledger and not among the claims"):
        session_of(*session.ledger.entries, claims=session.claims[1:])

"""What a stream tells of an answer: pure values, made of a session."""

from typing import Any

import pytest

from evidentia.ledger.model import (
    Claim,
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
    WeakSupport,
)
from evidentia.ledger.session import LedgerSession
from evidentia.ledger.wire.parts import (
    MOST_PASSAGES,
    ProblemPart,
    cited_sources,
    claim_parts,
    ledger_part,
)
from evidentia.ledger.wire.protocols import PROTOCOLS, adds, ai_sdk_part, ends, part_type

ANSWER = "Leave is 15 days. Rail is preferred."


def passage(number: int, document: str = "doc-1", page: int | None = 12) -> Passage:
    return Passage(
        chunk_id=f"chunk-{number}",
        chunk_hash=f"{number:064x}",
        snippet=f"Parking is free. Leave is 1{number} days.",
        start=0,
        end=34,
        source=SourceDocument(
            id=document, filename=f"{document}.pdf", page_number=page, heading_path=["A", "Leave"]
        ),
    )


def match(number: int, **more: Any) -> EvidenceMatch:
    fields: dict[str, Any] = {
        "similarity": 0.9,
        "support_level": SupportLevel.FULL,
        "snippet": f"Leave is 1{number} days.",
        "passage": passage(number),
    }
    return EvidenceMatch(**{**fields, **more})


def session(*entries: dict[str, Any], answer: str = ANSWER) -> LedgerSession:
    places = [(0, 17), (18, 36), (18, 36)]
    claims = [
        Claim(id=f"clm_{n}", text=answer[start:end], start=start, end=end)
        for n, (start, end) in enumerate(places[: len(entries)])
    ]
    made = [
        LedgerEntry(
            **{
                "id": f"ent_{n}",
                "claim_id": f"clm_{n}",
                "claim_text": claims[n].text,
                "claim_type": ClaimType.FACT,
                "claim_importance": Importance.MATERIAL,
                "confidence_score": 0.5,
                **entry,
            }
        )
        for n, entry in enumerate(entries)
    ]
    flag = RiskFlag(
        id="r1",
        type=RiskType.CONTRADICTION,
        severity=Severity.HIGH,
        description="1 claim contradicts",
        affected_claim_ids=["clm_0"],
    )
    ledger = EvidenceLedger(
        id="led_1",
        session_id="ses_1",
        created_at="2026-11-18T20:00:00.000000Z",
        updated_at="2026-11-18T20:00:00.000000Z",
        entries=made,
        summary=LedgerSummary.of(made),
        risk_flags=[flag],
    )
    return LedgerSession(
        id="ses_1", title="t", answer=answer, claims=claims, ledger=ledger, program="evidentia x"
    )


SUPPORTED = {"verdict": Verdict.SUPPORTED, "evidence": [match(5)]}


def test_a_claims_part_has_its_verdict_place_and_passage() -> None:
    (part,) = claim_parts(session(SUPPORTED), "final")
    assert (part.id, part.state, part.verdict) == ("claim-0-17", "final", "supported")
    (shown,) = part.passages
    assert (shown.stance, shown.quote, shown.page) == ("supports", "Leave is 15 days.", 12)
    assert shown.quote in shown.text
    assert (shown.filename, shown.heading, shown.probability) == ("doc-1.pdf", "Leave", 0.9)


def test_a_piece_of_an_answer_has_places_in_the_whole_one() -> None:
    (part,) = claim_parts(session(SUPPORTED), "provisional", at=100)
    assert (part.id, part.start, part.end) == ("claim-100-117", 100, 117)


def test_claims_of_one_place_have_names_of_their_own() -> None:
    parts = claim_parts(session(SUPPORTED, SUPPORTED, SUPPORTED), "final")
    assert [part.id for part in parts] == ["claim-0-17", "claim-18-36", "claim-18-36-2"]


def test_passages_that_decide_come_first_each_once_and_three_are_shown() -> None:
    evidence = [
        match(1, support_level=SupportLevel.PARTIAL),
        match(2, contradicts=True, says="12"),
        match(2, contradicts=True, says="12", judge="another"),
        match(3, passage=None),
        match(4, support_level=SupportLevel.NONE),
        match(5),
        match(6),
    ]
    (part,) = claim_parts(session({"verdict": "contradicted", "evidence": evidence}), "final")
    assert [one.stance for one in part.passages] == ["contradicts", "partly", "supports"]
    assert part.passages[0].says == "12"
    assert (len(part.passages), part.passages_in_all) == (MOST_PASSAGES, 4)


def test_what_was_not_found_shows_what_came_nearest_as_no_evidence() -> None:
    entry = {"verdict": Verdict.NOT_FOUND, "nearest": passage(7)}
    (part,) = claim_parts(session(entry), "final")
    (shown,) = part.passages
    assert (shown.stance, shown.probability, shown.quote) == ("nearest", None, shown.text)
    (bare,) = claim_parts(session({"verdict": Verdict.NOT_FOUND}), "final")
    assert bare.passages == []


def test_a_ledgers_part_names_it_and_its_claims() -> None:
    weak = {"verdict": Verdict.WEAK, "support": WeakSupport.PARTIAL, "evidence": [match(1)]}
    part = ledger_part(session(SUPPORTED, weak), entry=41)
    assert (part.ledger_id, part.session_id, part.entry) == ("led_1", "ses_1", 41)
    assert part.claims == ["claim-0-17", "claim-18-36"]
    assert part.summary.total_claims == 2
    assert [risk.description for risk in part.risks] == ["1 claim contradicts"]


def test_the_sources_of_a_ledger_are_the_documents_its_verdicts_rest_on() -> None:
    other = {
        "verdict": Verdict.SUPPORTED,
        "evidence": [
            match(1),
            match(2, passage=None),
            match(3, passage=passage(3, "doc-2", None)),
            match(4, support_level=SupportLevel.PARTIAL, passage=passage(4, "doc-3")),
        ],
    }
    sources = cited_sources(session(SUPPORTED, other, {"verdict": Verdict.NOT_FOUND}))
    assert [(one.source_id, one.rank) for one in sources] == [("doc-1", 1), ("doc-2", 2)]
    assert sources[0].snippet == "Leave is 15 days."
    assert sources[0].snippets is not None
    assert sources[0].snippets[0].page == 12


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_protocol_carries_every_part_and_sources(name: str) -> None:
    protocol = PROTOCOLS[name]
    (claim,) = claim_parts(session(SUPPORTED), "final")
    problem = ProblemPart(problem="no")
    like = {"id": "c-1", "model": "m", "created": 7}
    for part, kind in ((claim, "claim"), (problem, "problem")):
        (event,) = protocol.events(part, like)
        assert kind in str(event)
        assert adds(protocol, event) == ""
        assert not ends(protocol, event)
    for event in protocol.sources(cited_sources(session(SUPPORTED)), like):
        assert adds(protocol, event) == ""
    assert part_type(problem) == "evidentia.problem"


def test_a_claim_that_is_told_again_replaces_the_first_in_the_ai_sdk() -> None:
    (early,) = claim_parts(session(SUPPORTED), "provisional")
    (late,) = claim_parts(session(SUPPORTED), "final")
    assert ai_sdk_part(early)["id"] == ai_sdk_part(late)["id"] == late.id
    assert "id" not in ai_sdk_part(ProblemPart(problem="no"))


TEXT_DELTA = {"type": "content_block_delta"}
TEXTS: list[tuple[str, dict[str, Any], str]] = [
    ("ai-sdk", {"type": "text-delta", "delta": "a"}, "a"),
    ("ai-sdk", {"type": "text-delta", "delta": 1}, ""),
    ("ai-sdk", {"type": "reasoning-delta", "delta": "a"}, ""),
    ("ai-sdk", {"type": "text-start"}, "\n\n"),
    ("ag-ui", {"type": "TEXT_MESSAGE_START"}, "\n\n"),
    ("ag-ui", {"type": "TEXT_MESSAGE_CONTENT", "delta": "a"}, "a"),
    ("ag-ui", {"type": "TEXT_MESSAGE_CHUNK", "delta": "a"}, "a"),
    ("ag-ui", {"type": "TOOL_CALL_ARGS", "delta": "a"}, ""),
    ("openai-chat", {"choices": [{"index": 1, "delta": {"content": "b"}}]}, ""),
    (
        "openai-chat",
        {"choices": [7, {"index": 1}, {"index": 0, "delta": {"content": "a"}}]},
        "a",
    ),
    ("openai-chat", {"choices": [{"delta": None}]}, ""),
    ("openai-chat", {"choices": "?"}, ""),
    ("openai-responses", {"type": "response.output_text.delta", "delta": "a"}, "a"),
    ("openai-responses", {"type": "response.content_part.added"}, "\n\n"),
    ("openai-responses", {"type": "response.refusal.delta", "delta": "a"}, ""),
    ("anthropic", {**TEXT_DELTA, "delta": {"type": "text_delta", "text": "a"}}, "a"),
    ("anthropic", {"type": "content_block_delta", "delta": {"type": "thinking_delta"}}, ""),
    ("anthropic", {"type": "content_block_delta", "delta": "a"}, ""),
    ("anthropic", {"type": "content_block_start", "content_block": {"type": "text"}}, ""),
    ("anthropic", {"type": "content_block_start"}, ""),
    ("anthropic", {"type": "content_block_start", "content_block": {"type": "tool_use"}}, "\n\n"),
]  # fmt: skip


def test_the_answer_is_read_where_each_protocol_has_it() -> None:
    for name, event, text in TEXTS:
        assert adds(PROTOCOLS[name], event) == text, (name, event)
    assert adds(PROTOCOLS["ai-sdk"], ["text-delta"]) == ""


def test_clients_stop_at_done_and_at_a_runs_end() -> None:
    assert ends(PROTOCOLS["openai-chat"], "[DONE]")
    assert ends(PROTOCOLS["ag-ui"], {"type": "RUN_FINISHED"})
    assert not ends(PROTOCOLS["ai-sdk"], {"type": "finish"})
    assert not ends(PROTOCOLS["ai-sdk"], None)

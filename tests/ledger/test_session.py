"""Sessions: what is signed of an answer and its ledger, and what is refused when it is read."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from evidentia.canonical import parse_json, sha256_hex
from evidentia.errors import ProofError
from evidentia.ledger.claims import extract_claims
from evidentia.ledger.model import Verdict
from evidentia.ledger.session import (
    PREDICATE_TYPE,
    SECOND_TYPE,
    CheckedDocument,
    LedgerSession,
    LeftOutText,
    UnreadFile,
)
from evidentia.ledger.votes import AskedService, Judging, JudgingPolicy, Vote
from evidentia.proof.statement import Statement, Subject
from ledger.corpora import check, leave_corpus

ANSWER = (
    "Hello!\n\nEmployees are entitled to 15 days of annual leave.\n\n"
    "Contractors may bring pets — é.\n"
)
CLAIMS = extract_claims(ANSWER)
SESSION = LedgerSession(
    id="ses_1",
    title="Leave",
    query="How many days?",
    answer_name="a.md",
    answer=ANSWER,
    claims=CLAIMS.claims,
    left_out=tuple(
        LeftOutText(text=piece.text, start=piece.start, end=piece.end, reason=piece.reason)
        for piece in CLAIMS.left_out
    ),
    ledger=check(ANSWER, leave_corpus()),
    documents=(
        CheckedDocument(
            id="doc_1", version=1, filename="a.pdf", media_type="application/pdf", sha256="ab" * 32
        ),
    ),
    unread=(UnreadFile(filename="b.pdf", problem="b.pdf: a broken PDF"),),
    judges=("quote", "numbers"),
    program="evidentia 1",
)


FIRST = SESSION.model_copy(
    update={
        "ledger": SESSION.ledger.model_copy(
            update={
                "entries": [
                    entry.model_copy(update={"support": None, "nearest": None})
                    for entry in SESSION.ledger.entries
                ],
                "summary": SESSION.ledger.summary.model_copy(update={"by_support": None}),
            }
        )
    }
)
"""The session as an earlier version wrote it."""


def test_a_session_is_stated_about_its_answers_bytes() -> None:
    statement = SESSION.to_statement()
    assert statement.predicate_type == SECOND_TYPE == "urn:evidentia:spec:v1:ledger.v2"
    assert statement.subjects == (Subject("a.md", sha256_hex(ANSWER.encode())),)
    assert statement.predicate == SESSION.model_dump(mode="json")


def test_a_session_reads_back_from_its_statement_and_from_its_bytes() -> None:
    statement = SESSION.to_statement()
    assert LedgerSession.from_statement(statement) == SESSION
    again = LedgerSession.from_statement(Statement.parse(statement.encode()))
    assert again == SESSION
    assert again.to_statement().encode() == statement.encode()
    assert len(SESSION.ledger.entries) == 2
    assert len(SESSION.left_out) == 1


def test_a_session_of_the_first_form_is_written_and_read_as_before() -> None:
    statement = FIRST.to_statement()
    assert statement.predicate_type == PREDICATE_TYPE == "urn:evidentia:spec:v1:ledger"
    for later in (b'support"', b"nearest", b"by_support", b"judging"):
        assert b'"' + later not in statement.encode()
    assert LedgerSession.from_statement(Statement.parse(statement.encode())) == FIRST


def test_every_entry_has_its_claim() -> None:
    by_id = SESSION.claims_by_id()
    for entry in SESSION.ledger.entries:
        assert by_id[entry.claim_id].text == entry.claim_text
    with pytest.raises(ValidationError, match="is in the ledger and not among the claims"):
        SESSION.model_copy(update={"claims": ()})


def test_a_session_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        SESSION.title = "Other"  # type: ignore[misc]


def tampered(
    tamper: Callable[[dict[str, Any]], object], session: LedgerSession = SESSION
) -> Statement:
    """Return the statement with its predicate changed."""
    statement = session.to_statement()
    predicate = parse_json(json.dumps(statement.predicate).encode())
    tamper(predicate)
    return replace(statement, predicate=predicate)


def put(*path: str | int, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return what puts a value at a place within a predicate."""

    def tamper(predicate: dict[str, Any]) -> None:
        inner: Any = predicate
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value

    return tamper


def test_another_kind_of_statement_is_no_ledger() -> None:
    statement = replace(SESSION.to_statement(), predicate_type="https://slsa.dev/provenance/v1")
    with pytest.raises(ProofError, match=r"not a ledger: its type is 'https://slsa.dev/prov"):
        LedgerSession.from_statement(statement)
    endless = replace(statement, predicate_type="x" * 10_000)
    with pytest.raises(ProofError) as refused:
        LedgerSession.from_statement(endless)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("tamper", "problem"),
    [
        (lambda predicate: predicate.clear(), "not a ledger: id: Field required"),
        (lambda predicate: predicate.pop("ledger"), "not a ledger: ledger: Field required"),
        (put("extra", value=1), "not a ledger: extra: Extra inputs"),
        (put("title", value=1), "not a ledger: title: "),
        (put("documents", 0, "version", value=0), r"not a ledger: documents.0.version: "),
        (put("documents", 0, "version", value="1"), r"not a ledger: documents.0.version: "),
        (put("documents", 0, "superseded", value=0), r"not a ledger: documents.0.superseded: "),
        (put("left_out", 0, "start", value=-1), r"not a ledger: left_out.0.start: "),
        (put("ledger", "entries", 0, "verdict", value="true"), r"ledger.entries.0.verdict: "),
        (put("ledger", "entries", 0, "confidence_score", value=1.1), "confidence_score: "),
        (put("claims", value=[]), "is in the ledger and not among the claims"),
        (put("answer", value="Other."), "subject is not the answer that it holds"),
        (put("answer_name", value="b.md"), "subject is not the answer that it holds"),
        (put("id", value="ses_2"), "contradicts itself: it is of another session"),
        (
            lambda predicate: predicate["claims"].reverse(),
            "contradicts itself: its entries are not its claims, one after the other",
        ),
        (
            lambda predicate: predicate["ledger"]["entries"].pop(),
            "contradicts itself: its entries are not its claims",
        ),
        (
            put("ledger", "entries", 1, "verdict", value="supported"),
            "contradicts itself: its summary does not count its entries",
        ),
        (put("left_out", 0, "text", value="Goodbye!"), "what it leaves out at 0 is not what"),
        (put("claims", 0, "source_text", value="Other."), "is not what stands at its place"),
        (put("claims", 0, "start", value=3), "is not what stands at its place in the answer"),
        (put("claims", 0, "text", value="Other"), "quotes its claim as another"),
    ],
)
def test_what_is_wrong_with_a_ledgers_statement_is_said(
    tamper: Callable[[dict[str, Any]], object], problem: str
) -> None:
    with pytest.raises(ProofError, match=problem):
        LedgerSession.from_statement(tampered(tamper))


@pytest.mark.parametrize(
    "subjects",
    [
        (Subject("a.md", "ab" * 32),),
        (Subject("other", sha256_hex(ANSWER.encode())),),
        (Subject("a.md", sha256_hex(ANSWER.encode())), Subject("b.md", "ab" * 32)),
        (),
    ],
)
def test_a_statement_about_something_else_is_refused(subjects: tuple[Subject, ...]) -> None:
    statement = replace(SESSION.to_statement(), subjects=subjects)
    with pytest.raises(ProofError, match="subject is not the answer that it holds"):
        LedgerSession.from_statement(statement)


VOTED = SESSION.model_copy(
    update={
        "judging": Judging(
            policy=JudgingPolicy(decides="majority"),
            votes=(
                Vote(
                    claim_id=CLAIMS.claims[0].id,
                    judges=("llm",),
                    verdict=Verdict.SUPPORTED,
                    confidence=0.9,
                    decides=True,
                    runs=("judge-1",),
                ),
            ),
            services=(
                AskedService(
                    judge="llm",
                    digest="ab" * 32,
                    url="http://localhost/v1",
                    api="openai",
                    model="m",
                    prompt_sha256="cd" * 32,
                    calls=1,
                    input_tokens=900,
                    cost="0.0012",
                    currency="USD",
                ),
            ),
        )
    }
)


def test_a_session_that_was_voted_on_has_the_second_form() -> None:
    statement = VOTED.to_statement()
    assert statement.predicate_type == SECOND_TYPE
    assert set(statement.predicate) - set(SESSION.to_statement().predicate) == {"judging"}
    assert LedgerSession.from_statement(Statement.parse(statement.encode())) == VOTED


def test_a_part_of_a_session_can_be_written_alone() -> None:
    assert SESSION.model_dump(include={"title"}) == {"title": "Leave"}
    assert VOTED.model_dump(include={"title"}) == {"title": "Leave"}


def test_each_form_has_its_own_members_and_no_others() -> None:
    first = FIRST.to_statement()
    for wrong in (
        replace(first, predicate_type=SECOND_TYPE),
        replace(SESSION.to_statement(), predicate_type=PREDICATE_TYPE),
        replace(VOTED.to_statement(), predicate_type=PREDICATE_TYPE),
    ):
        with pytest.raises(ProofError, match="only the second form has by_support and judging"):
            LedgerSession.from_statement(wrong)


NEAREST = SESSION.ledger.entries[0].evidence[0].model_dump(mode="json")["passage"]


@pytest.mark.parametrize("session", [FIRST, SESSION])
@pytest.mark.parametrize(
    "path",
    [
        ("judging",),
        ("ledger", "summary", "by_support"),
        ("ledger", "entries", 0, "support"),
        ("ledger", "entries", 0, "nearest"),
    ],
)
def test_a_later_field_is_left_out_and_never_null(
    session: LedgerSession, path: tuple[str | int, ...]
) -> None:
    with pytest.raises(ProofError, match=f"not a ledger: {path[-1]} is null; it is left out"):
        LedgerSession.from_statement(tampered(put(*path, value=None), session))


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("ledger", "entries", 0, "support"), "probable", "must say why it is weak, if it is"),
        (("ledger", "entries", 0, "nearest"), NEAREST, "names a nearest passage, and was found"),
        (("ledger", "entries", 1, "nearest"), NEAREST, "names a nearest passage"),
    ],
)
def test_what_only_the_second_form_says_is_refused_in_the_first(
    path: tuple[str | int, ...], value: object, problem: str
) -> None:
    with pytest.raises(ProofError, match=problem):
        LedgerSession.from_statement(tampered(put(*path, value=value), FIRST))


def test_a_reason_for_a_verdict_that_is_not_weak_is_refused() -> None:
    def tamper(predicate: dict[str, Any]) -> None:
        predicate["ledger"]["entries"][0]["support"] = "probable"
        predicate["ledger"]["summary"]["by_support"]["probable"] += 1

    with pytest.raises(ProofError, match="must say why it is weak, if it is, and only then"):
        LedgerSession.from_statement(tampered(tamper))


def test_a_weak_entry_of_the_second_form_says_why() -> None:
    def tamper(predicate: dict[str, Any]) -> None:
        predicate["ledger"]["entries"][0]["verdict"] = "weak"
        counts = predicate["ledger"]["summary"]["by_verdict"]
        counts["weak"], counts["supported"] = 1, 0

    with pytest.raises(ProofError, match="must say why it is weak, if it is, and only then"):
        LedgerSession.from_statement(tampered(tamper))


def test_reasons_that_do_not_count_are_refused() -> None:
    wrong = put("ledger", "summary", "by_support", value={"probable": 1, "partial": 0})
    with pytest.raises(ProofError, match="its summary does not count its entries"):
        LedgerSession.from_statement(tampered(wrong))


def test_only_what_was_not_found_has_a_nearest_passage() -> None:
    assert SESSION.ledger.entries[1].verdict is Verdict.NOT_FOUND
    right = put("ledger", "entries", 1, "nearest", value=NEAREST)
    assert LedgerSession.from_statement(tampered(right)).ledger.entries[1].nearest
    wrong = put("ledger", "entries", 0, "nearest", value=NEAREST)
    with pytest.raises(ProofError, match="names a nearest passage, and was found"):
        LedgerSession.from_statement(tampered(wrong))


def test_votes_come_with_why_claims_are_weak() -> None:
    wrong = FIRST.model_copy(update={"judging": VOTED.judging}).to_statement()
    with pytest.raises(ProofError, match="has votes, and does not count why claims are weak"):
        LedgerSession.from_statement(wrong)


def test_a_vote_is_on_one_of_the_claims() -> None:
    second = VOTED.to_statement()
    judging = json.loads(json.dumps(second.predicate["judging"]))
    judging["votes"][0]["claim_id"] = "clm_x"
    wrong = replace(second, predicate={**second.predicate, "judging": judging})
    with pytest.raises(ProofError, match="a vote is on clm_x, which is none of its claims"):
        LedgerSession.from_statement(wrong)

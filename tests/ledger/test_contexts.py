"""Contexts in a ledger: what a statement says of them, and what is refused when it is read."""

from typing import Any

import pytest
from pydantic import ValidationError

from evidentia.errors import ProofError
from evidentia.ledger.claims import extract_claims
from evidentia.ledger.contexts import CheckedBundle, CheckedContext, wrong_contexts
from evidentia.ledger.given import context_corpus, read_contexts
from evidentia.ledger.joining import join_corpora
from evidentia.ledger.model import EvidenceLedger, SourceDocument
from evidentia.ledger.session import SECOND_TYPE, THIRD_TYPE, LedgerSession
from evidentia.ledger.verification import with_context_checks
from evidentia.proof.statement import Statement
from evidentia.proof.verification import Check, ProofReport
from ledger.corpora import check, leave_corpus

ANSWER = (
    "Employees receive 15 days of annual leave [1]. Hotels cost up to $200 per night [cite:kb-17]. "
    "Dogs may come to the office [3]. Leave applications must be submitted at least 14 calendar "
    "days before the intended start date."
)
LEAVE = "Some words before. All permanent employees receive 15 days of annual leave."
CONTEXTS = read_contexts(
    [
        {"text": LEAVE, "page": 4},
        {"id": "kb-17", "text": "Hotels cost up to $150 per night.", "title": "Travel.pdf"},
        {"id": "kb-9", "text": ""},
    ]
)
CORPUS = context_corpus(CONTEXTS)


def session(ledger: EvidenceLedger, **fields: Any) -> LedgerSession:
    return LedgerSession(
        id=ledger.session_id,
        title="Leave",
        answer=ANSWER,
        claims=extract_claims(ANSWER).claims,
        ledger=ledger,
        judges=("quote", "numbers"),
        **{"contexts": CONTEXTS, **fields},
    )


GIVEN = session(check(ANSWER, CORPUS))


def reread(made: LedgerSession) -> LedgerSession:
    return LedgerSession.from_statement(Statement.parse(made.to_statement().encode()))


def test_claims_are_judged_by_what_the_model_was_given() -> None:
    assert [entry.verdict.value for entry in GIVEN.ledger.entries] == [
        "supported",
        "contradicted",
        "not_found",
        "not_found",
    ]
    first, second = GIVEN.ledger.entries[:2]
    assert first.source_document == SourceDocument(
        id="context-1", filename="context 1", page_number=4
    )
    assert second.source_document == SourceDocument(
        id="kb-17", filename="context 2 (kb-17), Travel.pdf"
    )
    passage = first.evidence[0].passage
    assert passage
    assert LEAVE[passage.start : passage.end] == first.evidence_snippet
    assert GIVEN.origins(first) == ("contexts",)
    assert GIVEN.origins(GIVEN.ledger.entries[3]) == ()


def test_citations_lead_to_contexts_by_number_and_by_id() -> None:
    assert [(one.label, one.resolved, one.bears) for one in GIVEN.ledger.citations] == [
        ("1", True, True),
        ("kb-17", True, False),
        ("3", True, False),
    ]


def test_what_the_answer_says_of_a_number_goes_before_its_place() -> None:
    answer = "Employees receive 15 days of annual leave [2].\n\nSources:\n\n[2] context-1\n"
    ledger = check(answer, CORPUS)
    assert [(one.resolved, one.bears) for one in ledger.citations] == [(True, True)]
    unknown = check("Employees receive 15 days of annual leave [7].", CORPUS)
    assert [one.resolved for one in unknown.citations] == [False]


def test_a_session_with_contexts_is_of_the_third_form_and_reads_back() -> None:
    assert GIVEN.predicate_type == THIRD_TYPE
    assert reread(GIVEN) == GIVEN
    assert "corpus" not in GIVEN.to_statement().predicate
    without = session(GIVEN.ledger, contexts=None)
    assert without.predicate_type == SECOND_TYPE
    assert without.origins(without.ledger.entries[0]) == ()


def changed(entry: int, path: str, **update: Any) -> LedgerSession:
    """Return the session with something else in a passage, match or source of an entry."""
    judged = GIVEN.ledger.entries[entry]
    match = judged.evidence[0]
    assert match.passage
    passage = match.passage
    if path == "source":
        passage = passage.model_copy(update={"source": passage.source.model_copy(update=update)})
    if path == "passage":
        passage = passage.model_copy(update=update)
    match = match.model_copy(update={"passage": passage} | (update if path == "match" else {}))
    told = {"evidence": [match]} | (update if path == "entry" else {})
    entries = [*GIVEN.ledger.entries]
    entries[entry] = judged.model_copy(update=told)
    ledger = GIVEN.ledger.model_copy(update={"entries": entries})
    return GIVEN.model_copy(update={"ledger": ledger})


def with_context(number: int, **update: Any) -> LedgerSession:
    contexts = [*CONTEXTS]
    contexts[number - 1] = contexts[number - 1].model_copy(update=update)
    return GIVEN.model_copy(update={"contexts": contexts})


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (with_context(1, text=LEAVE.replace("15", "16")), "the text of context context-1 is not"),
        (with_context(3, sha256="0" * 64), "the text of context kb-9 is not what its digest says"),
        (with_context(3, id="kb-17"), "two of its contexts are called kb-17"),
        (with_context(1, page=5), "a passage of context context-1 is said to stand elsewhere"),
        (with_context(2, title="Other"), "a passage of context kb-17 is said to stand elsewhere"),
        (with_context(2, id="kb-18"), "its documents are not those that it cites"),
        (changed(0, "passage", start=0), "a passage of context context-1 is not what stands at"),
        (changed(0, "passage", page=1), "is said to stand elsewhere"),
        (changed(0, "source", filename="HR.pdf"), "is said to stand elsewhere"),
        (changed(0, "source", heading_path=["4"]), "is said to stand elsewhere"),
        (changed(0, "source", page_number=None), "is said to stand elsewhere"),
        (changed(0, "match", snippet="Leave is unlimited."), "quotes what is not in its passage"),
        (changed(0, "entry", evidence_snippet="Leave."), "shows what is not in its evidence"),
        (
            GIVEN.model_copy(update={"bundle": CheckedBundle(id="b", sha256="0" * 64)}),
            "the id of its bundle does not follow from the digest",
        ),
        (
            session(GIVEN.ledger, unread=[{"filename": "a.pdf", "problem": "broken"}]),
            "it has documents, and commits to no corpus",
        ),
    ],
)
def test_contexts_that_contradict_the_ledger_are_refused(made: LedgerSession, said: str) -> None:
    with pytest.raises(ProofError, match=f"the ledger contradicts itself: .*{said}"):
        reread(made)


def test_a_bundle_needs_contexts_and_contexts_are_not_none() -> None:
    bundle = CheckedBundle(id="b", sha256="0" * 64)
    with pytest.raises(ProofError, match="it names a bundle, and has no contexts"):
        reread(session(GIVEN.ledger, contexts=None, bundle=bundle))
    with pytest.raises(ValidationError, match="at least 1 item"):
        session(GIVEN.ledger, contexts=[])


def test_contexts_need_reasons_that_are_counted() -> None:
    summary = GIVEN.ledger.summary.model_copy(update={"by_support": None})
    entries = [
        entry.model_copy(update={"nearest": None, "support": None})
        for entry in GIVEN.ledger.entries
    ]
    ledger = GIVEN.ledger.model_copy(update={"summary": summary, "entries": entries})
    with pytest.raises(ProofError, match="it has contexts, and does not count why claims are weak"):
        reread(session(ledger))


def test_what_is_null_in_a_context_is_refused() -> None:
    predicate = dict(GIVEN.to_statement().predicate)
    first, *others = predicate["contexts"]
    predicate["contexts"] = [{**first, "title": None}, *others]
    statement = Statement(THIRD_TYPE, GIVEN.to_statement().subjects, predicate)
    with pytest.raises(ProofError, match="title is null"):
        LedgerSession.from_statement(statement)


def test_an_entry_says_which_of_two_its_evidence_is_from() -> None:
    ledger = check(ANSWER, join_corpora([CORPUS, leave_corpus()]))
    made = session(ledger)
    assert [made.origins(entry) for entry in ledger.entries] == [
        ("contexts", "library"),
        ("contexts", "library"),  # both contradict it
        (),
        ("library",),
    ]
    assert list(wrong_contexts(CONTEXTS, None, ledger)) == []  # of documents it says nothing


def test_what_the_verdict_does_not_rest_on_is_not_where_it_is_from() -> None:
    contexts = read_contexts(["Hotels cost up to $150 per night."])
    joined = join_corpora([context_corpus(contexts), leave_corpus()])
    ledger = check("Hotel costs are refunded up to $150 per night.", joined)
    (entry,) = ledger.entries
    assert entry.verdict.value == "supported"
    sources = {match.passage.source.filename for match in entry.evidence if match.passage}
    assert sources == {"context 1", "Travel_Policy.pdf"}
    made = LedgerSession(
        id=ledger.session_id,
        title="Hotels",
        claims=extract_claims("Hotel costs are refunded up to $150 per night.").claims,
        ledger=ledger,
        contexts=contexts,
    )
    assert made.origins(entry) == ("library",)


def test_a_check_of_a_proof_says_whether_what_is_cited_stands_there() -> None:
    good = ProofReport((Check("format", holds=True, says="good"),), statement=GIVEN.to_statement())
    assert with_context_checks(good).checks[1] == Check(
        "contexts",
        holds=True,
        says="3 contexts have their digests, and what is cited of them stands there",
    )
    bad = with_context(1, text="Other.").to_statement()
    found = with_context_checks(ProofReport((), statement=bad)).checks[0]
    assert not found.holds
    assert "the text of context context-1 is not what its digest says" in found.says
    second = session(GIVEN.ledger, contexts=None).to_statement()
    for other in (None, second, Statement(THIRD_TYPE, second.subjects, second.predicate)):
        assert with_context_checks(ProofReport((), statement=other)).checks == ()


def test_a_context_has_a_name_of_its_own() -> None:
    assert [context.name(number) for number, context in enumerate(CONTEXTS, 1)] == [
        "context 1",
        "context 2 (kb-17), Travel.pdf",
        "context 3 (kb-9)",
    ]
    assert CheckedContext.later == ("title", "page", "metadata", "metadata_left_out")

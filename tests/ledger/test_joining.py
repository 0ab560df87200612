"""Several corpora as one: each is searched and judged by itself, and all that is found counts."""

from collections.abc import Sequence

from evidentia.ledger.given import context_corpus, read_contexts
from evidentia.ledger.joining import join_corpora, joined
from evidentia.ledger.judging import Failure, Judged
from evidentia.ledger.model import Claim, EvidenceMatch, Passage, SourceDocument, SupportLevel
from evidentia.ledger.voting import Answer, Question
from ledger.corpora import check, leave_corpus

CONTEXTS = context_corpus(
    read_contexts(
        [
            {"id": "a", "text": "Hotel costs are refunded up to $120 per night.", "title": "A.pdf"},
            {"id": "b", "text": "Employees travel in economy class."},
        ]
    )
)
LIBRARY = leave_corpus()
BOTH = join_corpora([CONTEXTS, LIBRARY])
PASSAGE = Passage(
    chunk_id="c",
    chunk_hash="h",
    snippet="s",
    start=0,
    end=1,
    source=SourceDocument(id="a", filename="a"),
)


def match(*, contradicts: bool, judge: str = "nli") -> EvidenceMatch:
    level = SupportLevel.NONE if contradicts else SupportLevel.FULL
    return EvidenceMatch(
        similarity=0.9,
        support_level=level,
        contradicts=contradicts,
        snippet="s",
        passage=PASSAGE,
        judge=judge,
    )


def test_one_corpus_alone_stays_as_it_is() -> None:
    assert join_corpora([LIBRARY]) is LIBRARY
    alone = Judged((), passages=3)
    assert joined([alone]) is alone


def test_the_documents_of_both_are_there() -> None:
    held, first = BOTH.held, next(iter(LIBRARY.held.few(10_000) or ()))
    wanted = ["a", first.document_id, "nobody"]
    assert list(held.documents(wanted)) == ["a", first.document_id]
    assert [chunk.document_id for chunk in held.chunks("b")] == ["b"]
    assert list(held.chunks(first.document_id)) == list(LIBRARY.held.chunks(first.document_id))
    assert list(held.chunks("nobody")) == []
    found = held.anchored(first.chunk_hash[:8])
    assert {"a", first.document_id} <= {chunk.document_id for chunk in found}
    names = {document.filename for document in held.called("A.pdf")}
    assert {"A.pdf", "a", "b"} < names


def test_few_are_all_of_them_unless_they_are_more() -> None:
    every = BOTH.held.few(10_000)
    assert every is not None
    assert len(every) == 2 + len(LIBRARY.held.few(10_000) or ())
    assert BOTH.held.few(len(every)) is not None
    assert BOTH.held.few(len(every) - 1) is None
    assert BOTH.held.few(1) is None


def test_what_is_cited_is_found_in_either() -> None:
    hits = BOTH.held.search("employees travel in economy class", 10, None)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert {"b"} < {hit.document_id for hit in hits}
    assert [hit.document_id for hit in BOTH.held.search("economy class", 9, frozenset("b"))] == [
        "b"
    ]
    assert len(BOTH.held.search("employees travel in economy class", 1, None)) == 1


def test_labels_of_the_first_go_before_those_of_the_second() -> None:
    other = context_corpus(read_contexts(["Other."]))
    assert join_corpora([CONTEXTS, other]).labels["1"] == "a"
    assert join_corpora([other, CONTEXTS]).labels["1"] == "context-1"


def test_words_alone_are_words_alone_in_every_part() -> None:
    class Near:
        nearest = nearness = None

    parts = tuple(type(part)(part.held, Near()) for part in (CONTEXTS, LIBRARY))  # type: ignore[arg-type]
    bare = join_corpora(parts).by_words()
    assert [part.meaning for part in bare.parts] == [None, None]


def test_what_contexts_say_is_the_same_beside_a_library() -> None:
    answer = "Employees travel in economy class. Receipts must be submitted within 30 days."
    alone, beside = check(answer, CONTEXTS), check(answer, BOTH)
    own = {"a", "b"}
    for one, other in zip(alone.entries, beside.entries, strict=True):
        of_contexts = [
            match
            for match in other.evidence
            if match.passage is not None and match.passage.source.id in own
        ]
        assert list(one.evidence) == of_contexts


def test_a_library_that_contradicts_a_context_is_a_conflict() -> None:
    ledger = check("Hotel costs are refunded up to $120 per night.", BOTH)
    (entry,) = ledger.entries
    assert entry.verdict.value == "contradicted"
    assert "conflicting_sources" in {flag.type.value for flag in ledger.risk_flags}


def test_a_judge_of_whole_claims_is_shown_the_passages_of_both() -> None:
    shown: list[set[str]] = []

    class Looking:
        name = "looking"

        def judge(self, claim: Claim, passages: Sequence[Passage]) -> list[None]:
            raise AssertionError(f"{claim.id}: {len(passages)}")

        def judge_all(self, questions: Sequence[Question]) -> list[Answer]:
            shown.extend({one.source.filename for one in each.passages} for each in questions)
            return [Answer(failure="no answer")] * len(questions)

    check("Hotel costs are refunded up to $120 per night.", BOTH, [Looking()])
    assert shown[0] >= {"context 1 (a), A.pdf", "Travel_Policy.pdf"}


def test_who_is_not_certain_contradicts_nothing_that_is() -> None:
    sure = Judged((match(contradicts=False, judge="quote"),), certain=True, sure=(PASSAGE,))
    doubting = Judged((match(contradicts=True),), support=0.1)
    assert [one.contradicts for one in joined([sure, doubting]).matches] == [False]
    certain = Judged((match(contradicts=True, judge="numbers"),), certain=True)
    assert [one.contradicts for one in joined([sure, certain]).matches] == [False, True]
    thought = Judged((match(contradicts=False),), support=0.9)
    assert [one.contradicts for one in joined([thought, doubting]).matches] == [False, True]


def test_how_likely_a_claim_is_supported_agrees_with_what_counts() -> None:
    supports = Judged((match(contradicts=False),), support=0.9)
    against = Judged((match(contradicts=True),), support=0.2)
    nothing = Judged(())
    low = Judged((), support=0.4)
    assert joined([supports, against]).support == 0.2
    assert joined([low, supports]).support == 0.9
    assert joined([nothing, low]).support == 0.4
    assert joined([nothing, nothing]).support is None


def test_the_rest_of_two_judgements_is_put_together() -> None:
    failed = Failure("llm", "no connection")
    one = Judged((), (failed,), passages=2, judges=("quote", "llm"), models={"nli": "1"})
    other = Judged(
        (), (failed,), certain=True, passages=3, judges=("quote", "llm"), nearest=PASSAGE
    )
    both = joined([one, other])
    assert (both.failures, both.certain, both.passages) == ((failed,), True, 5)
    assert (both.judges, both.models, both.nearest) == (("quote", "llm"), {"nli": "1"}, PASSAGE)
    assert joined([one, one]).nearest is None

"""A ledger in numbers: each by hand, and None where there is nothing to count."""

import pytest

from evidentia.ledger.claims import extract_claims
from evidentia.ledger.given import context_corpus, read_contexts
from evidentia.ledger.model import EvidenceLedger, LedgerEntry, Verdict, WeakSupport
from evidentia.ledger.session import LedgerSession
from ledger.corpora import check
from ledger.test_contexts import CONTEXTS, GIVEN


def with_entries(entries: list[LedgerEntry]) -> LedgerSession:
    ledger: EvidenceLedger = GIVEN.ledger.model_copy(update={"entries": entries})
    return GIVEN.model_copy(update={"ledger": ledger})


def test_an_answer_is_counted_by_its_verdicts_its_citations_and_its_contexts() -> None:
    numbers = GIVEN.metrics()
    # of four claims one is supported and one contradicted; of three citations the first supports
    assert numbers.faithfulness == 0.25
    assert numbers.coverage == GIVEN.ledger.summary.evidence_coverage == 0.25
    assert numbers.contradiction_rate == 0.25
    assert numbers.citation_precision == pytest.approx(1 / 3)
    assert numbers.citation_recall == 0.25
    # verdicts rest on the first and the second of three contexts
    assert numbers.contextual_precision == 1.0
    assert numbers.context_utilization == pytest.approx(2 / 3)


def test_contexts_that_were_used_count_less_the_further_down_they_stand() -> None:
    answer = "Employees receive 15 days of annual leave."
    texts = ["Dogs bark.", CONTEXTS[0].text, "Cats do not.", CONTEXTS[0].text + " Always."]
    contexts = read_contexts(texts)
    made = LedgerSession(
        id="ses_1",
        title="Leave",
        claims=extract_claims(answer).claims,
        ledger=check(answer, context_corpus(contexts)),
        contexts=contexts,
    )
    assert made.metrics().contextual_precision == (1 / 2 + 2 / 4) / 2
    assert made.metrics().context_utilization == 0.5


def test_contexts_that_no_verdict_rests_on_are_of_no_precision() -> None:
    nowhere = [
        entry.model_copy(update={"verdict": Verdict.NOT_FOUND}) for entry in GIVEN.ledger.entries
    ]
    assert with_entries(nowhere).metrics().contextual_precision == 0.0


def test_what_is_probable_is_said_in_full_and_what_is_partial_is_not() -> None:
    one, other = (
        GIVEN.ledger.entries[0].model_copy(update={"verdict": Verdict.WEAK, "support": why})
        for why in (WeakSupport.PROBABLE, WeakSupport.PARTIAL)
    )
    numbers = with_entries([one, other]).metrics()
    assert (numbers.faithfulness, numbers.coverage) == (0.5, 1.0)


def test_without_claims_citations_or_contexts_there_is_nothing_to_count() -> None:
    ledger = GIVEN.ledger.model_copy(update={"entries": [], "citations": []})
    numbers = GIVEN.model_copy(update={"ledger": ledger, "contexts": None}).metrics()
    assert set(numbers.model_dump().values()) == {None}

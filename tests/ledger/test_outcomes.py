"""What became of many answers: counted by verdict, type and document, and the worst first."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from evidentia.ledger.model import ClaimType, Verdict
from evidentia.ledger.outcomes import (
    AnswerOutcome,
    CheckedAnswers,
    ClaimOutcome,
    Tally,
    claim_outcomes,
    documents,
)
from export.sessions import every_verdict

GOOD, BAD, WEAK, MISSING = (
    Verdict.SUPPORTED,
    Verdict.CONTRADICTED,
    Verdict.WEAK,
    Verdict.NOT_FOUND,
)
HR, IT = ("doc_1", "hr.md"), ("doc_2", "it.md")


def claim(
    verdict: Verdict, document: tuple[str, str] | None = HR, kind: ClaimType = ClaimType.FACT
) -> ClaimOutcome:
    return verdict, kind, document


def outcome(number: int, *claims: ClaimOutcome, **known: Any) -> AnswerOutcome:
    return AnswerOutcome(number, tally=Tally.of(claims), **known)


def test_a_ledgers_claims_are_counted_by_verdict_type_and_document() -> None:
    ledger = every_verdict().ledger
    tally = Tally.of(claim_outcomes(ledger))
    assert tally.by_verdict == Counter(entry.verdict for entry in ledger.entries)
    assert tally.claims == len(ledger.entries)
    assert tally.coverage == ledger.summary.evidence_coverage
    assert sum(counts.total() for counts in tally.by_type.values()) == tally.claims
    sources = [entry.source_document for entry in ledger.entries if entry.source_document]
    assert {name for _, name in tally.by_document} == {source.filename for source in sources}
    assert sum(counts.total() for counts in tally.by_document.values()) == len(sources)


def test_tallies_add_up_in_any_order() -> None:
    some = [Tally.of([claim(GOOD), claim(BAD, IT)]), Tally.of([claim(MISSING, None)]), Tally()]
    total = Tally.added(some)
    assert total == Tally.added(reversed(some))
    assert total.by_verdict == Counter({GOOD: 1, BAD: 1, MISSING: 1})
    assert total.by_document == {HR: Counter({GOOD: 1}), IT: Counter({BAD: 1})}
    assert (total.claims, total.coverage) == (3, 1 / 3)
    assert Tally().coverage == 0


def test_documents_that_contradict_come_first_and_then_those_that_serve_most() -> None:
    third = ("doc_3", "a.md")
    tally = Tally.of([claim(GOOD), claim(GOOD), claim(BAD, IT), claim(WEAK, third)])
    assert [document for document, _ in documents(tally)] == [IT, HR, third]


def test_the_worst_answers_are_contradicted_most_and_covered_least() -> None:
    checked = CheckedAnswers(
        [
            outcome(5, claim(GOOD), claim(MISSING, None)),
            outcome(1, claim(GOOD)),
            outcome(4, claim(MISSING, None)),
            outcome(2, claim(BAD), claim(GOOD)),
            outcome(3),
            AnswerOutcome(6, problem="no"),
        ]
    )
    assert [one.number for one in checked] == [1, 2, 3, 4, 5, 6]
    assert [one.number for one in checked.worst()] == [2, 4, 5]
    assert [one.number for one in checked.worst(1)] == [2]
    assert [one.number for one in checked.failed] == [6]
    assert [one.number for one in checked[1:3]] == [2, 3]
    assert (len(checked), len(checked.checked)) == (6, 5)


def test_an_answer_passes_by_the_rules_of_one_and_never_unchecked() -> None:
    bad = outcome(1, claim(GOOD), claim(BAD))
    assert bad.failures() == []
    assert bad.failures(fail_on=[BAD]) == ["1 claim is contradicted"]
    assert bad.failures(min_coverage=0.6) == ["the evidence coverage of 50% is below 60%"]
    assert AnswerOutcome(1, problem="it is empty").failures() == ["it was not checked: it is empty"]


def test_an_answer_is_known_by_its_id_or_else_its_number() -> None:
    assert AnswerOutcome(3).name == "answer 3"
    assert AnswerOutcome(3, "q").name == "q"


@dataclass(frozen=True)
class Change:
    """Stands for a file that changed."""

    name: str

    def as_json(self) -> dict[str, str]:
        return {"name": self.name}


@pytest.mark.parametrize("changes", [(), (Change("a"),)])
def test_the_summary_is_json(changes: tuple[Change, ...]) -> None:
    known = outcome(1, claim(GOOD), claim(BAD, IT), id="a", ledger_id="led_1", entry=7)
    made = CheckedAnswers([known, AnswerOutcome(2, problem="why")], changes).as_json()
    assert made.pop("file_changes", []) == [change.as_json() for change in changes]
    counts = {verdict.value: 0 for verdict in Verdict}
    both = {**counts, "supported": 1, "contradicted": 1}
    first = {
        "number": 1,
        "id": "a",
        "title": None,
        "ledger_id": "led_1",
        "entry": 7,
        "checked_before": False,
        "claims": 2,
        "evidence_coverage": 0.5,
        "by_verdict": both,
    }
    assert made == {
        "answers": 2,
        "checked": 1,
        "checked_before": 0,
        "not_checked": 1,
        "claims": 2,
        "evidence_coverage": 0.5,
        "by_verdict": both,
        "by_claim_type": {"fact": both},
        "by_document": [
            {
                "document_id": "doc_2",
                "filename": "it.md",
                "by_verdict": {**counts, "contradicted": 1},
            },
            {
                "document_id": "doc_1",
                "filename": "hr.md",
                "by_verdict": {**counts, "supported": 1},
            },
        ],
        "worst": [first],
        "outcomes": [first, {"number": 2, "id": None, "title": None, "problem": "why"}],
    }

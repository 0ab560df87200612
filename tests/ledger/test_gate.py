import pytest

from evidentia.errors import InputError
from evidentia.ledger.gate import gate_failures, read_verdicts
from evidentia.ledger.model import Verdict
from export.sessions import every_verdict, session_of


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("", set()),
        (" , ", set()),
        ("contradicted", {Verdict.CONTRADICTED}),
        ("Not-Found, not_judged", {Verdict.NOT_FOUND, Verdict.NOT_JUDGED}),
    ],
)
def test_verdicts_are_read_by_their_names(text: str, verdicts: set[Verdict]) -> None:
    assert read_verdicts(text) == verdicts


def test_what_is_no_verdict_is_refused() -> None:
    with pytest.raises(InputError, match="verdict 'wrong' is unknown: use contradicted, not_found"):
        read_verdicts("weak,wrong")


def test_a_ledger_passes_unless_a_rule_says_otherwise() -> None:
    ledger = every_verdict().ledger
    assert gate_failures(ledger) == []
    assert gate_failures(ledger, fail_on=[Verdict.WEAK, Verdict.CONTRADICTED]) == [
        "1 claim is weak",
        "1 claim is contradicted",
    ]
    coverage = ledger.summary.evidence_coverage
    assert gate_failures(ledger, min_coverage=coverage) == []
    assert gate_failures(ledger, min_coverage=1.0) == ["the evidence coverage of 40% is below 100%"]


def test_an_empty_ledger_covers_nothing() -> None:
    ledger = session_of(claims=()).ledger
    assert gate_failures(ledger, fail_on=list(Verdict)) == []
    assert gate_failures(ledger, min_coverage=0.0) == []
    assert gate_failures(ledger, min_coverage=0.1) == ["the evidence coverage of 0% is below 10%"]

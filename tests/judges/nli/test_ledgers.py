"""A ledger names the model that was asked, says how likely each claim is, and is made alike."""

import sys

import pytest

import tiers
from evidentia.judges import make_judges
from evidentia.judges.nli import judge as judging
from evidentia.judges.nli.meaning import with_meaning
from evidentia.judges.nli.model import PairModel, model_digest
from evidentia.ledger.evidence import Corpus
from evidentia.ledger.model import EvidenceLedger, LedgerEntry, Verdict, WeakSupport
from evidentia.ledger.verdicts import LIKELY, SUPPORTED_ABOVE
from evidentia.workspace.evaluating import check_pair
from judges.nli.swaps import SWAPS
from ledger.corpora import (
    HR_POLICY,
    LEAVE_GUIDELINES,
    TRAVEL_POLICY,
    check,
    leave_corpus,
    make_corpus,
)
from trained import needs_model

pytestmark = needs_model

ANSWER = (
    "Employees are entitled to 15 days of annual leave.\n\nHotels may cost $900 per night.\n\n"
    "Planes are to be boarded in economy class. Contractors may bring pets."
)
RULES = ["quote", "numbers"]


def knowing(corpus: Corpus) -> Corpus:
    return with_meaning(corpus, make_judges())


def only(ledger: EvidenceLedger) -> LedgerEntry:
    (entry,) = ledger.entries
    return entry


def test_an_entry_names_the_model_that_was_asked() -> None:
    settled, *others = check(ANSWER, knowing(leave_corpus())).entries[:3]
    assert (settled.verdict, dict(settled.models)) == (Verdict.SUPPORTED, {})
    for entry in others:
        assert dict(entry.models) == {"nli": model_digest()}
        assert entry.support_probability is not None
        assert 0 <= entry.support_probability <= 1


def test_no_model_is_named_where_only_rules_were_asked() -> None:
    for entry in check(ANSWER, leave_corpus(), make_judges(RULES)).entries:
        assert dict(entry.models) == {}


def test_no_model_is_named_where_a_rule_settled_it_all() -> None:
    said = "Employees travel in economy class."
    entry = only(check(said, knowing(make_corpus({"travel.md": (said,)}))))
    assert (entry.verdict, entry.judge, dict(entry.models)) == (Verdict.SUPPORTED, "quote", {})
    assert entry.support_probability == entry.evidence[0].similarity


def test_a_claim_for_which_nothing_was_read_has_no_model_and_no_probability() -> None:
    entry = only(check("Contractors may bring pets.", make_corpus({"a.md": ("Fish swim.",)})))
    assert (entry.verdict, dict(entry.models)) == (Verdict.NOT_FOUND, {})
    assert entry.support_probability is None


def test_the_same_check_gives_the_same_ledger() -> None:
    first = check(ANSWER, knowing(leave_corpus()))
    assert check(ANSWER, knowing(leave_corpus())) == first
    assert check(ANSWER, knowing(leave_corpus())).model_dump_json() == first.model_dump_json()


def test_the_order_of_the_documents_makes_no_difference() -> None:
    files = {"hr.pdf": HR_POLICY, "leave.pdf": LEAVE_GUIDELINES, "travel.pdf": TRAVEL_POLICY}
    turned = dict(reversed(files.items()))
    one, other = (check(ANSWER, knowing(make_corpus(each))) for each in (files, turned))
    assert one.entries == other.entries


def test_a_ledger_comes_back_from_json_as_it_was() -> None:
    ledger = check(ANSWER, knowing(leave_corpus()))
    assert EvidenceLedger.model_validate_json(ledger.model_dump_json()) == ledger


def test_what_was_compared_is_part_of_the_ledger() -> None:
    ledger = check("Hotel costs of up to $900 a night are refunded.", knowing(leave_corpus()))
    entry = only(ledger)
    for match in entry.evidence:
        for one in match.compared:
            assert 0 <= one.claim_start < one.claim_end <= len(entry.claim_text)
            assert one.end is None or one.end <= len(match.snippet)
    assert EvidenceLedger.model_validate_json(ledger.model_dump_json()) == ledger


def test_a_claim_is_not_judged_when_the_model_cannot_be_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judges = make_judges()
    monkeypatch.setattr(judging, "pair_model", PairModel)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    entry = only(check("Contractors may bring pets to annual leave.", leave_corpus(), judges))
    assert entry.verdict is Verdict.NOT_JUDGED
    assert "pip install 'evidentia[judge]'" in entry.notes
    assert dict(entry.models) == {}


def test_the_verdict_agrees_with_the_probability() -> None:
    told = set()
    for swap in tiers.sample([*SWAPS], len(SWAPS) // 10):
        entry = check_pair(swap.evidence, swap.claim, make_judges())
        likely = entry.support_probability
        assert likely is not None
        told.add(entry.verdict)
        match entry.verdict, entry.support:
            case Verdict.SUPPORTED, _:
                assert likely > SUPPORTED_ABOVE
            case Verdict.WEAK, WeakSupport.PROBABLE:
                assert LIKELY <= likely <= SUPPORTED_ABOVE
            case _:
                assert likely < LIKELY
    assert len(told) > 1

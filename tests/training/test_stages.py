"""The pairs that the model is trained on: near to their evidence, beside others, elsewhere."""

import random

import pytest
from training.contrast import MARK
from training.data import Pair
from training.stages import elsewhere, near, with_others

LEASE = "The rent is 900 euros a month. It is due on the first working day of each month."
DOGS = "Dogs may be kept if the landlord agrees in writing. Cats need no consent at all."
KEYS = "Two sets of keys are handed over. A lost key is replaced at the tenant's expense."


def pair(evidence: str, claim: str, label: str = "supported", document: str = "lease") -> Pair:
    return Pair(evidence, claim, label, f"{MARK}{document}:paraphrase")


PAIRS = [
    pair(LEASE, "Tenants pay 900 euros every month."),
    pair(DOGS, "A dog needs the landlord's consent."),
    pair(KEYS, "Whoever loses a key pays for it.", "contradicted"),
    pair("The library opens at nine.", "It opens at nine.", document="library"),
]


def test_some_evidence_has_another_passage_of_its_document_beside_it() -> None:
    found = [one for seed in range(60) for one in with_others(PAIRS, random.Random(seed))]
    assert {(one.claim, one.label, one.source) for one in found} == {
        (one.claim, one.label, one.source) for one in PAIRS
    }
    of_rent = {one.evidence for one in found if "900" in one.claim}
    assert LEASE in of_rent
    assert f"{DOGS}\n{LEASE}" in of_rent
    assert all(LEASE in evidence for evidence in of_rent)
    assert {one.evidence for one in found if "nine" in one.claim} == {PAIRS[3].evidence}


def test_no_evidence_grows_too_long_beside_another() -> None:
    long = pair("word " * 100, "Words are said.")
    found = [one for seed in range(20) for one in with_others([*PAIRS, long], random.Random(seed))]
    assert {one.evidence for one in found if one.claim == long.claim} == {long.evidence}


def test_a_claim_is_not_found_in_another_passage_of_its_document() -> None:
    found = elsewhere(PAIRS, 10, random.Random(1))
    assert {one.claim for one in found} == {one.claim for one in PAIRS[:3]}
    for one in found:
        assert (one.label, one.source) == ("not_found", f"{MARK}lease:other")
        assert (one.evidence, one.claim) not in {(known.evidence, known.claim) for known in PAIRS}


def test_a_claim_that_another_passage_may_say_too_is_left_out() -> None:
    same = pair(f"{LEASE} That is so.", "It is due on the first working day of each month.")
    found = elsewhere([same, pair(LEASE, "Heating is extra.")], 10, random.Random(1))
    assert [one.claim for one in found] == ["Heating is extra."]


def test_no_more_are_put_elsewhere_than_asked_for() -> None:
    assert len(elsewhere(PAIRS, 2, random.Random(1))) == 2


def test_sentences_of_the_evidence_support_themselves_and_not_what_is_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("training.stages.VERBATIM", 3)
    found = near(PAIRS, 1, random.Random(1))
    verbatim = [one for one in found if one.source == "verbatim"]
    assert len(verbatim) >= 2
    for one in verbatim:
        assert one.label == "supported"
        assert one.claim in one.evidence
    changed = [one for one in found if one.source == "changed/contrast"]
    assert {"supported", "contradicted"} <= {one.label for one in changed}
    assert not any(one.claim in one.evidence for one in changed if one.label != "supported")

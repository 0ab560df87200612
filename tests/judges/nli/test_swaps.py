"""The swaps written by hand are what they should be; how they fare is measured elsewhere."""

from collections import Counter

import pytest

from judges.nli.swaps import SWAPS

KINDS = ("number", "date", "unit", "name", "negation", "quantifier", "modality", "comparative")


@pytest.mark.parametrize("kind", [*KINDS, "role", "antonym"])
def test_there_are_a_dozen_swaps_of_each_kind(kind: str) -> None:
    assert sum(swap.kind == kind and swap.label != "supported" for swap in SWAPS) >= 12


def test_every_passage_has_a_control() -> None:
    controls = {swap.evidence for swap in SWAPS if swap.label == "supported"}
    assert controls == {swap.evidence for swap in SWAPS}


def test_there_are_enough_controls_to_tell_two_per_cent() -> None:
    assert sum(swap.label == "supported" for swap in SWAPS) >= 50


def test_no_claim_stands_twice_beside_its_evidence_or_word_for_word_in_it() -> None:
    counts = Counter((swap.evidence, swap.claim) for swap in SWAPS)
    assert max(counts.values()) == 1
    assert not [swap for swap in SWAPS if swap.claim in swap.evidence]
    assert not [swap for swap in SWAPS if "\n" in swap.evidence + swap.claim]

import re
from collections import Counter

import pytest
from training.templates import template_pairs

PAIRS = list(template_pairs(2_000, seed=1))


def test_the_same_seed_gives_the_same_pairs() -> None:
    assert list(template_pairs(50, seed=3)) == list(template_pairs(50, seed=3))


@pytest.mark.parametrize("kind", ["role", "comparative", "unit", "modality", "quantifier"])
def test_no_label_of_a_kind_is_rare(kind: str) -> None:
    counts = Counter(pair.label for pair in PAIRS if pair.source == f"template:{kind}")
    assert min(counts["supported"], counts.total() - counts["supported"]) > counts.total() / 4


def test_the_same_sentence_is_supported() -> None:
    same = [pair.label for pair in PAIRS if pair.evidence == pair.claim]
    assert set(same) == {"supported"}


def test_two_that_change_places_around_one_verb_contradict() -> None:
    verbs = re.compile(r"\b(?:pays|sues|owns)\b")
    for pair in PAIRS:
        said, claimed = verbs.split(pair.evidence.lower()), verbs.split(pair.claim.lower())
        if len(said) == len(claimed) == 2:
            assert (pair.label == "supported") == (said[0] == claimed[0])


def test_no_claim_gives_its_label_away() -> None:
    modal = [pair for pair in PAIRS if pair.source == "template:modality"]
    for word in ("must", "not"):
        counts = Counter(pair.label for pair in modal if f" {word} " in pair.claim)
        assert 0.2 < counts["supported"] / counts.total() < 0.8

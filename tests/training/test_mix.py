from training.data import Pair
from training.mix import joined_claims, joined_label, near_misses

EVIDENCE = "The library opens at nine and lends ten books to every member."
PAIRS = [
    Pair(EVIDENCE, "The library opens at nine.", "supported", "own"),
    Pair(EVIDENCE, "Members borrow ten books.", "supported", "own"),
    Pair(EVIDENCE, "The library opens at eight.", "contradicted", "own"),
    Pair("The museum opens at ten.", "The museum has a garden.", "not_found", "own"),
]


def test_joined_claims_hold_only_if_both_do() -> None:
    by_claim = {pair.claim: pair.label for pair in PAIRS}
    for joined in joined_claims(PAIRS, 40, seed=1):
        first, second = joined.claim.split(", and ")
        labels = by_claim[f"{first}."], by_claim[second]
        assert (joined.label == "supported") == (labels == ("supported", "supported"))
        assert joined.label in labels
        for claim in (f"{first}.", second):
            (pair,) = [one for one in PAIRS if one.claim == claim]
            assert pair.evidence in joined.evidence


def test_the_graver_label_counts() -> None:
    assert joined_label("supported", "not_supported") == "not_supported"
    assert joined_label("contradicted", "not_found") == "contradicted"


def test_a_near_miss_is_a_supported_claim_beside_evidence_of_something_else() -> None:
    others = [
        Pair(
            "The town library was built in 1950 by a well known architect from Vienna.",
            "It is old.",
            "supported",
            "own",
        ),
        *PAIRS,
    ]
    for miss in near_misses(others, 5, seed=1):
        assert miss.label == "not_found"
        assert (miss.evidence, miss.claim) not in [(one.evidence, one.claim) for one in others]


def test_the_same_seed_gives_the_same_pairs() -> None:
    assert list(joined_claims(PAIRS, 9, seed=2)) == list(joined_claims(PAIRS, 9, seed=2))

"""Cases that any good model gets right: plain paraphrases, other values, other subjects."""

import pytest

import tiers
from evidentia.judges import make_judges
from evidentia.ledger.model import Verdict
from evidentia.ledger.verdicts import LIKELY
from evidentia.workspace.evaluating import check_pair
from judges.nli.swaps import SWAPS, Swap
from trained import needs_model

pytestmark = needs_model

ALL = make_judges()
LIBRARY = (
    "The city library is open from Tuesday to Saturday. Members may borrow up to ten books at a "
    "time and keep them for four weeks. A fine of 50 cents is charged for each day that a book is "
    "late. Children under 14 join free of charge."
)
BRIDGE = (
    "The old bridge over the Arvel was closed to lorries in 2018 after engineers discovered cracks "
    "in two of its pillars. It has been repaired since, and all traffic may use it again."
)
TAKEN_FOR_PARTIAL = pytest.mark.xfail(
    strict=True,
    reason="the model takes what leaves out who may, or up to what, for what leaves out a limit",
)
PARAPHRASES = (
    pytest.param(LIBRARY, "Ten books may be borrowed at a time.", marks=TAKEN_FOR_PARTIAL),
    pytest.param(LIBRARY, "Books may be kept for four weeks.", marks=TAKEN_FOR_PARTIAL),
    pytest.param(LIBRARY, "Children under 14 can join for free.", marks=TAKEN_FOR_PARTIAL),
    (BRIDGE, "Cracks were found in two pillars of the bridge."),
    (BRIDGE, "The bridge was closed to lorries in 2018."),
)
OTHERWISE = (
    (LIBRARY, "Members may borrow up to twenty books at a time."),
    (LIBRARY, "Members keep the books for six weeks."),
    (BRIDGE, "The old bridge was closed to lorries in 2012."),
    (BRIDGE, "The bridge has not been repaired."),
)
UNRELATED = (
    (LIBRARY, "The swimming pool was renovated last summer."),
    (LIBRARY, "Vaccines must be stored in a refrigerator."),
    (BRIDGE, "The mayor plays the violin."),
)
MAJORITY = 0.7
"""Which part of the swaps written by hand must be less likely than a control beside them."""


def chance(evidence: str, claim: str) -> float:
    """Return how likely it is that the evidence bears the claim out."""
    found = check_pair(evidence, claim, ALL).support_probability
    assert found is not None
    return found


@pytest.mark.parametrize(("evidence", "claim"), PARAPHRASES)
def test_what_is_said_in_other_words_is_borne_out(evidence: str, claim: str) -> None:
    assert check_pair(evidence, claim, ALL).verdict in (Verdict.SUPPORTED, Verdict.WEAK)
    assert chance(evidence, claim) >= LIKELY


@pytest.mark.parametrize(("evidence", "claim"), OTHERWISE)
def test_what_is_said_otherwise_is_not_supported(evidence: str, claim: str) -> None:
    assert check_pair(evidence, claim, ALL).verdict is not Verdict.SUPPORTED
    assert chance(evidence, claim) < LIKELY


@pytest.mark.parametrize(("evidence", "claim"), UNRELATED)
def test_what_is_not_spoken_of_is_not_found(evidence: str, claim: str) -> None:
    assert check_pair(evidence, claim, ALL).verdict is Verdict.NOT_FOUND


def test_most_controls_are_more_likely_than_the_swaps_beside_them() -> None:
    beside: dict[str, list[Swap]] = {}
    for swap in SWAPS:
        beside.setdefault(swap.evidence, []).append(swap)
    told = []
    for evidence, swaps in tiers.sample([*beside.items()], len(beside) // 8):
        likely = {swap: chance(evidence, swap.claim) for swap in swaps}
        told += [
            likely[control] > likely[swap]
            for control in swaps
            for swap in swaps
            if control.label == "supported" != swap.label
        ]
    assert sum(told) >= MAJORITY * len(told)

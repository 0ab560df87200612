"""Which claims that are taken out of an answer are which of those that were marked in it.

They are told by their places. A claim that holds several marked ones is as true as they are
together: false if one is false, supported only if all are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from evidentia.ledger.model import Claim
from training.claims_set import MarkedAnswer, MarkedClaim

MOST_BESIDE: Final = 4
"""How many characters a claim may share with a marked one that it does not hold."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """A claim taken out of an answer, its label, and the kind of the marked claim that decides."""

    claim: Claim
    label: str
    kind: str
    marked: int
    """How many marked claims it holds."""


def aligned(answer: MarkedAnswer, claims: Sequence[Claim]) -> list[Aligned]:
    """Return the claims that hold marked ones; each marked one is in the claim that has most of it.

    A marked claim that is in none is in none of these.
    """
    held: dict[str, list[MarkedClaim]] = {}
    for one in answer.claims:
        nearest = max(claims, key=lambda claim: _shared(claim, one), default=None)
        if nearest is not None and _shared(nearest, one) > MOST_BESIDE:
            held.setdefault(nearest.id, []).append(one)
    return [_together(claim, held[claim.id]) for claim in claims if claim.id in held]


def _together(claim: Claim, held: Sequence[MarkedClaim]) -> Aligned:
    labels = {one.label for one in held}
    if len(labels) == 1:
        (label,) = labels
    else:
        label = "contradicted" if "contradicted" in labels else "weak"
    kind = next((one.kind for one in held if one.label == label), held[0].kind)
    return Aligned(claim, label, kind, len(held))


def _shared(claim: Claim, one: MarkedClaim) -> int:
    return min(claim.end, one.end) - max(claim.start, one.start)

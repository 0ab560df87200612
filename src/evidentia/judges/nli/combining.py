"""From the model's scores and the typed checks to one decision, by weights that can be read.

Four things can be: the evidence supports a claim, contradicts it, supports it in part, or says
nothing of it. Each has a sum of weighted features, and the four share one whole: what speaks for
one speaks against the others. There are two sets of weights: the model may have read all
the evidence at once, or in pieces, of which none shows what is missing from all. The weights are in
`weights/combination.json`, fitted on claims that the model was not trained on; what comes out are
calibrated probabilities.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, log
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evidentia.judges.checks import Check, CheckKind

Floats = npt.NDArray[np.float32]

LABELS: Final = ("supported", "contradicted", "not_found", "weak")
SUPPORTED, CONTRADICTED, NOT_FOUND, PARTLY = range(len(LABELS))
LEAST: Final = 0.01
"""What a chance of the model counts at least: below, it says no more."""
_MOST_CHECKS: Final = 2
_FARTHEST: Final = 30.0


@dataclass(frozen=True, slots=True)
class PartScores:
    """What the model says of one part: of each passage alone, and of all together."""

    alone: Floats
    together: Floats


@dataclass(frozen=True, slots=True)
class Chances:
    """How likely evidence is to support a claim, to contradict it, or to support it in part.

    What is left to one is how likely it says nothing of it.
    """

    supported: float
    contradicted: float
    weak: float


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of weighted features."""

    intercept: float
    weights: Mapping[str, float]

    def total(self, features: Mapping[str, float]) -> float:
        """Return the sum, bounded; a feature without a weight counts nothing."""
        total = self.intercept
        for name, weight in self.weights.items():
            total += weight * features.get(name, 0.0)
        return max(min(total, _FARTHEST), -_FARTHEST)


@dataclass(frozen=True, slots=True)
class Formula:
    """The sums of the labels, which are weighed against each other."""

    supported: Sum
    contradicted: Sum
    weak: Sum
    not_found: Sum

    def chances(self, features: Mapping[str, float]) -> Chances:
        """Return how likely each of the labels is."""
        sums = (self.supported, self.contradicted, self.weak, self.not_found)
        raised = [exp(one.total(features)) for one in sums]
        whole = fsum(raised)
        return Chances(*(one / whole for one in raised[:-1]))


@dataclass(frozen=True, slots=True)
class Combination:
    """The formulas: of evidence that was read whole, and of evidence read in pieces."""

    whole: Formula
    pieces: Formula

    @classmethod
    def parse(cls, data: bytes) -> "Combination":
        """Read the formulas from JSON."""
        value: dict[str, Any] = json.loads(data)
        return cls(
            *(
                Formula(**{label: Sum(**value[regime][label]) for label in LABELS})
                for regime in ("whole", "pieces")
            )
        )


def part_features(
    scores: PartScores, checks: Sequence[Check], lacked: Mapping[str, float]
) -> dict[str, float]:
    """Return the features of one part of a claim.

    `checks` compare it with the passages that are taken together; `lacked` is what none of all the
    passages has.
    """
    alone, together = scores.alone, scores.together
    found = {
        "support alone": _logarithm(alone[:, SUPPORTED].max()),
        "contradiction alone": _logarithm(alone[:, CONTRADICTED].max()),
        "part alone": _logarithm(alone[:, PARTLY].max()),
        "nothing alone": _logarithm(alone[:, NOT_FOUND].min()),
        "contradiction of the best": _logarithm(alone[0, CONTRADICTED]),
        "support together": _logarithm(together[SUPPORTED]),
        "contradiction together": _logarithm(together[CONTRADICTED]),
        "part together": _logarithm(together[PARTLY]),
        "nothing together": _logarithm(together[NOT_FOUND]),
        **lacked,
    }
    for kind in CheckKind:
        of_kind = [check for check in checks if check.kind is kind and check.conflict]
        there = sum(check.evidence is not None for check in of_kind)
        found[f"{kind.value} differs"] = float(min(there, _MOST_CHECKS))
        found[f"{kind.value} missing"] = float(min(len(of_kind) - there, _MOST_CHECKS))
    found["values agree"] = float(min(sum(not check.conflict for check in checks), _MOST_CHECKS))
    return found


def _logarithm(chance: np.float32) -> float:
    return log(max(float(chance), LEAST))

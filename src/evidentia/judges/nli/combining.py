"""From the model's scores and the typed checks to two probabilities, by weights that can be read.

Small logistic formulas over named features: how likely it is that the evidence supports the claim,
and, if it does not, how likely it is that it contradicts it. The first has two sets of weights: the
model may have read all the evidence at once, or in pieces, of which none shows what is missing from
all. The weights are in `weights/combination.json`, fitted on sets that the model was not trained
on; a formula's result is its calibrated probability.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evidentia.judges.checks import Check, CheckKind

Floats = npt.NDArray[np.float32]

LABELS: Final = ("supported", "contradicted", "not_found")
SUPPORTED, CONTRADICTED, NOT_FOUND = range(len(LABELS))
_LEAST: Final = 1e-4
_MOST_CHECKS: Final = 2


@dataclass(frozen=True, slots=True)
class PartScores:
    """What the model says of one part: of each passage alone, and of all together."""

    alone: Floats
    together: Floats


@dataclass(frozen=True, slots=True)
class Formula:
    """A logistic formula: a sum of weighted features, made a probability."""

    intercept: float
    weights: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """Return the probability; a feature without a weight counts nothing."""
        total = self.intercept
        for name, weight in self.weights.items():
            total += weight * features.get(name, 0.0)
        return 1 / (1 + exp(-max(min(total, 30.0), -30.0)))


@dataclass(frozen=True, slots=True)
class Combination:
    """The formulas: of evidence that was read whole, of evidence read in pieces, of conflicts."""

    whole: Formula
    pieces: Formula
    contradiction: Formula

    @classmethod
    def parse(cls, data: bytes) -> "Combination":
        """Read the formulas from JSON."""
        value: dict[str, Any] = json.loads(data)
        return cls(*(Formula(**value[name]) for name in ("whole", "pieces", "contradiction")))


def part_features(
    scores: PartScores, checks: Sequence[Check], lacked: Mapping[str, float]
) -> dict[str, float]:
    """Return the features of one part of a claim.

    `checks` compare it with the passages that are taken together; `lacked` is what none of all the
    passages has.
    """
    alone = scores.alone
    best = float(alone[:, SUPPORTED].max())
    found = {
        "support alone": _log_odds(best),
        "support together": _log_odds(float(scores.together[SUPPORTED])),
        "contradiction alone": _log_odds(float(alone[:, CONTRADICTED].max())),
        "contradiction of the best": _log_odds(float(alone[0, CONTRADICTED])),
        "contradiction together": _log_odds(float(scores.together[CONTRADICTED])),
        **lacked,
    }
    for kind in CheckKind:
        of_kind = [check for check in checks if check.kind is kind and check.conflict]
        there = sum(check.evidence is not None for check in of_kind)
        found[f"{kind.value} differs"] = float(min(there, _MOST_CHECKS))
        found[f"{kind.value} missing"] = float(min(len(of_kind) - there, _MOST_CHECKS))
    found["values agree"] = float(min(sum(not check.conflict for check in checks), _MOST_CHECKS))
    return found


def _log_odds(chance: float) -> float:
    bounded = min(max(chance, _LEAST), 1 - _LEAST)
    return log(bounded / (1 - bounded))

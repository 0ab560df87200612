"""Measuring judges: how right they are on pairs of evidence and claim that are labelled.

A pair is said to be supported where the probability that the evidence supports the claim is 0.35 or
more: about one labelled pair in three is supported, and balanced accuracy weighs one of these that
is missed as much as two others that are not. A pair that could not be judged has no probability: it
counts as wrong, and is left out where probabilities are compared. The order of the pairs makes no
difference to any figure.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from math import fsum
from typing import Any, Final

import numpy as np

from evidentia.ledger.model import LedgerEntry, SupportLevel, Verdict, WeakSupport

COUNTED_FROM: Final = 0.35
"""From which probability on a pair counts as said to be supported."""
FLOOR: Final = 0.02
"""The probability where no passage says anything for the claim."""
BINS: Final = 10
_BELOW: Final = 0.34
"""The most that a pair can have which was not found to be supported in full."""
_ROUNDS: Final = 2_000
_SEED: Final = 1
_TAILS: Final = (0.025, 0.975)


class Label(StrEnum):
    """What is known of a pair.

    `weak` is supported only in part; `not_supported` leaves open which of the others it is.
    """

    SUPPORTED = "supported"
    WEAK = "weak"
    CONTRADICTED = "contradicted"
    NOT_FOUND = "not_found"
    NOT_SUPPORTED = "not_supported"


_OPEN: Final = (Label.WEAK, Label.NOT_SUPPORTED)
"""Labels that no probability is taken for: a pair is right if it is not called supported."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A pair's label, and what was found: a verdict, and a probability if it could be judged.

    `support` says of a weak verdict why it is weak.
    """

    label: Label
    verdict: Verdict
    probability: float | None
    support: WeakSupport | None = None

    @property
    def is_supported(self) -> bool:
        """Whether the evidence supports the claim, by the label."""
        return self.label is Label.SUPPORTED

    @property
    def predicted(self) -> Label | None:
        """Which of the three labels it was taken for; None if it could not be judged."""
        if self.probability is None:
            return None
        if self.probability >= COUNTED_FROM:
            return Label.SUPPORTED
        contradicted = self.verdict is Verdict.CONTRADICTED
        return Label.CONTRADICTED if contradicted else Label.NOT_FOUND

    @property
    def is_right(self) -> bool:
        """Whether it was taken for what it is, as far as the label says what that is."""
        if self.label in _OPEN:
            return self.predicted not in (None, Label.SUPPORTED)
        return self.predicted is self.label


@dataclass(frozen=True, slots=True)
class Bin:
    """The pairs with a probability from `low` to `high`: their mean, and how many are supported."""

    low: float
    high: float
    pairs: int
    mean_probability: float | None
    share_supported: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """How right the judges were. A figure is None where the pairs' labels do not give it.

    `interval` holds 95 % of the balanced accuracies of pairs drawn again, at random with a fixed
    beginning, from the same ones. `auroc` parts the supported from all others, `auroc_decided`
    from the contradicted. `confusion` counts pairs by label and verdict, `probable` those among the
    weak that are only not sure enough.
    """

    pairs: int
    not_judged: int
    balanced_accuracy: float | None
    interval: tuple[float, float] | None
    macro_f1: float | None
    auroc: float | None
    auroc_decided: float | None
    calibration_error: float | None
    bins: tuple[Bin, ...]
    confusion: Mapping[Label, Mapping[Verdict, int]]
    probable: Mapping[Label, int]

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain JSON values."""
        return {
            "pairs": self.pairs,
            "not_judged": self.not_judged,
            "balanced_accuracy": self.balanced_accuracy,
            "balanced_accuracy_95": self.interval and list(self.interval),
            "macro_f1": self.macro_f1,
            "auroc": self.auroc,
            "auroc_decided": self.auroc_decided,
            "calibration_error": self.calibration_error,
            "calibration_bins": [asdict(one) for one in self.bins],
            "confusion": {
                label.value: {verdict.value: number for verdict, number in row.items()}
                for label, row in self.confusion.items()
            },
            "probable": {label.value: number for label, number in self.probable.items()},
        }


def support_probability(entry: LedgerEntry) -> float | None:
    """Return how probable an entry makes it that its claim is supported; None if not judged."""
    if entry.verdict is Verdict.NOT_JUDGED:
        return None
    if entry.support_probability is not None:
        return entry.support_probability
    match entry.verdict:
        case Verdict.SUPPORTED:
            return entry.confidence_score
        case Verdict.WEAK:
            best = entry.evidence[0]
            full = best.support_level is SupportLevel.FULL
            return best.similarity if full else min(best.similarity, _BELOW)
        case Verdict.CONTRADICTED:
            return min(1 - entry.confidence_score, _BELOW)
        case _:
            hints = (match.similarity for match in entry.evidence if not match.contradicts)
            return min(max(hints, default=FLOOR), _BELOW)


def measure(outcomes: Sequence[Outcome]) -> Figures:
    """Work out every figure."""
    actual = [outcome.is_supported for outcome in outcomes]
    right = [
        outcome.predicted is not None
        and (outcome.predicted is Label.SUPPORTED) == outcome.is_supported
        for outcome in outcomes
    ]
    judged = [outcome for outcome in outcomes if outcome.probability is not None]
    probable = [outcome.probability or 0.0 for outcome in judged]
    supported = [outcome.is_supported for outcome in judged]
    decided = [
        (outcome.is_supported, outcome.probability or 0.0)
        for outcome in judged
        if outcome.label in (Label.SUPPORTED, Label.CONTRADICTED)
    ]
    bins = calibration_bins(supported, probable)
    counts = Counter((outcome.label, outcome.verdict) for outcome in outcomes)
    return Figures(
        pairs=len(outcomes),
        not_judged=len(outcomes) - len(judged),
        balanced_accuracy=balanced_accuracy(actual, right),
        interval=balanced_accuracy_interval(actual, right),
        macro_f1=macro_f1(
            [outcome.label for outcome in outcomes], [outcome.predicted for outcome in outcomes]
        ),
        auroc=auroc(supported, probable),
        auroc_decided=auroc([so for so, _ in decided], [chance for _, chance in decided]),
        calibration_error=calibration_error(bins),
        bins=bins,
        confusion={
            label: {verdict: counts[label, verdict] for verdict in Verdict} for label in Label
        },
        probable={
            label: sum(
                one.label is label and one.support is WeakSupport.PROBABLE for one in outcomes
            )
            for label in Label
        },
    )


def balanced_accuracy(actual: Sequence[bool], right: Sequence[bool]) -> float | None:
    """Return the mean of the two classes' shares of pairs that are right; None without both."""
    (positives, hits), (negatives, rejections) = _tallies(actual, right)
    if not positives or not negatives:
        return None
    return (hits / positives + rejections / negatives) / 2


def balanced_accuracy_interval(
    actual: Sequence[bool], right: Sequence[bool]
) -> tuple[float, float] | None:
    """Return what 95 % of samples like this one give, by the bootstrap; None without both classes.

    To draw a class's pairs again is to draw how many of them are right.
    """
    (positives, hits), (negatives, rejections) = _tallies(actual, right)
    if not positives or not negatives:
        return None
    chance = np.random.default_rng(_SEED)
    drawn = chance.binomial(positives, hits / positives, _ROUNDS) / positives
    drawn += chance.binomial(negatives, rejections / negatives, _ROUNDS) / negatives
    low, high = np.quantile(drawn / 2, _TAILS).tolist()
    return low, high


def macro_f1(labels: Sequence[Label], predicted: Sequence[Label | None]) -> float | None:
    """Return the mean F1 of the labels that occur.

    None where one is `weak` or `not_supported`, which nothing is taken for, or where fewer than two
    occur.
    """
    present = sorted(set(labels))
    if len(present) < 2 or not set(_OPEN).isdisjoint(present):  # noqa: PLR2004 - a class, and another
        return None
    taken = Counter(predicted)
    there = Counter(labels)
    both = Counter(label for label, said in zip(labels, predicted, strict=True) if label is said)
    scores = (2 * both[label] / (there[label] + taken[label]) for label in present)
    return fsum(scores) / len(present)


def auroc(actual: Sequence[bool], probabilities: Sequence[float]) -> float | None:
    """Return how often a supported pair is more probable than another; a tie counts as half.

    None without both classes.
    """
    positive = np.asarray(actual, bool)
    positives = int(positive.sum())
    negatives = len(positive) - positives
    if not positives or not negatives:
        return None
    _, places, counts = np.unique(
        np.asarray(probabilities, float), return_inverse=True, return_counts=True
    )
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    above = float(ranks[positive].sum()) - positives * (positives + 1) / 2
    return above / (positives * negatives)


def calibration_bins(actual: Sequence[bool], probabilities: Sequence[float]) -> tuple[Bin, ...]:
    """Return the pairs in ten bins of equal width; a probability of 1 is in the last."""
    members: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for probability, supported in zip(probabilities, actual, strict=True):
        members[min(int(probability * BINS), BINS - 1)].append((probability, supported))
    return tuple(
        Bin(
            low=place / BINS,
            high=(place + 1) / BINS,
            pairs=len(found),
            mean_probability=fsum(one for one, _ in found) / len(found) if found else None,
            share_supported=sum(one for _, one in found) / len(found) if found else None,
        )
        for place, found in enumerate(members)
    )


def calibration_error(bins: Sequence[Bin]) -> float | None:
    """Return the expected calibration error: how far the bins' two means are apart, by pairs."""
    pairs = sum(one.pairs for one in bins)
    if not pairs:
        return None
    apart = (
        one.pairs * abs((one.mean_probability or 0.0) - (one.share_supported or 0.0))
        for one in bins
    )
    return fsum(apart) / pairs


def _tallies(
    actual: Sequence[bool], right: Sequence[bool]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Count the supported pairs and those of them that are right, and the same of the others."""
    counts = Counter(zip(actual, right, strict=True))
    return (
        (counts[True, True] + counts[True, False], counts[True, True]),
        (counts[False, True] + counts[False, False], counts[False, True]),
    )

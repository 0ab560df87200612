"""Figures of merit, for training only: the product's own are in `evidentia.judges.measuring`."""

from collections.abc import Sequence

import numpy as np


def balanced_accuracy(truth: Sequence[str], support: np.ndarray, threshold: float = 0.5) -> float:
    """Return the mean of how many supported and how many other claims are told right."""
    supported = np.array([label == "supported" for label in truth])
    said = support > threshold
    return float((said[supported].mean() + (~said[~supported]).mean()) / 2)


def macro_f1(truth: Sequence[str], found: np.ndarray, labels: Sequence[str]) -> float:
    """Return the mean F1 of the labels."""
    said = found.argmax(1)
    scores = []
    for place, label in enumerate(labels):
        is_so = np.array([one == label for one in truth])
        hits = int((is_so & (said == place)).sum())
        scores.append(2 * hits / max(int(is_so.sum()) + int((said == place).sum()), 1))
    return float(np.mean(scores))


def calibration_error(truth: np.ndarray, chances: np.ndarray, bins: int = 10) -> float:
    """Return how far chances are from how often they come true, by bins of one width."""
    places = np.minimum((chances * bins).astype(int), bins - 1)
    error = 0.0
    for place in range(bins):
        there = places == place
        if there.any():
            error += there.mean() * abs(truth[there].mean() - chances[there].mean())
    return float(error)

"""Confidence: its parts, their weights, and the five bands it is shown in."""

from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import Final

from evidentia.ledger.model import ConfidenceComponents

_BONUS_SOURCES: Final = 3


class ConfidenceBand(StrEnum):
    """How a confidence is shown; each band includes its lower bound and not its upper one."""

    HIGH = "high"
    GOOD = "good"
    MODERATE = "moderate"
    LOW = "low"
    VERY_LOW = "very_low"


_BANDS: Final = (
    (0.85, ConfidenceBand.HIGH),
    (0.7, ConfidenceBand.GOOD),
    (0.5, ConfidenceBand.MODERATE),
    (0.3, ConfidenceBand.LOW),
)


def calculate_confidence(components: ConfidenceComponents) -> float:
    """Weigh the parts: similarity 60 %, more sources and directness 15 % each, quality 10 %."""
    score = components.semantic_similarity * 0.6
    score += min(components.evidence_count - 1, _BONUS_SOURCES) * 0.05
    score += components.directness * 0.15
    score += components.source_quality * 0.1
    return min(max(score, 0.0), 1.0)


def confidence_band(score: float) -> ConfidenceBand:
    """Return the band that a confidence is shown in."""
    return next((band for floor, band in _BANDS if score >= floor), ConfidenceBand.VERY_LOW)


def percent(score: float) -> str:
    """Return a score as a whole percentage, rounded as JavaScript's `toFixed(0)` rounds.

    >>> percent(0.125), percent(0.135)
    ('13%', '14%')
    """
    exact = Decimal(score * 100)  # the double's own value: 0.285 * 100 is less than 28.5
    return f"{exact.quantize(Decimal(1), ROUND_HALF_UP)}%"

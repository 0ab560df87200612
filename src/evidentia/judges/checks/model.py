"""Checks: what a rule found when it compared a claim with a passage."""

from dataclasses import dataclass
from enum import StrEnum

from evidentia.language.characters import Span


class CheckKind(StrEnum):
    """What two texts were compared in."""

    NUMBER = "number"
    DATE = "date"
    UNIT = "unit"
    NEGATION = "negation"
    ANTONYM = "antonym"
    NAME = "name"
    QUANTIFIER = "quantifier"
    MODALITY = "modality"
    COMPARATIVE = "comparative"
    ROLE = "role"


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison of a claim with a passage; the spans are in code points.

    `evidence` is None where the passage has nothing in the place of what the claim says.
    """

    kind: CheckKind
    conflict: bool
    claim: Span
    evidence: Span | None
    reason: str


def agrees(kind: CheckKind, claim: Span, evidence: Span | None, reason: str) -> Check:
    """Return a check by which the two say the same, or the claim no more than the passage."""
    return Check(kind, conflict=False, claim=claim, evidence=evidence, reason=reason)


def differs(kind: CheckKind, claim: Span, evidence: Span | None, reason: str) -> Check:
    """Return a check by which the two say different things."""
    return Check(kind, conflict=True, claim=claim, evidence=evidence, reason=reason)

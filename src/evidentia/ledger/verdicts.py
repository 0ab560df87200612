"""Verdicts: the rules that turn what judges said of passages into one verdict on a claim."""

from collections.abc import Sequence
from typing import Final

from evidentia.language.markup import one_line
from evidentia.ledger.model import (
    Claim,
    EvidenceMatch,
    SupportLevel,
    Verdict,
    VerdictAssignment,
    WeakSupport,
)

SUPPORTED_ABOVE: Final = 0.85
WEAK_FACTOR: Final = 0.8
LIKELY: Final = 0.5
"""From which probability on a claim counts as rather supported than not."""
_LEVELS: Final = (SupportLevel.FULL, SupportLevel.PARTIAL, SupportLevel.NONE)


def assign_verdict(claim: Claim, evidence: Sequence[EvidenceMatch]) -> VerdictAssignment:
    """Give a claim its verdict. The order in which the evidence comes makes no difference.

    A contradiction decides; then the best match: full and above 0.85 supports; full and less
    similar is weak, for it is only probable, and so is partial. Hand in only what bears on the
    claim: by these rules any passage is at least weak support.
    """
    del claim  # the rules look at the evidence alone; the claim is part of the signature
    ordered = in_order(evidence)
    if not ordered:
        return VerdictAssignment(
            verdict=Verdict.NOT_FOUND,
            confidence=0.0,
            notes="No matching evidence found in provided documents",
        )
    contradiction = next((match for match in ordered if match.contradicts), None)
    if contradiction is not None:
        return VerdictAssignment(
            verdict=Verdict.CONTRADICTED,
            confidence=contradiction.similarity,
            notes=f'Evidence contradicts claim: "{one_line(contradiction.snippet)}"',
        )
    best = ordered[0]
    if best.support_level is SupportLevel.FULL and best.similarity > SUPPORTED_ABOVE:
        return VerdictAssignment(
            verdict=Verdict.SUPPORTED,
            confidence=best.similarity,
            notes=f'Directly supported by: "{one_line(best.snippet)}"',
        )
    if best.support_level is SupportLevel.PARTIAL or best.similarity <= SUPPORTED_ABOVE:
        is_full = best.support_level is SupportLevel.FULL
        return VerdictAssignment(
            verdict=Verdict.WEAK,
            confidence=best.similarity * WEAK_FACTOR,
            notes=f'Partially supported: "{one_line(best.snippet)}"',
            support=WeakSupport.PROBABLE if is_full else WeakSupport.PARTIAL,
        )
    return VerdictAssignment(
        verdict=Verdict.NOT_FOUND,
        confidence=0.0,
        notes="Evidence does not adequately support claim",
    )


def rests_on(verdict: Verdict, evidence: Sequence[EvidenceMatch]) -> list[EvidenceMatch]:
    """Return the matches that a verdict rests on, in their order."""
    match verdict:
        case Verdict.NOT_FOUND | Verdict.NOT_JUDGED:
            return []
        case Verdict.SUPPORTED:
            return [match for match in evidence if match.support_level is SupportLevel.FULL]
        case Verdict.CONTRADICTED:
            return [match for match in evidence if match.contradicts]
        case _:
            return list(evidence)


def in_order(evidence: Sequence[EvidenceMatch]) -> list[EvidenceMatch]:
    """Return the evidence best first: by similarity, then level, then text and place."""
    return sorted(
        evidence,
        key=lambda match: (
            -match.similarity,
            _LEVELS.index(match.support_level),
            match.snippet,
            match.passage.chunk_id if match.passage else "",
            match.passage.start if match.passage else 0,
            match.contradicts,
            match.judge,
            match.reason,
        ),
    )

"""What values are called in the viewer, in English: templates translate them by `label`."""

from typing import Final

from evidentia.server.translating import N_

LABELS: Final[dict[str, str]] = {
    # Verdicts
    "supported": N_("Supported"),
    "weak": N_("Weak"),
    "contradicted": N_("Contradicted"),
    "not_found": N_("Not found"),
    "not_judged": N_("Not judged"),
    # Why a claim is weak
    "probable": N_("Probable"),
    "partial": N_("Partial match"),
    "full": N_("Full support"),
    "none": N_("No support"),
    # Types and importance of claims
    "fact": N_("Fact"),
    "policy": N_("Policy"),
    "numeric": N_("Numeric"),
    "definition": N_("Definition"),
    "critical": N_("Critical"),
    "material": N_("Material"),
    "minor": N_("Minor"),
    # Risks
    "missing_evidence": N_("Missing evidence"),
    "contradiction": N_("Contradiction"),
    "outdated_source": N_("Outdated source"),
    "ambiguous_evidence": N_("Ambiguous evidence"),
    "conflicting_sources": N_("Conflicting sources"),
    "low_confidence": N_("Low confidence"),
    "high": N_("High"),
    "medium": N_("Medium"),
    "low": N_("Low"),
    # Roles
    "viewer": N_("Viewer"),
    "approver": N_("Approver"),
    "admin": N_("Admin"),
    "auditor": N_("Auditor"),
    "owner": N_("Owner"),
}
"""Words for values, by the values; one that is not here is shown as it is."""
MARKS: Final[dict[str, str]] = {
    "supported": "✓",
    "weak": "?",
    "contradicted": "✗",
    "not_found": "○",
    "not_judged": "!",
}
"""The mark of each verdict, so that colour is never alone."""
CONFIDENCES: Final[tuple[tuple[float, str, str], ...]] = (
    (0.85, "high", N_("High confidence")),
    (0.7, "good", N_("Good confidence")),
    (0.5, "moderate", N_("Moderate confidence")),
    (0.3, "low", N_("Low confidence")),
    (0.0, "very-low", N_("Very low confidence")),
)
"""From which confidence on a badge is which, and what it means."""


def badge_of(confidence: float) -> tuple[str, str]:
    """Return the badge of a confidence, which is read to the hundredth, and what it means."""
    read = round(confidence, 2)
    return next((kind, means) for least, kind, means in CONFIDENCES if read >= least)

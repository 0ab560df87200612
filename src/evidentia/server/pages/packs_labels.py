"""What the values and fields of packs are called on their pages, in English."""

from typing import Final

from evidentia.server.translating import N_

VALUES: Final[dict[str, str]] = {
    # What a review came to
    "approved": N_("Approved"),
    "rejected": N_("Rejected"),
    "awaiting review": N_("Awaiting review"),
    "no review needed": N_("No review needed"),
    # How weighty a decision is
    "A0": N_("A0: the agent acts by itself"),
    "A1": N_("A1: a manager may look at it afterwards"),
    "A2": N_("A2: a person must approve it first"),
    "A3": N_("A3: an executive or the board must approve it first"),
    "R0": N_("R0: undone at once, without a trace"),
    "R1": N_("R1: undone easily, within the system"),
    "R2": N_("R2: undone with effort, or at a cost"),
    "R3": N_("R3: cannot be undone"),
    "S0": N_("S0: public data"),
    "S1": N_("S1: internal data"),
    "S2": N_("S2: a customer's commercial data"),
    "S3": N_("S3: personal data"),
    "mandatory": N_("Mandatory"),
    "recommended": N_("Recommended"),
    "skip": N_("Not asked for"),
    # Tool calls
    "succeeded": N_("Succeeded"),
    "failed": N_("Failed"),
    "verified": N_("Verified"),
    "unverified": N_("Not verified"),
    "refuted": N_("Refuted"),
    "pending": N_("To be verified"),
    "contradicted": N_("Disputed"),
    # Why packs are kept, where no one gave a reason of their own
    "commercial records": N_("Commercial records"),
    "Saudi financial institutions": N_("Rules for Saudi financial institutions"),
}
"""Words for values, by the values."""
TONES: Final[dict[str, str]] = {
    "approved": "good",
    "rejected": "bad",
    "awaiting review": "warn",
    "verified": "good",
    "refuted": "bad",
    "contradicted": "bad",
    "failed": "bad",
}
"""The tone of a value's badge; it is plain if it is not here."""
FIELDS: Final[dict[str, str]] = {
    "review_outcome": N_("Outcome of the review"),
    "reviewer_id": N_("Reviewer"),
    "reviewed_at": N_("Reviewed"),
    "review_note": N_("Reason of the review"),
    "title_en": N_("Title, English"),
    "title_ar": N_("Title, Arabic"),
    "executive_summary_en": N_("Executive summary, English"),
    "executive_summary_ar": N_("Executive summary, Arabic"),
    "body_en": N_("Body, English"),
    "body_ar": N_("Body, Arabic"),
    "decision": N_("Decision"),
    "sources": N_("Evidence"),
    "tool_calls": N_("Tool call"),
    "tools_offered": N_("Tool that was offered"),
    "prompts": N_("Prompt"),
    "bundles": N_("Bundle"),
    "ledger": N_("Ledger"),
    "attachments": N_("Attachment"),
    "data_freshness_window_hours": N_("Age of sources at most, in hours"),
    "trace_id": N_("Trace"),
    "model": N_("Model"),
    "model_version": N_("Version of the model"),
}
"""What the fields of a pack are called; one that is not here is shown by its own name."""

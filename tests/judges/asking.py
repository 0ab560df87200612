"""Asks judges about one claim and the passages a test gives."""

from collections.abc import Sequence
from typing import Final

from evidentia.judges import make_judges
from evidentia.ledger.claims import extract_claims
from evidentia.ledger.judging import Judged, ask_judges
from evidentia.ledger.model import Claim, Passage, SourceDocument, Verdict
from evidentia.ledger.verdicts import assign_verdict

OF_WORDS: Final = ("quote", "numbers")
"""The judges that go by rules, and are asked here unless a test names others."""


def claim_of(text: str) -> Claim:
    """Return the only claim of an answer."""
    (claim,) = extract_claims(text).claims
    return claim


def passage_of(said: str, number: int = 0, *, heading: str = "", context: str = "") -> Passage:
    source = SourceDocument(
        id=f"doc_{number}", filename=f"{number}.pdf", heading_path=(heading,) if heading else None
    )
    return Passage(
        chunk_id=f"chunk_{number}",
        chunk_hash=f"{number}",
        snippet=said,
        start=0,
        end=len(said),
        context=context,
        source=source,
    )


def judged(
    claim: str,
    *said: str,
    judges: Sequence[str] = OF_WORDS,
    heading: str = "",
    context: str = "",
) -> Judged:
    passages = [
        passage_of(text, number, heading=heading, context=context)
        for number, text in enumerate(said)
    ]
    return ask_judges(claim_of(claim), passages, make_judges(judges))


def verdict(
    claim: str,
    *said: str,
    judges: Sequence[str] = OF_WORDS,
    heading: str = "",
    context: str = "",
) -> Verdict:
    """Return the verdict on a claim of one sentence against passages of one place each."""
    found = judged(claim, *said, judges=judges, heading=heading, context=context)
    return assign_verdict(claim_of(claim), found.matches).verdict

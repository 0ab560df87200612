"""The ledger's values: claims, evidence, verdicts, entries, risks. All frozen.

A ledger's JSON has the shape it was specified in; what was added later (the judge, the parts of a
confidence, the passages' places) stands beside it under names of its own.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Field

from evidentia.frozen import (
    FrozenDict,
    FrozenItems,
    FrozenList,
    FrozenModel,
    FrozenObject,
    LaterFields,
)
from evidentia.times import TimeText

Score = Annotated[float, Field(ge=0.0, le=1.0)]


class ClaimType(StrEnum):
    """What kind of statement a claim is."""

    FACT = "fact"
    POLICY = "policy"
    NUMERIC = "numeric"
    DEFINITION = "definition"


class Importance(StrEnum):
    """How much hangs on a claim."""

    CRITICAL = "critical"
    MATERIAL = "material"
    MINOR = "minor"


class Verdict(StrEnum):
    """Whether a claim holds by the documents; `not_judged` says that a judge failed."""

    SUPPORTED = "supported"
    WEAK = "weak"
    CONTRADICTED = "contradicted"
    NOT_FOUND = "not_found"
    NOT_JUDGED = "not_judged"


class WeakSupport(StrEnum):
    """Why a weak claim is weak.

    `probable`: the passages say all of it, and the judge is not sure enough. `partial`: something
    of it is missing from them, or they say it with a limit.
    """

    PROBABLE = "probable"
    PARTIAL = "partial"


class SupportLevel(StrEnum):
    """How far a passage supports a claim."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


class RiskType(StrEnum):
    """What can be wrong with relying on an answer."""

    MISSING_EVIDENCE = "missing_evidence"
    CONTRADICTION = "contradiction"
    OUTDATED_SOURCE = "outdated_source"
    AMBIGUOUS_EVIDENCE = "ambiguous_evidence"
    CONFLICTING_SOURCES = "conflicting_sources"
    LOW_CONFIDENCE = "low_confidence"


class Severity(StrEnum):
    """How much a risk weighs."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Claim(FrozenModel):
    """One statement of an answer that can be true or false.

    `source_text` is the answer's slice from `start` to `end` (code points); `text` is the same
    statement made to stand by itself: markup and citations left out, a pronoun replaced.
    """

    id: str
    text: str
    type: ClaimType = ClaimType.FACT
    importance: Importance = Importance.MATERIAL
    requires_citation: bool = True
    start: int = Field(default=0, ge=0)
    end: int = Field(default=0, ge=0)
    source_text: str = ""
    citations: FrozenItems[str] = FrozenList()


class SourceDocument(FrozenModel):
    """Where a passage stands."""

    id: str
    filename: str
    page_number: int | None = None
    heading_path: FrozenItems[str] | None = None


class Passage(FrozenModel):
    """A verbatim piece of a document: `snippet` is the page's text from `start` to `end`.

    `context` is the line before it that leads in the list it stands in.
    """

    chunk_id: str
    chunk_hash: str
    snippet: str
    page: int = Field(default=1, ge=1)
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    context: str = ""
    source: SourceDocument

    @property
    def heading(self) -> str:
        """The nearest heading above it; empty if it has none."""
        return self.source.heading_path[-1] if self.source.heading_path else ""


class Comparison(FrozenModel):
    """A value or a word of a claim, and what a passage has in its place.

    `claim_start` to `claim_end` is the place in the claim's text, `start` to `end` the place in
    the snippet (code points); the latter are None where the passage has nothing like it.
    """

    kind: str
    conflict: bool
    claim_start: int = Field(ge=0)
    claim_end: int = Field(ge=0)
    start: int | None = Field(default=None, ge=0)
    end: int | None = Field(default=None, ge=0)


class EvidenceMatch(FrozenModel):
    """What a judge says of one passage about one claim.

    `similarity` is the judge's calibrated probability that it is right. `says` is the value that
    the passage gives in place of the claim's, if it contradicts it by one. `compared` are the
    places of the claim and the snippet that were compared by rule.
    """

    similarity: Score
    support_level: SupportLevel
    contradicts: bool = False
    snippet: str
    passage: Passage | None = None
    judge: str = ""
    reason: str = ""
    says: str = ""
    compared: FrozenItems[Comparison] = FrozenList()

    @property
    def bears(self) -> bool:
        """Whether the passage says anything about the claim, for or against it."""
        return self.contradicts or self.support_level is not SupportLevel.NONE


class ConfidenceComponents(FrozenModel):
    """The parts of a confidence: how like, how many, how direct, how good a source."""

    semantic_similarity: Score
    evidence_count: int = Field(ge=0)
    directness: Score
    source_quality: Score


class VerdictAssignment(FrozenModel):
    """A verdict with its confidence and the sentence that explains it; if weak, also why."""

    verdict: Verdict
    confidence: Score
    notes: str
    support: WeakSupport | None = None


class LedgerEntry(LaterFields):
    """A claim with its verdict and the passage it rests on.

    `support_probability` is how likely it is that the documents support the claim, whatever the
    verdict; None if no judge says. `models` are the digests of the models that were asked, by the
    names of their judges. `support` says of a weak claim why it is weak, `nearest` of one that was
    not found which passage came nearest to it: no evidence, but where to look first.
    """

    later: ClassVar[tuple[str, ...]] = ("support", "nearest")

    id: str
    claim_id: str
    claim_text: str
    claim_type: ClaimType
    claim_importance: Importance
    verdict: Verdict
    confidence_score: Score
    evidence_chunk_ids: FrozenItems[str] = FrozenList()
    evidence_snippet: str = ""
    source_document: SourceDocument | None = None
    notes: str = ""
    judge: str = ""
    confidence_components: ConfidenceComponents | None = None
    component_confidence: Score | None = None
    evidence: FrozenItems[EvidenceMatch] = FrozenList()
    support_probability: Score | None = None
    models: FrozenObject = Field(default_factory=FrozenDict)
    support: WeakSupport | None = None
    nearest: Passage | None = None


class LedgerSummary(LaterFields):
    """A ledger in numbers; the counts of verdicts and of importances are `total_claims` each.

    `by_support` counts the weak claims by why they are weak; None in ledgers of the first form.
    """

    later: ClassVar[tuple[str, ...]] = ("by_support",)

    total_claims: int = Field(ge=0)
    by_verdict: FrozenObject
    by_importance: FrozenObject
    evidence_coverage: Score
    unsupported_rate: Score
    by_support: FrozenObject | None = None

    @classmethod
    def of(cls, entries: Sequence[LedgerEntry]) -> "LedgerSummary":
        """Count entries. Coverage is supported and weak over all, and 0 for an empty ledger."""
        total = len(entries)
        verdicts = [entry.verdict for entry in entries]
        importances = [entry.claim_importance for entry in entries]
        supports = [entry.support for entry in entries]
        covered = verdicts.count(Verdict.SUPPORTED) + verdicts.count(Verdict.WEAK)
        return cls(
            total_claims=total,
            by_verdict={verdict.value: verdicts.count(verdict) for verdict in Verdict},
            by_importance={level.value: importances.count(level) for level in Importance},
            evidence_coverage=covered / total if total else 0.0,
            unsupported_rate=(total - covered) / total if total else 0.0,
            by_support={why.value: supports.count(why) for why in WeakSupport},
        )


class RiskFlag(FrozenModel):
    """A risk of relying on the answer, and the claims it concerns."""

    id: str
    type: RiskType
    severity: Severity
    description: str
    affected_claim_ids: FrozenItems[str]
    mitigation: str | None = None


class CitationCheck(FrozenModel):
    """A citation in the answer: whether it leads anywhere, and whether that supports the claim."""

    claim_id: str
    label: str
    resolved: bool
    bears: bool
    problem: str | None = None


class EvidenceLedger(FrozenModel):
    """All claims of one answer with their verdicts, at one moment. A new run is a new ledger."""

    id: str
    session_id: str
    created_at: TimeText
    updated_at: TimeText
    entries: FrozenItems[LedgerEntry]
    summary: LedgerSummary
    risk_flags: FrozenItems[RiskFlag] = FrozenList()
    follow_up_questions: FrozenItems[str] = FrozenList()
    previous_ledger_id: str | None = None
    citations: FrozenItems[CitationCheck] = FrozenList()

"""Decisions: what an agent decided, how weighty it is, and whether that asks for a pack."""

from enum import StrEnum
from typing import Annotated, Any, Final, Self

from pydantic import Field, model_validator

from evidentia.canonical import digest
from evidentia.frozen import FrozenDict, FrozenItems, FrozenList, FrozenModel, FrozenObject
from evidentia.packs.clock import now
from evidentia.packs.fields import Excerpt, Name, Share
from evidentia.times import Time

LEAST_CONFIDENCE: Final = 0.7
"""Below it, a decision with high stakes must have a pack."""


class ApprovalClass(StrEnum):
    """Who must approve a decision before it takes effect."""

    A0 = "A0"
    """No one: the agent acts by itself."""
    A1 = "A1"
    """A manager may look at it afterwards."""
    A2 = "A2"
    """A person must approve it first."""
    A3 = "A3"
    """An executive or the board must approve it first."""

    @property
    def needs_review(self) -> bool:
        """Whether a person must approve first."""
        return self in (ApprovalClass.A2, ApprovalClass.A3)


class ReversibilityClass(StrEnum):
    """How a decision can be undone once it took effect."""

    R0 = "R0"
    """At once and without a trace."""
    R1 = "R1"
    """Easily, within the system."""
    R2 = "R2"
    """With effort, or at a cost."""
    R3 = "R3"
    """Not at all."""


class SensitivityClass(StrEnum):
    """How sensitive the data is that a decision rests on."""

    S0 = "S0"
    """Public."""
    S1 = "S1"
    """Internal."""
    S2 = "S2"
    """Commercial data of a customer."""
    S3 = "S3"
    """Personal data."""


class Tier(StrEnum):
    """How weighty a decision is: of tier A a pack is mandatory, of tier B recommended."""

    A = "A"
    B = "B"


class Requirement(StrEnum):
    """Whether a decision asks for a pack."""

    MANDATORY = "mandatory"
    RECOMMENDED = "recommended"
    SKIP = "skip"


class Evidence(FrozenModel):
    """Something that a decision rests on, as the agent hands it in.

    `source` is the system or document it is from, by name; `uri` or `reference` leads to it;
    `excerpt` is verbatim. `content` is the whole of what was retrieved, where it is at hand: its
    digest is worked out, and it can be attached. `confidence` is how far the agent relies on it.
    """

    source: Name
    uri: Name | None = None
    reference: Name | None = None
    excerpt: Excerpt
    content: str | None = None
    content_hash: str | None = None
    retrieved_at: Time | None = None
    confidence: Share | None = None

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Self:
        if self.uri is None and self.reference is None:
            raise ValueError("a source has a uri or a reference: neither is given")
        return self


class DecisionOutput(FrozenModel):
    """What an agent decided, on what evidence, and how weighty it is.

    `decision` says in a sentence what was decided, `decision_ar` the same in Arabic. `conflicted`
    marks a decision that no one may approve whose own agent made it. `requires_review` asks for a
    review that the approval class does not ask for; it cannot lift one.
    """

    decision_id: Name
    entity_id: Name
    tenant_id: Name
    agent_name: Name
    model: Name
    model_version: Name | None = None
    decision: str = ""
    decision_ar: str = ""
    approval_class: ApprovalClass
    reversibility_class: ReversibilityClass
    sensitivity_class: SensitivityClass
    confidence: Share
    high_stakes: bool = False
    requires_review: bool | None = None
    conflicted: bool = False
    evidence: FrozenItems[Evidence] = FrozenList()
    decided_at: Time = Field(default_factory=now)
    data_freshness_window_hours: Annotated[int, Field(gt=0)] | None = None
    metadata: FrozenObject = Field(default_factory=FrozenDict)

    @model_validator(mode="after")
    def _review_is_not_lifted(self) -> Self:
        if self.requires_review is False and self.approval_class.needs_review:
            raise ValueError(
                f"requires_review cannot be false: approval_class {self.approval_class.value} asks "
                "for a review; leave it out"
            )
        return self

    @property
    def needs_review(self) -> bool:
        """Whether the decision stays unresolved until a person has reviewed it."""
        return self.approval_class.needs_review or self.requires_review is True

    @property
    def sha256(self) -> str:
        """The digest of the decision's canonical JSON."""
        return digest(self.as_json())

    def as_json(self) -> dict[str, Any]:
        """Return the decision as a JSON object."""
        return self.model_dump(mode="json")


class PackRequirement(FrozenModel):
    """Whether a decision asks for a pack, and the rules that say so."""

    requirement: Requirement
    rules: FrozenItems[str]
    tier: Tier | None


def pack_requirement(decision: DecisionOutput) -> PackRequirement:
    """Say whether a decision asks for a pack: mandatory, recommended or skip."""
    mandatory = _mandatory(decision)
    if mandatory:
        return PackRequirement(requirement=Requirement.MANDATORY, rules=mandatory, tier=Tier.A)
    classes = (
        decision.approval_class.value,
        decision.reversibility_class.value,
        decision.sensitivity_class.value,
    )
    if classes == ("A0", "R0", "S0"):
        rules = ("routine: A0, R0 and S0",)
        return PackRequirement(requirement=Requirement.SKIP, rules=rules, tier=None)
    if decision.approval_class is ApprovalClass.A1:
        rules = ("approval_class is A1: a manager may want to audit it",)
    else:
        rules = (f"not routine: {', '.join(classes)}",)
    return PackRequirement(requirement=Requirement.RECOMMENDED, rules=rules, tier=Tier.B)


def _mandatory(decision: DecisionOutput) -> tuple[str, ...]:
    found: list[str] = []
    if decision.approval_class in (ApprovalClass.A2, ApprovalClass.A3):
        found.append(f"approval_class is {decision.approval_class.value}")
    if decision.reversibility_class is ReversibilityClass.R3:
        found.append("reversibility_class is R3")
    if decision.sensitivity_class is SensitivityClass.S3:
        found.append("sensitivity_class is S3")
    if decision.high_stakes and decision.confidence < LEAST_CONFIDENCE:
        found.append(f"confidence is {decision.confidence:g}, below 0.7, and the stakes are high")
    return tuple(found)

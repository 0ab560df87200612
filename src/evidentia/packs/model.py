"""Packs and what they are made of. A pack whose parts do not agree cannot be made or loaded.

The rules of a single field hold when a pack is made. What a pack still lacks before it can be
sealed is listed by `unmet`. The id follows from everything else that is in the pack.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from evidentia.canonical import canonical_json, derived_id, parse_json, sha256_hex
from evidentia.errors import CanonicalError, IntegrityError
from evidentia.frozen import FrozenItems, FrozenList, FrozenModel
from evidentia.ledger.model import LedgerSummary
from evidentia.packs.clock import now
from evidentia.packs.decision import (
    ApprovalClass,
    DecisionOutput,
    Requirement,
    ReversibilityClass,
    SensitivityClass,
    pack_requirement,
)
from evidentia.packs.fields import (
    AS_RECORDED,
    Excerpt,
    Name,
    Share,
    hours_between,
    is_recorded,
)
from evidentia.packs.memo import BilingualMemo
from evidentia.packs.tools import SECOND_FORM_STATUSES, ToolCallRecord
from evidentia.times import Time

if TYPE_CHECKING:
    from evidentia.packs.rules import Unmet

FIRST_FORM: Final = 1
SECOND_FORM: Final = 2
"""The forms of a pack; the second is for what the first does not know, and for nothing else."""
_TRACE = re.compile(r"[0-9a-f]{32}")


def _trace(given: Any, info: ValidationInfo) -> Any:
    """Return a trace's id as text where it is the number that OpenTelemetry's spans have."""
    is_number = type(given) is int and 0 < given < 1 << 128
    return f"{given:032x}" if is_number and not is_recorded(info) else given


def _is_trace(text: str) -> str:
    if not _TRACE.fullmatch(text):
        raise ValueError(
            f"{text[:40]!r} is no id of a trace: give the 32 hexadecimal digits of OpenTelemetry's"
        )
    return text


TraceId = Annotated[str, BeforeValidator(_trace), AfterValidator(_is_trace)]
"""The id of an OpenTelemetry trace, kept as 32 hexadecimal digits."""
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
PackId = Annotated[str, Field(pattern=r"^pack_[0-9a-f]{16}$")]


class EvidenceSource(FrozenModel):
    """Something that was consulted: where it is from, a verbatim excerpt, and how it is relied on.

    `content_hash` is the SHA-256 of all that was retrieved, written `sha256:` and 64 digits.
    """

    source: Name
    uri: Name | None = None
    reference: Name | None = None
    excerpt: Excerpt
    content_hash: str | None = None
    retrieved_at: Time | None = None
    confidence: Share | None = None

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Self:
        if self.uri is None and self.reference is None:
            raise ValueError("a source has a uri or a reference: neither is given")
        return self


def is_stale(source: EvidenceSource, decided_at: str, window_hours: int | None) -> bool:
    """Whether a source was older than the window when it was decided, as far as that is known."""
    if window_hours is None or source.retrieved_at is None:
        return False
    return hours_between(source.retrieved_at, decided_at) > window_hours


class PromptRecord(FrozenModel):
    """A prompt template that was used, by name and version, and the digest of its text."""

    template_name: Name
    template_version: Name
    content_hash: str | None = None


class DecisionSummary(FrozenModel):
    """What was decided and how weighty it is, as far as a reader of the pack must know."""

    decision: str = ""
    decision_ar: str = ""
    approval_class: ApprovalClass
    reversibility_class: ReversibilityClass
    sensitivity_class: SensitivityClass
    confidence: Share
    high_stakes: bool
    requirement: Requirement
    needs_review: bool
    conflicted: bool
    decided_at: Time
    decision_sha256: Digest

    @classmethod
    def of(cls, decision: DecisionOutput) -> "DecisionSummary":
        """Return the summary of a decision, which it names by its digest."""
        return cls(
            decision=decision.decision,
            decision_ar=decision.decision_ar,
            approval_class=decision.approval_class,
            reversibility_class=decision.reversibility_class,
            sensitivity_class=decision.sensitivity_class,
            confidence=decision.confidence,
            high_stakes=decision.high_stakes,
            requirement=pack_requirement(decision).requirement,
            needs_review=decision.needs_review,
            conflicted=decision.conflicted,
            decided_at=decision.decided_at,
            decision_sha256=decision.sha256,
        )


class BundleReference(FrozenModel):
    """A bundle that the model saw, by its id and digest."""

    bundle_id: Name
    bundle_sha256: Digest


class LedgerReference(FrozenModel):
    """The ledger of the answer that a decision rests on: id, digest of its statement, summary."""

    ledger_id: Name
    statement_sha256: Digest
    summary: LedgerSummary


class Attachment(FrozenModel):
    """A file that belongs to a pack; the lake has it under the digest of its bytes.

    `source` is the number of the source it is the content of, from 1.
    """

    name: Name
    media_type: Name = "application/octet-stream"
    sha256: Digest
    bytes: Annotated[int, Field(ge=0)]
    source: Annotated[int, Field(ge=1)] | None = None

    @property
    def key(self) -> str:
        """The attachment's key in the lake."""
        return f"sha256/{self.sha256[:2]}/{self.sha256[2:4]}/{self.sha256}"


class ReviewOutcome(StrEnum):
    """What a reviewer came to."""

    APPROVED = "approved"
    REJECTED = "rejected"


def _cited(sources: list[EvidenceSource]) -> list[EvidenceSource]:
    if not sources:
        raise ValueError("cite at least one source: prose alone is no evidence (prose_only)")
    return sources


class EvidencePack(FrozenModel):
    """Everything a stranger needs to follow one decision: basis, actions, review, in two languages.

    `sources` come with the weightiest first: the memo refers to the first three by number.
    `replaces` is the pack that this is a newer version of. `v` is the pack's form: it follows from
    what is in it.
    """

    pack_id: Annotated[str, Field(pattern=r"^(?:pack_[0-9a-f]{16})?$")] = ""
    v: Annotated[int, Field(ge=FIRST_FORM, le=SECOND_FORM)] = FIRST_FORM
    decision_id: Name
    entity_id: Name
    tenant_id: Name | None = None
    agent_name: Name
    model: Name
    model_version: Name | None = None
    decision: DecisionSummary | None = None
    sources: Annotated[FrozenItems[EvidenceSource], AfterValidator(_cited)]
    tool_calls: FrozenItems[ToolCallRecord] = FrozenList()
    tools_offered: FrozenItems[Name] = FrozenList()
    prompts: FrozenItems[PromptRecord] = FrozenList()
    bundles: FrozenItems[BundleReference] = FrozenList()
    ledger: LedgerReference | None = None
    attachments: FrozenItems[Attachment] = FrozenList()
    data_freshness_window_hours: Annotated[int, Field(gt=0)] | None = None
    reviewer_id: Name | None = None
    reviewed_at: Time | None = None
    review_outcome: ReviewOutcome | None = None
    review_note: str = ""
    memo: BilingualMemo
    trace_id: TraceId | None = None
    created_at: Time = Field(default_factory=now)
    version: Annotated[int, Field(ge=1)] = 1
    replaces: PackId | None = None

    @model_validator(mode="after")
    def _parts_agree(self, info: ValidationInfo) -> Self:
        for problem in _contradictions(self):
            raise ValueError(f"the pack's parts do not agree: {problem}")
        form = _form(self)
        if is_recorded(info):  # who reads it has the bytes that the id follows from
            if self.v != form:
                raise ValueError(f"its v is {self.v}, and a pack with what it holds has {form}")
            return self
        object.__setattr__(self, "v", form)
        derived = self.derived_id()
        if self.pack_id not in ("", derived):
            raise ValueError(_other_id(derived))
        object.__setattr__(self, "pack_id", derived)
        return self

    def derived_id(self) -> str:
        """Return the id that follows from the pack's content; it is `pack_id`."""
        return derived_id("pack", self.model_dump(mode="json", exclude={"pack_id"}))

    @property
    def needs_review(self) -> bool:
        """Whether a person must review the decision."""
        return self.decision is not None and self.decision.needs_review

    @property
    def is_resolved(self) -> bool:
        """Whether nothing is open: no review is needed, or there was one."""
        return self.reviewer_id is not None or not self.needs_review

    @property
    def stale_sources(self) -> list[int]:
        """The numbers of the sources, from 1, that were too old when it was decided."""
        window = self.data_freshness_window_hours
        decided = self.decision.decided_at if self.decision else self.created_at
        numbered = enumerate(self.sources, start=1)
        return [number for number, source in numbered if is_stale(source, decided, window)]

    @property
    def contradictions(self) -> list[ToolCallRecord]:
        """The tool calls that did not do what was meant, or may not have."""
        return [call for call in self.tool_calls if call.contradiction_flag]

    def unmet(self, recorded: Sequence[ToolCallRecord] = ()) -> "list[Unmet]":
        """Return what the pack lacks before it can be sealed; nothing if it can be.

        `recorded` are the tool calls of its decision: none of them may be missing.
        """
        from evidentia.packs.rules import unmet  # noqa: PLC0415 - the rules know packs

        return unmet(self, recorded)

    @property
    def sha256(self) -> str:
        """The digest of the pack's canonical JSON."""
        return sha256_hex(self.encode())

    def as_json(self) -> dict[str, Any]:
        """Return the pack as a JSON object."""
        return self.model_dump(mode="json")

    def encode(self) -> bytes:
        """Return the pack's canonical JSON: the bytes that are signed and kept."""
        return canonical_json(self.as_json())

    @classmethod
    def parse(cls, data: bytes) -> "EvidencePack":
        """Read a pack; raise `IntegrityError` saying what is wrong with it, and where.

        What was worked out when it was made, and the limits of its memo, are taken as recorded.
        """
        try:
            value = parse_json(data)
        except CanonicalError as error:
            raise IntegrityError(f"the pack cannot be read: {error}") from None
        return cls.from_json(value)

    @classmethod
    def from_json(cls, value: Any) -> "EvidencePack":
        """Read a pack from its JSON value; raise `IntegrityError` if it is none, or was changed."""
        try:
            pack = cls.model_validate(value, context=AS_RECORDED)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            said = first["msg"].removeprefix("Value error, ")
            raise IntegrityError(f"not a pack: {f'{where}: ' if where else ''}{said}") from None
        if not isinstance(value, dict) or canonical_json(value) != pack.encode():
            raise IntegrityError("not a pack as it is written: it lacks fields, or was changed")
        derived = derived_id("pack", {name: value[name] for name in value if name != "pack_id"})
        if pack.pack_id != derived:
            raise IntegrityError(f"not a pack: {_other_id(derived)}")
        return pack


def _form(pack: EvidencePack) -> int:
    calls = pack.tool_calls
    second = any(call.verification_status in SECOND_FORM_STATUSES for call in calls)
    return SECOND_FORM if second else FIRST_FORM


def _other_id(derived: str) -> str:
    return (
        f"the pack's id follows from its content: it is {derived}; a change is a newer version "
        "(edited_in_place)"
    )


def _contradictions(pack: EvidencePack) -> list[str]:
    """Say what in a pack cannot be so, given the rest of it."""
    found: list[str] = []
    if (pack.reviewer_id is None) != (pack.reviewed_at is None):
        found.append("a review has a reviewer_id and a reviewed_at, or neither")
    if pack.review_outcome and pack.reviewer_id is None:
        found.append("there is a review_outcome and no review")
    if pack.review_note and pack.reviewer_id is None:
        found.append("there is a review_note and no review")
    if (pack.version == 1) != (pack.replaces is None):
        found.append("version 1 replaces no pack, and every later version replaces one")
    names = [one.name for one in pack.attachments]
    found += [f"two attachments are called {name!r}" for name in names if names.count(name) > 1]
    found += [
        f"{one.name} is of source {one.source}, which is not there"
        for one in pack.attachments
        if one.source is not None and one.source > len(pack.sources)
    ]
    return found

"""What became of each input: decisions, step by step, and the accounts that they add up to."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import ConfigDict, Field

from evidentia.canonical import canonical_json, canonical_row, join_members
from evidentia.frozen import FrozenItems, FrozenList, FrozenModel

_NUMBER: Final = "(?:0|[1-9][0-9]*)"
_HASHED: Final = f"(?:lake|sql|doc|transcript):[0-9a-f]{{12,64}}:{_NUMBER}"
EvidenceId = Annotated[
    str,
    Field(
        pattern=f"^(?:inline:{_NUMBER}|{_HASHED}|{_HASHED}:{_NUMBER}-{_NUMBER}"
        "|sqldef:[0-9a-f]{12,64})$"
    ),
]
_OF_THE_WHOLE: Final = ("max_items:", "max_total_bytes:", "max_total_tokens:")
"""How the reasons begin for which an input is dropped that would fit by itself."""
Size = Annotated[int, Field(strict=True, ge=0)]


class EvidenceType(StrEnum):
    """What kind of source an item comes from."""

    INLINE_TEXT = "inline_text"
    LAKE_TEXT = "lake_text"
    LAKE_HTTP = "lake_http"
    SQL_RESULT = "sql_result"
    SQL_QUERY_DEF = "sql_query_def"
    DOC_CHUNK = "doc_chunk"
    TRANSCRIPT_CHUNK = "transcript_chunk"


class Outcome(StrEnum):
    """What became of an input; of several things done to it, the gravest: they stand in order."""

    KEPT = "kept"
    REDACTED = "redacted"
    SAMPLED = "sampled"
    TRUNCATED = "truncated"
    FAILED = "failed"
    DROPPED = "dropped"


_GRAVITY: Final = {outcome: rank for rank, outcome in enumerate(Outcome)}
_WRITTEN: Final = {one: one.value for one in (*EvidenceType, *Outcome)}
"""Looked up, an enum's value takes a fraction of the time."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was done to an input, why, and its size before and after."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    done: Outcome
    reason: str
    before_bytes: Size
    after_bytes: Size


@dataclass(frozen=True, slots=True)
class InputFate:
    """What became of one input, step by step.

    `origin` says where the caller named it, `source` what it is: a path, a key, an address. The
    artifact is what it was loaded from, where that is in the lake.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    evidence_id: EvidenceId
    evidence_type: EvidenceType
    origin: str
    source: str
    outcome: Outcome
    input_bytes: Size
    bundle_bytes: Size
    steps: tuple[Step, ...] = ()
    artifact_uri: str | None = None
    artifact_sha256: str | None = None

    def problem(self) -> str | None:
        """Return what in this decision cannot be so, or None."""
        size = self.input_bytes
        for step in self.steps:
            if step.done is Outcome.KEPT or step.before_bytes != size:
                return "its steps do not follow from each other"
            size = step.after_bytes
        if self.outcome is not gravest(self.steps) or size != self.bundle_bytes:
            return "its outcome is not that of its steps"
        if self.outcome is Outcome.DROPPED and size:
            return "something of what was dropped is left"
        return None

    def as_json(self) -> dict[str, Any]:
        """Return the decision as a JSON object; without an artifact, it says nothing of one."""
        written = {
            "evidence_id": self.evidence_id,
            "evidence_type": _WRITTEN[self.evidence_type],
            "origin": self.origin,
            "source": self.source,
            "outcome": _WRITTEN[self.outcome],
            "input_bytes": self.input_bytes,
            "bundle_bytes": self.bundle_bytes,
            "steps": [
                {
                    "done": _WRITTEN[step.done],
                    "reason": step.reason,
                    "before_bytes": step.before_bytes,
                    "after_bytes": step.after_bytes,
                }
                for step in self.steps
            ],
        }
        if self.artifact_uri is not None:
            written["artifact_uri"] = self.artifact_uri
            written["artifact_sha256"] = self.artifact_sha256
        return written


def gravest(steps: Sequence[Step]) -> Outcome:
    """Return what becomes of an input by what was done to it."""
    return max((step.done for step in steps), key=_GRAVITY.__getitem__, default=Outcome.KEPT)


@dataclass(frozen=True, slots=True)
class LostKind:
    """A kind of evidence of which a bundle has nothing, because its limit left no room."""

    evidence_type: EvidenceType
    count: int
    limit: str


class Accounting(FrozenModel):
    """Every input and what became of it: the counts add up to the inputs."""

    inputs: Size
    kept: Size
    redacted: Size
    sampled: Size
    truncated: Size
    dropped: Size
    failed: Size
    input_bytes: Size
    bundle_bytes: Size
    decisions: FrozenItems[InputFate] = FrozenList()

    @classmethod
    def of(cls, decisions: Sequence[InputFate]) -> Self:
        """Count decisions."""
        counts = Counter(decision.outcome for decision in decisions)
        return cls(
            inputs=len(decisions),
            **{outcome.value: counts[outcome] for outcome in Outcome},
            input_bytes=sum(decision.input_bytes for decision in decisions),
            bundle_bytes=sum(decision.bundle_bytes for decision in decisions),
            decisions=tuple(decisions),
        )

    def counts(self) -> dict[str, int]:
        """Return how many inputs came out how, by outcome."""
        return {outcome.value: getattr(self, outcome.value) for outcome in Outcome}

    def encode(self) -> bytes:
        """Return the accounting's canonical JSON; decision by decision, there may be many."""
        counts = self.model_dump(mode="json", exclude={"decisions"})
        decisions = b",".join(canonical_row(one.as_json()) for one in self.decisions)
        parts = {name: canonical_json(value) for name, value in counts.items()}
        return join_members({**parts, "decisions": b"[%s]" % decisions})


def lost_kinds(accounting: Accounting) -> list[LostKind]:
    """Return the kinds of which all inputs were dropped to keep the bundle's own limits."""
    last: dict[EvidenceType, list[str | None]] = {}
    for one in accounting.decisions:
        why = one.steps[-1].reason if one.outcome is Outcome.DROPPED else None
        last.setdefault(one.evidence_type, []).append(why)
    return [
        LostKind(kind, len(reasons), reasons[0])
        for kind, reasons in last.items()
        if reasons[0] is not None
        and reasons[0].startswith(_OF_THE_WHOLE)
        and len(set(reasons)) == 1
    ]

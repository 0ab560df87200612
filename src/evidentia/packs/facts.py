"""What a memo is written from: plain facts, checked once, and cut to the room that a memo has."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from evidentia.errors import InputError
from evidentia.language.graphemes import boundary_before
from evidentia.language.wording import date_en, quotable
from evidentia.packs.decision import ApprovalClass, ReversibilityClass, SensitivityClass
from evidentia.packs.memo import MAX_SUMMARY_WORDS, first_words, word_count

CallOutcome = Literal["succeeded", "failed"]
ReviewResult = Literal["approved", "rejected"]


@dataclass(frozen=True, slots=True)
class Room:
    """How much of a text from outside a memo has room for."""

    words: int
    characters: int


NAME: Final = Room(5, 60)
SOURCE_NAME: Final = Room(8, 80)
EFFECT_TEXT: Final = Room(12, 120)
TITLE: Final = Room(20, 160)
DECISION: Final = Room(60, 600)
MOST_SOURCES: Final = 10
"""How many sources a memo names; it counts the rest."""
MOST_EFFECTS: Final = 5
MOST_TOOLS: Final = 3
_DECISION_IN_SUMMARY: Final = 40
_LEAD_IN: Final = 6
"""The words, at most, that a draft puts before the decision that it quotes."""


def brief(text: str, room: Room) -> str:
    """Return a text from outside as a memo may quote it; what is cut ends with an ellipsis."""
    whole = quotable(text)
    kept = first_words(whole[: boundary_before(whole, room.characters)], room.words)
    return whole if kept == whole else f"{kept.rstrip()}…"


def room_for_decision(rest: str) -> Room:
    """Return what a summary has room for beside the rest of it."""
    left = MAX_SUMMARY_WORDS - word_count(rest) - _LEAD_IN
    return Room(min(left, _DECISION_IN_SUMMARY), 400)


@dataclass(frozen=True, slots=True)
class MemoEvidence:
    """A source as a memo needs it; the draft names it, and never quotes its excerpt."""

    name: str
    reference: str = ""
    excerpt: str = ""
    confidence: float | None = None
    is_stale: bool = False

    @property
    def known_as(self) -> str:
        """The source's name as a memo has it, or its reference; empty if it has neither."""
        return brief(self.name, SOURCE_NAME) or brief(self.reference, SOURCE_NAME)

    def __post_init__(self) -> None:
        _check_share("an evidence item's confidence", self.confidence)


@dataclass(frozen=True, slots=True)
class MemoToolCall:
    """A call of a tool as a memo needs it.

    `contradiction` says that what was done is not what was intended, or cannot be shown to be.
    """

    tool_name: str
    outcome: CallOutcome = "succeeded"
    contradiction: bool = False
    side_effects: Sequence[str] = ()

    def __post_init__(self) -> None:
        _check_choice("a tool call's outcome", self.outcome, get_args(CallOutcome))


@dataclass(frozen=True, slots=True)
class MemoClaims:
    """How many claims came to which verdict."""

    supported: int = 0
    weak: int = 0
    contradicted: int = 0
    not_found: int = 0
    not_judged: int = 0

    def __post_init__(self) -> None:
        if min(self._counts) < 0:
            raise InputError("the counts of claims must be 0 or more")

    @property
    def total(self) -> int:
        """How many claims there are."""
        return sum(self._counts)

    @property
    def _counts(self) -> tuple[int, ...]:
        return (self.supported, self.weak, self.contradicted, self.not_found, self.not_judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoFacts:
    """What a memo is written from. A fact that cannot be is an `InputError`.

    `evidence` comes with the weightiest first. What has no title gets one; what is said in one
    language alone is quoted in the other. `claims` is None if no claims were checked, and
    `freshness_hours` is None if no window was set.
    """

    decision_en: str
    entity_id: str
    agent_name: str
    model: str
    decided_at: str
    approval_class: str
    reversibility_class: str
    sensitivity_class: str
    title_en: str = ""
    title_ar: str = ""
    decision_ar: str = ""
    confidence: float | None = None
    high_stakes: bool = False
    evidence: tuple[MemoEvidence, ...] = ()
    tool_calls: tuple[MemoToolCall, ...] = ()
    claims: MemoClaims | None = None
    needs_review: bool = False
    reviewer: str = ""
    review_outcome: ReviewResult | None = None
    freshness_hours: int | None = None

    def __post_init__(self) -> None:
        date_en(self.decided_at)
        _check_choice("approval_class", self.approval_class, tuple(ApprovalClass))
        _check_choice("reversibility_class", self.reversibility_class, tuple(ReversibilityClass))
        _check_choice("sensitivity_class", self.sensitivity_class, tuple(SensitivityClass))
        _check_share("confidence", self.confidence)
        if self.review_outcome is not None:
            _check_choice("review_outcome", self.review_outcome, get_args(ReviewResult))
        if self.freshness_hours is not None and self.freshness_hours < 1:
            raise InputError(f"freshness_hours: {self.freshness_hours} is not 1 or more")

    @property
    def stale(self) -> tuple[int, ...]:
        """The numbers of the sources that were too old, from 1."""
        return tuple(at for at, item in enumerate(self.evidence, start=1) if item.is_stale)

    @property
    def failed(self) -> tuple[MemoToolCall, ...]:
        """The calls that failed."""
        return tuple(call for call in self.tool_calls if call.outcome == "failed")

    @property
    def contradicting(self) -> tuple[MemoToolCall, ...]:
        """The calls that did not do what was intended, or cannot be shown to have done it."""
        return tuple(call for call in self.tool_calls if call.contradiction)

    @property
    def side_effects(self) -> tuple[str, ...]:
        """What the calls brought about, in their order."""
        return tuple(effect for call in self.tool_calls for effect in call.side_effects)

    @property
    def names_effects(self) -> bool:
        """Whether side effects are told one by one: not where personal data could be in them."""
        return self.sensitivity_class != SensitivityClass.S3


def _check_share(what: str, value: float | None) -> None:
    if value is not None and not 0 <= value <= 1:
        raise InputError(f"{what}: {value} is not from 0 to 1")


def _check_choice(what: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InputError(f"{what}: {value[:40]!r} is none of {', '.join(allowed)}")

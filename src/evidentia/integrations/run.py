"""A run: what a program's model was given, was asked, called and answered, as frozen values.

Whatever framework a program is written with, what it does comes down to these. An id is derived
from what it names, so the same run has the same ids wherever it is made. What was cut, dropped or
not seen on the way stands in `losses`: a run without any is whole.
"""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, PlainSerializer, model_validator

from evidentia.canonical import canonical_json, sha256_hex
from evidentia.frozen import (
    FrozenDict,
    FrozenItems,
    FrozenList,
    FrozenModel,
    FrozenObject,
    freeze,
    thaw,
)
from evidentia.packs.decision import ApprovalClass, ReversibilityClass, SensitivityClass
from evidentia.packs.fields import MAX_ACTION, Name, Share, Told
from evidentia.packs.model import TraceId
from evidentia.times import Time

_ID_DIGITS: Final = 32

Value = Annotated[Any, AfterValidator(freeze), PlainSerializer(thaw)]
"""Any JSON value, frozen."""
Reason = Literal[
    "too_large",
    "not_json",
    "queue_full",
    "too_many",
    "unfinished",
    "not_seen",
    "failed",
    "conflicting",
    "redacted",
]


class Loss(FrozenModel):
    """Something that happened in a run and is not in it, or not whole: what, why, and how much.

    `count` is how many of it; `bytes` is the size of what is missing, where that is known.
    `call_id` is that of a call which was asked for and not seen.
    """

    what: Name
    why: Reason
    count: Annotated[int, Field(ge=1)] = 1
    bytes: Annotated[int, Field(ge=0)] | None = None
    detail: str = ""
    call_id: Name | None = None


class ModelCall(FrozenModel):
    """One request to a model, and what came back.

    `messages` are the request's to the letter, as JSON (a list, or the text that was sent as
    input); `instructions` are what was sent beside them (`system`, `instructions`). `request` has
    the other parameters, `tools` what was offered. `response` is the message that came back.
    """

    kind: Literal["model"] = "model"
    call_id: Name
    provider: Name
    model: Name
    messages: Value
    instructions: Value = None
    tools: Value = FrozenList()
    request: FrozenObject = Field(default_factory=FrozenDict)
    response: Value = None
    usage: FrozenObject = Field(default_factory=FrozenDict)
    error: str | None = None
    started_at: Time | None = None
    ended_at: Time | None = None


class Effect(FrozenModel):
    """What a tool says that it did, where that is more than its result.

    `name` and `arguments` are what was carried out; one that is left out is as it was called.
    `action` is the tool's own sentence for it. `side_effects` are what it changed, in words.
    """

    name: Name | None = None
    arguments: FrozenObject | None = None
    action: Annotated[str, Field(max_length=MAX_ACTION)] | None = None
    side_effects: FrozenItems[Told] = FrozenList()


class ToolCall(FrozenModel):
    """One call of a tool: what the model asked for, and what was done.

    `arguments` are those the model gave; `intended`, a sentence for them, may be given by the
    program. `effect` is what was done, if the tool or the program says so.
    """

    kind: Literal["tool"] = "tool"
    call_id: Name
    name: Name
    arguments: Value = Field(default_factory=FrozenDict)
    intended: Told | None = None
    result: Value = None
    effect: Effect | None = None
    error: str | None = None
    started_at: Time | None = None
    ended_at: Time | None = None


class Retrieval(FrozenModel):
    """One question to a retriever, and the passages it gave: texts, or objects with a `text`.

    A context is what `ws.check(…, contexts=…)` takes, as JSON.
    """

    kind: Literal["retrieval"] = "retrieval"
    call_id: Name
    name: Name = "retriever"
    query: str = ""
    contexts: Annotated[list[Any], AfterValidator(freeze), PlainSerializer(thaw)] = FrozenList()
    error: str | None = None
    started_at: Time | None = None
    ended_at: Time | None = None


Event = Annotated[ModelCall | ToolCall | Retrieval, Field(discriminator="kind")]
"""What happens in a run."""


class Decided(FrozenModel):
    """What the run decided, and how weighty it is; the evidence for it is the run's own.

    `confidence` is how far the program relies on its decision. Without `decision_id`, one is
    derived from the run; without `entity_id`, the decision is about the run's session or name.
    """

    decision: Name
    decision_ar: str = ""
    approval_class: ApprovalClass
    reversibility_class: ReversibilityClass = ReversibilityClass.R1
    sensitivity_class: SensitivityClass = SensitivityClass.S1
    confidence: Share
    high_stakes: bool = False
    entity_id: Name | None = None
    decision_id: Name | None = None
    relied_on: Share | None = None
    """How far it relies on each passage; as far as on the decision, if this is left out."""
    decided_at: Time | None = None


class Citation(FrozenModel):
    """What an answer cites, as the model's API says it: which characters, and of what source."""

    start: Annotated[int, Field(ge=0)] | None = None
    end: Annotated[int, Field(ge=0)] | None = None
    source: Name
    quote: str = ""


class Run(FrozenModel):
    """A finished run of a program: its events in order, its answer, and what it decided."""

    name: Name
    trace_id: TraceId | None = None
    session: Name | None = None
    query: str = ""
    events: FrozenItems[Event] = FrozenList()
    answer: str | None = None
    citations: FrozenItems[Citation] = FrozenList()
    decision: Decided | None = None
    check: bool | None = None
    """Whether the answer is to be checked; None leaves it to the policy."""
    agent: Name | None = None
    """Who decides in it; the run's name, if this is left out."""
    error: str | None = None
    started_at: Time | None = None
    ended_at: Time | None = None
    losses: FrozenItems[Loss] = FrozenList()

    @model_validator(mode="after")
    def _calls_have_their_own_ids(self) -> Self:
        _refuse_repeated(self.events)
        return self

    @property
    def run_id(self) -> str:
        """The run's id, derived from all that it is: `run_` and 32 hexadecimal digits."""
        return f"run_{_digest(self)}"

    @property
    def decision_id(self) -> str | None:
        """The id of the decision: its own, or one derived from the run's."""
        if self.decision is None:
            return None
        return self.decision.decision_id or f"dec_{self.run_id.removeprefix('run_')}"

    @property
    def model_calls(self) -> tuple[ModelCall, ...]:
        """The requests to models, in order."""
        return tuple(event for event in self.events if isinstance(event, ModelCall))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls of tools, in order."""
        return tuple(event for event in self.events if isinstance(event, ToolCall))

    @property
    def retrievals(self) -> tuple[Retrieval, ...]:
        """What was retrieved, in order."""
        return tuple(event for event in self.events if isinstance(event, Retrieval))


class Addendum(FrozenModel):
    """What was learned of a run after it had been recorded: more events, more losses.

    `decision_id` is that of the run, if it decided something: late calls belong to it as well.
    """

    run_id: Annotated[str, Field(pattern=r"^run_[0-9a-f]{32}$")]
    trace_id: TraceId | None = None
    decision_id: Name | None = None
    events: FrozenItems[Event] = FrozenList()
    losses: FrozenItems[Loss] = FrozenList()

    @model_validator(mode="after")
    def _calls_have_their_own_ids(self) -> Self:
        _refuse_repeated(self.events)
        if not self.events and not self.losses:
            raise ValueError("an addendum has events or losses: it has neither")
        return self

    @property
    def addendum_id(self) -> str:
        """The addendum's id, derived from all that it is: `add_` and 32 hexadecimal digits."""
        return f"add_{_digest(self)}"


def _refuse_repeated(events: list[Any]) -> None:
    seen: set[tuple[str, str]] = set()
    for event in events:
        if (event.kind, event.call_id) in seen:
            raise ValueError(f"two events of kind {event.kind} have the call_id {event.call_id!r}")
        seen.add((event.kind, event.call_id))


def _digest(value: FrozenModel) -> str:
    return sha256_hex(canonical_json(value.model_dump(mode="json")))[:_ID_DIGITS]

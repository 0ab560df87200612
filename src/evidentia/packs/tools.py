"""Tool calls: what a tool was meant to do and what it did, failures as well as successes."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field, ValidationInfo, model_validator

from evidentia.canonical import canonical_json, sha256_hex
from evidentia.frozen import FrozenDict, FrozenItems, FrozenList, FrozenModel, FrozenObject
from evidentia.packs.actions import ActionComparison, Basis, compare_actions
from evidentia.packs.fields import AS_RECORDED, MAX_ACTION, Name, Told, is_recorded
from evidentia.times import Time

Action = Annotated[str, Field(max_length=MAX_ACTION)]


class ToolOutcome(StrEnum):
    """How a call ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"


class VerificationStatus(StrEnum):
    """Whether it was looked at if a tool did what its record says."""

    VERIFIED = "verified"
    """It was checked, and is so: the record was read back, or someone looked."""
    UNVERIFIED = "unverified"
    """Nobody and nothing checked."""
    REFUTED = "refuted"
    """It was checked, and is not so."""
    PENDING = "pending"
    """It is to be checked, and is not yet."""
    CONTRADICTED = "contradicted"
    """Something else says otherwise, and nobody has settled yet which is so."""
    FAILED = "failed"
    """The call failed: there is nothing to check."""


SECOND_FORM_STATUSES: Final = frozenset(
    {VerificationStatus.PENDING, VerificationStatus.CONTRADICTED}
)
"""What the first form of packs does not know: a pack with such a call is of the second."""


class ToolCallRecord(FrozenModel):
    """One call of a tool. Whether what was done is what was meant is worked out, never told.

    That is done once, when the record is made; what was recorded is read as it is, with `recorded`.

    `contradiction_flag` may be given as true where a person sees a contradiction; it cannot be
    given as false where there is one. `contradiction_basis` is `undecided` where the two actions
    cannot be compared by rules: that is flagged, too.
    """

    tool_name: Name
    intended_action: Told
    actual_action: Action
    inputs: FrozenObject = Field(default_factory=FrozenDict)
    outputs: FrozenObject = Field(default_factory=FrozenDict)
    side_effects: FrozenItems[Told] = FrozenList()
    outcome: ToolOutcome = ToolOutcome.SUCCEEDED
    error: str | None = None
    verification_status: VerificationStatus = VerificationStatus.UNVERIFIED
    contradiction_flag: bool = False
    contradiction_basis: Basis = Basis.SAME
    contradiction_reason: str = ""
    called_at: Time | None = None
    duration_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _compare(cls, given: Any, info: ValidationInfo) -> Any:
        if is_recorded(info):
            return given
        match given:
            case {"intended_action": str(intended), "actual_action": str(actual)}:
                return _compared(given, intended, actual)
        return given  # what is wrong with it is said field by field

    @model_validator(mode="after")
    def _failure_has_its_error(self) -> "ToolCallRecord":
        failed = self.outcome is ToolOutcome.FAILED
        if failed and not (self.error or "").strip():
            raise ValueError("a call that failed has an error: say what went wrong")
        if not failed and (self.error or self.verification_status is VerificationStatus.FAILED):
            raise ValueError(
                "a call with an error, or a verification_status of failed, has failed: "
                "set outcome to failed"
            )
        return self

    @model_validator(mode="after")
    def _flag_goes_with_its_basis(self) -> "ToolCallRecord":
        if self.contradiction_flag == (self.contradiction_basis is Basis.SAME):
            raise ValueError(
                "contradiction_flag and contradiction_basis disagree: a call is flagged if, and "
                "only if, its basis is not same"
            )
        return self

    @classmethod
    def recorded(cls, value: Any) -> "ToolCallRecord":
        """Read a record as it was made, whatever the rules for comparing actions are by now."""
        return cls.model_validate(value, context=AS_RECORDED)

    def compared(self) -> ActionComparison:
        """Compare what was meant and what was done, by the rules as they are now."""
        failed = self.outcome is ToolOutcome.FAILED
        return compare_actions(self.intended_action, self.actual_action, failed=failed)

    def departure(self) -> str | None:
        """Say in what the record is not as one that is made now could be; None if it is."""
        found = self.compared()
        if found.contradiction and not self.contradiction_flag:
            return f"contradiction_flag cannot be switched off: {found.reason}"
        told = (self.contradiction_basis, self.contradiction_reason)
        if self.contradiction_flag and not found.contradiction:  # who flagged it says why
            found = replace(found, basis=Basis.DIFFERENT, reason=told[1])
        if told != (found.basis, found.reason):
            return "contradiction_basis and contradiction_reason are worked out: leave them out"
        return None

    @property
    def sha256(self) -> str:
        """The digest of the record's canonical JSON."""
        return sha256_hex(canonical_json(self.model_dump(mode="json")))


def _compared(given: Mapping[str, Any], intended: str, actual: str) -> dict[str, Any]:
    failed = given.get("outcome", ToolOutcome.SUCCEEDED) == ToolOutcome.FAILED
    found = compare_actions(intended[:MAX_ACTION], actual[:MAX_ACTION], failed=failed)
    flag = given.get("contradiction_flag")
    if not isinstance(flag, bool | None):
        raise ValueError("contradiction_flag is true or false, or left out")  # noqa: TRY004 - pydantic turns ValueError alone into its own
    if flag is False and found.contradiction:
        raise ValueError(f"contradiction_flag cannot be switched off: {found.reason}")
    seen = flag is True and not found.contradiction
    return {
        **given,
        "contradiction_flag": found.contradiction or flag is True,
        "contradiction_basis": Basis.DIFFERENT if seen else found.basis,
        "contradiction_reason": given.get("contradiction_reason") or found.reason
        if seen
        else found.reason,
    }


class ToolVerificationLedger:
    """The calls of tools by the decisions they were made for, in order; only ever added to."""

    def __init__(self) -> None:
        self._calls: defaultdict[str, list[ToolCallRecord]] = defaultdict(list)
        self._offered: defaultdict[str, dict[str, None]] = defaultdict(dict)

    def record(self, decision_id: str, call: ToolCallRecord) -> None:
        """Add a call that was made for a decision."""
        self._calls[decision_id].append(call)

    def offer(self, decision_id: str, *tools: str) -> None:
        """Note tools that the agent could have used for a decision."""
        self._offered[decision_id].update(dict.fromkeys(tools))

    def calls(self, decision_id: str) -> list[ToolCallRecord]:
        """Return the calls of a decision, failures too, in the order in which they were made."""
        return list(self._calls.get(decision_id, ()))

    def offered(self, decision_id: str) -> list[str]:
        """Return the tools that were offered for a decision, in the order of the offers."""
        return list(self._offered.get(decision_id, ()))

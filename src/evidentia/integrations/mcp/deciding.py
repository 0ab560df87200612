"""The tool by which an agent records what it decided, before it acts on it."""

from typing import Annotated, Any, Final, Literal

from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evidentia.canonical import digest
from evidentia.errors import ConflictError, InputError
from evidentia.frozen import first_problem
from evidentia.integrations.mcp.asking import Asker
from evidentia.integrations.mcp.checking import Name
from evidentia.integrations.mcp.offering import RECORDS_ONCE, offered
from evidentia.integrations.mcp.results import RecordedDecision
from evidentia.integrations.mcp.showing import Text, told
from evidentia.packs.decision import DecisionOutput, PackRequirement
from evidentia.workspace import Workspace

MOST_SOURCES: Final = 50
_ID_LETTERS: Final = 16


class DecisionSource(BaseModel):
    """Something that the decision rests on."""

    model_config = ConfigDict(extra="forbid")

    source: Name = Field(description="The system or document it is from, by name.")
    uri: Name | None = Field(None, description="Where it is. Give this or reference.")
    reference: Name | None = Field(
        None, description="What names it there: [cite:ANCHOR] for a passage of the library."
    )
    excerpt: Annotated[str, Field(min_length=1, max_length=2_000)] = Field(
        description="The words it rests on, verbatim."
    )
    confidence: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="How far you rely on it."
    )
    retrieved_at: Annotated[str, Field(max_length=40)] | None = Field(
        None, description="When you retrieved it, in ISO 8601."
    )


def tools(asker: Asker) -> list[Tool]:
    """Return the tool that records decisions."""

    def record_decision(
        *,
        decision: Annotated[
            str,
            Field(min_length=1, max_length=4_000, description="In a sentence, what you decided."),
        ],
        entity: Annotated[Name, Field(description="Whom or what it is about, by an id.")],
        model: Annotated[Name, Field(description="Which model you are, as you know it.")],
        approval: Annotated[
            Literal["A0", "A1", "A2", "A3"],
            Field(
                description="Who must approve it: A0 no one, A1 a manager may look afterwards, "
                "A2 a person first, A3 an executive or the board first. In doubt the higher one."
            ),
        ],
        reversibility: Annotated[
            Literal["R0", "R1", "R2", "R3"],
            Field(
                description="How it can be undone: R0 at once, R1 easily, R2 with effort or cost, "
                "R3 not at all."
            ),
        ],
        sensitivity: Annotated[
            Literal["S0", "S1", "S2", "S3"],
            Field(
                description="The data it rests on: S0 public, S1 internal, S2 a customer's, "
                "S3 personal."
            ),
        ],
        confidence: Annotated[float, Field(ge=0, le=1, description="How sure you are.")],
        evidence: Annotated[
            list[DecisionSource],
            Field(min_length=1, max_length=MOST_SOURCES, description="What it rests on."),
        ],
        ledger: Annotated[
            Name | None,
            Field(description="The ledger (`led_…`) of the answer it rests on, if there is one."),
        ] = None,
        decision_id: Annotated[
            Name | None,
            Field(description="An id of your own; else one follows from the content."),
        ] = None,
        decided_at: Annotated[
            str | None,
            Field(max_length=40, description="When, in ISO 8601; now, if not given."),
        ] = None,
        high_stakes: Annotated[
            bool, Field(description="Whether much hangs on it, whatever its classes.")
        ] = False,
        conflicted: Annotated[
            bool, Field(description="Whether whoever owns you gains by it.")
        ] = False,
    ) -> Annotated[CallToolResult, RecordedDecision]:
        """Record a decision of yours before you act on it, with what it rests on.

        It is recorded for good, under your name; nothing can change or delete it. It is no
        approval: the result says whether a person must approve before it takes effect. You can't
        approve it yourself.
        """
        workspace = asker.workspace()
        sources = [one.model_dump(exclude_none=True) for one in evidence]
        given: dict[str, Any] = {
            "entity_id": entity,
            "tenant_id": workspace.tenant,
            "agent_name": workspace.agent,
            "model": model,
            "decision": decision,
            "approval_class": approval,
            "reversibility_class": reversibility,
            "sensitivity_class": sensitivity,
            "confidence": confidence,
            "high_stakes": high_stakes,
            "conflicted": conflicted,
            "evidence": sources,
            "metadata": {} if ledger is None else {"ledger_id": workspace.ledgers.find(ledger).id},
        }
        named = decision_id or f"dec_{digest(given)[:_ID_LETTERS]}"
        if decided_at is not None:
            given["decided_at"] = decided_at
        try:
            made = DecisionOutput.model_validate({**given, "decision_id": named})
        except ValidationError as error:
            raise InputError(first_problem(error, DecisionOutput, "decision")) from None
        return _recorded(workspace, made)

    return [
        offered(
            asker,
            "packs.record_decision",
            record_decision,
            title="Record a decision",
            annotations=RECORDS_ONCE,
            otherwise="Leave the ledger out, or use the id that check_answer returned.",
        )
    ]


def _recorded(workspace: Workspace, made: DecisionOutput) -> CallToolResult:
    try:
        requirement = workspace.packs.record_decision(made)
    except ConflictError as error:
        raise InputError(
            f"{error}. If you repeat a call, it was recorded the first time, and there is nothing "
            "to do; else give another decision_id"
        ) from None
    result = RecordedDecision(
        decision_id=made.decision_id,
        agent_name=made.agent_name,
        decided_at=made.decided_at,
        evidence_pack=requirement.requirement.value,
        rules=list(requirement.rules),
        needs_review=made.needs_review,
        what_to_do=_what_to_do(made, requirement),
    )
    ours = f"Recorded, for good: decision {made.decision_id}. {result.what_to_do}"
    texts: list[Text] = [({"type": "decision", "agent": made.agent_name}, made.decision)]
    return told(workspace, ours, texts, result)


def _what_to_do(made: DecisionOutput, requirement: PackRequirement) -> str:
    first = (
        "Don't act on it yet: a person must approve it first. Tell them its id."
        if made.needs_review
        else "It needs no approval before it takes effect."
    )
    pack = {
        "mandatory": " An evidence pack is mandatory: ask a person to make it "
        "('evidentia pack new').",
        "recommended": " An evidence pack is recommended ('evidentia pack new').",
        "skip": "",
    }
    return first + pack[requirement.requirement.value]

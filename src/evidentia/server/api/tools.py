"""Tool calls: recorded by the decision they were made for, and the tools that were offered."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from evidentia.packs.fields import Name
from evidentia.packs.tools import ToolCallRecord
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.api.pack_examples import CALL, RECORDED_CALL
from evidentia.server.problems import REFUSED_INPUT, documented
from evidentia.workspace import Workspace

router = APIRouter(route_class=GuardedRoute, tags=["tool calls"])

DecisionId = Annotated[str, Field(min_length=1, max_length=1_900)]
AskedDecision = Annotated[
    str, Query(min_length=1, max_length=1_900, description="The decision's id.", examples=["dec_1"])
]


class CallRequest(BaseModel):
    """A call, and the decision that it was made for, which need not be recorded yet."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"decision_id": "dec_1", "call": CALL}]}
    )

    decision_id: DecisionId
    call: ToolCallRecord


class OfferRequest(BaseModel):
    """Tools that an agent could have used for a decision."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"decision_id": "dec_1", "tools": ["crm.get_contact", "mail"]}]
        },
    )

    decision_id: DecisionId
    tools: Annotated[list[Name], Field(min_length=1, max_length=1_000)]


class CallList(BaseModel):
    """The calls of a decision, failures too, in the order in which they were recorded."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "decision_id": "dec_1",
                    "calls": [RECORDED_CALL],
                    "offered": ["crm.get_contact", "mail"],
                }
            ]
        }
    )

    decision_id: str
    calls: list[ToolCallRecord]
    offered: list[str]


@router.post(
    "/tool-calls",
    summary="Record a tool call",
    status_code=201,
    responses={201: {"content": {"application/json": {"example": RECORDED_CALL}}}},
)
@acts("tools.record")
def record_tool_call(asked: CallRequest, workspace: Ws) -> ToolCallRecord:
    """Record a call for a decision. Whether what was done is what was meant is worked out here."""
    workspace.tools.record(asked.decision_id, asked.call)
    return asked.call


@router.post("/tool-offers", summary="Record which tools were offered", status_code=201)
@acts("tools.offer")
def offer_tools(asked: OfferRequest, workspace: Ws) -> CallList:
    """Note tools that the agent could have used for a decision."""
    workspace.tools.offer(asked.decision_id, *asked.tools)
    return _listed(workspace, asked.decision_id)


@router.get(
    "/tool-calls", summary="The tool calls of a decision", responses=documented(REFUSED_INPUT)
)
@acts("tools.calls")
def list_tool_calls(decision_id: AskedDecision, workspace: Ws) -> CallList:
    """Give the calls that were recorded for a decision, and the tools that it was offered."""
    return _listed(workspace, decision_id)


def _listed(workspace: Workspace, decision_id: str) -> CallList:
    return CallList.model_construct(
        decision_id=decision_id,
        calls=workspace.tools.calls(decision_id),
        offered=workspace.tools.offered(decision_id),
    )

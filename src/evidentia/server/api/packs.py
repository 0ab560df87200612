"""Decisions and their packs: recorded, assembled, read, reviewed and revised."""

from typing import Annotated, Any, Literal

import orjson
from fastapi import APIRouter, Header, Query, Request
from fastapi import Path as PathField
from fastapi import Response as Answer
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from evidentia.errors import ConflictError
from evidentia.packs.decision import DecisionOutput, PackRequirement
from evidentia.packs.fields import Name
from evidentia.packs.memo import BilingualMemo
from evidentia.packs.model import EvidencePack, PromptRecord
from evidentia.packs.tools import ToolCallRecord, ToolVerificationLedger
from evidentia.server.actions import Asks, GuardedRoute, Ws, acts
from evidentia.server.api.given_files import GivenFiles, by_name
from evidentia.server.api.pack_examples import CALL, DECISION, LISTED, MEMO, PACK
from evidentia.server.caching import entity_tag, is_known, tagged, unchanged
from evidentia.server.paging import Order, Paged, link_to, span
from evidentia.server.problems import (
    CHANGED,
    CONFLICT,
    INCOMPLETE,
    REFUSED_INPUT,
    ProblemError,
    documented,
    not_found,
)
from evidentia.store.sql.packs import AWAITING, ListedPack
from evidentia.workspace import Workspace

router = APIRouter(route_class=GuardedRoute, tags=["packs"])

PackId = Annotated[
    str, PathField(description="A version's id.", examples=["pack_190617bdb6ec27c5"])
]
LedgerId = Annotated[str, Field(pattern=r"^led_[0-9a-f]{16}$")]
BundleId = Annotated[str, Field(min_length=1, max_length=200)]
Outcome = Literal["approved", "rejected", "awaiting review", "no review needed"]
ReadTag = Annotated[
    str | None,
    Header(
        description=(
            "The `ETag` of the pack as you read it: if a newer version came meanwhile, the answer "
            "is 412, and nothing is changed."
        ),
        examples=['"abf5b345537f5303acb608e33592c217.pack_190617bdb6ec27c5"'],
    ),
]


class GivenDecision(DecisionOutput):
    """A decision as it is sent; its tenant is the caller's, and can be left out."""

    tenant_id: Name = ""

    def of(self, tenant: str) -> DecisionOutput:
        """Return the decision, of a tenant unless it says of which."""
        fields = {name: getattr(self, name) for name in DecisionOutput.model_fields}
        return DecisionOutput(**{**fields, "tenant_id": self.tenant_id or tenant})


class DecisionRequest(BaseModel):
    """A decision to record."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"decision": DECISION}]}
    )

    decision: GivenDecision


class RequirementAnswer(BaseModel):
    """Whether a decision asks for a pack."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "decision_id": "dec_1",
                    "decision_sha256": PACK["decision"]["decision_sha256"],
                    "requirement": "mandatory",
                    "rules": ["approval_class is A2"],
                    "tier": "A",
                }
            ]
        }
    )

    decision_id: str
    decision_sha256: str
    requirement: str = Field(description="`mandatory`, `recommended` or `skip`.")
    rules: list[str]
    tier: str | None


class PackRequest(BaseModel):
    """What a pack is assembled of."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"decision": DECISION, "memo": MEMO, "calls": [CALL], "bundle_ids": []}]
        },
    )

    decision: GivenDecision
    memo: BilingualMemo | None = Field(None, description="A draft is written if it is left out.")
    ledger_id: LedgerId | None = Field(None, description="The ledger that the decision rests on.")
    bundle_ids: list[BundleId] = Field([], description="The bundles that the model was shown.")
    prompts: list[PromptRecord] = []
    calls: list[ToolCallRecord] = Field([], description="Tool calls that are not recorded yet.")
    tools_offered: list[Name] = []
    attachments: GivenFiles = Field([], description="Files to attach, which the pack names.")


class PackAnswer(BaseModel):
    """A version of a pack, where it is recorded, and which version is the newest."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"pack": PACK, "entry": 2, "newest": "pack_190617bdb6ec27c5"}]
        }
    )

    pack: EvidencePack
    entry: int = Field(description="The number of its entry in the trail.")
    newest: str = Field(description="The id of the newest version; another one, if it was revised.")


class PackRow(BaseModel):
    """A pack in a list. It is the database's word: what a pack says is read with its id."""

    id: str
    decision_id: str
    entity_id: str
    agent_name: str
    version: int
    replaces: str | None
    conflicted: bool
    resolved: bool = Field(description="False while a review is awaited.")
    statement_sha256: str
    entry: int
    created_at: str
    outcome: str | None

    @classmethod
    def of(cls, listed: ListedPack) -> "PackRow":
        """Return a pack's row."""
        return cls.model_validate(listed.as_json())


class PackPage(BaseModel):
    """Packs, the newest first; or the versions of one, the oldest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"packs": [LISTED]}]})

    packs: list[PackRow]


class ReviewRequest(BaseModel):
    """What a review comes to, and why."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"outcome": "rejected", "note": "The figures are old."}]},
    )

    outcome: Literal["approved", "modified", "rejected"] = Field(
        description="`modified` makes a newer version with `changes`, and approves that one."
    )
    note: str = Field("", max_length=10_000, description="The reason; only an approval needs none.")
    changes: dict[str, Any] = Field({}, description="Fields of the pack and what they become.")
    attachments: GivenFiles = Field([], description="Files to attach, where it is `modified`.")


class RevisionRequest(BaseModel):
    """What is changed in a pack."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"changes": {"memo": MEMO}}]},
    )

    changes: dict[str, Any] = Field(description="Fields of the pack and what they become.")
    attachments: GivenFiles = Field([], description="Files to attach, or in place of others.")


MADE: dict[int | str, dict[str, Any]] = {
    201: {
        "model": PackAnswer,
        "description": "The new version.",
        "headers": {
            "ETag": {"schema": {"type": "string"}},
            "Location": {"schema": {"type": "string"}},
        },
    }
}


@router.post("/decisions", summary="Record a decision", status_code=201)
@acts("packs.record_decision")
def record_decision(asked: DecisionRequest, workspace: Ws) -> RequirementAnswer:
    """Record a decision in the trail, once, and say whether it asks for a pack.

    Give `decided_at`: the same decision sent again is then the same, and is not recorded again.
    """
    decision = asked.decision.of(workspace.tenant)
    found: PackRequirement = workspace.packs.record_decision(decision)
    return RequirementAnswer(
        decision_id=decision.decision_id,
        decision_sha256=decision.sha256,
        **found.model_dump(mode="json"),
    )


@router.post(
    "/packs",
    summary="Assemble a pack",
    status_code=201,
    responses={**MADE, **documented(INCOMPLETE)},
)
@acts("packs.assemble", in_steps=True)
def assemble_pack(asked: PackRequest, asks: Asks) -> Response:
    """Assemble, seal and keep the pack of a decision, which is recorded if it is not yet.

    What it lacks is listed under `unmet`, all at once, and nothing is sealed. Tool calls are taken
    from the trail; `calls` are recorded there first.
    """
    workspace = asks.workspace
    decision = asked.decision.of(workspace.tenant)
    made = workspace.packs.assemble(
        decision,
        memo=asked.memo,
        ledger=asked.ledger_id,
        bundles=asked.bundle_ids,
        prompts=asked.prompts,
        attachments=by_name(asked.attachments),
        tool_ledger=_calls(decision.decision_id, asked),
        trace_id=asks.trace_id,
    )
    return answered(workspace, made, 201)


@router.get("/packs", summary="Packs", responses=documented(REFUSED_INPUT))
@acts("packs.list")
def list_packs(
    workspace: Ws,
    page: Paged,
    request: Request,
    response: Answer,
    *,
    outcome: Annotated[
        Outcome | None, Query(description="What their review came to, or whether one is awaited.")
    ] = None,
    decision: Annotated[str | None, Query(max_length=2_000, description="A decision's id.")] = None,
    all_versions: Annotated[
        bool, Query(description="All versions of each, not the newest alone.")
    ] = False,
    order: Order = "newest",
) -> PackPage:
    """List packs, the newest first if not asked otherwise."""
    found = workspace.packs.list(
        **span(page, order),
        limit=page.limit,
        all_versions=all_versions,
        unresolved=outcome == AWAITING,
        decision=decision,
        outcome=outcome if outcome not in (None, AWAITING) else None,
    )
    link_to(request, response, found[-1].entry if len(found) == page.limit else None)
    return PackPage(packs=list(map(PackRow.of, found)))


@router.get(
    "/packs/{pack_id}",
    summary="A pack",
    responses={
        200: {"model": PackAnswer, "headers": {"ETag": {"schema": {"type": "string"}}}},
        304: {"description": "The caller has it already"},
    },
)
@acts("packs.get")
def read_pack(pack_id: PackId, workspace: Ws, request: Request) -> Response:
    """Give one version of a pack, as it was sealed. Who reads it is in the access log.

    The `ETag` is another one once there is a newer version: send it as `If-Match` with a review.
    """
    row = workspace.packs.find(known(pack_id))
    tag = _tag(row, _newest(workspace, row.id))
    if is_known(request, tag):
        return unchanged(tag)
    return answered(workspace, workspace.packs.get(row.id), 200)


@router.get("/packs/{pack_id}/versions", summary="The versions of a pack")
@acts("packs.versions")
def list_versions(pack_id: PackId, workspace: Ws) -> PackPage:
    """List all versions of a pack, the oldest first; any version's id names them all."""
    found = workspace.packs.versions(known(pack_id))
    return PackPage(packs=list(map(PackRow.of, found)))


@router.post(
    "/packs/{pack_id}/review",
    summary="Review a pack",
    status_code=201,
    responses={**MADE, **documented(INCOMPLETE, CHANGED)},
)
@acts("packs.review")
def review_pack(
    pack_id: PackId, asked: ReviewRequest, workspace: Ws, if_match: ReadTag = None
) -> Response:
    """Approve, modify or reject a decision, in your own name: a newer version of its pack says so.

    It is of the version that you name. If there is a newer one, nothing is changed, and `read` and
    `newer` have the ids of both: 412 if you sent `If-Match`, 409 if not. `modified` makes a
    revision and approves it, both or neither. Who made a version may not review it; the owner of
    an embedded workspace may, and the entry says that it is a self-review.
    """
    row = as_read(workspace, pack_id, if_match)
    if asked.outcome != "approved" and not asked.note.strip():
        raise ProblemError(REFUSED_INPUT, f"note: say why the pack is {asked.outcome}.")
    if (asked.outcome == "modified") != bool(asked.changes or asked.attachments):
        raise ProblemError(REFUSED_INPUT, "changes: they go with the outcome `modified`, alone.")
    try:
        if asked.outcome == "modified":
            made = workspace.packs.modify(
                row.id,
                asked.changes,
                note=asked.note,
                attachments=by_name(asked.attachments),
            )
        else:
            made = workspace.packs.review(row.id, asked.outcome, note=asked.note)
    except ConflictError as error:
        raise conflict(workspace, row.id, error) from None
    return answered(workspace, made, 201)


@router.post(
    "/packs/{pack_id}/revise",
    summary="Revise a pack",
    status_code=201,
    responses={**MADE, **documented(INCOMPLETE, CHANGED)},
)
@acts("packs.revise")
def revise_pack(
    pack_id: PackId, asked: RevisionRequest, workspace: Ws, if_match: ReadTag = None
) -> Response:
    """Replace a pack by a newer version with changes; the old one stays, and its review with it."""
    row = as_read(workspace, pack_id, if_match)
    try:
        files = by_name(asked.attachments)
        made = workspace.packs.revise(row.id, asked.changes, attachments=files)
    except ConflictError as error:
        raise conflict(workspace, row.id, error) from None
    return answered(workspace, made, 201)


def known(given: str) -> str:
    """Return what is a pack's id; other names of packs are no address."""
    if not given.startswith("pack_"):
        raise not_found()
    return given


def _calls(decision_id: str, asked: PackRequest) -> ToolVerificationLedger:
    ledger = ToolVerificationLedger()
    for call in asked.calls:
        ledger.record(decision_id, call)
    ledger.offer(decision_id, *asked.tools_offered)
    return ledger


def _newest(workspace: Workspace, pack_id: str) -> str:
    return workspace.packs.versions(pack_id)[-1].id


def _tag(row: ListedPack, newest: str) -> str:
    return entity_tag(row.statement_sha256[:32], newest)


def as_read(workspace: Workspace, pack_id: str, if_match: str | None) -> ListedPack:
    """Return the version that is to be changed; raise if it is not as the caller read it."""
    row = workspace.packs.find(known(pack_id))
    newest = _newest(workspace, row.id)
    tags = {one.strip() for one in (if_match or "*").split(",")}
    if tags.isdisjoint({"*", _tag(row, newest)}):
        newer = {"read": row.id, "newer": newest} if newest != row.id else {}
        raise ProblemError(CHANGED, f"The newest version is {newest}.", more=newer)
    return row


def conflict(workspace: Workspace, pack_id: str, error: ConflictError) -> ProblemError:
    """Return what is raised where a version is not the newest: it names both."""
    newest = _newest(workspace, pack_id)
    if newest == pack_id:
        return ProblemError(CONFLICT, str(error))
    return ProblemError(
        CONFLICT,
        f"Pack {pack_id} has a newer version, {newest}: read that one, and decide anew.",
        more={"read": pack_id, "newer": newest},
    )


def answered(workspace: Workspace, pack: EvidencePack, status: int) -> Response:
    """Return the answer that has a version of a pack."""
    row = workspace.packs.find(pack.pack_id)
    newest = _newest(workspace, row.id)
    said = {"pack": pack.as_json(), "entry": row.entry, "newest": newest}
    headers = tagged(_tag(row, newest)) | {"location": f"/api/v1/packs/{row.id}"}
    if status != 201:  # noqa: PLR2004 - the status of what was made
        del headers["location"]
    return Response(orjson.dumps(said), status, headers, media_type="application/json")

"""Who may do what: members with their roles, and the tokens of programs."""

from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Query
from fastapi import Path as PathField
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from evidentia.access.actions import Action, Role
from evidentia.server.actions import GuardedRoute, Ws, acts
from evidentia.server.api.keeping import EntryAnswer
from evidentia.server.idempotency import ShownOnce
from evidentia.workspace.tokens import NewToken

router = APIRouter(route_class=GuardedRoute, tags=["access"])

User = Annotated[str, Field(min_length=1, max_length=1_000)]
_GRANT: Final[dict[str, Any]] = {
    "user": "ann",
    "role": "auditor",
    "granted_by": "owner",
    "granted_at": "2026-03-01T12:00:00.000000Z",
    "expires_at": "2027-01-01T00:00:00.000000Z",
}
_TOKEN: Final[dict[str, Any]] = {
    "token_id": "3f9c5a7e1b2d4c6f",
    "user": "reporting",
    "name": "nightly report",
    "scopes": ["list", "view"],
    "created_at": "2026-03-01T12:00:00.000000Z",
    "created_by": "ann",
    "expires_at": None,
    "entry": 9,
}


class GrantRequest(BaseModel):
    """A role for a user; an auditor's must expire."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"user": "ann", "role": "auditor", "expires_at": "2027-01-01T00:00:00Z"}]
        },
    )

    user: User
    role: Role
    expires_at: str | None = Field(None, max_length=40)


class Member(BaseModel):
    """A role that a user has, who gave it, and when it ends."""

    user: str
    role: str
    granted_by: str
    granted_at: str
    expires_at: str | None


class MemberList(BaseModel):
    """The roles of a tenant that were not taken away, the oldest first; ended ones too."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"members": [_GRANT]}]})

    members: list[Member]


class MayView(BaseModel):
    """Whether a user may see a pack."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"user": "ann", "pack": "pack_0123456789abcdef", "allowed": True}]
        }
    )

    user: str
    pack: str
    allowed: bool


class AgentOwnerRequest(BaseModel):
    """Whose own an agent is."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"user": "ann", "agent_name": "quality_desk"}]},
    )

    user: User
    agent_name: Annotated[str, Field(min_length=1, max_length=1_000)]


class AgentOwnerRow(BaseModel):
    """A user whose own an agent is."""

    user: str
    tenant_id: str
    agent_name: str


class AgentOwnerList(BaseModel):
    """Whose own agents are, by the agents' names."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"owners": [{"user": "ann", "tenant_id": "default", "agent_name": "quality_desk"}]}
            ]
        }
    )

    owners: list[AgentOwnerRow]


class TokenRequest(BaseModel):
    """A token for a program that acts as a user."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"user": "reporting", "name": "nightly report", "scopes": ["list"]}]
        },
    )

    user: User
    name: str = Field("", max_length=200)
    scopes: list[Action] | None = Field(None, description="What it is narrowed to; None: nothing.")
    expires_at: str | None = Field(None, max_length=40)


class TokenRow(BaseModel):
    """A token as it can be shown: without its secret."""

    token_id: str
    user: str
    name: str
    scopes: list[str] | None
    created_at: str
    created_by: str
    expires_at: str | None
    entry: int


class TokenList(BaseModel):
    """The tokens of a tenant that were not revoked, the oldest first; ended ones too."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"tokens": [_TOKEN]}]})

    tokens: list[TokenRow]


class NewTokenAnswer(BaseModel):
    """A token that was just made."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"secret": "evt~default~3f9c5a7e1b2d4c6f~Zm9yIHRoZSBleGFtcGxl…", "token": _TOKEN}
            ]
        }
    )

    secret: str | None = Field(
        description="What the program sends. It is shown here, once: None if this is repeated."
    )
    token: TokenRow


@router.get("/members", summary="Members and their roles")
@acts("access.grants")
def list_members(workspace: Ws) -> MemberList:
    """List who has which role in the tenant."""
    found = [one.model_dump(mode="json") for one in workspace.access.grants()]
    return MemberList.model_validate({"members": found})


@router.post("/members", summary="Give a user a role", status_code=201)
@acts("access.grant")
def grant_role(asked: GrantRequest, workspace: Ws) -> EntryAnswer:
    """Give a user a role in the tenant. The trail says who did."""
    granted = workspace.access.grant(asked.user, asked.role, expires_at=asked.expires_at)
    return EntryAnswer.of(granted)


@router.delete("/members", summary="Take a role away")
@acts("access.revoke")
def revoke_role(
    workspace: Ws,
    user: Annotated[str, Query(min_length=1, max_length=1_000, examples=["ann"])],
    role: Annotated[Role, Query(examples=["viewer"])],
) -> EntryAnswer:
    """Take a role away from a user, who must have it."""
    return EntryAnswer.of(workspace.access.revoke(user, role))


@router.get("/access/can-view", summary="Whether a user may see a pack")
@acts("access.can_view_evidence_pack")
def can_view_evidence_pack(
    workspace: Ws,
    user: Annotated[str, Query(min_length=1, max_length=1_000, examples=["ann"])],
    pack: Annotated[str, Query(min_length=1, max_length=1_000, examples=["pack_0123456789abcdef"])],
) -> MayView:
    """Say whether a user may see a pack now, by the trail, and by OpenFGA where it is asked.

    A pack that is not there may not be seen.
    """
    allowed = workspace.access.can_view_evidence_pack(user, pack)
    return MayView(user=user, pack=pack, allowed=allowed)


@router.get("/agent-owners", summary="Whose own agents are")
@acts("access.owners")
def list_agent_owners(workspace: Ws) -> AgentOwnerList:
    """List which agents are whose own: their conflicted decisions are not theirs to review."""
    found = [one.model_dump(mode="json") for one in workspace.access.owners()]
    return AgentOwnerList.model_validate({"owners": found})


@router.post("/agent-owners", summary="Say whose own an agent is", status_code=201)
@acts("access.own_agent")
def own_agent(asked: AgentOwnerRequest, workspace: Ws) -> EntryAnswer:
    """Record that an agent is a user's own. It stays so for what the agent decided."""
    return EntryAnswer.of(workspace.access.own_agent(asked.user, asked.agent_name))


@router.get("/tokens", summary="Tokens")
@acts("access.tokens")
def list_tokens(workspace: Ws) -> TokenList:
    """List the tokens of the tenant. Their secrets are kept nowhere."""
    found = [one.as_json() for one in workspace.access.tokens()]
    return TokenList.model_validate({"tokens": found})


@router.post(
    "/tokens",
    summary="Make a token",
    status_code=201,
    responses={201: {"model": NewTokenAnswer, "description": "The token, shown once."}},
)
@acts("access.new_token")
def make_token(asked: TokenRequest, workspace: Ws) -> Response:
    """Make a token by which a program acts as a user: what it may do is what their roles say.

    Its secret is in this answer and kept nowhere: repeated with the same `Idempotency-Key`, the
    answer comes without it.
    """
    made = workspace.access.new_token(
        asked.user, name=asked.name, scopes=asked.scopes, expires_at=asked.expires_at
    )
    return ShownOnce(_written(made, made.text), _written(made, None))


def _written(made: NewToken, secret: str | None) -> Response:
    said = {"secret": secret, "token": made.token.as_json()}
    return Response(orjson.dumps(said), 201, media_type="application/json")


@router.delete("/tokens/{token_id}", summary="Revoke a token")
@acts("access.revoke_token")
def revoke_token(
    token_id: Annotated[str, PathField(max_length=100, examples=["3f9c5a7e1b2d4c6f"])],
    workspace: Ws,
) -> EntryAnswer:
    """Revoke a token: it opens nothing any more."""
    return EntryAnswer.of(workspace.access.revoke_token(token_id))

"""Tenants: those that someone has a role in. What one has no role in is not shown to be there."""

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from evidentia.server.actions import Asks, GuardedRoute, signed_in_only
from evidentia.server.callers import Caller
from evidentia.server.problems import documented
from evidentia.server.running import running_of
from evidentia.workspace.opened import Opened

router = APIRouter(route_class=GuardedRoute, tags=["members"])


class TenantRow(BaseModel):
    """A tenant, and what one is there."""

    tenant: str
    roles: list[str] = Field(description="The roles that count now; the owner needs none.")


class TenantList(BaseModel):
    """The tenants that someone may ask about, by their names."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"tenants": [{"tenant": "default", "roles": ["viewer"]}]}]}
    )

    tenants: list[TenantRow]


@router.get("/tenants", summary="Your tenants", responses=documented())
@signed_in_only("everyone may know where they have a role")
def list_tenants(asks: Asks, request: Request) -> TenantList:
    """List the tenants that you have a role in; a token is of one alone.

    The header `Evidentia-Tenant` chooses among them. A tenant begins with the first thing that is
    written in it: the owner of an embedded workspace gives someone a role there.
    """
    caller, opened = asks.caller, running_of(request).opened
    known = [caller.tenant] if caller.token_id is not None else opened.tenants()
    rows = [TenantRow(tenant=one, roles=roles_of(opened, caller, one)) for one in known]
    return TenantList(tenants=[one for one in rows if one.roles or caller.user is None])


def roles_of(opened: Opened, caller: Caller, tenant: str) -> list[str]:
    """Return the roles of a caller that count now; one's own take no role to read."""
    now = opened.now()
    grants = opened.for_(tenant).access.grants()
    return sorted(one.role.value for one in grants if one.user == caller.user and one.in_force(now))

"""Roles: who may do what with a tenant's evidence, and why not.

A grant gives a user a role in one tenant and means nothing in another. What is not granted is
refused. No role lets anyone review a decision that is marked as conflicted and that an agent of
their own made. A user of several roles may do what any of them may. Names are compared exactly.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from pydantic import TypeAdapter, ValidationError, model_validator

from evidentia.access.actions import MAY, PACK_ACTIONS, Action, Authorizer, Role
from evidentia.errors import InputError
from evidentia.frozen import FrozenModel
from evidentia.packs.fields import Name
from evidentia.times import Time


class Grant(FrozenModel):
    """A role that a user was given in a tenant; an auditor's comes to an end.

    It is in force from `granted_at` on and no longer at `expires_at`.
    """

    user: Name
    tenant_id: Name
    role: Role
    granted_by: Name
    granted_at: Time
    expires_at: Time | None = None

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> Self:
        if self.expires_at is None:
            if self.role is Role.AUDITOR:
                raise ValueError("an auditor's grant must expire: give expires_at")
        elif self.expires_at <= self.granted_at:
            raise ValueError(
                f"expires_at {self.expires_at} is not after granted_at {self.granted_at}"
            )
        return self

    def in_force(self, now: str | datetime) -> bool:
        """Whether the grant counts at a time; text is given as `utc_time` writes it."""
        at = now if isinstance(now, str) else utc_time(now)
        return self.granted_at <= at and (self.expires_at is None or at < self.expires_at)


class AgentOwner(FrozenModel):
    """A user whose own an agent of a tenant is; an agent may have several.

    Who once owned an agent stays an owner for the decisions that it made then: drop none.
    """

    user: Name
    tenant_id: Name
    agent_name: Name


class PackFacts(FrozenModel):
    """What access to a pack depends on.

    `conflicted` is what the decision says, not a later version of the pack.
    """

    pack_id: Name
    tenant_id: Name
    agent_name: Name
    conflicted: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A user who wants to do something: with the pack, or in the tenant, that `on` names."""

    user: str
    action: Action
    on: str


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a request is allowed, and why.

    The reason tells an unknown pack from a forbidden one: it is for the record and for admins,
    never for the one who was refused.
    """

    allowed: bool
    reason: str


Now = str | datetime | Callable[[], str | datetime]
"""A time, or what gives the time whenever it is asked."""
_TIME: Final = TypeAdapter[str](Time)


def utc_time(now: Now) -> str:
    """Return a time in UTC, to the microsecond; raise `InputError` if it is none."""
    try:
        return _TIME.validate_python(now() if callable(now) else now)
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"the time of a request for access: {problem}") from None


def decide(
    request: Request,
    *,
    grants: Iterable[Grant],
    owners: Iterable[AgentOwner],
    pack: PackFacts | None,
    now: Now,
) -> Decision:
    """Decide a request. `pack` is what is known of the pack asked for: None if there is none."""
    at, user, action, tenant_id = utc_time(now), request.user, request.action, request.on
    if action in PACK_ACTIONS:
        if pack is None or pack.pack_id != request.on:
            return Decision(allowed=False, reason=f"there is no pack {request.on!r}")
        tenant_id = pack.tenant_id
    held = [grant for grant in grants if grant.user == user and grant.tenant_id == tenant_id]
    roles = {grant.role for grant in held if grant.in_force(at)}
    if not roles:
        what = f"no grant that is in force at {at}" if held else "no grant"
        return Decision(allowed=False, reason=f"{user!r} has {what} in tenant {tenant_id!r}")
    able = {role for role in roles if action in MAY[role]}
    if not able:
        takes = " or ".join(sorted(role for role in Role if action in MAY[role]))
        return Decision(
            allowed=False,
            reason=f"{user!r} is {_listed(roles)} in tenant {tenant_id!r}: {action} takes {takes}",
        )
    if (
        action == Action.REVIEW
        and pack is not None
        and pack.conflicted
        and _owns(user, pack, owners)
    ):
        return Decision(
            allowed=False,
            reason=f"{user!r} owns agent {pack.agent_name!r}, whose decision is conflicted",
        )
    return Decision(allowed=True, reason=f"{user!r} is {_listed(able)} in tenant {tenant_id!r}")


def _owns(user: str, pack: PackFacts, owners: Iterable[AgentOwner]) -> bool:
    owned = AgentOwner(user=user, tenant_id=pack.tenant_id, agent_name=pack.agent_name)
    return owned in owners


def _listed(roles: Iterable[Role]) -> str:
    return " and ".join(sorted(roles))


class RoleTable(Authorizer):
    """Decides by the grants and the owners it is given.

    `facts` gives what is known of a pack, or None. `now` is a time, or gives one for each request.
    """

    def __init__(
        self,
        *,
        grants: Iterable[Grant],
        owners: Iterable[AgentOwner],
        facts: Callable[[str], PackFacts | None],
        now: Now,
    ) -> None:
        self._grants: defaultdict[str, list[Grant]] = defaultdict(list)
        for grant in grants:
            self._grants[grant.user].append(grant)
        self._owners = frozenset(owners)
        self._facts = facts
        self._now = now

    def decide(self, user: str, action: Action, on: str) -> Decision:
        """Say whether a user may do something, and why, for the record."""
        return decide(
            Request(user, action, on),
            grants=self._grants.get(user, ()),
            owners=self._owners,
            pack=self._facts(on) if action in PACK_ACTIONS else None,
            now=self._now,
        )

    def may(self, user: str, action: Action, on: str) -> bool:
        """Whether a user may do something with the pack, or in the tenant, that `on` names."""
        return self.decide(user, action, on).allowed

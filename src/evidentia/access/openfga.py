"""OpenFGA: the rules of `roles` for its engine, whose model is `model.fga` beside this module.

Names become ids that OpenFGA takes, and different names different ids.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

from evidentia.access.actions import PACK_ACTIONS, Action, Authorizer
from evidentia.access.roles import AgentOwner, Grant, Now, PackFacts, utc_time
from evidentia.canonical import sha256_hex

_OTHER = re.compile(r"[^A-Za-z0-9._@+-]")
_MOST_LETTERS: Final = 100
"""Of a name in an id: OpenFGA takes 256 for an object, and an agent's holds two names."""
CONDITION: Final = "unexpired"
"""The model's condition of a tuple that counts until a time."""
_OURS: Final = {
    "tenant": frozenset({"viewer", "approver", "admin", "auditor"}),
    "agent": frozenset({"owner"}),
    "evidence_pack": frozenset({"tenant", "conflicted_agent"}),
}
"""The relations that follow from the trail, by the types of objects; others are the operator's."""


@dataclass(frozen=True, slots=True)
class Relationship:
    """A tuple as OpenFGA keeps it; one with `expires_at` counts until then.

    `condition` is one that is not of our making, as text.
    """

    user: str
    relation: str
    object: str
    expires_at: str | None = None
    condition: str | None = None

    def __str__(self) -> str:
        """Return the tuple as OpenFGA's documentation writes it."""
        until = "" if self.expires_at is None else f" until {self.expires_at}"
        when = "" if self.condition is None else f" with {self.condition}"
        return f"{self.object}#{self.relation}@{self.user}{until}{when}"

    @property
    def key(self) -> tuple[str, str, str]:
        """What OpenFGA tells tuples apart by: it keeps one, with or without a condition."""
        return self.user, self.relation, self.object

    @property
    def is_ours(self) -> bool:
        """Whether tuples of this relation are what follows from the trail, and nothing else."""
        return self.relation in _OURS.get(self.object.partition(":")[0], ())

    def as_json(self) -> dict[str, Any]:
        """Return the tuple as OpenFGA's API and its tuple files have it."""
        written: dict[str, Any] = {
            "user": self.user,
            "relation": self.relation,
            "object": self.object,
        }
        if self.expires_at is not None:
            context = {"expires_at": self.expires_at}
            written["condition"] = {"name": CONDITION, "context": context}
        return written


def relationships(
    grants: Iterable[Grant], owners: Iterable[AgentOwner], packs: Iterable[PackFacts], now: Now
) -> tuple[Relationship, ...]:
    """Return the tuples that say the same as the grants in force now, the owners and the packs.

    They run out by themselves: they are right until a grant, an owner or a pack is added or taken
    away. Of several grants of a role the one that lasts longest is told, since OpenFGA keeps one.
    """
    at = utc_time(now)
    found: dict[tuple[str, str, str], str | None] = {}
    for grant in grants:
        if grant.in_force(at):
            key = (user_id(grant.user), grant.role.value, tenant_object(grant.tenant_id))
            found[key] = _longer(found.get(key, at), grant.expires_at)
    for owner in owners:
        found[user_id(owner.user), "owner", agent_object(owner.tenant_id, owner.agent_name)] = None
    for pack in packs:
        named = pack_object(pack.pack_id)
        found[tenant_object(pack.tenant_id), "tenant", named] = None
        if pack.conflicted:
            agent = agent_object(pack.tenant_id, pack.agent_name)
            found[agent, "conflicted_agent", named] = None
    return tuple(Relationship(*key, found[key]) for key in sorted(found))


def user_id(user: str) -> str:
    """Return what OpenFGA calls a user."""
    return f"user:{_plain(user)}"


def tenant_object(tenant_id: str) -> str:
    """Return what OpenFGA calls a tenant."""
    return f"tenant:{_plain(tenant_id)}"


def pack_object(pack_id: str) -> str:
    """Return what OpenFGA calls a pack."""
    return f"evidence_pack:{_plain(pack_id)}"


def relation(action: Action) -> str:
    """Return the relation that is checked for an action."""
    return "can_manage_keys" if action == Action.KEYS else f"can_{action}"


class Check(Protocol):
    """Asks the engine; `current_time` goes into the context of the check."""

    def __call__(self, user: str, relation: str, object: str, *, current_time: str) -> bool:  # noqa: A002 - OpenFGA's word
        """Return whether the user has the relation to the object."""


@runtime_checkable
class CheckEach(Protocol):
    """Asks the engine about many objects at once."""

    def each(
        self, user: str, relation: str, objects: Sequence[str], *, current_time: str
    ) -> list[bool]:
        """Return whether the user has the relation to each of the objects, in their order."""


class OpenFgaAuthorizer(Authorizer):
    """Decides by asking OpenFGA. `now` is a time, or gives one for each request.

    `check` is a client of ours, or a function of yours. What it raises refuses.
    """

    def __init__(self, check: Check, *, now: Now) -> None:
        self.check = check
        self._now = now

    def may(self, user: str, action: Action, on: str) -> bool:
        """Whether a user may do something with the pack, or in the tenant, that `on` names."""
        asked, at = _asked(action, on), utc_time(self._now)
        return self.check(user_id(user), relation(action), asked, current_time=at) is True

    def may_each(self, user: str, action: Action, on: Sequence[str]) -> list[bool]:
        """Whether a user may do something with each of what `on` names: in few requests."""
        check = self.check
        if not isinstance(check, CheckEach):
            return super().may_each(user, action, on)
        asked, at = [_asked(action, one) for one in on], utc_time(self._now)
        found = check.each(user_id(user), relation(action), asked, current_time=at)
        return [one is True for one in found]


def agent_object(tenant_id: str, agent_name: str) -> str:
    """Return what OpenFGA calls an agent of a tenant."""
    return f"{agents_of(tenant_id)}{_plain(agent_name)}"


def agents_of(tenant_id: str) -> str:
    """Return what OpenFGA's names of all agents of a tenant begin with."""
    return f"agent:{_plain(tenant_id)}/"


def is_of_tenant(one: Relationship, tenant_id: str, packs: frozenset[str] = frozenset()) -> bool:
    """Whether a tuple says something of a tenant, or of one of its `packs`, by OpenFGA's names."""
    tenant, agents = tenant_object(tenant_id), agents_of(tenant_id)
    return (
        one.object in packs
        or tenant in (one.object, one.user.partition("#")[0])
        or one.object.startswith(agents)
        or one.user.startswith(agents)
    )


def _asked(action: Action, on: str) -> str:
    return pack_object(on) if action in PACK_ACTIONS else tenant_object(on)


def _plain(name: str) -> str:
    """Return a name in letters that mean nothing to OpenFGA; a long or empty one as its digest."""
    plain = _OTHER.sub(lambda found: "".join(f"%{byte:02X}" for byte in _bytes(found[0])), name)
    return plain if 0 < len(plain) <= _MOST_LETTERS else f"~{sha256_hex(_bytes(name))}"


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _longer(one: str | None, other: str | None) -> str | None:
    return None if one is None or other is None else max(one, other)

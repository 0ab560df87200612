"""OpenFGA: the rules of `roles` for its engine, whose model is `model.fga` beside this module.

Names become ids that OpenFGA takes, and different names different ids.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from evidentia.access.actions import PACK_ACTIONS, Action, Authorizer
from evidentia.access.roles import AgentOwner, Grant, Now, PackFacts, utc_time
from evidentia.canonical import sha256_hex

_OTHER = re.compile(r"[^A-Za-z0-9._@+-]")
_MOST_LETTERS: Final = 100
"""Of a name in an id: OpenFGA takes 256 for an object, and an agent's holds two names."""


@dataclass(frozen=True, slots=True)
class Relationship:
    """A tuple as OpenFGA keeps it; one with `expires_at` counts until then."""

    user: str
    relation: str
    object: str
    expires_at: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the tuple as OpenFGA's API and its tuple files have it."""
        written: dict[str, Any] = {
            "user": self.user,
            "relation": self.relation,
            "object": self.object,
        }
        if self.expires_at is not None:
            context = {"expires_at": self.expires_at}
            written["condition"] = {"name": "unexpired", "context": context}
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
        found[user_id(owner.user), "owner", _agent(owner.tenant_id, owner.agent_name)] = None
    for pack in packs:
        named = pack_object(pack.pack_id)
        found[tenant_object(pack.tenant_id), "tenant", named] = None
        if pack.conflicted:
            found[_agent(pack.tenant_id, pack.agent_name), "conflicted_agent", named] = None
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


class OpenFgaAuthorizer(Authorizer):
    """Decides by asking OpenFGA. `now` is a time, or gives one for each request."""

    def __init__(self, check: Check, *, now: Now) -> None:
        self._check = check
        self._now = now

    def may(self, user: str, action: Action, on: str) -> bool:
        """Whether a user may do something with the pack, or in the tenant, that `on` names."""
        asked = pack_object(on) if action in PACK_ACTIONS else tenant_object(on)
        return self._check(user_id(user), relation(action), asked, current_time=utc_time(self._now))


def _agent(tenant_id: str, agent_name: str) -> str:
    return f"agent:{_plain(tenant_id)}/{_plain(agent_name)}"


def _plain(name: str) -> str:
    """Return a name in letters that mean nothing to OpenFGA; a long or empty one as its digest."""
    plain = _OTHER.sub(lambda found: "".join(f"%{byte:02X}" for byte in _bytes(found[0])), name)
    return plain if 0 < len(plain) <= _MOST_LETTERS else f"~{sha256_hex(_bytes(name))}"


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _longer(one: str | None, other: str | None) -> str | None:
    return None if one is None or other is None else max(one, other)

"""The part for roles: who may do what is what the grants in the trail say."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import ValidationError

from evidentia.access.actions import (
    Action,
    Authorizer,
    BothAuthorizer,
    NarrowedAuthorizer,
    Role,
)
from evidentia.access.roles import AgentOwner, Grant, PackFacts, RoleTable
from evidentia.errors import InputError, NotFoundError
from evidentia.frozen import first_problem
from evidentia.proof.authority import SIGNATURE
from evidentia.store.sql import log, packs
from evidentia.store.sql.log import Head, Receipt
from evidentia.trail.adoption import Adoption, covers
from evidentia.trail.entry import EntryKind
from evidentia.workspace import requests, tokens
from evidentia.workspace.acting import Acting, check_name
from evidentia.workspace.authority import authority_of, counting
from evidentia.workspace.logged import LoggedEntry
from evidentia.workspace.part import Part
from evidentia.workspace.tokens import ApiToken, NewToken

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from evidentia.workspace.telling_openfga import Drift, Synced, Telling

Requests = list[LoggedEntry]


class Roles(Part, name="access"):
    """A tenant's roles, and whose agents are whose."""

    def grant(
        self, user: str, role: Role | str, *, expires_at: str | datetime | None = None
    ) -> Receipt:
        """Give a user a role in this tenant; an auditor's must expire."""
        acting = self._acting
        check_name(user, "a user")
        try:
            grant = Grant.model_validate(
                {
                    "user": user,
                    "tenant_id": acting.tenant,
                    "role": role,
                    "granted_by": acting.actor,
                    "granted_at": acting.now,
                    "expires_at": expires_at,
                }
            )
        except ValidationError as error:
            raise InputError(first_problem(error, Grant, "grant")) from None
        body = {"action": "grant", **grant.model_dump(mode="json")}
        return acting.record(EntryKind.ACCESS, f"user/{user}", body)

    def revoke(self, user: str, role: Role | str) -> Receipt:
        """Take a role away from a user, who must have it."""
        if role not in list(Role):
            raise InputError(f"there is no role {role!r}: use {', '.join(Role)}")
        if (user, str(role)) not in access_of(self._acting).grants:
            raise NotFoundError(f"{user[:80]!r} does not have the role {role}: nothing is changed")
        body = {"action": "revoke", "user": user, "role": str(role), "by": self._acting.actor}
        return self._acting.record(EntryKind.ACCESS, f"user/{user}", body)

    def own_agent(self, user: str, agent_name: str) -> Receipt:
        """Note that an agent is a user's own: its conflicted decisions are not theirs to review."""
        check_name(user, "a user")
        check_name(agent_name, "an agent")
        body = {
            "action": "own",
            "user": user,
            "agent_name": agent_name,
            "by": self._acting.actor,
        }
        return self._acting.record(EntryKind.ACCESS, f"user/{user}", body)

    def owners(self) -> list[AgentOwner]:
        """Return whose own which agents are, by their names."""
        found = access_of(self._acting).owners
        return sorted(found, key=lambda one: (one.agent_name, one.user))

    def grants(self) -> list[Grant]:
        """Return the grants of this tenant that were not taken away, the oldest first."""
        return list(access_of(self._acting).grants.values())

    def can_view_evidence_pack(self, user: str, pack_id: str) -> bool:
        """Whether a user may read a pack, by the trail and by whoever else is asked, now.

        `pack_id` may be any name of a pack. It is asked for whoever has to know: reading a pack
        asks by itself.
        """
        acting, found = self._acting, pack_id_of(self._acting, pack_id)
        if found is None or not granting(acting).may(user, Action.VIEW, found):
            return False
        outside = acting.opened.authorizer
        return outside is None or outside.can_view_evidence_pack(user, found)

    def sync(self) -> "Synced":
        """Compare all that OpenFGA has of this tenant with the trail, and mend what differs.

        A server does so by itself as the trail grows: this is for the first time, and for drift.
        """
        from evidentia.workspace.telling_openfga import openfga_of, sync  # noqa: PLC0415 - not all have one

        return sync(self._acting, openfga_of(self._acting))

    def drift(self) -> "Drift":
        """Compare all that OpenFGA has of this tenant with what the trail proves; mend nothing."""
        from evidentia.workspace.telling_openfga import drift, openfga_of  # noqa: PLC0415 - the same

        return drift(self._acting, openfga_of(self._acting))

    def telling(self) -> "Telling":
        """Return how far OpenFGA was told what the trail says, and what it refused."""
        from evidentia.workspace.telling_openfga import openfga_of, telling  # noqa: PLC0415 - the same

        return telling(self._acting, openfga_of(self._acting))

    def new_token(
        self,
        user: str,
        *,
        name: str = "",
        scopes: Iterable[Action | str] | None = None,
        expires_at: str | datetime | None = None,
    ) -> NewToken:
        """Make a token by which programs act as a user: what they may do is what grants say.

        `scopes` narrow that to some actions. The token itself is returned here and nowhere else;
        the trail has the digest of its secret.
        """
        return tokens.issue(self._acting, user, name=name, scopes=scopes, expires_at=expires_at)

    def tokens(self) -> list[ApiToken]:
        """Return the tokens of this tenant that were not revoked, the oldest first."""
        return list(access_of(self._acting).tokens.values())

    def revoke_token(self, token_id: str) -> Receipt:
        """Revoke a token, named by its id: it opens nothing any more."""
        if token_id not in access_of(self._acting).tokens:
            raise NotFoundError(f"there is no token {token_id[:80]!r}: nothing is changed")
        return tokens.revoke(self._acting, token_id)

    def requests(
        self,
        *,
        user: str | None = None,
        before: int | None = None,
        after: int | None = None,
        limit: int | None = None,
        oldest_first: bool = False,
    ) -> Requests:
        """Return what was asked of a server and is recorded: reads of packs, exports, denials.

        The newest comes first, each is proved; page through them with `before`, an entry's number.
        `oldest_first` turns them round: then page with `after`. `user` gives those of one alone.
        """
        return requests.requests(
            self._acting, user, before=before, after=after, limit=limit, oldest_first=oldest_first
        )

    def export(
        self,
        *,
        first: int = 0,
        last: int | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
    ) -> bytes:
        """Return the access log as a file of JSON lines that is signed, and that `verify` verifies.

        It has what a server was asked, roles and tokens, exports of packs and the log's keys: the
        entries from `first` to `last`, from `since` on and before `until`, each proved.
        """
        from evidentia.workspace.access_export import export_log  # noqa: PLC0415 - not all need it

        return export_log(self._acting, first, last, since, until)


@dataclass(frozen=True, slots=True)
class Access:
    """What the trail says of roles, and of where documents may go, up to an entry."""

    seq: int = -1
    grants: Mapping[tuple[str, str], Grant] = field(default_factory=dict)
    owners: frozenset[AgentOwner] = frozenset()
    endpoints: Mapping[str, "AllowedEndpoint"] = field(default_factory=dict)
    tokens: Mapping[str, ApiToken] = field(default_factory=dict)
    adopted: tuple[Adoption, ...] = ()
    """Ranges of entries that no key vouched for: what they grant does not count."""
    revocations: int = 0
    """How many keys were revoked: what they signed from then on does not count either."""
    head: Head | None = None
    """The log that this is what is known of: one with the same head says the same."""
    state: tuple[int, int] | None = None
    """Of the database, before that was read: as long as it is the same, so is the log."""


@dataclass(frozen=True, slots=True)
class AllowedEndpoint:
    """Where documents may go to be judged: since when, who said so, and in which entry."""

    url: str
    since: str
    by: str
    entry: int


def access_of(acting: Acting) -> Access:
    """Return the grants and the owners of agents that are in force; reads only what is new."""
    state = acting.database.state()
    seen = acting.opened.roles.get(acting.tenant)
    if seen is not None and state is not None and seen.state == state:
        return seen
    with acting.database.read() as connection:
        head = log.read_head(connection, acting.tenant)
        same = seen if seen is not None and head is not None and seen.head == head else None
        access = replace(same or _access_now(acting, connection), head=head, state=state)
    acting.opened.roles.put(acting.tenant, access)
    return access


def permitting(acting: Acting) -> Access:
    """Return what permits: not before it is known that the log was not cut back.

    What was cut off may have taken a role away.
    """
    acting.refuse_rollback()
    return access_of(acting)


def _access_now(acting: Acting, connection: "Connection") -> Access:
    adopted = acting.unvouched(connection)
    authority = authority_of(acting, connection)
    revoked = len(authority.revocations)
    seen = acting.opened.roles.get(acting.tenant)
    if seen is None or (seen.adopted, seen.revocations) != (adopted, revoked):
        seen = Access(adopted=adopted, revocations=revoked)
    found = acting.entries(EntryKind.ACCESS, connection=connection, after=seen.seq)
    vouched = [one for one in found if not covers(adopted, one.entry.seq)]
    decide = {one.entry.seq for one in counting(acting, vouched, authority=authority)}
    logged = [
        one
        for one in found
        if one.entry.seq in decide or (covers(adopted, one.entry.seq) and _takes_away(one.body))
    ]
    if not logged:
        return seen
    grants, owners, endpoints = dict(seen.grants), set(seen.owners), dict(seen.endpoints)
    for one in logged:
        match one.body:
            case {"action": "grant", **fields}:
                fields.pop(SIGNATURE, None)
                grant = Grant.model_validate(fields)
                grants[grant.user, grant.role.value] = grant
            case {"action": "revoke", "user": str(user), "role": str(role)}:
                grants.pop((user, role), None)
            case {"action": "own", "user": str(user), "agent_name": str(agent)}:
                owners.add(AgentOwner(user=user, tenant_id=acting.tenant, agent_name=agent))
            case {"action": "allow_judge", "url": str(url), "by": str(by)}:
                entry = one.entry
                endpoints[url] = AllowedEndpoint(url, entry.at, by, entry.seq)
            case {"action": "disallow_judge", "url": str(url)}:
                endpoints.pop(url, None)
    return replace(
        seen,
        seq=logged[-1].entry.seq,
        grants=grants,
        owners=frozenset(owners),
        endpoints=endpoints,
        tokens=tokens.told(seen.tokens, acting.tenant, logged),
    )


def _takes_away(body: object) -> bool:
    """Whether an entry only takes something away: that counts in a tail that is not signed, too."""
    match body:
        case {"action": "revoke" | "disallow_judge" | "revoke_token"}:
            return True
    return False


def authorizer(acting: Acting) -> Authorizer:
    """Return what decides who may do what in this tenant, as things are now.

    What the signed trail does not grant is refused, whatever else is asked: an authorizer that was
    handed in, such as OpenFGA, only narrows.
    """
    granted = granting(acting)
    outside, scopes = acting.opened.authorizer, acting.asked.scopes
    found = granted if outside is None else BothAuthorizer(granted, outside)
    return found if scopes is None else NarrowedAuthorizer(found, scopes)


def granting(acting: Acting) -> RoleTable:
    """Return what decides by the grants in the trail alone."""
    known: dict[str, PackFacts | None] = {}

    def facts(name: str) -> PackFacts | None:
        if name not in known:
            known[name] = _facts(acting, name)
        return known[name]

    access = acting.asked.access or permitting(acting)
    return RoleTable(
        grants=access.grants.values(), owners=access.owners, facts=facts, now=acting.now
    )


def pack_id_of(acting: Acting, name: str) -> str | None:
    """Return the id of the pack that a name stands for; None if there is none."""
    found = acting.read(_find, name)
    return None if found is None else found.id


def _facts(acting: Acting, name: str) -> PackFacts | None:
    with acting.database.read() as connection:
        found = _find(connection, acting.tenant, name)
        if found is None:
            return None
        chain = packs.versions(connection, acting.tenant, found)
    return PackFacts(
        pack_id=found.id,
        tenant_id=acting.tenant,
        agent_name=chain[0].agent_name,
        conflicted=any(one.conflicted for one in chain),
    )


def _find(connection: "Connection", tenant: str, name: str) -> packs.ListedPack | None:
    try:
        return packs.find_pack(connection, tenant, name)
    except NotFoundError:
        return None

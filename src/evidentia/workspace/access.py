"""The shell around access: what a user may do with packs is what the grants in the trail say.

The owner of an embedded workspace, who names no user, may do everything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import ValidationError

from evidentia.errors import AccessError, InputError, IntegrityError, NotFoundError
from evidentia.frozen import first_problem
from evidentia.logs import get_logger
from evidentia.store import log, packs
from evidentia.store.log import Receipt
from evidentia.store.packs import ListedPack, is_storable
from evidentia.store.signing import SIGNER_SECONDS
from evidentia.trail.audit import StoredEntry
from evidentia.trail.entry import EntryKind, body_commitment
from evidentia.workspace.bundles import BundlesShell
from evidentia.workspace.trail import LoggedEntry, read_logged

if TYPE_CHECKING:
    from pathlib import Path

    from evidentia.access.roles import AgentOwner, Grant, PackFacts, Role, RoleTable
    from evidentia.proof.keys import TrustedKey
    from evidentia.trail.note import VerifierKey

OWNER: Final = "owner"
"""Who does what is done in an embedded workspace without naming a user."""
_OWN_METHODS: Final = (
    EntryKind.DECISION,
    EntryKind.TOOL_CALL,
    EntryKind.PACK,
    EntryKind.REVIEW,
    EntryKind.EXPORT,
    EntryKind.ACCESS,
    EntryKind.RETENTION,
)
_DOING: Final = {
    "list": "list packs",
    "create": "make packs, or record what belongs to them,",
    "audit": "audit packs",
    "sweep": "remove packs, or set how long they are kept,",
    "grant": "give roles or take them away",
    "keys": "change the signing keys",
}
_MOST_NAMED: Final = 1_000
_log = get_logger("workspace")


@dataclass(frozen=True, slots=True)
class _Access:
    """What the trail says of roles, up to an entry."""

    seq: int = -1
    grants: "Mapping[tuple[str, str], Grant]" = field(default_factory=dict)
    owners: "frozenset[AgentOwner]" = frozenset()


class AccessShell(BundlesShell):
    """A tenant's roles, and the name in which a workspace is used."""

    user: str | None = None
    """In whose name packs are made, read and reviewed; None is the workspace's owner."""
    _access_seen: _Access = _Access()

    def acting_as(self, user: str) -> Self:
        """Return this workspace in the name of a user: what they may do is what grants say."""
        check_name(user, "a user")
        self._access()  # read once, for all that act in a user's name
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.user = user
        return other

    def grant_role(
        self, user: str, role: "Role | str", *, expires_at: str | None = None
    ) -> Receipt:
        """Give a user a role in this tenant; an auditor's must expire."""
        from evidentia.access.roles import Grant  # noqa: PLC0415 - loaded when it is needed

        self._require("grant")
        check_name(user, "a user")
        try:
            grant = Grant.model_validate(
                {
                    "user": user,
                    "tenant_id": self.tenant,
                    "role": role,
                    "granted_by": self._actor,
                    "granted_at": self._now(),
                    "expires_at": expires_at,
                }
            )
        except ValidationError as error:
            raise InputError(first_problem(error, Grant, "grant")) from None
        body = {"action": "grant", **grant.model_dump(mode="json")}
        return self._note(EntryKind.ACCESS, f"user/{user}", body)

    def revoke_role(self, user: str, role: "Role | str") -> Receipt:
        """Take a role away from a user, who must have it."""
        from evidentia.access.roles import Role  # noqa: PLC0415 - see above

        self._require("grant")
        if role not in list(Role):
            raise InputError(f"there is no role {role!r}: use {', '.join(Role)}")
        if (user, str(role)) not in self._access().grants:
            raise NotFoundError(f"{user[:80]!r} does not have the role {role}: nothing is changed")
        body = {"action": "revoke", "user": user, "role": str(role), "by": self._actor}
        return self._note(EntryKind.ACCESS, f"user/{user}", body)

    def own_agent(self, user: str, agent_name: str) -> Receipt:
        """Note that an agent is a user's own: its conflicted decisions are not theirs to review."""
        self._require("grant")
        check_name(user, "a user")
        check_name(agent_name, "an agent")
        body = {"action": "own", "user": user, "agent_name": agent_name, "by": self._actor}
        return self._note(EntryKind.ACCESS, f"user/{user}", body)

    def grants(self) -> "list[Grant]":
        """Return the grants of this tenant that were not taken away, the oldest first."""
        self._require("list")
        return list(self._access().grants.values())

    def authorizer(self) -> "RoleTable":
        """Return what decides who may do what with this tenant's packs, as things are now."""
        from evidentia.access.roles import RoleTable  # noqa: PLC0415 - see above

        known: dict[str, PackFacts | None] = {}

        def facts(pack_id: str) -> "PackFacts | None":
            if pack_id not in known:
                known[pack_id] = self._facts(pack_id)
            return known[pack_id]

        access = self._access()
        return RoleTable(
            grants=access.grants.values(), owners=access.owners, facts=facts, now=self._now()
        )

    # What others offer too, and a user may not simply do

    def record(
        self, kind: EntryKind, subject: str, body: Any, *, idempotency_key: str | None = None
    ) -> Receipt:
        """Append an entry of a kind without a method of its own (bundles, ledgers, packs …).

        In a user's name, what belongs to packs is recorded by its own methods alone.
        """
        if self.user is not None and kind in _OWN_METHODS:
            raise AccessError(f"an entry of kind {kind} is recorded by its own method alone")
        return super().record(kind, subject, body, idempotency_key=idempotency_key)

    def erase(self, seq: int, *, reason: str, by: str) -> Receipt:
        """Erase an entry's body under law; an erasure entry says so, all proofs still hold."""
        self._require("sweep")
        return super().erase(seq, reason=reason, by=by)

    def rotate_key(self) -> "VerifierKey":
        """Announce a new key in the log; the old one signs last the log with that announcement."""
        self._require("keys")
        return super().rotate_key()

    def use_command(
        self,
        key: "str | Path | VerifierKey | TrustedKey",
        command: Sequence[str],
        *,
        timeout: float = SIGNER_SECONDS,
    ) -> "VerifierKey":
        """Announce a key that a command signs with, in place of the one there is, if any.

        `key` is its public half, or a file with it; the private half is never here. The command
        gets the bytes to sign on standard input and prints the signature within `timeout` seconds.
        """
        self._require("keys")
        return super().use_command(key, command, timeout=timeout)

    # Within

    def _check_reader(self) -> None:
        self._require("list", "read the trail")

    @property
    def _actor(self) -> str:
        return self.user or OWNER

    def _note(self, kind: EntryKind, subject: str, body: Any) -> Receipt:
        """Record what a method of ours did, in whoever's name."""
        return super().record(kind, subject, body)

    def _access(self) -> _Access:
        """Return the grants and the owners of agents that are in force; reads only what is new."""
        from evidentia.access.roles import AgentOwner, Grant  # noqa: PLC0415 - see above

        seen = self._access_seen
        with self._database.read() as connection:
            rows = log.find_entries(connection, self.tenant, kind=EntryKind.ACCESS, after=seen.seq)
        if not rows:
            return seen
        grants, owners = dict(seen.grants), set(seen.owners)
        for logged in map(committed, rows):
            match logged.body:
                case {"action": "grant", **fields}:
                    grant = Grant.model_validate(fields)
                    grants[grant.user, grant.role.value] = grant
                case {"action": "revoke", "user": str(user), "role": str(role)}:
                    grants.pop((user, role), None)
                case {"action": "own", "user": str(user), "agent_name": str(agent)}:
                    owners.add(AgentOwner(user=user, tenant_id=self.tenant, agent_name=agent))
        self._access_seen = _Access(rows[-1][0], grants, frozenset(owners))
        return self._access_seen

    def _facts(self, pack_id: str) -> "PackFacts | None":
        from evidentia.access.roles import PackFacts  # noqa: PLC0415 - see above

        with self._database.read() as connection:
            try:
                found = packs.find_pack(connection, self.tenant, pack_id)
            except NotFoundError:
                return None
            chain = packs.versions(connection, self.tenant, found)
        return PackFacts(
            pack_id=found.id,
            tenant_id=self.tenant,
            agent_name=chain[0].agent_name,
            conflicted=any(one.conflicted for one in chain),
        )

    def _require(self, action: str, doing: str | None = None) -> None:
        """Raise `AccessError` unless the user may do something in this tenant."""
        if self.user is None:
            return
        from evidentia.access.roles import Action  # noqa: PLC0415 - see above

        decision = self.authorizer().decide(self.user, Action(action), self.tenant)
        if not decision.allowed:
            self._note_refusal(action, self.tenant, decision.reason)
            raise AccessError(
                f"{self.user} may not {doing or _DOING[action]} in tenant {self.tenant!r}: ask an "
                "admin for a role that may"
            )

    def _find(self, name: str, action: str) -> ListedPack:
        """Return a pack that the user may do something with.

        One that they may not even see is one that is not there.
        """
        if self.user is None:
            with self._database.read() as connection:
                return packs.find_pack(connection, self.tenant, name)
        from evidentia.access.roles import Action  # noqa: PLC0415 - see above

        roles = self.authorizer()
        try:
            with self._database.read() as connection:
                listed = packs.find_pack(connection, self.tenant, name)
        except NotFoundError:
            listed = None
        if listed is None or not roles.may(self.user, Action.VIEW, listed.id):
            raise NotFoundError(f"there is no pack {name[:80]!r} that {self.user} may see")
        decision = roles.decide(self.user, Action(action), listed.id)
        if not decision.allowed:
            self._note_refusal(action, listed.id, decision.reason)
            raise AccessError(f"{self.user} may not {action.replace('_', ' ')} pack {listed.id}")
        return listed

    def _note_refusal(self, action: str, on: str, reason: str) -> None:
        _log.info("access_refused", user=self.user, action=action, on=on, reason=reason)


def check_name(name: str, what: str) -> None:
    """Raise `InputError` for what can be the name of no one and nothing."""
    if not name.strip() or len(name) > _MOST_NAMED or not is_storable(name):
        raise InputError(f"{what} has a name: text of 1 to {_MOST_NAMED:,} characters")


def committed(row: StoredEntry) -> LoggedEntry:
    """Read an entry; raise `IntegrityError` if its body is not what it commits to."""
    logged, salt, body = read_logged(row), row[4], row[5]
    if body is not None and body_commitment(salt or b"", body) != logged.entry.body:
        raise IntegrityError(
            f"entry {logged.entry.seq}: its body is not what it commits to; run 'evidentia trail "
            "verify'"
        )
    return logged

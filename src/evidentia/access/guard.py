"""The guard: what each method of a workspace takes, in one table, and whoever it asks.

What is not in the table is refused, to the owner too. The owner of an embedded workspace, who
names no user, may do all that is in it. A user may do what the authorizer says: the role table,
and OpenFGA too where it is asked; only `may` is called. What a user may not see is answered as if
it was not there.
An agent, in whosever name it acts, may do what the table has for agents, and no more than that one.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from evidentia.access.actions import Action, Authorizer
from evidentia.errors import AccessError, NotFoundError
from evidentia.logs import get_logger


class On(StrEnum):
    """What a method is about: the tenant, or the pack that its first argument names."""

    TENANT = "tenant"
    PACK = "pack"


class Need(NamedTuple):
    """What calling a method takes: an action, on the tenant or on a pack.

    `owner` keeps it to the owner of the workspace, whatever roles a user has. `agent` opens it to
    agents too, which is for what reads evidence or records it, and decides nothing. What is `old`
    may be answered by a replica: it only shows what is there, and proves and permits nothing.
    """

    action: Action
    on: On = On.TENANT
    owner: bool = False
    agent: bool = False
    old: bool = False


_READ, _MAKE = Need(Action.LIST), Need(Action.CREATE)
_AUDIT, _REMOVE = Need(Action.AUDIT), Need(Action.SWEEP)
_GRANT, _KEYS = Need(Action.GRANT), Need(Action.KEYS)
_SHOW, _AGENTS_SHOW = Need(Action.LIST, old=True), Need(Action.LIST, agent=True, old=True)
_SEE = Need(Action.VIEW, On.PACK, old=True)
_AGENTS_READ, _AGENTS_MAKE = Need(Action.LIST, agent=True), Need(Action.CREATE, agent=True)
_AGENTS_SEE = Need(Action.VIEW, On.PACK, agent=True, old=True)

TABLE: Final[Mapping[str, Need]] = MappingProxyType(
    {
        "access.can_view_evidence_pack": _AUDIT,
        "access.drift": _AUDIT,
        "access.export": _AUDIT,
        "access.grant": _GRANT,
        "access.grants": _READ,
        "access.new_token": _GRANT,
        "access.own_agent": _GRANT,
        "access.owners": _READ,
        "access.requests": _AUDIT,
        "access.revoke": _GRANT,
        "access.revoke_token": _GRANT,
        "access.sync": _GRANT,
        "access.telling": _AUDIT,
        "access.tokens": _READ,
        "bundles.audit": _AUDIT,
        "bundles.build": _MAKE,
        "bundles.export": _SHOW,
        "bundles.find": _AGENTS_SHOW,
        "bundles.get": _AGENTS_SHOW,
        "bundles.ids": _SHOW,
        "bundles.items": _SHOW,
        "bundles.list": _AGENTS_SHOW,
        "bundles.of_run": _SHOW,
        "bundles.prove": _READ,
        "bundles.record_run": _MAKE,
        "bundles.render": _AGENTS_SHOW,
        "bundles.runs": _SHOW,
        "bundles.runs_of_artifact": _SHOW,
        "bundles.verify": _READ,
        "bundles.why_cut": _SHOW,
        "documents.add": _MAKE,
        "documents.anchor": _AGENTS_SHOW,
        "documents.chunks": _AGENTS_SHOW,
        "documents.collections": _AGENTS_SHOW,
        "documents.ingest": _MAKE,
        "documents.list": _AGENTS_SHOW,
        "documents.named": _AGENTS_SHOW,
        "documents.page_image": _SHOW,
        "documents.page_text": _SHOW,
        "documents.page_words": _SHOW,
        "documents.record_missing": _MAKE,
        "documents.rectangles": _SHOW,
        "documents.removal": _READ,
        "documents.remove": _REMOVE,
        "documents.resolve": _AGENTS_SHOW,
        "documents.search": _AGENTS_SHOW,
        "documents.sync": _REMOVE,
        "documents.versions": _AGENTS_SHOW,
        "jobs.cancel": _READ,
        "jobs.events": _READ,
        "jobs.file": _READ,
        "jobs.get": _READ,
        "jobs.list": _READ,
        "jobs.start": _READ,
        "judges.allow": Need(Action.GRANT, owner=True),
        "judges.allowed": _READ,
        "judges.disallow": _GRANT,
        "judges.make": _MAKE,
        "ledgers.audit": _AUDIT,
        "ledgers.begin": _MAKE,
        "ledgers.check": _AGENTS_MAKE,
        "ledgers.check_many": _MAKE,
        "ledgers.corpus": _SHOW,
        "ledgers.export": _SHOW,
        "ledgers.export_many": _READ,
        "ledgers.find": _AGENTS_SHOW,
        "ledgers.finish": _MAKE,
        "ledgers.get": _AGENTS_SHOW,
        "ledgers.give_verdict": _MAKE,
        "ledgers.labelled": _SHOW,
        "ledgers.list": _AGENTS_SHOW,
        "ledgers.page": _AGENTS_SHOW,
        "ledgers.prove": _READ,
        "ledgers.prove_corpus": _READ,
        "ledgers.render_many": _SHOW,
        "ledgers.statistics": _SHOW,
        "ledgers.verdicts": _SHOW,
        "packs.approvals": Need(Action.EXPORT, On.PACK),
        "packs.approve_export": Need(Action.APPROVE_EXPORT, On.PACK),
        "packs.assemble": _MAKE,
        "packs.assign": Need(Action.REVIEW, On.PACK),
        "packs.attachment": _SEE,
        "packs.attachment_link": _SEE,
        "packs.audit": _AUDIT,
        "packs.export": Need(Action.EXPORT, On.PACK),
        "packs.find": _AGENTS_SEE,
        "packs.get": _AGENTS_SEE,
        "packs.held": _READ,
        "packs.hold": Need(Action.HOLD, On.PACK),
        "packs.later": _SEE,
        "packs.list": _AGENTS_SHOW,
        "packs.modify": Need(Action.REVIEW, On.PACK),
        "packs.lock": _REMOVE,
        "packs.lock_mode": _READ,
        "packs.missing": _SHOW,
        "packs.prove": Need(Action.EXPORT, On.PACK, owner=True),
        "packs.queue": _SHOW,
        "packs.record_decision": _AGENTS_MAKE,
        "packs.release": Need(Action.RELEASE, On.PACK),
        "packs.retention": _READ,
        "packs.review": Need(Action.REVIEW, On.PACK),
        "packs.revise": Need(Action.REVISE, On.PACK),
        "packs.seal": _MAKE,
        "packs.set_lock_mode": _REMOVE,
        "packs.set_retention": _REMOVE,
        "packs.sweep": _REMOVE,
        "packs.versions": _SEE,
        "spans.find": _READ,
        "spans.of_trace": _READ,
        "spans.open": _READ,
        "spans.put_off": _MAKE,
        "spans.receive": _MAKE,
        "spans.settle": _MAKE,
        "tools.calls": _SHOW,
        "tools.offer": _MAKE,
        "tools.offered": _SHOW,
        "tools.record": _MAKE,
        "tools.take_over": _MAKE,
        "trail.accept_loss": _KEYS,
        "trail.add_witness": _KEYS,
        "trail.adopt": _KEYS,
        "trail.append": _MAKE,
        "trail.append_many": _MAKE,
        "trail.audit": _AUDIT,
        "trail.checkpoint": _READ,
        "trail.checkpoints": _SHOW,
        "trail.entries": _SHOW,
        "trail.enroll": _KEYS,
        "trail.entry": _SHOW,
        "trail.entry_bundle": _SHOW,
        "trail.erase": _REMOVE,
        "trail.keep_checkpoint": _AUDIT,
        "trail.keys": _AGENTS_READ,
        "trail.new_user_key": _READ,
        "trail.prove": _READ,
        "trail.prove_consistency": _READ,
        "trail.prove_under": _READ,
        "trail.public_key": _READ,
        "trail.publish": _READ,
        "trail.receipts": _MAKE,
        "trail.records": _SHOW,
        "trail.remove_witness": _KEYS,
        "trail.revocations": _AGENTS_READ,
        "trail.signed_by": _READ,
        "trail.revoke_key": _KEYS,
        "trail.rotate_key": _KEYS,
        "trail.send_to_witnesses": _READ,
        "trail.signed_size": _READ,
        "trail.size": _READ,
        "trail.tile": _SHOW,
        "trail.timeline": _SHOW,
        "trail.use_command": _KEYS,
        "trail.use_token": _KEYS,
        "trail.users": _READ,
        "trail.withdraw": _KEYS,
        "trail.witnesses": _READ,
        "whole.audit": _AUDIT,
    }
)
"""Every public method of every part of a workspace, and what it takes."""

_DOING: Final[Mapping[Action, str]] = MappingProxyType(
    {
        Action.LIST: "read evidence",
        Action.CREATE: "make or record evidence",
        Action.AUDIT: "audit evidence",
        Action.SWEEP: "remove evidence, or set how long it is kept,",
        Action.GRANT: "give roles or take them away",
        Action.KEYS: "change the signing keys",
    }
)
_INSTEAD: Final[Mapping[str, str]] = MappingProxyType(
    {
        "judges.allow": "who else wants documents sent somewhere asks them to allow it",
        "packs.prove": "a pack leaves it by its export, with an approval",
    }
)
"""What a user does instead of what is the owner's."""
_log = get_logger("access")


class Guard:
    """Lets a user pass, or not, in a tenant. `find` gives a pack's id by a name of it, or None."""

    def __init__(
        self,
        user: str | None,
        tenant: str,
        authorizer: Callable[[], Authorizer],
        find: Callable[[str], str | None],
        agent: str | None = None,
    ) -> None:
        self._user = user
        self._agent = agent
        self._tenant = tenant
        self._authorizer = authorizer
        self._find = find

    def admit(self, method: str, named: str | None = None) -> str | None:
        """Return the id of the pack that a method is about, or what named it to the owner.

        Raise `AccessError` unless it may be called, `NotFoundError` if the pack may not be seen.
        """
        need = TABLE.get(method)
        if need is None:
            raise AccessError(f"{method} is for no one: the guard's table has no row for it")
        if self._agent is not None and not need.agent:
            self._refuse(need.action, named or self._tenant)
            raise AccessError(
                f"{method} is not for agents, and {self._agent} is one: ask a person to do it"
            )
        if self._user is None:
            return named
        if need.owner:
            raise AccessError(f"{method} is for the owner of the workspace: {_INSTEAD[method]}")
        if need.on is On.PACK:
            return self._admit_to_pack(self._user, need.action, str(named))
        if not self._authorizer().may(self._user, need.action, self._tenant):
            self._refuse(need.action, self._tenant)
            raise AccessError(
                f"{self._user} may not {_DOING[need.action]} in tenant {self._tenant!r}: ask an "
                "admin for a role that may"
            )
        return None

    def _admit_to_pack(self, user: str, action: Action, name: str) -> str:
        authorizer = self._authorizer()
        pack_id = self._find(name)
        if pack_id is None:  # whoever does not answer must not tell by it what is there
            authorizer.may(user, Action.LIST, self._tenant)
        if pack_id is None or not authorizer.may(user, Action.VIEW, pack_id):
            raise NotFoundError(f"there is no pack {name[:80]!r} that {user} may see")
        if action is not Action.VIEW and not authorizer.may(user, action, pack_id):
            self._refuse(action, pack_id)
            raise AccessError(f"{user} may not {action.replace('_', ' ')} pack {pack_id}")
        return pack_id

    def _refuse(self, action: Action, on: str) -> None:
        said = {"user": self._user, "agent": self._agent, "action": action.value, "on": on}
        _log.info("access_refused", **said)

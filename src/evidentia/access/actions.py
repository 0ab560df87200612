"""What can be done with evidence, which role may do it, and who is asked."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Protocol


class Role(StrEnum):
    """What a user is in a tenant."""

    VIEWER = "viewer"
    """Reads evidence."""
    APPROVER = "approver"
    """Makes evidence too, revises, reviews and exports packs, and approves exports."""
    ADMIN = "admin"
    """May do everything."""
    AUDITOR = "auditor"
    """Reads evidence and audits it, for a limited time."""


class Action(StrEnum):
    """What can be done with a pack, or with all evidence of a tenant."""

    VIEW = "view"
    REVISE = "revise"
    REVIEW = "review"
    EXPORT = "export"
    APPROVE_EXPORT = "approve_export"
    HOLD = "hold"
    RELEASE = "release"

    LIST = "list"
    """Read the trail, documents, ledgers, bundles and tool calls, and list packs."""
    CREATE = "create"
    """Append, ingest, check, build bundles, make packs, and record what belongs to them."""
    AUDIT = "audit"
    SWEEP = "sweep"
    """Erase, remove what need not be kept any longer, and set how long that is."""
    GRANT = "grant"
    """Give and take away roles, and say who owns which agent."""
    KEYS = "keys"
    """Make, rotate and revoke the tenant's signing keys, enroll and withdraw those of users."""


PACK_ACTIONS: Final = frozenset(
    {
        Action.VIEW,
        Action.REVISE,
        Action.REVIEW,
        Action.EXPORT,
        Action.APPROVE_EXPORT,
        Action.HOLD,
        Action.RELEASE,
    }
)
"""What is done with one pack; all else is done in a tenant."""

MAY: Final[Mapping[Role, frozenset[Action]]] = MappingProxyType(
    {
        Role.VIEWER: frozenset({Action.VIEW, Action.LIST}),
        Role.AUDITOR: frozenset({Action.VIEW, Action.LIST, Action.AUDIT}),
        Role.APPROVER: frozenset(
            {
                Action.VIEW,
                Action.LIST,
                Action.CREATE,
                Action.REVISE,
                Action.REVIEW,
                Action.EXPORT,
                Action.APPROVE_EXPORT,
            }
        ),
        Role.ADMIN: frozenset(Action),
    }
)
"""Who may do what. `model.fga` says the same to OpenFGA."""


class Authorizer(Protocol):
    """Says who may do what: to what is unknown, forbidden or expired alike, no.

    Who subclasses it writes `may` alone. It may raise `UndecidedError`, which refuses too.
    """

    @abstractmethod
    def may(self, user: str, action: Action, on: str) -> bool:
        """Whether a user may do something with the pack, or in the tenant, that `on` names."""

    def may_each(self, user: str, action: Action, on: Sequence[str]) -> list[bool]:
        """Whether a user may do something with each of what `on` names, in that order."""
        return [self.may(user, action, one) for one in on]

    def can_view_evidence_pack(self, user: str, pack_id: str) -> bool:
        """Whether a user may read a pack, and verify it."""
        return self.may(user, Action.VIEW, pack_id)


class NarrowedAuthorizer(Authorizer):
    """Says no to all but some actions, and else what another one says."""

    def __init__(self, inner: Authorizer, actions: frozenset[Action]) -> None:
        self._inner = inner
        self._actions = actions

    def may(self, user: str, action: Action, on: str) -> bool:
        """Whether the action is one of those, and the user may do it."""
        return action in self._actions and self._inner.may(user, action, on)

    def may_each(self, user: str, action: Action, on: Sequence[str]) -> list[bool]:
        """Whether the action is one of those, and the user may do it with each."""
        if action not in self._actions:
            return [False] * len(on)
        return self._inner.may_each(user, action, on)


class BothAuthorizer(Authorizer):
    """Says yes where both of two do. The second is asked only about what the first allows."""

    def __init__(self, first: Authorizer, second: Authorizer) -> None:
        self._first = first
        self._second = second

    def may(self, user: str, action: Action, on: str) -> bool:
        """Whether both say that the user may."""
        return self._first.may(user, action, on) and self._second.may(user, action, on)

    def may_each(self, user: str, action: Action, on: Sequence[str]) -> list[bool]:
        """Whether both say that the user may, for each of what `on` names."""
        first = self._first.may_each(user, action, on)
        left = [one for one, allowed in zip(on, first, strict=True) if allowed]
        second = iter(self._second.may_each(user, action, left) if left else ())
        return [allowed and next(second) for allowed in first]

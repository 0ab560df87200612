"""Tokens by which programs act as a user: made, recorded by the digest of a secret, revoked.

A token is text that names its tenant and itself and ends in a secret. What it permits is what the
grants of its user permit, within its scopes; so a token is looked up as grants are, in entries of
the trail that are proved.
"""

import base64
import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter, ValidationError

from evidentia.access.actions import Action
from evidentia.canonical import sha256_hex
from evidentia.errors import InputError, IntegrityError
from evidentia.times import Time
from evidentia.trail.entry import Entry, EntryKind
from evidentia.workspace.acting import Acting, check_name
from evidentia.workspace.logged import LoggedEntry

if TYPE_CHECKING:
    from evidentia.store.sql.log import Receipt
    from evidentia.workspace.opened import Opened

_PREFIX: Final = "evt"
_ID_BYTES: Final = 8
_SECRET_BYTES: Final = 32
_MOST_NAME: Final = 200
_TIME: Final[TypeAdapter[str | None]] = TypeAdapter(Time | None)
_TOKEN: Final = re.compile(
    r"evt~([a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?)~([0-9a-f]{16})~([A-Za-z0-9_-]{43})"
)


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token as the trail has it: whose, what for, how far, how long. Its secret is not in it."""

    token_id: str
    tenant: str
    user: str
    name: str
    scopes: frozenset[Action] | None
    secret_sha256: str
    created_at: str
    created_by: str
    expires_at: str | None
    entry: int

    @classmethod
    def read(cls, tenant: str, entry: Entry, body: Mapping[str, Any]) -> "ApiToken":
        """Return what an entry says of a token; raise `IntegrityError` if it says no such thing."""
        try:
            scopes = body["scopes"]
            return cls(
                token_id=body["token_id"],
                tenant=tenant,
                user=body["user"],
                name=body["name"],
                scopes=None if scopes is None else frozenset(map(Action, scopes)),
                secret_sha256=body["secret_sha256"],
                created_at=entry.at,
                created_by=body["by"],
                expires_at=body["expires_at"],
                entry=entry.seq,
            )
        except (KeyError, TypeError, ValueError):
            raise IntegrityError(f"entry {entry.seq}: its body does not describe a token") from None

    def is_expired(self, now: str) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and self.expires_at <= now

    def as_json(self) -> dict[str, Any]:
        """Return what may be shown of it."""
        return {
            "token_id": self.token_id,
            "user": self.user,
            "name": self.name,
            "scopes": None if self.scopes is None else sorted(self.scopes),
            "created_at": self.created_at,
            "created_by": self.created_by,
            "expires_at": self.expires_at,
            "entry": self.entry,
        }


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that was just made; `text` is what a program sends, and is kept nowhere."""

    text: str
    token: ApiToken

    def __repr__(self) -> str:
        return f"NewToken({self.token.token_id})"


def issue(
    acting: Acting,
    user: str,
    *,
    name: str,
    scopes: Iterable[Action | str] | None,
    expires_at: str | datetime | None,
) -> NewToken:
    """Make a token and record it; the secret is in what is returned and nowhere else."""
    check_name(user, "a user")
    Acting(acting.opened, acting.tenant, user)  # refuses the owner's name, as signing in would
    if len(name) > _MOST_NAME:
        raise InputError(f"a token's name has {len(name)} characters, {_MOST_NAME} at most")
    if name:
        check_name(name, "a token")
    now, ends = acting.now, _ends(expires_at)
    if ends is not None and ends <= now:
        raise InputError(f"the token would end at {ends}, which is over: give a later time")
    token_id = acting.opened.randomness(_ID_BYTES).hex()
    secret = base64.urlsafe_b64encode(acting.opened.randomness(_SECRET_BYTES)).decode().rstrip("=")
    body = {
        "action": "new_token",
        "token_id": token_id,
        "user": user,
        "name": name,
        "scopes": None if scopes is None else _checked(scopes),
        "secret_sha256": sha256_hex(secret.encode()),
        "expires_at": ends,
        "by": acting.actor,
    }
    receipt = acting.record(EntryKind.ACCESS, _subject(token_id), body)
    token = ApiToken.read(acting.tenant, acting.entry(receipt.seq).entry, body)
    return NewToken(f"{_PREFIX}~{acting.tenant}~{token_id}~{secret}", token)


def revoke(acting: Acting, token_id: str) -> "Receipt":
    """Record that a token opens nothing any more."""
    body = {"action": "revoke_token", "token_id": token_id, "by": acting.actor}
    return acting.record(EntryKind.ACCESS, _subject(token_id), body)


def told(
    known: Mapping[str, ApiToken], tenant: str, logged: Iterable[LoggedEntry]
) -> dict[str, ApiToken]:
    """Return the tokens that are known, with what more entries say of tokens."""
    found = dict(known)
    for one in logged:
        match one.body:
            case {"action": "new_token", "token_id": str(token_id)}:
                found[token_id] = ApiToken.read(tenant, one.entry, one.body)
            case {"action": "revoke_token", "token_id": str(token_id)}:
                found.pop(token_id, None)
    return found


def holder(opened: "Opened", text: str) -> ApiToken | None:
    """Return the token that a text is; None if it is none, or was revoked, or is over."""
    found = _TOKEN.fullmatch(text)
    if found is None:
        return None
    tenant, token_id, secret = found.groups()
    token = live(opened, tenant, token_id)
    if token is None or not hmac.compare_digest(token.secret_sha256, sha256_hex(secret.encode())):
        return None
    return token


def live(opened: "Opened", tenant: str, token_id: str) -> ApiToken | None:
    """Return a token by its id; None if there is none, or was revoked, or is over."""
    from evidentia.workspace.access import permitting  # noqa: PLC0415 - it knows this module

    token = permitting(Acting(opened, tenant, None)).tokens.get(token_id)
    return None if token is None or token.is_expired(opened.now()) else token


def _ends(expires_at: str | datetime | None) -> str | None:
    try:
        return _TIME.validate_python(expires_at)
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"when the token ends: {problem}") from None


def _checked(scopes: Iterable[Action | str]) -> list[str]:
    known = {str(scope) for scope in scopes}
    if wrong := sorted(known - set(Action)):
        raise InputError(f"there is no action {wrong[0]!r}: use {', '.join(Action)}")
    if not known:
        raise InputError("a token without any scope could do nothing: name one, or none to narrow")
    return sorted(known)


def _subject(token_id: str) -> str:
    return f"token/{token_id}"

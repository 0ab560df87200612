"""Who signs what permits and forbids, and which of these entries count."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from sqlalchemy import Connection

from evidentia.errors import EnvironmentProblem, IntegrityError
from evidentia.proof.authority import USER_KEY, Authority, Enrolled, is_the_logs
from evidentia.proof.keys import SigningKey
from evidentia.proof.revocation import Revocation
from evidentia.workspace.acting import Acting
from evidentia.workspace.logged import LoggedEntry

USERS = "_users"
"""Where users' private keys are, beside those of tenants: no tenant is called so."""
_ENDLESS: Final = 1 << 62


def authority_of(acting: Acting, connection: Connection | None = None) -> Authority:
    """Return who may sign what in this log."""
    if connection is None:
        with acting.database.read() as opened:
            return authority_of(acting, opened)
    return acting.opened.appending.authority(connection, acting.tenant)


def signer(acting: Acting, connection: Connection, body: Any) -> SigningKey:
    """Return the key that signs an entry in the name of who acts.

    It is the log's, unless the user has enrolled one. Raise `EnvironmentProblem` if that one is
    not here.
    """
    held = acting.opened.appending.held(connection)
    enrolled = authority_of(acting, connection).enrolled(acting.actor, held.head.size)
    if enrolled is None or is_the_logs(body):
        return held.signing_key()
    return user_signer(acting, enrolled)


def user_signer(acting: Acting, enrolled: Enrolled) -> SigningKey:
    """Return the private key of a user; raise `EnvironmentProblem` if it is not here."""
    keys, key_id = acting.opened.keys, enrolled.key.key_id
    key = keys.load(USERS, key_id, USER_KEY)
    if key is None:
        raise EnvironmentProblem(
            f"{enrolled.user!r} has enrolled key {key_id}, which has to sign what is done in that "
            f"name, and it is not in {keys.where(USERS, key_id)}: act from the home that has it, "
            "or have an admin withdraw it ('evidentia keys withdraw')"
        )
    return key


def prepare(acting: Acting) -> None:
    """Open the key of who acts before a lock is held, where there is one: it may be encrypted.

    One that is not here is missed only by an entry that needs it.
    """
    with suppress(EnvironmentProblem, IntegrityError):  # of a damaged log, who decides is told
        enrolled = authority_of(acting).enrolled(acting.actor, _ENDLESS)
        if enrolled is not None:
            user_signer(acting, enrolled)


def counting(
    acting: Acting,
    found: Sequence[LoggedEntry],
    connection: Connection | None = None,
    authority: Authority | None = None,
) -> list[LoggedEntry]:
    """Return the entries that decide: signed by who may sign them, or from before that was asked.

    Raise `IntegrityError` for one without its body, which nothing erases.
    """
    if not found:
        return []
    authority = authority or authority_of(acting, connection)
    return [one for one in found if _problem(acting, authority, one) is None]


def _problem(acting: Acting, authority: Authority, logged: LoggedEntry) -> str | Revocation | None:
    entry = logged.entry
    if logged.erased:
        raise IntegrityError(
            f"entry {entry.seq}: its body is gone, and those of kind {entry.kind} are never "
            "erased; run 'evidentia trail verify'"
        )
    known = acting.opened.appending.known
    return known.problem(authority, entry, logged.leaf, logged.body)

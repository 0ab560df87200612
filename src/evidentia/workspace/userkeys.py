"""Keys of users: made in a home, enrolled in the log, and withdrawn from it."""

from evidentia.errors import InputError, NotFoundError
from evidentia.logs import get_logger
from evidentia.proof.authority import USER_KEY, user_key, user_subject
from evidentia.store.sql.log import Receipt
from evidentia.trail.entry import EntryKind
from evidentia.trail.note import VerifierKey
from evidentia.workspace.acting import Acting, check_name
from evidentia.workspace.authority import USERS, authority_of

_log = get_logger("workspace")


def new_key(acting: Acting) -> VerifierKey:
    """Make a user's key in this home; return its public half, which an admin enrolls."""
    keys = acting.opened.keys
    passphrase = keys.new_passphrase(USERS)
    return keys.make(USERS, USER_KEY, acting.opened.randomness, passphrase).verifier


def enroll(acting: Acting, user: str, public_key: bytes) -> Receipt:
    """Record that a key is a user's own; it takes the place of the one there is."""
    check_name(user, "a user")
    key = user_key(public_key)
    with acting.writing() as connection:
        held = acting.opened.appending.held(connection)
        if not held.key_ids:  # a log that begins with this begins with its own key
            held.announce(held.signing_key(), at=acting.now)
        current = authority_of(acting, connection).enrolled(user, held.head.size)
        if current is not None and current.key == key:
            raise InputError(f"key {key.key_id} is the one of {user!r} already")
        body = {"enrolls": str(key), "user": user, "by": acting.actor}
        receipt = acting.append_within(connection, EntryKind.KEY, user_subject(user), body)
    _log.info("user_key_enrolled", tenant=acting.tenant, key_id=key.key_id, entry=receipt.seq)
    return receipt


def withdraw(acting: Acting, user: str) -> Receipt:
    """Record that a user has no key any more."""
    with acting.writing() as connection:
        held = acting.opened.appending.held(connection)
        current = authority_of(acting, connection).enrolled(user, held.head.size)
        if current is None:
            raise NotFoundError(f"{user[:80]!r} has no key: nothing is changed")
        body = {"withdraws": current.key.key_id, "user": user, "by": acting.actor}
        receipt = acting.append_within(connection, EntryKind.KEY, user_subject(user), body)
    _log.info("user_key_withdrawn", tenant=acting.tenant, entry=receipt.seq)
    return receipt

"""Revoking a key: an entry says from which size of the log on it is not to be believed."""

from evidentia.errors import InputError, NotFoundError
from evidentia.language.counting import counted
from evidentia.logs import get_logger
from evidentia.proof.authority import KINDS as AUTHORITY
from evidentia.proof.authority import is_the_logs
from evidentia.proof.revocation import Revocation
from evidentia.store.sql import log
from evidentia.store.sql.log import Receipt
from evidentia.trail.entry import Entry, EntryKind
from evidentia.trail.note import VerifierKey
from evidentia.workspace.acting import Acting
from evidentia.workspace.authority import authority_of

MAX_REASON = 1_000
_log = get_logger("workspace")


def signed_by(acting: Acting, key_id: str, from_size: int) -> list[Entry]:
    """Return the entries that count by a key's signature from a size on, in their order."""
    authority = authority_of(acting)
    found = [
        logged
        for kind in sorted(AUTHORITY)
        for logged in acting.entries(EntryKind(kind))
        if logged.entry.seq + 1 >= from_size and not is_the_logs(logged.body)
    ]
    return sorted(
        (
            logged.entry
            for logged in found
            if isinstance(signer := authority.signer(logged.entry, logged.body), VerifierKey)
            and signer.key_id == key_id
            and authority.distrusted(logged.entry, logged.body) is None
        ),
        key=lambda entry: entry.seq,
    )


def revoke(acting: Acting, key_id: str, from_size: int, reason: str) -> Receipt:
    """Record that a key is not to be believed from a size on; it may not be the one that signs."""
    if not reason.strip() or len(reason) > MAX_REASON:
        raise InputError(f"revoking a key needs a reason, of at most {MAX_REASON:,} characters")
    with acting.writing() as connection:  # no one replaces the key meanwhile
        head = acting.opened.appending.held(connection).head
        key_ids = [known for _, known, _ in log.keys(connection, acting.tenant)]
        if key_id not in key_ids:
            raise NotFoundError(f"the log has no key {key_id[:40]!r}: see 'evidentia keys list'")
        if key_id == key_ids[-1]:
            raise InputError(
                f"key {key_id} signs now: replace it first, by 'evidentia keys rotate' (or "
                "'keys rotate --lost' where you no longer have it), and then revoke it"
            )
        if not 1 <= from_size <= head.size:
            entries = counted(head.size, "entry", "entries")
            raise InputError(f"a key is revoked from a size of 1 to {head.size} on: {entries}")
        for one in authority_of(acting, connection).revocations:
            if one.is_of(key_id, from_size):
                raise InputError(f"nothing is changed: {one.told}")
        revocation = Revocation(head.size, key_id, from_size, reason, acting.actor)
        receipt = acting.append_within(
            connection, EntryKind.KEY, revocation.subject, revocation.body()
        )
    _log.info("key_revoked", tenant=acting.tenant, key_id=key_id, from_size=from_size)
    return receipt

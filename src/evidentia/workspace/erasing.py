"""Erasing by law: an entry's body, and all that is kept of what it records."""

from sqlalchemy import Connection

from evidentia.errors import InputError, UsageError
from evidentia.logs import get_logger
from evidentia.store.sql import bundles, ledgers, log
from evidentia.store.sql.log import Receipt
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.holds import refuse_held
from evidentia.workspace.keeping import condemn_unused, finish_removals
from evidentia.workspace.logged import LoggedEntry, committed

_NEVER = (
    EntryKind.ERASURE,
    EntryKind.KEY,
    EntryKind.RETENTION,
    EntryKind.ACCESS,
    EntryKind.EXPORT,
    EntryKind.DOCUMENT,
)
"""What was done, and by whom: a hold that could be erased would hold nothing.

So would a document's digests: its passages, which stay, could be changed unseen.
"""
_log = get_logger("workspace")


def erase(acting: Acting, seq: int, *, reason: str, by: str) -> Receipt:
    """Erase an entry's body under law; an erasure entry says so, all proofs still hold.

    `by` is who asked for it; whoever acts is recorded beside it, as the one who carried it out.
    """
    if not reason.strip() or not by.strip():
        raise InputError("an erasure needs a reason and who asked for it")
    with acting.database.read() as connection:
        log.require_head(connection, acting.tenant)
    receipt, files = acting.writing_ahead(  # no one else erases meanwhile
        lambda connection: erase_within(acting, connection, seq, reason=reason, by=by)
    )
    try:
        finish_removals(acting, files)
    except UsageError as error:
        raise UsageError(
            f"the body of entry {seq} is erased (entry {receipt.seq} records it), and a file of it "
            f"is not: {error}; the next erasure or sweep tries again"
        ) from None
    acting.database.settle()
    _log.info("body_erased", tenant=acting.tenant, entry=seq, recorded_as=receipt.seq)
    return receipt


def erase_within(
    acting: Acting, connection: Connection, seq: int, *, reason: str, by: str
) -> tuple[Receipt, list[str]]:
    """Erase an entry's body under the log's lock; return its files, which are removed after.

    The entry is proved first, and that no hold is on it: rows and indexes decide nothing. Which
    files go with it is what the entry says; a row that says otherwise is refused.
    """
    target = committed(acting.opened.appending.proved(connection, acting.tenant, seq))
    if target.entry.kind in _NEVER:
        raise UsageError(f"entry {seq} is of kind {target.entry.kind} and is never erased")
    if target.erased:
        raise UsageError(f"the body of entry {seq} is erased already")
    refuse_held(acting, connection, target.entry)
    files = _files(acting, target)
    body = {
        "entry": seq,
        "leaf": target.leaf,
        "reason": reason,
        "by": by,
        "carried_out_by": acting.actor,
    }
    receipt = acting.append_within(connection, EntryKind.ERASURE, log.erasure_subject(seq), body)
    log.erase_body(connection, acting.tenant, seq)
    _forget(acting, connection, target)
    condemn_unused(acting, connection, files)
    return receipt, files


def _files(acting: Acting, logged: LoggedEntry) -> list[str]:
    """Return the files of what an entry records, by the entry's own word."""
    match logged.entry.kind:
        case EntryKind.LEDGER:
            from evidentia.workspace.ledgers import LEDGERS  # noqa: PLC0415 - it knows this module

            return LEDGERS.files(acting, logged, lambda _: ())
        case EntryKind.BUNDLE:
            from evidentia.workspace.bundles import BUNDLES, files_of  # noqa: PLC0415 - the same

            return BUNDLES.files(acting, logged, files_of)
        case EntryKind.PACK | EntryKind.REVIEW:
            from evidentia.workspace.sealing import PACKS, attachments_of  # noqa: PLC0415 - the same

            return PACKS.files(acting, logged, attachments_of)
    return []


def _forget(acting: Acting, connection: Connection, logged: LoggedEntry) -> None:
    """Remove the rows of what an erased entry records."""
    entry = logged.entry
    match entry.kind:
        case EntryKind.LEDGER:
            ledgers.erase_ledger(connection, acting.tenant, entry.seq)
        case EntryKind.BUNDLE:
            bundles.erase_bundle(connection, acting.tenant, entry.seq)
        case EntryKind.RUN:
            bundles.erase_run(connection, acting.tenant, entry.seq)
        case EntryKind.PACK | EntryKind.REVIEW:
            from evidentia.workspace.retention import forget_pack  # noqa: PLC0415 - packs alone need it

            forget_pack(acting, connection, logged)

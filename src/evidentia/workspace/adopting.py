"""Adopting entries that an older version left unsigned: recorded, signed, and shown for good."""

from evidentia.errors import ConflictError, InputError, IntegrityError
from evidentia.language.counting import counted
from evidentia.logs import get_logger
from evidentia.store.auditing import AuditReport
from evidentia.store.sql.log import Receipt
from evidentia.trail.adoption import Adoption
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting
from evidentia.workspace.signing import check_lost, new_key

MAX_REASON = 1_000
_log = get_logger("workspace")


def adopt(acting: Acting, report: AuditReport, reason: str, lost: str | None = None) -> Receipt:
    """Take over the unsigned entries that an audit found, where nothing else is wrong.

    `lost` says how the log's key was lost; a new one is announced right behind, and signs both.
    """
    if not reason.strip() or len(reason) > MAX_REASON:
        raise InputError(f"adopting needs a reason, of at most {MAX_REASON:,} characters")
    if report.unsigned is None:
        raise InputError("there is nothing to adopt: the log is signed to its last entry")
    if len(report.findings) > 1:
        others = counted(len(report.findings) - 1, "other thing is", "other things are")
        raise IntegrityError(
            f"nothing is adopted: {others} wrong with the log; 'evidentia trail verify' says what"
        )
    if lost is not None:
        check_lost(acting, lost)
    start, size = report.unsigned
    adoption = Adoption(start, size, report.root, reason, acting.actor)
    passphrase = acting.opened.keys.new_passphrase(acting.tenant) if lost is not None else None
    with acting.writing(by_another_key=lost is not None, adopting=True) as connection:
        held = acting.opened.appending.held(connection)
        if (held.head.size, held.head.root.hex()) != (size, report.root):
            raise ConflictError("the log was appended to meanwhile: nothing is adopted, try again")
        subject, body, at = adoption.subject, adoption.body(), acting.now
        if lost is None:
            receipt = acting.append_within(connection, EntryKind.KEY, subject, body)
        else:
            key = new_key(acting, held.head.origin, passphrase)
            receipt = held.append_signed(EntryKind.KEY, subject, body, at=at, key=key)
            held.announce(key, at=at, lost=lost)
    _log.info("entries_adopted", tenant=acting.tenant, start=start, size=size, entry=receipt.seq)
    return receipt

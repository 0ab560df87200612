"""Adopting entries that an older version left unsigned: recorded, signed, and shown for good."""

from evidentia.errors import ConflictError, InputError, IntegrityError
from evidentia.language.counting import counted
from evidentia.logs import get_logger
from evidentia.store.auditing import AuditReport
from evidentia.store.sql.log import Receipt
from evidentia.trail.adoption import Adoption
from evidentia.trail.entry import EntryKind
from evidentia.workspace.acting import Acting

MAX_REASON = 1_000
_log = get_logger("workspace")


def adopt(acting: Acting, report: AuditReport, reason: str) -> Receipt:
    """Take over the unsigned entries that an audit found, where nothing else is wrong."""
    if not reason.strip() or len(reason) > MAX_REASON:
        raise InputError(f"adopting needs a reason, of at most {MAX_REASON:,} characters")
    if report.unsigned is None:
        raise InputError("there is nothing to adopt: the log is signed to its last entry")
    if len(report.findings) > 1:
        others = counted(len(report.findings) - 1, "other thing is", "other things are")
        raise IntegrityError(
            f"nothing is adopted: {others} wrong with the log; 'evidentia trail verify' says what"
        )
    start, size = report.unsigned
    adoption = Adoption(start, size, report.root, reason, acting.actor)
    with acting.writing(adopting=True) as connection:
        head = acting.opened.appending.held(connection).head
        if (head.size, head.root.hex()) != (size, report.root):
            raise ConflictError("the log was appended to meanwhile: nothing is adopted, try again")
        receipt = acting.append_within(connection, EntryKind.KEY, adoption.subject, adoption.body())
    _log.info("entries_adopted", tenant=acting.tenant, start=start, size=size, entry=receipt.seq)
    return receipt

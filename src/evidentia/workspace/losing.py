"""Accepting that entries are lost: the one lawful way on for a log that was restored too short.

Whoever kept a checkpoint of the lost entries can show for good that they were there; so it is the
log itself that says that they are lost, how many, and why, before anything else is appended.
"""

from pathlib import Path

from evidentia.canonical import sha256_hex
from evidentia.errors import ConflictError, InputError, IntegrityError
from evidentia.language.counting import counted
from evidentia.logs import get_logger
from evidentia.store.auditing import AuditReport
from evidentia.store.files import sync_folder
from evidentia.store.sql.log import Receipt
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.entry import SALT_BYTES
from evidentia.trail.record import create_status_change_record
from evidentia.trail.waiting import waiting_records
from evidentia.workspace.acting import Acting

MAX_REASON = 1_000
_log = get_logger("workspace")


def accept_loss(acting: Acting, report: AuditReport, reason: str) -> Receipt:
    """Put the kept checkpoint aside, and record that what it covers beyond the log is lost."""
    if not reason.strip() or len(reason) > MAX_REASON:
        raise InputError(f"accepting a loss needs a reason, of at most {MAX_REASON:,} characters")
    home = acting.opened.home
    note, path = home.kept_checkpoint(acting.tenant), home.checkpoint_file(acting.tenant)
    named = f"checkpoint kept in {path}"
    lost = [one for one in report.findings if one.what == named]
    if note is None or not lost:
        raise InputError(
            f"there is no loss to accept: the log continues what is kept of it in {path.parent}"
        )
    others = len(report.findings) - len(lost)
    if others or report.unknown:
        raise IntegrityError(
            "the loss is not accepted: something else is wrong with the log; 'evidentia trail "
            "verify' says what"
        )
    kept, _ = read_checkpoint(note)
    if kept.origin != report.origin:
        raise ConflictError(
            f"{path} is of another log ({kept.origin}): if this log was begun anew on purpose, "
            "move that file away"
        )
    aside = _put_aside(path, kept.size)
    try:
        record = create_status_change_record(
            f"log/{report.origin}",
            counted(kept.size, "entry", "entries"),
            counted(report.size, "entry", "entries"),
            reason,
            f"checkpoint/{sha256_hex(note.encode())}",
        )
        acting.refuse_to_fork()
        items = waiting_records(
            [record],
            by=acting.actor,
            at=acting.now,
            salts=acting.opened.randomness(SALT_BYTES),
            keys=[None],
        )
        receipt = acting.append(items)[0]
    except BaseException:
        if not path.exists():
            aside.replace(path)
        acting.opened.continuing.put(acting.tenant, value=False)
        raise
    _log.warning("loss_accepted", tenant=acting.tenant, kept=kept.size, size=report.size)
    return receipt


def _put_aside(path: Path, size: int) -> Path:
    """Move a kept checkpoint to a name of its own beside it, where nothing is."""
    number = 0
    while True:
        aside = path.with_name(f"{path.stem}.lost-{size}{f'-{number}' if number else ''}.txt")
        if not aside.exists():
            path.replace(aside)
            sync_folder(path.parent)
            return aside
        number += 1

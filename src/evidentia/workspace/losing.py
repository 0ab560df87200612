"""Accepting that entries are lost: the one lawful way on for a log that was restored too short.

Whoever kept a checkpoint of the lost entries can show for good that they were there; so it is the
log itself that says that they are lost, how many, and why, before anything else is appended.
"""

from collections.abc import Sequence
from pathlib import Path

from evidentia.canonical import sha256_hex
from evidentia.errors import ConflictError, InputError, IntegrityError
from evidentia.language.counting import counted
from evidentia.logs import get_logger
from evidentia.store.auditing import AuditReport
from evidentia.store.elsewhere import KnownCheckpoint, known_checkpoints
from evidentia.store.files import sync_folder
from evidentia.store.sql.log import Receipt
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
    opened = acting.opened
    known = known_checkpoints(opened.home, acting.tenant, opened.elsewhere)
    by_name = {f"checkpoint kept in {one.place}": one for one in known}
    lost = [by_name[one.what] for one in report.findings if one.what in by_name]
    if not lost:
        raise InputError("there is no loss to accept: the log continues what is kept of it")
    if len(lost) < len(report.findings) or report.unknown:
        raise IntegrityError(
            "the loss is not accepted: something else is wrong with the log; 'evidentia trail "
            "verify' says what"
        )
    for one in lost:
        if one.checkpoint.origin != report.origin:
            raise ConflictError(
                f"{one.place} is of another log ({one.checkpoint.origin}): if this log was begun "
                f"anew on purpose, {one.instead}"
            )
        if not Path(one.place).is_file():  # a bucket, which gives up nothing
            raise ConflictError(f"{one.place} is kept for good: {one.without}")
    largest = max(lost, key=lambda one: one.checkpoint.size)
    aside = _put_aside(acting, lost, report.size)
    try:
        record = create_status_change_record(
            f"log/{report.origin}",
            counted(largest.checkpoint.size, "entry", "entries"),
            counted(report.size, "entry", "entries"),
            reason,
            f"checkpoint/{sha256_hex(largest.note.encode())}",
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
        for path, there in aside:
            if not path.exists():
                there.replace(path)
        acting.opened.continuing.put(acting.tenant, value=False)
        raise
    kept = largest.checkpoint.size
    _log.info("loss_accepted", tenant=acting.tenant, kept=kept, size=report.size)
    return receipt


def _put_aside(
    acting: Acting, lost: Sequence[KnownCheckpoint], size: int
) -> list[tuple[Path, Path]]:
    """Move the checkpoints that a log does not continue to names of their own beside them.

    Of those that witnesses cosigned, the next one shows once the newest is moved.
    """
    home, moved = acting.opened.home, list[tuple[Path, Path]]()
    waiting = list(lost)
    while waiting:
        for one in waiting:
            path = Path(one.place)
            moved.append((path, _moved(path, one.checkpoint.size)))
        known = known_checkpoints(home, acting.tenant)
        waiting = [one for one in known if one.checkpoint.size > size]
    return moved


def _moved(path: Path, size: int) -> Path:
    """Move a file to a name beside it, where nothing is."""
    number = 0
    while True:
        aside = path.with_name(f"{path.stem}.lost-{size}{f'-{number}' if number else ''}.txt")
        if not aside.exists():
            path.replace(aside)
            sync_folder(path.parent)
            return aside
        number += 1

"""Copies of a log that were published, compared with the log that they are of."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from evidentia.errors import EvidentiaError, IntegrityError
from evidentia.language.counting import agreed, counted, ranged
from evidentia.loading.published import published_files
from evidentia.proof.keys import TrustedKey
from evidentia.proof.publication import verify_publication
from evidentia.proof.verification import signature_check
from evidentia.store.sql.log import Head, require_head
from evidentia.store.tree import TileCache, stored_tree
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.note import MAX_NOTE_BYTES
from evidentia.trail.publication import CHECKPOINT
from evidentia.workspace.acting import Acting
from evidentia.workspace.auditing import AuditedPart
from evidentia.workspace.signing import announced_keys

if TYPE_CHECKING:
    from sqlalchemy import Connection

Progress = Callable[[int, int], None]
PUBLISHED = "published"
"""The name of the part of an audit."""


def audit_publications(
    acting: Acting, places: "list[str | Path]", *, quick: bool, progress: Progress
) -> AuditedPart:
    """Compare published copies of the log with it: entries, tiles, checkpoint and its signature.

    `quick` looks at their checkpoints alone. A place that can't be read is a finding.
    """
    looked, findings, left = [], [], []
    for place in places:
        try:
            said, wrong = _audited(acting, place, quick=quick, progress=progress)
        except EvidentiaError as error:
            said, wrong = "what could be read", [str(error)]
        looked.append(f"{place}: {said}")
        findings += [f"{place}: {one}" for one in wrong]
        if quick:
            left.append(f"entries and tiles of {place}: --quick")
    return AuditedPart(PUBLISHED, "; ".join(looked), tuple(findings), (), tuple(left))


def _audited(
    acting: Acting, place: str | Path, *, quick: bool, progress: Progress
) -> tuple[str, list[str]]:
    keys = [TrustedKey(one.key.public_key, one.key.name) for one in announced_keys(acting)]
    with published_files(place) as fetch:
        note = fetch(CHECKPOINT, MAX_NOTE_BYTES)
        if note is None:
            return "nothing", ["there is no file 'checkpoint', so this is no published log"]
        checkpoint, parsed = read_checkpoint(note.decode(errors="replace"))
        if quick:
            checks = [signature_check(checkpoint, parsed, keys)]
        else:
            checks = [*verify_publication(fetch, keys, progress=progress).report.checks]
    with acting.database.read() as connection:
        head = require_head(connection, acting.tenant)
        wrong = _compared(connection, head, checkpoint)
    wrong += [f"{check.name}: {check.says}" for check in checks if check.holds is False]
    covered = f"{checkpoint.size:,} of {counted(head.size, 'entry', 'entries')}"
    what = "the checkpoint" if quick else "entries, tiles, the checkpoint"
    return f"{covered}: {what}", wrong


def _compared(connection: "Connection", head: Head, checkpoint: Checkpoint) -> list[str]:
    """Return what a published checkpoint says otherwise than the log."""
    if checkpoint.origin != head.origin:
        return [f"it is of another log: {checkpoint.origin}, not {head.origin}"]
    if checkpoint.size > head.size:
        gone = ranged(head.size, checkpoint.size - 1, "entry", "entries")
        are = agreed(checkpoint.size - head.size, "is", "are")
        published = counted(checkpoint.size, "entry is", "entries are")
        return [f"{published} published, the log has {head.size:,}: {gone} {are} gone"]
    try:
        root = stored_tree(connection, head, TileCache()).root_at(checkpoint.size)
    except IntegrityError as error:
        return [str(error)]
    if root != checkpoint.root:
        first = counted(checkpoint.size, "entry", "entries")
        return [f"the log was rewritten: its first {first} are not those that were published"]
    return []

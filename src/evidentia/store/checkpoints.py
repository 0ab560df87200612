"""Checkpoints of a stored log, in the database and apart from it: read and compared.

Nothing is signed here: `appending` signs what it appends, and nothing else ever is. A log whose
past is not the one that the checkpoint kept apart signs is not written.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from evidentia.errors import IntegrityError, NotFoundError
from evidentia.language.counting import counted
from evidentia.proof.revocation import Revocation
from evidentia.store.appending import Announced, signed_note, vouched
from evidentia.store.database import Database
from evidentia.store.home import Home
from evidentia.store.sql import log
from evidentia.store.tree import TileCache, stored_tree
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.note import Note
from evidentia.trail.tiles import TiledTree

if TYPE_CHECKING:
    from evidentia.store.auditing import AuditReport


def refuse_to_fork(database: Database, tenant: str, home: Home, tiles: TileCache) -> None:
    """Raise `IntegrityError` if a log does not continue the checkpoint kept apart, or is gone."""
    kept = home.kept_checkpoint(tenant)  # before the log, which others may append to meanwhile
    with database.read() as connection:
        head = log.read_head(connection, tenant)
        if head is not None:
            announced = log.keys(connection, tenant)
            _refuse_rollback(connection, head, kept, home, tiles, announced=announced)
        elif kept is not None:
            raise IntegrityError(
                f"the log that {home.checkpoint_file(tenant)} signs is gone: bring the database "
                "back; if a new log is to begin, move that file away"
            )


def newest_checkpoint(
    connection: Connection, head: log.Head, kept: str | None, home: Home, tiles: TileCache
) -> str:
    """Return the checkpoint of a log as it is now, verified.

    It continues the one that was `kept` before. Raise `IntegrityError` where the log's newest
    entries are not signed: they are not signed here.
    """
    announced = log.keys(connection, head.tenant)
    _refuse_rollback(connection, head, kept, home, tiles, announced=announced)
    return signed_note(connection, head, announced)


def last_signed_by(
    connection: Connection, tenant: str, key_id: str, revocations: Sequence[Revocation] = ()
) -> str:
    """Return the last checkpoint that a key signed; raise `NotFoundError` if it signed none.

    What it signed from the size on at which it is revoked is left out.
    """
    log.require_head(connection, tenant)
    signed = [
        (size, note)
        for size, signer, note in log.checkpoints(connection, tenant)
        if signer == key_id
    ]
    if not signed:
        raise NotFoundError(f"key {key_id!r} signed no checkpoint of this log")
    concerning = [one for one in revocations if one.key_id == key_id]
    notes = [note for size, note in signed if not any(o.is_of(key_id, size) for o in concerning)]
    if not notes:
        raise NotFoundError(f"there is no checkpoint to use: {concerning[0].told}")
    return notes[-1]


def keep_audited(database: Database, tenant: str, report: "AuditReport", home: Home) -> str | None:
    """Keep the newest checkpoint of what an audit found good; None if there is none."""
    if not report.holds:
        raise IntegrityError(
            f"a log that does not hold gets no checkpoint: {report.unknown}"
            if report.unknown and not report.findings
            else "a log that does not hold gets no checkpoint"
        )
    with database.read() as connection:
        note = log.checkpoint_of(connection, tenant, report.size)
    if note is not None:
        home.keep_checkpoint(tenant, note)
    return note


def _refuse_rollback(
    connection: Connection,
    head: log.Head,
    kept: str | None,
    home: Home,
    tiles: TileCache,
    *,
    announced: Sequence[Announced],
) -> None:
    """Raise `IntegrityError` if a log does not continue the checkpoint kept apart."""
    if kept is None:
        return
    path = home.checkpoint_file(head.tenant)
    checkpoint, parsed = read_checkpoint(kept)
    if checkpoint.origin != head.origin:
        raise IntegrityError(
            f"{path} is of another log ({checkpoint.origin}): if this log was begun anew on "
            "purpose, move that file away"
        )
    tree = stored_tree(connection, head, tiles)
    if checkpoint.size > head.size or tree.root_at(checkpoint.size) != checkpoint.root:
        has = counted(head.size, "entry does", "entries do")
        raise IntegrityError(
            f"the log's {has} not continue the {checkpoint.size:,} that the "
            f"checkpoint kept in {path} signs: it was rolled back or rewritten. Run 'evidentia "
            "trail verify'; where a newer copy is nowhere, 'evidentia trail accept-loss --reason "
            "TEXT' records what is lost, and the log goes on"
        )
    _refuse_takeover(connection, head, parsed, tree, path, announced=announced)


def _refuse_takeover(
    connection: Connection,
    head: log.Head,
    kept: Note,
    tree: TiledTree,
    path: Path,
    *,
    announced: Sequence[Announced],
) -> None:
    """Raise `IntegrityError` if a later key than the one kept apart was never vouched for."""
    signers = {line.key_id for line in kept.signatures}
    last = max((at for at, key in enumerate(announced) if key[1] in signers), default=None)
    if last is None:
        raise IntegrityError(
            f"the checkpoint kept in {path} is signed by a key that the log does not announce: run "
            "'evidentia trail verify'"
        )
    by_word = vouched(connection, head, announced, tree)
    for at in range(last + 1, len(announced)):
        if not by_word[at]:
            raise IntegrityError(
                f"key {announced[at][1]} of entry {announced[at][0]} took the place of key "
                f"{announced[at - 1][1]} without its signature: whoever has no more than the "
                "database could write that. Run 'evidentia trail verify'; if you know that the key "
                f"was lost, and who made the new one, move {path} away"
            )

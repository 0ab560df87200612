"""Checkpoints of a stored log, in the database and apart from it: read and compared.

Nothing is signed here: `appending` signs what it appends, and nothing else ever is. A log whose
past is not the one that the checkpoint kept apart signs is not written.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from evidentia.errors import IntegrityError, NotFoundError
from evidentia.language.counting import counted
from evidentia.proof.revocation import Revocation
from evidentia.store.appending import Announced, signed_note, vouched
from evidentia.store.database import Database
from evidentia.store.elsewhere import Elsewhere, KnownCheckpoint, known_checkpoints
from evidentia.store.home import Home
from evidentia.store.sql import log
from evidentia.store.tree import TileCache, stored_tree
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.note import Note
from evidentia.trail.tiles import TiledTree

if TYPE_CHECKING:
    from evidentia.store.auditing import AuditReport


def refuse_to_fork(
    database: Database,
    tenant: str,
    home: Home,
    tiles: TileCache,
    elsewhere: Elsewhere | None = None,
) -> None:
    """Raise `IntegrityError` if a log does not continue what is kept apart, or is gone.

    Where it does, what is kept elsewhere follows to where the log is now.
    """
    kept = known_checkpoints(home, tenant, elsewhere)  # before the log, which may go on meanwhile
    note: str | None = None
    with database.read() as connection:
        head = log.read_head(connection, tenant)
        if head is not None:
            announced = log.keys(connection, tenant)
            largest = max((one.checkpoint.size for one in kept), default=0)
            for one in kept:
                _refuse_rollback(
                    connection,
                    head,
                    one,
                    tiles,
                    announced=announced,
                    by_keys=one.checkpoint.size == largest,
                )
            if elsewhere is not None and head.size:
                note = log.checkpoint_of(connection, tenant, head.size)
        elif kept:
            raise IntegrityError(
                f"the log that {kept[0].place} signs is gone: bring the database back (a workspace "
                "comes to another one by 'evidentia backup' and 'evidentia restore'); if a new log "
                f"is to begin, {kept[0].instead}"
            )
    if elsewhere is not None and note is not None:
        elsewhere.grew(read_checkpoint(note)[0], note)


def newest_checkpoint(
    connection: Connection,
    state: log.State,
    kept: KnownCheckpoint | None,
    tiles: TileCache,
) -> str:
    """Return the checkpoint of a log as it is now, verified.

    It continues the one that was `kept` before. Raise `IntegrityError` where the log's newest
    entries are not signed: they are not signed here.
    """
    if kept is not None:
        _refuse_rollback(connection, state.head, kept, tiles, announced=state.keys)
    return signed_note(connection, state)


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


def keep_audited(
    database: Database,
    tenant: str,
    report: "AuditReport",
    home: Home,
    elsewhere: Elsewhere | None = None,
) -> str | None:
    """Keep the newest checkpoint of what an audit found good; None if there is none."""
    if not report.holds:
        raise IntegrityError(
            f"a log that does not hold gets no checkpoint: {report.left[0]}"
            if report.left and not report.findings
            else "a log that does not hold gets no checkpoint"
        )
    with database.read() as connection:
        note = log.checkpoint_of(connection, tenant, report.size)
    if note is not None:
        home.keep_checkpoint(tenant, note)
        if elsewhere is not None:
            elsewhere.grew(read_checkpoint(note)[0], note)
    return note


def _refuse_rollback(
    connection: Connection,
    head: log.Head,
    kept: KnownCheckpoint,
    tiles: TileCache,
    *,
    announced: Sequence[Announced],
    by_keys: bool = True,
) -> None:
    """Raise `IntegrityError` if a log does not continue the checkpoint kept apart.

    `by_keys` asks of each key since then that the one before it vouched for it, too.
    """
    checkpoint, parsed = read_checkpoint(kept.note)
    if checkpoint.origin != head.origin:
        raise IntegrityError(
            f"{kept.place} is of another log ({checkpoint.origin}): if this log was begun anew on "
            f"purpose, {kept.instead}"
        )
    tree = stored_tree(connection, head, tiles)
    if checkpoint.size > head.size or tree.root_at(checkpoint.size) != checkpoint.root:
        has = counted(head.size, "entry does", "entries do")
        raise IntegrityError(
            f"the log's {has} not continue the {checkpoint.size:,} that the "
            f"checkpoint kept in {kept.place} signs: it was rolled back or rewritten. Run "
            f"'evidentia trail verify'; where a newer copy is nowhere, {kept.without}"
        )
    if by_keys:
        _refuse_takeover(connection, head, kept, parsed, tree, announced=announced)


def _refuse_takeover(
    connection: Connection,
    head: log.Head,
    kept: KnownCheckpoint,
    parsed: Note,
    tree: TiledTree,
    *,
    announced: Sequence[Announced],
) -> None:
    """Raise `IntegrityError` if a later key than the one kept apart was never vouched for."""
    signers = {line.key_id for line in parsed.signatures}
    last = max((at for at, key in enumerate(announced) if key[1] in signers), default=None)
    if last is None:
        raise IntegrityError(
            f"the checkpoint kept in {kept.place} is signed by a key that the log does not "
            "announce: run 'evidentia trail verify'"
        )
    by_word = vouched(connection, head, announced, tree)
    for at in range(last + 1, len(announced)):
        if not by_word[at]:
            raise IntegrityError(
                f"key {announced[at][1]} of entry {announced[at][0]} took the place of key "
                f"{announced[at - 1][1]} without its signature: whoever has no more than the "
                "database could write that. Run 'evidentia trail verify'; if you know that the key "
                f"was lost, and who made the new one, {kept.instead} ({kept.place})"
            )

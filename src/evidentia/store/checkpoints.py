"""Checkpoints of a stored log: signed by a key, kept in the database and apart from it.

A log whose past is not the one that the checkpoint kept apart signs is neither signed nor written.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from evidentia.errors import EnvironmentProblem, IntegrityError, NotFoundError
from evidentia.language.counting import counted
from evidentia.logs import get_logger
from evidentia.proof.keys import SigningKey
from evidentia.store.database import Database
from evidentia.store.home import Home
from evidentia.store.keys import Keys
from evidentia.store.sql import log
from evidentia.store.tree import TileCache, stored_tree
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint

if TYPE_CHECKING:
    from evidentia.store.auditing import AuditReport

_log = get_logger("store")

Signer = Callable[[str, str], SigningKey]
"""Gives a private key by its id and the origin of its log."""


def refuse_to_fork(database: Database, tenant: str, home: Home, tiles: TileCache) -> None:
    """Raise `IntegrityError` if a log does not continue the checkpoint kept apart, or is gone."""
    with database.read() as connection:
        head = log.read_head(connection, tenant)
        if head is not None:
            _refuse_rollback(connection, head, home, tiles)
        elif home.kept_checkpoint(tenant) is not None:
            raise IntegrityError(
                f"the log that {home.checkpoint_file(tenant)} signs is gone: bring the database "
                "back; if a new log is to begin, move that file away"
            )


def sign_checkpoint(
    database: Database, tenant: str, signer: Signer, home: Home, tiles: TileCache
) -> str:
    """Sign a log as it is now, by the key that it announces last; return the note.

    Head and key are read at once: a key that another process announces meanwhile is of a larger
    log. The note is kept in the database and apart from it.
    """
    with database.read() as connection:
        head = log.require_head(connection, tenant)
        _refuse_rollback(connection, head, home, tiles)
        key_id = log.keys(connection, tenant)[-1][1]
        note = log.checkpoint_note(connection, tenant, head.size, key_id)
    key = signer(key_id, head.origin)
    if note is None:
        note = Checkpoint(head.origin, head.size, head.root).sign(key.private_key)
        with database.write() as connection:
            log.insert_checkpoint(connection, tenant, head.size, key_id, note)
        _log.info("checkpoint_signed", tenant=tenant, size=head.size, key_id=key_id)
    home.keep_checkpoint(tenant, note)
    return note


def sign_within(connection: Connection, tenant: str, key: SigningKey) -> None:
    """Have a key sign a log as it is in a transaction that holds it."""
    head = log.require_head(connection, tenant)
    note = Checkpoint(head.origin, head.size, head.root).sign(key.private_key)
    log.insert_checkpoint(connection, tenant, head.size, key.verifier.key_id, note)


def last_signed_by(connection: Connection, tenant: str, key_id: str) -> str:
    """Return the last checkpoint that a key signed; raise `NotFoundError` if it signed none."""
    log.require_head(connection, tenant)
    notes = [note for _, signer, note in log.checkpoints(connection, tenant) if signer == key_id]
    if not notes:
        raise NotFoundError(f"key {key_id!r} signed no checkpoint of this log")
    return notes[-1]


def keep_audited(
    database: Database, tenant: str, report: "AuditReport", keys: Keys, home: Home
) -> str | None:
    """Keep a checkpoint of what an audit found good, or the newest where none can be signed."""
    if not report.holds:
        raise IntegrityError("a log that does not hold gets no checkpoint")
    with database.read() as connection:
        announced = log.keys(connection, tenant)
        stored = [note for _, _, note in log.checkpoints(connection, tenant)]
    if not announced:
        return None
    try:
        key = keys.load(tenant, announced[-1][1], report.origin)
        if key is not None:
            found = Checkpoint(report.origin, report.size, bytes.fromhex(report.root))
            stored.append(found.sign(key.private_key))
    except EnvironmentProblem as problem:  # an audit is good without a new signature
        _log.info("checkpoint_not_signed", tenant=tenant, reason=str(problem))
    if not stored:
        return None
    home.keep_checkpoint(tenant, stored[-1])
    return stored[-1]


def _refuse_rollback(connection: Connection, head: log.Head, home: Home, tiles: TileCache) -> None:
    """Raise `IntegrityError` if a log does not continue the checkpoint kept apart."""
    kept = home.kept_checkpoint(head.tenant)
    if kept is None:
        return
    path = home.checkpoint_file(head.tenant)
    checkpoint, _ = read_checkpoint(kept)
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
            "trail verify'; if the log is to go on as it is, move that file away"
        )

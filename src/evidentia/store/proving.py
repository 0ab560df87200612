"""Proving what a stored log holds, under a checkpoint that was signed."""

from functools import lru_cache

from sqlalchemy import Connection

from evidentia.canonical import parse_json
from evidentia.errors import IntegrityError, ProofError
from evidentia.proof.document import Disclosure, Proof
from evidentia.store.sql import log
from evidentia.store.tree import TileCache, stored_tree
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.entry import Entry, body_commitment
from evidentia.trail.merkle import consistency_proof, inclusion_proof, leaf_hash, verify_inclusion


def prove_entry(
    connection: Connection, tenant: str, note: str, seq: int, tiles: TileCache, *, disclose: bool
) -> Proof:
    """Prove an entry under a checkpoint of its log; `disclose` puts the body into the proof.

    Raise `IntegrityError` where the entry or its body are not what the checkpoint covers.
    """
    head = log.require_head(connection, tenant)
    return prove_from(connection, head, note, seq, tiles, disclose=disclose)


def prove_from(
    connection: Connection, head: log.Head, note: str, seq: int, tiles: TileCache, *, disclose: bool
) -> Proof:
    """Prove an entry as `prove_entry` does, by a head that was just read."""
    checkpoint = _checkpoint(note)
    if checkpoint.origin != head.origin or checkpoint.size > head.size:
        raise IntegrityError(f"the checkpoint is not of this log's past ({head.origin})")
    row = log.entry_at(connection, head.tenant, seq)
    tree = stored_tree(connection, head, tiles)
    hashes = inclusion_proof(tree, seq, checkpoint.size)
    data, salt, body = row[3], row[4], row[5]
    entry, disclosure = Entry.decode(data), None
    try:
        verify_inclusion(leaf_hash(data), seq, checkpoint.size, hashes, checkpoint.root)
    except ProofError:
        raise IntegrityError(
            f"entry {seq} is not what the checkpoint of {checkpoint.size:,} entries has there; run "
            "'evidentia trail verify'"
        ) from None
    if disclose and salt is not None and body is not None:
        if body_commitment(salt, body) != entry.body:
            raise IntegrityError(
                f"entry {seq}: its body is not what it commits to; run 'evidentia trail verify'"
            )
        disclosure = Disclosure(parse_json(body), salt)
    return Proof(entry, tuple(hashes), note, disclosure)


def prove_consistency(
    connection: Connection, tenant: str, old_size: int, new_size: int | None, tiles: TileCache
) -> list[bytes]:
    """Prove that a log, now or at `new_size`, begins with its first `old_size` entries."""
    head = log.require_head(connection, tenant)
    tree = stored_tree(connection, head, tiles)
    return consistency_proof(tree, old_size, head.size if new_size is None else new_size)


@lru_cache(maxsize=16)
def _checkpoint(note: str) -> Checkpoint:
    """Read a note that many proofs are made under, once."""
    return read_checkpoint(note)[0]

"""What is known of a log's deciding entries: where they are, up to a size that was proved."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sqlalchemy import Connection

from evidentia.errors import EvidentiaError, IntegrityError, ProofError
from evidentia.store.sql import log, snapshots
from evidentia.store.sql.log import Head
from evidentia.store.tree import TileCache, stored_tree
from evidentia.trail.deciding import About, Place, Said, about, grouped, joined, read_snapshot
from evidentia.trail.keyed import EMPTY_MAP
from evidentia.trail.merkle import EMPTY_ROOT, folded, leaf_hash, peaks_at, push_leaf
from evidentia.trail.note import VerifierKey

_MOST_ROOTS: Final = 16


class Basis(NamedTuple):
    """What a log is believed for: the newest size that is signed, its root, and who may sign."""

    size: int
    root: bytes
    may_sign: Callable[[int], Sequence[VerifierKey]]


@dataclass(frozen=True, slots=True)
class Known:
    """Where the entries of a log are that decide, at a size and root that were proved.

    Those of the first `covered` entries are in the map of root `entries`, which `note` signs; those
    behind are in `since`. `roots` are sizes and roots that were proved before.
    """

    origin: str
    size: int = 0
    root: bytes = EMPTY_ROOT
    covered: int = 0
    entries: bytes = EMPTY_MAP
    note: str | None = None
    since: Mapping[About, tuple[Place, ...]] = field(default_factory=dict)
    roots: tuple[tuple[int, bytes], ...] = ()

    def is_of(self, head: Head) -> bool:
        """Whether this is what a head counts, and no more."""
        return (self.origin, self.size, self.root) == (head.origin, head.size, head.root)

    def includes(self, head: Head) -> bool:
        """Whether all that a head counts is known."""
        earlier = self.origin == head.origin and (head.size, head.root) in self.roots
        return earlier or self.is_of(head)

    def extended(self, head: Head, said: Iterable[Said]) -> "Known":
        """Return this with what was appended up to a head."""
        added = grouped(said)
        since = joined(self.since, added) if added else self.since
        roots = (*self.roots[1 - _MOST_ROOTS :], (self.size, self.root))
        # not by `replace`, which takes three times as long, and each append is one
        return Known(
            self.origin, head.size, head.root, self.covered, self.entries, self.note, since, roots
        )


def stored_snapshot(connection: Connection, head: Head, basis: Basis) -> Known | None:
    """Return what the stored snapshot says; None if there is none, or no key of the log signed it.

    One of another log, and one of more entries than the log has, says nothing of it.
    """
    note = snapshots.snapshot_note(connection, head.tenant)
    if note is None:
        return None
    try:
        found, parsed = read_snapshot(note)
        signer = parsed.signed_by(basis.may_sign(found.size))
    except EvidentiaError:
        return None
    if signer is None or found.origin != head.origin or found.size > head.size:
        return None
    return Known(found.origin, found.size, found.root, found.size, found.entries, note)


def read_on(
    connection: Connection,
    head: Head,
    basis: Callable[[], Basis],
    start: Known,
    tiles: TileCache,
) -> Known:
    """Return what is known of a whole log, from what is known of its beginning.

    The entries between are read by their numbers. Raise `IntegrityError` unless they lead from the
    one root to the other, and over the one that is signed.
    """
    if start.is_of(head):
        return start
    believed, size = basis(), start.size
    try:
        peaks = peaks_at(stored_tree(connection, head, tiles), size)
    except IndexError:
        raise IntegrityError("a tile of the tree is cut short") from None
    if folded(peaks) != start.root:
        raise IntegrityError(f"the tree does not go on from the first {size:,} entries")
    said: list[Said] = []
    for seq, data in log.entry_bytes(connection, head.tenant, size, head.size):
        if seq != size:
            break
        if size == believed.size:
            _compare(peaks, size, believed.root)
        try:
            of = about(data)
        except ProofError as error:
            raise IntegrityError(f"entry {seq}: {error}") from None
        leaf = leaf_hash(data)
        if of is not None:
            said.append((of, Place(seq, leaf)))
        size += 1
        push_leaf(peaks, size, leaf)
    if size < head.size:
        raise IntegrityError(f"entry {size} is missing")
    _compare(peaks, size, head.root)
    return start.extended(head, said)


def _compare(peaks: Sequence[bytes], size: int, root: bytes) -> None:
    if folded(peaks) != root:
        raise IntegrityError(f"the first {size:,} entries do not lead to the root that is signed")

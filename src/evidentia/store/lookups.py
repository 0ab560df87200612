"""Looking up what decides: entries that were proved against the signed log, never an index's word.

Where the entries are is a map that can be proved (`trail.deciding`). The log's key signs a snapshot
of it now and then, in the transaction of an append; the entries since are read by their numbers,
hashed, and must lead to the root that is signed. A snapshot that is missing, altered, old or of
another log costs time and changes no answer: the entries are read from further back then. A process
that appends knows what it appended, and reads nothing back.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Final

from sqlalchemy import Connection

from evidentia.errors import EvidentiaError, IntegrityError, ProofError
from evidentia.logs import get_logger
from evidentia.proof.keys import SigningKey
from evidentia.store.known import Basis, Known, read_on, stored_snapshot
from evidentia.store.sql import log, snapshots
from evidentia.store.sql.log import Head, Receipt
from evidentia.store.tree import TileCache, stored_tree
from evidentia.trail.deciding import (
    DECIDING,
    About,
    Place,
    Said,
    Snapshot,
    grown,
    listed,
    read_snapshot,
)
from evidentia.trail.entry import EntryKind, StoredEntry
from evidentia.trail.keyed import EMPTY_MAP, KeyedMap, Update, read_node
from evidentia.trail.merkle import inclusion_proof, leaf_hash, verify_inclusion
from evidentia.trail.waiting import Waiting

EVERY: Final = 1_024
"""After how many entries a snapshot is signed."""
_FAR: Final = 4 * EVERY
_MOST_NODES: Final = 50_000
_SEE: Final = "run 'evidentia verify'"
_log = get_logger("store")


class Lookups:
    """What a process knows of where the entries are that decide; threads may share one."""

    def __init__(self, tiles: TileCache) -> None:
        self._tiles = tiles
        self._known: dict[str, Known] = {}
        self._covered: dict[str, int] = {}
        self._spoiled: set[str] = set()
        self._nodes: dict[bytes, bytes] = {}

    # Looking up

    def entries(
        self,
        connection: Connection,
        head: Head,
        basis: Callable[[], Basis],
        of: About,
        *,
        after: int = -1,
    ) -> list[StoredEntry]:
        """Return the entries of a kind about a subject behind a number, in order, each proved.

        Raise `IntegrityError` for one that is missing, is not what was signed, or whose body is
        gone though no entry erased it.
        """
        places = self.places(connection, head, basis, of, after=after)
        rows = log.entries_at(connection, head.tenant, [place.seq for place in places])
        for place in places:
            row = rows.get(place.seq)
            if row is None:
                raise _undecided(place.seq, "is missing")
            if leaf_hash(row[3]) != place.leaf:
                raise _undecided(place.seq, "is not what was signed")
            _require_own(row, head.tenant)
            if row[4] is None or row[5] is None:
                erased = EntryKind.ERASURE.value, log.erasure_subject(place.seq)
                if not self.places(connection, head, basis, erased):
                    raise _undecided(place.seq, "has no body, though no entry erased it")
        return [rows[place.seq] for place in places]

    def places(
        self,
        connection: Connection,
        head: Head,
        basis: Callable[[], Basis],
        of: About,
        *,
        after: int = -1,
    ) -> list[Place]:
        """Return where the entries of a kind about a subject are, behind a number, in order.

        Raise `IntegrityError` where the entries do not lead to the root that is signed.
        """
        known = self._known.get(head.tenant)
        if known is not None and known.includes(head):
            try:
                return self._listed(connection, head, known, of, after)
            except ProofError:  # another process signed a newer snapshot, or nodes were altered
                known = None
        problem = ""
        for start in self._starts(connection, head, basis, known):
            try:
                found = read_on(connection, head, basis, start, self._tiles)
                places = self._listed(connection, head, found, of, after)
            except ProofError:  # nodes are gone: those of an older map, or someone removed them
                if start.note == snapshots.snapshot_note(connection, head.tenant):
                    self._spoiled.add(head.tenant)  # so that the next snapshot writes all of them
            except IntegrityError as error:
                problem = str(error)
            else:
                self._remember(head.tenant, found)
                return places
        raise IntegrityError(f"{problem}, and nothing is decided by such a log: {_SEE}")

    def proved(
        self, connection: Connection, head: Head, signed: tuple[int, bytes], seq: int
    ) -> StoredEntry:
        """Return one entry by its number, whatever its kind; `signed` is what is, and its root.

        Raise `NotFoundError` if the log has none there, `IntegrityError` if it is not what was
        signed.
        """
        row = log.entry_at(connection, head.tenant, seq)
        size, root = signed if seq < signed[0] else (head.size, head.root)
        try:
            path = inclusion_proof(stored_tree(connection, head, self._tiles), seq, size)
            verify_inclusion(leaf_hash(row[3]), seq, size, path, root)
        except (IndexError, IntegrityError):
            raise _undecided(seq, "is not what was signed") from None
        _require_own(row, head.tenant)
        return row

    def _listed(
        self, connection: Connection, head: Head, known: Known, of: About, after: int
    ) -> list[Place]:
        entries = KeyedMap(known.entries, self._reading(connection, head.tenant))
        old = listed(entries.get, of, after=after) if after < known.covered else []
        new = (place for place in known.since.get(of, ()) if place.seq > after)
        return [place for place in (*old, *new) if place.seq < head.size]

    def _starts(
        self,
        connection: Connection,
        head: Head,
        basis: Callable[[], Basis],
        known: Known | None,
    ) -> Iterator[Known]:
        """Give what a log can be read on from: the nearest first, its beginning at last."""
        if known is not None and (known.origin != head.origin or known.size > head.size):
            known = None
        if known is not None and head.size - known.covered <= _FAR:
            yield known
        stored = stored_snapshot(connection, head, basis())
        if stored is not None:
            yield stored
        elif known is not None:
            yield known
        yield Known(head.origin)

    def _reading(self, connection: Connection, tenant: str) -> Callable[[bytes], bytes | None]:
        def node(name: bytes) -> bytes | None:
            data = self._nodes.get(name)
            if data is None:
                data = snapshots.node_data(connection, tenant, name)
                if data is not None and sha256(data).digest() == name:
                    self._keep_nodes({name: data})
            return data

        return node

    def _keep_nodes(self, nodes: Mapping[bytes, bytes]) -> None:
        if len(self._nodes) + len(nodes) > _MOST_NODES:
            self._nodes = {}
        self._nodes.update(nodes)

    def _remember(self, tenant: str, found: Known) -> None:
        # Without a lock: where two threads do so at once, the smaller one costs reading some again.
        known = self._known.get(tenant)
        if known is None or known.origin != found.origin or known.size <= found.size:
            self._known[tenant] = found

    # Appending

    def prepare(self, connection: Connection, head: Head, basis: Callable[[], Basis]) -> None:
        """Read a log before anyone waits for it, where no snapshot is near: it can take a while."""
        covered = self._covered[head.tenant] = _covered(connection, head.tenant)
        if head.size - covered > _FAR:
            try:
                self.places(connection, head, basis, (EntryKind.KEY.value, ""))
            except IntegrityError as error:  # what asks of such a log is told
                _log.warning("log_not_read", tenant=head.tenant, reason=str(error))

    def sign(
        self,
        connection: Connection,
        heads: tuple[Head, Head],
        said: Sequence[Said],
        basis: Callable[[], Basis],
        key: SigningKey,
        *,
        now: bool = False,
    ) -> Known | None:
        """Sign a snapshot of a log that is held, with what was appended, if it is time for one.

        `now` says that it is: a new key begins, and snapshots by the old one no longer count.
        `heads` are where the log was and where it is now. What is returned is known once the
        transaction is durable. Where the log cannot be read, nothing is signed, and that is logged.
        """
        tenant, size = heads[1].tenant, heads[1].size
        if tenant not in self._covered:
            self._covered[tenant] = _covered(connection, tenant)
        if tenant not in self._spoiled and not now:
            if 0 <= size - self._covered[tenant] < EVERY:
                return None
            self._covered[tenant] = _covered(connection, tenant)  # another process may have signed
            if 0 <= size - self._covered[tenant] < EVERY:
                return None
        try:
            return self._sign(connection, heads, said, basis, key)
        except EvidentiaError as error:
            self._covered[tenant] = size
            self._spoiled.discard(tenant)
            _log.warning("snapshot_not_signed", tenant=tenant, reason=str(error))
            return None

    def _sign(
        self,
        connection: Connection,
        heads: tuple[Head, Head],
        said: Sequence[Said],
        basis: Callable[[], Basis],
        key: SigningKey,
    ) -> Known:
        first, head = heads
        try:
            known = self._standing(connection, first, basis).extended(head, said)
            update = _updated(connection, head.tenant, known)
        except IntegrityError:
            whole = read_on(connection, first, basis, Known(first.origin), self._tiles)
            known = whole.extended(head, said)
            update = _updated(connection, head.tenant, known)
        snapshot = Snapshot(head.origin, head.size, head.root, update.root)
        note = snapshot.sign(key.private_key)
        snapshots.remove_nodes(connection, head.tenant, update.removed if known.note else None)
        snapshots.keep_nodes(connection, head.tenant, update.added)
        snapshots.keep_snapshot(connection, head.tenant, note)
        self._keep_nodes(update.added)
        return replace(known, covered=head.size, entries=update.root, note=note, since={})

    def _standing(self, connection: Connection, first: Head, basis: Callable[[], Basis]) -> Known:
        """Return what is known of a log that is held, standing on the snapshot that is stored."""
        if first.tenant in self._spoiled:
            raise ProofError("the map that is stored is not whole")
        start = self._known.get(first.tenant) or Known(first.origin)
        note = snapshots.snapshot_note(connection, first.tenant)
        if (start.origin, start.note) != (first.origin, note) or start.size > first.size:
            start = stored_snapshot(connection, first, basis()) or Known(first.origin)
        return read_on(connection, first, basis, start, self._tiles)

    def committed(
        self, heads: tuple[Head, Head], said: Sequence[Said], signed: Known | None
    ) -> None:
        """Know what was appended, now that it is durable, unless something else came between."""
        first, head = heads
        if signed is not None:
            self._covered[head.tenant] = signed.covered
            self._spoiled.discard(head.tenant)
            self._remember(head.tenant, signed)
            return
        known = self._known.get(head.tenant) if first.size else Known(first.origin)
        if known is not None and known.is_of(first):
            self._remember(head.tenant, known.extended(head, said))


def deciding(items: Sequence[Waiting], receipts: Sequence[Receipt]) -> list[Said]:
    """Return those of the entries just appended that decide."""
    return [
        ((item.kind, item.subject), Place(receipt.seq, bytes.fromhex(receipt.leaf)))
        for item, receipt in zip(items, receipts, strict=True)
        if item.kind in DECIDING and not receipt.repeated
    ]


def _updated(connection: Connection, tenant: str, known: Known) -> Update:
    """Return what becomes of the map that is stored; raise `ProofError` where it is not whole.

    Its nodes are read from the database, whatever is remembered: so a loss is noticed and mended.
    """
    nodes = partial(snapshots.node_data, connection, tenant)
    if known.entries != EMPTY_MAP:
        read_node(nodes, known.entries)
    entries = KeyedMap(known.entries, nodes)
    return entries.updated(grown(entries.get, known.since))


def _covered(connection: Connection, tenant: str) -> int:
    """Return how many entries the stored snapshot says it covers; 0 if there is none."""
    note = snapshots.snapshot_note(connection, tenant)
    try:
        return 0 if note is None else read_snapshot(note)[0].size
    except ProofError:
        return 0


def _require_own(row: StoredEntry, tenant: str) -> None:
    """Raise `IntegrityError` for an entry of another tenant, whose log stands in this one's place.

    Where it is proved, its bytes are canonical: they end so.
    """
    if not row[3].endswith(b'"tenant":"%s","v":1}' % tenant.encode()):
        raise _undecided(row[0], "belongs to another tenant")


def _undecided(seq: int, what: str) -> IntegrityError:
    return IntegrityError(f"entry {seq} {what}, and nothing is decided by it: {_SEE}")

"""The log's SQL: plain functions that take a connection.

Appending happens in one transaction: the head is read and locked, entries, bodies and full tiles
are inserted, and the head is moved only if it is still the one that was read. The sequencer calls
these in that order.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any, NamedTuple

from sqlalchemy import Connection

from evidentia.errors import ConflictError, IntegrityError, NotFoundError
from evidentia.language.counting import counted
from evidentia.store.database import (
    Insert,
    erase_rows,
    fetch,
    insert_rows,
    insert_together,
    is_sqlite,
    row_lock,
    run,
    stream,
)
from evidentia.store.sql import across
from evidentia.trail.entry import ERASED_PREFIX, StoredEntry, genesis_prev
from evidentia.trail.merkle import EMPTY_ROOT, leaf_hash
from evidentia.trail.tiles import Frontier, Tile
from evidentia.trail.waiting import Waiting, placed

ENTRY_COLUMNS = {
    "tenant": "text",
    "seq": "bigint",
    "kind": "text",
    "subject": "text",
    "entry": "bytea",
}
BODY_COLUMNS = {"tenant": "text", "seq": "bigint", "salt": "bytea", "body": "bytea"}
TILE_COLUMNS = {"tenant": "text", "level": "integer", "tile": "bigint", "data": "bytea"}
CHECKPOINT_COLUMNS = {"tenant": "text", "size": "bigint", "key_id": "text", "note": "text"}
_KEY_COLUMNS = {"tenant": "text", "key": "text", "seq": "bigint"}
TABLES = (
    "trail_entries",
    "trail_bodies",
    "trail_tiles",
    "trail_checkpoints",
    "trail_keys",
    "trail_idempotency",
    "trail_snapshots",
    "trail_snapshot_nodes",
)
"""All tables that hold rows of a log, but for its head."""

_STORED = (
    "SELECT e.seq, e.kind, e.subject, e.entry, b.salt, b.body FROM trail_entries e "
    "LEFT JOIN trail_bodies b ON b.tenant = e.tenant AND b.seq = e.seq "
)

# What walks through a table reads the tenant too: SQLite finds rows by the order of the index, and
# would take a row whose tenant was damaged for one of ours.
_ENTRIES_BETWEEN = (
    "SELECT CASE tenant WHEN ? THEN seq ELSE -1 END, kind, subject, entry FROM trail_entries "
    "WHERE tenant = ? AND seq >= ? AND seq < ? ORDER BY seq"
)
_BODIES_BETWEEN = (
    "SELECT CASE tenant WHEN ? THEN seq ELSE -1 END, salt, body FROM trail_bodies "
    "WHERE tenant = ? AND seq >= ? AND seq < ? ORDER BY seq"
)

_AT_ONCE = 500
"""How many values a query names."""

NewOrigin = Callable[[str], str]
"""Makes the origin of a tenant's log that does not exist yet."""


class Receipt(NamedTuple):
    """Where an entry is: its number, its leaf hash, and whether it was there before."""

    seq: int
    leaf: str
    repeated: bool = False


class Head(NamedTuple):
    """A log's present state."""

    tenant: str
    origin: str
    size: int
    root: bytes
    edge: bytes


class State(NamedTuple):
    """A log's head, the keys that it announces, and what each of them signed of it as it is."""

    head: Head
    keys: list[tuple[int, str, bytes]]
    notes: dict[str, str]


def read_head(connection: Connection, tenant: str, *, lock: bool = False) -> Head | None:
    """Return a log's head, or None if the tenant has no log; `lock` holds it until the end."""
    suffix = row_lock(connection) if lock else ""
    rows = fetch(
        connection,
        f"SELECT tenant, origin, size, root, edge FROM trail_heads WHERE tenant = ?{suffix}",  # noqa: S608 - no input
        (tenant,),
    )
    for found, origin, size, root, edge in rows:
        return Head(found, origin, size, bytes(root), bytes(edge))
    return None


def require_head(connection: Connection, tenant: str) -> Head:
    """Return a log's head; raise `NotFoundError` if there is none.

    It names the tenants that have one in an embedded database, which is all of its user's.
    """
    head = read_head(connection, tenant)
    if head is None:
        known = across.tenants(connection)
        others = "there is no log here yet"
        if known:
            some = ", ".join(known[:10])
            others = f"logs here: {some}" if is_sqlite(connection) else "others have one here"
        raise NotFoundError(f"tenant {tenant!r} has no log; {others}")
    return head


def lock_head(connection: Connection, tenant: str, new_origin: NewOrigin) -> Head:
    """Return a log's head and hold it to the transaction's end; begin the log if there is none."""
    head = read_head(connection, tenant, lock=True)
    if head is None:
        run(
            connection,
            "INSERT INTO trail_heads (tenant, origin, size, root, edge) VALUES (?, ?, 0, ?, ?) "
            "ON CONFLICT DO NOTHING",
            (tenant, new_origin(tenant), EMPTY_ROOT, b""),
        )
        head = read_head(connection, tenant, lock=True)
    if head is None:
        raise IntegrityError(f"the log of tenant {tenant!r} was begun, and is not there")
    return head


def append(
    connection: Connection, head: Head, waiting: Sequence[Waiting]
) -> tuple[Head, list[Receipt]]:
    """Insert what is waiting behind a locked head; return the head to move to, and receipts.

    A waiting entry whose idempotency key is known gets the first entry's receipt instead. If that
    entry said something else, `ConflictError` is raised before anything is written.
    """
    moved, (outcome,) = append_each(connection, head, [waiting])
    if isinstance(outcome, ConflictError):
        raise outcome
    return moved, outcome


def append_each(
    connection: Connection, head: Head, groups: Sequence[Sequence[Waiting]]
) -> tuple[Head, list[list[Receipt] | ConflictError]]:
    """Insert what several callers want as `append` does, all of it together.

    Of a group with a conflict nothing is written, and its error stands for its receipts.
    """
    tenant, origin, size, _, edge = head
    known = _known_keys(connection, tenant, list(chain.from_iterable(groups)))
    new: list[Waiting] = []
    places: list[list[Receipt | int] | ConflictError] = []
    for group in groups:
        try:
            places.append(_places(group, size, new, known))
        except ConflictError as error:
            places.append(error)
    if not new:
        return head, [_receipts(found, size, ()) for found in places]
    frontier = Frontier.unpack(size, edge)
    prev = frontier.last.hex() or genesis_prev(origin)
    entries, leaves, written = placed(tenant, size, prev, new)
    rows = [
        (tenant, seq, item.kind, item.subject, data)
        for seq, item, data in zip(count(size), new, entries, strict=False)
    ]
    bodies = [(tenant, seq, item.salt, item.body) for seq, item in enumerate(new, size)]
    tiles = [(tenant, tile.level, tile.index, tile.data) for tile in frontier.extend(leaves)]
    keys = [
        (tenant, item.idempotency_key, seq)
        for seq, item in enumerate(new, size)
        if item.idempotency_key is not None
    ]
    insert_together(
        connection,
        [
            Insert("trail_entries", ENTRY_COLUMNS, rows),
            Insert("trail_bodies", BODY_COLUMNS, bodies),
            Insert("trail_tiles", TILE_COLUMNS, tiles),
            Insert("trail_idempotency", _KEY_COLUMNS, keys),
        ],
    )
    moved = Head(tenant, origin, size + len(new), frontier.root(), frontier.pack())
    return moved, [_receipts(found, size, written) for found in places]


def _places(
    group: Sequence[Waiting], size: int, new: list[Waiting], known: dict[str, "_First"]
) -> list[Receipt | int]:
    """Add to `new` what is new of a group, and to `known` its keys; return where each one is."""
    own: dict[str, _First] = {}
    added: list[Waiting] = []
    places: list[Receipt | int] = []
    for item in group:
        key, place = item.idempotency_key, size + len(new) + len(added)
        first = None if key is None else own.get(key) or known.get(key)
        if first is not None:
            places.append(first.again(item))
            continue
        if key is not None:
            own[key] = _First(place, "", item)
        places.append(place)
        added.append(item)
    new += added
    known |= own
    return places


def _receipts(
    places: list[Receipt | int] | ConflictError, size: int, leaves: Sequence[str]
) -> list[Receipt] | ConflictError:
    if isinstance(places, ConflictError):
        return places
    return [_receipt(place, size, leaves) for place in places]


def _receipt(place: Receipt | int, size: int, leaves: Sequence[str]) -> Receipt:
    if isinstance(place, int):
        return Receipt(place, leaves[place - size])
    if place.seq >= size:  # the same key twice among what is new
        return place._replace(leaf=leaves[place.seq - size])
    return place


def move_head(
    connection: Connection, old: Head, new: Head, notes: Sequence[tuple[str, str]] = ()
) -> None:
    """Move a log's head, if it is still where it was read; raise `IntegrityError` if not.

    `notes` are the checkpoints of what it moves to, by the keys that signed them: they are kept.
    """
    rows = [(old.tenant, new.size, key_id, note) for key_id, note in notes]
    move = (
        "UPDATE trail_heads SET size = ?, root = ?, edge = ?, checkpoints = checkpoints + ? "
        "WHERE tenant = ? AND size = ? AND root = ?"
    )
    values = (new.size, new.root, new.edge, len(notes), old.tenant, old.size, old.root)
    kept = Insert("trail_checkpoints", CHECKPOINT_COLUMNS, rows)
    moved = insert_together(connection, [kept], (move, values))
    if moved != 1:
        raise IntegrityError(f"the head of log {old.origin} moved while entries were appended")


def entries_between(
    connection: Connection, tenant: str, start: int, end: int
) -> Iterator[StoredEntry]:
    """Give the entries from `start` to `end` (not included) with their bodies, in order.

    Both tables are walked through, not looked up, so that no row goes unseen: for one that does
    not belong there, the number of the entry before it is given once more.
    """
    span = (tenant, tenant, start, end)
    bodies = stream(connection, _BODIES_BETWEEN, span)
    body = next(bodies, None)
    last = start - 1
    for seq, kind, subject, data in stream(connection, _ENTRIES_BETWEEN, span):
        if seq < start:
            yield _stray(last)
            continue
        while body is not None and body[0] < seq:
            if body[0] <= last:  # if it is later, its entry is missing, which will be seen
                yield _stray(last)
            body = next(bodies, None)
        if body is not None and body[0] == seq:
            yield seq, kind, subject, data, body[1], body[2]
            body = next(bodies, None)
        else:
            yield seq, kind, subject, data, None, None
        last = seq
    for seq, _, _ in chain([body] if body else [], bodies):
        if seq <= last:
            yield _stray(last)


def find_entries(
    connection: Connection,
    tenant: str,
    *,
    kind: str | None = None,
    subject: str | None = None,
    before: int | None = None,
    after: int | None = None,
    limit: int | None = None,
    newest_first: bool = False,
) -> list[StoredEntry]:
    """Return the entries that match, by number."""
    sql = f"{_STORED} WHERE e.tenant = ?"
    values: list[str | int] = [tenant]
    for condition, value in (
        ("e.kind = ?", kind),
        ("e.subject = ?", subject),
        ("e.seq < ?", before),
        ("e.seq > ?", after),
    ):
        if value is not None:
            sql += f" AND {condition}"
            values.append(value)
    sql += f" ORDER BY e.seq {'DESC' if newest_first else ''}"
    if limit is not None:
        sql += f" LIMIT {int(limit)}"
    return [_stored(row) for row in run(connection, sql, values)]


def entries_of_kinds(
    connection: Connection, tenant: str, kinds: Sequence[str], between: tuple[int, int]
) -> list[tuple[int, bytes]]:
    """Return the numbers and bytes of entries of some kinds, from one number to another."""
    marks = ", ".join("?" for _ in kinds)
    sql = (
        "SELECT seq, entry FROM trail_entries "  # noqa: S608 - marks are question marks
        f"WHERE tenant = ? AND kind IN ({marks}) AND seq BETWEEN ? AND ? ORDER BY seq"
    )
    found = fetch(connection, sql, (tenant, *kinds, *between))
    return [(seq, bytes(entry)) for seq, entry in found]


def subjects(
    connection: Connection, tenant: str, kinds: Sequence[str], begins: str
) -> list[tuple[int, str]]:
    """Return the numbers and subjects of entries of some kinds that no entry erased.

    `begins` is what the subjects begin with. Whether a body is there says nothing: whoever removes
    rows can remove it, too.
    """
    marks = ", ".join("?" for _ in kinds)
    sql = (
        "SELECT seq, subject FROM trail_entries "  # noqa: S608 - marks are question marks
        f"WHERE tenant = ? AND kind IN ({marks}) AND substr(subject, 1, ?) = ? ORDER BY seq"
    )
    erased = erased_since(connection, tenant, 0)
    return [
        (seq, subject)
        for seq, subject in fetch(connection, sql, (tenant, *kinds, len(begins), begins))
        if erasure_subject(seq) not in erased
    ]


def entries_about(
    connection: Connection, tenant: str, kind: str, subjects: Sequence[str]
) -> list[tuple[int, str]]:
    """Return the numbers and subjects of entries of a kind about some subjects, by number."""
    found: list[tuple[int, str]] = []
    for start in range(0, len(subjects), _AT_ONCE):
        some = subjects[start : start + _AT_ONCE]
        marks = ", ".join("?" for _ in some)
        sql = (
            "SELECT seq, subject FROM trail_entries "  # noqa: S608 - marks are question marks
            f"WHERE tenant = ? AND kind = ? AND subject IN ({marks})"
        )
        found += fetch(connection, sql, (tenant, kind, *some))
    return sorted((seq, subject) for seq, subject in found)


def unexplained(
    connection: Connection, tenant: str, kinds: Sequence[str], subject: str
) -> tuple[int, bool] | None:
    """Return the newest entry of some kinds about a subject, and whether another erased it."""
    sql = "SELECT seq, kind FROM trail_entries WHERE tenant = ? AND subject = ? ORDER BY seq DESC"
    for seq, kind in fetch(connection, sql, (tenant, subject)):
        if kind in kinds:
            erasures = fetch(connection, sql, (tenant, erasure_subject(seq)))
            return seq, any(kind == "erasure" for _, kind in erasures)
    return None


def entry_at(connection: Connection, tenant: str, seq: int) -> StoredEntry:
    """Return one entry with its body; raise `NotFoundError` if the log has none there."""
    rows = fetch(connection, f"{_STORED} WHERE e.tenant = ? AND e.seq = ?", (tenant, seq))
    if not rows:
        raise NotFoundError(f"log of tenant {tenant!r} has no entry {seq}")
    return _stored(rows[0])


def entries_at(
    connection: Connection, tenant: str, numbers: Sequence[int]
) -> dict[int, StoredEntry]:
    """Return entries with their bodies by their numbers; one that is not there is left out."""
    found: dict[int, StoredEntry] = {}
    for start in range(0, len(numbers), _AT_ONCE):
        some = numbers[start : start + _AT_ONCE]
        marks = ", ".join("?" for _ in some)
        sql = f"{_STORED} WHERE e.tenant = ? AND e.seq IN ({marks})"
        found |= {row[0]: _stored(row) for row in fetch(connection, sql, (tenant, *some))}
    return found


def entry_bytes(
    connection: Connection, tenant: str, start: int, end: int
) -> Iterator[tuple[int, bytes]]:
    """Give the entries from `start` to `end` (not included) in order: their numbers and bytes."""
    sql = (
        "SELECT seq, entry FROM trail_entries WHERE tenant = ? AND seq >= ? AND seq < ? "
        "ORDER BY seq"
    )
    for seq, data in stream(connection, sql, (tenant, start, end)):
        yield seq, bytes(data)


def tiles_between(
    connection: Connection, tenant: str, level: int, start: int, end: int
) -> Iterator[Tile]:
    """Give the stored tiles of a level from index `start` to `end` (not included), in order."""
    sql = (
        "SELECT tenant, level, tile, data FROM trail_tiles "
        "WHERE tenant = ? AND level = ? AND tile >= ? AND tile < ? ORDER BY tile"
    )
    for *found, index, data in stream(connection, sql, (tenant, level, start, end)):
        if found == [tenant, level]:
            yield Tile(level, index, bytes(data))


def tiles_above(connection: Connection, tenant: str) -> Iterator[Tile]:
    """Give the stored tiles above level 0."""
    sql = "SELECT tenant, level, tile, data FROM trail_tiles WHERE tenant = ? AND level <> 0"
    for found, level, index, data in stream(connection, sql, (tenant,)):
        if found == tenant:
            yield Tile(level, index, bytes(data))


def stray_tiles(connection: Connection, tenant: str, full: int) -> list[int]:
    """Return the indexes of level-0 tiles outside the `full` ones that there should be."""
    rows = run(
        connection,
        "SELECT tile FROM trail_tiles WHERE tenant = ? AND level = 0 "
        "AND (tile < 0 OR tile >= ?) ORDER BY tile LIMIT 10",
        (tenant, full),
    )
    return list(rows.scalars())


def tile_data(connection: Connection, tenant: str, level: int, index: int) -> bytes | None:
    """Return a full tile's hashes, or None if the tile is not full."""
    row = run(
        connection,
        "SELECT data FROM trail_tiles WHERE tenant = ? AND level = ? AND tile = ?",
        (tenant, level, index),
    ).fetchone()
    return bytes(row[0]) if row else None


def erase_body(connection: Connection, tenant: str, seq: int) -> None:
    """Remove an entry's body; the database refuses unless an erasure entry is there already."""
    of = (tenant, seq)
    sql = "DELETE FROM trail_bodies WHERE tenant = ? AND seq = ?"
    erase_rows(connection, "trail_erase_body", of, [(sql, of)])


def erasure_subject(seq: int) -> str:
    """Return the subject of the entry that erases entry `seq`'s body."""
    return f"{ERASED_PREFIX}{seq}"


def last_signed(connection: Connection, tenant: str, size: int) -> int:
    """Return the largest size up to `size` that a checkpoint is stored of; 0 if there is none."""
    sql = "SELECT MAX(size) FROM trail_checkpoints WHERE tenant = ? AND size <= ?"
    return int(run(connection, sql, (tenant, size)).scalar() or 0)


def checkpoint_count(connection: Connection, tenant: str) -> int:
    """Return how many checkpoints the head says were kept."""
    sql = "SELECT checkpoints FROM trail_heads WHERE tenant = ?"
    return int(run(connection, sql, (tenant,)).scalar_one())


def checkpoints(connection: Connection, tenant: str) -> Iterator[tuple[int, str, str]]:
    """Give all checkpoints as size, key id and note, in order of size."""
    sql = (
        "SELECT tenant, size, key_id, note FROM trail_checkpoints WHERE tenant = ? "
        "ORDER BY size, key_id"
    )
    for found, *row in stream(connection, sql, (tenant,)):
        if found == tenant:
            yield tuple(row)


def newest_checkpoints(
    connection: Connection, tenant: str, size: int
) -> Iterator[tuple[int, str, str]]:
    """Give the checkpoints up to a size as size, key id and note, the largest first."""
    sql = (
        "SELECT size, key_id, note FROM trail_checkpoints WHERE tenant = ? AND size <= ? "
        "ORDER BY size DESC"
    )
    yield from stream(connection, sql, (tenant, size))


def checkpoint_of(connection: Connection, tenant: str, size: int) -> str | None:
    """Return a checkpoint of a size, whichever key signed it, or None."""
    sql = "SELECT note FROM trail_checkpoints WHERE tenant = ? AND size = ? ORDER BY key_id"
    return run(connection, sql, (tenant, size)).scalar()


def checkpoint_note(connection: Connection, tenant: str, size: int, key_id: str) -> str | None:
    """Return the checkpoint that a key signed at a size, or None."""
    return run(
        connection,
        "SELECT note FROM trail_checkpoints WHERE tenant = ? AND size = ? AND key_id = ?",
        (tenant, size, key_id),
    ).scalar()


def insert_key(
    connection: Connection, tenant: str, seq: int, key_id: str, public_key: bytes
) -> None:
    """Keep a public key that the entry `seq` announces."""
    insert_rows(
        connection,
        "trail_keys",
        ("tenant", "seq", "key_id", "public_key"),
        [(tenant, seq, key_id, public_key)],
    )


def keys(connection: Connection, tenant: str) -> list[tuple[int, str, bytes]]:
    """Return the announced keys as entry number, key id and public key, oldest first."""
    sql = "SELECT tenant, seq, key_id, public_key FROM trail_keys WHERE tenant = ? ORDER BY seq"
    return [
        (seq, key_id, bytes(public_key))
        for found, seq, key_id, public_key in fetch(connection, sql, (tenant,))
        if found == tenant
    ]


def state(connection: Connection, tenant: str) -> State | None:
    """Return a log's head with its keys and what they signed of it; None if there is no log."""
    rows = fetch(
        connection,
        "SELECT h.tenant, h.origin, h.size, h.root, h.edge, k.tenant, k.seq, k.key_id, "
        "k.public_key, c.note FROM trail_heads h LEFT JOIN trail_keys k ON k.tenant = h.tenant "
        "LEFT JOIN trail_checkpoints c ON c.tenant = h.tenant AND c.size = h.size "
        "AND c.key_id = k.key_id WHERE h.tenant = ? ORDER BY k.seq",
        (tenant,),
    )
    if not rows:
        return None
    found, origin, size, root, edge, *_ = rows[0]
    announced = [
        (seq, key_id, bytes(public_key))
        for *_, of, seq, key_id, public_key, _ in rows
        if of == tenant
    ]
    notes = {row[7]: row[9] for row in rows if row[9] is not None}
    return State(Head(found, origin, size, bytes(root), bytes(edge)), announced, notes)


def notes(connection: Connection, tenant: str, size: int) -> dict[str, str]:
    """Return what keys signed of a log of a size, by their ids."""
    sql = "SELECT key_id, note FROM trail_checkpoints WHERE tenant = ? AND size = ?"
    return dict(fetch(connection, sql, (tenant, size)))


def stray_rows(connection: Connection, tenant: str, size: int) -> list[tuple[int, str, str]]:
    """Return rows that belong to no entry of the log, as number, name and problem."""
    strays = []
    for table, column, what in _NUMBERED:
        rows = run(
            connection,
            f"SELECT {column} FROM {table} WHERE tenant = ? AND ({column} < 0 OR {column} >= ?) "  # noqa: S608 - names are ours
            f"ORDER BY {column} LIMIT 10",
            (tenant, size),
        )
        problem = f"is beyond the log's {counted(size, 'entry', 'entries')}"
        strays += [(seq, f"{what} {seq}", problem) for (seq,) in rows]
    return strays


def tables_with(connection: Connection, tenant: str) -> list[str]:
    """Return the tables that hold rows of a tenant."""
    return [
        table
        for table in TABLES
        if run(connection, f"SELECT 1 FROM {table} WHERE tenant = ? LIMIT 1", (tenant,)).scalar()  # noqa: S608 - names are ours
    ]


def last_entry(connection: Connection, tenant: str, size: int) -> int:
    """Return the number of the last stored entry below `size`; -1 if there is none."""
    sql = "SELECT MAX(seq) FROM trail_entries WHERE tenant = ? AND seq >= 0 AND seq < ?"
    found = run(connection, sql, (tenant, size)).scalar()
    return -1 if found is None else int(found)


def erased_since(connection: Connection, tenant: str, size: int) -> set[str]:
    """Return the subjects of the erasure entries from number `size` on."""
    sql = "SELECT subject FROM trail_entries WHERE tenant = ? AND kind = 'erasure' AND seq >= ?"
    return set(run(connection, sql, (tenant, size)).scalars())


_NUMBERED = (
    ("trail_entries", "seq", "entry"),
    ("trail_bodies", "seq", "body"),
    ("trail_keys", "seq", "key announced in entry"),
    ("trail_idempotency", "seq", "idempotency key of entry"),
)


@dataclass(frozen=True, slots=True)
class _First:
    """The first entry that was appended under an idempotency key; `said` has no salt if erased."""

    seq: int
    leaf: str
    said: Waiting

    def again(self, item: Waiting) -> Receipt:
        """Return the first receipt for a retry; raise `ConflictError` if the content is another.

        Where the first body was erased only kind and subject can be compared.
        """
        named = (self.said.kind, self.said.subject) == (item.kind, item.subject)
        if not (item.says(self.said) if self.said.salt else named):
            raise ConflictError(
                f"idempotency key {item.idempotency_key!r} was used for entry {self.seq}, which "
                "says something else: use a new key for new content"
            )
        return Receipt(self.seq, self.leaf, repeated=True)


def _known_keys(
    connection: Connection, tenant: str, waiting: Sequence[Waiting]
) -> dict[str, _First]:
    """Look up which of the waiting entries' idempotency keys were used before."""
    wanted = sorted({item.idempotency_key for item in waiting if item.idempotency_key is not None})
    known = {}
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        marks = ", ".join("?" for _ in some)
        rows = run(
            connection,
            "SELECT k.key, e.seq, e.kind, e.subject, e.entry, b.salt FROM trail_idempotency k "  # noqa: S608 - marks are question marks
            "JOIN trail_entries e ON e.tenant = k.tenant AND e.seq = k.seq "
            "LEFT JOIN trail_bodies b ON b.tenant = e.tenant AND b.seq = e.seq "
            f"WHERE k.tenant = ? AND k.key IN ({marks})",
            (tenant, *some),
        )
        for key, seq, kind, subject, data, salt in rows:
            commitment = bytes(data)[44:108].decode()
            said = Waiting(kind, subject, "", "", commitment, bytes(salt or b""), b"")
            known[key] = _First(seq, leaf_hash(bytes(data)).hex(), said)
    return known


def _stray(after: int) -> StoredEntry:
    return after, "", "", b"", None, None


def _stored(row: Any) -> StoredEntry:
    seq, kind, subject, data, salt, body = row
    return seq, kind, subject, bytes(data), salt and bytes(salt), body and bytes(body)

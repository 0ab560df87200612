"""The whole-log checker: every entry, every link, every commitment, every tile.

It takes rows and gives findings; where the rows come from is the caller's affair. A range of
entries can be checked by itself, so that two cores share the work: what a range cannot know (the
entry before its first one, the levels above its tiles) is settled when the ranges are joined.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import orjson

from evidentia.errors import ProofError
from evidentia.trail.deciding import DECIDING, Place, Said
from evidentia.trail.entry import (
    ERASED_PREFIX,
    SALT_BYTES,
    Entry,
    EntryKind,
    StoredEntry,
    encode_entry,
    is_time,
)
from evidentia.trail.merkle import HASH_BYTES, folded, push_leaf
from evidentia.trail.tiles import (
    TILE_BYTES,
    TILE_HEIGHT,
    TILE_WIDTH,
    Frontier,
    Tile,
    subtree_rows,
)

MAX_FINDINGS = 100
MAX_LEVEL = 8  # of tiles, in a log whose size fits into 64 bits
_AT = slice(7, 34)
_BODY = slice(44, 108)
_ERASED = re.compile(ERASED_PREFIX + "(0|[1-9][0-9]{0,17})")
_BROKEN_LINK = "does not follow entry {}: its prev is another hash"
_SPECIAL = frozenset(
    kind.value for kind in (EntryKind.ERASURE, EntryKind.KEY, EntryKind.ACCESS, EntryKind.RETENTION)
)


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that is wrong: the entry it is at (or the one it concerns first), what, and how."""

    seq: int
    what: str
    problem: str

    def __str__(self) -> str:
        return f"{self.what}: {self.problem}"


@dataclass(slots=True)
class RangeAudit:
    """What a checked range found, and what joining needs of it."""

    start: int
    end: int
    first_prev: str | None = None
    last_leaf: bytes = b""
    tile_roots: list[bytes] = field(default_factory=list)
    tail: list[bytes] = field(default_factory=list)
    missing_bodies: "array[int]" = field(default_factory=lambda: array("q"))
    erased: "array[int]" = field(default_factory=lambda: array("q"))
    keys: list[tuple[int, bytes]] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    deciding: list[tuple[bytes, bytes | None]] = field(default_factory=list)
    """The entries that permit or forbid something, with their bodies."""
    findings: list[Finding] = field(default_factory=list)

    def found(self, seq: int, what: str, problem: str) -> None:
        """Note a finding, up to a limit: the first ones are what matters."""
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(Finding(seq, what, problem))


def audit_range(
    tenant: str, start: int, end: int, rows: Iterable[StoredEntry], tiles: Iterable[Tile]
) -> RangeAudit:
    """Check the entries from `start` (at a tile's beginning) to `end` (not included).

    `rows` come in order of their number, `tiles` are the stored full tiles of level 0 in order.
    """
    audit = RangeAudit(start, end)
    entries = _EntryChecker(tenant, audit, rows)
    stored = _TileChecker(audit, tiles)
    for base in range(start, end, TILE_WIDTH):
        width = min(TILE_WIDTH, end - base)
        leaves = entries.take(base, width)
        if width < TILE_WIDTH:
            audit.tail = leaves
        else:
            stored.compare(base, leaves)
            audit.tile_roots.append(subtree_rows(leaves)[-1][0])
    stored.expect_no_more()
    entries.expect_no_more()
    return audit


class _TileChecker:
    """Compares stored full tiles of level 0, one after the other, with the entries' hashes."""

    def __init__(self, audit: RangeAudit, tiles: Iterable[Tile]) -> None:
        self.audit = audit
        self.tiles = iter(tiles)
        self.tile = next(self.tiles, None)

    def compare(self, base: int, leaves: Sequence[bytes]) -> None:
        """Check the tile over the entries from `base`, whose leaf hashes are given."""
        index = base // TILE_WIDTH
        name = f"tile 0/{index}"
        while self.tile is not None and self.tile.index < index:
            self._report_stray(self.tile)
        if self.tile is None or self.tile.index > index:
            self.audit.found(base, name, "is missing")
            return
        data = self.tile.data
        if data != b"".join(leaves):
            at = _first_difference(data, leaves)
            if at < TILE_WIDTH:
                self.audit.found(base + at, name, f"its hash {at} is not entry {base + at}'s")
            else:
                self.audit.found(base, name, f"has {len(data)} bytes, not {TILE_BYTES}")
        self.tile = next(self.tiles, None)

    def expect_no_more(self) -> None:
        """Report the tiles that are left over once all entries are taken."""
        while self.tile is not None:
            self._report_stray(self.tile)

    def _report_stray(self, tile: Tile) -> None:
        self.audit.found(_first_entry(tile), _tile_name(tile), "should not be there")
        self.tile = next(self.tiles, None)


class _EntryChecker:
    """Checks entries one after the other, each against the one before it."""

    def __init__(self, tenant: str, audit: RangeAudit, rows: Iterable[StoredEntry]) -> None:
        self.tenant = tenant
        self.audit = audit
        self.rows = iter(rows)
        self.held: StoredEntry | None = None
        self.prev: str | None = None
        self.at, self.time = b"", ""

    def take(self, base: int, width: int) -> list[bytes]:
        """Check the rows of one tile; return their leaf hashes, always `width` of them."""
        leaves: list[bytes] = []
        audit = self.audit
        expected = base
        for seq, kind, subject, data, salt, body in self._below(base + width):
            if seq != expected:
                if seq < expected:
                    audit.found(seq, f"entry {seq}", "stands twice or out of order")
                    continue
                audit.found(expected, f"entry {expected}", "is missing")
                leaves += [b""] * (seq - expected)
                expected = seq
            leaf = sha256(b"\x00" + data).digest()
            if (
                body is None
                or salt is None
                or len(salt) != SALT_BYTES
                or not self._is_as_written(
                    seq, kind, subject, data, sha256(salt + body).hexdigest()
                )
            ):
                self._look_closer(seq, kind, subject, data, salt, body)
            if kind in DECIDING:
                audit.said.append(((kind, subject), Place(seq, leaf)))
                if kind in _SPECIAL:
                    audit.deciding.append((data, body))
                    self._note_special(seq, kind, subject, body)
            leaves.append(leaf)
            self.prev = leaf.hex()
            expected += 1
        if expected < base + width:
            audit.found(expected, f"entry {expected}", "is missing")
            leaves += [b""] * (base + width - expected)
        audit.last_leaf = leaves[-1]
        return leaves

    def expect_no_more(self) -> None:
        """Report what is left over once all tiles are taken."""
        left = next(self.rows, None) if self.held is None else self.held
        if left is not None:
            self.audit.found(left[0], f"entry {left[0]}", "stands twice, or where none should be")

    def _below(self, limit: int) -> Iterator[StoredEntry]:
        """Give the rows below the limit; hold the first one that is not."""
        if self.held is not None:
            if self.held[0] >= limit:
                return
            yield self.held
            self.held = None
        for row in self.rows:
            if row[0] >= limit:
                self.held = row
                return
            yield row
            if row[0] == limit - 1:
                return

    def _look_closer(  # noqa: PLR0917 - a row, as it comes
        self,
        seq: int,
        kind: str,
        subject: str,
        data: bytes,
        salt: bytes | None,
        body: bytes | None,
    ) -> None:
        """Find out what is wrong with an entry, or whether all that it lacks is its body."""
        committed = data[_BODY].decode("ascii", "replace")
        readable = self._is_as_written(seq, kind, subject, data, committed) or self._explain(
            seq, kind, subject, data
        )
        if body is None or salt is None:
            self.audit.missing_bodies.append(seq)
        elif readable and (len(salt) != SALT_BYTES or sha256(salt + body).hexdigest() != committed):
            self.audit.found(seq, f"entry {seq}", "its body or salt is not what it commits to")

    def _is_as_written(
        self, seq: int, kind: str, subject: str, data: bytes, commitment: str
    ) -> bool:
        """Whether the bytes are exactly what these fields and the entry before give."""
        if self.prev is None:  # a range's first entry: what it follows is settled when joining
            self.prev = _declared_prev(data)
            self.audit.first_prev = self.prev
        at = data[_AT]
        if at != self.at:  # entries of one batch have one time
            if not is_time(at.decode("ascii", "replace")):
                return False
            self.at, self.time = at, at.decode()
        written = encode_entry(
            self.tenant,
            seq,
            self.prev or "",
            kind,
            orjson.dumps(subject).decode(),
            self.time,
            commitment,
        )
        return written == data

    def _explain(self, seq: int, kind: str, subject: str, data: bytes) -> bool:
        """Say what is wrong with an entry that is not as written; return whether it reads."""
        what = f"entry {seq}"
        try:
            entry = Entry.decode(data)
        except ProofError as error:
            self.audit.found(seq, what, str(error))
            return False
        if entry.tenant != self.tenant:
            self.audit.found(seq, what, f"belongs to tenant {entry.tenant!r}")
        if entry.seq != seq:
            self.audit.found(seq, what, f"says it is entry {entry.seq}")
        if (entry.kind, entry.subject) != (kind, subject):
            self.audit.found(seq, what, "its kind or subject column differs from its bytes")
        if entry.prev != self.prev:
            self.audit.found(seq, what, _BROKEN_LINK.format(seq - 1))
        return True

    def _note_special(self, seq: int, kind: str, subject: str, body: bytes | None) -> None:
        if kind == EntryKind.KEY:
            self.audit.keys.append((seq, body or b""))
        if kind != EntryKind.ERASURE:
            return
        erased = _ERASED.fullmatch(subject)
        if erased and int(erased[1]) < seq:
            self.audit.erased.append(int(erased[1]))
        else:
            self.audit.found(seq, f"entry {seq}", f"erases {subject!r}, which is no earlier entry")


@dataclass(slots=True)
class LogAudit:
    """All ranges joined: the tree as the entries give it, and what is wrong."""

    frontier: Frontier
    upper_tiles: list[Tile]
    keys: list[tuple[int, bytes]]
    findings: list[Finding]
    tile_roots: list[bytes]
    tail: list[bytes]
    said: list[Said]
    """The entries that decide."""
    deciding: list[tuple[bytes, bytes | None]]


class PastRoots:
    """The roots that a checked log had at earlier sizes, asked for in rising order.

    `tiles` are the stored full tiles of level 0, which the check has compared with the entries.
    """

    def __init__(self, joined: LogAudit, tiles: Iterable[Tile]) -> None:
        self._roots = joined.tile_roots
        self._tail = joined.tail
        self._size = joined.frontier.size
        self._tiles = iter(tiles)
        self._tile: Tile | None = None
        self._above: list[bytes] = []
        self._full = 0
        self._within: list[bytes] = []
        self._count = 0
        self._leaves: Sequence[bytes] = ()

    def at(self, size: int) -> bytes | None:
        """Return the root of the first `size` entries; None if a tile that it needs is missing."""
        full, rest = divmod(size, TILE_WIDTH)
        if size > self._size or full < self._full or (full == self._full and rest < self._count):
            return None
        if full > self._full:
            for count in range(self._full, full):
                push_leaf(self._above, count + 1, self._roots[count])
            self._full, self._count, self._within, self._leaves = full, 0, [], ()
        if rest:
            if not self._leaves:
                self._leaves = self._leaves_of(full)
            if len(self._leaves) < rest:
                return None
            for count in range(self._count, rest):
                push_leaf(self._within, count + 1, self._leaves[count])
            self._count = rest
        return folded([*self._above, *self._within])

    def _leaves_of(self, index: int) -> Sequence[bytes]:
        if index == len(self._roots):
            return self._tail
        while self._tile is None or self._tile.index < index:
            self._tile = next(self._tiles, None)
            if self._tile is None:
                return ()
        if self._tile.index != index:
            return ()
        data = self._tile.data
        return [data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES)]


def join_ranges(genesis: str, ranges: Sequence[RangeAudit]) -> LogAudit:
    """Join checked ranges, in order, into the whole log's tree and findings."""
    findings = [finding for part in ranges for finding in part.findings]
    expected = genesis
    for part in ranges:
        if part.first_prev is not None and part.first_prev != expected:
            findings.append(
                Finding(
                    part.start,
                    f"entry {part.start}",
                    _BROKEN_LINK.format(part.start - 1)
                    if part.start
                    else "does not begin this log: its prev is not the origin's hash",
                )
            )
        expected = part.last_leaf.hex()
    findings += _unexplained_bodies(ranges)
    roots = [root for part in ranges for root in part.tile_roots]
    tail = [leaf for part in ranges for leaf in part.tail]
    frontier, upper = _tree(roots, tail)
    frontier.last = ranges[-1].last_leaf if ranges else b""
    keys = [key for part in ranges for key in part.keys]
    said = [one for part in ranges for one in part.said]
    deciding = [one for part in ranges for one in part.deciding]
    return LogAudit(frontier, upper, keys, findings, roots, tail, said, deciding)


def audit_upper_tiles(expected: Sequence[Tile], stored: Iterable[Tile]) -> list[Finding]:
    """Compare the stored tiles above level 0 with what the entries give."""
    wanted = {(tile.level, tile.index): tile.data for tile in expected}
    findings = []
    for tile in stored:
        data = wanted.pop((tile.level, tile.index), None)
        if data is None:
            findings.append(Finding(_first_entry(tile), _tile_name(tile), "should not be there"))
        elif data != tile.data:
            problem = "its hashes are not the entries'"
            findings.append(Finding(_first_entry(tile), _tile_name(tile), problem))
    missing = [tile for tile in expected if (tile.level, tile.index) in wanted]
    findings += [Finding(_first_entry(tile), _tile_name(tile), "is missing") for tile in missing]
    return findings


def _tree(tile_roots: Sequence[bytes], tail: Sequence[bytes]) -> tuple[Frontier, list[Tile]]:
    """Build the frontier and the full tiles above level 0 from level-0 roots and loose leaves."""
    above = Frontier()
    upper = [Tile(tile.level + 1, tile.index, tile.data) for tile in above.extend(tile_roots)]
    below = Frontier()
    below.extend(tail)
    frontier = Frontier(
        size=above.size * TILE_WIDTH + below.size,
        peaks=above.peaks + below.peaks,
        partial=[bytearray(b"".join(tail)), *above.partial],
    )
    return frontier, upper


def _unexplained_bodies(ranges: Sequence[RangeAudit]) -> list[Finding]:
    """Find bodies that are gone without an erasure entry, and erased ones that are still there."""
    still_stored = {seq for part in ranges for seq in part.erased}
    gone: list[int] = []
    for part in ranges:
        for seq in part.missing_bodies:
            if seq in still_stored:
                still_stored.discard(seq)
            elif len(gone) < MAX_FINDINGS:
                gone.append(seq)
    lost = "its body is gone, and no erasure says why"
    kept = "its body was erased by an entry, and is still stored"
    return [Finding(seq, f"entry {seq}", lost) for seq in gone] + [
        Finding(seq, f"entry {seq}", kept) for seq in sorted(still_stored)[:MAX_FINDINGS]
    ]


def _declared_prev(data: bytes) -> str | None:
    try:
        return Entry.decode(data).prev
    except ProofError:
        return None


def _first_difference(data: bytes, leaves: Sequence[bytes]) -> int:
    width = 32
    return next(
        (at for at, leaf in enumerate(leaves) if data[at * width : (at + 1) * width] != leaf),
        len(leaves),
    )


def _first_entry(tile: Tile) -> int:
    """Return the number of the first entry below a tile; 0 where no log is that tall."""
    sane = 0 <= tile.level < MAX_LEVEL
    return tile.index << TILE_HEIGHT * (tile.level + 1) if sane else 0


def _tile_name(tile: Tile) -> str:
    return f"tile {tile.level}/{tile.index}"

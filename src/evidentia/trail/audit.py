"""The whole-log checker: every entry, every link, every commitment, every tile.

It takes rows and gives findings; where the rows come from is the caller's affair. A range of
entries can be checked by itself, so that two cores share the work: what a range cannot know (the
entry before its first one, the levels above its tiles) is settled when the ranges are joined.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import orjson

from evidentia.errors import ProofError
from evidentia.trail.entry import Entry, EntryKind, encode_entry, is_time
from evidentia.trail.tiles import TILE_WIDTH, Frontier, Tile, subtree_rows

StoredEntry = tuple[int, str, str, bytes, bytes | None, bytes | None]
"""A row: sequence number, kind, subject, the entry's bytes, the body's salt, the body."""

MAX_FINDINGS = 100
ERASED_PREFIX = "entry/"
_AT = slice(7, 34)
_BODY = slice(44, 108)
_SPECIAL = frozenset({EntryKind.ERASURE.value, EntryKind.KEY.value})


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
    checker = _EntryChecker(tenant, audit, rows)
    stored = iter(tiles)
    tile = next(stored, None)
    for base in range(start, end, TILE_WIDTH):
        width = min(TILE_WIDTH, end - base)
        leaves = checker.take(base, width)
        if width < TILE_WIDTH:
            audit.tail = leaves
            break
        index = base // TILE_WIDTH
        if tile is None or tile.index != index:
            audit.found(base, f"tile 0/{index}", "is missing")
        else:
            if tile.data != b"".join(leaves):
                at = _first_difference(tile.data, leaves)
                audit.found(base + at, f"tile 0/{index}", f"its hash {at} is not entry {base + at}'s")
            tile = next(stored, None)
        audit.tile_roots.append(subtree_rows(leaves)[-1][0])
    if tile is not None:
        audit.found(tile.index * TILE_WIDTH, _tile_name(tile), "should not be there")
    checker.expect_no_more()
    return audit


class _EntryChecker:
    """Checks entries one after the other, each against the one before it."""

    def __init__(self, tenant: str, audit: RangeAudit, rows: Iterable[StoredEntry]) -> None:
        self.tenant = tenant
        self.audit = audit
        self.rows = iter(rows)
        self.held: StoredEntry | None = None
        self.prev: str | None = None

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
            if not self._is_as_written(seq, kind, subject, data):
                self._explain(seq, kind, subject, data)
            if body is None or salt is None:
                audit.missing_bodies.append(seq)
            elif sha256(salt + body).hexdigest().encode() != data[_BODY]:
                audit.found(seq, f"entry {seq}", "its body or salt is not what it commits to")
            if kind in _SPECIAL:
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

    def _is_as_written(self, seq: int, kind: str, subject: str, data: bytes) -> bool:
        """Whether the bytes are exactly what these fields and the entry before give."""
        at = data[_AT].decode("ascii", "replace")
        if self.prev is None:  # a range's first entry: what it follows is settled when joining
            self.prev = _declared_prev(data)
            self.audit.first_prev = self.prev
        written = encode_entry(
            self.tenant,
            seq,
            self.prev or "",
            kind,
            orjson.dumps(subject).decode(),
            at,
            data[_BODY].decode("ascii", "replace"),
        )
        return written == data and is_time(at)

    def _explain(self, seq: int, kind: str, subject: str, data: bytes) -> None:
        """Say what is wrong with an entry that is not as written."""
        what = f"entry {seq}"
        try:
            entry = Entry.decode(data)
        except ProofError as error:
            self.audit.found(seq, what, str(error))
            return
        if entry.tenant != self.tenant:
            self.audit.found(seq, what, f"belongs to tenant {entry.tenant!r}")
        if entry.seq != seq:
            self.audit.found(seq, what, f"says it is entry {entry.seq}")
        if (entry.kind, entry.subject) != (kind, subject):
            self.audit.found(seq, what, "its kind or subject column differs from its bytes")
        if entry.prev != self.prev:
            self.audit.found(seq, what, f"does not follow entry {seq - 1}: its prev is another hash")

    def _note_special(self, seq: int, kind: str, subject: str, body: bytes | None) -> None:
        if kind == EntryKind.KEY:
            self.audit.keys.append((seq, body or b""))
            return
        number = subject.removeprefix(ERASED_PREFIX)
        if subject.startswith(ERASED_PREFIX) and number.isdecimal() and int(number) < seq:
            self.audit.erased.append(int(number))
        else:
            self.audit.found(seq, f"entry {seq}", f"erases {subject!r}, which is no earlier entry")


@dataclass(slots=True)
class LogAudit:
    """All ranges joined: the tree as the entries give it, and what is wrong."""

    frontier: Frontier
    upper_tiles: list[Tile]
    keys: list[tuple[int, bytes]]
    findings: list[Finding]


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
                    f"does not follow entry {part.start - 1}: its prev is another hash"
                    if part.start
                    else "does not begin this log: its prev is not the origin's hash",
                )
            )
        expected = part.last_leaf.hex()
    findings += _unexplained_bodies(ranges)
    frontier, upper = _tree(
        [root for part in ranges for root in part.tile_roots],
        [leaf for part in ranges for leaf in part.tail],
    )
    frontier.last = ranges[-1].last_leaf if ranges else b""
    return LogAudit(frontier, upper, [key for part in ranges for key in part.keys], findings)


def audit_upper_tiles(expected: Sequence[Tile], stored: Iterable[Tile]) -> list[Finding]:
    """Compare the stored tiles above level 0 with what the entries give."""
    wanted = {(tile.level, tile.index): tile.data for tile in expected}
    findings = []
    for tile in stored:
        first = tile.index * TILE_WIDTH ** (tile.level + 1)
        data = wanted.pop((tile.level, tile.index), None)
        if data is None:
            findings.append(Finding(first, _tile_name(tile), "should not be there"))
        elif data != tile.data:
            findings.append(Finding(first, _tile_name(tile), "its hashes are not the entries'"))
    findings += [
        Finding(index * TILE_WIDTH ** (level + 1), f"tile {level}/{index}", "is missing")
        for level, index in wanted
    ]
    return findings


def _tree(tile_roots: Sequence[bytes], tail: Sequence[bytes]) -> tuple[Frontier, list[Tile]]:
    """Build the frontier and the full tiles above level 0 from level-0 roots and loose leaves."""
    above = Frontier()
    upper = [Tile(tile.level + 1, tile.index, tile.data) for tile in above.extend(tile_roots)]
    below = Frontier()
    below.extend(tail)
    frontier = Frontier(
        above.size * TILE_WIDTH + below.size,
        below.last,
        above.peaks + below.peaks,
        [below.partial[0] if below.partial else bytearray(), *above.partial],
    )
    return frontier, upper


def _unexplained_bodies(ranges: Sequence[RangeAudit]) -> list[Finding]:
    """Find bodies that are gone without an erasure entry, and erased ones that are still there."""
    erased = {seq for part in ranges for seq in part.erased}
    findings = []
    for part in ranges:
        for seq in part.missing_bodies:
            if seq in erased:
                erased.discard(seq)
            elif len(findings) < MAX_FINDINGS:
                findings.append(Finding(seq, f"entry {seq}", "its body is gone, and no erasure says why"))
    findings += [
        Finding(seq, f"entry {seq}", "its body was erased by an entry, and is still stored")
        for seq in sorted(erased)[:MAX_FINDINGS]
    ]
    return findings


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


def _tile_name(tile: Tile) -> str:
    return f"tile {tile.level}/{tile.index}"



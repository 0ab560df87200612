"""Tiles: the tree in pieces of 256 hashes, as C2SP tlog-tiles lays them out.

A full tile never changes, so it is stored and published once. What is not in a full tile yet, the
tree's right edge, is carried along by a `Frontier`: with it an append needs to read nothing back.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from evidentia.errors import IntegrityError, ProofError
from evidentia.trail.merkle import EMPTY_ROOT, HASH_BYTES, node_hash, range_hash

TILE_WIDTH = 256
TILE_HEIGHT = 8
TILE_BYTES = TILE_WIDTH * HASH_BYTES
_LENGTH_PREFIX = 2

Rows = list[list[bytes]]
"""A tile expanded: its hashes, then the hashes of ever larger subtrees."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One tile: its level, its index in the level, and its hashes side by side."""

    level: int
    index: int
    data: bytes

    @property
    def width(self) -> int:
        """How many hashes the tile holds; 256 when full."""
        return len(self.data) // HASH_BYTES


@dataclass(slots=True)
class Frontier:
    """The right edge of a tree: its last leaf, its complete subtrees' roots, its unfinished tiles.

    `extend` takes leaves in O(1) hashes each and gives back the tiles that became full.
    """

    size: int = 0
    last: bytes = b""
    peaks: list[bytes] = field(default_factory=list)
    partial: list[bytearray] = field(default_factory=list)

    @classmethod
    def unpack(cls, size: int, edge: bytes) -> "Frontier":
        """Read what `pack` wrote; raise `IntegrityError` if it cannot belong to that size."""
        if size < 0:
            raise IntegrityError(f"a log cannot have {size} entries")
        widths = partial_widths(size)
        count = min(size, 1) + size.bit_count() + sum(widths)
        if len(edge) != count * HASH_BYTES:
            raise IntegrityError(
                f"the right edge of {size} entries has {len(edge)} bytes, not {count * HASH_BYTES}"
            )
        last = edge[:HASH_BYTES]
        cut = (min(size, 1) + size.bit_count()) * HASH_BYTES
        peaks = [edge[at : at + HASH_BYTES] for at in range(HASH_BYTES, cut, HASH_BYTES)]
        partial = []
        for width in widths:
            partial.append(bytearray(edge[cut : cut + width * HASH_BYTES]))
            cut += width * HASH_BYTES
        return cls(size, last, peaks, partial)

    def pack(self) -> bytes:
        """Return the edge as bytes: last leaf, peaks, then the partial tiles from level 0 up."""
        return b"".join([self.last, *self.peaks, *self.partial])

    def root(self) -> bytes:
        """Return the tree's root."""
        if not self.peaks:
            return EMPTY_ROOT
        result = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            result = node_hash(peak, result)
        return result

    def partial_tiles(self) -> list[Tile]:
        """Return the tiles that are begun and not full, from level 0 up."""
        return [
            Tile(level, self.size >> TILE_HEIGHT * (level + 1), bytes(data))
            for level, data in enumerate(self.partial)
            if data
        ]

    def extend(self, leaves: Iterable[bytes]) -> list[Tile]:
        """Append leaf hashes; return the tiles that are full now."""
        full: list[Tile] = []
        size, peaks, partial = self.size, self.peaks, self.partial
        for leaf in leaves:
            size += 1
            if not partial:
                partial.append(bytearray())
            partial[0] += leaf
            node, remaining, height = leaf, size, 0
            while not remaining & 1:
                node = sha256(b"\x01" + peaks.pop() + node).digest()
                remaining >>= 1
                height += 1
                if height % TILE_HEIGHT == 0:
                    level = height // TILE_HEIGHT
                    full.append(Tile(level - 1, (size >> height) - 1, bytes(partial[level - 1])))
                    partial[level - 1].clear()
                    if len(partial) == level:
                        partial.append(bytearray())
                    partial[level] += node
            peaks.append(node)
            self.last = leaf
        self.size = size
        return full


def partial_widths(size: int) -> list[int]:
    """Return how many hashes the unfinished tile of each level holds, from level 0 up."""
    widths = []
    while size:
        widths.append(size % TILE_WIDTH)
        size >>= TILE_HEIGHT
    return widths


def expand(data: bytes) -> list[list[bytes]]:
    """Return the complete subtrees inside a tile: row r holds those of 2^r of its hashes."""
    return subtree_rows([data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES)])


def subtree_rows(hashes: list[bytes]) -> list[list[bytes]]:
    """Return the complete subtrees over hashes that begin a tile, row by row up."""
    row = hashes
    rows = [row]
    while len(row) > 1:
        row = [sha256(b"\x01" + row[at] + row[at + 1]).digest() for at in range(0, len(row) - 1, 2)]
        rows.append(row)
    return rows


def locate(height: int, index: int) -> tuple[int, int, int, int]:
    """Say where a complete subtree's hash is: tile level, tile index, row, place in the row."""
    level, row = divmod(height, TILE_HEIGHT)
    across = TILE_HEIGHT - row
    return level, index >> across, row, index & ((1 << across) - 1)


class TiledTree:
    """A log's tree as a function from (height, index) to a subtree's hash, out of tiles.

    `edge` are the unfinished tiles, expanded; `full` gives an expanded full one when it is needed.
    Of each level the last one is kept: whoever walks through a log asks for each tile once, and
    needs no more memory for a longer log.
    """

    def __init__(
        self, edge: Mapping[tuple[int, int], Rows], full: Callable[[int, int], Rows]
    ) -> None:
        self._edge = edge
        self._full = full
        self._last: dict[int, tuple[int, Rows]] = {}

    def __call__(self, height: int, index: int) -> bytes:
        """Return the hash of the complete subtree of 2^height leaves at this index."""
        level, tile, row, place = locate(height, index)
        last = self._last.get(level)
        if last is None or last[0] != tile:
            rows = self._edge.get((level, tile)) or self._full(level, tile)
            last = self._last[level] = tile, rows
        return last[1][row][place]

    def root_at(self, size: int) -> bytes:
        """Return the root that the log had at an earlier size."""
        return range_hash(self, 0, size) if size else EMPTY_ROOT


def expanded_edge(size: int, edge: bytes) -> dict[tuple[int, int], Rows]:
    """Return the unfinished tiles of a log of a size, expanded, by their level and index."""
    tiles = Frontier.unpack(size, edge).partial_tiles()
    return {(tile.level, tile.index): expand(tile.data) for tile in tiles}


def tile_path(level: int | str, index: int, width: int = TILE_WIDTH) -> str:
    """Return a tile's published path; level `"entries"` gives the entry bundle's.

    >>> tile_path(0, 1234067)
    'tile/0/x001/x234/067'
    >>> tile_path("entries", 3, 112)
    'tile/entries/003.p/112'
    """
    suffix = "" if width == TILE_WIDTH else f".p/{width}"
    return f"tile/{level}/{_grouped(index)}{suffix}"


def body_path(seq: int) -> str:
    """Return the published path of an entry's body, where that is published.

    >>> body_path(1234067)
    'body/x001/x234/067'
    """
    return f"body/{_grouped(seq)}"


def _grouped(index: int) -> str:
    """Return a number in groups of three digits, each but the last a folder."""
    parts = [f"{index % 1000:03d}"]
    while index := index // 1000:
        parts.append(f"x{index % 1000:03d}")
    return "/".join(reversed(parts))


def encode_bundle(entries: Sequence[bytes]) -> bytes:
    """Write entries as an entry bundle: each with its length in two bytes before it."""
    return b"".join(len(entry).to_bytes(_LENGTH_PREFIX, "big") + entry for entry in entries)


def decode_bundle(data: bytes) -> list[bytes]:
    """Read an entry bundle; raise `ProofError` if it is cut short."""
    entries = []
    at = 0
    while at < len(data):
        start = at + _LENGTH_PREFIX
        at = start + int.from_bytes(data[at:start], "big")
        if at > len(data):
            raise ProofError("the entry bundle is cut short")
        entries.append(data[start:at])
    return entries

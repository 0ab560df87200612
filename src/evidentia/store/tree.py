"""The stored tree: hashes of subtrees out of tiles, as proofs need them."""

import threading
from collections import OrderedDict

from sqlalchemy import Connection

from evidentia.errors import IntegrityError
from evidentia.store.log import Head, tile_data
from evidentia.trail.merkle import EMPTY_ROOT, range_hash
from evidentia.trail.tiles import Frontier, expand, locate

_KEPT_TILES = 4_096
"""How many expanded tiles are kept: about 180 MB at most, reached past a million entries."""

Edge = dict[tuple[int, int], list[list[bytes]]]
ExpandedTiles = OrderedDict[tuple[str, int, int], list[list[bytes]]]


class TileCache:
    """Expanded full tiles, the most recently used; a full tile never changes, so none is stale.

    Threads may share one.
    """

    def __init__(self, kept: int = _KEPT_TILES) -> None:
        self._kept = kept
        self._tiles: ExpandedTiles = OrderedDict()
        self._lock = threading.Lock()
        self._edge: tuple[Head, Edge] | None = None

    def get(self, key: tuple[str, int, int]) -> list[list[bytes]] | None:
        """Return an expanded tile and mark it as used."""
        with self._lock:
            rows = self._tiles.get(key)
            if rows is not None:
                self._tiles.move_to_end(key)
        return rows

    def edge(self, head: Head) -> Edge:
        """Return a head's unfinished tiles, expanded; those of the last head are kept."""
        kept = self._edge
        if kept is None or kept[0] != head:
            tiles = Frontier.unpack(head.size, head.edge).partial_tiles()
            kept = head, {(tile.level, tile.index): expand(tile.data) for tile in tiles}
            self._edge = kept
        return kept[1]

    def put(self, key: tuple[str, int, int], rows: list[list[bytes]]) -> None:
        """Keep an expanded tile; drop the one that was not used for longest."""
        with self._lock:
            self._tiles[key] = rows
            if len(self._tiles) > self._kept:
                self._tiles.popitem(last=False)


class StoredTree:
    """The tree behind a head, as a function from (height, index) to the subtree's hash."""

    def __init__(self, connection: Connection, head: Head, cache: TileCache) -> None:
        self._connection = connection
        self._head = head
        self._cache = cache
        self._used = dict(cache.edge(head))

    def __call__(self, height: int, index: int) -> bytes:
        """Return the hash of the complete subtree of 2^height leaves at this index."""
        level, tile, row, place = locate(height, index)
        rows = self._used.get((level, tile))
        if rows is None:
            rows = self._used[level, tile] = self._full(level, tile)
        return rows[row][place]

    def root_at(self, size: int) -> bytes:
        """Return the root that the log had at an earlier size."""
        return range_hash(self, 0, size) if size else EMPTY_ROOT

    def _full(self, level: int, tile: int) -> list[list[bytes]]:
        key = (self._head.tenant, level, tile)
        rows = self._cache.get(key)
        if rows is None:
            data = tile_data(self._connection, self._head.tenant, level, tile)
            if data is None:
                raise IntegrityError(
                    f"tile {level}/{tile} of log {self._head.origin} is missing: "
                    "run 'evidentia trail verify'"
                )
            rows = expand(data)
            self._cache.put(key, rows)
        return rows

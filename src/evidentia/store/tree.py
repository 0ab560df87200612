"""The stored tree: hashes of subtrees out of tiles, as proofs need them."""

import threading
from collections import OrderedDict

from sqlalchemy import Connection

from evidentia.errors import IntegrityError
from evidentia.store.sql.log import Head, tile_data
from evidentia.trail.tiles import Rows, TiledTree, expand, expanded_edge

_KEPT_TILES = 4_096
"""How many expanded tiles are kept: about 180 MB at most, reached past a million entries."""

Edge = dict[tuple[int, int], Rows]
ExpandedTiles = OrderedDict[tuple[str, int, int], Rows]


class TileCache:
    """Expanded full tiles, the most recently used; a full tile never changes, so none is stale.

    Threads may share one.
    """

    def __init__(self, kept: int = _KEPT_TILES) -> None:
        self._kept = kept
        self._tiles: ExpandedTiles = OrderedDict()
        self._lock = threading.Lock()
        self._edge: tuple[Head, Edge] | None = None

    def get(self, key: tuple[str, int, int]) -> Rows | None:
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
            kept = head, expanded_edge(head.size, head.edge)
            self._edge = kept
        return kept[1]

    def put(self, key: tuple[str, int, int], rows: Rows) -> None:
        """Keep an expanded tile; drop the one that was not used for longest."""
        with self._lock:
            self._tiles[key] = rows
            if len(self._tiles) > self._kept:
                self._tiles.popitem(last=False)


def stored_tree(connection: Connection, head: Head, cache: TileCache) -> TiledTree:
    """Return the tree behind a head; its full tiles are read when they are needed."""

    def full(level: int, tile: int) -> Rows:
        key = (head.tenant, level, tile)
        rows = cache.get(key)
        if rows is None:
            data = tile_data(connection, head.tenant, level, tile)
            if data is None:
                raise IntegrityError(
                    f"tile {level}/{tile} of log {head.origin} is missing: run 'evidentia trail "
                    "verify'"
                )
            rows = expand(data)
            cache.put(key, rows)
        return rows

    return TiledTree(cache.edge(head), full)

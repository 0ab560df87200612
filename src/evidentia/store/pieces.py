"""One tile or entry bundle of a log, as publishing writes it; its cost does not grow with the log.

A piece of a given width never changes, so whoever has it need not ask again.
"""

from sqlalchemy import Connection

from evidentia.errors import IntegrityError, NotFoundError
from evidentia.language.counting import agreed, ranged
from evidentia.store.sql import log
from evidentia.store.tree import TileCache, stored_tree
from evidentia.trail.merkle import leaf_hash
from evidentia.trail.tiles import TILE_HEIGHT, TILE_WIDTH, TiledTree, encode_bundle, tile_path

_MOST_LEVELS = 6
"""A log of 2^48 entries has no higher ones."""


def tile_of(
    connection: Connection, tenant: str, place: tuple[int, int], width: int, tiles: TileCache
) -> bytes:
    """Return the hashes of a tile, side by side, by its level and its index there.

    Raise `NotFoundError` if it has not so many.
    """
    level, index = place
    head = log.require_head(connection, tenant)
    there = head.size >> TILE_HEIGHT * level if 0 <= level < _MOST_LEVELS else 0
    _require(level, index, width, there)
    tree, first = stored_tree(connection, head, tiles), index * TILE_WIDTH
    return b"".join(tree(TILE_HEIGHT * level, first + place) for place in range(width))


def bundle_of(
    connection: Connection, tenant: str, index: int, width: int, tiles: TileCache
) -> bytes:
    """Return entries as an entry bundle, each compared with the tree that the log has signed.

    Raise `NotFoundError` if there are not so many.
    """
    head = log.require_head(connection, tenant)
    _require("entries", index, width, head.size)
    tree, start = stored_tree(connection, head, tiles), index * TILE_WIDTH
    return read_bundle(connection, tenant, tree, start, start + width)


def read_bundle(
    connection: Connection, tenant: str, tree: TiledTree, start: int, end: int
) -> bytes:
    """Return the entries from `start` to `end` (not included) as an entry bundle.

    Raise `IntegrityError` if they are not what the tree is made of.
    """
    entries = [row[3] for row in log.entries_between(connection, tenant, start, end)]
    if [leaf_hash(entry) for entry in entries] != [tree(0, seq) for seq in range(start, end)]:
        named = ranged(start, end - 1, "entry", "entries")
        are = agreed(end - start, "is", "are")
        raise IntegrityError(
            f"{named} {are} not what the tree is made of, and {are} not published: run "
            "'evidentia trail verify'"
        )
    return encode_bundle(entries)


def _require(level: int | str, index: int, width: int, there: int) -> None:
    if index < 0 or not 1 <= width <= TILE_WIDTH:
        raise NotFoundError(f"the log has no tile/{level} of number {index}, {width} wide")
    if index * TILE_WIDTH + width > there:
        raise NotFoundError(f"the log has no {tile_path(level, index, width)}")

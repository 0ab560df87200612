"""What stands around the entries of a stored log: schema, stray rows, tiles and head."""

from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import Connection

from evidentia.errors import IntegrityError
from evidentia.store import listing
from evidentia.store.sql import across, log
from evidentia.trail.audit import MAX_LEVEL, Finding, LogAudit, RangeAudit, audit_upper_tiles
from evidentia.trail.entry import genesis_prev
from evidentia.trail.merkle import HASH_BYTES
from evidentia.trail.tiles import TILE_HEIGHT, TILE_WIDTH, Frontier, Tile


def audit_surroundings(connection: Connection, head: log.Head) -> Iterator[Finding]:
    """Look for rows where none should be."""
    for table, name in across.strays(connection):
        if table not in log.TABLES:
            continue
        yield Finding(-1, f"table {table}", f"has rows of tenant {name!r}, which has no log")
    for stray in log.stray_rows(connection, head.tenant, head.size):
        yield Finding(*stray)
    for index in log.stray_tiles(connection, head.tenant, head.size // TILE_WIDTH):
        yield Finding(index * TILE_WIDTH, f"tile 0/{index}", "should not be there")


def audit_schema(connection: Connection) -> tuple[list[Finding], listing.Compared]:
    """Compare the schema with what it should be; say also what could not be judged."""
    found = listing.compared(connection)
    return [Finding(-1, "schema", line) for line in found.wrong], found


def audit_stored_tiles(joined: LogAudit, stored: Iterable[Tile]) -> list[Finding]:
    """Compare the tiles above level 0, but for those above an entry or a tile that is wrong."""
    wrong = {finding.seq for finding in joined.findings}

    def can_be_judged(tile: Tile) -> bool:
        height = TILE_HEIGHT * (tile.level + 1)
        return tile.level not in range(MAX_LEVEL) or tile.index not in {
            seq >> height for seq in wrong
        }

    return audit_upper_tiles(
        list(filter(can_be_judged, joined.upper_tiles)), filter(can_be_judged, stored)
    )


def audit_head(head: log.Head, joined: LogAudit, ranges: Sequence[RangeAudit]) -> Iterator[Finding]:
    """Compare the head with what the entries give."""
    frontier = joined.frontier
    computed = (frontier.size, frontier.root(), frontier.pack())
    if computed != (head.size, head.root, head.edge):
        first = _first_other_leaf(head, frontier)
        yield Finding(first, "head", "its size, root or edge is not the entries'")
    elif ranges and ranges[0].first_prev != genesis_prev(head.origin):
        yield Finding(0, "head", f"its origin {head.origin!r} is not the one entry 0 begins with")


def _first_other_leaf(head: log.Head, frontier: Frontier) -> int:
    """Return the first entry whose hash a head's edge has differently; its size if that is none."""
    try:
        stored = Frontier.unpack(head.size, head.edge)
    except IntegrityError:
        return head.size
    if stored.size == frontier.size and stored.partial:
        begin = stored.size - len(stored.partial[0]) // HASH_BYTES
        pairs = zip(stored.partial[0], frontier.partial[0], strict=False)
        for at, (one, other) in enumerate(pairs):
            if one != other:
                return begin + at // HASH_BYTES
    return head.size

"""The checker of a published log: every bundle, every link, every tile, the root.

It takes files by their paths and gives findings; where the files come from is the caller's affair.
One bundle is in memory at a time, however long the log is.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from evidentia.errors import ProofError
from evidentia.language.counting import counted
from evidentia.trail.checkpoint import Checkpoint
from evidentia.trail.entry import Entry, genesis_prev
from evidentia.trail.merkle import HASH_BYTES, leaf_hash
from evidentia.trail.tiles import (
    TILE_BYTES,
    TILE_WIDTH,
    Frontier,
    Tile,
    decode_bundle,
    tile_path,
)

CHECKPOINT: Final = "checkpoint"
MAX_BUNDLE_BYTES: Final = TILE_WIDTH * (2 + 65_535)
MAX_FINDINGS: Final = 20

Fetch = Callable[[str, int], bytes | None]
"""Gives a published file by its path, of a number of bytes at most; None if it is not there."""
See = Callable[[Entry], None]
"""Is shown each entry that is well-formed, in order."""


@dataclass(slots=True)
class PublicationAudit:
    """What the checker found: problems, and the roots at the sizes that were asked for."""

    size: int = 0
    """How many entries could be read."""
    tiles: int = 0
    root: bytes = b""
    roots: dict[int, bytes] = field(default_factory=dict)
    leaves: dict[int, bytes] = field(default_factory=dict)
    entry_problems: list[str] = field(default_factory=list)
    tile_problems: list[str] = field(default_factory=list)


def audit_publication(
    checkpoint: Checkpoint,
    fetch: Fetch,
    *,
    sizes: Collection[int] = (),
    places: Collection[int] = (),
    see: See = lambda _: None,
    progress: Callable[[int], None] = lambda _: None,
) -> PublicationAudit:
    """Check what is published under a checkpoint, whose signature is not looked at here.

    `sizes` are those whose roots are wanted, `places` the entries whose leaf hashes are.
    """
    audit = PublicationAudit()
    frontier = Frontier()
    chain = _Chain(checkpoint, audit, see)
    for base in range(0, checkpoint.size, TILE_WIDTH):
        width = min(TILE_WIDTH, checkpoint.size - base)
        bundle = _bundle(fetch, base // TILE_WIDTH, width, audit)
        if bundle is None:
            break
        leaves = chain.follow(base, bundle)
        audit.leaves |= {seq: leaves[seq - base] for seq in places if base <= seq < base + width}
        done = 0
        full: list[Tile] = []
        for size in sorted(one for one in sizes if base < one <= base + width):
            full += frontier.extend(leaves[done : size - base])
            done = size - base
            audit.roots[size] = frontier.root()
        full += frontier.extend(leaves[done:])
        _compare(fetch, full, audit)
        audit.size = frontier.size
        progress(frontier.size)
    else:
        _compare(fetch, frontier.partial_tiles(), audit)
    audit.root = frontier.root()
    return audit


class _Chain:
    """Follows entries from the first one on."""

    def __init__(self, checkpoint: Checkpoint, audit: PublicationAudit, see: See) -> None:
        self._tenant = checkpoint.tenant
        self._prev: str = genesis_prev(checkpoint.origin)
        self._problems = audit.entry_problems
        self._see = see

    def follow(self, base: int, bundle: Sequence[bytes]) -> list[bytes]:
        """Check the entries of a bundle; return their leaf hashes."""
        leaves = []
        for seq, data in enumerate(bundle, base):
            leaf = leaf_hash(data)
            leaves.append(leaf)
            self._check(seq, data)
            self._prev = leaf.hex()
        return leaves

    def _check(self, seq: int, data: bytes) -> None:
        try:
            entry = Entry.decode(data)
        except ProofError as error:
            _note(self._problems, f"entry {seq}: {error}")
            return
        if entry.seq != seq:
            _note(self._problems, f"entry {seq}: says it is entry {entry.seq}")
        if entry.tenant != self._tenant:
            _note(self._problems, f"entry {seq}: belongs to tenant {entry.tenant!r}")
        if entry.prev != self._prev:
            why = f"does not follow entry {seq - 1}" if seq else "does not begin this log"
            _note(self._problems, f"entry {seq}: {why}: its prev is another hash")
        self._see(entry)


def _bundle(
    fetch: Fetch, index: int, width: int, audit: PublicationAudit
) -> Sequence[bytes] | None:
    """Return the entries of a bundle; None if it is not there or has another number of them."""
    data, whole = _file(fetch, "entries", index, width, MAX_BUNDLE_BYTES)
    name = tile_path("entries", index, width)
    if data is None:
        _note(audit.entry_problems, f"{name} is not there")
        return None
    try:
        entries = decode_bundle(data)
    except ProofError as error:
        _note(audit.entry_problems, f"{name}: {error}")
        return None
    if len(entries) < width or (len(entries) > width and not whole):
        holds = counted(len(entries), "entry", "entries")
        _note(audit.entry_problems, f"{name}: holds {holds}, and {width} are due")
        return None
    return entries[:width]


def _compare(fetch: Fetch, tiles: Iterable[Tile], audit: PublicationAudit) -> None:
    """Compare published tiles with what the entries give."""
    for tile in tiles:
        name = tile_path(tile.level, tile.index, tile.width)
        data, whole = _file(fetch, tile.level, tile.index, tile.width, TILE_BYTES)
        audit.tiles += 1
        if data is None:
            _note(audit.tile_problems, f"{name} is not there")
        elif (data[: tile.width * HASH_BYTES] if whole else data) != tile.data:
            _note(audit.tile_problems, f"{name}: its hashes are not the entries'")


def _file(
    fetch: Fetch, level: int | str, index: int, width: int, limit: int
) -> tuple[bytes | None, bool]:
    """Return a file, and whether it is the full one in place of a partial one that is gone."""
    data = fetch(tile_path(level, index, width), limit)
    if data is None and width < TILE_WIDTH:
        return fetch(tile_path(level, index), limit), True
    return data, False


def _note(problems: list[str], problem: str) -> None:
    """Note a problem, up to a limit: the first ones are what matters."""
    if len(problems) < MAX_FINDINGS:
        problems.append(problem)

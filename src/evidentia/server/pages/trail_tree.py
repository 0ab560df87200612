"""An inclusion proof as a tree: which hashes lead from an entry to the root, and where they stand.

The drawing is a ladder. The entry is at the foot, the root at the top; beside each rung stands the
hash that the proof gives, on the side on which it is hashed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from evidentia.trail.merkle import node_hash

Side = Literal["left", "right"]
WIDTH: Final = 348
_BOX: Final = (104, 36)
_ROW: Final = 56
_COLUMNS: Final = {"left": 56, "own": 174, "right": 292}


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A hash of the tree: over which entries it is (`end` not included), and where it is drawn."""

    start: int
    end: int
    hash: str
    x: int
    y: int

    @property
    def range(self) -> str:
        """The entries that it is over."""
        last = self.end - 1
        return f"{self.start:,}" if last == self.start else f"{self.start:,}–{last:,}"  # noqa: RUF001 - a range has this dash


@dataclass(frozen=True, slots=True)
class Rung:
    """A step of a proof: what it begins with, the hash beside it, and what both give."""

    own: TreeNode
    beside: TreeNode
    side: Side
    gives: TreeNode


@dataclass(frozen=True, slots=True)
class ProofTree:
    """A proof, from the entry's own hash to the root."""

    leaf: TreeNode
    rungs: tuple[Rung, ...]

    @property
    def root(self) -> TreeNode:
        """The hash that the checkpoint signs."""
        return self.rungs[-1].gives if self.rungs else self.leaf

    @property
    def height(self) -> int:
        """How high the drawing is."""
        return len(self.rungs) * _ROW + _BOX[1] + 4

    width = WIDTH
    box = _BOX


def tree_of(seq: int, leaf: bytes, inclusion: Sequence[bytes], size: int) -> ProofTree:
    """Return the tree of a proof of entry `seq` in a log of `size` entries."""
    spans = _spans(seq, size)
    first = own = _node(seq, seq + 1, leaf, "own", len(spans))
    rungs = []
    for step, ((start, end), beside) in enumerate(zip(spans, inclusion, strict=True)):
        row = len(spans) - step
        side: Side = "left" if start < own.start else "right"
        sibling = _node(start, end, beside, side, row)
        pair = (beside, leaf) if side == "left" else (leaf, beside)
        leaf = node_hash(*pair)
        given = _node(min(start, own.start), max(end, own.end), leaf, "own", row - 1)
        rungs.append(Rung(own, sibling, side, given))
        own = given
    return ProofTree(first, tuple(rungs))


def _node(start: int, end: int, found: bytes, column: str, row: int) -> TreeNode:
    return TreeNode(start, end, found.hex(), _COLUMNS[column], row * _ROW + 2)


def _spans(index: int, size: int) -> list[tuple[int, int]]:
    """Return the entries that the hashes of a proof are over, from the foot to the top."""
    spans = []
    low, high = 0, size
    while high - low > 1:
        middle = low + (1 << (high - low - 1).bit_length() - 1)
        if index < middle:
            spans.append((middle, high))
            high = middle
        else:
            spans.append((low, middle))
            low = middle
    return spans[::-1]

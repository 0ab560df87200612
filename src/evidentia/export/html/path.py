"""The path of an entry to the signed root, as boxes and lines: a template draws them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from evidentia.proof.document import Proof
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.merkle import leaf_hash, node_hash, verify_inclusion

Kind = Literal["leaf", "given", "computed", "root"]
"""The entry; a hash that the proof gives; one that follows from two; the one that is signed."""
WIDTH: Final = 460
BOX_WIDTH: Final = 172
BOX_HEIGHT: Final = 34
_ROW: Final = 58
_ASIDE: Final = 115
_MIDDLE: Final = WIDTH // 2


@dataclass(frozen=True, slots=True)
class Box:
    """A hash of the tree: what it is, and where the middle of its upper edge is drawn."""

    kind: Kind
    hash: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line from a box to the one above."""

    x1: int
    y1: int
    x2: int
    y2: int


@dataclass(frozen=True, slots=True)
class DrawnPath:
    """What is drawn of a path: `height` and `WIDTH` say how large the picture is."""

    entry: int
    size: int
    height: int
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A step up: the hash beside, on which side it stands, and the one above both."""

    beside: bytes
    on_the_left: bool
    above: bytes


def path_steps(leaf: bytes, index: int, size: int, path: Iterable[bytes]) -> Iterator[Step]:
    """Give the steps from a leaf to the root of a tree, of a path that holds."""
    position, last, result = index, size - 1, leaf
    for beside in path:
        on_the_left = bool(position & 1) or position == last
        result = node_hash(beside, result) if on_the_left else node_hash(result, beside)
        yield Step(beside, on_the_left, result)
        if on_the_left:
            while position and not position & 1:
                position, last = position >> 1, last >> 1
        position, last = position >> 1, last >> 1


def drawn_path(proof: Proof) -> DrawnPath:
    """Return the drawing of a proof's path; raise `ProofError` if it leads to another root.

    The root is above, the entry below. Whether the root is signed by a key that anyone trusts is
    not asked.
    """
    checkpoint, _ = read_checkpoint(proof.checkpoint)
    entry, leaf = proof.entry, leaf_hash(proof.entry.encode())
    verify_inclusion(leaf, entry.seq, checkpoint.size, proof.inclusion, checkpoint.root)
    steps = list(path_steps(leaf, entry.seq, checkpoint.size, proof.inclusion))
    height = (len(steps) + 1) * _ROW + 20
    y = height - _ROW + 10
    boxes = [Box("leaf" if steps else "root", leaf.hex(), _own(steps, 0), y)]
    lines = []
    for at, step in enumerate(steps):
        own, other, above = _own(steps, at), 2 * _MIDDLE - _own(steps, at), _own(steps, at + 1)
        kind: Kind = "root" if at + 1 == len(steps) else "computed"
        boxes += [
            Box("given", step.beside.hex(), other, y),
            Box(kind, step.above.hex(), above, y - _ROW),
        ]
        lines += [Line(x, y, above, y - _ROW + BOX_HEIGHT) for x in (own, other)]
        y -= _ROW
    return DrawnPath(entry.seq, checkpoint.size, height, tuple(boxes), tuple(lines))


def _own(steps: list[Step], at: int) -> int:
    """Return where the box stands that step `at` begins with: beside the one that is given."""
    if at == len(steps):
        return _MIDDLE
    return _MIDDLE + (_ASIDE if steps[at].on_the_left else -_ASIDE)

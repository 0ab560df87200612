"""A map that can be proved: small values by their keys, under one root.

It is a trie over the SHA-256 of the keys, in which each node is named by its own hash. The same
content gives the same root, in whatever order it was put in; a change costs the nodes on its path.
What a key stands for, and that it stands for nothing, is proved by the nodes on its path. Where
nodes come from is the caller's affair: each is verified by the hash that it was asked by.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, NamedTuple

from evidentia.errors import ProofError
from evidentia.trail.merkle import HASH_BYTES

EMPTY_MAP: Final = sha256(b"").digest()
"""The root of a map that has nothing in it."""
_LEAF: Final = 0x02
_BRANCH: Final = 0x03
_WIDTH: Final = 16
_DEPTH: Final = 2 * HASH_BYTES
_BITS: Final = slice(1, 3)
_HASHES: Final = 3
_VALUE: Final = 1 + HASH_BYTES

Nodes = Callable[[bytes], bytes | None]
"""Gives a node's bytes by its hash; None if it is not there."""
Leaf = tuple[bytes, bytes]
"""The hash of a key, and the bytes of its leaf."""


class Update(NamedTuple):
    """What a change makes of a map: its root, the nodes that are new, and those that are gone."""

    root: bytes
    added: dict[bytes, bytes]
    removed: set[bytes]


class KeyedMap:
    """A map by its root; nothing in it is ever changed, an update gives the root of another one."""

    def __init__(self, root: bytes, nodes: Nodes) -> None:
        self.root = root
        self._nodes = nodes

    def get(self, key: bytes) -> bytes | None:
        """Return a key's value, or None; raise `ProofError` if a node is missing or wrong."""
        return self._walk(key)[0]

    def prove(self, key: bytes) -> tuple[bytes, ...]:
        """Return the nodes that show what a key stands for, or that it stands for nothing."""
        return tuple(self._walk(key)[1])

    def _walk(self, key: bytes) -> tuple[bytes | None, list[bytes]]:
        hashed, path = sha256(key).digest(), list[bytes]()
        at = None if self.root == EMPTY_MAP else self.root
        while at is not None:
            node, depth = read_node(self._nodes, at), len(path)
            path.append(node)
            if node[0] == _LEAF:
                if not _begin_alike(node[1:_VALUE], hashed, depth):
                    raise ProofError("a leaf of the map is where no key of it would be")
                return (node[_VALUE:] if node[1:_VALUE] == hashed else None), path
            if depth == _DEPTH:
                raise ProofError("the map is deeper than a key is long")
            at = _child(node, _nibble(hashed, depth))
        return None, path

    def updated(self, changes: Mapping[bytes, bytes | None]) -> Update:
        """Return what putting in values gives, or taking keys out whose value is None."""
        leaves = sorted(
            (hashed, None if value is None else bytes([_LEAF]) + hashed + value)
            for hashed, value in ((sha256(key).digest(), value) for key, value in changes.items())
        )
        work = _Updating(self._nodes)
        root = work.update(None if self.root == EMPTY_MAP else self.root, 0, leaves)
        both = work.added.keys() & work.removed
        added = {name: node for name, node in work.added.items() if name not in both}
        return Update(root or EMPTY_MAP, added, work.removed - both)


def verify_keyed(root: bytes, key: bytes, value: bytes | None, proof: Sequence[bytes]) -> None:
    """Raise `ProofError` unless a proof shows that a key has this value; None is to have none."""
    nodes = {sha256(node).digest(): node for node in proof}
    claimed = KeyedMap(root, nodes.get)
    if claimed.get(key) != value or claimed.prove(key) != tuple(proof):
        raise ProofError("the proof does not show what the key stands for")


def read_node(nodes: Nodes, name: bytes) -> bytes:
    """Return a node; raise `ProofError` if it is missing, is not what its hash says, or no node."""
    node = nodes(name)
    if node is None:
        raise ProofError(f"node {name.hex()} of the map is missing")
    if sha256(node).digest() != name:
        raise ProofError(f"node {name.hex()} of the map is not what its hash says")
    if not _is_leaf(node) and not _is_branch(node):
        raise ProofError(f"node {name.hex()} of the map is malformed")
    return node


def _is_leaf(node: bytes) -> bool:
    return len(node) >= _VALUE and node[0] == _LEAF


def _is_branch(node: bytes) -> bool:
    bits = int.from_bytes(node[_BITS], "big")
    size = _HASHES + bits.bit_count() * HASH_BYTES
    return node[:1] == bytes([_BRANCH]) and bits != 0 and len(node) == size


def _nibble(hashed: bytes, depth: int) -> int:
    byte = hashed[depth >> 1]
    return byte & 15 if depth & 1 else byte >> 4


def _begin_alike(one: bytes, other: bytes, depth: int) -> bool:
    return all(_nibble(one, at) == _nibble(other, at) for at in range(depth))


def _children(branch: bytes) -> dict[int, bytes]:
    bits = int.from_bytes(branch[_BITS], "big")
    places = (place for place in range(_WIDTH) if bits >> place & 1)
    return {
        place: branch[at : at + HASH_BYTES]
        for place, at in zip(places, range(_HASHES, len(branch), HASH_BYTES), strict=True)
    }


def _child(branch: bytes, place: int) -> bytes | None:
    bits = int.from_bytes(branch[_BITS], "big")
    if not bits >> place & 1:
        return None
    at = _HASHES + (bits & (1 << place) - 1).bit_count() * HASH_BYTES
    return branch[at : at + HASH_BYTES]


def _branch(children: Mapping[int, bytes]) -> bytes:
    bits = sum(1 << place for place in children)
    hashes = (children[place] for place in sorted(children))
    return bytes([_BRANCH]) + bits.to_bytes(2, "big") + b"".join(hashes)


@dataclass(slots=True)
class _Updating:
    """One update: the nodes that it reads, which go, and those that it writes."""

    nodes: Nodes
    added: dict[bytes, bytes] = field(default_factory=dict)
    removed: set[bytes] = field(default_factory=set)

    def update(
        self, name: bytes | None, depth: int, changes: Sequence[tuple[bytes, bytes | None]]
    ) -> bytes | None:
        """Return what a node becomes: its new hash, or None if nothing is left below it."""
        if not changes:
            return name
        kept: list[Leaf] = [(hashed, leaf) for hashed, leaf in changes if leaf is not None]
        if name is None:
            return self._build(kept, depth)
        node = read_node(self.nodes, name)
        self.removed.add(name)
        if node[0] == _LEAF:
            own = node[1:_VALUE]
            if all(hashed != own for hashed, _ in changes):
                kept = sorted([*kept, (own, node)])
            return self._build(kept, depth)
        children = _children(node)
        for place, some in _by_place(changes, depth):
            child = self.update(children.get(place), depth + 1, some)
            if child is not None:
                children[place] = child
            else:
                children.pop(place, None)
        return self._joined(children)

    def _joined(self, children: Mapping[int, bytes]) -> bytes | None:
        """Return a branch over children; a single leaf stands for itself."""
        if not children:
            return None
        if len(children) == 1:
            (only,) = children.values()
            node = self.added.get(only) or read_node(self.nodes, only)
            if node[0] == _LEAF:
                return only
        return self._write(_branch(children))

    def _build(self, leaves: Sequence[Leaf], depth: int) -> bytes | None:
        """Return what leaves alone become, each as high up as it stands alone."""
        if not leaves:
            return None
        if len(leaves) == 1:
            return self._write(leaves[0][1])
        built = ((place, self._build(some, depth + 1)) for place, some in _by_place(leaves, depth))
        return self._write(_branch({place: name for place, name in built if name is not None}))

    def _write(self, node: bytes) -> bytes:
        name = sha256(node).digest()
        self.added[name] = node
        return name


def _by_place(leaves: Iterable[tuple[bytes, Any]], depth: int) -> list[tuple[int, list[Any]]]:
    """Return leaves by the child of a branch that they belong to."""
    found: dict[int, list[Any]] = {}
    for leaf in leaves:
        found.setdefault(_nibble(leaf[0], depth), []).append(leaf)
    return list(found.items())

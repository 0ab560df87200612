"""The Merkle tree of RFC 6962: hashes, and proofs made and checked.

A proof is a list of subtree hashes. Which subtrees is arithmetic on the tree's size, done here;
where their hashes come from (tiles, a list) is the caller's `node` function. Checking a proof
needs nothing but the proof.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256

from evidentia.errors import ProofError

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()

NodeHash = Callable[[int, int], bytes]
"""Gives the hash of the complete subtree of 2^height leaves: `node(height, index)`."""


def leaf_hash(data: bytes) -> bytes:
    """Hash an entry's bytes into a leaf."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash two subtrees into their parent."""
    return sha256(b"\x01" + left + right).digest()


def root_hash(leaves: Sequence[bytes]) -> bytes:
    """Return the root over leaf hashes, straight from the definition."""
    if not leaves:
        return EMPTY_ROOT
    if len(leaves) == 1:
        return leaves[0]
    split = _split(len(leaves))
    return node_hash(root_hash(leaves[:split]), root_hash(leaves[split:]))


def inclusion_proof(node: NodeHash, index: int, size: int) -> list[bytes]:
    """Prove that leaf `index` is in the tree of `size` leaves."""
    if not 0 <= index < size:
        raise ProofError(f"entry {index} is not in a tree of {size} entries")
    ranges = []
    low, high = 0, size
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            ranges.append((middle, high))
            high = middle
        else:
            ranges.append((low, middle))
            low = middle
    return [range_hash(node, start, end) for start, end in reversed(ranges)]


def consistency_proof(node: NodeHash, old_size: int, new_size: int) -> list[bytes]:
    """Prove that the tree of `new_size` leaves begins with the tree of `old_size` leaves."""
    if not 0 < old_size <= new_size:
        raise ProofError(f"no proof leads from a tree of {old_size} entries to one of {new_size}")
    ranges = []
    low, high = 0, new_size
    while old_size != high:
        middle = low + _split(high - low)
        if old_size <= middle:
            ranges.append((middle, high))
            high = middle
        else:
            ranges.append((low, middle))
            low = middle
    if low > 0:  # the old tree is not one of the new tree's own left subtrees: name its remainder
        ranges.append((low, high))
    return [range_hash(node, start, end) for start, end in reversed(ranges)]


def range_hash(node: NodeHash, start: int, end: int) -> bytes:
    """Hash the leaves from `start` to `end` (not included) out of complete subtrees.

    `start` must be where a subtree of that many leaves may begin, as in every proof.
    """
    low, result = end, b""
    while low > start:
        height = ((low - start) & -(low - start)).bit_length() - 1
        low -= 1 << height
        subtree = node(height, low >> height)
        result = node_hash(subtree, result) if result else subtree
    return result or EMPTY_ROOT


def peaks_at(node: NodeHash, size: int) -> list[bytes]:
    """Return the roots of the complete subtrees that the first `size` leaves consist of."""
    peaks, low = [], 0
    for height in reversed(range(size.bit_length())):
        if size >> height & 1:
            peaks.append(node(height, low >> height))
            low += 1 << height
    return peaks


def push_leaf(peaks: list[bytes], count: int, leaf: bytes) -> None:
    """Add a leaf to the roots of complete subtrees, of which there are `count` leaves then."""
    while not count & 1:
        leaf = sha256(b"\x01" + peaks.pop() + leaf).digest()
        count >>= 1
    peaks.append(leaf)


def folded(peaks: Sequence[bytes]) -> bytes:
    """Return the root over the roots of complete subtrees."""
    if not peaks:
        return EMPTY_ROOT
    result = peaks[-1]
    for peak in reversed(peaks[:-1]):
        result = sha256(b"\x01" + peak + result).digest()
    return result


def verify_inclusion(
    leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes
) -> None:
    """Raise `ProofError` unless the proof shows that the leaf is in the tree with this root."""
    if not 0 <= index < size or len(leaf) != HASH_BYTES:
        raise ProofError(f"entry {index} is not in a tree of {size} entries")
    position, last, result = index, size - 1, leaf
    for sibling in proof:
        if last == 0 or len(sibling) != HASH_BYTES:
            raise ProofError("the inclusion proof has too many hashes, or one of a wrong length")
        if position & 1 or position == last:
            result = sha256(b"\x01" + sibling + result).digest()
            while position and not position & 1:
                position >>= 1
                last >>= 1
        else:
            result = sha256(b"\x01" + result + sibling).digest()
        position >>= 1
        last >>= 1
    if last != 0:
        raise ProofError("the inclusion proof is cut short: it has too few hashes")
    if result != root:
        raise ProofError(f"entry {index} is not in the tree: its proof leads to another root")


def verify_consistency(
    old_size: int, old_root: bytes, new_size: int, new_root: bytes, proof: Sequence[bytes]
) -> None:
    """Raise `ProofError` unless the proof shows that the new tree begins with the old one.

    A proof from an empty tree shows nothing and is refused.
    """
    if not 0 < old_size <= new_size:
        raise ProofError(f"no proof leads from a tree of {old_size} entries to one of {new_size}")
    if old_size == new_size:
        if proof or old_root != new_root:
            raise ProofError(f"two trees of {old_size} entries have different roots")
        return
    if not proof or any(len(item) != HASH_BYTES for item in proof):
        raise ProofError("the consistency proof is empty or malformed")
    is_subtree = old_size & (old_size - 1) == 0  # then a proof leaves out the old root
    path = [old_root, *proof] if is_subtree else proof
    if _roots_of(old_size, new_size, path) != (old_root, new_root):
        raise ProofError(
            f"the tree of {new_size} entries does not begin with the tree of {old_size}"
        )


def _roots_of(old_size: int, new_size: int, path: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Return the old and the new root that a consistency proof leads to."""
    position, last = old_size - 1, new_size - 1
    while position & 1:
        position >>= 1
        last >>= 1
    old_root = new_root = path[0]
    for sibling in path[1:]:
        if last == 0:
            raise ProofError("the consistency proof has too many hashes")
        if position & 1 or position == last:
            old_root = node_hash(sibling, old_root)
            new_root = node_hash(sibling, new_root)
            while position and not position & 1:
                position >>= 1
                last >>= 1
        else:
            new_root = node_hash(new_root, sibling)
        position >>= 1
        last >>= 1
    if last != 0:
        raise ProofError("the consistency proof is cut short: it has too few hashes")
    return old_root, new_root


def _split(count: int) -> int:
    """Return the largest power of two below the count."""
    return 1 << (count - 1).bit_length() - 1

import base64
import json
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiers
from evidentia.errors import ProofError
from evidentia.trail.merkle import (
    EMPTY_ROOT,
    NodeHash,
    consistency_proof,
    folded,
    inclusion_proof,
    leaf_hash,
    node_hash,
    peaks_at,
    push_leaf,
    range_hash,
    root_hash,
    verify_consistency,
    verify_inclusion,
)
from vectors import vector_files

LEAVES = [leaf_hash(b"entry %d" % number) for number in range(700)]
BOUNDARIES = sorted(
    {size for power in range(10) for size in (2**power - 1, 2**power, 2**power + 1)} | {600}
)


@cache
def root_of(start: int, end: int) -> bytes:
    """Hash a range from the definition: split at the largest power of two below its length."""
    if start == end:
        return sha256(b"").digest()
    if end - start == 1:
        return LEAVES[start]
    split = 1
    while split * 2 < end - start:
        split *= 2
    middle = start + split
    return sha256(b"\x01" + root_of(start, middle) + root_of(middle, end)).digest()


def node(height: int, index: int) -> bytes:
    return root_of(index << height, (index + 1) << height)


def only_below(size: int) -> NodeHash:
    """Give complete subtrees of the first leaves, and fail for any that reaches beyond them."""

    def give(height: int, index: int) -> bytes:
        assert (index + 1) << height <= size, "a proof asked for what the tree does not have"
        return node(height, index)

    return give


def decoded(value: str | None) -> bytes:
    return base64.b64decode(value or "")


def refused(check: Callable[[], None]) -> bool:
    try:
        check()
    except ProofError:
        return True
    return False


@tiers.one_test
@pytest.mark.parametrize("path", vector_files("merkle/testdata/inclusion/**/*.json"))
def test_public_inclusion_vectors(path: Path) -> None:
    case: dict[str, Any] = json.loads(path.read_text())
    proof = [decoded(item) for item in case["proof"] or []]
    leaf, root = decoded(case["leafHash"]), decoded(case["root"])
    assert case["wantErr"] == refused(
        lambda: verify_inclusion(leaf, case["leafIdx"], case["treeSize"], proof, root)
    ), case["desc"]


@tiers.one_test
@pytest.mark.parametrize("path", vector_files("merkle/testdata/consistency/**/*.json"))
def test_public_consistency_vectors(path: Path) -> None:
    case: dict[str, Any] = json.loads(path.read_text())
    proof = [decoded(item) for item in case["proof"] or []]
    old_root, new_root = decoded(case["root1"]), decoded(case["root2"])
    assert case["wantErr"] == refused(
        lambda: verify_consistency(case["size1"], old_root, case["size2"], new_root, proof)
    ), case["desc"]


def test_leaves_and_nodes_are_hashed_apart() -> None:
    assert leaf_hash(b"x") == sha256(b"\x00x").digest()
    assert node_hash(b"l" * 32, b"r" * 32) == sha256(b"\x01" + b"l" * 32 + b"r" * 32).digest()
    assert leaf_hash(b"") == bytes.fromhex(
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    )


def test_the_empty_tree_has_the_hash_of_nothing() -> None:
    assert root_hash([]) == EMPTY_ROOT == sha256(b"").digest()
    assert range_hash(node, 5, 5) == EMPTY_ROOT


@tiers.one_test
@pytest.mark.parametrize("size", [*range(1, 20), *BOUNDARIES])
def test_the_root_is_the_definitions(size: int) -> None:
    assert root_hash(LEAVES[:size]) == root_of(0, size)
    assert range_hash(only_below(size), 0, size) == root_of(0, size)


@pytest.mark.parametrize("part", range(4))
def test_every_tree_up_to_600_proves_its_entries(part: int) -> None:
    for size in range(1 + part, 601, 4):
        root, give = root_of(0, size), only_below(size)
        indexes = range(size) if size in BOUNDARIES else {0, 1, size // 2, size - 2, size - 1}
        for index in indexes:
            if 0 <= index < size:
                proof = inclusion_proof(give, index, size)
                verify_inclusion(LEAVES[index], index, size, proof, root)
                assert len(proof) <= (size - 1).bit_length()


@pytest.mark.parametrize("part", range(4))
def test_every_tree_up_to_600_extends_its_earlier_trees(part: int) -> None:
    for size in range(1 + part, 601, 4):
        root, give = root_of(0, size), only_below(size)
        olds = range(1, size + 1) if size in BOUNDARIES else {1, 2, size // 2, size - 1, size}
        for old in olds:
            if 0 < old <= size:
                proof = consistency_proof(give, old, size)
                verify_consistency(old, root_of(0, old), size, root, proof)
                assert len(proof) <= (size - 1).bit_length() + 1


@settings(max_examples=60)
@given(st.data())
def test_a_proof_holds_for_its_own_entry_place_and_root_alone(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 600))
    index = data.draw(st.integers(0, size - 1))
    proof = inclusion_proof(node, index, size)
    root = root_of(0, size)
    other = data.draw(st.integers(0, size - 1).filter(lambda item: item != index))
    bit = data.draw(st.integers(0, len(proof) * 256 - 1))
    flipped = bytearray(b"".join(proof))
    flipped[bit // 8] ^= 1 << bit % 8
    changed = [bytes(flipped[at : at + 32]) for at in range(0, len(flipped), 32)]
    place = data.draw(st.integers(0, len(proof)))
    for leaf, claimed, hashes, top in [
        (LEAVES[other], index, proof, root),
        (LEAVES[index], other, proof, root),
        (LEAVES[index], index, changed, root),
        (LEAVES[index], index, proof[:-1], root),
        (LEAVES[index], index, [*proof[:place], bytes(32), *proof[place:]], root),
        (LEAVES[index], index, proof, root_of(0, size - 1)),
        (LEAVES[index][:-1], index, proof, root),
    ]:
        with pytest.raises(ProofError):
            verify_inclusion(leaf, claimed, size, hashes, top)


@settings(max_examples=60)
@given(st.data())
def test_a_consistency_proof_holds_for_its_own_trees_alone(data: st.DataObject) -> None:
    new = data.draw(st.integers(2, 600))
    old = data.draw(st.integers(1, new - 1))
    proof = consistency_proof(node, old, new)
    old_root, new_root = root_of(0, old), root_of(0, new)
    bit = data.draw(st.integers(0, len(proof) * 256 - 1))
    flipped = bytearray(b"".join(proof))
    flipped[bit // 8] ^= 1 << bit % 8
    changed = [bytes(flipped[at : at + 32]) for at in range(0, len(flipped), 32)]
    for first, second, hashes in [
        (root_of(0, old + 1), new_root, proof),
        (old_root, root_of(0, new + 1), proof),
        (new_root, old_root, proof),
        (old_root, new_root, changed),
        (old_root, new_root, proof[:-1]),
        (old_root, new_root, [*proof, bytes(32)]),
        (old_root, new_root, [proof[0][:-1], *proof[1:]]),
    ]:
        with pytest.raises(ProofError):
            verify_consistency(old, first, new, second, hashes)


@pytest.mark.parametrize(("index", "size"), [(0, 0), (5, 5), (6, 5), (-1, 5)])
def test_an_entry_outside_the_tree_has_no_proof(index: int, size: int) -> None:
    with pytest.raises(ProofError, match=f"entry {index} is not in a tree of {size} entries"):
        inclusion_proof(node, index, size)
    with pytest.raises(ProofError, match=f"entry {index} is not in a tree of {size} entries"):
        verify_inclusion(LEAVES[0], index, size, [], LEAVES[0])


@pytest.mark.parametrize(("old", "new"), [(0, 0), (0, 5), (6, 5), (-1, 5)])
def test_no_proof_leads_from_an_empty_or_a_larger_tree(old: int, new: int) -> None:
    with pytest.raises(ProofError, match=f"from a tree of {old} entries to one of {new}"):
        consistency_proof(node, old, new)
    with pytest.raises(ProofError, match=f"from a tree of {old} entries to one of {new}"):
        verify_consistency(old, EMPTY_ROOT, new, EMPTY_ROOT, [])


def test_a_tree_is_consistent_with_itself_and_needs_no_proof() -> None:
    assert consistency_proof(node, 7, 7) == []
    verify_consistency(7, root_of(0, 7), 7, root_of(0, 7), [])
    for root, proof in [(root_of(0, 8), []), (root_of(0, 7), [bytes(32)])]:
        with pytest.raises(ProofError, match="two trees of 7 entries"):
            verify_consistency(7, root_of(0, 7), 7, root, proof)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda proof: [*proof, bytes(32)], "too many hashes"),
        (lambda proof: [proof[0][:31], *proof[1:]], "wrong length"),
        (lambda proof: proof[:-1], "cut short"),
        (lambda proof: [bytes(32), *proof[1:]], "leads to another root"),
    ],
)
def test_what_is_wrong_with_an_inclusion_proof_is_said(
    change: Callable[[list[bytes]], list[bytes]], problem: str
) -> None:
    proof = change(inclusion_proof(node, 3, 11))
    with pytest.raises(ProofError, match=problem):
        verify_inclusion(LEAVES[3], 3, 11, proof, root_of(0, 11))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda _: [], "empty or malformed"),
        (lambda proof: [proof[0][:31], *proof[1:]], "empty or malformed"),
        (lambda proof: [*proof, bytes(32)], "too many hashes"),
        (lambda proof: proof[:-1], "cut short"),
        (lambda proof: [bytes(32), *proof[1:]], "tree of 11 entries does not begin with .* of 6"),
    ],
)
def test_what_is_wrong_with_a_consistency_proof_is_said(
    change: Callable[[list[bytes]], list[bytes]], problem: str
) -> None:
    proof = change(consistency_proof(node, 6, 11))
    with pytest.raises(ProofError, match=problem):
        verify_consistency(6, root_of(0, 6), 11, root_of(0, 11), proof)


@tiers.one_test
@pytest.mark.parametrize("size", BOUNDARIES)
def test_a_tree_goes_on_from_the_roots_of_its_complete_subtrees(size: int) -> None:
    peaks = peaks_at(only_below(size), size)
    assert folded(peaks) == root_of(0, size)
    for count in range(size + 1, size + 20):
        push_leaf(peaks, count, LEAVES[count - 1])
        assert folded(peaks) == root_of(0, count)
    assert peaks == peaks_at(node, size + 19)

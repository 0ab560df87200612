"""The path of an entry, drawn: all hashes are there, and it ends at the signed root."""

from dataclasses import replace

import pytest

from evidentia.errors import ProofError
from evidentia.export.html.path import WIDTH, drawn_path
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.merkle import leaf_hash
from proofs import make_proof


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13])
def test_a_drawing_leads_from_the_entry_to_the_root(size: int) -> None:
    for seq in range(size):
        proof = make_proof(seq, size)
        drawn = drawn_path(proof)
        assert drawn.boxes[0].hash == leaf_hash(proof.entry.encode()).hex()
        assert drawn.boxes[-1].hash == read_checkpoint(proof.checkpoint)[0].root.hex()
        assert drawn.boxes[-1].kind == "root"
        given = [box.hash for box in drawn.boxes if box.kind == "given"]
        assert given == [one.hex() for one in proof.inclusion]
        assert len(drawn.lines) == 2 * len(proof.inclusion)
        assert all(0 <= box.y < drawn.height and 0 < box.x < WIDTH for box in drawn.boxes)


def test_boxes_of_a_pair_stand_as_they_are_hashed() -> None:
    drawn = drawn_path(make_proof(1, 2))
    leaf, given, _ = drawn.boxes
    assert given.x < leaf.x  # entry 1 is the right one of its pair


def test_a_path_that_leads_elsewhere_is_not_drawn() -> None:
    proof = make_proof()
    with pytest.raises(ProofError, match="another root"):
        drawn_path(replace(proof, inclusion=tuple(reversed(proof.inclusion))))

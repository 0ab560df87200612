import gzip
import json
from dataclasses import asdict
from pathlib import Path

import pytest
from training.claims_set import OWN, ClaimPair, write_rows
from training.contrast import TEST, own_pairs, shared_pairs, trained_pairs


def claim_of(document: str, evidence: str, language: str = "en") -> ClaimPair:
    return ClaimPair(document, 1, evidence, "Ada answers.", "weak", "stronger", language, "hr", OWN)


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    """Give a set of our own claims, and beside it the shared ones."""
    splits = {
        "train": [
            claim_of("lease", "Rent is due on the first."),
            claim_of("miete", "Rent is due on the first.", "en-ar"),
            claim_of("copy", "Ask  Ada."),
        ],
        "calibrate": [claim_of("chosen", "Ask Ada.")],
        "test": [claim_of("tested", "Ask Eve.")],
    }
    for split, pairs in splits.items():
        write_rows(tmp_path / f"{split}.jsonl.gz", map(asdict, pairs))
    (tmp_path / "contrast").mkdir()
    with gzip.open(tmp_path / "contrast" / "pairs.jsonl.gz", "wt") as out:
        row = {"claim": "c", "label": "supported", "kind": "name"}
        for file in ("guide.md", "chosen.md", "tested.md", "other.md"):
            evidence = "Ask Eve." if file == "other.md" else "Ask Bob."
            out.write(json.dumps({"file": file, "evidence": evidence, **row}) + "\n")
    return tmp_path


def test_claims_are_read_with_their_passage_label_and_kind(claims: Path) -> None:
    pair = own_pairs("train", claims)[0]
    assert (pair.evidence, pair.claim) == ("Rent is due on the first.", "Ada answers.")
    assert (pair.label, pair.source) == ("weak", "contrast/lease:stronger")


def test_other_languages_are_left_out(claims: Path) -> None:
    assert not any("miete" in pair.source for pair in own_pairs("train", claims))


def test_the_test_is_not_opened(claims: Path) -> None:
    with pytest.raises(ValueError, match="neither trained on nor chosen by"):
        own_pairs(TEST, claims)


def test_shared_pairs_of_documents_that_are_held_back_are_left_out(claims: Path) -> None:
    assert [pair.source for pair in shared_pairs(claims, claims)] == [
        "contrast/guide:name",
        "contrast/other:name",
    ]


def test_a_passage_that_a_held_document_has_too_is_not_trained_on(claims: Path) -> None:
    pairs = trained_pairs(claims, claims)
    assert {pair.evidence for pair in pairs} == {"Rent is due on the first.", "Ask Bob."}

import gzip
import json
from pathlib import Path

import pytest
from training.contrast import TEST, own_pairs, shared_pairs, trained_pairs

OWN = """# document: lease
# kind: contract
# language: en
===
Rent is due on the first.
Late rent costs 5 %.
---
+ paraphrase | The tenant pays at the start of the month.
- number | Late rent costs 8 %.
~ missing limit | Rent costs more.
? not said | Pets are allowed.
"""
REAL = """# document: guide.txt
# real: yes
=== 2
---
+ name | Ada answers.
"""
SKELETON = "=== 1 [Start]\nNothing.\n=== 2 [Support]\nAsk Ada.\n"


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    for folder in ("out/w1", "out/w8", "real_train", "real_calib", "real_test"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "out/w1/lease.txt").write_text(OWN)
    (tmp_path / "out/w1/miete.txt").write_text(OWN.replace("language: en", "language: en-ar"))
    (tmp_path / "out/w1/guide.txt").write_text(REAL)
    (tmp_path / "real_train/guide.txt").write_text(SKELETON)
    (tmp_path / "real_calib/chosen.txt").write_text(SKELETON)
    (tmp_path / "real_test/tested.txt").write_text(SKELETON)
    return tmp_path


def test_claims_are_read_with_their_passage_label_and_kind(claims: Path) -> None:
    pairs = own_pairs(claims, ["w1"])
    lease = [pair for pair in pairs if "lease" in pair.source]
    assert {pair.evidence for pair in lease} == {"Rent is due on the first.\nLate rent costs 5 %."}
    assert [pair.label for pair in lease] == ["supported", "contradicted", "weak", "not_found"]
    assert lease[1].claim == "Late rent costs 8 %."
    assert lease[1].source == "contrast/w1/lease:number"


def test_a_number_stands_for_a_passage_of_the_real_document(claims: Path) -> None:
    real = [pair for pair in own_pairs(claims, ["w1"]) if "guide" in pair.source]
    assert [(pair.evidence, pair.claim) for pair in real] == [("Ask Ada.", "Ada answers.")]


def test_other_languages_are_left_out(claims: Path) -> None:
    assert not any("miete" in pair.source for pair in own_pairs(claims, ["w1"]))


def test_the_test_is_not_opened(claims: Path) -> None:
    with pytest.raises(ValueError, match="neither trained on nor chosen by"):
        own_pairs(claims, ["w1", TEST])


def test_shared_pairs_are_split_by_their_document(claims: Path) -> None:
    (claims / "contrast").mkdir()
    with gzip.open(claims / "contrast" / "pairs.jsonl.gz", "wt") as out:
        for file in ("guide.md", "chosen.md", "tested.md", "other.md"):
            row = {"evidence": "e", "claim": "c", "label": "supported", "kind": "name"}
            out.write(json.dumps({"file": file, **row}) + "\n")
    trained = shared_pairs(claims, claims, choosing=False)
    chosen = shared_pairs(claims, claims, choosing=True)
    assert [pair.source for pair in trained] == [
        "contrast/shared/guide:name",
        "contrast/shared/other:name",
    ]
    assert [pair.source for pair in chosen] == ["contrast/shared/chosen:name"]


def test_a_passage_that_a_held_document_has_too_is_not_trained_on(claims: Path) -> None:
    (claims / "contrast").mkdir()
    with gzip.open(claims / "contrast" / "pairs.jsonl.gz", "wt") as out:
        row = {"claim": "c", "label": "supported", "kind": "name"}
        for evidence in ("Ask  Ada.", "Ask Bob."):
            out.write(json.dumps({"file": "other.md", "evidence": evidence, **row}) + "\n")
    pairs = trained_pairs(claims, claims)
    assert "Ask Bob." in {pair.evidence for pair in pairs}
    assert not any("Ada" in pair.evidence for pair in pairs)

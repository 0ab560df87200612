"""A checkpoint folder on the command line: checked with, measured, calibrated."""

import json
from pathlib import Path

import pytest

from cli_running import Cli, ndjson
from judges.checkpoint.making import write

FEE = "Yes, the fee is due in May."
TINY = "model:./tiny"


@pytest.fixture
def tiny(folder: Path) -> Path:
    """Stand in a folder with a checkpoint, documents and an answer."""
    (folder / "docs").mkdir()
    (folder / "docs" / "fees.md").write_text(f"# Fees\n\n{FEE}\n")
    (folder / "answer.md").write_text("The fee is to be paid in May.")
    return write(folder / "tiny")


def pairs(count: int) -> bytes:
    """Return pairs of which the model is too sure: one in five is not as it seems."""
    lines: list[dict[str, object]] = []
    for number in range(count):
        wrong = number % 5 == 0
        for said, label in ((FEE, "supported"), ("No, the fee is due in June.", "contradicted")):
            other = "contradicted" if label == "supported" else "supported"
            claim = f"The fee of case {number} is due in May."
            lines.append({"evidence": said, "claim": claim, "label": other if wrong else label})
    return ndjson(*lines)


def test_an_answer_is_checked_by_a_checkpoint(cli: Cli, tiny: Path) -> None:
    ran = cli("check", "answer.md", "--against", "docs", "--judges", f"quote,{TINY}", "--json")
    assert ran.code == 0
    (entry,) = ran.json["entries"]
    assert (entry["verdict"], entry["judge"]) == ("supported", "model:tiny")
    proof = cli("ledger", "prove", "latest").json
    statement = json.loads(__import__("base64").b64decode(proof["envelope"]["payload"]))
    session = statement["predicate"]
    assert session["judges"] == ["quote", "model:tiny"]
    (models,) = (one["models"] for one in session["ledger"]["entries"])
    assert len(models["model:tiny"]) == 64
    assert [vote["judges"] for vote in session["judging"]["votes"]] == [["quote"], ["model:tiny"]]
    assert session["judging"]["services"] == []


def test_it_is_measured_and_calibrated(cli: Cli, tiny: Path, folder: Path) -> None:
    (folder / "pairs.jsonl").write_bytes(pairs(30))
    before = cli("judge", "eval", "pairs.jsonl", "--judge", TINY, "--json").json
    ran = cli("judge", "calibrate", "tiny", "pairs.jsonl")
    assert (ran.code, ran.err) == (0, "")
    assert "The calibration is in tiny/calibration.json." in ran.out
    assert "Mean log loss on 60 pairs: " in ran.out
    assert "no scale of their own" not in ran.out
    after = cli("judge", "eval", "pairs.jsonl", "--judge", TINY, "--json").json
    assert after["all"]["calibration_error"] < before["all"]["calibration_error"]
    assert after["judges"][0]["digest"] != before["judges"][0]["digest"]
    again = cli("judge", "calibrate", "tiny", "pairs.jsonl", "--json").json
    assert again["pairs"] == 60
    assert again["loss_after"] < again["loss_before"]
    assert again["support"]["slope"] < 1
    assert len(again["data_sha256"]) == 64


def test_a_model_of_two_labels_has_one_scale(cli: Cli, folder: Path) -> None:
    votes = {"yes": (0.0, 6.0), "no": (6.0, 0.0)}
    write(folder / "tiny", votes, labels={"0": "0", "1": "1"})
    (folder / "pairs.jsonl").write_bytes(pairs(30).replace(b"contradicted", b"not_supported"))
    ran = cli("judge", "calibrate", "tiny", "pairs.jsonl")
    assert "Contradictions have no scale of their own" in ran.out


def test_too_few_pairs_change_nothing(cli: Cli, tiny: Path, folder: Path) -> None:
    (folder / "pairs.jsonl").write_bytes(pairs(3))
    ran = cli("judge", "calibrate", "tiny", "pairs.jsonl")
    assert ran.code == 2
    assert "calibrating takes 20 or more" in ran.err
    assert not (tiny / "calibration.json").exists()


def test_a_pickle_is_refused_in_a_plain_sentence(cli: Cli, tiny: Path) -> None:
    (tiny / "model.onnx").rename(tiny / "pytorch_model.bin")
    ran = cli("check", "answer.md", "--against", "docs", "--judges", TINY)
    assert ran.code == 2
    assert "a format that can run programs when it is opened" in ran.err
    assert "Traceback" not in ran.err

import gzip
import json
import os
from pathlib import Path

import pytest

from cli_running import Cli, ndjson
from evidentia.judges import JUDGES
from ledger.stubs import StubJudge, broken

LEAVE = "All employees receive 15 days of paid annual leave per year."
PAIRS: tuple[dict[str, object], ...] = (
    {"evidence": LEAVE, "claim": LEAVE, "label": "supported"},
    {"evidence": LEAVE, "claim": LEAVE.replace("15", "20"), "label": "contradicted"},
    {"evidence": LEAVE, "claim": "The office has a red door.", "label": "not_found"},
    {"evidence": LEAVE, "claim": "Staff can take time off.", "label": "supported"},
)


QUOTE = ("--judge", "quote")


@pytest.fixture
def pairs(cli: Cli, folder: Path) -> Cli:
    """Stand in a folder with labelled pairs, of which one is beyond the judges of words."""
    (folder / "pairs.jsonl").write_bytes(ndjson(*PAIRS))
    return cli


def test_the_judges_are_listed_with_what_they_do(cli: Cli) -> None:
    ran = cli("judge", "list")
    assert (ran.code, ran.err) == (0, "")
    assert "Compares words; knows nothing of their meaning." in ran.out
    listed = cli("judge", "list", "--json").json["judges"]
    assert [judge["name"] for judge in listed] == [*JUDGES, "llm"]


def test_a_judge_that_cannot_be_asked_is_listed_with_the_reason(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent() -> StubJudge:
        raise RuntimeError("no model here")

    monkeypatch.setitem(JUDGES, "absent", absent)
    assert "no: no model here" in cli("judge", "list").out
    listed = cli("judge", "list", "--json").json["judges"]
    assert next(judge for judge in listed if judge["name"] == "absent") == {
        "name": "absent",
        "about": "",
        "available": False,
        "problem": "no model here",
        "digest": None,
    }


def test_a_set_is_measured_and_nothing_is_written(pairs: Cli, folder: Path) -> None:
    ran = pairs("judge", "eval", "pairs.jsonl", "--judge", "quote", "--judge", "numbers")
    assert (ran.code, ran.err) == (0, "")
    (row,) = (line.split() for line in ran.out.splitlines() if "pairs.jsonl" in line)
    assert row[:3] == ["pairs.jsonl", "4", "0.750"]
    assert "Judges asked: quote, numbers\n" in ran.out
    assert "all together" not in ran.out
    assert [path.name for path in folder.iterdir()] == ["pairs.jsonl"]


def test_the_figures_are_one_json_document(pairs: Cli) -> None:
    ran = pairs("judge", "eval", "pairs.jsonl", "--judge", "numbers", "--judge", "quote", "--json")
    found = ran.json
    assert [judge["name"] for judge in found["judges"]] == ["numbers", "quote"]
    (one,) = found["sets"]
    assert (one["name"], one["pairs"], one["wrong"]) == ("pairs.jsonl", 4, 1)
    assert one["balanced_accuracy"] == 0.75
    assert one["confusion"]["contradicted"]["contradicted"] == 1
    assert len(one["calibration_bins"]) == 10
    assert {**found["all"], "name": one["name"]} == one


def test_several_sets_have_a_row_each_and_one_for_all(pairs: Cli, folder: Path) -> None:
    (folder / "more").mkdir()
    packed = gzip.compress(ndjson({**PAIRS[2], "label": "not_supported"}))
    (folder / "more" / "more.jsonl").write_bytes(packed)
    (folder / "more" / "pairs.jsonl").write_bytes(packed)
    ran = pairs("judge", "eval", "pairs.jsonl", "more/more.jsonl", "more/pairs.jsonl", *QUOTE)
    names = [line.split()[0] for line in ran.out.splitlines() if "jsonl" in line]
    assert names == ["pairs.jsonl", "more.jsonl", "more/pairs.jsonl"]
    assert "all together" in ran.out
    assert "not supported" in ran.out
    found = pairs("judge", "eval", "pairs.jsonl", "more/more.jsonl", *QUOTE, "--json").json
    assert [one["pairs"] for one in (*found["sets"], found["all"])] == [4, 1, 5]
    assert found["sets"][1]["balanced_accuracy"] is None


def test_a_limit_is_of_each_set(pairs: Cli) -> None:
    found = pairs(
        "judge", "eval", "pairs.jsonl", "pairs.jsonl", "--limit", "2", *QUOTE, "--json"
    ).json
    assert found["all"]["pairs"] == 4


def test_the_wrong_pairs_are_written_and_can_be_measured_again(pairs: Cli, folder: Path) -> None:
    ran = pairs("judge", "eval", "pairs.jsonl", "--judge", "quote", "--errors", "wrong.jsonl")
    assert ran.err == "2 of 4 pairs were judged wrongly; they are in wrong.jsonl.\n"
    wrong = [json.loads(line) for line in (folder / "wrong.jsonl").read_text().splitlines()]
    assert [(one["file"], one["line"], one["verdict"]) for one in wrong] == [
        ("pairs.jsonl", 2, "not_found"),
        ("pairs.jsonl", 4, "not_found"),
    ]
    assert wrong[0]["probability"] == 0.02
    assert wrong[0]["notes"].startswith("No matching evidence")
    again = pairs("judge", "eval", "wrong.jsonl", "--judge", "quote", "--json").json
    assert again["all"]["wrong"] == again["all"]["pairs"] == 2


def test_the_data_is_not_written_over(pairs: Cli, folder: Path) -> None:
    ran = pairs("judge", "eval", "pairs.jsonl", "--errors", folder / "pairs.jsonl")
    assert ran.code == 2
    assert "name another file with --errors" in ran.err
    assert (folder / "pairs.jsonl").read_bytes() == ndjson(*PAIRS)


def test_what_could_not_be_judged_is_said_with_the_reason(
    pairs: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(JUDGES, "broken", broken)
    ran = pairs("judge", "eval", "pairs.jsonl", "--judge", "broken", "--limit", "2")
    assert ran.code == 0
    assert "✗ 2 pairs could not be judged:\n  2 times: Not judged by the broken judge: " in ran.out
    found = pairs("judge", "eval", "pairs.jsonl", "--judge", "broken", "--json").json
    assert found["all"]["not_judged"] == 2
    assert found["all"]["not_judged_reasons"][0]["pairs"] == 2


def test_the_digest_of_a_judges_model_is_shown(pairs: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def weighty() -> StubJudge:
        judge = StubJudge("weighty", lambda _, passages: [None] * len(passages))
        judge.digest = "sha256:abc"  # type: ignore[attr-defined]
        return judge

    monkeypatch.setitem(JUDGES, "weighty", weighty)
    ran = pairs("judge", "eval", "pairs.jsonl", "--judge", "weighty")
    assert "Judges asked: weighty (sha256:abc)\n" in ran.out
    found = pairs("judge", "eval", "pairs.jsonl", "--judge", "weighty", "--json").json
    assert found["judges"] == [{"name": "weighty", "digest": "sha256:abc"}]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "bad.jsonl: there is no pair in it: give JSON lines with evidence, claim, label"),
        (b"{}\n", "bad.jsonl, line 1: 'evidence' is missing: each line has evidence, claim, label"),
        (b"\x1f\x8b\x08", "bad.jsonl: the gzip file is damaged or cut short"),
    ],
)
def test_a_bad_file_is_one_line_and_a_usage_error(
    pairs: Cli, folder: Path, content: bytes, problem: str
) -> None:
    (folder / "bad.jsonl").write_bytes(content)
    ran = pairs("judge", "eval", "pairs.jsonl", "bad.jsonl")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {problem}")
    assert ran.err.count("\n") == 1
    assert pairs("judge", "eval", "bad.jsonl", "--json").json["error"]["kind"] == "InputError"


def test_a_missing_file_an_unknown_judge_and_no_permission_are_usage_errors(
    pairs: Cli, folder: Path
) -> None:
    ran = pairs("judge", "eval", "nowhere.jsonl")
    assert (ran.code, ran.err) == (2, "error: nowhere.jsonl: no such file\n")
    ran = pairs("judge", "eval", "pairs.jsonl", "--judge", "oracle")
    assert ran.code == 2
    assert "judge 'oracle' is unknown: use one of quote, numbers" in ran.err
    (folder / "pairs.jsonl").chmod(0)
    if os.access("pairs.jsonl", os.R_OK):
        pytest.skip("this user may read everything")
    ran = pairs("judge", "eval", "pairs.jsonl")
    assert (ran.code, ran.err) == (2, "error: pairs.jsonl: cannot be read (Permission denied)\n")

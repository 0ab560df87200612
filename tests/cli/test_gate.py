"""`evidentia gate`: files of answers, the reports of a build, and one exit code."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

from cli_running import Cli
from export.sarif_schema import SARIF
from workspace.policies import read_here

POLICY = "# Leave\n\nAll permanent employees receive 15 days of annual leave.\n"
TRUE = "All permanent employees receive 15 days of annual leave.\n"
FALSE = "# Leave\n\nAll permanent employees receive 25 days of annual leave.\n"
HOW = ("--against", "policies", "--judges", "quote,numbers")


@pytest.fixture
def gate(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Stand in a folder with a policy, an answer that holds and one that doesn't."""
    read_here(monkeypatch)
    for name, text in {
        "policies/leave.md": POLICY,
        "answers/good.md": TRUE,
        "answers/deep/bad.md": FALSE,
        "answers/notes.csv": "a,b\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return lambda *arguments: cli("gate", *arguments)


def test_every_report_is_written_and_an_answer_that_does_not_hold_fails(
    gate: Cli, folder: Path
) -> None:
    (folder / "summary.md").write_text("# What came before\n")
    reports = ("--sarif", "out/a.sarif", "--junit", "out/a.xml", "--summary", "summary.md")
    ran = gate("answers", *HOW, *reports)
    assert ran.code == 1
    assert ran.err == "✗ answers/deep/bad.md does not pass: 1 claim is contradicted\n"
    sarif = json.loads((folder / "out/a.sarif").read_text())
    Draft202012Validator(SARIF).validate(sarif)
    [result] = sarif["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (result["level"], place["artifactLocation"]["uri"], place["region"]["startLine"]) == (
        "error",
        "answers/deep/bad.md",
        3,
    )
    suites = ET.parse(folder / "out/a.xml").getroot().findall("testsuite")
    assert {one.get("name"): one.get("failures") for one in suites} == {
        "answers/deep/bad.md": "1",
        "answers/good.md": "0",
    }
    summary = (folder / "summary.md").read_text()
    assert summary.startswith("# What came before\n## Evidence\n\n2 answers, 1 does not pass.\n")
    assert "15 days of annual leave" in summary


def test_what_passes_exits_with_0_and_has_a_ledger_each(gate: Cli) -> None:
    ran = gate("answers/good.md", "answers/good.md", *HOW, "--json")
    assert ran.code == 0
    [outcome] = ran.json["outcomes"]
    assert outcome["id"] == "answers/good.md"
    assert outcome["by_verdict"]["supported"] == 1
    assert gate("answers/*.md", *HOW, "--min-coverage", "1").code == 0
    assert gate("answers/deep", *HOW, "--fail-on", "").code == 0


def test_a_pattern_goes_below_folders(gate: Cli) -> None:
    ran = gate("answers/**/*.md", *HOW, "--json", "--fail-on", "not_judged")
    assert [one["id"] for one in ran.json["outcomes"]] == ["answers/deep/bad.md", "answers/good.md"]


def test_a_file_that_is_no_answer_is_named_and_the_others_go_on(gate: Cli, folder: Path) -> None:
    (folder / "answers/good2.md").write_bytes(b"\xff\xfe\x00")
    ran = gate("answers/good2.md", "missing.md", "answers/good.md", *HOW, "--sarif", "a.sarif")
    assert ran.code == 2
    bad, missing = ran.err.splitlines()
    assert bad.startswith("✗ answers/good2.md was not checked: not UTF-8 text: an answer is")
    assert missing == "✗ missing.md was not checked: no such file"
    assert "1 answer checked" in ran.out
    [run] = json.loads((folder / "a.sarif").read_text())["runs"]
    assert not run["invocations"][0]["executionSuccessful"]


def test_a_folder_or_a_pattern_without_answers_is_an_error_not_a_pass(gate: Cli) -> None:
    for name in ("policies/*.txt", "answers/deep/none*"):
        ran = gate(name, *HOW)
        assert ran.code == 2
        assert f"{name}: there are no answers" in ran.err


def test_contexts_are_what_all_answers_are_checked_against(gate: Cli, folder: Path) -> None:
    (folder / "given.json").write_text(json.dumps([{"id": "kb-3", "text": TRUE}]))
    ran = gate("answers/good.md", "--contexts", "given.json", "--judges", "quote", "--json")
    assert (ran.code, ran.json["by_verdict"]["supported"]) == (0, 1)


def test_a_summary_that_cannot_be_written_is_told(gate: Cli) -> None:
    ran = gate("answers/good.md", *HOW, "--summary", "policies")
    assert ran.code == 3
    assert "policies" in ran.err

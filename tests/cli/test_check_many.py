"""`evidentia check --many`: lines of answers in, one summary, files and an exit code out."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import psutil
import pytest

from cli_running import Cli
from evidentia.workspace import open_workspace
from evidentia.workspace.checking import Checker, Failed
from many_judges import INTERRUPTIBLE

POLICY = """# Leave

All permanent employees receive 15 days of paid annual leave per calendar year.

# Travel

Hotel costs are refunded up to $150 per night.
"""
GOOD = "All permanent employees receive 15 days of paid annual leave per calendar year."
BAD = "Hotel costs are refunded up to $250 per night."
UNKNOWN = "Contractors may bring their pets to the office."
OF_WORDS = ("--judges", "quote,numbers", "--workers", "0")


def write(folder: Path, *lines: object) -> None:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / "answers.jsonl").write_text("".join(f"{text}\n" for text in texts))


@pytest.fixture
def many(cli: Cli, folder: Path) -> Cli:
    """Stand in a folder with a library and a file of answers."""
    (folder / "policies").mkdir()
    (folder / "policies" / "leave.md").write_text(POLICY)
    write(
        folder,
        {"id": "good", "answer": GOOD, "query": "How much leave?"},
        {"id": "bad", "answer": f"{BAD} {UNKNOWN}", "title": "Travel"},
        {"answer": UNKNOWN},
    )
    assert cli("ingest", "policies").code == 0
    return cli


def test_many_answers_come_to_one_summary(many: Cli) -> None:
    ran = many("check", "--many", "answers.jsonl", *OF_WORDS)
    assert (ran.code, ran.err) == (0, "")
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert lines[0] == "3 answers checked, 4 claims, 25% of them supported or weak."
    assert "Type of claim Claims Supported Weak Contradicted Not found" in lines
    assert "all 4 1 0 1 2" in lines
    assert "leave.md 2 1 0 1 0" in lines
    worst = lines[lines.index("The worst answers:") :]
    assert any(line.startswith("bad Travel 2 1 1 0% led_") for line in worst)
    assert any(line.startswith("answer 3 1 0 1 0% led_") for line in worst)
    assert not any(line.startswith("good") for line in worst)


def test_the_same_again_goes_on_and_says_so(many: Cli) -> None:
    many("check", "--many", "answers.jsonl", *OF_WORDS)
    ran = many("check", "--many", "answers.jsonl", *OF_WORDS)
    assert "3 of them had been checked before" in ran.out
    assert len(many("ledger", "list", "--json").json["ledgers"]) == 3
    ran = many("check", "--many", "answers.jsonl", *OF_WORDS, "--again")
    assert "before" not in ran.out
    assert len(many("ledger", "list", "--json").json["ledgers"]) == 6


def test_lines_that_are_no_answers_are_told_and_exit_with_2(many: Cli, folder: Path) -> None:
    write(folder, "not JSON", "", {"answer": GOOD}, {"id": "empty", "answer": ""})
    ran = many("check", "--many", "answers.jsonl", *OF_WORDS)
    assert ran.code == 2
    assert "1 answer checked, 1 claim, 100%" in ran.out
    assert "line 1 was not checked: not JSON: Expecting value at character 1" in ran.err
    assert "line 4 (empty) was not checked: the answer is empty" in ran.err


def test_of_many_troubles_the_first_few_are_told(many: Cli, folder: Path) -> None:
    write(folder, *["x"] * 12)
    ran = many("check", "--many", "answers.jsonl", *OF_WORDS)
    assert ran.err.count("was not checked") == 10
    assert "and 2 more: --json names all" in ran.err


def test_an_empty_file_is_no_work_and_no_error(many: Cli, folder: Path) -> None:
    write(folder)
    ran = many("check", "--many", "answers.jsonl")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "0 answers checked, 0 claims.\n"


@pytest.mark.parametrize(
    ("rule", "code", "told"),
    [
        (("--fail-on", "contradicted"), 1, ["bad does not pass: 1 claim is contradicted"]),
        (("--fail-on", "weak"), 0, []),
        (
            ("--min-coverage", "0.5"),
            1,
            ["bad does not pass: the evidence coverage of 0% is below 50%", "answer 3 does not"],
        ),
        (("--min-coverage", "0"), 0, []),
    ],
)
def test_each_answer_must_pass(
    many: Cli, rule: tuple[str, str], code: int, told: list[str]
) -> None:
    ran = many("check", "--many", "answers.jsonl", *OF_WORDS, *rule)
    assert ran.code == code
    assert ran.err.count("does not pass") == len(told)
    assert all(line in ran.err for line in told)


def test_lines_may_come_from_standard_input(many: Cli, folder: Path) -> None:
    stdin = (folder / "answers.jsonl").read_bytes()
    ran = many("check", "--many", "-", *OF_WORDS, "--json", stdin=stdin)
    assert ran.code == 0
    assert (ran.json["answers"], ran.json["claims"], ran.json["not_checked"]) == (3, 4, 0)
    assert ran.json["by_verdict"]["contradicted"] == 1
    assert [one["id"] for one in ran.json["outcomes"]] == ["good", "bad", None]


def test_every_form_can_be_written_to_a_file(many: Cli, folder: Path) -> None:
    made: dict[str, str] = {}
    many("check", "--many", "answers.jsonl", *OF_WORDS)
    for form in ("jsonl", "csv", "junit", "sarif"):
        how = (*OF_WORDS, "--format", form, "--fail-on", "not_found")
        ran = many("check", "--many", "answers.jsonl", *how, "-o", f"out.{form}")
        assert ran.code == 1
        assert f"It is in out.{form}." in ran.out
        made[form] = (folder / f"out.{form}").read_text()
    how = (*OF_WORDS, "--format", "junit", "--fail-on", "not_found")
    assert many("check", "--many", "answers.jsonl", *how).out == made["junit"]
    assert [json.loads(line)["id"] for line in made["jsonl"].splitlines()] == ["good", "bad", None]
    rows = list(csv.DictReader(made["csv"].splitlines()))
    assert [row["verdict"] for row in rows] == [
        "supported",
        "contradicted",
        "not_found",
        "not_found",
    ]
    suites = ET.fromstring(made["junit"])
    assert [suite.get("failures") for suite in suites] == ["0", "1", "1"]
    (run,) = json.loads(made["sarif"])["runs"]
    places = [one["locations"][0]["physicalLocation"] for one in run["results"]]
    assert [place["region"]["startLine"] for place in places] == [2, 2, 3]
    assert {place["artifactLocation"]["uri"] for place in places} == {"answers.jsonl"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "there is no answer: give a file, - for standard input, or --many FILE"),
        (("a.md", "--many", "answers.jsonl"), "ANSWER and --many do not go together"),
        (("--many", "answers.jsonl", "--title", "x"), "--title and --many do not go together"),
        (("--many", "answers.jsonl", "--format", "markdown"), "--format markdown is of one answer"),
        (("--many", "answers.jsonl", "-o", "x"), "--output goes with --format jsonl, csv"),
        (("a.md", "--again"), "go with --many FILE"),
        (("a.md", "--workers", "2"), "go with --many FILE"),
        (("a.md", "--format", "csv"), "go with --many FILE"),
        (("--many", "nowhere.jsonl"), "nowhere.jsonl"),
    ],
)
def test_what_does_not_go_together_is_refused(
    many: Cli, arguments: tuple[str, ...], told: str
) -> None:
    ran = many("check", *arguments)
    assert ran.code == 2
    assert told in ran.err


def test_documents_are_read_first_and_what_is_unreadable_is_told(many: Cli, folder: Path) -> None:
    (folder / "policies" / "broken.pdf").write_bytes(b"%PDF-1.7")
    ran = many("check", "--many", "answers.jsonl", "--against", "policies", *OF_WORDS)
    assert ran.code == 0
    assert "not read: broken.pdf" in ran.err


def test_an_answer_that_kills_its_worker_exits_with_3(
    many: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Checker, "check", lambda *_: Failed("the process that checked it ended"))
    ran = many("check", "--many", "answers.jsonl", *OF_WORDS)
    assert ran.code == 3
    assert "line 1 (good) was not checked: the process that checked it ended" in ran.err


def test_ctrl_c_says_how_to_go_on_and_leaves_no_process(many: Cli, folder: Path) -> None:
    given: list[Any] = [{"id": f"a{place}", "answer": f"{GOOD} {place}"} for place in range(400)]
    write(folder, *given)
    command = [*INTERRUPTIBLE, sys.executable, "-m", "evidentia.cli.main"]
    command += ["check", "--many", "answers.jsonl", "--judges", "quote,numbers", "--workers", "2"]
    with (
        subprocess.Popen(command, stderr=subprocess.PIPE, env=os.environ) as running,
        open_workspace(folder / ".evidentia") as workspace,
    ):
        for _ in range(1_200):
            if len(workspace.ledgers.list(limit=3)) == 3:
                break
            time.sleep(0.05)
        workers = psutil.Process(running.pid).children()
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"of 400 answers, which are kept" in told
    assert b"the same command goes on where it was" in told
    assert b"Traceback" not in told
    assert len(workers) == 2
    psutil.wait_procs(workers, 10)
    assert not any(worker.is_running() for worker in workers)

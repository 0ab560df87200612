"""The GitHub Action: its own steps are run, with the variables and files that a runner sets."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from export.sarif_schema import SARIF

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
INSTALL, GATE, UPLOAD = ACTION["runs"]["steps"]
POLICY = "# Leave\n\nAll permanent employees receive 15 days of annual leave.\n"
TRUE = "All permanent employees receive 15 days of annual leave.\n"
FALSE = "All permanent employees receive 25 days of annual leave.\n"


@dataclass(frozen=True)
class Stepped:
    """What a step did: its exit code, its log, its outputs, and the job's summary."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str


@dataclass(frozen=True)
class Runner:
    """A folder with a checkout, and the variables that GitHub's runner sets."""

    folder: Path
    checkout: Path

    def step(self, step: dict[str, Any], action: Path = ROOT, /, **inputs: str) -> Stepped:
        """Run a step's script as the runner does, inputs put into its environment."""
        given = {name: one.get("default", "") for name, one in ACTION["inputs"].items()}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        output, summary = self.folder / "output", self.folder / "summary"
        output.write_text("")
        summary.write_text("")
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_ACTION_PATH": str(action),
            "GITHUB_OUTPUT": str(output),
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_WORKSPACE": str(self.checkout),
        }
        for name, value in step["env"].items():
            asked = value.removeprefix("${{ inputs.").removesuffix(" }}")
            env[name] = given[asked]
        script = self.folder / "script.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=self.checkout,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        pairs = [line.partition("=") for line in output.read_text().splitlines()]
        outputs = {name: value for name, _, value in pairs}
        return Stepped(done.returncode, done.stdout + done.stderr, outputs, summary.read_text())


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A runner on which Evidentia is installed already, and a repository with answers."""
    made = tmp_path / "runner"
    (made / "evidentia").mkdir(parents=True)
    (made / "evidentia" / "bin").symlink_to(Path(sys.executable).parent)
    checkout = tmp_path / "checkout"
    for name, text in {
        "policies/leave.md": POLICY,
        "answers/good.md": TRUE,
        "answers/a bad one.md": FALSE,
    }.items():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text(text)
    return Runner(made, checkout)


HOW = {"against": "policies", "judges": "quote,numbers"}


def test_an_answer_that_does_not_hold_fails_the_job_with_sarif_and_a_summary(
    runner: Runner,
) -> None:
    done = runner.step(GATE, answers="answers\n", junit="reports/claims.xml", **HOW)
    assert done.code == 1
    assert done.outputs == {
        "passed": "false",
        "answers": "2",
        "claims": "2",
        "coverage": "0.5000",
        "sarif": "evidentia.sarif",
    }
    sarif = json.loads((runner.checkout / "evidentia.sarif").read_text())
    Draft202012Validator(SARIF).validate(sarif)
    [result] = sarif["runs"][0]["results"]
    [place] = result["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "answers/a%20bad%20one.md"
    assert "2 answers, 1 does not pass." in done.summary
    assert "| 1 | All permanent employees receive 25 days of annual leave | ✗" in done.summary
    assert "answers/a bad one.md does not pass: 1 claim is contradicted" in done.log
    assert (runner.checkout / "reports" / "claims.xml").is_file()
    assert not (runner.checkout / ".evidentia").exists()


def test_answers_that_hold_pass_and_what_is_not_asked_for_is_not_written(runner: Runner) -> None:
    done = runner.step(
        GATE, answers="  answers/good.md \r\n\n", min_coverage="1", sarif="", summary="false", **HOW
    )
    assert (done.code, done.summary) == (0, "")
    assert done.outputs == {"passed": "true", "answers": "1", "claims": "1", "coverage": "1.0000"}
    assert sorted(one.name for one in runner.checkout.iterdir()) == ["answers", "policies"]


def test_what_went_wrong_is_told_and_there_is_nothing_to_upload(runner: Runner) -> None:
    done = runner.step(GATE, answers="none/*.md", **HOW)
    assert (done.code, done.outputs) == (2, {"passed": "false"})
    assert "error: none/*.md: there are no answers" in done.log
    assert "steps.gate.outputs.sarif != ''" in UPLOAD["if"]


@pytest.fixture
def recorded(runner: Runner) -> Runner:
    """A runner whose program writes down what it is given, in place of checking it."""
    told = runner.folder / "arguments"
    made = runner.folder / "evidentia" / "bin"
    made.unlink()
    made.mkdir()
    (made / "python").symlink_to(sys.executable)
    (made / "evidentia").write_text(f"#!/bin/sh\nprintf '%s\\0' \"$@\" > '{told}'\n")
    (made / "evidentia").chmod(0o755)
    return runner


def given_to(runner: Runner, **inputs: str) -> list[str]:
    done = runner.step(GATE, **inputs)
    assert done.outputs == {"passed": "true"}
    assert "\n::" not in f"\n{done.log}"
    return (runner.folder / "arguments").read_text().split("\0")[:-1]


def test_every_input_is_an_option(recorded: Runner) -> None:
    given = {name.replace("-", "_"): f"the {name}" for name in ACTION["inputs"]}
    given |= {"summary": "true", "against": "a\n b b \n", "answers": "one\r\n\ntwo 2"}
    assert given_to(recorded, **given) == [
        "gate",
        "--json",
        "--fail-on=the fail-on",
        "--home=the home",
        "--contexts=the contexts",
        "--judges=the judges",
        "--min-coverage=the min-coverage",
        "--sarif=the sarif",
        "--junit=the junit",
        f"--summary={recorded.folder / 'summary'}",
        "--against=a",
        "--against=b b",
        "--",
        "one",
        "two 2",
    ]


HOSTILE = (
    *("$(touch owned)", "`touch owned`", "'; touch owned; '", '"; touch owned; "', "* ? [a-z]"),
    *("--home=owned", "-x", "a\n::set-env name=x::y", "a\npassed=true", "\\", "${{ secrets.x }}"),
)


def test_no_input_is_run_as_code_or_read_as_an_option(recorded: Runner) -> None:
    names = ("contexts", "judges", "min-coverage", "sarif", "junit", "home")
    for hostile in HOSTILE:
        first, *rest = hostile.split("\n")
        given = {name.replace("-", "_"): hostile for name in (*names, "fail-on", "against")}
        found = given_to(recorded, answers=hostile, **given)
        assert {f"--{name}={first}" for name in (*names, "against")} <= set(found), hostile
        assert found[2] == f"--fail-on={hostile}"
        assert found[found.index("--") + 1 :] == [first, *rest], hostile
    assert not (recorded.checkout / "owned").exists()


def test_scripts_have_no_expressions_and_know_all_their_inputs() -> None:
    used = set()
    for step in (INSTALL, GATE):
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
        used |= set(step["env"].values())
    known = {f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"] if name != "upload-sarif"}
    assert used == known
    outputs = {one["value"] for one in ACTION["outputs"].values()}
    assert outputs == {f"${{{{ steps.gate.outputs.{name} }}}}" for name in ACTION["outputs"]}


def test_it_is_installed_once_and_by_a_python_that_is_new_enough(
    runner: Runner, tmp_path: Path
) -> None:
    old = tmp_path / "python-of-old"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.8 && exit\nexit 1\n')
    old.chmod(0o755)
    done = runner.step(INSTALL, python=str(old))
    assert done.code == 3
    assert "Python 3.11 or later is needed; found: Python 3.8" in done.log
    made = runner.folder / "evidentia"
    (made / "installed-from").write_text(f"{ROOT}\n")
    assert runner.step(INSTALL, python="/nowhere").code == 0

"""Answers scored by their ledgers in the tools that evaluate: each in its own environment."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evidentia.errors import InputError
from evidentia.integrations.promptfoo import get_assert
from evidentia.integrations.scoring import METRICS, Scoring
from evidentia.ledger.metrics import LedgerMetrics
from evidentia.workspace import open_workspace

pytestmark = pytest.mark.sqlite_suffices

ROOT = Path(__file__).parents[2]
LEAVE = "All permanent employees receive 15 days of annual leave."
WRONG = "All permanent employees receive 25 days of annual leave."
OF_WORDS = ["quote", "numbers"]


@pytest.mark.parametrize("name", ["deepeval", "inspect"])
def test_its_own_objects_are_scored(
    framework: Callable[[str], Any], tmp_path: Path, name: str
) -> None:
    done = framework(name)(f"environment_{name}.py", str(tmp_path / "home"))
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stdout.split()[-1] == "works"


def test_every_number_of_a_ledger_can_be_asked_for_and_no_other() -> None:
    assert set(METRICS) == set(LedgerMetrics.model_fields)
    with pytest.raises(InputError, match="there is no number 'truth' of a ledger: use faithful"):
        Scoring("truth")


def test_an_open_workspace_is_used_and_left_open(tmp_path: Path) -> None:
    with open_workspace(tmp_path / "home") as workspace:
        scoring = Scoring(judges=OF_WORDS, workspace=workspace)
        scored = scoring.score(LEAVE, contexts=[LEAVE])
        assert (scored.value, workspace.ledgers.list()[0].id) == (1.0, scored.ledger)
        with pytest.raises(InputError, match="there is nothing to check the answer against"):
            scoring.score(LEAVE)


def asserted(home: Path, output: str, **config: Any) -> dict[str, Any]:
    """Call the assertion as promptfoo's wrapper does."""
    given = {"judges": OF_WORDS, "home": str(home), **config}
    variables = {"question": "Leave?", "contexts": json.dumps([LEAVE])}
    context = {"prompt": "…", "vars": variables, "test": {}, "config": given}
    found: dict[str, Any] = json.loads(json.dumps(get_assert(output, context)))
    return found


def test_promptfoo_gets_a_grading_with_all_numbers(tmp_path: Path) -> None:
    good = asserted(tmp_path, LEAVE, threshold=1)
    assert (good["pass"], good["score"]) == (True, 1.0)
    bad = asserted(tmp_path, WRONG, metric="coverage")
    assert (bad["pass"], bad["score"], bad["namedScores"]["contradiction_rate"]) == (False, 0, 1)
    assert f'"{LEAVE}"' in bad["reason"]
    low = asserted(tmp_path, WRONG, metric="contradiction_rate", threshold=0.2)
    assert (low["pass"], low["score"]) == (False, 1.0)
    empty = asserted(tmp_path, LEAVE, metric="citation_precision", threshold=0)
    assert (empty["pass"], empty["score"]) == (False, 0)
    assert "nothing to count" in empty["reason"]


def test_promptfoos_variables_are_passages_however_they_come(tmp_path: Path) -> None:
    for value in ([LEAVE], LEAVE, json.dumps([LEAVE]), [{"id": "a", "text": LEAVE}]):
        config = {"contexts": "given", "judges": OF_WORDS, "home": str(tmp_path)}
        found = get_assert(LEAVE, {"vars": {"given": value}, "config": config})
        assert found["pass"], value
    (tmp_path / "leave.md").write_text(LEAVE)
    assert asserted(tmp_path / "home", LEAVE, against=str(tmp_path / "leave.md"))["pass"]


def test_a_misspelt_config_of_promptfoo_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="config has no treshold: use against"):
        asserted(tmp_path, LEAVE, treshold=0.9)


@pytest.mark.whole
def test_promptfoo_itself_runs_the_example(tmp_path: Path) -> None:
    promptfoo = ROOT / ".venv/frameworks/promptfoo/node_modules/.bin/promptfoo"
    if not promptfoo.exists():
        pytest.skip(
            "promptfoo is not installed: npm install --prefix .venv/frameworks/promptfoo promptfoo"
        )
    shutil.copytree(ROOT / "examples/evaluations/promptfoo", tmp_path / "here")
    env = {
        **os.environ,
        "PROMPTFOO_CONFIG_DIR": str(tmp_path / "config"),
        "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_PYTHON": sys.executable,
    }
    done = subprocess.run(
        [promptfoo, "eval", "--no-cache", "--no-table", "-o", "out.json"],
        cwd=tmp_path / "here",
        env=env,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 100, done.stderr  # which promptfoo says where a test fails
    [result] = json.loads((tmp_path / "here/out.json").read_text())["results"]["results"]
    grading = result["gradingResult"]
    assert not grading["pass"]
    assert LEAVE in grading["reason"]
    assert grading["namedScores"]["contradiction_rate"] == 1

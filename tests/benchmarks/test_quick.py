"""The benchmarks still run. What they measure is no test's affair."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from trained import needs_model

ROOT = Path(__file__).parents[2]
SCRIPTS = {
    "trail": {"batches", "single", "stalls", "verify", "proofs"},
    "canonical": {"canonical"},
    "cli": {"cli"},
    "ledger": {"pdf", "search", "check", "memory"},
    "judge": {"judge"},
    "judge_speed": {"judge speed", "judge check"},
    "perturbations": {"perturbations"},
    "sources": {"packing", "survival"},
    "bundles": {"texts", "results", "live", "mixed", "hard", "presidio"},
    "packs": {"sealing", "verifying", "listing"},
    "pdf": {"making", "size", "bytes"},
}


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(script, marks=needs_model if script == "judge_speed" else ())
        for script in SCRIPTS
    ],
)
def test_a_benchmark_prints_its_table_and_writes_its_figures(script: str, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    printed = _run(f"benchmarks.{script}", "--tiny", "--json", str(figures))
    found = json.loads(figures.read_text())
    assert {section["name"] for section in found["sections"]} == SCRIPTS[script]
    for section in found["sections"]:
        assert f"## {section['title']}" in printed
        assert all(line["figure"][0] > 0 for line in section["lines"])


def test_the_page_is_made_of_the_figures(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    _run("benchmarks.canonical", "--tiny", "--json", str(figures))
    page = _run("benchmarks.report", str(figures))
    assert page.startswith("# Benchmarks\n")
    assert "| Canonical JSON | Log entry" in page


def _run(module: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout

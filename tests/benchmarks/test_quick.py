"""The benchmarks still run. What they measure is no test's affair."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from benchmarks.measuring import Line, Section, Spread
from benchmarks.report import MEANING, put_into

import tiers
from judges.nli.swaps import SWAPS
from trained import needs_model

ROOT = Path(__file__).parents[2]
SCRIPTS = {
    "trail": {"batches", "single", "stalls", "singles", "lookups", "verify", "proofs"},
    "canonical": {"canonical"},
    "cli": {"cli"},
    "ledger": {"pdf", "search", "check", "memory"},
    "library": {"check", "ingest", "query", "agreement", "recall"},
    "many": {"many rules", "many all judges"},
    "judge": {"judge"},
    "verdicts": {"verdicts"},
    "judge_speed": {"judge speed", "judge check"},
    "perturbations": {"perturbations"},
    "sources": {"packing", "survival"},
    "bundles": {"texts", "results", "live", "mixed", "hard", "phones", "presidio"},
    "machines": {
        "machines writers",
        "machines sequencing",
        "machines proving",
        "machines memory",
        "object lake",
        "bulk workers",
        "bulk kills",
    },
    "packs": {"sealing", "verifying", "listing"},
    "pdf": {"making", "size", "bytes"},
    "server": {"server ledger", "server page", "server append", "server start"},
    "viewer": {"viewer ledger", "viewer page", "viewer scripts"},
}
QUICKEST = {
    "trail": ("single", "single"),
    "ledger": ("pdf", "pdf"),
    "library": ("agreement", "agreement"),
    "machines": ("sealing", "object lake"),
    "many": ("rules", "many rules"),
    "judge_speed": ("pairs", "judge speed"),
    "sources": ("packing", "packing"),
    "bundles": ("mixed", "mixed"),
    "packs": ("sealing", "sealing"),
    "pdf": ("size", "size"),
    "server": ("start", "server start"),
    "viewer": ("page", "viewer page"),
}
"""Which of its measures the short form asks of a script that has several, and its section."""


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(script, marks=needs_model if script == "judge_speed" else ())
        for script in SCRIPTS
    ],
)
def test_a_benchmark_prints_its_table_and_writes_its_figures(script: str, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    arguments, sections = ["--tiny", "--json", str(figures)], SCRIPTS[script]
    if not tiers.is_whole():
        only, section = QUICKEST.get(script, ("", ""))
        arguments += ["--only", only] if only else []
        arguments += ["--data", str(few_pairs(tmp_path))] if script == "judge" else []
        sections = {section} if section else sections
    printed = _run(f"benchmarks.{script}", *arguments)
    found = json.loads(figures.read_text())
    assert {section["name"] for section in found["sections"]} == sections
    for section in found["sections"]:
        assert f"## {section['title']}" in printed
        # a share of a few claims may be nought, and so should be what is lost
        least = 0 if script in {"verdicts", "machines"} else 1e-12
        assert all(line["figure"][0] >= least for line in section["lines"])


def few_pairs(folder: Path) -> Path:
    """Write labelled pairs as the benchmark of the judges reads them, and return their folder."""
    lines = "".join(f"{json.dumps(asdict(swap))}\n" for swap in SWAPS[:8])
    for file in (folder / "dev" / "swaps.jsonl", folder / "train" / "conjnli.jsonl"):
        file.parent.mkdir()
        file.write_text(lines)
    return folder


def test_the_page_is_made_of_the_figures(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    _run("benchmarks.canonical", "--tiny", "--json", str(figures))
    page = _run("benchmarks.report", str(figures))
    assert page.startswith("# Benchmarks\n")
    assert "| Canonical JSON | Log entry" in page


def test_sections_measured_anew_take_the_place_of_the_old_ones() -> None:
    old = [_section("one", 0.5), _section("two", 0.25)]
    page = put_into(f"## Targets\n\n| a |\n| --- |\n\n{MEANING}\n", old)
    found = put_into(page, [_section("one", 0.75)])
    assert "50 %" in page
    assert "50 %" not in found
    assert found.count("75 %") == page.count("50 %")
    assert found.count("25 %") == page.count("25 %")
    assert found.index("## one") < found.index("## two") < found.index("## What the figures mean")
    assert put_into(found, old) == page


def _section(name: str, figure: float) -> Section:
    line = Line("what", "a yardstick", "", "", Spread.of([figure]), "%", target=0.1)
    return Section(name, name, f"About {name}.", [line])


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

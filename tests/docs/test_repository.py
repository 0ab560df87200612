"""What a repository is expected to have: it is there, it can be read, and it says the same."""

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
HOME = "https://github.com/evidentia-dev/evidentia"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
YAML = sorted([ROOT / ".pre-commit-config.yaml", *GITHUB.rglob("*.yml")])


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


def steps(workflow: Any) -> list[str]:
    return [step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize(
    "name",
    [
        ".editorconfig",
        ".github/pull_request_template.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "LICENSE",
        "README.md",
        "RELEASING.md",
        "SECURITY.md",
    ],
)
def test_the_repository_has_it(name: str) -> None:
    assert (ROOT / name).read_text().strip()


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_every_yaml_file_can_be_read(path: Path) -> None:
    assert isinstance(yaml.safe_load(path.read_text()), dict)


def test_ci_runs_the_tests_on_every_python_that_is_named() -> None:
    workflow = read(".github/workflows/test.yml")
    named = [
        version[1]
        for classifier in PROJECT["classifiers"]
        if (version := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", classifier))
    ]
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert "./test" in steps(workflow)
    assert "./test --all" in steps(read(".github/workflows/whole.yml"))
    assert (ROOT / ".ci" / "run").read_text().endswith("exec ./test\n")


def test_ci_installs_the_validator_that_the_tests_ask_for() -> None:
    script = (ROOT / "scripts" / "environment.sh").read_text()
    listed = re.search(r"jaxb=\((.+)\)", script)
    assert listed
    for name in ("test.yml", "whole.yml"):
        install = next(run for run in steps(read(f".github/workflows/{name}")) if "apt-get" in run)
        assert install.rstrip().endswith(f"default-jdk-headless {listed[1]}")


def test_a_workflow_may_write_nothing_but_the_token_of_a_release() -> None:
    for path in GITHUB.glob("workflows/*.yml"):
        workflow = yaml.safe_load(path.read_text())
        assert workflow["permissions"] == {"contents": "read"}
        granted = [job["permissions"] for job in workflow["jobs"].values() if "permissions" in job]
        assert granted == ([{"id-token": "write"}] if path.name == "release.yml" else [])


def test_issue_forms_ask_something_and_give_each_question_a_name_of_its_own() -> None:
    for name in ("bug", "feature"):
        form = read(f".github/ISSUE_TEMPLATE/{name}.yml")
        ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
        assert form["name"]
        assert form["description"]
        assert len(ids) == len(set(ids)) > 0


def test_hooks_before_a_commit_are_steps_of_the_tests() -> None:
    hooks = read(".pre-commit-config.yaml")["repos"][0]["hooks"]
    entries = [hook["entry"].removeprefix(".venv/bin/") for hook in hooks]
    assert entries == [
        "git diff --cached --check",
        "ruff check",
        "ruff format --check",
        "mypy",
        "lint-imports",
    ]
    script = (ROOT / "test").read_text()
    assert all(entry in script for entry in entries[1:])


def test_every_address_of_the_repository_is_the_same() -> None:
    urls = PROJECT["urls"]
    assert urls["Homepage"] == HOME
    assert all(url == HOME or url.startswith(f"{HOME}/") for url in urls.values())
    for url in urls.values():
        path = url.partition("/blob/main/")[2]
        assert (ROOT / path).exists()
    for path in [*ROOT.glob("*.md"), *YAML]:
        for owner in re.findall(r"github\.com/([\w-]+/[\w-]+)", path.read_text()):
            assert owner == "evidentia-dev/evidentia", path


def test_scripts_can_be_run_and_read() -> None:
    for name in ("test", "demo", "scripts/release-check", "scripts/fuzz", "scripts/site"):
        path = ROOT / name
        assert path.stat().st_mode & 0o111, name
        done = subprocess.run(["bash", "-n", path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_every_page_is_listed_once_in_the_index_and_in_the_same_order_in_the_menu() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    menu = (ROOT / "zensical.toml").read_text()
    for folder in ("tutorial", "how-to", "explanation", "reference"):
        pages = sorted(f"{folder}/{path.name}" for path in (ROOT / "docs" / folder).glob("*.md"))
        listed = re.findall(rf"^- \[[^]]+\]\(({folder}/[\w-]+\.md)\)", index, re.MULTILINE)
        assert sorted(listed) == pages
        assert re.findall(rf'"docs/({folder}/[\w-]+\.md)"', menu) == listed


def test_the_changelog_has_the_version_of_the_program() -> None:
    version = re.search(
        r'^__version__ = "(.+)"$', (ROOT / "src/evidentia/__init__.py").read_text(), re.MULTILINE
    )
    assert version
    assert f"\n## [{version[1]}] - " in (ROOT / "CHANGELOG.md").read_text()


def test_the_versions_that_were_seen_working_are_those_that_are_pinned() -> None:
    page = (ROOT / "docs/how-to/record-a-program.md").read_text()
    seen = re.findall(r"^\| ([a-z-]+) \| ([0-9.]+) \| 20\d\d-\d\d-\d\d \|$", page, re.MULTILINE)
    assert len(seen) > 10
    pins = "\n".join(file.read_text() for file in sorted((ROOT / "requirements").rglob("*.txt")))
    for package, version in seen:
        pinned = set(re.findall(rf"^{package}==([0-9.]+) ", pins, re.MULTILINE))
        assert version in pinned, f"{package} is pinned as {pinned}"

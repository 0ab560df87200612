"""The hook, run by pre-commit itself; and the action and the hook by their published schemas."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.sqlite_suffices

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / ".venv/hooks/bin"
POLICY = "# Leave\n\nAll permanent employees receive 15 days of annual leave.\n"
CONFIG = """
repos:
  - repo: {repository}
    rev: {rev}
    hooks:
      - id: evidentia
        {language}
        files: ^answers/
        args: [--against=policies, --home={home}]
"""


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as one who has no settings of git or pre-commit."""
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(cwd.parent / "pre-commit"),
        "GIT_CONFIG_GLOBAL": str(cwd.parent / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    done = run("git", *who, *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def tools() -> Path:
    """Where pre-commit and check-jsonschema are."""
    if not (TOOLS.parent / "installed").exists():
        pytest.skip("pre-commit is not installed: source scripts/environment.sh; install_hooks")
    return TOOLS


def committed(folder: Path) -> str:
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "All")
    return git(folder, "rev-parse", "HEAD")


def hooked(tools: Path, tmp_path: Path, repository: Path, rev: str, language: str) -> list[str]:
    """Commit a good answer and then a bad one where the hook is; return what it said of each."""
    place = tmp_path / "project"
    for name, text in {"policies/leave.md": POLICY, "answers/good.md": POLICY}.items():
        (place / name).parent.mkdir(parents=True)
        (place / name).write_text(text)
    how = {"repository": repository, "rev": rev, "language": language, "home": tmp_path / "home"}
    (place / ".pre-commit-config.yaml").write_text(CONFIG.format(**how))
    committed(place)
    good = run(tools / "pre-commit", "run", "--all-files", cwd=place)
    assert good.returncode == 0, good.stdout + good.stderr
    (place / "answers/bad one.md").write_text(POLICY.replace("15", "25"))
    git(place, "add", "--all")
    bad = run(tools / "pre-commit", "run", cwd=place)
    assert bad.returncode == 1, bad.stdout + bad.stderr
    return [good.stdout, bad.stdout]


def test_the_hook_lets_an_answer_pass_and_stops_one(tools: Path, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", repository)
    # installed already, so that nothing is fetched: the whole form lets pre-commit install it
    told = hooked(tools, tmp_path, repository, committed(repository), "language: system")
    assert "Passed" in told[0]
    assert "answers/bad one.md does not pass: 1 claim is contradicted" in told[1]
    assert "good.md does not" not in told[1]


@pytest.mark.whole
def test_pre_commit_installs_the_hook_from_a_clone(tools: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    done = run("git", "clone", "--quiet", "--depth=1", f"file://{ROOT}", clone, cwd=tmp_path)
    if done.returncode:
        pytest.skip(f"this is no clone of the repository: {done.stderr.strip()}")
    rev = git(clone, "rev-parse", "HEAD")
    told = hooked(tools, tmp_path, clone, rev, "verbose: true")
    assert "1 claim is contradicted" in told[1]


def test_the_action_and_the_hook_keep_their_published_schemas(tools: Path, tmp_path: Path) -> None:
    check: list[str | Path] = [tools / "check-jsonschema", "--builtin-schema"]
    action = run(*check, "vendor.github-actions", ROOT / "action.yml", cwd=tmp_path)
    assert action.returncode == 0, action.stdout
    workflow = ROOT / "examples/repository/.github/workflows/answers.yml"
    asked = run(*check, "vendor.github-workflows", workflow, cwd=tmp_path)
    assert asked.returncode == 0, asked.stdout
    manifest = ROOT / ".pre-commit-hooks.yaml"
    assert run(tools / "pre-commit", "validate-manifest", manifest, cwd=tmp_path).returncode == 0
    config = ROOT / "examples/repository/.pre-commit-config.yaml"
    assert run(tools / "pre-commit", "validate-config", config, cwd=tmp_path).returncode == 0

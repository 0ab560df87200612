"""The environments that frameworks are tested in: each has its own, as their pins collide."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Ran = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def framework() -> Callable[[str], Ran]:
    """Return what runs a program of tests/integrations in a framework's environment.

    It skips where that is not installed, and says how to install it.
    """

    def of(name: str) -> Ran:
        python = ROOT / ".venv/frameworks" / name / "bin/python"
        if not (python.parent.parent / "installed").exists():
            pytest.skip(
                f"{name} is not installed: source scripts/environment.sh; install_framework {name}"
            )

        def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
            environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}", "NO_PROXY": "127.0.0.1"}
            return subprocess.run(
                [python, ROOT / "tests/integrations" / program, *arguments],
                env=environment,
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )

        return run

    return of

"""Runs the examples of the documentation: Python blocks, and shell sessions with their output.

A document's examples share one namespace and one empty folder. In a shell session, `…` in the
expected output stands for anything.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

ROOT = Path(__file__).parents[1]


class ShellSessionParser(CodeBlockParser):
    """Runs each `$ command` of a console block and compares what it prints."""

    language = "console"

    def evaluate(self, example: Example) -> str | None:
        """Return what differs, or None if the output is as written."""
        for command, expected in _commands(str(example.parsed)):
            done = subprocess.run(
                ["bash", "-c", command],
                capture_output=True,
                text=True,
                check=False,
                env={
                    **os.environ,
                    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                    "COLUMNS": "120",
                    "EVIDENTIA_OUTDATED_AFTER_DAYS": "99999",  # the examples' documents grow old
                    "EXAMPLES": str(ROOT / "examples"),
                },
            )
            printed = _tidy(done.stdout + done.stderr)
            pattern = re.escape(_tidy(expected)).replace("…", "[^\\n]*")
            if not re.fullmatch(pattern, printed):
                return f"$ {command}\nexpected:\n{expected}\nprinted:\n{printed}"
        return None


def _commands(session: str) -> list[tuple[str, str]]:
    parts = re.split(r"^\$ ", session, flags=re.MULTILINE)
    pairs = []
    for part in parts[1:]:
        lines = part.split("\n")
        end = next((at for at, line in enumerate(lines) if not line.endswith("\\")), 0)
        pairs.append(("\n".join(lines[: end + 1]), "\n".join(lines[end + 1 :])))
    return pairs


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines() if line.strip())


def _enter(namespace: dict[str, Any]) -> None:
    folder = tempfile.TemporaryDirectory()
    namespace.update(_folder=folder, _before=Path.cwd())
    os.chdir(folder.name)


def _leave(namespace: dict[str, Any]) -> None:
    os.chdir(namespace["_before"])
    namespace["_folder"].cleanup()


sybil = Sybil(
    path=str(ROOT),
    parsers=[PythonCodeBlockParser(), ShellSessionParser()],
    patterns=["README.md", "docs/**/*.md"],
    setup=_enter,
    teardown=_leave,
)
collect = sybil.pytest()

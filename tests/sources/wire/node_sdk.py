"""Vercel's AI SDK in a real Node: installed once from npm, outside the repository, and asked."""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

SCRIPT = Path(__file__).with_name("ask_ai_sdk.mjs")


class NoNodeSdkError(Exception):
    """Node, npm or the package is not to be had here; the message says which."""


class NodeSdk:
    """A running Node that has the SDK loaded; each question and each answer is one line of JSON."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def ask(self, **question: Any) -> Any:
        """Ask the script, and return its answer; raise what it says went wrong."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline(), parse_int=float)  # as JavaScript does
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer["answer"]

    @classmethod
    @contextmanager
    def running(cls, version: str) -> Iterator[Self]:
        """Start Node with a version of the SDK; stop it at the end."""
        folder = _installed(version)
        script = shutil.copy(SCRIPT, folder / SCRIPT.name)
        with subprocess.Popen(
            [_found("node"), script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            yield cls(process)
            assert process.stdin is not None
            process.stdin.close()  # the script ends with its input


def _installed(version: str) -> Path:
    """Return a folder that has the package; it is kept from one run to the next."""
    npm = _found("npm")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evidentia-tests"
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / f"ai-sdk-{version}"
    with (cache / f"ai-sdk-{version}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            building = cache / f"ai-sdk-{version}.building"
            shutil.rmtree(building, ignore_errors=True)
            building.mkdir()
            (building / "package.json").write_text('{"private": true}', encoding="utf-8")
            command = [
                npm,
                "install",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
                f"ai@{version}",
            ]
            try:
                subprocess.run(command, cwd=building, check=True, capture_output=True, timeout=200)
            except subprocess.CalledProcessError as error:
                last = error.stderr.decode(errors="replace").strip()[-300:]
                raise NoNodeSdkError(f"npm could not install ai@{version}: {last}") from error
            except subprocess.TimeoutExpired as error:
                raise NoNodeSdkError(f"npm took too long to install ai@{version}") from error
            building.rename(folder)
    return folder


def _found(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise NoNodeSdkError(f"{program} is not on this machine")
    return path

"""System calls that fail, commands that are killed: nothing acknowledged is lost, nothing half-made
believed, and no traceback. The whole campaign is `scripts/fuzz faults`."""

import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tiers
from evidentia.errors import EnvironmentProblem, IntegrityError
from evidentia.workspace import Workspace, open_workspace
from forking import Child
from places import Place, record
from survival.faulting import OPERATIONS

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")

TESTS = Path(__file__).parents[1]

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc to compile the shim")


def campaign(*arguments: str) -> str:
    """Run a campaign; return what it printed."""
    ran = subprocess.run(
        [sys.executable, "-m", "survival.faulting", *arguments],
        cwd=TESTS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@needs_gcc
def test_commands_whose_calls_fail_lose_nothing_and_say_why() -> None:
    operations = tiers.sample(list(OPERATIONS), 5)
    only = [word for name in operations for word in ("--only", name)]
    said = campaign(*only, "--most", str(tiers.count(10, short=1)))
    assert re.search(r"\d+ cases, 0 problems", said)
    assert re.search(r"killed: [1-9]\d* cases, 0 acknowledged", said), "what is failed fails"


# Bits that flip


def test_a_flipped_bit_is_found_refused_or_harmless_and_never_another_exception() -> None:
    """Silent ones are counted where the one audit is not there; with it there must be none."""
    each = str(tiers.count(2, short=1))
    said = campaign("flips", "--each", each, *([] if tiers.is_whole() else ["--pages", "8"]))
    assert re.search(r"\d+ bits of \d+ pages: ", said)


def test_a_record_that_is_not_what_its_entry_commits_to_is_not_given(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    workspace.append(record(1))
    sqlite_place.close()
    body = b'"verification_result":"CONFIRMED"'
    path = sqlite_place.home.database
    data = path.read_bytes()
    assert body in data
    path.write_bytes(data.replace(body, body.replace(b"CONF", b"CONB")))
    with pytest.raises(IntegrityError, match="its body is not what it commits to"):
        sqlite_place.open().trail.records()


# Without file descriptors


def calls(home: Path, folder: Path) -> dict[str, Callable[[Workspace], object]]:
    """Return what needs a file or a process, by name."""
    return {
        "append": lambda workspace: workspace.append(record(2)),
        "checkpoint": lambda workspace: workspace.trail.checkpoint(),
        "publish": lambda workspace: workspace.trail.publish(folder / "published"),
        "audit": lambda workspace: workspace.trail.audit(),
        "ingest": lambda workspace: workspace.ingest(folder / "policy.md"),
        "bundle": lambda workspace: workspace.bundle({"extra_params": {"evidence": ["text"]}}),
        "rotate": lambda workspace: workspace.trail.rotate_key(),
        "open": lambda _: open_workspace(home).close(),
    }


def leave(spare: int) -> None:
    """Let this process open so many files more, and no other."""
    used = max(int(name) for name in os.listdir("/proc/self/fd"))  # noqa: PTH208 - names are numbers
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for number in range(used):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)  # the lowest one that is free
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 1 + spare, hard))


@pytest.mark.parametrize("spare", tiers.sample(range(4), 2))
def test_without_file_descriptors_whatever_is_asked_says_so(
    sqlite_place: Place, tmp_path: Path, spare: int
) -> None:
    (tmp_path / "policy.md").write_text("Leave is 25 days.")
    sqlite_place.open().append(record(1))
    sqlite_place.close()
    home = sqlite_place.home.folder
    refused = tmp_path / "refused"

    def work() -> None:
        for call in calls(home, tmp_path).values():  # so that nothing is left to be imported
            with open_workspace(home) as workspace:
                call(workspace)
        messages = []
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        for name, call in calls(home, tmp_path).items():
            with open_workspace(home) as workspace:
                leave(spare)
                try:
                    call(workspace)
                except EnvironmentProblem as error:
                    messages.append(f"{name}: {error}")
                finally:
                    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        refused.write_text("\n".join(messages))

    with Child(work) as child:
        child.end()
    said = refused.read_text()
    assert said or spare
    assert all("open files" in line for line in said.splitlines()), said
    with open_workspace(home) as workspace:
        assert workspace.trail.audit().holds

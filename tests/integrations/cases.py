"""What the cases of an integration share: they are run by pytest in the framework's environment."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evidentia as ev
from evidentia.integrations.policy import RecordingPolicy
from evidentia.integrations.recorder import Recorder
from evidentia.workspace import Workspace
from integrations.fake_model import AskedTool, FakeModel, Turn, serving

UNCHECKED = RecordingPolicy(check="on_request", redact=False)
CALL = AskedTool("call_1", "days_of_notice", {"contract_id": "C-12"})
ANSWER = "It is 30 days."
SCRIPT = (Turn(calls=[CALL]), Turn(text=ANSWER))


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    with serving(SCRIPT) as served:
        yield served


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with ev.open(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def recorder(workspace: Workspace) -> Iterator[Recorder]:
    with Recorder(workspace, UNCHECKED) as made:
        yield made


def days_of_notice(contract_id: str) -> str:
    """Return the days of notice."""
    return f"30 days for {contract_id}"


def told(recorder: Recorder, workspace: Workspace) -> list[dict[str, Any]]:
    """Return what is said of the runs that were recorded, in the order of their ends."""
    assert recorder.flush(60)
    assert recorder.failures == ()
    bundles = [workspace.bundles.get(one.bundle_id) for one in recorder.recorded]
    return [json.loads(one.items[0].content) for one in bundles]


def kinds(run: dict[str, Any]) -> list[str]:
    """Return what happened in a run, in order."""
    return [one["kind"] for one in run["events"]]


def run_all(file: str) -> int:
    """Run the cases in a file, with the fixtures from here; the folder is the first argument."""
    own = ["-q", "--noconftest", "-p", "no:cacheprovider", "-p", "integrations.cases"]
    return pytest.main([file, *own, "--rootdir", sys.argv[1], "-c", "/dev/null"])

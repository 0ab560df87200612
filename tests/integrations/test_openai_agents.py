"""Agents of the OpenAI Agents SDK: the real package, in its environment."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evidentia as ev
from integrations import story
from integrations.fake_model import AskedTool, Turn, serving

pytestmark = pytest.mark.sqlite_suffices
WRONG = "The notice period of contract C-12 is 60 days."


@pytest.mark.parametrize("how", ["sync", "async", "stream", "chat"])
def test_an_agent_tells_the_whole_story(
    framework: Callable[[str], Any], tmp_path: Path, how: str
) -> None:
    with serving(story.SCRIPT) as fake:
        done = framework("openai-agents")("program_openai_agents.py", str(tmp_path), fake.url, how)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    with ev.open(tmp_path) as workspace:
        story.assert_story(workspace, fake.requests)


def test_what_a_trace_tells_is_recorded_whatever_becomes_of_it(
    framework: Callable[[str], Any], tmp_path: Path
) -> None:
    done = framework("openai-agents")("cases_openai_agents.py", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_example_does_what_its_page_says(
    framework: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    root = Path(__file__).parents[2]
    asked = AskedTool("call_1", "notice_period", {"contract": "C-12"})
    with serving([Turn(calls=[asked]), Turn(text=WRONG)]) as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", fake.url)
        monkeypatch.setenv("OPENAI_API_KEY", "-")
        done = framework("openai-agents")(str(root / "examples/integrations/with_openai_agents.py"))
    assert done.returncode == 0, done.stderr
    page = (root / "docs/how-to/record-pydantic-ai-openai-agents-and-dspy.md").read_text()
    assert f"```text\n{done.stdout}```" in page

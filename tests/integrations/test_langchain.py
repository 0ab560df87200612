"""Agents and chains of LangChain, graphs of LangGraph: the real packages, in their environment."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evidentia as ev
from integrations import story
from integrations.fake_model import serving

pytestmark = pytest.mark.sqlite_suffices


@pytest.mark.parametrize("how", ["sync", "async", "stream"])
def test_an_agent_tells_the_whole_story(
    framework: Callable[[str], Any], tmp_path: Path, how: str
) -> None:
    with serving(story.SCRIPT) as fake:
        done = framework("langchain")("program_langchain.py", str(tmp_path), fake.url, how)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    with ev.open(tmp_path) as workspace:
        story.assert_story(workspace, fake.requests)


@pytest.mark.parametrize("cases", ["cases_langchain.py", "cases_langgraph.py"])
def test_each_case_holds_in_the_environment_of_the_framework(
    framework: Callable[[str], Any], tmp_path: Path, cases: str
) -> None:
    done = framework("langchain")(cases, str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_example_does_what_its_page_says(
    framework: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    root = Path(__file__).parents[2]
    example = root / "examples/integrations/with_langchain.py"
    done = framework("langchain")(str(example))
    assert done.returncode == 0, done.stderr
    page = (root / "docs/how-to/record-langchain-and-langgraph.md").read_text()
    assert f"```text\n{done.stdout}```" in page

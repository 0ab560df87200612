"""Calls Inspect's scorer in Inspect's own environment, as a task would."""

import asyncio
import sys
from importlib.metadata import version
from math import isnan
from pathlib import Path
from typing import Any

from inspect_ai.model import ChatMessageUser, ModelName, ModelOutput
from inspect_ai.scorer import SampleScore, Score, Target, mean
from inspect_ai.solver import TaskState

from evidentia.errors import InputError
from evidentia.integrations.inspect import evidentia
from evidentia.workspace import open_workspace

LEAVE = "All permanent employees receive 15 days of annual leave."
WRONG = "All permanent employees receive 25 days of annual leave."
home = Path(sys.argv[1])
how = {"judges": ["quote", "numbers"], "home": home}


def state(answer: str, metadata: dict[str, Any] | None = None) -> TaskState:
    return TaskState(
        model=ModelName("mockllm/model"),
        sample_id=1,
        epoch=1,
        input="Leave?",
        messages=[ChatMessageUser(content="Leave?")],
        output=ModelOutput.from_content("mockllm/model", answer),
        metadata={"contexts": [{"id": "kb-3", "text": LEAVE}]} if metadata is None else metadata,
    )


def score(answer: str, metadata: dict[str, Any] | None = None, **options: Any) -> Score:
    found = asyncio.run(evidentia(**how | options)(state(answer, metadata), Target("15 days")))
    assert found is not None
    return found


good, bad = score(LEAVE), score(WRONG)
assert (good.value, bad.value) == (1.0, 0.0)
assert good.answer == LEAVE
assert f'"{LEAVE}"' in bad.explanation
with open_workspace(home) as workspace:
    ledger = workspace.ledgers.get(bad.metadata["ledger"])
    assert [one.id for one in ledger.session.contexts or ()] == ["kb-3"]
    assert ledger.session.query == "Leave?"
assert bad.metadata["contradiction_rate"] == 1.0
assert mean()([SampleScore(score=good), SampleScore(score=bad)]) == 0.5

empty = score(LEAVE, metric="citation_recall")
assert isnan(empty.value)
assert (empty.reason, empty.metadata["faithfulness"]) == ("nothing_to_count", 1.0)

(home.parent / "leave.md").write_text(f"# Leave\n\n{LEAVE}\n")
assert score(LEAVE, {}, against=str(home.parent / "leave.md")).value == 1.0
assert score(LEAVE, {"given": [LEAVE]}, contexts="given").value == 1.0
try:
    score(LEAVE, {})
except InputError as error:
    assert "there is nothing to check the answer against" in str(error)  # noqa: PT017 - a program
else:
    raise AssertionError("a sample without passages was scored")


async def beside() -> list[Any]:
    made = evidentia(**how)
    states = [state(LEAVE), state(WRONG)] * 3
    return [one.value for one in await asyncio.gather(*(made(x, Target("")) for x in states))]


assert asyncio.run(beside()) == [1.0, 0.0] * 3
sys.stdout.write(f"{version('inspect-ai')} works\n")

"""Runs EvidentiaMetric in DeepEval's own environment: alone, beside others, and by `evaluate`."""

import asyncio
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_DISABLE_DOTENV": "1"}

from deepeval import assert_test, evaluate
from deepeval.errors import MissingTestCaseParamsError
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.test_case import LLMTestCase, RetrievedContextData

from evidentia.integrations.deepeval import EvidentiaMetric
from evidentia.workspace import open_workspace

LEAVE = "All permanent employees receive 15 days of annual leave."
HOTELS = "Hotel costs are refunded up to $150 per night."
WRONG = "Hotel costs are refunded up to $200 per night."
home = Path(sys.argv[1])
os.chdir(home.parent)  # DeepEval writes a folder where it stands


def metric(name: str = "faithfulness", threshold: float = 0.9, **how: Any) -> EvidentiaMetric:
    options: dict[str, Any] = {
        "threshold": threshold,
        "judges": ["quote", "numbers"],
        "home": home,
        **how,
    }
    return EvidentiaMetric(name, **options)


def case(answer: str, *passages: object, **known: Any) -> LLMTestCase:
    contexts = list(passages) or [LEAVE, RetrievedContextData(context=HOTELS, source="t.md")]
    known = {"retrieval_context": contexts, "input": "Leave?", **known}
    return LLMTestCase(actual_output=answer, **known)


# a score, whether it is good enough, and why
one = metric()
assert one.measure(case(LEAVE)) == 1.0
assert one.is_successful()
assert "No claim is without support" in one.reason
assert one.measure(case(f"{LEAVE} {WRONG}")) == 0.5
assert not one.is_successful()
assert f'"{HOTELS}"' in one.reason, one.reason
assert "t.md" in one.reason
assert one.score_breakdown["contradiction_rate"] == 0.5
with open_workspace(home) as workspace:
    ledger = workspace.ledgers.get(one.ledger or "")
    assert ledger.session.query == "Leave?"
    assert (ledger.metrics().faithfulness, len(ledger.session.contexts or ())) == (0.5, 2)

# what is high is bad, for the rate of contradictions; where nothing is counted, nothing succeeds
bad = metric("contradiction_rate", threshold=0.1)
assert (bad.measure(case(WRONG)), bad.is_successful()) == (1.0, False)
assert (bad.measure(case(LEAVE)), bad.is_successful()) == (0.0, True)
empty = metric("citation_precision", threshold=0.0)
assert (empty.measure(case(LEAVE)), empty.is_successful()) == (0.0, False)
assert "nothing to count for citation_precision" in empty.reason


# beside others
async def beside() -> list[float]:
    metrics = [metric() for _ in range(6)]
    answers = [LEAVE, WRONG] * 3
    return await asyncio.gather(
        *(made.a_measure(case(answer)) for made, answer in zip(metrics, answers, strict=True))
    )


assert asyncio.run(beside()) == [1.0, 0.0] * 3

# documents in place of passages
(home.parent / "leave.md").write_text(f"# Leave\n\n{LEAVE}\n")
held = metric(against=home.parent / "leave.md")
assert held.measure(LLMTestCase(input="Leave?", actual_output=LEAVE)) == 1.0
try:
    metric().measure(LLMTestCase(input="Leave?", actual_output=LEAVE))
except MissingTestCaseParamsError as error:
    assert "retrieval_context" in str(error)  # noqa: PT017 - a program of its own
else:
    raise AssertionError("a case without passages was scored")

# as DeepEval runs it
for run_async in (False, True):
    found = evaluate(
        test_cases=[case(LEAVE), case(WRONG)],
        metrics=[metric(), metric("contextual_precision", 0.1)],
        async_config=AsyncConfig(run_async=run_async),
        display_config=DisplayConfig(print_results=False, show_indicator=False),
        cache_config=CacheConfig(write_cache=False, use_cache=False),
    )
    told = {
        (result.input, data.name, result.actual_output): (data.score, data.success)
        for result in found.test_results
        for data in result.metrics_data
    }
    assert told["Leave?", "Evidentia faithfulness", LEAVE] == (1.0, True), told
    assert told["Leave?", "Evidentia faithfulness", WRONG] == (0.0, False), told
    assert told["Leave?", "Evidentia contextual precision", LEAVE] == (1.0, True), told
assert_test(case(LEAVE), [metric()], run_async=False)
try:
    assert_test(case(WRONG), [metric()], run_async=False)
except AssertionError as error:
    assert "Evidentia faithfulness" in str(error)  # noqa: PT017 - the same
else:
    raise SystemExit("an answer without support passed")
sys.stdout.write(f"{version('deepeval')} works\n")

"""A metric of DeepEval: an answer in one number of its ledger, with the claims without support.

It asks no model, unless a judge of your choosing does.
"""

import asyncio
from typing import TYPE_CHECKING, Any

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase, SingleTurnParams

from evidentia.errors import InputError
from evidentia.integrations.scoring import Against, Scored, Scoring

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evidentia.workspace import Workspace


class EvidentiaMetric(BaseMetric):  # type: ignore[misc] # DeepEval is typed in part
    """Checks `actual_output` against `retrieval_context`, or documents where `against` names some.

    An answer in which there is nothing to count scores 0 and does not succeed. The ledger's id is
    in `score_breakdown` beside all its numbers.
    """

    def __init__(
        self,
        metric: str = "faithfulness",
        *,
        threshold: float = 0.5,
        against: Against = None,
        judges: "Sequence[Any] | None" = None,
        home: "str | Path | None" = None,
        workspace: "Workspace | None" = None,
    ) -> None:
        # DeepEval copies a metric by attributes that are called as these parameters are
        self.metric, self.against, self.judges = metric, against, judges
        self.home, self.workspace = home, workspace
        self.threshold = threshold
        self._scoring = Scoring(metric, against, judges, home, workspace)
        self.error: str | None = None
        self.ledger: str | None = None
        needed = [SingleTurnParams.ACTUAL_OUTPUT]
        if against is None:
            needed.append(SingleTurnParams.RETRIEVAL_CONTEXT)
        self._required_params = needed

    @property
    def __name__(self) -> str:
        return f"Evidentia {self._scoring.metric.replace('_', ' ')}"

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """Check a test case; return its score."""
        return self._kept(self._scored(test_case))

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """Check a test case beside others; return its score."""
        return self._kept(await asyncio.to_thread(self._scored, test_case))

    def is_successful(self) -> bool:
        """Whether the last score is good enough; for the rate of contradictions, low enough."""
        return bool(self.error is None and self.success)

    def _scored(self, test_case: LLMTestCase) -> Scored:
        if test_case.actual_output is None:
            raise MissingTestCaseParamsError("'actual_output' cannot be None for Evidentia")
        contexts = None
        if self._scoring.against is None:
            if test_case.retrieval_context is None:
                raise MissingTestCaseParamsError(
                    "'retrieval_context' cannot be None for Evidentia: give it, or name documents "
                    "with against"
                )
            contexts = [_passage(one) for one in test_case.retrieval_context]
        try:
            return self._scoring.score(
                test_case.actual_output, contexts=contexts, query=test_case.input or None
            )
        except InputError as error:
            self.error = str(error)
            raise

    def _kept(self, scored: Scored) -> float:
        self.error = None
        self.score = 0.0 if scored.value is None else scored.value
        self.reason, self.ledger = scored.reason, scored.ledger
        self.score_breakdown = {**scored.others, "ledger": scored.ledger}
        self.success = self._scoring.passes(scored.value, self.threshold)
        return self.score


def _passage(given: Any) -> Any:
    """Return a passage as a check takes it: a text, or one with its source."""
    if isinstance(given, str):
        return given
    return {"text": given.context, "source": given.source}

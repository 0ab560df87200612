"""A scorer of Inspect: an answer in one of its ledger's numbers; the ledger's id is with the score.

It asks no model, unless a judge of your choosing does.
"""

import asyncio
from typing import TYPE_CHECKING, Any

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from evidentia.integrations.scoring import Against, Scoring

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@scorer(metrics=[mean(), stderr()])  # type: ignore[untyped-decorator] # where Inspect is not installed
def evidentia(
    metric: str = "faithfulness",
    *,
    contexts: str = "contexts",
    against: Against = None,
    judges: "Sequence[Any] | None" = None,
    home: "str | Path | None" = None,
) -> Scorer:
    """Check a sample's completion against the passages in its metadata under `contexts`.

    Where `against` names documents, it is checked against those. A sample in which there is nothing
    to count is unscored, and no mean counts it.
    """
    scoring = Scoring(metric, against, judges, home)

    async def score(state: TaskState, target: Target) -> Score:
        del target  # what the right answer is, passages say
        answer = state.output.completion
        given = None if against is not None else state.metadata.get(contexts)
        scored = await asyncio.to_thread(
            scoring.score, answer, contexts=given, query=state.input_text or None
        )
        about = {"ledger": scored.ledger, **scored.others}
        if scored.value is None:
            return Score.unscored(
                reason="nothing_to_count",
                answer=answer,
                explanation=scored.reason,
                metadata=about,
            )
        return Score(value=scored.value, answer=answer, explanation=scored.reason, metadata=about)

    return score

"""An answer in one of a ledger's numbers, for tools that evaluate by numbers, and why it is that.

It needs no model: an answer is checked as it would be anywhere, and its ledger is kept.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from evidentia.errors import InputError
from evidentia.integrations.telling import HOLDS, not_among, told

if TYPE_CHECKING:
    from evidentia.ledger.metrics import LedgerMetrics
    from evidentia.workspace import Workspace
    from evidentia.workspace.ledgers import RecordedLedger

Metric = Literal[
    "faithfulness",
    "coverage",
    "contradiction_rate",
    "citation_precision",
    "citation_recall",
    "contextual_precision",
    "context_utilization",
]
"""The numbers of `ledger.metrics()`."""
METRICS: Final[tuple[str, ...]] = get_args(Metric)
LOWER_IS_BETTER: Final = frozenset({"contradiction_rate"})
Against = str | Path | Sequence[str | Path] | None
Contexts = Iterable[Any] | Callable[[str], Any] | None


@dataclass(frozen=True, slots=True)
class Scored:
    """An answer in one number, None where there was nothing to count; why; and all numbers."""

    value: float | None
    reason: str
    ledger: str
    numbers: "LedgerMetrics"

    @property
    def others(self) -> dict[str, float]:
        """All numbers that there are, by their names."""
        found = self.numbers.model_dump()
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class Scoring:
    """How answers are scored: by which number, against what, by which judges, and kept where.

    `against` are files and folders of documents; without it an answer is checked against the
    contexts that come with it. `home` is a workspace's folder, `./.evidentia` if none is named;
    `workspace` is an open one in its place.
    """

    metric: str = "faithfulness"
    against: Against = None
    judges: Sequence[Any] | None = None
    home: str | Path | None = None
    workspace: "Workspace | None" = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            names = ", ".join(METRICS)
            raise InputError(f"there is no number {self.metric!r} of a ledger: use {names}")

    def score(self, answer: str, *, contexts: Contexts = None, query: str | None = None) -> Scored:
        """Check an answer, and return it in the number; raise `InputError` if it can't be."""
        if self.against is None and contexts is None:
            raise InputError(
                "there is nothing to check the answer against: give the passages that its model "
                "was given, or name documents with against"
            )
        if self.workspace is not None:
            return self._scored(self.workspace, answer, contexts, query)
        from evidentia.workspace import open_workspace  # noqa: PLC0415 - only with a first check

        with open_workspace(self.home) as opened:
            return self._scored(opened, answer, contexts, query)

    def passes(self, value: float | None, threshold: float) -> bool:
        """Whether a number is good enough; where there was nothing to count it is not."""
        if value is None:
            return False
        return value <= threshold if self.metric in LOWER_IS_BETTER else value >= threshold

    def _scored(
        self,
        workspace: "Workspace",
        answer: str,
        contexts: Contexts,
        query: str | None,
    ) -> Scored:
        documents: Any = None
        if self.against is not None:
            named = self.against
            places = [named] if isinstance(named, str | os.PathLike) else list(named)
            documents = workspace.ingest(*places)
        ledger = workspace.check(
            answer, against=documents, contexts=contexts, query=query, judges=self.judges
        )
        numbers = ledger.metrics()
        value: float | None = getattr(numbers, self.metric)
        return Scored(value, self._reason(ledger, value), ledger.id, numbers)

    def _reason(self, ledger: "RecordedLedger", value: float | None) -> str:
        if value is None:
            return f"There is nothing to count for {self.metric}. It is in ledger {ledger.id}."
        wrong = not_among(ledger, HOLDS)
        if not wrong:
            return f"No claim is without support. It is in ledger {ledger.id}."
        return told(ledger, wrong)

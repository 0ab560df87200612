"""Inputs on their way into a bundle: as they were loaded, and with what was done to them so far."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evidentia.bundles.accounting import Outcome, Step
from evidentia.bundles.candidates import Candidate
from evidentia.bundles.redaction.model import Redaction
from evidentia.bundles.tables import SampledTable, table_text


@dataclass(slots=True)
class Input:
    """An input on its way into the bundle."""

    candidate: Candidate
    content: str
    whole: str
    size: int
    input_bytes: int
    source_ref: Mapping[str, Any]
    metadata: Mapping[str, Any]
    title: str
    steps: tuple[Step, ...] = ()
    table: SampledTable | None = None
    redactions: tuple[dict[str, Any], ...] = ()
    hits: Mapping[str, Redaction] | None = None
    evidence_id: str = ""

    def take(self, done: Outcome, reason: str, content: str) -> None:
        """Go on with other content, and note why."""
        after = len(content.encode())
        self.steps = (*self.steps, Step(done, reason, self.size, after))
        self.content, self.size = content, after

    def is_cut(self) -> bool:
        """Whether the item shows less than there is."""
        return any(step.done in (Outcome.SAMPLED, Outcome.TRUNCATED) for step in self.steps)


def begin_input(candidate: Candidate) -> Input:
    """Begin with a candidate as it was loaded, and note what loading left out."""
    table = candidate.table
    content = table_text(table, candidate.title) if table else candidate.content
    size = len(content.encode())
    one = Input(
        candidate,
        content,
        content,
        size,
        size,
        candidate.source_ref,
        candidate.metadata,
        candidate.title,
    )
    one.table = table
    if candidate.error is not None:
        one.size = one.input_bytes = 0
        one.take(Outcome.FAILED, candidate.error, content)
        one.metadata = {**one.metadata, "error": candidate.error}
    elif table and (reason := _left_out(table)):
        one.size = one.input_bytes = candidate.input_bytes or size
        one.take(Outcome.SAMPLED, reason, content)
    return one


def _left_out(table: SampledTable) -> str:
    """Say what sampling left out of a result, or nothing."""
    shown, columns = len(table.row_numbers), len(table.columns)
    reasons = []
    if shown < table.row_count:
        reasons.append(f"{table.strategy}: {shown:,} of {table.row_count:,} rows")
    if table.left_out_columns:
        reasons.append(f"{columns:,} of {columns + len(table.left_out_columns):,} columns")
    return ", ".join(reasons)

"""Many answers: how much faster two worker processes check them than one.

Run it with `python -m benchmarks.many [--quick] [--only NAME] [--json FILE]`.
"""

from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.measuring import (
    Line,
    Section,
    Spread,
    interleaved,
    number,
    ratios,
    run_measures,
    seconds_of,
)

from evidentia.language.sentences import sentence_spans
from evidentia.workspace import Workspace, open_workspace

POLICIES = Path(__file__).parents[1] / "examples" / "policies"
CLAIMS = 4
RULES = {"full": 800, "quick": 300, "tiny": 4}
ALL = {"full": 80, "quick": 30, "tiny": 2}
ROUNDS = {"full": 5, "quick": 3, "tiny": 1}


def measure_rules(size: str, folder: Path) -> Section:
    """Measure with the rules alone, where recording is a large part of the work."""
    return _measure(size, folder, RULES[size], ("quote", "numbers"), "rules")


def measure_all(size: str, folder: Path) -> Section:
    """Measure with all judges, where the model is almost all of the work."""
    return _measure(size, folder, ALL[size], None, "all judges")


def _measure(
    size: str, folder: Path, many: int, judges: Sequence[str] | None, whom: str
) -> Section:
    with open_workspace(folder / "home") as workspace:
        workspace.ingest(POLICIES)
        answers, numbers = Answers(workspace, many), count()
        workspace.check_many(answers.fresh(next(numbers))[:1], judges=judges, workers=0)

        def check(workers: int) -> object:
            fresh = answers.fresh(next(numbers))
            checked = workspace.check_many(fresh, judges=judges, workers=workers)
            return checked[len(fresh) - 1]

        taken = interleaved(
            ROUNDS[size],
            {
                "one": lambda: seconds_of(partial(check, 1)),
                "two": lambda: seconds_of(partial(check, 2)),
                "here": lambda: seconds_of(partial(check, 0)),
            },
        )
    each = {name: f"{number(many / Spread.of(took).median)}/s" for name, took in taken.items()}
    return Section(
        f"many {whom}",
        f"Many answers, {whom}",
        f"`check_many` of {many:,} answers of {CLAIMS} claims each against the example's policies, "
        "from the call to the last ledger in the trail: the start of the workers, the loading of "
        "what judges need and the recording are in it.",
        [
            Line(
                "two workers",
                "one worker",
                each["two"],
                each["one"],
                ratios(taken["one"], taken["two"]),
                "times",
                target=1.7,
            ),
            Line(
                "one worker",
                "this process",
                each["one"],
                each["here"],
                ratios(taken["here"], taken["one"]),
                "times",
            ),
        ],
    )


class Answers:
    """Answers made of the documents' sentences: some as they are, some with another number."""

    def __init__(self, workspace: Workspace, many: int) -> None:
        self._many = many
        self._sentences = [
            chunk.text[start:end].strip().rstrip(".")
            for document in workspace.documents.list()
            if document.language == "en"
            for chunk in workspace.documents.chunks(document)
            for start, end in sentence_spans(chunk.text)
            if "\n" not in chunk.text[start:end].strip() and end - start > 40
        ]

    def fresh(self, run: int) -> list[dict[str, Any]]:
        """Return answers that no run before had."""
        found = self._sentences
        return [
            {
                "id": f"{run}-{place}",
                "answer": " ".join(
                    f"{found[(place * CLAIMS + claim) % len(found)]}." for claim in range(CLAIMS)
                ),
            }
            for place in range(self._many)
        ]


def main() -> None:
    run_measures(
        "Measures many answers, checked by two worker processes and by one.",
        {"rules": measure_rules, "all": measure_all},
    )


if __name__ == "__main__":
    main()

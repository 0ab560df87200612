"""What became of many answers: each one's ledger in numbers, and all of them added up."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from evidentia.ledger.gate import failures
from evidentia.ledger.model import ClaimType, EvidenceLedger, SourceDocument, Verdict

_WORST: Final = 10
_GOOD: Final = (Verdict.SUPPORTED, Verdict.WEAK)

Document = tuple[str, str]
"""A document's id and its file's name."""
Counts = Counter[Verdict]
ClaimOutcome = tuple[Verdict, ClaimType, Document | None]
"""A claim's verdict, its type, and the document that it rests on."""


def claim_outcomes(ledger: EvidenceLedger) -> tuple[ClaimOutcome, ...]:
    """Return what became of each claim of a ledger."""
    return tuple(
        (entry.verdict, entry.claim_type, _document(entry.source_document))
        for entry in ledger.entries
    )


def _document(source: SourceDocument | None) -> Document | None:
    return None if source is None else (source.id, source.filename)


@dataclass(frozen=True, slots=True)
class Tally:
    """Claims counted by verdict: all, those of each type, and those that rest on each document."""

    by_verdict: Counts = field(default_factory=Counter)
    by_type: dict[ClaimType, Counts] = field(default_factory=dict)
    by_document: dict[Document, Counts] = field(default_factory=dict)

    @classmethod
    def of(cls, claims: Iterable[ClaimOutcome]) -> "Tally":
        """Count claims."""
        tally = cls()
        for verdict, kind, document in claims:
            tally.by_verdict[verdict] += 1
            tally.by_type.setdefault(kind, Counter())[verdict] += 1
            if document is not None:
                tally.by_document.setdefault(document, Counter())[verdict] += 1
        return tally

    @classmethod
    def added(cls, tallies: Iterable["Tally"]) -> "Tally":
        """Add tallies up."""
        total = cls()
        for tally in tallies:
            total.by_verdict.update(tally.by_verdict)
            for kind, counts in tally.by_type.items():
                total.by_type.setdefault(kind, Counter()).update(counts)
            for document, counts in tally.by_document.items():
                total.by_document.setdefault(document, Counter()).update(counts)
        return total

    @property
    def claims(self) -> int:
        """How many claims there are."""
        return self.by_verdict.total()

    @property
    def coverage(self) -> float:
        """The share of claims that are supported or weak; 0 where there are none."""
        covered = sum(self.by_verdict[verdict] for verdict in _GOOD)
        return covered / self.claims if self.claims else 0.0


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """What became of an answer: its ledger, and the trail's entry of it; or why it was not checked.

    `number` is its place among all, in a file its line. `is_earlier` says that it had been checked
    before. Where there is a `problem`, `is_given` says that it is with what was given.
    """

    number: int
    id: str | None = None
    title: str | None = None
    ledger_id: str | None = None
    entry: int | None = None
    is_earlier: bool = False
    tally: Tally = field(default_factory=Tally)
    problem: str | None = None
    is_given: bool = False
    tries: int = 1

    @property
    def name(self) -> str:
        """What a person knows it by: its id, else its number."""
        return self.id if self.id is not None else f"answer {self.number}"

    def failures(
        self, *, fail_on: Collection[Verdict] = (), min_coverage: float | None = None
    ) -> list[str]:
        """Return why it does not pass, as for one answer; what was not checked never passes."""
        if self.problem is not None:
            return [f"it was not checked: {self.problem}"]
        return failures(self.tally.by_verdict, fail_on=fail_on, min_coverage=min_coverage)

    def as_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        known: dict[str, Any] = {"number": self.number, "id": self.id, "title": self.title}
        if self.problem is not None:
            return {**known, "problem": self.problem}
        return {
            **known,
            "ledger_id": self.ledger_id,
            "entry": self.entry,
            "checked_before": self.is_earlier,
            "claims": self.tally.claims,
            "evidence_coverage": self.tally.coverage,
            "by_verdict": _counted(self.tally.by_verdict),
        }


class CheckedAnswers(Sequence[AnswerOutcome]):
    """What became of answers, in the order in which they were given, and all of them in numbers."""

    def __init__(self, outcomes: Iterable[AnswerOutcome], changes: Iterable[Any] = ()) -> None:
        self._outcomes = tuple(sorted(outcomes, key=lambda one: one.number))
        self.file_changes = tuple(changes)
        """The documents that ledgers rest on whose files were gone or changed."""
        self.tally = Tally.added(one.tally for one in self._outcomes)

    def __len__(self) -> int:
        return len(self._outcomes)

    def __iter__(self) -> Iterator[AnswerOutcome]:
        return iter(self._outcomes)

    def __getitem__(self, place: Any) -> Any:
        return self._outcomes[place]

    @property
    def checked(self) -> tuple[AnswerOutcome, ...]:
        """Those that have a ledger."""
        return tuple(one for one in self._outcomes if one.problem is None)

    @property
    def failed(self) -> tuple[AnswerOutcome, ...]:
        """Those that were not checked."""
        return tuple(one for one in self._outcomes if one.problem is not None)

    def worst(self, most: int = _WORST) -> list[AnswerOutcome]:
        """Return those with claims that nothing supports: the most contradicted, least covered."""
        bad = [one for one in self.checked if one.tally.claims and one.tally.coverage < 1]
        return sorted(
            bad,
            key=lambda one: (
                -one.tally.by_verdict[Verdict.CONTRADICTED],
                one.tally.coverage,
                one.number,
            ),
        )[:most]

    def as_json(self) -> dict[str, Any]:
        """Return the summary as a JSON object, with what became of each answer."""
        tally = self.tally
        return {
            "answers": len(self),
            "checked": len(self.checked),
            "checked_before": sum(one.is_earlier for one in self),
            "not_checked": len(self.failed),
            "claims": tally.claims,
            "evidence_coverage": tally.coverage,
            "by_verdict": _counted(tally.by_verdict),
            "by_claim_type": {
                kind.value: _counted(tally.by_type[kind])
                for kind in ClaimType
                if kind in tally.by_type
            },
            "by_document": [
                {"document_id": identity, "filename": filename, "by_verdict": _counted(counts)}
                for (identity, filename), counts in documents(tally)
            ],
            "worst": [one.as_json() for one in self.worst()],
            "outcomes": [one.as_json() for one in self],
            **(
                {"file_changes": [change.as_json() for change in self.file_changes]}
                if self.file_changes
                else {}
            ),
        }


def documents(tally: Tally) -> list[tuple[Document, Counts]]:
    """Return the documents that claims rest on: those that contradict most, then that serve most.

    They come in the same order whatever the order of the answers was.
    """
    return sorted(
        tally.by_document.items(),
        key=lambda one: (-one[1][Verdict.CONTRADICTED], -one[1].total(), one[0][1], one[0][0]),
    )


def _counted(counts: Counts) -> dict[str, int]:
    return {verdict.value: counts[verdict] for verdict in Verdict}

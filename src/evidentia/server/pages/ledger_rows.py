"""The rows of a ledger that a reader wants to see, and the answer that its claims stand in.

Values in, values out: what is filtered, sorted and paged here comes from the ledger as it is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, Literal, NamedTuple

from evidentia.ledger.model import Verdict
from evidentia.ledger.pages import JudgedClaim

ROWS: Final = 50
"""How many claims a page shows."""
Sort = Literal["number", "type", "verdict", "confidence"]
_WORST_FIRST: Final = ("contradicted", "not_found", "not_judged", "weak", "supported")
_SMALL_GAP: Final = 2
"""Letters between two claims that are taken for the space between sentences."""


class Row(NamedTuple):
    """A claim of a ledger with its number, from 1, as it stands in the answer."""

    number: int
    judged: JudgedClaim


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows a reader wants, and in which order."""

    verdict: str | None = None
    type: str | None = None
    importance: str | None = None
    text: str = ""
    sort: Sort = "number"
    falling: bool = False

    @property
    def is_all(self) -> bool:
        """Whether it is every row, in the order of the answer."""
        return self == Wanted()

    def of(self, claims: Iterable[JudgedClaim]) -> list[Row]:
        """Return the rows of a whole ledger that are wanted."""
        rows = [one for one in map(Row, count(1), claims) if self._has(one.judged)]
        if self.sort != "number":
            rows.sort(key=self._key)
        if self.falling:
            rows.reverse()
        return rows

    def _has(self, judged: JudgedClaim) -> bool:
        entry = judged.entry
        if self.verdict is not None and entry.verdict != self.verdict:
            return False
        if self.type is not None and entry.claim_type != self.type:
            return False
        if self.importance is not None and entry.claim_importance != self.importance:
            return False
        if not self.text:
            return True
        source = entry.source_document
        said = (entry.claim_text, entry.evidence_snippet, entry.notes, source and source.filename)
        return all(
            any(word in (one or "").casefold() for one in said)
            for word in self.text.casefold().split()
        )

    def _key(self, row: Row) -> tuple[float | str, int]:
        entry = row.judged.entry
        match self.sort:
            case "type":
                return entry.claim_type.value, row.number
            case "verdict":
                return _WORST_FIRST.index(entry.verdict.value), row.number
            case _:
                return entry.confidence_score, row.number


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an answer: text that is no claim, or what one or more claims are made of."""

    text: str
    numbers: tuple[int, ...] = ()
    verdict: str = ""


def answer_pieces(rows: Sequence[Row], answer: str | None, begin: int, end: int) -> list[Piece]:
    """Return an answer from one place to another, cut at its claims, which are in its order.

    Where the answer itself is not at hand, what stands between claims is left out, and marked.
    """
    pieces: list[Piece] = []
    at = begin
    for row in sorted(rows, key=lambda one: one.judged.claim.start):
        claim, verdict = row.judged.claim, row.judged.entry.verdict.value
        if claim.start < at and pieces and pieces[-1].numbers:
            last = pieces[-1]
            worst = min(last.verdict, verdict, key=_WORST_FIRST.index)
            tail = claim.source_text[max(0, at - claim.start) :] if claim.end > at else ""
            pieces[-1] = Piece(last.text + tail, (*last.numbers, row.number), worst)
        else:
            if claim.start > at:
                pieces.append(Piece(_between(answer, at, claim.start)))
            pieces.append(Piece(claim.source_text, (row.number,), verdict))
        at = max(at, claim.end)
    if answer is not None and end > at:
        pieces.append(Piece(answer[at:end]))
    return pieces


def _between(answer: str | None, at: int, start: int) -> str:
    if answer is not None:
        return answer[at:start]
    return " " if start - at <= _SMALL_GAP else " … "


VERDICTS: Final = tuple(one.value for one in Verdict)

"""Judging: the protocol that judges keep, and how their opinions combine.

Judges are asked in order, the cheap and certain ones first. For each passage the first certain
opinion decides; if none is certain, the last one given does. Passages that each settle a part of a
claim bear it out together if nothing is left over. A judge that fails says so: its failure is a
value, and a claim that no judge was certain about is then `not_judged`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from traceback import format_exception_only
from typing import Final, Protocol

from evidentia.ledger.model import Claim, EvidenceMatch, Passage, SupportLevel

TOGETHER: Final = 0.87
"""The similarity of passages that bear a claim out together, and none of them alone."""
_LONGEST_REASON: Final = 300


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a judge says of a passage; `certain` means that no other judge need be asked.

    `settles` names the parts of the claim that the passage bears out, of as many as `parts` says.
    """

    match: EvidenceMatch
    certain: bool = False
    settles: frozenset[int] = frozenset()
    parts: int = 0


class Judge(Protocol):
    """Says of passages whether they bear a claim out or contradict it.

    Deterministic: the same claim and passage give the same opinion, alone or among others.
    """

    name: str

    def judge(self, claim: Claim, passages: Sequence[Passage]) -> Sequence[Opinion | None]:
        """Return one opinion per passage, or None where the judge has none."""
        ...


@dataclass(frozen=True, slots=True)
class Failure:
    """A judge that could not judge a claim, and why."""

    judge: str
    reason: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What all judges together said of a claim's passages."""

    matches: tuple[EvidenceMatch, ...]
    failures: tuple[Failure, ...] = ()
    certain: bool = False
    passages: int = 0
    judges: tuple[str, ...] = ()


def ask_judges(claim: Claim, passages: Sequence[Passage], judges: Sequence[Judge]) -> Judged:
    """Ask the judges in order; return what bears on the claim, and which judges failed."""
    decided: list[Opinion | None] = [None] * len(passages)
    failures: list[Failure] = []
    for judge in judges:
        open_places = [
            place for place, opinion in enumerate(decided) if opinion is None or not opinion.certain
        ]
        if not open_places:
            break
        try:
            opinions = _opinions(judge, claim, [passages[place] for place in open_places])
        except Exception as error:  # noqa: BLE001 - whatever a judge raises becomes a reason
            failures.append(Failure(judge.name, _reason(error)))
            continue
        for place, opinion in zip(open_places, opinions, strict=True):
            decided[place] = opinion or decided[place]
    bearing = [opinion for opinion in decided if opinion and opinion.match.bears]
    return Judged(
        tuple(_together(bearing)),
        tuple(failures),
        any(opinion.certain for opinion in bearing),
        len(passages),
        tuple(judge.name for judge in judges),
    )


def _opinions(judge: Judge, claim: Claim, passages: Sequence[Passage]) -> Sequence[Opinion | None]:
    opinions = list(judge.judge(claim, passages))
    if len(opinions) != len(passages):
        raise ValueError(f"gave {len(opinions)} opinions on {len(passages)} passages")
    for opinion in opinions:
        if not (opinion is None or isinstance(opinion, Opinion)):
            raise TypeError(f"gave a {type(opinion).__name__} and no opinion")
    return opinions


def _together(opinions: Sequence[Opinion]) -> list[EvidenceMatch]:
    """Return the matches; those that settle all parts between them become full ones."""
    matches = [opinion.match for opinion in opinions]
    alone = any(match.contradicts or match.support_level is SupportLevel.FULL for match in matches)
    settled = frozenset[int]().union(*(opinion.settles for opinion in opinions))
    parts = max((opinion.parts for opinion in opinions), default=0)
    if alone or not settled or len(settled) < parts:
        return matches
    return [_as_full(opinion.match) if opinion.settles else opinion.match for opinion in opinions]


def _as_full(match: EvidenceMatch) -> EvidenceMatch:
    return match.model_copy(
        update={
            "similarity": TOGETHER,
            "support_level": SupportLevel.FULL,
            "reason": f"{match.reason}; other passages bear out the rest",
        }
    )


def _reason(error: Exception) -> str:
    """Return what was raised, on one line; an exception that cannot be printed says so."""
    text = "".join(format_exception_only(error)).encode(errors="replace").decode()
    return " ".join(text.split())[:_LONGEST_REASON]

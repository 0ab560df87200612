"""Voting: second opinions on claims. Who is asked for one, when, and whose verdict counts.

The judges that are asked passage by passage are one voter: what they say together is the first
opinion. Each judge that reads whole claims (`LaterJudge`) is a voter of its own, asked after them,
in the given order. A policy says when it is asked and who decides; every vote is recorded. A voter
that fails says so, and its claim is `not_judged` unless one before it was certain or one after it
answers.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, runtime_checkable

from evidentia.ledger.judging import Failure, Judge, Judged, Opinion, failure_reason
from evidentia.ledger.model import Claim, Passage, Verdict, VerdictAssignment
from evidentia.ledger.votes import Decides, JudgingPolicy, Vote

_FAVOURABLE: Final = (
    Verdict.SUPPORTED,
    Verdict.WEAK,
    Verdict.NOT_FOUND,
    Verdict.CONTRADICTED,
    Verdict.NOT_JUDGED,
)
"""The verdicts, from the one that says most for a claim on."""


@dataclass(frozen=True, slots=True)
class Question:
    """A claim, and the passages that may bear on it, best first."""

    claim: Claim
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a later judge says of a claim: opinions on passages, or why it could not judge.

    The rest is for the record: what it said of the claim as a whole, and where that is kept.
    """

    opinions: tuple[Opinion, ...] = ()
    failure: str = ""
    reason: str = ""
    quote: str = ""
    runs: tuple[str, ...] = ()
    remembered: bool = False


@runtime_checkable
class LaterJudge(Judge, Protocol):
    """A judge that reads whole claims, several at once, and votes after the others."""

    def judge_all(self, questions: Sequence[Question]) -> Iterable[Answer]:
        """Give one answer to each question, in their order; a passage is one of those given."""
        ...


@dataclass(frozen=True, slots=True)
class Ballot:
    """What a voter found, and the verdict that follows from it."""

    judges: tuple[str, ...]
    judged: Judged
    given: VerdictAssignment
    answer: Answer = field(default_factory=Answer)

    @property
    def is_spoken(self) -> bool:
        """Whether the voter could judge."""
        return self.given.verdict is not Verdict.NOT_JUDGED

    def is_sure(self, policy: JudgingPolicy) -> bool:
        """Whether there is no doubt that would have another judge asked."""
        verdict, support = self.given.verdict, self.judged.support
        match verdict:
            case Verdict.WEAK | Verdict.NOT_JUDGED:
                return False
            case Verdict.NOT_FOUND:
                return support is not None and support < policy.doubt_from
            case _ if self.judged.certain:
                return True
            case Verdict.CONTRADICTED:
                return support is not None and support < policy.doubt_from
            case _:
                return support is not None and support > policy.doubt_to


Assign = Callable[[Claim, Judged], VerdictAssignment]
FindPassages = Callable[[Claim], Sequence[Passage]]


def ask_later(
    judge: LaterJudge,
    asked: Sequence[Claim],
    passages: FindPassages,
    assign: Assign,
    done: Callable[[], None],
) -> list[Ballot]:
    """Ask a later judge about claims; whatever it raises is its failure on what is left."""
    questions = [Question(claim, tuple(passages(claim))) for claim in asked]
    given = {passage for question in questions for passage in question.passages}
    found: list[Ballot] = []
    try:
        for question, answer in zip(questions, judge.judge_all(questions), strict=True):
            found.append(_ballot(judge, question, _checked(answer, given), assign))
            done()
    except Exception as error:  # noqa: BLE001 - whatever a judge raises becomes a reason
        failed = Answer(failure=failure_reason(error))
        for question in questions[len(found) :]:
            found.append(_ballot(judge, question, failed, assign))
            done()
    return found


def decide(ballots: Sequence[Ballot], policy: JudgingPolicy) -> Judged:
    """Return what the voters found together: what the deciding one did, and who was asked."""
    spoken = [ballot for ballot in ballots if ballot.is_spoken]
    chosen = _chosen(spoken, policy.decides) if spoken else ballots[-1]
    since = ballots[ballots.index(spoken[-1]) :] if spoken else ballots
    models: dict[str, str] = {}
    for ballot in ballots:
        models |= ballot.judged.models
    return replace(
        chosen.judged,
        failures=tuple(failure for ballot in since for failure in ballot.judged.failures),
        passages=max(ballot.judged.passages for ballot in ballots),
        judges=tuple(name for ballot in ballots for name in ballot.judges),
        models=models,
    )


def votes(
    claim: Claim, ballots: Sequence[Ballot], policy: JudgingPolicy, final: Verdict
) -> list[Vote]:
    """Return the ballots as they are recorded; none decides where the claim was not judged."""
    spoken = [ballot for ballot in ballots if ballot.is_spoken]
    chosen = None
    if spoken and final is not Verdict.NOT_JUDGED:
        chosen = _chosen(spoken, policy.decides)
    return [
        Vote(
            claim_id=claim.id,
            judges=ballot.judges,
            verdict=ballot.given.verdict,
            confidence=ballot.given.confidence,
            decides=ballot is chosen,
            reason=_said(ballot),
            quote=ballot.answer.quote,
            runs=ballot.answer.runs,
            remembered=ballot.answer.remembered,
        )
        for ballot in ballots
    ]


def disagreement(found: Sequence[Vote]) -> str:
    """Say which voters think otherwise than the one that decides; nothing if none does."""
    deciding = [vote.verdict for vote in found if vote.decides]
    others = [
        f"{' and '.join(vote.judges)} would say {vote.verdict.value}"
        for vote in found
        if deciding and vote.verdict not in (*deciding, Verdict.NOT_JUDGED)
    ]
    return f"Not all judges agree: {'; '.join(others)}." if others else ""


def _said(ballot: Ballot) -> str:
    if failures := ballot.judged.failures:
        return "; ".join(f"{failure.judge}: {failure.reason}" for failure in failures)
    if ballot.answer.reason:
        return ballot.answer.reason
    return ballot.judged.matches[0].reason if ballot.judged.matches else ""


def _ballot(judge: LaterJudge, question: Question, answer: Answer, assign: Assign) -> Ballot:
    judged = _judged(judge, question, answer)
    return Ballot((judge.name,), judged, assign(question.claim, judged), answer)


def _checked(answer: Answer, given: Collection[Passage]) -> Answer:
    """Return an answer that is about passages that were given; raise `ValueError` for another."""
    for match in (opinion.match for opinion in answer.opinions):
        passage = match.passage
        if passage is None or passage not in given or match.snippet not in passage.snippet:
            raise ValueError("quoted what is not in the passages")
    return answer


def _judged(judge: LaterJudge, question: Question, answer: Answer) -> Judged:
    named = {"judge": judge.name}
    matches = [opinion.match.model_copy(update=named) for opinion in answer.opinions]
    failures = (Failure(judge.name, answer.failure),) if answer.failure else ()
    digest = str(getattr(judge, "digest", ""))
    return Judged(
        tuple(match for match in matches if match.bears),
        failures,
        certain=False,
        passages=len(question.passages),
        judges=(judge.name,),
        support=_support(answer.opinions),
        models=_models(judge.name, digest, answer),
    )


def _models(name: str, digest: str, answer: Answer) -> Mapping[str, str]:
    return {name: digest} if digest and not answer.failure else {}


def _support(opinions: Sequence[Opinion]) -> float | None:
    """Return how likely the claim is supported: a contradiction goes before all else."""
    told = [opinion for opinion in opinions if opinion.support is not None]
    against = [one.support or 0.0 for one in told if one.match.contradicts]
    return min(against) if against else max((one.support or 0.0 for one in told), default=None)


def _chosen(spoken: Sequence[Ballot], decides: Decides) -> Ballot:
    if decides == "last":
        return spoken[-1]
    counts = Counter(ballot.given.verdict for ballot in spoken)
    most = max(counts.values()) if decides == "majority" else 0
    verdict = max(
        (verdict for verdict, count in counts.items() if count >= most), key=_FAVOURABLE.index
    )
    agreeing = [ballot for ballot in spoken if ballot.given.verdict is verdict]
    return max(agreeing, key=lambda ballot: ballot.given.confidence)

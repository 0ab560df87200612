"""Voting: judges that read whole claims are asked where a policy says so, and their votes kept."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pytest
from pydantic import ValidationError

from evidentia.errors import EnvironmentProblem
from evidentia.ledger.checking import Checked, check_with_votes
from evidentia.ledger.claims import extract_claims
from evidentia.ledger.judging import Judge, Opinion
from evidentia.ledger.model import Claim, EvidenceMatch, Passage, SupportLevel, Verdict
from evidentia.ledger.votes import JudgingPolicy, Vote
from evidentia.ledger.voting import Answer, LaterJudge, Question
from ledger.corpora import anchors, check_context, leave_corpus, make_corpus
from ledger.stubs import StubJudge, broken, fixed

CLAIM = "Employees get 15 days of annual leave."
OTHER = "Unused annual leave is carried over."
TWO = f"{CLAIM}\n\n{OTHER}\n"
Says = Callable[[Question], Answer]


class Later:
    """A judge that votes after the others, and remembers what it was asked."""

    digest = "ab" * 32

    def __init__(self, says: Says, name: str = "later") -> None:
        self.name = name
        self.says = says
        self.asked: list[str] = []

    def judge(self, claim: Claim, passages: Sequence[Passage]) -> Sequence[Opinion | None]:
        raise NotImplementedError

    def judge_all(self, questions: Sequence[Question]) -> Iterable[Answer]:
        for question in questions:
            self.asked.append(question.claim.text)
            yield self.says(question)


def opinion(
    passage: Passage,
    level: SupportLevel,
    sure: float,
    *,
    against: bool = False,
    support: float | None = None,
) -> Opinion:
    match = EvidenceMatch(
        similarity=sure,
        support_level=level,
        contradicts=against,
        snippet=passage.snippet,
        passage=passage,
        reason="it says so",
    )
    return Opinion(match, support=support)


def supports(sure: float = 0.95) -> Says:
    return lambda question: Answer(
        (opinion(question.passages[0], SupportLevel.FULL, sure, support=sure),),
        reason="it stands there",
        quote="15 days",
        runs=("run-1",),
    )


def in_part(sure: float = 0.9) -> Says:
    return lambda question: Answer(
        (opinion(question.passages[0], SupportLevel.PARTIAL, sure, support=0.5),)
    )


def denies(sure: float = 0.9) -> Says:
    return lambda question: Answer(
        (
            opinion(question.passages[0], SupportLevel.NONE, sure, support=0.3),
            opinion(question.passages[0], SupportLevel.NONE, sure, against=True, support=1 - sure),
        )
    )


def finds_nothing(support: float | None = 0.05) -> Says:
    return lambda question: Answer(
        (opinion(question.passages[0], SupportLevel.NONE, 0.9, support=support),)
    )


def fails(_: Question) -> Answer:
    return Answer(failure="no answer in 60 seconds", runs=("run-2",))


def checked(
    answer: str,
    *judges: Judge,
    policy: JudgingPolicy | None = None,
    progress: list[int] | None = None,
) -> Checked:
    context = replace(
        check_context(anchors(leave_corpus())),
        policy=policy or JudgingPolicy(),
        progress=(progress if progress is not None else []).append,
    )
    return check_with_votes(answer, extract_claims(answer), leave_corpus(), judges, context)


def votes(found: Checked) -> Sequence[Vote]:
    assert found.judging is not None
    return found.judging.votes


def first(says: Says, *, certain: bool = False) -> StubJudge:
    """Return a judge of the first panel that says what a later judge would."""

    def of(claim: Claim, passages: Sequence[Passage]) -> Sequence[Opinion | None]:
        given = says(Question(claim, tuple(passages))).opinions
        known = {one.match.passage: replace(one, certain=certain) for one in given}
        return [known.get(passage) for passage in passages]

    return StubJudge("first", of)


def verdicts(found: Checked) -> list[str]:
    return [entry.verdict.value for entry in found.ledger.entries]


def test_without_a_judge_that_votes_there_is_nothing_to_record() -> None:
    assert checked(CLAIM, fixed("a", {})).judging is None
    assert checked(CLAIM).judging is None


def test_a_judge_that_votes_is_recognised_by_what_it_can_do() -> None:
    assert isinstance(Later(supports()), LaterJudge)
    assert not isinstance(fixed("a", {}), LaterJudge)


def test_a_later_judge_alone_decides() -> None:
    found = checked(CLAIM, Later(supports()))
    assert verdicts(found) == ["supported"]
    (vote,) = votes(found)
    assert (vote.judges, vote.verdict, vote.decides) == (["later"], Verdict.SUPPORTED, True)
    assert (vote.reason, vote.quote, vote.runs) == ("it stands there", "15 days", ["run-1"])
    (entry,) = found.ledger.entries
    assert entry.judge == "later"
    assert entry.models == {"later": "ab" * 32}
    assert entry.support_probability == 0.95


@pytest.mark.parametrize(
    ("says", "certain", "is_asked"),
    [
        (supports(0.86), False, False),
        (supports(0.5), True, True),
        (supports(0.95), True, False),
        (in_part(), False, True),
        (denies(0.9), False, False),
        (denies(0.8), False, True),
        (denies(0.8), True, False),
        (finds_nothing(0.05), False, False),
        (finds_nothing(0.2), False, True),
        (finds_nothing(None), False, True),
    ],
)
def test_a_second_opinion_is_asked_for_where_the_first_is_in_doubt(
    says: Says, *, certain: bool, is_asked: bool
) -> None:
    later = Later(supports())
    found = checked(CLAIM, first(says, certain=certain), later)
    assert bool(later.asked) is is_asked
    assert len(votes(found)) == 1 + is_asked


def test_a_support_that_nobody_gives_a_probability_of_is_in_doubt() -> None:
    later = Later(supports())
    unknown: Says = lambda question: Answer(  # noqa: E731 - as the others
        (opinion(question.passages[0], SupportLevel.FULL, 0.9),)
    )
    checked(CLAIM, first(unknown), later)
    assert later.asked == ["Employees get 15 days of annual leave"]


def test_it_can_be_asked_always() -> None:
    later = Later(in_part())
    found = checked(
        CLAIM, first(supports(0.99), certain=True), later, policy=JudgingPolicy(asked="always")
    )
    assert later.asked
    assert verdicts(found) == ["weak"]
    (entry,) = found.ledger.entries
    assert entry.notes.endswith("Not all judges agree: first would say supported.")


def test_a_third_is_asked_only_where_the_second_is_in_doubt_too() -> None:
    second, third = Later(supports(0.9), "second"), Later(supports(), "third")
    checked(CLAIM, first(in_part()), second, third)
    assert (len(second.asked), len(third.asked)) == (1, 0)
    second, third = Later(in_part(), "second"), Later(supports(), "third")
    found = checked(CLAIM, first(in_part()), second, third)
    assert len(third.asked) == 1
    assert [vote.decides for vote in votes(found)] == [False, False, True]


@pytest.mark.parametrize(
    ("decides", "verdict", "by"),
    [("last", "supported", "c"), ("cautious", "contradicted", "b"), ("majority", "supported", "c")],
)
def test_who_decides_is_the_policys(decides: str, verdict: str, by: str) -> None:
    policy = JudgingPolicy.model_validate({"asked": "always", "decides": decides})
    judges = Later(supports(0.9), "a"), Later(denies(), "b"), Later(supports(0.95), "c")
    found = checked(CLAIM, *judges, policy=policy)
    assert verdicts(found) == [verdict]
    assert [vote.judges for vote in votes(found) if vote.decides] == [[by]]
    assert found.ledger.entries[0].models == dict.fromkeys("abc", "ab" * 32)
    assert found.judging is not None
    assert found.judging.policy == policy


def test_of_a_tie_the_most_cautious_decides() -> None:
    policy = JudgingPolicy(asked="always", decides="majority")
    found = checked(CLAIM, Later(supports(), "a"), Later(finds_nothing(), "b"), policy=policy)
    assert verdicts(found) == ["not_found"]


def test_a_later_judge_that_fails_leaves_its_claim_not_judged() -> None:
    found = checked(CLAIM, first(in_part()), Later(fails))
    assert verdicts(found) == ["not_judged"]
    (entry,) = found.ledger.entries
    assert "Not judged by the later judge: no answer in 60 seconds." in entry.notes
    assert entry.models == {}
    assert [vote.decides for vote in votes(found)] == [False, False]
    assert votes(found)[1].reason == "later: no answer in 60 seconds"
    assert votes(found)[1].runs == ["run-2"]


def test_what_was_certain_before_stands_though_the_later_one_fails() -> None:
    found = checked(
        CLAIM, first(supports(), certain=True), Later(fails), policy=JudgingPolicy(asked="always")
    )
    assert verdicts(found) == ["supported"]
    assert "Decided without the later judge" in found.ledger.entries[0].notes


def test_a_later_answer_stands_in_for_a_failure_before_it() -> None:
    found = checked(CLAIM, broken(), Later(supports()))
    assert verdicts(found) == ["supported"]
    assert [vote.verdict.value for vote in votes(found)] == ["not_judged", "supported"]
    assert "no model at hand" in votes(found)[0].reason


def test_whatever_it_raises_is_its_failure_on_the_claims_that_are_left() -> None:
    def says(question: Question) -> Answer:
        if "Unused" in question.claim.text:
            raise EnvironmentProblem("the wire is cut")
        return supports()(question)

    found = checked(TWO, Later(says))
    assert verdicts(found) == ["supported", "not_judged"]
    assert votes(found)[1].reason == "later: the wire is cut"


def test_too_few_answers_are_a_failure() -> None:
    class Short(Later):
        def judge_all(self, questions: Sequence[Question]) -> Iterable[Answer]:
            return [self.says(questions[0])]

    found = checked(TWO, Short(supports()))
    assert verdicts(found) == ["supported", "not_judged"]


def test_an_answer_about_a_passage_that_was_not_given_is_a_failure() -> None:
    def says(question: Question) -> Answer:
        passage = question.passages[0].model_copy(update={"snippet": "All are rich."})
        return Answer((opinion(passage, SupportLevel.FULL, 0.99),))

    found = checked(CLAIM, Later(says))
    assert verdicts(found) == ["not_judged"]
    assert "quoted what is not in the passages" in found.ledger.entries[0].notes


def test_without_passages_nothing_is_found() -> None:
    found = check_with_votes(
        CLAIM,
        extract_claims(CLAIM),
        make_corpus({"a.txt": ["Whales sing."]}),
        [Later(lambda _: Answer())],
        check_context(anchors(leave_corpus())),
    )
    assert verdicts(found) == ["not_found"]
    assert votes(found)[0].reason == ""


def test_progress_counts_each_claim_once() -> None:
    told: list[int] = []
    checked(TWO, first(in_part()), Later(in_part(), "a"), Later(fails, "b"), progress=told)
    assert told == [1, 2]
    told.clear()
    checked(TWO, first(supports(), certain=True), Later(supports()), progress=told)
    assert told == [1, 2]


def test_a_range_of_doubt_has_its_ends_in_order() -> None:
    with pytest.raises(ValidationError, match="doubt_from must not be more than doubt_to"):
        JudgingPolicy(doubt_from=0.9, doubt_to=0.2)

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from evidentia.ledger.judging import DOUBT, TOGETHER, Opinion, ask_judges
from evidentia.ledger.model import (
    Claim,
    Comparison,
    EvidenceMatch,
    Passage,
    SourceDocument,
    SupportLevel,
)
from ledger.stubs import StubJudge, broken, fixed

CLAIM = Claim(id="clm_1", text="Leave is paid")


def passage(name: str) -> Passage:
    source = SourceDocument(id=f"doc_{name}", filename=f"{name}.pdf")
    return Passage(
        chunk_id=name, chunk_hash=name, snippet=name, start=0, end=len(name), source=source
    )


def opinion(
    judge: str,
    where: Passage,
    level: SupportLevel = SupportLevel.PARTIAL,
    *,
    certain: bool = False,
    contradicts: bool = False,
    settles: frozenset[int] = frozenset(),
    parts: int = 0,
) -> Opinion:
    found = EvidenceMatch(
        similarity=0.7,
        support_level=level,
        contradicts=contradicts,
        snippet=where.snippet,
        passage=where,
        judge=judge,
        reason="because",
    )
    return Opinion(found, certain, settles, parts)


A, B, C = passage("a"), passage("b"), passage("c")


def test_a_certain_opinion_ends_the_asking_about_its_passage() -> None:
    first = fixed("first", {"a": opinion("first", A, SupportLevel.FULL, certain=True)})
    second = fixed("second", {"b": opinion("second", B)})
    judged = ask_judges(CLAIM, [A, B], [first, second])
    assert (first.asked, second.asked) == (["a", "b"], ["b"])
    assert [match.judge for match in judged.matches] == ["first", "second"]
    assert judged.certain
    assert judged.judges == ("first", "second")
    assert judged.passages == 2


def test_what_is_said_of_others_bears_out_in_part_and_contradicts_nothing_said_of_you() -> None:
    of_manager = passage("The manager must reply.")
    of_landlord = passage("The landlord must reply.")
    said: dict[str, Opinion | None] = {
        of_manager.snippet: opinion("first", of_manager, SupportLevel.FULL, certain=True),
        of_landlord.snippet: opinion("first", of_landlord, certain=True, contradicts=True),
    }
    claim = Claim(id="clm_1", text="You must reply")
    (match,) = ask_judges(claim, [of_manager, of_landlord], [fixed("first", said)]).matches
    assert match.support_level is SupportLevel.PARTIAL
    assert match.reason == 'because, but of "manager", who may not be "you"'


def test_you_is_asked_about_as_those_whom_a_passage_names() -> None:
    heard: list[tuple[str, list[str]]] = []

    def says(claim: Claim, passages: Sequence[Passage]) -> list[Opinion | None]:
        heard.append((claim.text, [found.snippet for found in passages]))
        return [None for _ in passages]

    found = [passage("Employees must reply."), A, passage("Staff must reply.")]
    ask_judges(Claim(id="clm_1", text="You must reply"), found, [StubJudge("first", says)])
    assert heard == [
        ("Employees must reply", ["Employees must reply."]),
        ("You must reply", ["a"]),
        ("Staff must reply", ["Staff must reply."]),
    ]


def test_of_uncertain_opinions_the_last_counts_and_none_is_no_opinion() -> None:
    first = fixed("first", {"a": opinion("first", A), "b": opinion("first", B)})
    second = fixed("second", {"a": opinion("second", A)})
    judged = ask_judges(CLAIM, [A, B], [first, second])
    assert [match.judge for match in judged.matches] == ["second", "first"]
    assert not judged.certain


def test_a_judge_that_finds_nothing_and_doubts_it_takes_nothing_away() -> None:
    first = fixed("first", {"a": opinion("first", A)})
    nothing = opinion("second", A, SupportLevel.NONE)
    low, high = DOUBT
    for support, left in ((low, ["first"]), (low - 0.01, []), (high, []), (None, [])):
        second = fixed("second", {"a": replace(nothing, support=support)})
        judged = ask_judges(CLAIM, [A], [first, second])
        assert [match.judge for match in judged.matches] == left
        assert judged.support == support


def test_by_which_passages_a_claim_is_surely_borne_out_is_told() -> None:
    opinions: dict[str, Opinion | None] = {
        "a": opinion("first", A, SupportLevel.FULL, certain=True),
        "b": opinion("first", B, SupportLevel.FULL),
        "c": opinion("first", C, certain=True),
    }
    assert ask_judges(CLAIM, [A, B, C], [fixed("first", opinions)]).sure == (A,)


def test_nobody_is_asked_when_all_is_certain_or_there_is_nothing_to_ask_about() -> None:
    first = fixed("first", {"a": opinion("first", A, SupportLevel.FULL, certain=True)})
    judged = ask_judges(CLAIM, [A], [first, broken(ValueError("never asked"))])
    assert judged.failures == ()
    assert ask_judges(CLAIM, [], [broken(ValueError("never asked"))]).failures == ()


def test_what_does_not_bear_on_the_claim_is_no_match() -> None:
    judge = fixed("first", {"a": opinion("first", A, SupportLevel.NONE)})
    assert ask_judges(CLAIM, [A], [judge]).matches == ()


class Unprintable(Exception):  # noqa: N818 - its name is part of what is tested
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("no model\nat hand"), "ValueError: no model at hand"),
        (RuntimeError("\ud800"), "RuntimeError: ?"),
        (KeyError("x"), "KeyError: 'x'"),
    ],
)
def test_whatever_a_judge_raises_becomes_a_reason_on_one_line(
    error: Exception, reason: str
) -> None:
    judged = ask_judges(CLAIM, [A], [broken(error)])
    assert [(failure.judge, failure.reason) for failure in judged.failures] == [("broken", reason)]
    assert judged.matches == ()


def test_an_exception_that_cannot_be_printed_is_a_reason_too() -> None:
    (failure,) = ask_judges(CLAIM, [A], [broken(Unprintable())]).failures
    assert "Unprintable" in failure.reason
    (long,) = ask_judges(CLAIM, [A], [broken(ValueError("x" * 10_000))]).failures
    assert len(long.reason) == 300


def test_a_judge_that_breaks_its_protocol_has_failed() -> None:
    def silent(claim: Claim, passages: Sequence[Passage]) -> list[Opinion | None]:
        return []

    def wrong(claim: Claim, passages: Sequence[Passage]) -> list[Any]:
        return ["supported"]

    judges = [StubJudge("silent", silent), StubJudge("wrong", wrong)]
    assert [failure.reason for failure in ask_judges(CLAIM, [A], judges).failures] == [
        "ValueError: gave 0 opinions on 1 passages",
        "TypeError: gave a str and no opinion",
    ]


def test_the_others_go_on_after_a_failure() -> None:
    second = fixed("second", {"a": opinion("second", A)})
    judged = ask_judges(CLAIM, [A], [broken(ValueError("x")), second])
    assert len(judged.matches) == len(judged.failures) == 1


def parts(where: Passage, *settled: int) -> Opinion:
    return opinion("numbers", where, settles=frozenset(settled), parts=2)


def test_passages_that_settle_all_parts_between_them_bear_the_claim_out_together() -> None:
    judge = fixed("numbers", {"a": parts(A, 0), "b": parts(B, 1), "c": opinion("numbers", C)})
    first, second, third = ask_judges(CLAIM, [A, B, C], [judge]).matches
    assert first.support_level is second.support_level is SupportLevel.FULL
    assert first.similarity == second.similarity == TOGETHER
    assert first.reason == "because; other passages support the rest"
    assert third.support_level is SupportLevel.PARTIAL


@pytest.mark.parametrize(
    "opinions",
    [
        {"a": parts(A, 0), "b": parts(B, 0)},
        {"a": parts(A, 0), "b": opinion("numbers", B, SupportLevel.NONE, contradicts=True)},
        {"a": opinion("numbers", A), "b": opinion("numbers", B)},
    ],
)
def test_parts_that_are_not_all_settled_stay_parts(opinions: dict[str, Opinion | None]) -> None:
    judged = ask_judges(CLAIM, [A, B], [fixed("numbers", opinions)])
    assert all(match.support_level is not SupportLevel.FULL for match in judged.matches)


def test_parts_stay_parts_beside_a_passage_that_bears_all_of_it_out() -> None:
    opinions = {"a": parts(A, 0), "b": parts(B, 1), "c": opinion("q", C, SupportLevel.FULL)}
    levels = [
        match.support_level
        for match in ask_judges(CLAIM, [A, B, C], [fixed("q", dict(opinions))]).matches
    ]
    assert levels == [SupportLevel.PARTIAL, SupportLevel.PARTIAL, SupportLevel.FULL]


def test_the_digest_of_a_model_is_told_with_the_name_of_its_judge() -> None:
    class Model(StubJudge):
        digest = "ab12"

    asked = Model("model", lambda _claim, passages: [None] * len(passages))
    assert ask_judges(CLAIM, [A], [asked, fixed("rule", {})]).models == {"model": "ab12"}


def support(*opinions: Opinion) -> float | None:
    given: dict[str, Opinion | None] = {one.match.snippet: one for one in opinions}
    return ask_judges(CLAIM, [A, B, C], [fixed("any", given)]).support


def test_how_likely_a_claim_is_borne_out_follows_from_what_is_certain_and_then_from_models() -> (
    None
):
    likely = replace(opinion("any", A), support=0.6)
    sure = opinion("any", B, SupportLevel.FULL, certain=True)
    against = opinion("any", C, SupportLevel.NONE, certain=True, contradicts=True)
    assert support(opinion("any", A)) is None
    assert support(likely, opinion("any", B)) == 0.6
    assert support(likely, sure) == 0.7
    assert support(likely, sure, against) == pytest.approx(0.3)


def test_a_contradiction_that_counts_makes_support_unlikely() -> None:
    against = opinion("any", A, SupportLevel.NONE, contradicts=True)
    assert support(replace(against, support=0.2), replace(opinion("any", B), support=0.2)) == 0.2
    assert support(replace(against, support=0.6)) == pytest.approx(0.3)
    assert support(against) is None


def test_what_passages_support_together_is_as_likely_as_they_are_similar() -> None:
    halves = [
        replace(opinion("any", where, settles=frozenset([number]), parts=2), support=0.4)
        for number, where in enumerate((A, B))
    ]
    assert support(*halves) == TOGETHER
    assert support(halves[0]) == 0.4


def test_a_judge_that_reads_around_passages_is_given_what_stands_there() -> None:
    class Wide(StubJudge):
        def judge_within(
            self, claim: Claim, passages: Sequence[Passage], around: Sequence[str]
        ) -> list[Opinion | None]:
            assert claim == CLAIM
            return [
                opinion("wide", one) if "more" in text else None
                for one, text in zip(passages, around, strict=True)
            ]

    wide = Wide("wide", lambda _claim, _passages: [])
    judged = ask_judges(CLAIM, [A, B], [wide], lambda one: f"more of {one.snippet}")
    assert [match.snippet for match in judged.matches] == ["a", "b"]
    assert ask_judges(CLAIM, [A, B], [wide]).matches == ()


@pytest.mark.parametrize(("certain", "bearing"), [(True, ["a", "b"]), (False, ["a"])])
def test_what_is_certain_is_not_contradicted_by_what_is_not(
    certain: bool,  # noqa: FBT001 - one of the two cases
    bearing: list[str],
) -> None:
    sure = opinion("any", A, SupportLevel.FULL, certain=True)
    against = opinion("any", B, SupportLevel.NONE, certain=certain, contradicts=True)
    judged = ask_judges(CLAIM, [A, B], [fixed("any", {"a": sure, "b": against})])
    assert [match.snippet for match in judged.matches] == bearing


@pytest.mark.parametrize(("said", "places"), [("20 days", [(8, 15)]), ("Employees", [])])
def test_what_was_compared_has_the_places_of_the_claim_as_it_was_written(
    said: str, places: list[tuple[int, int]]
) -> None:
    claim = Claim(id="clm_1", text="You get 20 days of leave.")
    where = passage("Employees get 15 days of leave.")

    def says(read: Claim, _: Sequence[Passage]) -> list[Opinion]:
        at = read.text.index(said)
        one = Comparison(kind="number", conflict=True, claim_start=at, claim_end=at + len(said))
        found = opinion("any", where)
        return [replace(found, match=found.match.model_copy(update={"compared": (one,)}))]

    (match,) = ask_judges(claim, [where], [StubJudge("any", says)]).matches
    assert [(one.claim_start, one.claim_end) for one in match.compared] == places

"""What the judge makes of the model's scores; the scores are given here, so that they are known."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import log

import numpy as np
import pytest

from evidentia.errors import InputError
from evidentia.judges.nli import judge as judging
from evidentia.judges.nli.combining import Combination, Floats, Formula, Sum
from evidentia.judges.nli.judge import CONTRADICTS, PLAINLY, NliJudge
from evidentia.judges.nli.reading import GATHERED_WORDS, PARTS
from evidentia.ledger.judging import Opinion, ask_judges
from evidentia.ledger.model import Claim, EvidenceMatch, Passage, SupportLevel
from evidentia.ledger.verdicts import LIKELY, SUPPORTED_ABOVE
from judges.asking import passage_of
from trained import needs_model

Chances = tuple[float, float, float, float]
YES: Chances = (0.97, 0.01, 0.01, 0.01)
NO: Chances = (0.01, 0.97, 0.01, 0.01)
OPEN: Chances = (0.01, 0.01, 0.97, 0.01)
PART: Chances = (0.2, 0.01, 0.01, 0.78)
MAYBE: Chances = (0.42, 0.08, 0.49, 0.01)
PLAIN_ONE = Formula(
    supported=Sum(0.0, {"support together": 1.0}),
    contradicted=Sum(0.0, {"contradiction together": 1.0}),
    weak=Sum(0.0, {"part together": 1.0}),
    not_found=Sum(0.0, {"nothing together": 1.0}),
)
PLAIN = Combination(PLAIN_ONE, PLAIN_ONE)
"""What the model says of all together, as it is."""

FEE, DUE, DOGS = "The fee is 5 euros.", "It is due in May.", "Dogs are not allowed."
FEE_RULE, DUE_RULE = "A fee of 5 euros is charged.", "Payment is due in May."
TWENTY = "Employees get 20 days of annual leave."
FIFTEEN = "Since 2019 all employees get 15 days of annual leave per year."


class KnownModel:
    """A model that says of evidence and claim what a test says, and remembers what was asked."""

    def __init__(self, says: Callable[[str, str], Chances]) -> None:
        self.says = says
        self.asked: list[tuple[str, str]] = []

    def scores(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        self.asked += pairs
        return np.array([[log(chance) for chance in self.says(*pair)] for pair in pairs])


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Callable[..., KnownModel]:
    """Give a way to have the judge ask a model of the test's own, by the test's own formulas."""

    def give(says: Mapping[tuple[str, str], Chances], formulas: Combination = PLAIN) -> KnownModel:
        known = KnownModel(lambda evidence, part: says.get((evidence, part), OPEN))
        monkeypatch.setattr(judging, "pair_model", lambda: known)
        monkeypatch.setattr(judging, "combination", lambda: formulas)
        monkeypatch.setattr(judging, "model_digest", lambda: "of no model")
        return known

    return give


Given = Callable[..., KnownModel]


def passages_of(*said: str) -> list[Passage]:
    return [passage_of(text, number) for number, text in enumerate(said)]


def opinions(claim: str, *said: str) -> list[Opinion]:
    found = NliJudge().judge(Claim(id="c", text=claim), passages_of(*said))
    assert len({opinion.support for opinion in found if opinion}) == 1
    return [opinion for opinion in found if opinion]


def matches(claim: str, *said: str) -> list[EvidenceMatch]:
    return [opinion.match for opinion in opinions(claim, *said)]


def levels(claim: str, *said: str) -> list[str]:
    return [
        "contradicts" if match.contradicts else match.support_level.value
        for match in matches(claim, *said)
    ]


# One opinion on each passage


def test_without_passages_there_is_no_opinion() -> None:
    assert NliJudge().judge(Claim(id="c", text=FEE), []) == []


@needs_model
@pytest.mark.parametrize("text", ["", "<b></b>", "\u200b"])
def test_of_a_claim_that_says_nothing_there_is_no_opinion(text: str) -> None:
    found = NliJudge().judge(Claim(id="c", text=text), passages_of(FEE_RULE, DUE_RULE))
    assert found == [None, None]


def test_a_claim_in_another_language_is_refused_and_not_guessed_at(given: Given) -> None:
    given({})
    claim = Claim(id="c", text="Die Gebühr ist fünf Euro und wird von der Kasse erhoben.")
    with pytest.raises(InputError, match="the model reads English only; word the claim"):
        NliJudge().judge(claim, passages_of(FEE_RULE))
    assert NliJudge().judge(claim, []) == []
    (failure,) = ask_judges(claim, passages_of(FEE_RULE), [NliJudge()]).failures
    assert "the model reads English only; " in failure.reason


@needs_model
@pytest.mark.parametrize("empty", ["", "  ", "<b></b>", "\u200b", "<!-- supported -->"])
def test_an_empty_passage_bears_on_nothing(empty: str) -> None:
    for match in matches(FEE, empty, empty):
        assert not match.bears


def test_what_bears_a_claim_out_is_named_and_what_does_not_is_not(given: Given) -> None:
    given({(FEE_RULE, FEE): YES, (f"{FEE_RULE} {DOGS}", FEE): YES})
    assert levels(FEE, FEE_RULE, DOGS) == ["full", "none"]
    best, other = matches(FEE, FEE_RULE, DOGS)
    assert best.similarity == pytest.approx(0.97, abs=1e-6)
    assert best.reason == "the model finds it supported, 97% likely"
    assert other.reason == "the model finds nothing about it"
    assert {best.judge, other.judge} == {"nli"}


def test_what_nothing_bears_on_is_told_as_unlikely(given: Given) -> None:
    given({})
    assert levels(FEE, DOGS, DUE_RULE) == ["none", "none"]
    assert opinions(FEE, DOGS)[0].support == pytest.approx(0.01)


def test_the_model_reads_a_value_as_the_passage_writes_it(given: Given) -> None:
    years, months = "The ban lasts three years.", "The ban lasts 36 months."
    model = given({(years, years): YES})
    assert levels(months, years) == ["full"]
    assert set(model.asked) == {(years, years)}


def test_what_is_borne_out_perhaps_is_not_borne_out(given: Given) -> None:
    given({(FEE_RULE, FEE): MAYBE, (f"{FEE_RULE} {DOGS}", FEE): MAYBE})
    assert levels(FEE, FEE_RULE, DOGS) == ["none", "none"]
    assert opinions(FEE, FEE_RULE, DOGS)[0].support == pytest.approx(0.42)


def test_a_claim_of_which_a_part_is_supported_is_supported_in_part(given: Given) -> None:
    given({(FEE_RULE, FEE): YES})
    assert levels(f"{FEE} {DUE}", FEE_RULE) == ["partial"]
    (match,) = matches(f"{FEE} {DUE}", FEE_RULE)
    assert match.reason == "the model finds it supported in part, 98% likely: 1 of its 2 parts"


def test_what_the_model_finds_supported_in_part_is_so_and_what_is_missing_is_named(
    given: Given,
) -> None:
    said = "The fee is charged every year."
    given({(said, FEE): PART})
    (opinion,) = opinions(FEE, said)
    assert opinion.match.support_level is SupportLevel.PARTIAL
    assert opinion.match.reason.startswith("the model finds it supported in part, 98% likely: ")
    assert opinion.support == pytest.approx(0.2)


def test_where_the_model_is_in_doubt_nothing_is_said(given: Given) -> None:
    given({(FEE_RULE, FEE): (0.3, 0.45, 0.15, 0.1)})
    assert levels(FEE, FEE_RULE) == ["none"]


def test_the_same_pair_is_asked_once(given: Given) -> None:
    known = given({})
    opinions(FEE, DOGS, DOGS)
    assert sorted(known.asked) == [(DOGS, FEE), (f"{DOGS} {DOGS}", FEE)]
    known.asked.clear()
    opinions(FEE, DOGS)
    assert known.asked == [(DOGS, FEE)]


# Several parts


def test_the_weakest_part_decides(given: Given) -> None:
    both = f"{FEE_RULE} {DOGS}"
    says = {(FEE_RULE, FEE): YES, (both, FEE): YES}
    given(says)
    assert levels(f"{FEE} {DUE}", FEE_RULE, DOGS) == ["partial", "none"]
    assert opinions(f"{FEE} {DUE}", FEE_RULE, DOGS)[0].support == pytest.approx(0.01)
    given({**says, (FEE_RULE, DUE): MAYBE, (both, DUE): MAYBE})
    assert opinions(f"{FEE} {DUE}", FEE_RULE, DOGS)[0].support == pytest.approx(0.42)


def test_parts_may_be_borne_out_in_different_places(given: Given) -> None:
    both = f"{FEE_RULE} {DUE_RULE}"
    given(dict.fromkeys([(FEE_RULE, FEE), (both, FEE), (DUE_RULE, DUE), (both, DUE)], YES))
    assert levels(f"{FEE} {DUE}", FEE_RULE, DUE_RULE) == ["full", "full"]
    for match in matches(f"{FEE} {DUE}", FEE_RULE, DUE_RULE):
        assert match.reason == "the model finds it supported, 97% likely, each of its 2 parts"


def test_a_part_that_is_contradicted_contradicts_the_claim(given: Given) -> None:
    other = "Payment is due in June."
    both = f"{FEE_RULE} {other}"
    given({(FEE_RULE, FEE): YES, (both, FEE): YES, (other, DUE): NO, (both, DUE): NO})
    assert levels(f"{FEE} {DUE}", FEE_RULE, other) == ["none", "contradicts"]


def test_a_text_of_many_parts_is_no_claim(given: Given) -> None:
    given({})
    most = " ".join(f"Rule {number} holds." for number in range(PARTS))
    assert levels(most, DOGS) == ["none"]
    claim = Claim(id="c", text=f"{most} One more holds.")
    with pytest.raises(InputError, match=r"the claim has 13 parts, 12 at most: it is a text"):
        NliJudge().judge(claim, passages_of(DOGS))
    (failure,) = ask_judges(claim, passages_of(DOGS), [NliJudge()]).failures
    assert "13 parts" in failure.reason


# Together


def test_passages_may_bear_a_claim_out_together(given: Given) -> None:
    both = {(f"{FEE_RULE} {DUE_RULE}", FEE): YES}
    given(both | {(FEE_RULE, FEE): MAYBE, (DUE_RULE, FEE): (0.3, 0.1, 0.5, 0.1)})
    assert levels(FEE, FEE_RULE, DUE_RULE) == ["full", "partial"]
    for match in matches(FEE, FEE_RULE, DUE_RULE):
        assert match.reason.startswith("the model finds it supported by several passages, ")


def test_a_passage_that_hints_at_nothing_is_not_named_with_others(given: Given) -> None:
    given({(f"{FEE_RULE} {DUE_RULE}", FEE): YES, (FEE_RULE, FEE): MAYBE})
    assert levels(FEE, FEE_RULE, DUE_RULE) == ["full", "none"]
    assert matches(FEE, FEE_RULE, DUE_RULE)[0].reason.startswith("the model finds it supported, ")


def test_a_passage_too_long_to_be_read_with_others_can_support_a_claim(given: Given) -> None:
    long = " ".join(["A fee of 5 euros is charged"] * GATHERED_WORDS)
    given({(long, FEE): YES})
    assert levels(FEE, long) == ["full"]
    (match,) = matches(FEE, long)
    assert match.reason.startswith("the model finds it supported, ")


def test_evidence_that_is_read_in_pieces_is_weighed_by_what_all_of_it_lacks(given: Given) -> None:
    lacking = Sum(0.0, {"support alone": 1.0, "figures nowhere": -9.0})
    strict = replace(PLAIN, pieces=replace(PLAIN_ONE, supported=lacking))
    long = " ".join(["A fee is charged"] * GATHERED_WORDS)
    given({(FEE_RULE, FEE): YES, (long, FEE): YES, (DUE_RULE, FEE): YES}, strict)
    assert levels(FEE, FEE_RULE, long) == ["full", "full"]
    assert {match.similarity for match in matches(FEE, FEE_RULE, long)} == {SUPPORTED_ABOVE}
    assert levels(FEE, DUE_RULE, long) == ["none", "none"]
    assert levels(FEE, DUE_RULE) == ["full"]


def test_the_best_passage_is_read_with_what_stands_around_it(given: Given) -> None:
    text = f"{DOGS} {FEE_RULE}"
    model = given({(text, FEE): YES})
    (passage,) = passages_of(FEE_RULE)
    claim = Claim(id="c", text=FEE)
    (opinion,) = NliJudge().judge_within(claim, [passage], [text])
    assert opinion is not None
    assert opinion.match.support_level is SupportLevel.FULL
    assert model.asked == [(FEE_RULE, FEE), (text, FEE)]
    (judged,) = ask_judges(claim, [passage], [NliJudge()], lambda _: text).matches
    assert judged == opinion.match


# Contradictions


def test_the_passage_that_conflicts_most_contradicts(given: Given) -> None:
    other = "A fee of 9 euros is charged."
    given({(other, FEE): NO, (DOGS, FEE): (0.01, 0.3, 0.68, 0.01), (f"{DOGS} {other}", FEE): NO})
    assert levels(FEE, DOGS, other) == ["none", "contradicts"]
    match = matches(FEE, DOGS, other)[1]
    assert match.support_level is SupportLevel.NONE
    assert match.similarity >= CONTRADICTS > LIKELY
    assert match.reason.startswith("the model finds a contradiction, 97% likely: ")
    support = opinions(FEE, DOGS, other)[0].support
    assert support is not None
    assert support <= 1 - match.similarity


def test_nothing_is_contradicted_that_is_borne_out(given: Given) -> None:
    both = f"{FEE_RULE} {DOGS}"
    given({(FEE_RULE, FEE): YES, (both, FEE): YES, (DOGS, FEE): NO})
    assert levels(FEE, FEE_RULE, DOGS) == ["full", "none"]


def test_a_contradiction_must_be_surer_than_support(given: Given) -> None:
    both, other = f"{DOGS} {DUE_RULE}", (0.01, 0.1, 0.88, 0.01)
    plain, rather = (0.01, PLAINLY + 0.02, 0.16, 0.01), (0.01, PLAINLY - 0.02, 0.2, 0.01)
    for alone, together, said in (
        (plain, (0.01, CONTRADICTS + 0.02, 0.26, 0.01), "contradicts"),
        (plain, (0.01, CONTRADICTS - 0.02, 0.3, 0.01), "none"),
        (rather, (0.01, 0.97, 0.01, 0.01), "none"),
    ):
        given({(DOGS, FEE): alone, (DUE_RULE, FEE): other, (both, FEE): together})
        assert levels(FEE, DOGS, DUE_RULE) == [said, "none"]


def test_the_reason_of_a_contradiction_is_of_the_passage_that_contradicts(given: Given) -> None:
    denial = "Nobody is ever given time off."
    rather: Chances = (0.01, 0.6, 0.38, 0.01)
    both = {(f"{FIFTEEN} {denial}", TWENTY): NO}
    given({(denial, TWENTY): NO, (FIFTEEN, TWENTY): rather, **both})
    assert levels(TWENTY, FIFTEEN, denial) == ["none", "contradicts"]
    assert matches(TWENTY, FIFTEEN, denial)[1].reason.endswith(f'it conflicts with "{TWENTY}"')
    given({(denial, TWENTY): rather, (FIFTEEN, TWENTY): NO, **both})
    assert matches(TWENTY, FIFTEEN, denial)[0].reason.endswith(
        'the claim says "20 days" where the passage says "15 days"'
    )


# What was compared


def slices(claim: str, match: EvidenceMatch) -> list[tuple[bool, str, str | None]]:
    return [
        (
            one.conflict,
            claim[one.claim_start : one.claim_end],
            None if one.start is None else match.snippet[one.start : one.end],
        )
        for one in match.compared
    ]


def test_what_was_compared_is_pointed_to_in_claim_and_passage(given: Given) -> None:
    given({(FIFTEEN, TWENTY): NO})
    (match,) = matches(TWENTY, FIFTEEN)
    assert slices(TWENTY, match) == [(True, "20 days", "15 days")]


def test_a_claim_about_you_is_pointed_to_where_it_says_so(given: Given) -> None:
    claim = Claim(id="c", text="You get 20 days of annual leave.")
    given({(FIFTEEN, "Employees get 20 days of annual leave."): NO})
    (match,) = ask_judges(claim, passages_of(FIFTEEN), [NliJudge()]).matches
    assert slices(claim.text, match) == [(True, "20 days", "15 days")]


def test_a_later_part_is_pointed_to_where_it_stands(given: Given) -> None:
    claim = f"Members vote by post. {TWENTY}"
    given({(FIFTEEN, TWENTY): NO})
    (match,) = matches(claim, FIFTEEN)
    assert slices(claim, match) == [(True, "20 days", "15 days")]


def test_one_passage_is_compared_with_every_part_it_bears_out(given: Given) -> None:
    first, second = "The fee is 5 euros.", "The fine is 7 euros."
    said = "The fee is 5 euros and the fine is 7 euros."
    given({(said, first): YES, (said, second): YES})
    claim = f"{first} {second}"
    (match,) = matches(claim, said)
    told = " ".join(one[1] for one in slices(claim, match) if not one[0])
    assert "5" in told
    assert "7" in told


def test_nothing_is_pointed_to_within_markup(given: Given) -> None:
    said = "The fee is 9 euros."
    given({(said, "The fee is 5 euros."): NO})
    (match,) = matches("The **fee** is 5 euros.", said)
    assert match.contradicts
    assert match.compared == []


def test_a_value_that_no_passage_has_is_pointed_to_in_the_claim_alone(given: Given) -> None:
    claim, said = "The fee is 5 euros. It is due in May.", "The fee is charged every year."
    given({(said, "The fee is 5 euros."): YES})
    (match,) = matches(claim, said)
    assert match.support_level is SupportLevel.PARTIAL
    for conflict, claimed, found in slices(claim, match):
        assert (found is None) or not conflict
        assert claimed

"""Who does what to whom: exchanged parties are found, and another order of words is none."""

import pytest

import tiers
from evidentia.judges.checks import Check, CheckKind, typed_checks
from judges.nli.swaps import SWAPS

LEASE = "The tenant pays the landlord a deposit of EUR 2,400 before moving in."


def roles(claim: str, said: str) -> list[Check]:
    return [check for check in typed_checks(claim, said) if check.kind is CheckKind.ROLE]


@pytest.mark.parametrize(
    ("claim", "said", "first", "second"),
    [
        ("The landlord pays the tenant a deposit.", LEASE, "pays", "pays"),
        (
            "Stenfield beat Corvane United.",
            "Corvane United beat Stenfield 3-1 on Saturday.",
            "beat",
            "beat",
        ),
        (
            "Leo Marsh was replaced by Dani Okafor.",
            "Striker Dani Okafor scored twice before he was replaced by Leo Marsh.",
            "replaced",
            "replaced",
        ),
        (
            "The team receives a card from guests.",
            "Guests who stay receive a card from the team.",
            "receives",
            "receive",
        ),
        (
            "The dog will nudge Rex.",
            "It rained. Rex will also nudge the dog.",
            "nudge",
            "nudge",
        ),
        (
            "The clerk was then accused by the judge.",
            "The judge was accused by the clerk.",
            "accused",
            "accused",
        ),
    ],
)
def test_parties_on_the_other_side_of_a_verb_are_exchanged(
    claim: str, said: str, first: str, second: str
) -> None:
    (check,) = roles(claim, said)
    assert check.conflict
    assert check.evidence is not None
    assert claim[slice(*check.claim)] == first
    assert said[slice(*check.evidence)] == second


def test_the_reason_names_the_verb() -> None:
    (check,) = roles("The landlord pays the tenant a deposit.", LEASE)
    assert check.reason == 'the two sides of "pays" are exchanged in the passage'


def test_a_sentence_is_reported_once() -> None:
    said = "The count praised the duke. The count praised the duke."
    assert len(roles("The duke praised the count. It rained.", said)) == 1


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("Milk has the refined taste of sugar.", "Sugar gives the refined taste of milk."),
        ("Milk is good for iced tea.", "Tea is good for iced milk."),
        ("Leeds and United Mills of York merged.", "York and United Mills of Leeds merged."),
        ("The river suits flat-bottomed boats.", "Boats that are flat-bottomed suit the river."),
        ("The shop has apples, pears and plums.", "The shop has plums, pears and apples."),
        ("Ann has apples, peeled pears, plums.", "Ann has plums, peeled pears, apples."),
        ("The court has a heavy door.", "A heavy door has the court."),
        ("Paris is the capital of France.", "The capital of France is Paris."),
        (
            "The mob has openly been hunted for the court.",
            "The court has openly hunted the mob.",
        ),
        ("Praised was the count.", "Praised the count was."),
    ],
)
def test_a_word_that_is_no_verb_has_no_sides(claim: str, said: str) -> None:
    assert not roles(claim, said)


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("The duke hired the count.", "The count was hired the day the duke came."),
        ("The duke hired the count.", "The count was quickly hired the day the duke came."),
        ("The duke paid the count a fee.", "The count saw a fee paid him by the duke."),
        ("The film delighted Bob Lane.", "Bob Lane delighted in the film."),
        ("The clerk wrote the letter.", "The letter that the clerk wrote was long."),
    ],
)
def test_another_voice_or_preposition_is_no_exchange(claim: str, said: str) -> None:
    assert not roles(claim, said)


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("Mira Holt married Leo Marsh.", "Leo Marsh married Mira Holt."),
        ("The duke traded horses with the count.", "The count traded horses with the duke."),
        ("The mill needed oil more than the barn.", "The barn needed oil more than the mill."),
        ("The count followed the duke.", "The duke followed the count."),
    ],
)
def test_what_holds_both_ways_or_is_compared_elsewhere_is_left_alone(claim: str, said: str) -> None:
    assert not roles(claim, said)


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("In May the fee doubled in Paris.", "In Paris the fee doubled in May."),
        (
            "In Norway the firm hired the guards last year.",
            "The guards the firm hired last year in Norway were glad.",
        ),
        (
            "On the coast the firm hired the guards last year.",
            "The guards the firm hired last year along the coast were glad.",
        ),
        ("Monday the count hired the guards.", "The guards the count hired Monday were glad."),
        ("Gladly the count hired the guards.", "The guards the count hired gladly were two."),
    ],
)
def test_a_phrase_that_has_moved_is_no_party(claim: str, said: str) -> None:
    assert not roles(claim, said)


@tiers.one_test
@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (
            "The duke praised the count in the long winter of Vienna.",
            "The count praised the duke.",
        ),
        ("The duke praised the count.", "The count praised old songs from long winters of duke."),
        ("The duke did not praise the count.", "The count did praise the duke."),
        ("The duke praised the count.", "The count never praised the duke."),
        ("The duke praised the count.", "The count praised the duke, whom all praised."),
        ("The duke praised the count, whom all praised.", "The count praised the duke."),
        ("The duke praised the count.", "The count praised the duke. The duke praised the count."),
        ("The duke praised the count for the duke.", "The duke and the count praised the duke."),
        ("The duke praised the count.", "The count and his duke praised the duke."),
        ("The duke noticed the count.", "The count noticed that the duke left."),
        ("The duke noticed that the count left.", "The count noticed the duke left."),
        ("The duke praised the count.", "The count praised everyone: the duke slept."),
        ("The king praised the count.", "The count praised the duke."),
    ],
)
def test_what_is_told_of_something_else_or_denied_is_no_exchange(claim: str, said: str) -> None:
    assert not roles(claim, said)


def test_no_control_written_by_hand_is_taken_for_an_exchange() -> None:
    controls = [swap for swap in SWAPS if swap.label == "supported"]
    assert not [swap for swap in controls if roles(swap.claim, swap.evidence)]

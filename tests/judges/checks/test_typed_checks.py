"""Where a claim and a passage agree or disagree, one kind after the other."""

import pytest

from evidentia.judges.checks import Check, CheckKind, typed_checks


def of_kind(kind: CheckKind, claim: str, said: str) -> list[Check]:
    return [check for check in typed_checks(claim, said) if check.kind is kind]


def compared(kind: CheckKind, claim: str, said: str) -> list[tuple[bool, str, str | None]]:
    """Return what was compared, as the texts of the two spans."""
    return [
        (
            check.conflict,
            claim[slice(*check.claim)],
            said[slice(*check.evidence)] if check.evidence else None,
        )
        for check in of_kind(kind, claim, said)
    ]


LEAVE = "Each employee gets 15 days of paid leave in a calendar year."


@pytest.mark.parametrize(
    ("claim", "said", "first", "second"),
    [
        ("Each employee gets 15 days of paid leave.", LEAVE, "15 days", "15 days"),
        (
            "The plant made 1.5 million lamps.",
            "It made 1,500,000 lamps.",
            "1.5 million",
            "1,500,000",
        ),
        ("About 40 percent of users agreed.", "39.6 % of users agreed.", "40 percent", "39.6 %"),
        ("More than 40 guests came.", "The 52 guests came.", "40", "52"),
        ("The crew has twelve sailors.", "The crew of 12 sailors left.", "twelve", "12"),
    ],
)
def test_a_value_that_occurs_agrees(claim: str, said: str, first: str, second: str) -> None:
    assert compared(CheckKind.NUMBER, claim, said) == [(False, first, second)]


@pytest.mark.parametrize(
    ("claim", "said", "first", "second"),
    [
        ("Each employee gets 20 days of paid leave.", LEAVE, "20 days", "15 days"),
        ("The bridge has 7 arches.", "The bridge has 9 arches.", "7", "9"),
        (
            "The old tower is 90 metres high.",
            "The tower is 70 metres high.",
            "90 metres",
            "70 metres",
        ),
        ("The choir sang 30 songs.", "The choir sang in the rain.", "30", None),
        ("The fee rose by 3 percent.", "The fee rose with prices.", "3 percent", None),
        ("The trip takes 30 lamps.", "We bought 20 chairs for a trip.", "30", None),
    ],
)
def test_another_value_of_the_same_thing_differs_and_one_that_is_nowhere_is_absent(
    claim: str, said: str, first: str, second: str | None
) -> None:
    assert compared(CheckKind.NUMBER, claim, said) == [(True, first, second)]


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (
            "Each employee gets 20 days of paid leave.",
            "Each employee gets at least 15 days of paid leave.",
        ),
        (
            "Thirty - four crews took part.",
            "Thirty-four crews took part, and five crews left.",
        ),
        ("The lake holds 40 boats.", "The lake holds 39.7 boats."),
        ("The firm flies the Boeing 747 to Rome.", "The firm flies to Rome."),
        ("Section 4.2 covers Windows 10 and COVID-19.", "It covers the B2B trade."),
        ("The show won two prizes.", "The show won a prize twice."),
        ("The show won 3 prizes.", "The third show won prizes."),
        ("The pot holds 5 litres of milk.", "The pot holds 5 of milk."),
    ],
)
def test_what_is_open_rounded_or_a_name_is_not_reported(claim: str, said: str) -> None:
    assert not of_kind(CheckKind.NUMBER, claim, said)
    assert not of_kind(CheckKind.UNIT, claim, said)


@pytest.mark.parametrize(
    ("claim", "said", "first", "second"),
    [
        (
            "Staff get 5 weeks of paid leave.",
            "Staff get 5 days of paid leave.",
            "5 weeks",
            "5 days",
        ),
        (
            "Staff get 5 months of paid leave.",
            "Staff get 5 days of paid leave.",
            "5 months",
            "5 days",
        ),
        (
            "A ticket costs five euros today.",
            "A ticket costs five dollars today.",
            "five euros",
            "five dollars",
        ),
    ],
)
def test_the_same_number_of_another_unit_differs(
    claim: str, said: str, first: str, second: str
) -> None:
    assert compared(CheckKind.UNIT, claim, said) == [(True, first, second)]


@pytest.mark.parametrize(
    ("claim", "said", "first", "second"),
    [
        ("It opened in March 2010.", "It opened on 5 March 2010.", "March 2010", "5 March 2010"),
        ("It opened in the 1980s.", "It opened in 1987.", "1980s", "1987"),
        ("It opened in the '80s.", "It opened in 1987.", "'80s", "1987"),
        ("It opened in the 19th century.", "It opened in 1850.", "19th century", "1850"),
        ("It opened in the nineteenth century.", "It opened in the 1850s.", None, None),
        (
            "It opened in the tenth century.",
            "It opened in the 10th century.",
            "tenth century",
            "10th century",
        ),
        ("It opened before 1990.", "It opened in 1987.", "1990", "1987"),
        ("It opened after 1980.", "It opened in 1987.", "1980", "1987"),
        (
            "It opened on 17 March 2004.",
            "It opened on March 17 , 2004 .",
            "17 March 2004",
            "March 17 , 2004",
        ),
        ("It opens on 17 March.", "It opens on March 17.", "17 March", "March 17"),
        ("It is a 2007 musical film.", "The musical film came in 2007.", "2007", "2007"),
    ],
)
def test_a_date_whose_parts_are_all_told_agrees(
    claim: str, said: str, first: str | None, second: str | None
) -> None:
    wanted = [(False, first, second)] if first else []
    assert compared(CheckKind.DATE, claim, said) == wanted


@pytest.mark.parametrize(
    ("claim", "said", "first", "second"),
    [
        (
            "The mill opened in 1994 near Leeds.",
            "The mill opened in 1987 near Leeds.",
            "1994",
            "1987",
        ),
        ("The mill opened on 5 May.", "The mill opened on 6 June.", "5 May", "6 June"),
        ("The mill opened in 1994.", "The mill opened near Leeds.", "1994", None),
        ("The mill opened in 1994 near Leeds.", "The mill opened in 1987 with joy.", "1994", None),
    ],
)
def test_another_date_in_its_place_differs(
    claim: str, said: str, first: str, second: str | None
) -> None:
    assert compared(CheckKind.DATE, claim, said) == [(True, first, second)]


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("The mill opened on 5 March 2010.", "The mill opened in 2010."),
        ("The mill was the 1994 winner.", "The mill won the prize of 1994-95."),
    ],
)
def test_a_date_that_the_passage_leaves_open_is_not_reported(claim: str, said: str) -> None:
    assert not [check for check in of_kind(CheckKind.DATE, claim, said) if check.conflict]


@pytest.mark.parametrize(
    ("claim", "said", "first", "second"),
    [
        (
            "The council did not approve the plan.",
            "The council approve the plan.",
            "not approve",
            "approve",
        ),
        (
            "The council approved the plan.",
            "The council never approved the plan.",
            "approved",
            "never approved",
        ),
        (
            "The team won the final match.",
            "The team failed to win the final match. It won nothing.",
            None,
            None,
        ),
        ("The pump works without power.", "The pump works on power.", "without power", "power"),
        (
            "The guard opened the gate.",
            "The guard refused to opened the gate.",
            "opened",
            "refused to opened",
        ),
        (
            "The bank no longer lends money to farms.",
            "The bank lends money to farms.",
            "no longer lends",
            "lends",
        ),
    ],
)
def test_what_only_one_of_the_two_denies_is_a_conflict(
    claim: str, said: str, first: str | None, second: str | None
) -> None:
    wanted = [(True, first, second)] if first else []
    assert compared(CheckKind.NEGATION, claim, said) == wanted


def test_what_both_deny_agrees() -> None:
    claim, said = "The council did not approve the plan.", "The council never approved the plan."
    assert compared(CheckKind.NEGATION, claim, said) == [(False, "not approve", "never approved")]


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("The film was released in Spain.", "The film was not released in Spain until May."),
        ("The film was released in Spain.", "The film was not only released in Spain."),
        ("The film was released in Spain.", "No, the film was released in Spain."),
        ("No. The film was released in Spain.", "The film was released in Spain."),
        ("The film was released in Spain.", "Not. The film was released in Spain."),
        (
            "The film was released in Spain.",
            "The film was released in Spain, or not really only very.",
        ),
        (
            "The film was not released in Spain.",
            "The club never released a film in Spain or Malta.",
        ),
        (
            "The film was not released in Spain but in Malta.",
            "The film was released in Spain, in Malta.",
        ),
        ("The film was not released in Spain.", "The film released in Spain was not long."),
        ("The film released in Spain was not short.", "The film was not released in Spain."),
    ],
)
def test_a_denial_of_a_part_or_of_something_else_is_no_conflict(claim: str, said: str) -> None:
    found = of_kind(CheckKind.NEGATION, claim, said)
    assert not [check for check in found if check.conflict]


@pytest.mark.parametrize(
    ("claim", "said", "first", "second"),
    [
        (
            "The court accepted the appeal.",
            "The court rejected the appeal.",
            "accepted",
            "rejected",
        ),
        ("A woman sold the red house.", "A man sold the red house.", "woman", "man"),
        ("The northern gate is locked.", "The southern gate is locked.", "northern", "southern"),
        (
            "The shop is privately owned by staff.",
            "The shop is publicly owned by staff.",
            "privately",
            "publicly",
        ),
    ],
)
def test_an_opposite_in_the_same_place_is_a_conflict(
    claim: str, said: str, first: str, second: str
) -> None:
    assert compared(CheckKind.ANTONYM, claim, said) == [(True, first, second)]


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("The court accepted the appeal.", "The court accepted one appeal and rejected another."),
        ("The court accepted the appeal.", "The court has not rejected the appeal."),
        ("The court accepted the appeal.", "The mayor rejected a gift."),
        ("The court accepted the appeal and rejected the fine.", "The court rejected the appeal."),
    ],
)
def test_an_opposite_elsewhere_or_denied_is_none(claim: str, said: str) -> None:
    assert not of_kind(CheckKind.ANTONYM, claim, said)


@pytest.mark.parametrize(
    ("claim", "said", "first", "second"),
    [
        (
            "The tower is older than the church.",
            "The tower is younger than the church.",
            "older",
            "younger",
        ),
        (
            "The tower is older than the church.",
            "The church is older than the tower.",
            "older",
            "older",
        ),
        (
            "Prices increased in the city.",
            "Prices decreased in the city.",
            "increased",
            "decreased",
        ),
    ],
)
def test_a_comparison_the_other_way_round_is_a_conflict(
    claim: str, said: str, first: str, second: str
) -> None:
    assert compared(CheckKind.COMPARATIVE, claim, said) == [(True, first, second)]


@pytest.mark.parametrize(
    ("claim", "said", "first", "second"),
    [
        (
            "The tower is older than the church.",
            "The church is younger than the tower.",
            "older",
            "younger",
        ),
        (
            "The tower is older than the church.",
            "The tower is far older than the church.",
            "older",
            "older",
        ),
    ],
)
def test_a_comparison_that_comes_to_the_same_agrees(
    claim: str, said: str, first: str, second: str
) -> None:
    assert compared(CheckKind.COMPARATIVE, claim, said) == [(False, first, second)]


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("The tower is older than the church.", "The tower is not older than the church."),
        ("The tower is not older than the church.", "The tower is older than the church."),
        ("The tower is older than the church.", "The mill is younger than the barn."),
        ("The tower is older than the church.", "The tower and the church are older."),
    ],
)
def test_a_comparison_that_is_denied_or_of_other_things_is_left_alone(
    claim: str, said: str
) -> None:
    assert not of_kind(CheckKind.COMPARATIVE, claim, said)


BANDS = "The 5 GHz band is faster than the 2.4 GHz band but has a shorter range."
TRIAL = "Side effects were more common in the treatment group than in the placebo group."


@pytest.mark.parametrize(
    ("claim", "said", "conflict"),
    [
        ("The 2.4 GHz band is faster than the 5 GHz band.", BANDS, True),
        ("The 2.4 GHz band is slower than the 5 GHz band.", BANDS, False),
        ("The 5 GHz band has a longer range than the 2.4 GHz band.", BANDS, True),
        (
            "Side effects were more common in the placebo group than in the treatment group.",
            TRIAL,
            True,
        ),
        (
            "Side effects were less common in the placebo group than in the treatment group.",
            TRIAL,
            False,
        ),
        (
            "Side effects were less common in the treatment group than in the placebo group.",
            TRIAL,
            True,
        ),
        (
            "The town of Brask is older than the village of Orvane.",
            "The village of Orvane has 1,150 inhabitants and is older than the town of Brask.",
            True,
        ),
        (
            "The old engine is heavier than the new one.",
            "The new engine is quieter and lighter than the old one.",
            False,
        ),
    ],
)
def test_what_is_compared_are_the_words_on_one_side_of_than_only(
    claim: str, said: str, *, conflict: bool
) -> None:
    found = of_kind(CheckKind.COMPARATIVE, claim, said)
    assert [check.conflict for check in found] == [conflict]


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (
            "The turnout was lower than in Malta but higher than in Spain.",
            "The turnout was higher than in Spain.",
        ),
        ("Faster than light flew the ship.", "The crew went faster than light. The ship flew."),
        ("The tower is older.", "The tower is older than"),
        (
            "The mill fell. The tower is older than the church.",
            "The church is older than the mill.",
        ),
        (
            "Beside Malta firms the mills had to be more than twice as productive.",
            "The mills had to be more productive than firms in Malta.",
        ),
        (
            "Beside Malta firms the mills had to be more than 2 times as productive.",
            "The mills had to be more productive than firms in Malta.",
        ),
    ],
)
def test_a_bound_or_another_comparison_is_not_what_is_compared(claim: str, said: str) -> None:
    found = of_kind(CheckKind.COMPARATIVE, claim, said)
    assert not [check for check in found if check.conflict]


SALE = "The director Yusuf Rahimi sold the film rights to Lantern Pictures."


@pytest.mark.parametrize(
    ("claim", "said", "conflict"),
    [
        ("Lantern Pictures bought the film rights from Yusuf Rahimi.", SALE, False),
        ("Lantern Pictures bought the film rights.", SALE, False),
        ("Yusuf Rahimi bought the film rights from Lantern Pictures.", SALE, True),
        ("The director bought the film rights.", SALE, True),
        ("Yusuf bought the film rights.", "Yusuf sold the film rights to Yusuf fans.", True),
        ("The court accepted the big appeal.", "Judges rejected the big appeal at court.", True),
        ("Dana bought the big film rights.", "Yusuf sold the big film rights.", True),
        (
            "Stenfield lost the cup final to Corvane.",
            "Corvane won the cup final against Stenfield.",
            False,
        ),
        (
            "The Brask tower is younger than the Orvane tower.",
            "The Orvane tower is older than the Brask tower.",
            False,
        ),
        ("The red gate is closed.", "Open is the red gate.", False),
        ("The court accepted the appeal.", "An appeal was rejected: the court.", False),
    ],
)
def test_a_converse_conflicts_only_of_the_same_party(
    claim: str, said: str, *, conflict: bool
) -> None:
    assert bool(of_kind(CheckKind.ANTONYM, claim, said)) == conflict


@pytest.mark.parametrize(
    ("claim", "said", "conflict"),
    [
        ("All employees get a laptop.", "Some employees get a laptop.", True),
        ("No employees get a laptop.", "Most employees get a laptop.", True),
        ("Some employees get a laptop.", "All employees get a laptop.", False),
        ("All employees get a laptop.", "All employees and some guests get a laptop.", False),
        ("The heater always starts at dawn.", "The heater sometimes starts at dawn.", True),
        ("The heater often starts at dawn.", "The heater always starts at dawn.", False),
        ("Boxes hold at least 5 lamps.", "Boxes hold at most 5 lamps.", True),
        ("Only members vote on the budget.", "Members vote on the budget.", True),
        ("Only members vote on the budget.", "Only the members vote on the budget.", False),
    ],
)
def test_a_quantifier_conflicts_where_the_claim_says_more(
    claim: str, said: str, *, conflict: bool
) -> None:
    found = of_kind(CheckKind.QUANTIFIER, claim, said)
    assert [check.conflict for check in found] == [conflict]


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("All employees get a laptop.", "Some guests get a laptop."),
        ("A few employees get a laptop.", "All employees get a laptop."),
        ("They saw it all. Guests get a laptop.", "Some guests get a laptop."),
        ("He knows them all by the", "Some by the"),
        ("Boxes hold at least 5 lamps.", "Boxes hold at least 5 lamps or at most 9 lamps."),
        ("Only members vote on the budget.", "Members dance in the hall."),
        ("They came only. Then it", "They came."),
    ],
)
def test_a_quantifier_of_something_else_is_left_alone(claim: str, said: str) -> None:
    assert not of_kind(CheckKind.QUANTIFIER, claim, said)


@pytest.mark.parametrize(
    ("claim", "said", "conflict"),
    [
        ("Visitors must sign the book.", "Visitors may sign the book.", True),
        ("Visitors may sign the book.", "Visitors must sign the book.", False),
        ("Visitors may smoke indoors.", "Visitors cannot smoke indoors.", True),
        ("Visitors are required to sign the book.", "Visitors should sign the book.", True),
        ("Visitors may not smoke indoors.", "Visitors must not smoke indoors.", True),
        ("Visitors must not smoke indoors.", "Visitors may not smoke indoors.", False),
        ("The drug causes severe headaches.", "The drug may cause severe headaches.", True),
    ],
)
def test_a_modal_conflicts_where_the_claim_says_more(
    claim: str, said: str, *, conflict: bool
) -> None:
    found = of_kind(CheckKind.MODALITY, claim, said)
    assert [check.conflict for check in found] == [conflict]


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("The shop opened in May near Leeds.", "The shop opened in May near Leeds."),
        ("The permitted load is small.", "The permitted load must be small."),
        ("The drug never causes headaches.", "The drug may cause headaches."),
        ("The drug causes headaches.", "The drug causes headaches and may cause fever."),
        ("The drug causes headaches.", "The drug may not cause headaches."),
        ("The drug causes severe headaches.", "A storm may cause floods."),
        ("The drug cures.", "All the drugs must."),
    ],
)
def test_what_is_no_modal_or_of_another_verb_is_left_alone(claim: str, said: str) -> None:
    assert not of_kind(CheckKind.MODALITY, claim, said)


def test_checks_are_given_with_a_reason_for_a_reader() -> None:
    (check,) = typed_checks("Each employee gets 20 days of paid leave.", f"Rules. {LEAVE}")[:1]
    assert check.reason == 'the claim says "20 days" where the passage says "15 days"'

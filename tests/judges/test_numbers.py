import pytest

from evidentia.judges.numbers import BY_HEADING, NEGATED, SAME_THING
from evidentia.ledger.model import SupportLevel, Verdict
from judges.asking import judged, verdict

SUPPORTED, WEAK, CONTRADICTED, NOT_FOUND = (
    Verdict.SUPPORTED,
    Verdict.WEAK,
    Verdict.CONTRADICTED,
    Verdict.NOT_FOUND,
)
RULE = "All permanent employees shall receive 15 days of paid annual leave per calendar year."


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("Employees are entitled to 15 days of annual leave.", RULE),
        (
            "Leave requests must be submitted 2 weeks in advance.",
            (
                "Leave applications must be submitted at least 14 calendar days before the "
                "intended start date."
            ),
        ),
        (
            "Employees get 10 days of sick leave.",
            "Employees get 15 days of annual leave and 10 days of sick leave.",
        ),
        ("Employees get 20 vacation days.", "Employees are given 20 days of leave."),
        ("The company has over 100 employees.", "The company has 120 employees."),
        ("Offices open at 9 am.", "Offices open at 09:00."),
        ("The fee is 0.5% of the sum.", "The fee is 50 basis points of the sum."),
        ("The policy took effect on 1 January 2024.", "The policy took effect on 2024-01-01."),
        ("Contracts run for 12 months.", "Contracts run for one year."),
        (
            "Contractors receive 10 days.",
            "Employees receive 15 days, and contractors receive 10 days.",
        ),
    ],
)
def test_the_same_value_of_the_same_thing_bears_a_claim_out(claim: str, said: str) -> None:
    (match,) = judged(claim, said, judges=["numbers"]).matches
    assert (match.support_level, match.similarity) == (SupportLevel.FULL, SAME_THING)
    assert "the values agree" in match.reason
    assert verdict(claim, said) is SUPPORTED


@pytest.mark.parametrize(
    ("claim", "said", "says"),
    [
        ("Employees are entitled to 20 days of annual leave.", RULE, "15 days"),
        (
            "Employees get 10 days of annual leave.",
            "Employees get 15 days of annual leave and 10 days of sick leave.",
            "15 days",
        ),
        ("Annual leave is 10 days.", "Annual leave is 15 days, sick leave is 10 days.", "15 days"),
        (
            "Contractors receive 15 days.",
            "Employees receive 15 days, and contractors receive 10 days.",
            "10 days",
        ),
        ("Refunds are paid within 14 days.", "Refunds are paid within 30 days.", "30 days"),
        (
            "The policy took effect on 1 January 2024.",
            "The policy took effect on 1 March 2024.",
            "1 March 2024",
        ),
        ("The policy was adopted in 2019.", "The policy was adopted in 2020.", "2020"),
        ("The company has 100 employees.", "The company has 120 employees.", "120"),
        ("Employees pay 5 euros.", "Employees pay 5 million euros.", "5 million euros"),
        (
            "Hotel costs are refunded up to $200 per night.",
            "Hotel costs are refunded up to $150 per night.",
            "$150",
        ),
        ("Annual leave: Days 20 days", "Annual leave: 15 days", "15 days"),
    ],
)
def test_another_value_of_the_same_thing_contradicts_a_claim(
    claim: str, said: str, says: str
) -> None:
    (match,) = judged(claim, said, judges=["numbers"]).matches
    assert match.contradicts
    assert match.says == says
    assert says in match.reason
    assert verdict(claim, said) is CONTRADICTED


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        # not the same unit, and no way from one to the other
        ("Employees get 20 business days of leave.", "Employees get 28 calendar days of leave."),
        ("Employees get 20 business days of leave.", "Employees get 20 calendar days of leave."),
        ("The fee is 5 euros.", "The fee is 6 dollars."),
        ("Employees get 2 days of leave per month.", "Employees get 15 days of leave per year."),
        # names, and no quantities
        ("COVID-19 tests are free of charge.", "COVID-20 tests are free of charge."),
        ("The firm is ISO 27001 certified.", "The firm is ISO 9001 certified."),
        ("Article 3.2 governs leave.", "Article 4.1 governs leave."),
        # someone or something else
        ("Contractors get 15 days of annual leave.", RULE),
        ("Contractors get 20 days of annual leave.", RULE),
        (
            "Employees get 15 days of annual leave.",
            "Part-time employees receive 10 days of annual leave.",
        ),
        ("Employees get 15 days of leave.", "Employees get 10 days of sick leave."),
        ("Employees get 15 days of annual leave.", "Employees get 10 days of sick leave."),
        (
            "Employees get 20 days of annual leave.",
            "Employees get 15 days of annual leave up north, far south, on islands and abroad.",
        ),
        ("In 2023, revenue was $5 million.", "In 2024, revenue was $6 million."),
        ("Leave lasts for 20 days.", "Leave lasts until 15 days."),
        ("Employees receive 15 days.", "Trainees must give 10 days notice."),
        ("Employees receive 20 days.", "Employees must give 10 days notice."),
        # limited, denied, asked
        (
            "Employees get 20 days of annual leave.",
            "Employees who ask get 15 days of annual leave.",
        ),
        (
            "Employees get 20 days of annual leave.",
            "Formerly employees get 15 days of annual leave.",
        ),
        ("Employees get 20 days of annual leave.", "Do employees get 15 days of annual leave?"),
        ("Employees get 20 days of annual leave.", "Employees do not get 15 days of annual leave."),
        ("Employees must give 20 days of notice.", "Employees should give 15 days of notice."),
        # nothing to compare
        ("Maximum carryover is 5 days.", "Unused leave may be carried over."),
        ("It is 15 days.", "It is 20 days."),
    ],
)
def test_where_the_judge_cannot_tell_it_has_no_opinion(claim: str, said: str) -> None:
    assert judged(claim, said, judges=["numbers"]).matches == ()


@pytest.mark.parametrize(
    ("claim", "said", "reason"),
    [
        (
            "Employees get 20 days of leave.",
            "Employees get at least 15 days of leave.",
            "leave the claim open",
        ),
        (
            "Employees get 10 days of leave.",
            "Employees get up to 15 days of leave.",
            "leave the claim open",
        ),
        (
            "Employees get 15 days of leave.",
            "Employees get 15 or 10 days of leave or 15 days of leave.",
            "leave the claim open",
        ),
        (
            "Employees must give at least 10 days of notice.",
            "Employees must give 15 days of notice.",
            "leave the claim open",
        ),
        (
            "Employees receive 15 days.",
            "Employees must give 15 days notice.",
            "leave the claim open",
        ),
        ("Leave lasts for 15 days.", "Leave lasts after 15 days.", "leave the claim open"),
        (
            "Employees get 10 days of annual leave.",
            "All part-time employees receive 10 days of annual leave.",
            "of a smaller group (part, tim)",
        ),
        (
            "Overtime is paid at 150%.",
            "Overtime is paid at 150% on Sundays.",
            "of a place or group (Sundays)",
        ),
        ("Rates rose to 5%.", "Rates rose by 5%.", "leave the claim open"),
        (
            "Employees get 15 days of special annual leave.",
            "Employees get 15 days of annual leave.",
            "does not speak of: special",
        ),
        (
            "Employees get 15 days of annual leave.",
            "Employees may get 15 days of annual leave.",
            'with another force ("may")',
        ),
        (
            "Employees get 15 days of annual leave and 10 days of sick leave.",
            "Employees get 15 days of annual leave.",
            "a part of the claim's values agrees",
        ),
    ],
)
def test_what_leaves_a_claim_open_is_a_hint(claim: str, said: str, reason: str) -> None:
    (match,) = judged(claim, said, judges=["numbers"]).matches
    assert match.support_level is SupportLevel.PARTIAL
    assert reason in match.reason
    assert verdict(claim, said) is WEAK


def test_two_passages_bear_out_a_claim_with_two_values_together() -> None:
    claim = "Employees get 15 days of annual leave and 10 days of sick leave."
    first, second = "Employees get 15 days of annual leave.", "Employees get 10 days of sick leave."
    assert verdict(claim, first) is WEAK
    assert verdict(claim, first, second) is SUPPORTED
    assert verdict(claim, first, "Employees get 12 days of sick leave.") is CONTRADICTED


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("Employees may carry over unused leave.", "Employees may not carry over unused leave."),
        (
            "Employees may not carry over unused leave.",
            "Employees may carry over unused annual leave.",
        ),
        ("Employees can carry over unused leave.", "Employees cannot carry over unused leave."),
        ("Remote work is allowed.", "Remote work is prohibited."),
        ("Overtime is unpaid.", "Overtime is paid."),
        ("Employees get 15 days of annual leave.", "Employees do not get 15 days of annual leave."),
        (
            "Employees get 15 days of annual leave.",
            "It is false that employees get 15 days of annual leave.",
        ),
        (
            "Employees get 15 days of annual leave.",
            "Employees no longer get 15 days of annual leave.",
        ),
        ("Employees must submit a form.", "Employees need not submit a form."),
        ("Mitarbeiter haben Anspruch.", "Mitarbeiter haben keinen Anspruch."),
    ],
)
def test_the_same_words_with_a_negation_contradict_a_claim(claim: str, said: str) -> None:
    (match,) = judged(claim, said, judges=["numbers"]).matches
    assert match.contradicts
    assert match.similarity == NEGATED
    assert verdict(claim, said) is CONTRADICTED


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("Employees may submit a form.", "Employees need not submit a form."),
        ("Employees are not required to submit a form.", "Employees may submit a form."),
        ("Employees may carry over leave.", "Employees may not carry over leave if they resign."),
        ("Employees may carry over leave.", "Employees should not carry over leave."),
        ("Permanent staff get leave.", "Non-permanent staff get leave."),
        (
            "Employees may carry over leave.",
            "Employees may not always carry over all unused leave days.",
        ),
        ("Employees get 15 days of annual leave.", "Employees do not get 20 days of annual leave."),
        ("Employees carry over leave.", "Leave does not carry over employees."),
        ("Mitarbeiter haben Anspruch.", "Mitarbeiter haben bald keinen Anspruch."),
        ("Leave is paid.", "Leave is not not paid."),
        ("Employees may carry over leave.", "It is false that employees may not carry over leave."),
    ],
)
def test_a_negation_that_denies_something_else_contradicts_nothing(claim: str, said: str) -> None:
    assert not any(match.contradicts for match in judged(claim, said).matches)


def test_a_range_is_one_value() -> None:
    said = "Notice lasts between 10 and 15 days, and leave lasts 20 days."
    assert verdict("Notice lasts 10 to 15 days.", said) is SUPPORTED
    assert verdict("Notice lasts 20 days.", said) is CONTRADICTED
    assert verdict("Leave lasts 10 to 15 days.", said) is CONTRADICTED


def test_of_several_values_those_of_something_else_are_not_compared() -> None:
    said = "Notice is 20 days, and employees get 15 days of leave."
    assert verdict("Notice is 15 days.", said) is not SUPPORTED
    assert verdict("Leave of employees is 15 days.", said) is SUPPORTED


def test_the_heading_says_what_a_sentence_is_about() -> None:
    said = "Employees receive 15 days per calendar year."
    (match,) = judged(
        "Employees get 15 days of annual leave.", said, judges=["numbers"], heading="Annual leave"
    ).matches
    assert (match.support_level, match.similarity) == (SupportLevel.FULL, BY_HEADING)
    assert (
        verdict("Employees get 20 days of annual leave.", said, heading="Annual leave")
        is CONTRADICTED
    )
    assert verdict("Employees get 15 days of annual leave.", said) is not SUPPORTED


def test_the_sentence_before_says_what_a_pronoun_stands_for() -> None:
    said = "Annual leave is granted in January. It amounts to 15 days."
    assert verdict("Annual leave amounts to 15 days.", said) is SUPPORTED
    assert (
        verdict("Annual leave amounts to 15 days.", "Hotels are paid. It amounts to 15 days.")
        is NOT_FOUND
    )


def test_a_list_item_is_read_with_the_line_that_leads_it_in() -> None:
    item = "- 20 days of annual leave"
    claim = "Employees get 20 days of annual leave."
    assert verdict(claim, item, context="Employees get:") is SUPPORTED
    assert verdict(claim, item, context="Employees do not get:") is CONTRADICTED
    assert verdict(claim, "1. 20 days of annual leave", context="Contractors get:") is NOT_FOUND


def test_a_passage_that_says_both_has_no_opinion() -> None:
    said = "Annual leave is 15 days. Annual leave is 20 days."
    assert judged("Annual leave is 15 days.", said, judges=["numbers"]).matches == ()


@pytest.mark.parametrize(
    "said",
    [
        "Employees receive 15 days of annual leave, contractors 10 days.",
        "Employees receive 15 days of annual leave, and contractors receive 20.",
        "Employees receive 15 days of annual leave, contractors 20.",
    ],
)
def test_what_is_said_of_others_in_the_same_sentence_is_not_said_of_the_claims_subject(
    said: str,
) -> None:
    assert verdict("Contractors receive 15 days of annual leave.", said) is not SUPPORTED
    assert verdict("Employees receive 15 days of annual leave.", said) is SUPPORTED


def test_a_second_verb_has_the_first_ones_subject() -> None:
    said = "The lease starts on 1 January 2025 and ends on 31 December 2025."
    assert verdict("The lease ends on 31 December 2025.", said) is SUPPORTED
    assert verdict("The lease starts on 31 December 2025.", said) is CONTRADICTED


def test_other_languages_are_compared_only_word_for_word() -> None:
    claim = "Mitarbeiter erhalten 15 kg Obst."
    assert judged(claim, "Mitarbeiter erhalten bald 15 kg Obst.", judges=["numbers"]).matches == ()
    (match,) = judged(claim, "Mitarbeiter erhalten 15 kg Obst.", judges=["numbers"]).matches
    assert match.support_level is SupportLevel.FULL

import pytest

import tiers
from evidentia.language.subjects import find_subject, head_of, main_verb


@tiers.one_test
@pytest.mark.parametrize(
    ("clause", "subject"),
    [
        ("Employees are paid monthly", "Employees"),
        ("Leave also must be paid", "Leave"),
        ("Sick pay entitlements are counted over a year", "Sick pay entitlements"),
        ("The price the government pays is fixed", "The price the government pays"),
        ("Employees who have been ill must report it", "Employees who have been ill"),
        ("The need for leave is clear", "The need for leave"),
        ("The head of the offices gets a car", "The head of the offices"),
        ("The contract with Tidewater lowers the monthly cost to 5", "The contract with Tidewater"),
        ("The employees nominate a colleague", "The employees"),
        ("The clerk approved the request", "The clerk"),
        ("You get a voucher", "You"),
        ("Prices rose", "Prices"),
        ("The right to leave applies", "The right to leave"),
        ("The will is read", "The will"),
        ("The week of May 5 is free", "The week of May 5"),
    ],
)
def test_a_clauses_subject_is_what_stands_before_its_verb(clause: str, subject: str) -> None:
    assert find_subject(clause) == subject


@tiers.one_test
@pytest.mark.parametrize(
    "clause",
    [
        "",
        "The cost of travel",
        "Sick pay",
        "It must be kept",
        "If they are ill",
        "Whatever is left lapses",
        "Denise, who heads finance, sent it",
        "Must be kept",
        "The firm sits in Cork",  # like "the opening hours in Cork"
        "The sample device runs firmware 5",  # "firmware" may be an object, and "runs" the verb
        "The right to need",
        "Only the is",
        "This is a sentence",
        "One two three four five six seven eight nine ten eleven things are too many",
        "The 15 pay",
        "Employees of the month",
    ],
)
def test_no_subject_is_given_where_it_is_not_plain(clause: str) -> None:
    assert find_subject(clause) is None


def test_a_verb_by_its_ending_alone_counts_where_a_clause_is_known_to_stand() -> None:
    clause = "the firm sits in Cork"
    assert main_verb(clause) == (9, 13)
    assert main_verb("Polish speakers in Cork") is None
    assert main_verb("the device runs firmware 5") is not None
    assert main_verb("the staff working in Cork") is None
    assert main_verb("the staff, who are here") is None


def test_the_head_of_a_subject_is_the_word_it_is_about() -> None:
    assert head_of("All permanent employees who") == "employees"
    assert head_of("The head of staff") == "head"

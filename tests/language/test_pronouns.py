import pytest

import tiers
from evidentia.language.pronouns import antecedent, begins_with_pronoun, with_pronoun_replaced


@pytest.mark.parametrize(
    ("before", "clause", "expected"),
    [
        ("The notice period is short", "It must be kept", "The notice period must be kept"),
        ("The plan is old", "It also covers travel", "The plan also covers travel"),
        ("An FSA isn't renewed", "it has to be chosen", "An FSA has to be chosen"),
        ("Acme makes bolts", "It employs 500 people", "Acme employs 500 people"),
        ("The form is sent to the tenant by a clerk", "It is free", "The form is free"),
        ("The form must be kept by a clerk", "It is free", "The form is free"),
        ("Leave is a right of the tenant", "It is paid", "Leave is paid"),
        ("Employees get 15 days", "They must ask", "Employees must ask"),
        ("Patients never see the operation", "they perceive light", "Patients perceive light"),
        ("Amal Haddad sees a patient", "She must reply", "She must reply"),
        ("Amal Haddad sees a film", "She must reply", "Amal Haddad must reply"),
    ],
)
def test_a_pronoun_is_replaced_where_the_subject_is_the_one_thing_it_can_stand_for(
    before: str, clause: str, expected: str
) -> None:
    assert with_pronoun_replaced(clause, before) == expected


@tiers.one_test
@pytest.mark.parametrize(
    ("before", "clause"),
    [
        (None, "It must be kept"),
        ("The period is short", "Leave is paid"),
        ("You get a voucher", "It must be used within two years"),
        ("You may buy vouchers", "They must be used"),
        ("Everyone is informed", "They must reply"),
        ("The employer provides a contract", "It must be signed"),
        ("The firm is obliged to give a contract", "It must be signed"),
        ("The employer has reviewed the form", "It must be signed"),
        ("Employees must submit forms", "They must be signed"),
        ("Employees submit forms", "They must be signed"),
        ("Approval of the form is enough", "It need not be signed"),
        ("The office is open", "It is clear that leave is paid"),
        ("The office is open", "It, too, is paid"),
        ("The office is open", "It and the shop are paid"),
        ("Of course", "It is paid"),
    ],
)
def test_a_pronoun_stays_where_something_else_could_be_meant(
    before: str | None, clause: str
) -> None:
    assert with_pronoun_replaced(clause, before) == clause


def test_a_pronoun_at_the_beginning_is_seen() -> None:
    assert begins_with_pronoun("They must ask")
    assert not begins_with_pronoun("Items are sold")


@pytest.mark.parametrize(
    ("left", "relative", "expected"),
    [
        ("Leave is requested in RosterLine", "which shows the balance", "RosterLine"),
        ("Removals are recorded on a register", "which is audited monthly", "the register"),
        ("The frequency is taken from the RPO", "which has to be approved", "the RPO"),
        ("The list includes Incident Managers", "who come from EPICK", "Incident Managers"),
        ("The form goes to the line manager", "who signs it", "the line manager"),
        ("Staff get the old keys", "which must be returned", "the old keys"),
        ("The firm has the Lyon Office", "which is kept open", "the Lyon Office"),
    ],
)
def test_which_and_who_stand_for_the_noun_of_the_verb_before_them(
    left: str, relative: str, expected: str
) -> None:
    assert antecedent(left, relative) == expected


@tiers.one_test
@pytest.mark.parametrize(
    ("left", "relative"),
    [
        ("The command makes a snapshot before the deletion", "which is kept for a month"),
        ("The limit is for the café of the library", "which is opened at nine"),
        ("The drum is below 55 degrees", "which takes ten minutes"),
        ("The router is updated by the Provider", "which takes ten minutes"),
        ("Prices rose and were noted in Lyon", "which shows that demand is high"),
        ("The price is paid to the office", "which is cheaper"),
        ("The price is paid to the office", "which is"),
        ("The price is paid to the office", "which"),
        ("The price is paid to the office", "which are closed"),
        ("The price is paid to the office", "who signs it"),
        ("The price is paid to the manager", "which is kept"),
        ("The price is paid to offices in old towns", "which are closed"),
        ("The price is paid in 2 parts", "which are equal"),
        ("The suits", "which are washed"),
        ("Suits", "which are washed"),
        ("Lyon", "which had a school"),
        ("It is the office", "which is kept open"),
        ("It is in (the office)", "which is kept open"),
        ("In the office", "which had a school"),
        ("The price is paid to the very big and old office", "which is closed"),
    ],
)
def test_which_and_who_stay_where_more_than_one_noun_could_be_meant(
    left: str, relative: str
) -> None:
    assert antecedent(left, relative) is None

import pytest

import tiers
from evidentia.language.clauses import in_quotation, main_clause, parts


def split(sentence: str) -> list[str]:
    return [
        f"{part.subject or ''} {sentence[part.start : part.end]}".strip()
        for part in parts(sentence)
    ]


@tiers.one_test
@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "The firm sits in Cork, but the tablets are made in Olomouc.",
            ["The firm sits in Cork", "the tablets are made in Olomouc."],
        ),
        (
            "Paracetamol must be avoided, while ibuprofen is harmless.",
            ["Paracetamol must be avoided", "ibuprofen is harmless."],
        ),
        (
            "The tool is in-house, whereas the Seal belongs to GitHub.",
            ["The tool is in-house", "the Seal belongs to GitHub."],
        ),
        (
            "The camera can remember seven phones but talks to just one phone.",
            ["The camera can remember seven phones", "The camera talks to just one phone."],
        ),
        (
            "The card costs 15 pounds and lasts 24 months.",
            ["The card costs 15 pounds", "The card lasts 24 months."],
        ),
        (
            "Patients see no tools; they perceive light.",
            ["Patients see no tools; they perceive light."],
        ),
        (
            "The plan is old, and it includes a router.",
            ["The plan is old", "it includes a router."],
        ),
        (
            "Staff may work remotely but must be reachable; contractors are excluded.",
            ["Staff may work remotely", "Staff must be reachable", "contractors are excluded."],
        ),
        (
            "Leave is requested in RosterLine, which shows the balance.",
            ["Leave is requested in RosterLine", "RosterLine which shows the balance."],
        ),
        (
            "The fee is due; the fee covers travel, and the manager pays 5 euros.",
            ["The fee is due", "the fee covers travel", "the manager pays 5 euros."],
        ),
        (
            "The guest network is off at first and can be switched on.",
            ["The guest network is off at first", "The guest network can be switched on."],
        ),
        (
            "A third club may register a player but cannot pay if the fee is due.",
            [
                "A third club may register a player",
                "A third club cannot pay if the fee is due.",
            ],
        ),
    ],
)
def test_a_sentence_is_parted_where_each_side_has_its_subject(
    sentence: str, expected: list[str]
) -> None:
    assert split(sentence) == expected


@tiers.one_test
@pytest.mark.parametrize(
    "sentence",
    [
        # the right side leaves its verb out, or points back
        "School trips are included, but textbooks are not.",
        "The bank is bound, whereas the customer isn't.",
        "The first copy costs six pounds, while a second one is free.",
        "Players have to be 16, and those under 18 need consent.",
        "A change is reviewed, and the author may be one of them.",
        "The instance is deleted first, and a snapshot is made.",
        "The instance is deleted, and a snapshot is made afterwards.",
        "The tool is used before and can't replace them.",
        "Five applications are enabled, and two are not supported.",
        "The candidate has 45 minutes, and the interviewer has time for 15.",
        "The form shows the tax, and employers send a copy of it to the office.",
        "The tax is due, and banks take it off before paying out.",
        "The tenant keeps the flat clean and has it inspected.",
        "The approval of the form is enough; it need not be signed.",
        "Accounts are audited monthly, and the results go to the office.",
        "Aria labels replace the old text, and older browsers ignore the attribute.",
        "The notice is given to the tenant; the guarantor receives none.",
        "You will be there for an hour and can have a drink and cakes afterwards.",
        "The legend groups the fields, and the first field is its child.",
        "There is no single way; it depends on the team.",
        # a condition or a time that may hold for both, or a "while" that is a time
        "If the switch is off, no data is billed; the connection stops.",
        "No data is billed if the switch is off; the connection is closed.",
        "Staff may work at home and may flex hours if the manager agrees.",
        "The swap is free, while it is in stock.",
        "The door is locked, while the drum is turning.",
        "The offer is open, while stocks last.",
        "The policy says leave is paid, and the office is closed.",
        # no verb, or a subject that is not plain
        "The plan covers leave, and the cost of travel.",
        "Blind readers can ask for a copy, and Polish speakers for one in Polish.",
        "Panels leased to a firm are allowed, but panels the owners paint are forbidden.",
        "Consultations last half an hour, cost 5 euros and have to be booked.",
        "It contains no tables but maps in colour.",
        "The plan covers books and covers for the poor.",
        "Offices have a door and gates at the back.",
        "Offices are open but closes at nine.",
        "Staff are paid, and quickly are informed.",
        "The room (which is old, and the staff is new) is closed.",
        "Not all staff are paid and are insured.",
        "Leave is paid in the office, which is old, in May.",
        "Leave is paid when due to the Fund, which has a bank.",
        "Leave is paid, although the office is closed, and the shop is open.",
    ],
)
def test_a_sentence_stays_whole_where_a_side_would_say_something_else(sentence: str) -> None:
    assert split(sentence) == [sentence]


def test_what_is_too_long_or_begins_with_a_setting_stays_whole() -> None:
    assert len(parts("The form is due, and the fee is paid. " * 60)) == 1
    assert len(parts("In Germany, leave is paid, and the fee is due.")) == 1


def test_a_condition_is_told_from_the_main_clause_and_a_quotation_from_the_rest() -> None:
    assert main_clause("If you fall ill, a form is due") == "a form is due"
    assert main_clause("A form is due") == "A form is due"
    assert in_quotation('He said "leave')
    assert in_quotation("He said “leave")
    assert not in_quotation("He said “leave”")

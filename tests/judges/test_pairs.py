"""Claims and passages from contracts, policies, leaflets, reports and manuals, with what is right.

Each file in `pairs` has one pair a line, under the verdict that a careful reader gives. "neither"
means that the passage leaves the claim open: it may be a hint, and it must never decide.
"""

from pathlib import Path

import pytest

from evidentia.ledger.model import Verdict
from judges.asking import verdict

PAIRS = Path(__file__).parent / "pairs"
DECIDED = (Verdict.SUPPORTED, Verdict.CONTRADICTED)


FILES = sorted(path.stem for path in PAIRS.glob("*.txt"))


def verdicts_under(heading: str, file: str) -> dict[str, Verdict]:
    """Return the verdict of each pair that stands under a heading of a file, by its line."""
    found = {}
    under = ""
    for line in (PAIRS / f"{file}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            under = line.removeprefix("# ")
        elif line and under == heading:
            claim, said = line.split(" => ")
            found[line] = verdict(claim, said)
    return found


@pytest.mark.parametrize("file", FILES)
def test_a_passage_that_says_it_supports_the_claim(file: str) -> None:
    found = verdicts_under("supported", file)
    assert {line: one for line, one in found.items() if one is not Verdict.SUPPORTED} == {}


@pytest.mark.parametrize("file", FILES)
def test_a_passage_that_says_otherwise_contradicts_the_claim(file: str) -> None:
    found = verdicts_under("contradicted", file)
    assert {line: one for line, one in found.items() if one is not Verdict.CONTRADICTED} == {}


@pytest.mark.parametrize("file", FILES)
def test_a_passage_that_leaves_a_claim_open_decides_nothing(file: str) -> None:
    found = verdicts_under("neither", file)
    assert {line: one for line, one in found.items() if one in DECIDED} == {}


@pytest.mark.parametrize(
    ("claim", "said", "context", "expected"),
    [
        ("Employees get 20 days of leave.", "- 20 days of leave", "Employees get:", "supported"),
        ("Employees get 25 days of leave.", "- 20 days of leave", "Employees get:", "contradicted"),
        (
            "Employees get 20 days of leave.",
            "- 20 days of leave",
            "Employees do not get:",
            "contradicted",
        ),
        ("Contractors get 20 days of leave.", "- 20 days of leave", "Employees get:", "not_found"),
        (
            "Employees get 20 days of leave.",
            "- 20 days of leave",
            "Employees on probation get:",
            "weak",
        ),
        (
            "Employees get 25 days of leave.",
            "- 20 days of leave",
            "Employees on probation get:",
            "not_found",
        ),
    ],
)
def test_list_items_are_read_with_what_leads_them_in(
    claim: str, said: str, context: str, expected: str
) -> None:
    assert verdict(claim, said, context=context) == expected


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("The Basic plan costs $10.", "| Basic | $20 |\n| Pro | $10 |"),
        ("The Basic plan costs $10.", "| Plan | Price |\n| Basic | $10 |\n| Pro | $20 |"),
        ("The Basic plan costs $20.", "| Plan | Price |\n| Basic | $10 |\n| Pro | $20 |"),
        ("Annual leave is 10 days.", "| Leave | Days |\n| Annual | 15 days |\n| Sick | 10 days |"),
        (
            "Sick leave is 10 days.",
            "| Leave type | Annual leave | Sick leave |\n| Duration | 15 days | 10 days |",
        ),
    ],
)
def test_rows_whose_columns_are_named_elsewhere_decide_nothing(claim: str, said: str) -> None:
    assert verdict(claim, said) not in DECIDED


def test_a_row_that_names_its_subject_and_its_unit_decides() -> None:
    rows = "Employees | 30 days\nManagers | 20 days"
    assert verdict("Managers get 20 days.", rows) is Verdict.SUPPORTED
    assert verdict("Managers get 30 days.", rows) is Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("claim", "said", "heading", "expected"),
    [
        (
            "Employees receive 15 days of leave.",
            "Employees receive 10 days of leave.",
            "Part-time employees",
            "not_found",
        ),
        (
            "Employees receive 10 days of leave.",
            "Employees receive 10 days of leave.",
            "Part-time employees",
            "weak",
        ),
        (
            "Employees receive 10 days of leave.",
            "Employees receive 10 days of leave.",
            "Permanent employees",
            "supported",
        ),
        ("Leave is 20 days.", "Leave is 15 days.", "Sick leave", "not_found"),
        ("Leave is 20 days.", "Leave is 15 days.", "Leave", "contradicted"),
        (
            "Hotel costs are 200 euros.",
            "Hotel costs are 150 euros.",
            "Travel costs",
            "contradicted",
        ),
        (
            "Refunds are paid within 14 days.",
            "Refunds are paid within 14 days.",
            "Customer refunds",
            "supported",
        ),
    ],
)
def test_a_heading_that_names_a_kind_of_the_claims_subject_limits_what_stands_under_it(
    claim: str, said: str, heading: str, expected: str
) -> None:
    assert verdict(claim, said, heading=heading) == expected


@pytest.mark.xfail(reason="a score is read as a range, and a single letter is no name", strict=True)
@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("The vote passed by 60 to 40.", "The vote passed by 40 to 60."),
        ("A is 5 cm longer than B.", "B is 5 cm longer than A."),
    ],
)
def test_what_is_the_other_way_round_does_not_support_a_claim(claim: str, said: str) -> None:
    assert verdict(claim, said) is not Verdict.SUPPORTED

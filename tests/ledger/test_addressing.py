import pytest

from evidentia.judges import make_judges
from evidentia.ledger.addressing import Addressed, addressed_by, addresses_reader, with_reader
from evidentia.ledger.judging import READ_AS
from evidentia.ledger.model import LedgerEntry, Passage, SourceDocument, Verdict
from ledger.corpora import check, make_corpus


def passage(text: str, context: str = "") -> Passage:
    source = SourceDocument(id="doc_a", filename="a.pdf")
    return Passage(
        chunk_id="a",
        chunk_hash="a",
        snippet=text,
        start=0,
        end=len(text),
        context=context,
        source=source,
    )


def judged(claim: str, *said: str) -> LedgerEntry:
    corpus = make_corpus({f"{n}.pdf": [t] for n, t in enumerate(said)})
    (entry,) = check(f"{claim}.", corpus, make_judges(["quote", "numbers"])).entries
    return entry


@pytest.mark.parametrize(
    ("claim", "addresses"),
    [
        ("You are entitled to 15 days of leave", True),
        ("If you fall ill, you must call", True),
        ("Your requests must be early", False),
        ("Youth clubs are open", False),
        ("The company pays you in May", False),
    ],
)
def test_a_claim_addresses_its_reader_with_you_as_its_subject(
    claim: str, *, addresses: bool
) -> None:
    assert addresses_reader(claim) is addresses


@pytest.mark.parametrize(
    ("text", "persons"),
    [
        ("All permanent employees shall receive 15 days.", Addressed("employees", is_reader=True)),
        ("An employee who is ill calls.", Addressed("employee", is_reader=True)),
        ("Hotels are paid. Staff must pay the rest.", Addressed("staff", is_reader=True)),
        ("The line manager decides on it.", Addressed("manager", is_reader=False)),
        ("Landlords must repair the roof.", Addressed("landlords", is_reader=False)),
        ("Employee handbooks are free.", None),
        ("Employees nominate a colleague.", Addressed("employees", is_reader=True)),
        ("Employees of the month.", None),  # no verb is there to tell what they are
        ("Leave is paid.", None),
    ],
)
def test_a_passage_speaks_of_its_readers_or_of_others(text: str, persons: Addressed | None) -> None:
    assert addressed_by(passage(text)) == persons


def test_a_list_item_speaks_of_those_whom_its_lead_names() -> None:
    found = addressed_by(passage("- 15 days of leave", "Employees are entitled to:"))
    assert found == Addressed("employees", is_reader=True)


def test_the_reader_is_named_where_the_claim_says_you() -> None:
    assert with_reader("You get what you need", "staff") == "Staff get what you need"


def test_you_is_read_as_those_whom_the_rule_is_for_and_that_is_said() -> None:
    entry = judged(
        "You are entitled to 15 days of annual leave",
        "All permanent employees shall receive 15 days of paid annual leave.",
    )
    assert (entry.verdict, entry.confidence_score) == (Verdict.SUPPORTED, READ_AS)
    assert entry.claim_text == "You are entitled to 15 days of annual leave"
    assert 'with "you" read as "employees"' in entry.notes


def test_what_is_said_of_readers_contradicts_what_is_said_of_you() -> None:
    entry = judged("You get 20 days of leave", "Employees get 15 days of leave.")
    assert (entry.verdict, entry.confidence_score) == (Verdict.CONTRADICTED, READ_AS)
    assert 'with "you" read as "employees"' in entry.notes


@pytest.mark.parametrize(
    "said",
    [
        "The line manager decides on an application within five working days.",
        "The landlord must decide on an application within five working days.",
    ],
)
def test_what_others_do_is_not_what_you_do(said: str) -> None:
    verb = "must decide" if "must" in said else "decide"
    entry = judged(f"You {verb} on an application within 5 working days", said)
    assert entry.verdict is Verdict.WEAK
    other = judged(f"You {verb} on an application within 9 working days", said)
    assert other.verdict in (Verdict.NOT_FOUND, Verdict.WEAK)


def test_a_smaller_group_of_readers_is_no_more_than_a_part() -> None:
    entry = judged("You get 10 days of leave", "Part-time employees get 10 days of leave.")
    assert entry.verdict is Verdict.WEAK


def test_another_kind_of_reader_does_not_contradict_what_one_kind_bears_out() -> None:
    said = ("Members get 10 days of free parking.", "Staff get 20 days of free parking.")
    entry = judged("You get 10 days of free parking", *said)
    assert entry.verdict is Verdict.SUPPORTED
    both = judged(
        "You get 10 days of free parking", said[1], "Employees get 10 days of free parking."
    )
    assert both.verdict is Verdict.CONTRADICTED


def test_what_bears_a_claim_out_without_its_condition_does_so_in_part() -> None:
    rule = "A medical certificate is required for any absence of more than three calendar days."
    claim = "a medical certificate is required for any absence of more than {} calendar days"
    entry = judged(f"If you fall ill, {claim.format(3)}", rule)
    assert entry.verdict is Verdict.WEAK
    assert 'without the claim\'s condition ("If you fall ill")' in entry.notes
    assert judged(f"If you fall ill, {claim.format(5)}", rule).verdict is Verdict.NOT_FOUND
    assert judged(f"Unless it rains, {claim.format(3)}", "Hotels are paid.").confidence_score == 0

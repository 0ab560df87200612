"""Claims taken out of an answer, and which of the marked ones they are."""

from training.alignment import aligned
from training.claims_set import parse_answer

from evidentia.ledger.claims import extract_claims

HEAD = "# documents: lease.md\n# question: How?\n# language: en\n=====\n"


def found(text: str) -> list[tuple[str, str, str, int]]:
    answer = parse_answer("train", "x", f"{HEAD}{text}\n")
    claims = extract_claims(answer.answer).claims
    return [(one.label, one.kind, one.claim.text, one.marked) for one in aligned(answer, claims)]


def test_claims_are_told_by_their_places() -> None:
    text = "Yes. ⟦+ number: The rent is 900 euros a month.⟧ ⟦- negation: Dogs are not allowed.⟧"
    assert found(text) == [
        ("supported", "number", "The rent is 900 euros a month", 1),
        ("contradicted", "negation", "Dogs are not allowed", 1),
    ]


def test_a_claim_with_several_marked_ones_is_false_if_one_is() -> None:
    text = "⟦+ number: The rent is 900 euros⟧, and ⟦- date: it is due in May⟧."
    whole = "The rent is 900 euros, and it is due in May"
    assert found(text) == [("contradicted", "date", whole, 2)]
    half = text.replace("- date", "? not said")
    assert found(half) == [("weak", "number", whole, 2)]
    assert found(text.replace("- date", "+ date")) == [("supported", "number", whole, 2)]


def test_what_is_no_claim_of_the_answer_is_left_out() -> None:
    assert found("⟦+ paraphrase: Call us.⟧") == []

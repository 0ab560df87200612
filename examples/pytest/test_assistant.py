"""Tests of an assistant: an answer that the policies don't support fails."""

from evidentia.integrations.pytest import assert_same_verdicts, assert_supported

POLICIES = "examples/policies"
ANSWERS = {
    "How much leave do I get?": "All permanent employees receive 30 days of annual leave.",
    "When is lunch?": "The cafeteria serves lunch at noon.",
}


def ask(question: str) -> str:
    """Stand for your assistant."""
    return ANSWERS[question]


def test_leave() -> None:
    """It fails: the policy says another number."""
    assert_supported(ask("How much leave do I get?"), against=POLICIES)


def test_lunch() -> None:
    """It passes as long as nothing is said of lunch, once that is written down."""
    assert_same_verdicts(ask("When is lunch?"), against=POLICIES)

"""Ledgers in pages: what is on them, and that each is proved by the root alone."""

import pytest

from evidentia.errors import ProofError
from evidentia.judges.numbers import NumbersJudge
from evidentia.judges.quote import QuoteJudge
from evidentia.ledger.claims import extract_claims
from evidentia.ledger.pages import (
    PAGE,
    head_of,
    judged_claims,
    ledger_pages,
    page_paths,
    pages_of,
    pages_root,
    read_head,
    read_page,
    verify_page,
)
from evidentia.ledger.session import LedgerSession
from ledger.corpora import check, leave_corpus

COUNT = 2 * PAGE + 30


def session_of(count: int) -> LedgerSession:
    answer = "\n\n".join(f"Room {number} costs {number} euros a night." for number in range(count))
    return LedgerSession(
        id="ses_1",
        title="Rooms",
        query="What does a room cost?",
        answer=answer,
        claims=extract_claims(answer).claims,
        ledger=check(answer, leave_corpus(), [QuoteJudge(), NumbersJudge()]),
    )


SESSION = session_of(COUNT)
PAGES = ledger_pages(SESSION)


def test_all_claims_are_on_pages_in_the_ledgers_order() -> None:
    assert len(PAGES) == 4 == pages_of(COUNT)
    found = [one for page in PAGES[1:] for one in read_page(page)]
    assert [one.entry for one in found] == list(SESSION.ledger.entries)
    assert [one.claim for one in found] == list(SESSION.claims)
    assert found[7:9] == judged_claims(SESSION, 7, 9)


def test_the_head_says_what_is_said_of_the_whole_and_names_a_hundred_claims() -> None:
    head = read_head(PAGES[0])
    assert head == head_of(SESSION)
    assert (head.title, head.query, head.claims) == ("Rooms", "What does a room cost?", COUNT)
    assert head.summary == SESSION.ledger.summary
    assert list(head.follow_up_questions) == list(SESSION.ledger.follow_up_questions)
    for flag, whole in zip(head.risk_flags, SESSION.ledger.risk_flags, strict=True):
        assert flag.affected_claims == len(whole.affected_claim_ids)
        assert list(flag.affected_claim_ids) == list(whole.affected_claim_ids[:100])
    assert any(flag.affected_claims > 100 for flag in head.risk_flags)


@pytest.mark.parametrize("count", [0, 1, PAGE, PAGE + 1, 3 * PAGE, 6 * PAGE + 1])
def test_each_page_is_proved_by_its_path(count: int) -> None:
    pages = [b"head", *(str(number).encode() for number in range(pages_of(count) - 1))]
    root = pages_root(pages)
    for number, (page, path) in enumerate(zip(pages, page_paths(pages), strict=True)):
        verify_page(page, number, count, path, root)
        with pytest.raises(ProofError):
            verify_page(page + b".", number, count, path, root)
        with pytest.raises(ProofError):
            verify_page(page, number + 1, count, path, root)
        with pytest.raises(ProofError):
            verify_page(page, number, count + PAGE * 5, path, root)


def test_what_is_no_page_is_refused() -> None:
    with pytest.raises(ProofError, match="the head of the ledger cannot be read"):
        read_head(b"[]")
    with pytest.raises(ProofError, match="a page of the ledger cannot be read"):
        read_page(b"{")

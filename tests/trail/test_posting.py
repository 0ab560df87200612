"""Entries on their way to the sequencer: only who signs the log can post to it."""

from dataclasses import dataclass
from itertools import count

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from evidentia.errors import IntegrityError
from evidentia.trail.entry import SALT_BYTES
from evidentia.trail.posting import (
    WAITED,
    Posted,
    Posting,
    Tickets,
    is_ticket,
    later,
    maker_of,
    posted,
    posting_secret,
    read_posted,
    read_told,
    ticket_of,
    told,
)
from evidentia.trail.waiting import waiting

SECRET = b"s" * 32
AT = "2026-01-31T09:30:00.000000Z"


def posting(body: object = "said") -> Posting:
    item = waiting("evidence_record", "obligation «1»", body, AT, bytes(SALT_BYTES))
    keyed = item._replace(idempotency_key="k")
    return Posting("t", "0" * 40, later(AT, WAITED), "ann", [item, keyed])


def test_a_posting_with_several_entries_is_read_whole() -> None:
    assert read_posted(posted(posting(), SECRET), SECRET) == posting()


@given(st.recursive(st.integers(-9, 9) | st.text(), st.lists, max_leaves=5))
def test_what_was_posted_is_read_as_it_was(body: object) -> None:
    given = posting(body)
    assert read_posted(posted(given, SECRET), SECRET) == given


@pytest.mark.parametrize(
    "changed",
    [
        {"tenant": "another"},
        {"ticket": "1" * 40},
        {"until": later(AT, 2 * WAITED)},
        {"content": posted(posting("another"), SECRET).content},
        {"code": bytes(32)},
        {"code": b""},
    ],
    ids=str,
)
def test_a_posting_that_was_changed_is_refused(changed: dict[str, object]) -> None:
    row = Posted(**{**posted(posting(), SECRET)._asdict(), **changed})
    with pytest.raises(IntegrityError, match="not by a program that signs this log"):
        read_posted(row, SECRET)


def test_a_posting_by_whoever_has_another_key_is_refused() -> None:
    with pytest.raises(IntegrityError, match="nothing of it was appended"):
        read_posted(posted(posting(), b"x" * 32), SECRET)


def test_the_secret_is_the_same_for_all_who_hold_the_key_and_another_for_each_log() -> None:
    key = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
    again = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
    secret = posting_secret(key.sign, "log")
    assert secret is not None
    assert len(secret) == 32
    assert posting_secret(again.sign, "log") == secret
    assert posting_secret(key.sign, "another log") != secret
    assert secret not in key.sign(b"log")


def test_a_signer_that_never_says_the_same_twice_gives_no_secret() -> None:
    numbers = count()
    assert posting_secret(lambda _: bytes([next(numbers)]), "log") is None


@dataclass
class Clock:
    now: int

    def __call__(self) -> int:
        return self.now


def test_tickets_sort_as_they_came_though_the_clock_stands_or_goes_back() -> None:
    clock = Clock(1_800_000_000_000_000_000)
    tickets = Tickets(clock, lambda size: b"\7" * size)
    found = [tickets.new(), tickets.new()]
    clock.now -= 1_000
    found.append(tickets.new())
    clock.now += 1_000_000
    found.append(tickets.new())
    assert found == sorted(set(found))
    assert all(map(is_ticket, found))
    assert set(map(maker_of, found)) == {tickets.maker}


@pytest.mark.parametrize("said", ['{"receipts":[[1,"ab",false]]}', '{"message":"ü \\n"}'])
def test_what_is_told_of_a_posting_is_read_by_who_can_sign_and_as_it_was(said: str) -> None:
    ticket = Tickets(count(1).__next__, lambda size: b"\7" * size).new()
    text = told(ticket, said, SECRET)
    assert (ticket_of(text), maker_of(text)) == (ticket, maker_of(ticket))
    assert read_told(text, SECRET) == said
    assert read_told(text, b"t" * 32) is None
    assert read_told(text[:-1], SECRET) is None
    assert read_told(f"{'0' * 40}{text[40:]}", SECRET) is None
    assert read_told(ticket, SECRET) is None


def test_what_is_no_ticket_is_told_from_one() -> None:
    assert not any(map(is_ticket, ["", "0" * 39, "G" * 40, "0" * 41]))

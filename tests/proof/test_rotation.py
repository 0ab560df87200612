"""Which key may sign a log at which size."""

import pytest

from evidentia.proof.keys import TrustedKey
from evidentia.proof.rotation import (
    Announcement,
    announced_by,
    in_order,
    retired,
    signing_problem,
)
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.entry import Entry
from evidentia.trail.note import sign_note
from proofs import KEY, ORIGIN, OTHER_KEY

OLD, NEW = KEY.verifier.key_id, OTHER_KEY.verifier.key_id
KEYS = [Announcement(0, OLD), Announcement(8, NEW)]


@pytest.mark.parametrize("size", range(1, 10))
def test_a_key_signs_up_to_the_announcement_of_the_next(size: int) -> None:
    assert retired(KEYS, OLD, size, whole=True) is None


def test_a_retired_key_is_not_believed() -> None:
    assert retired(KEYS, OLD, 10, whole=True) == (
        f"key {OLD} was replaced by key {NEW} in entry 8, and signed these 10 entries all the "
        "same: a retired key is not believed"
    )


def test_a_key_does_not_sign_before_it_is_announced() -> None:
    assert retired(KEYS, NEW, 9, whole=True) is None
    assert retired(KEYS, NEW, 10**9, whole=True) is None
    assert retired(KEYS, NEW, 8, whole=True) == (
        f"key {NEW} was announced in entry 8, after these 8 entries"
    )


def test_a_key_that_is_announced_nowhere_is_none_if_all_are_known() -> None:
    assert retired(KEYS, "00000000", 3, whole=True) == (
        "key 00000000 is announced nowhere in the log"
    )
    assert retired(KEYS, "00000000", 3, whole=False) is None


def test_a_key_counts_from_where_it_was_announced_first() -> None:
    assert in_order([KEYS[1], Announcement(20, OLD), KEYS[0]]) == KEYS


def test_an_announcement_tells_of_the_key_that_it_replaces() -> None:
    entry = Entry("acme", 8, "0" * 64, "key", NEW, "2026-01-31T09:30:00.000000Z", "0" * 64)
    body = {"key": str(OTHER_KEY.verifier), "replaces": OLD}
    assert announced_by(entry, body) == [Announcement(-1, OLD), Announcement(8, NEW)]
    assert announced_by(entry, {**body, "replaces": None}) == []
    assert announced_by(entry, None) == []
    other = Entry("acme", 8, "0" * 64, "pack", NEW, "2026-01-31T09:30:00.000000Z", "0" * 64)
    assert announced_by(other, body) == []


def problem(size: int, *signers: str, keys: list[TrustedKey] | None = None) -> str | None:
    text = Checkpoint(ORIGIN, size, bytes(32)).text
    names = {OLD: KEY, NEW: OTHER_KEY}
    lines = [
        sign_note(text, ORIGIN, names[one].private_key).rpartition("\n\n")[2] for one in signers
    ]
    checkpoint, note = read_checkpoint(f"{text}\n{''.join(lines)}")
    return signing_problem(checkpoint, note, KEYS, keys or [])


def trusted(*keys: str) -> list[TrustedKey]:
    names = {OLD: KEY, NEW: OTHER_KEY}
    return [TrustedKey(names[one].verifier.public_key, ORIGIN) for one in keys]


def test_one_key_of_that_size_among_the_signers_is_enough() -> None:
    assert problem(12, NEW) is None
    assert problem(12, OLD, NEW) is None
    assert "a retired key is not believed" in (problem(12, OLD) or "")


def test_of_several_signers_the_trusted_ones_count() -> None:
    assert problem(12, OLD, NEW, keys=trusted(NEW)) is None
    assert "not believed" in (problem(12, OLD, NEW, keys=trusted(OLD)) or "")
    assert problem(12, OLD, NEW, keys=trusted(OLD, NEW)) is None
    elsewhere = [TrustedKey(KEY.verifier.public_key, "another/log")]
    assert problem(12, OLD, NEW, keys=elsewhere) is None


def test_without_a_signature_by_the_log_there_is_nothing_to_say() -> None:
    text = Checkpoint(ORIGIN, 3, bytes(32)).text
    checkpoint, note = read_checkpoint(sign_note(text, "someone.else", KEY.private_key))
    assert signing_problem(checkpoint, note, KEYS, []) is None

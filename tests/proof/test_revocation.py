"""A key that is revoked from a size on is not believed there, and is below it."""

import pytest

from evidentia.proof.keys import SigningKey
from evidentia.proof.revocation import Revocation, revocation_by, revoked
from evidentia.trail.checkpoint import Checkpoint, read_checkpoint
from evidentia.trail.entry import Entry

ORIGIN = "evidentia/0011223344556677/acme"
AT = "2026-11-01T09:00:00.000000Z"
KEY, OTHER = (SigningKey.from_seed(ORIGIN, bytes([n]) * 32) for n in (1, 2))
ID = KEY.verifier.key_id


def entry(subject: str, kind: str = "key") -> Entry:
    return Entry("acme", 9, "0" * 64, kind, subject, AT, "0" * 64)


def test_an_entry_tells_of_it_with_its_body_and_without() -> None:
    one = Revocation(9, ID, 5, "it leaked", "owner")
    assert revocation_by(entry(one.subject), one.body()) == one
    assert revocation_by(entry(one.subject)) == Revocation(9, ID, 5)
    assert one.told == f"key {ID} is revoked from size 5 on (entry 9: it leaked)"
    assert Revocation(9, ID, 5).told == f"key {ID} is revoked from size 5 on (entry 9)"
    assert one.as_json() == {
        "key_id": ID,
        "from_size": 5,
        "entry": 9,
        "reason": "it leaked",
        "by": "owner",
    }


@pytest.mark.parametrize(
    ("subject", "kind"),
    [
        (f"revoked/{ID}/5", "access"),
        (f"revoked/{ID}/0", "key"),
        (f"revoked/{ID}/05", "key"),
        (f"revoked/{ID}", "key"),
        (ID, "key"),
    ],
)
def test_other_entries_revoke_nothing(subject: str, kind: str) -> None:
    assert revocation_by(entry(subject, kind), {"reason": "why", "by": "owner"}) is None


def test_a_checkpoint_is_believed_below_the_size() -> None:
    one = Revocation(9, ID, 5)
    for size, found in ((4, None), (5, one), (6, one)):
        checkpoint = Checkpoint(ORIGIN, size, bytes(32))
        _, note = read_checkpoint(checkpoint.sign(KEY.private_key))
        assert revoked([one], checkpoint, note) == found
        assert revoked([], checkpoint, note) is None


def test_one_that_another_key_signed_too_is_believed_by_that() -> None:
    checkpoint = Checkpoint(ORIGIN, 5, bytes(32))
    text = checkpoint.sign(KEY.private_key)
    both = text + checkpoint.sign(OTHER.private_key).rpartition("\n\n")[2]
    _, note = read_checkpoint(both)
    assert revoked([Revocation(9, ID, 5)], checkpoint, note) is None

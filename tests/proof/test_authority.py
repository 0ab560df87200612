"""Entries that permit or forbid count by a signature that was made for them alone."""

from typing import Any

import pytest

from evidentia.proof.authority import (
    Authority,
    Place,
    actor_of,
    begin_body,
    is_the_logs,
    signed_body,
    user_key,
    user_subject,
)
from evidentia.proof.keys import SigningKey
from evidentia.proof.revocation import Revocation, revocation_by
from evidentia.trail.entry import Entry, EntryKind

ORIGIN = "evidentia/0011223344556677/acme"
AT = "2026-11-01T09:00:00.000000Z"
FIRST, SECOND, THIRD = (SigningKey.from_seed(ORIGIN, bytes([n]) * 32) for n in (1, 2, 3))
NOOR = SigningKey.from_seed("evidentia-user", bytes([9]) * 32)
GRANT = {"action": "grant", "user": "sami", "role": "admin", "granted_by": "owner"}


def entry_at(seq: int, kind: str, subject: str, *, tenant: str = "acme", at: str = AT) -> Entry:
    return Entry(tenant, seq, "0" * 64, kind, subject, at, "0" * 64)


class Log:
    """Entries that permit or forbid, as a log has them; the others are left out."""

    def __init__(self) -> None:
        self.said: list[tuple[Entry, Any]] = []
        self.seq = 0

    def add(
        self, kind: EntryKind, subject: str, body: dict[str, Any], key: SigningKey | None
    ) -> tuple[Entry, Any]:
        entry = entry_at(self.seq, kind, subject)
        signed = body if key is None else signed_body(Place.of(ORIGIN, entry), body, key)
        self.seq += 1
        self.said.append((entry, signed))
        return entry, signed

    def announce(
        self, key: SigningKey, signer: SigningKey | None, **more: Any
    ) -> tuple[Entry, Any]:
        body = {"key": str(key.verifier), "replaces": None, "by": "owner", **more}
        return self.add(EntryKind.KEY, key.verifier.key_id, body, signer)

    def enroll(self, user: str, key: SigningKey, signer: SigningKey, by: str = "owner") -> None:
        public = key.private_key.public_key().public_bytes_raw()
        body = {"enrolls": str(user_key(public)), "user": user, "by": by}
        self.add(EntryKind.KEY, user_subject(user), body, signer)

    def withdraw(self, user: str, signer: SigningKey) -> None:
        body = {"withdraws": "00000000", "user": user, "by": "owner"}
        self.add(EntryKind.KEY, user_subject(user), body, signer)

    def revoke(self, key: SigningKey, size: int, signer: SigningKey) -> tuple[Entry, Any]:
        one = Revocation(self.seq, key.verifier.key_id, size, "it leaked", "owner")
        return self.add(EntryKind.KEY, one.subject, one.body(), signer)

    def grant(self, key: SigningKey | None, by: str = "owner") -> tuple[Entry, Any]:
        return self.add(EntryKind.ACCESS, "user/sami", GRANT | {"granted_by": by}, key)

    @property
    def authority(self) -> Authority:
        keys = [one for one in self.said if one[0].kind == EntryKind.KEY]
        return Authority.read(ORIGIN, keys)

    def problem(self, said: tuple[Entry, Any]) -> str | None:
        return self.authority.problem(*said)


@pytest.fixture
def log() -> Log:
    made = Log()
    made.announce(FIRST, FIRST)
    return made


def test_an_entry_that_the_logs_key_signed_counts(log: Log) -> None:
    assert log.authority.since == 0
    assert log.problem(log.grant(FIRST)) is None
    assert log.problem(log.said[0]) is None


@pytest.mark.parametrize(
    ("key", "why"),
    [(None, "has no signature of its own"), (SECOND, "and not by the log's key")],
)
def test_one_that_it_did_not_sign_decides_nothing(
    log: Log, key: SigningKey | None, why: str
) -> None:
    assert why in str(log.problem(log.grant(key)))


@pytest.mark.parametrize(
    "moved",
    [
        entry_at(7, "access", "user/sami"),
        entry_at(1, "retention", "user/sami"),
        entry_at(1, "access", "user/mallory"),
        entry_at(1, "access", "user/sami", tenant="other"),
        entry_at(1, "access", "user/sami", at="2026-11-02T09:00:00.000000Z"),
    ],
)
def test_a_signature_that_was_made_for_another_entry_does_not_count(log: Log, moved: Entry) -> None:
    _, body = log.grant(FIRST)
    why = "in whose name" if moved.kind == "retention" else "was made for something else"
    assert why in str(log.authority.problem(moved, body))


def test_nor_does_one_of_another_log_or_over_another_body(log: Log) -> None:
    entry, body = log.grant(FIRST)
    assert "something else" in str(log.authority.problem(entry, body | {"user": "mallory"}))
    other = Log()
    key = SigningKey("evidentia/ffffffffffffffff/acme", FIRST.private_key)
    other.announce(key, key)
    elsewhere = Authority.read(key.name, other.said)
    assert elsewhere.since is None  # what announces its key was not made for that log


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (None, "its body is gone"),
        ("text", "has no signature of its own"),
        ({"by": "owner", "signature": "x"}, "cannot be read"),
        ({"by": "owner", "signature": {"keyid": "00000000", "sig": "?"}}, "cannot be read"),
    ],
)
def test_what_is_no_signed_body_decides_nothing(log: Log, body: Any, why: str) -> None:
    assert why in str(log.authority.problem(entry_at(1, "access", "user/sami"), body))
    assert log.authority.distrusted(entry_at(1, "access", "user/sami"), body) is None


# From where on


def test_what_is_older_than_the_first_signed_entry_counts_by_the_rules_of_its_time() -> None:
    log = Log()
    log.announce(FIRST, None)
    before = log.grant(None)
    assert log.authority.since is None
    assert log.problem(before) is None
    log.add(EntryKind.KEY, "authority", begin_body("owner"), FIRST)
    assert log.authority.since == 2
    assert log.problem(before) is None
    assert "has no signature" in str(log.problem(log.grant(None)))


def test_only_the_logs_key_says_from_where_on() -> None:
    log = Log()
    log.announce(FIRST, None)
    log.add(EntryKind.KEY, "authority", begin_body("owner"), SECOND)
    assert log.authority.since is None


def test_the_first_key_signs_what_stands_before_its_announcement() -> None:
    log = Log()
    before = log.grant(FIRST)
    log.announce(FIRST, FIRST)
    assert log.authority.since == 1
    assert isinstance(log.authority.signer(*before), type(FIRST.verifier))


# The log's keys


def test_a_key_counts_once_the_one_before_it_signed_its_announcement(log: Log) -> None:
    log.announce(SECOND, FIRST)
    assert log.problem(log.grant(SECOND)) is None
    assert "not by the log's key" in str(log.problem(log.grant(FIRST)))


def test_one_that_announces_itself_does_not_unless_the_other_is_said_to_be_lost(log: Log) -> None:
    assert "not by the log's key" in str(log.problem(log.announce(SECOND, SECOND)))
    assert "not by the log's key" in str(log.problem(log.grant(SECOND)))
    assert log.problem(log.announce(THIRD, THIRD, lost="the disk failed")) is None
    assert log.problem(log.grant(THIRD)) is None


def test_a_key_that_takes_a_lost_ones_place_signs_the_adoption_before_it(log: Log) -> None:
    adoption = {"adopts": {"from": 1, "size": 1, "root": "0" * 64}, "reason": "old", "by": "owner"}
    said = log.add(EntryKind.KEY, "entries/1-1", adoption, SECOND)
    assert "not by the log's key" in str(log.problem(said))
    log.announce(SECOND, SECOND, lost="gone")
    assert log.problem(said) is None
    place = Place.of(ORIGIN, entry_at(1, "access", "user/sami"))
    grant = signed_body(place, GRANT, SECOND)
    assert "not by the log's key" in str(
        log.authority.problem(entry_at(1, "access", "user/sami"), grant)
    )


def test_a_key_that_cannot_be_read_is_none(log: Log) -> None:
    for text in ("nonsense", 7):
        body = {"key": text, "replaces": None, "by": "owner"}
        log.add(EntryKind.KEY, "00000000", body, FIRST)
    assert [one.key for one in log.authority.keys] == [FIRST.verifier]


# Users' keys


def test_where_a_user_has_a_key_the_logs_own_does_not_sign_in_that_name(log: Log) -> None:
    assert log.problem(log.grant(FIRST, "noor")) is None
    log.enroll("noor", NOOR, FIRST)
    assert "not by the key that 'noor' has enrolled" in str(log.problem(log.grant(FIRST, "noor")))
    assert log.problem(log.grant(NOOR, "noor")) is None
    assert "not by the log's key" in str(log.problem(log.grant(NOOR, "owner")))
    assert log.problem(log.grant(FIRST, "owner")) is None


def test_the_logs_own_entries_are_signed_by_its_key_whoever_acts(log: Log) -> None:
    log.enroll("noor", NOOR, FIRST)
    assert log.problem(log.announce(SECOND, FIRST, by="noor")) is None
    assert "not by the log's key" in str(log.problem(log.announce(THIRD, NOOR, by="noor")))


def test_a_users_key_is_replaced_and_withdrawn(log: Log) -> None:
    log.enroll("noor", NOOR, FIRST)
    log.enroll("sami", NOOR, FIRST)
    other = SigningKey.from_seed("evidentia-user", bytes([8]) * 32)
    log.enroll("noor", other, NOOR, by="noor")
    assert "enrolled" in str(log.problem(log.grant(NOOR, "noor")))
    assert log.problem(log.grant(other, "noor")) is None
    log.withdraw("noor", FIRST)
    assert log.problem(log.grant(FIRST, "noor")) is None
    found = [(one.user, one.since, one.withdrawn_at) for one in log.authority.users]
    assert found == [("noor", 1, 3), ("sami", 2, None), ("noor", 3, 6)]
    told = log.authority.users[0].as_json()
    assert (told["user"], told["enrolled_by"], told["withdrawn_at_entry"]) == ("noor", "owner", 3)


def test_an_enrolment_that_is_not_signed_or_about_another_user_enrolls_no_one(log: Log) -> None:
    log.enroll("noor", NOOR, SECOND)
    body = {"enrolls": str(NOOR.verifier), "user": "noor", "by": "owner"}
    log.add(EntryKind.KEY, "user/sami", body, FIRST)
    log.add(EntryKind.KEY, "elsewhere", {"what": "else"}, FIRST)
    assert log.authority.users == ()


@pytest.mark.parametrize(
    ("kind", "body", "actor"),
    [
        ("access", {"action": "grant", "granted_by": "noor", "by": "owner"}, "noor"),
        ("access", {"action": "grant", "by": "owner"}, None),
        ("access", {"action": "revoke", "granted_by": "owner", "by": "noor"}, "noor"),
        ("erasure", {"by": "counsel", "carried_out_by": "noor"}, "noor"),
        ("retention", {"carried_out_by": "owner", "by": "noor"}, "noor"),
        ("retention", {"by": 7}, None),
        ("retention", {}, None),
        ("retention", None, None),
    ],
)
def test_in_whose_name_a_body_is(kind: str, body: Any, actor: str | None) -> None:
    assert actor_of(kind, body) == actor
    assert not is_the_logs(body)


def test_what_is_in_no_ones_name_decides_nothing(log: Log) -> None:
    log.enroll("owner", NOOR, FIRST)
    said = log.add(EntryKind.RETENTION, "pack-1", {"action": "release"}, FIRST)
    assert log.problem(said) == "does not say in whose name it is"


# Revocation


def test_what_a_revoked_key_signed_from_a_size_on_is_not_believed(log: Log) -> None:
    early, late = log.grant(FIRST), log.grant(FIRST)
    log.announce(SECOND, FIRST)
    revocation = log.revoke(FIRST, 3, SECOND)
    known = log.authority
    assert [one.told for one in known.revocations] == [
        f"key {FIRST.verifier.key_id} is revoked from size 3 on (entry 4: it leaked)"
    ]
    assert known.distrusted(*early) is None
    assert known.distrusted(*late) == known.revocations[0] == revocation_by(*revocation)
    assert known.problem(*late) is None
    assert [one.key for one in known.keys] == [FIRST.verifier, SECOND.verifier]


def test_what_it_enrolled_and_revoked_itself_does_not_count_either(log: Log) -> None:
    log.enroll("noor", NOOR, FIRST)
    log.announce(SECOND, FIRST)
    log.enroll("noor", NOOR, SECOND)
    log.enroll("sami", NOOR, SECOND)
    log.revoke(FIRST, 1, SECOND)
    log.announce(THIRD, SECOND)
    assert [one.is_current(9) for one in log.authority.users] == [True, True]
    log.revoke(SECOND, 5, THIRD)
    known = log.authority
    assert [one.key_id for one in known.revocations] == [SECOND.verifier.key_id]
    assert [(one.user, one.withdrawn_at) for one in known.users] == [("noor", 3), ("noor", None)]


def test_an_unsigned_revocation_revokes_nothing(log: Log) -> None:
    log.announce(SECOND, FIRST)
    log.revoke(FIRST, 1, FIRST)
    assert log.authority.revocations == ()

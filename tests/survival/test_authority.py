"""Whoever gets an entry into the log without the key it needs permits and forbids nothing by it."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import evidentia as ev
from evidentia.canonical import canonical_json
from evidentia.errors import (
    EnvironmentProblem,
    EvidentiaError,
    InputError,
    IntegrityError,
    NotFoundError,
)
from evidentia.packs.retention import RetentionPolicy
from evidentia.proof.document import Proof
from evidentia.proof.keys import SigningKey
from evidentia.store.database import run
from evidentia.store.sql import log
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.entry import EntryKind
from evidentia.trail.waiting import waiting
from evidentia.workspace import Workspace
from evidentia.workspace.opened import Opened
from insider import AT, append_unsigned, slip_in, without_guards
from places import Place, record
from survival.test_insider import FORGED, GRANT, problems, without_kept
from unpacking import unpack

pytestmark = pytest.mark.as_owner

if TYPE_CHECKING:
    from collections.abc import Callable

OLD = Path(__file__).parents[1] / "old" / "v0.1.0" / "workspace.tar.gz"
HOLD = {"action": "hold", "reason": "a case", "by": "owner"}


def users(workspace: Workspace) -> list[str]:
    return [one.user for one in workspace.access.grants()]


def body_of(workspace: Workspace, seq: int) -> Any:
    return workspace.trail.entry(seq).body


# Entries without a signature of their own


def test_what_permits_and_was_not_signed_as_such_decides_nothing(place: Place) -> None:
    workspace = place.open()
    workspace.access.grant("noor", "approver")
    slip_in(workspace, (EntryKind.RETENTION, "pack-1", HOLD), *FORGED)
    for opened in (workspace, place.open()):
        assert users(opened) == ["noor"]
        assert opened.packs.retention().years == 7
        assert "pack-1" in opened.packs.held()  # all that a hold does is keep
        named = problems(opened)
        assert "entry 3 (access): has no signature of its own: it decides nothing" in named
        for seq in (2, 4, 5):
            assert f"entry {seq} (retention): has no signature of its own" in named
        assert not opened.trail.audit().holds
        assert not opened.audit(quick=True).holds


def test_a_signature_is_good_in_its_own_place_alone(place: Place) -> None:
    workspace, other = place.open(), place.open("other")
    workspace.access.grant("mallory", "viewer")
    workspace.access.grant("mallory", "admin")
    workspace.access.revoke("mallory", "admin")
    other.access.grant("mallory", "admin")
    again, elsewhere = body_of(workspace, 2), body_of(other, 0)
    raised = body_of(workspace, 0) | {"role": "admin"}
    for body in (again, elsewhere, raised):
        slip_in(workspace, (EntryKind.ACCESS, "user/mallory", body))
    slip_in(workspace, (EntryKind.ACCESS, "user/eve", again | {"user": "eve"}))
    assert [(one.user, one.role.value) for one in place.open().access.grants()] == [
        ("mallory", "viewer")
    ]
    named = problems(workspace)
    for seq in (4, 6, 7):
        assert f"entry {seq} (access): has a signature by key" in named
    assert "entry 5 (access): is signed by key" in named


def test_a_body_that_is_taken_away_from_what_decides_is_not_passed_over(
    sqlite_place: Place,
) -> None:
    workspace = sqlite_place.open()
    workspace.access.grant("noor", "approver")
    slip_in(workspace, (EntryKind.RETENTION, "pack-1", HOLD))
    for table_seq in (0, 2):
        without_guards(
            workspace,
            lambda connection, seq=table_seq: run(  # type: ignore[misc]
                connection, "DELETE FROM trail_bodies WHERE seq = ?", (seq,)
            ),
        )
    opened = sqlite_place.open()
    for attempt in (opened.access.grants, opened.packs.held):
        with pytest.raises(IntegrityError, match="has no body, though no entry erased it"):
            attempt()


# Where an older log begins to sign


@pytest.fixture
def old_home(tmp_path: Path) -> Path:
    unpack(OLD, tmp_path)
    with ev.open(tmp_path / ".evidentia"):  # which brings its database up to date
        pass
    return tmp_path / ".evidentia"


def test_an_older_log_says_with_its_next_append_that_authority_is_signed(old_home: Path) -> None:
    with ev.open(old_home, create=False) as ws:
        held = ws.packs.held()
        size = ws.trail.size
        assert held
        assert ws.append(record(1)).seq == size
        assert [one.entry.kind for one in ws.trail.entries(after=size)] == ["key"]
        assert body_of(ws, size + 1)["authority"] == "signed"
        ws.append(record(2))
        assert ws.trail.size == size + 3  # it says so once
        assert ws.trail.audit().holds
        assert ws.packs.held() == held
        slip_in(ws, (EntryKind.ACCESS, "user/mallory", GRANT))
        assert "mallory" not in users(ws)
        assert "has no signature of its own" in problems(ws)
    with ev.open(old_home, create=False) as ws:
        ws.access.grant("noor", "approver")
        assert "noor" in users(ws)
        assert "mallory" not in users(ws)


def test_what_an_older_version_granted_counts_as_it_did(old_home: Path) -> None:
    with ev.open(old_home, create=False) as ws:
        with ws.opened.database.of(ws.tenant).write(
            sequencing=True
        ) as connection:  # as that version appended it
            held = ws.opened.appending.hold(connection, "default", by="owner")
            held._says_signed = True
            held.append([waiting("access", "user/sami", GRANT | {"user": "sami"}, AT, bytes(32))])
            held.sign()
        ws.opened.appending.committed(held)
        assert users(ws) == ["noor", "sami"]
        ws.append(record(1))
        assert users(ws) == ["noor", "sami"]
        assert ws.trail.audit().holds


# Users' keys


def enrolled(place: Place) -> tuple[Workspace, Workspace]:
    """Return the owner's workspace, and that of an admin who has a key."""
    owner = place.open()
    owner.access.grant("noor", "admin")
    owner.trail.enroll("noor", str(owner.trail.new_user_key()))
    return owner, owner.opened.for_(user="noor")


def test_where_a_user_has_a_key_the_logs_key_grants_nothing_in_that_name(place: Place) -> None:
    owner, noor = enrolled(place)
    noor.access.grant("sami", "viewer")
    assert users(owner) == ["noor", "sami"]
    forged = GRANT | {"granted_by": "noor"}
    with owner.opened.database.of(owner.tenant).write(
        sequencing=True
    ) as connection:  # whoever has the log's key, and not noor's
        held = owner.opened.appending.hold(connection, "default", by="owner")
        key = held.signing_key()
        held.append_signed("access", "user/mallory", forged, at=AT, key=key)
        held.sign()
    owner.opened.appending.committed(held)
    assert users(place.open()) == ["noor", "sami"]
    assert "not by the key that 'noor' has enrolled: it decides nothing" in problems(owner)


def test_without_it_the_user_permits_nothing_and_is_told_so(place: Place) -> None:
    owner, noor = enrolled(place)
    for file in (place.home.folder / "keys" / "_users").iterdir():
        file.unlink()
    fresh = place.open().opened.for_(user="noor")
    attempts: list[Callable[[], Any]] = [
        partial(fresh.access.grant, "sami", "viewer"),
        partial(fresh.packs.set_retention, RetentionPolicy(years=1, basis="none")),
        partial(fresh.trail.withdraw, "noor"),
    ]
    size = owner.trail.size
    for attempt in attempts:
        with pytest.raises(
            EnvironmentProblem, match=r"'noor' has enrolled key .* is not in .*_users"
        ):
            attempt()
    assert owner.trail.size == size
    assert fresh.append(record(1)).seq == size  # what decides nothing needs no such key
    owner.trail.withdraw("noor")
    noor.access.grant("sami", "viewer")
    assert "sami" in users(owner)
    assert owner.trail.audit().holds


def test_the_owner_may_have_a_key_too(place: Place) -> None:
    owner = place.open()
    key = owner.trail.new_user_key()
    owner.trail.enroll("owner", key)
    owner.access.grant("noor", "viewer")
    assert body_of(owner, owner.trail.size - 1)["signature"]["keyid"] == key.key_id
    owner.trail.rotate_key()
    owner.access.grant("sami", "viewer")
    assert users(place.open()) == ["noor", "sami"]
    assert owner.trail.audit().holds


def test_enrolling_is_refused_where_it_changes_nothing(place: Place) -> None:
    owner, _ = enrolled(place)
    (one,) = owner.trail.users()
    with pytest.raises(InputError, match="is the one of 'noor' already"):
        owner.trail.enroll("noor", one.key)
    with pytest.raises(NotFoundError, match="'sami' has no key"):
        owner.trail.withdraw("sami")
    with pytest.raises(EvidentiaError):
        owner.trail.enroll("sami", "no key")


# Revoked keys


def as_bytes(proof: Proof) -> bytes:
    return canonical_json(proof.as_json())


def checkpoint_of(workspace: Workspace, size: int) -> str:
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        note = log.checkpoint_of(connection, "default", size)
    assert note is not None
    return note


def leaked(place: Place) -> tuple[Workspace, str, SigningKey]:
    """Return a log whose first key is replaced, revoked from size 3 on, and known to others."""
    workspace = place.open()
    for number in range(4):
        workspace.append(record(number))
    old = workspace.trail.public_key()
    key = workspace.opened.appending.key("default", old.key_id, old.name)
    workspace.access.grant("mallory", "admin")
    workspace.trail.rotate_key()
    workspace.trail.revoke_key(old.key_id, from_size=3, reason="a copy was found")
    return workspace, old.key_id, key


def test_a_proof_by_a_revoked_key_does_not_hold_for_who_knows_of_it(
    place: Place, tmp_path: Path
) -> None:
    workspace = place.open()
    for number in range(4):
        workspace.append(record(number))
    early = as_bytes(workspace.trail.prove_under(checkpoint_of(workspace, 2), 0))
    late = as_bytes(workspace.trail.prove(0))
    old = workspace.trail.public_key()
    new = workspace.trail.rotate_key()
    keys = [str(old), str(new)]
    told = workspace.trail.revoke_key(old.key_id, from_size=3, reason="a copy was found")
    later = as_bytes(workspace.trail.prove(told.seq))
    workspace.trail.publish(tmp_path / "log", versions=True)
    workspace.trail.publish(tmp_path / "bare")
    assert ev.verify(late, key=keys).holds
    ways: list[dict[str, Any]] = [
        {"later": later},
        {"log": tmp_path / "log"},
        {"log": tmp_path / "bare"},
        {"workspace": workspace},
    ]
    for way in ways:
        report = ev.verify(late, key=keys, **way)
        assert not report.holds
        (why,) = [check.says for check in report.checks if check.holds is False]
        assert f"key {old.key_id} is revoked from size 3 on (entry {told.seq}" in why
        assert ev.verify(early, key=keys, **way).holds
    assert ev.verify(tmp_path / "log", key=str(new)).holds
    again = workspace.trail.prove(0, signed_by=old.key_id)
    assert read_checkpoint(again.checkpoint)[0].size == 2
    assert ev.verify(as_bytes(again), key=keys, workspace=workspace).holds


def test_what_it_permitted_from_there_on_decides_nothing_and_the_audit_says_so(
    place: Place,
) -> None:
    workspace, old, _ = leaked(place)
    for opened in (workspace, place.open()):
        assert users(opened) == []
        report = opened.trail.audit(signatures=True)
        assert report.holds, report.findings
        assert any(
            f"key {old} is revoked from size 3 on" in note and "1 entry that it signed" in note
            for note in report.notes
        )
    workspace.access.grant("noor", "viewer")
    assert users(workspace) == ["noor"]


def test_nothing_that_a_revoked_key_vouched_for_is_believed_by_who_has_only_that(
    place: Place, tmp_path: Path
) -> None:
    workspace, old, _ = leaked(place)
    stranger = without_kept(workspace, tmp_path / "stranger")
    first, second = (str(one.key) for one in workspace.trail.keys())  # noqa: SIM118 - no mapping
    assert stranger.trail.audit(keys=[second]).holds
    report = stranger.trail.audit(keys=[first])
    assert f"took the place of key {old} without its signature, which is revoked" in str(
        [str(one) for one in report.findings]
    )


def test_a_checkpoint_that_a_revoked_key_signed_is_no_outside_word(place: Place) -> None:
    workspace = place.open()
    for number in range(4):
        workspace.append(record(number))
    kept = workspace.trail.checkpoint()
    old = workspace.trail.public_key().key_id
    workspace.trail.rotate_key()
    assert workspace.trail.audit(since=kept).holds
    workspace.trail.revoke_key(old, from_size=3, reason="a copy was found")
    found = workspace.trail.audit(since=kept).findings
    assert "is not believed: key" in str([str(one) for one in found])


def test_what_cannot_be_revoked_is_refused(place: Place) -> None:
    workspace = place.open()
    workspace.append(record(1))
    old = workspace.trail.public_key().key_id
    revoke = workspace.trail.revoke_key
    with pytest.raises(InputError, match="signs now: replace it first, by 'evidentia keys rotate'"):
        revoke(old, from_size=1, reason="leaked")
    workspace.trail.rotate_key()
    for size in (0, 9):
        with pytest.raises(InputError, match="from a size of 1 to 3"):
            revoke(old, from_size=size, reason="leaked")
    with pytest.raises(NotFoundError, match="has no key"):
        revoke("00000000", from_size=1, reason="leaked")
    with pytest.raises(InputError, match="needs a reason"):
        revoke(old, from_size=1, reason=" ")
    revoke(old, from_size=2, reason="leaked")
    with pytest.raises(InputError, match="nothing is changed: key"):
        revoke(old, from_size=3, reason="leaked")
    revoke(old, from_size=1, reason="leaked earlier")
    with pytest.raises(NotFoundError, match="no checkpoint to use: key"):
        workspace.trail.prove(0, signed_by=old)
    assert workspace.trail.audit().holds


# What an audit trusts


def test_the_databases_own_word_is_not_enough(place: Place, tmp_path: Path) -> None:
    workspace = place.open()
    workspace.append(record(1))
    key = workspace.trail.public_key()
    stranger = Opened(workspace.opened.database, type(place.home)(tmp_path / "stranger")).for_()
    report = stranger.trail.audit()
    assert report.findings == ()
    assert not report.holds
    assert "nothing outside the database says whose log this is" in str(report.unknown)
    assert not stranger.audit(quick=True).holds
    named = stranger.trail.audit(keys=[str(key)])
    assert named.holds
    assert [one.as_json() for one in named.trusted] == [
        {"key_id": key.key_id, "reason": "it was named"}
    ]
    stranger.trail.keep_checkpoint(named)
    (kept,) = stranger.trail.audit().trusted
    assert kept.reason.startswith("it signed the checkpoint kept in")
    (held,) = workspace.trail.audit().trusted
    assert held.reason == "its private key is in this home"


def test_a_key_that_was_named_and_is_not_the_logs_is_said(place: Place) -> None:
    workspace = place.open()
    workspace.append(record(1))
    other = SigningKey.from_seed(workspace.trail.public_key().name, bytes(32)).verifier
    elsewhere = SigningKey.from_seed("evidentia/ffffffffffffffff/x", bytes(32)).verifier
    report = workspace.trail.audit(keys=[str(other), str(elsewhere)])
    said = str([str(one) for one in report.findings])
    assert "is none of the keys that the log announces" in said
    assert "was named for log evidentia/ffffffffffffffff/x" in said


# An unsigned tail, and its key lost


def test_a_log_whose_key_is_lost_with_its_tail_unsigned_goes_on(place: Place) -> None:
    workspace = place.open()
    workspace.append(record(1))
    append_unsigned(workspace, (EntryKind.PACK, "pack-1", {"pack": 1}), *FORGED)
    for file in (place.home.folder / "keys" / "default").glob("*.pem"):
        file.unlink()
    opened = place.open()
    with pytest.raises(EnvironmentProblem, match="private key"):
        opened.trail.adopt(reason="written by 0.1")
    with pytest.raises(IntegrityError, match="not signed"):
        opened.trail.rotate_key(lost="the disk failed")
    opened.trail.adopt(reason="written by 0.1", lost="the disk failed")
    assert opened.append(record(2)).seq == 8
    report = place.open().trail.audit(signatures=True)
    assert report.holds, report.findings
    assert any("were adopted unsigned by owner: written by 0.1" in one for one in report.notes)
    assert any("was lost, and key" in one for one in report.notes)
    assert users(opened) == []


def test_a_key_that_is_here_is_not_lost_when_adopting(place: Place) -> None:
    workspace = place.open()
    workspace.append(record(1))
    append_unsigned(workspace, (EntryKind.PACK, "pack-1", {"pack": 1}))
    with pytest.raises(InputError, match="is not lost"):
        workspace.trail.adopt(reason="written by 0.1", lost="by mistake")

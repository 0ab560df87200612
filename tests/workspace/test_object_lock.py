"""Packs in a bucket with Object Lock: it keeps them as the trail says, and an audit compares."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Connection

from evidentia.canonical import sha256_hex
from evidentia.errors import InputError, UsageError
from evidentia.packs.retention import RETENTION_PRESETS
from evidentia.store.database import Database, run
from evidentia.store.object_lock import ObjectLock
from evidentia.workspace import Workspace
from packing import Clock, decision, memo, opened
from places import Place, lake_of
from seaweed import Bucket

FILE = b"what the pack has attached"
DIGEST = sha256_hex(FILE)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def workspace(place: Place, locked_bucket: Bucket, clock: Clock) -> Workspace:
    return opened(place, clock=clock, lake=locked_bucket.url)


@pytest.fixture(autouse=True)
def _asked_under_no_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse what is asked of the bucket about locks inside a writing transaction."""
    inside, write, asking = threading.local(), Database.write, ObjectLock._asking

    @contextmanager
    def writing(database: Database, **how: bool) -> Iterator[Connection]:
        with write(database, **how) as connection:
            inside.depth = getattr(inside, "depth", 0) + 1
            try:
                yield connection
            finally:
                inside.depth -= 1

    def asked(locks: ObjectLock, key: str) -> Any:
        assert not getattr(inside, "depth", 0), f"{key} is asked about while the log is held"
        return asking(locks, key)

    monkeypatch.setattr(Database, "write", writing)
    monkeypatch.setattr(ObjectLock, "_asking", asked)


def sealed(workspace: Workspace, number: int = 1) -> str:
    pack = workspace.assemble(decision(number), memo=memo(), attachments={"a": FILE})
    return pack.pack_id


def place_of(workspace: Workspace, digest: str = DIGEST) -> tuple[str, str]:
    """Return the key and the version that the database's row of a file points to."""
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        sql = "SELECT object_key, version FROM lake_objects WHERE digest = ?"
        ((key, version),) = run(connection, sql, (digest,)).all()
    return key, version


def lock_of(workspace: Workspace, bucket: Bucket, digest: str = DIGEST) -> tuple[Any, ...]:
    """Return what the bucket says of a file: its mode, until when it is kept, whether on hold."""
    key, version = place_of(workspace, digest)
    said = bucket.client().head_object(Bucket=bucket.name, Key=key, VersionId=version)
    names = ("ObjectLockMode", "ObjectLockRetainUntilDate", "ObjectLockLegalHoldStatus")
    return tuple(said.get(name) for name in names)


def statement_of(workspace: Workspace, pack_id: str) -> str:
    return workspace.packs.find(pack_id).statement_sha256


def test_a_sealed_pack_and_its_files_are_kept_by_the_bucket(
    workspace: Workspace, locked_bucket: Bucket
) -> None:
    pack_id = sealed(workspace)
    for digest in (DIGEST, statement_of(workspace, pack_id)):
        mode, until, held = lock_of(workspace, locked_bucket, digest)
        assert mode == "GOVERNANCE"
        assert held != "ON"
        assert until.astimezone(UTC) == datetime(2033, 3, 1, 12, tzinfo=UTC)
    key, version = place_of(workspace)
    client, name = locked_bucket.client(), locked_bucket.name
    with pytest.raises(client.exceptions.ClientError, match="AccessDenied"):
        client.delete_object(Bucket=name, Key=key, VersionId=version)
    assert workspace.packs.audit().problems == ()
    assert workspace.packs.lock() == []


def test_a_hold_is_on_the_object_until_it_is_released(
    workspace: Workspace, locked_bucket: Bucket
) -> None:
    pack_id = sealed(workspace)
    workspace.packs.hold(pack_id, reason="a dispute")
    assert lock_of(workspace, locked_bucket)[2] == "ON"
    revised = workspace.packs.revise(pack_id, {"memo": memo(title_en="Again")})
    assert lock_of(workspace, locked_bucket, statement_of(workspace, revised.pack_id))[2] == "ON"
    assert workspace.packs.audit().problems == ()
    workspace.packs.release(pack_id, reason="it is settled")
    assert lock_of(workspace, locked_bucket)[2] == "OFF"
    assert workspace.packs.audit().problems == ()


def test_a_file_of_two_packs_stays_on_hold_for_the_one_that_is_held(
    workspace: Workspace, locked_bucket: Bucket
) -> None:
    one, other = sealed(workspace, 1), sealed(workspace, 2)
    workspace.packs.hold(one, reason="a dispute")
    workspace.packs.hold(other, reason="another")
    workspace.packs.release(one, reason="it is settled")
    assert lock_of(workspace, locked_bucket)[2] == "ON"
    assert lock_of(workspace, locked_bucket, statement_of(workspace, one))[2] == "OFF"


def test_what_is_locked_in_governance_mode_can_be_erased_by_law(
    workspace: Workspace, locked_bucket: Bucket
) -> None:
    pack_id = sealed(workspace)
    workspace.trail.erase(workspace.packs.find(pack_id).entry, reason="law", by="counsel")
    found = locked_bucket.client().list_object_versions(Bucket=locked_bucket.name)
    assert not found.get("Versions")
    assert not found.get("DeleteMarkers")
    assert list(lake_of(workspace).digests()) == []


def test_compliance_mode_is_chosen_knowingly_and_forbids_erasure_too(
    workspace: Workspace, locked_bucket: Bucket
) -> None:
    assert workspace.packs.lock_mode() == "governance"
    with pytest.raises(InputError, match="not even where the law wants them erased, and no one"):
        workspace.packs.set_lock_mode("compliance")
    with pytest.raises(InputError, match="there is no mode 'strict': use governance or compliance"):
        workspace.packs.set_lock_mode("strict")
    before = sealed(workspace)
    workspace.packs.set_lock_mode("compliance", accept_no_erasure=True)
    assert workspace.packs.lock_mode() == "compliance"
    assert any("(governance), and the trail keeps" in one for one in problems(workspace))
    assert len(workspace.packs.lock()) == 2
    assert lock_of(workspace, locked_bucket)[0] == "COMPLIANCE"
    entry = workspace.packs.find(before).entry
    with pytest.raises(UsageError, match=r"in compliance mode until 2033.*nothing was erased"):
        workspace.trail.erase(entry, reason="law", by="counsel")
    assert workspace.packs.get(before).pack_id == before
    assert problems(workspace) == []


def problems(workspace: Workspace) -> list[str]:
    return list(workspace.packs.audit().problems)


def test_an_audit_names_what_the_bucket_hides_adds_or_no_longer_keeps(
    workspace: Workspace, locked_bucket: Bucket
) -> None:
    sealed(workspace)
    client, name = locked_bucket.client(), locked_bucket.name
    key, version = place_of(workspace)
    of = {"Bucket": name, "Key": key, "VersionId": version}
    client.delete_object(Bucket=name, Key=key)
    (hidden,) = problems(workspace)
    assert f"{key} was deleted in the bucket: a marker hides it, and its version" in hidden
    client.put_object(Bucket=name, Key=key, Body=b"another")
    assert any(
        "has other versions in the bucket than was sealed" in one for one in problems(workspace)
    )
    for other in lake_of(workspace).locks.versions(key):  # type: ignore[attr-defined]
        if other.version != version:
            client.delete_object(Bucket=name, Key=key, VersionId=other.version)
    assert problems(workspace) == []

    client.put_object_legal_hold(**of, LegalHold={"Status": "ON"})
    (held,) = problems(workspace)
    assert "is on hold in the bucket, and not on hold in the trail: 'evidentia pack lock'" in held
    shorter = {"Mode": "GOVERNANCE", "RetainUntilDate": datetime(2029, 1, 1, tzinfo=UTC)}
    client.put_object_retention(**of, Retention=shorter, BypassGovernanceRetention=True)
    assert any("is locked in the bucket until 2029-01-01" in one for one in problems(workspace))
    assert workspace.packs.lock() == [DIGEST]
    assert problems(workspace) == []

    client.put_object_legal_hold(**of, LegalHold={"Status": "OFF"})
    client.delete_object(**of, BypassGovernanceRetention=True)
    found = " ".join(problems(workspace))
    assert f"version {version} of {key} is not in the bucket" in found
    assert "gone from the lake" in found


def test_a_lock_that_a_crash_left_out_is_found_and_set(
    workspace: Workspace, locked_bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(ObjectLock, "retain", _end)
        with pytest.raises(KeyboardInterrupt):
            sealed(workspace)
    found = problems(workspace)
    assert len(found) == 2
    assert all("is not locked in the bucket, and kept until 2033" in one for one in found)
    assert len(workspace.packs.lock()) == 2
    assert problems(workspace) == []


def _end(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_longer_retention_is_brought_to_the_bucket(
    workspace: Workspace, locked_bucket: Bucket
) -> None:
    sealed(workspace)
    workspace.packs.set_retention(RETENTION_PRESETS["saudi-financial"])
    assert all("the trail keeps it until 2036" in one for one in problems(workspace))
    assert len(workspace.packs.lock()) == 2
    assert lock_of(workspace, locked_bucket)[1].year == 2036
    assert problems(workspace) == []


def test_without_object_lock_there_is_nothing_to_bring_in_step(
    place: Place, bucket: Bucket
) -> None:
    for lake in (None, bucket.url):
        workspace = opened(place, lake=lake)
        with pytest.raises(UsageError, match="in no bucket with Object Lock: make one with it"):
            workspace.packs.lock()


def test_an_audit_says_where_a_bucket_locks_no_packs(
    place: Place, bucket: Bucket, clock: Clock
) -> None:
    workspace = opened(place, lake=bucket.url, clock=clock)
    assert workspace.audit().part("packs").notes == (), "there is none to be removed"
    sealed(workspace)
    report = workspace.audit()
    assert report.holds
    assert any("its bucket has no Object Lock" in one for one in report.part("packs").notes)


def test_an_audit_of_a_bucket_that_locks_says_nothing_of_it(workspace: Workspace) -> None:
    sealed(workspace)
    assert not any("Object Lock" in one for one in workspace.audit().part("packs").notes)

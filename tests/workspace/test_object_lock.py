"""Packs in a bucket with Object Lock: it keeps them as the trail says, and an audit compares."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from sqlalchemy import Connection

from evidentia.canonical import sha256_hex
from evidentia.errors import EnvironmentProblem, InputError, NotFoundError, UsageError
from evidentia.packs.retention import RETENTION_PRESETS, RetentionPolicy
from evidentia.store.database import Database, run
from evidentia.store.lake import Placed
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


def test_a_link_gives_the_version_that_was_sealed_whatever_hides_it(
    workspace: Workspace, place: Place, locked_bucket: Bucket
) -> None:
    pack_id = sealed(workspace)
    key, version = place_of(workspace)
    client, name = locked_bucket.client(), locked_bucket.name

    def given() -> bytes:
        link = opened(place, lake=locked_bucket.url).packs.attachment_link(pack_id, DIGEST)
        assert link is not None
        with urlopen(link) as answer:
            data: bytes = answer.read()
        return data

    client.delete_object(Bucket=name, Key=key)
    assert given() == FILE
    assert lake_of(opened(place, lake=locked_bucket.url)).holds(DIGEST)
    client.put_object(Bucket=name, Key=key, Body=b"another")
    assert given() == FILE
    for one in lake_of(workspace).locks.versions(key):  # type: ignore[attr-defined]
        if one.version != version:
            client.delete_object(Bucket=name, Key=key, VersionId=one.version)
    client.delete_object(Bucket=name, Key=key)
    point(workspace, *place_of(workspace, statement_of(workspace, pack_id)))
    assert given() == FILE  # a row that points to another object is not believed


def point(workspace: Workspace, key: str, version: str) -> None:
    """Have the row of the file point to another object, as an insider could."""
    with workspace.opened.database.of(workspace.tenant).write() as connection:
        sql = "UPDATE lake_objects SET object_key = ?, version = ? WHERE digest = ?"
        run(connection, sql, (key, version, DIGEST))


def test_a_link_ends_and_leads_to_files_of_the_pack_alone(
    workspace: Workspace, place: Place, locked_bucket: Bucket
) -> None:
    pack_id, other = sealed(workspace), decision(2)
    workspace.assemble(other, memo=memo(), attachments={"b": b"of the other pack"})
    link = workspace.packs.attachment_link(pack_id, DIGEST, seconds=1)
    assert link is not None
    assert "X-Amz-Algorithm=AWS4-HMAC-SHA256" in link  # Amazon takes the older form no more
    time.sleep(2.5)
    with pytest.raises(HTTPError, match="403"):
        urlopen(link)
    for seconds in (0, 3_601):
        with pytest.raises(InputError, match="a link lasts for 1 to 3,600 seconds"):
            workspace.packs.attachment_link(pack_id, DIGEST, seconds=seconds)
    tenant = opened(place, "globex", lake=locked_bucket.url)
    theirs = tenant.assemble(decision(tenant_id="globex"), memo=memo())
    for one, digest in ((pack_id, sha256_hex(b"of the other pack")), (pack_id, "0" * 64)):
        with pytest.raises(NotFoundError, match="has no attachment"):
            workspace.packs.attachment_link(one, digest)
    with pytest.raises(NotFoundError, match="has no attachment"):
        tenant.packs.attachment_link(theirs.pack_id, DIGEST)
    with pytest.raises(NotFoundError):
        tenant.packs.attachment_link(pack_id, DIGEST)


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


def test_a_row_that_points_to_another_object_is_named_and_not_believed(
    workspace: Workspace, locked_bucket: Bucket
) -> None:
    pack_id = sealed(workspace)
    key, version = place_of(workspace)
    point(workspace, *place_of(workspace, statement_of(workspace, pack_id)))
    client, of = locked_bucket.client(), {"Bucket": locked_bucket.name, "Key": key}
    shorter = {"Mode": "GOVERNANCE", "RetainUntilDate": datetime(2029, 1, 1, tzinfo=UTC)}
    client.put_object_retention(
        **of, VersionId=version, Retention=shorter, BypassGovernanceRetention=True
    )
    found = " ".join(problems(workspace))
    assert f"the row of file {DIGEST} points to another object" in found
    assert f"{key} is locked in the bucket until 2029-01-01" in found
    assert workspace.packs.lock() == [DIGEST]
    assert place_of(workspace) == (key, version)
    assert problems(workspace) == []


def test_what_is_locked_for_compliance_stays_refused_under_another_mode(
    workspace: Workspace, locked_bucket: Bucket
) -> None:
    workspace.packs.set_lock_mode("compliance", accept_no_erasure=True)
    pack_id = sealed(workspace)
    workspace.packs.set_lock_mode("governance")
    assert all("which the trail does not ask for" in one for one in problems(workspace))
    assert workspace.packs.lock() == []
    workspace.packs.hold(pack_id, reason="a dispute")
    workspace.packs.release(pack_id, reason="it is settled")
    with pytest.raises(UsageError, match=r"in compliance mode until 2033.*nothing was erased"):
        workspace.trail.erase(workspace.packs.find(pack_id).entry, reason="law", by="counsel")
    assert workspace.packs.get(pack_id).pack_id == pack_id
    workspace.packs.set_retention(RETENTION_PRESETS["saudi-financial"])
    assert workspace.packs.lock() == []  # no one can make it governance; nor is it locked for more
    assert lock_of(workspace, locked_bucket)[:2] == (
        "COMPLIANCE",
        datetime(2033, 3, 1, 12, tzinfo=UTC),
    )
    longer = problems(workspace)
    assert len(longer) == 2
    assert all("keeps it until 2036" in one and "once that lock has ended" in one for one in longer)


def test_a_mode_is_chosen_where_there_are_locks(place: Place, bucket: Bucket) -> None:
    workspace = opened(place, lake=bucket.url)
    with pytest.raises(InputError, match="in no bucket with Object Lock"):
        workspace.packs.set_lock_mode("compliance", accept_no_erasure=True)
    assert workspace.packs.lock_mode() == "governance"
    assert workspace.trail.size == 0


def test_what_is_recorded_and_could_not_be_locked_is_told_as_recorded(
    workspace: Workspace, locked_bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise EnvironmentProblem("the object storage cannot be reached")

    with monkeypatch.context() as broken:
        broken.setattr(ObjectLock, "retain", away)
        with pytest.raises(
            EnvironmentProblem, match=r"is recorded \(entry 2 of.*'evidentia pack l"
        ):
            sealed(workspace)
    pack_id = workspace.packs.find("dec_1").id
    with monkeypatch.context() as broken:
        broken.setattr(ObjectLock, "hold", away)
        with pytest.raises(EnvironmentProblem, match=r"it is recorded \(entry 3 of the trail\)"):
            workspace.packs.hold(pack_id, reason="a dispute")
    assert set(workspace.packs.held()) == {pack_id}
    said = "is not on hold in the bucket, and on hold in the trail: 'evidentia pack lock' brings"
    assert sum(said in one for one in problems(workspace)) == 2
    assert len(workspace.packs.lock()) == 2
    assert lock_of(workspace, locked_bucket)[2] == "ON"
    assert problems(workspace) == []


def test_files_that_were_in_a_folder_before_stop_nothing_and_are_named(
    place: Place, locked_bucket: Bucket, clock: Clock
) -> None:
    before = opened(place, clock=clock)
    old = sealed(before)
    workspace = opened(place, clock=clock, lake=locked_bucket.url)
    workspace.packs.hold(old, reason="a dispute")
    newer = workspace.packs.revise(old, {"memo": memo(title_en="Again")}).pack_id
    new = workspace.assemble(decision(2), memo=memo()).pack_id
    for one in (newer, new):
        assert lock_of(workspace, locked_bucket, statement_of(workspace, one))[0] == "GOVERNANCE"
    statement = statement_of(workspace, old)
    found = problems(workspace)
    assert len(found) == 3  # the older version has two such files, the newer one of them
    assert all("is in no bucket, and not locked: it was kept in a folder" in one for one in found)
    address = f"{locked_bucket.url}/default/sha256/"
    with pytest.raises(NotFoundError, match=f"2 files of packs are in no bucket.*{address}"):
        workspace.packs.lock()
    for digest in (DIGEST, statement):
        key = f"evidence/default/sha256/{digest[:2]}/{digest[2:4]}/{digest}"
        data = lake_of(before).get(digest)
        locked_bucket.client().put_object(Bucket=locked_bucket.name, Key=key, Body=data)
    assert sorted(workspace.packs.lock()) == sorted([DIGEST, statement])
    assert lock_of(workspace, locked_bucket)[2] == "ON"
    assert problems(workspace) == []


def test_a_file_that_can_not_be_locked_stops_no_other(
    workspace: Workspace, locked_bucket: Bucket
) -> None:
    first = sealed(workspace)
    second = workspace.assemble(decision(2), memo=memo()).pack_id
    key, version = place_of(workspace, statement_of(workspace, second))
    of = {"Bucket": locked_bucket.name, "Key": key, "VersionId": version}
    locked_bucket.client().delete_object(**of, BypassGovernanceRetention=True)
    workspace.packs.set_retention(RETENTION_PRESETS["saudi-financial"])
    with pytest.raises(NotFoundError, match=f"version {version} of .*; what could be locked is"):
        workspace.packs.lock()
    for digest in (DIGEST, statement_of(workspace, first)):
        assert lock_of(workspace, locked_bucket, digest)[1].year == 2036


def test_a_file_of_a_later_pack_keeps_no_earlier_one_from_being_swept(
    workspace: Workspace, clock: Clock
) -> None:
    workspace.packs.set_lock_mode("compliance", accept_no_erasure=True)
    sealed(workspace)
    clock.pass_years(2)
    later = sealed(workspace, 2)
    clock.pass_years(5.5)
    with pytest.raises(UsageError, match="1 pack is removed"):  # by the bucket's clock it is early
        workspace.packs.sweep()
    assert [one.id for one in workspace.packs.list()] == [later]
    assert workspace.packs.attachment(later, DIGEST)[1] == FILE


def test_what_the_bucket_keeps_for_longer_stays_and_stops_no_sweep(
    workspace: Workspace, clock: Clock
) -> None:
    workspace.packs.set_lock_mode("compliance", accept_no_erasure=True)
    first = sealed(workspace)
    workspace.packs.set_lock_mode("governance")
    workspace.assemble(decision(2), memo=memo())
    workspace.packs.set_retention(RetentionPolicy(years=1, basis="shorter"))
    clock.pass_years(2)
    assert [one.decision_id for one in workspace.packs.sweep()] == ["dec_2"]
    assert workspace.packs.get(first).pack_id == first


def test_one_file_that_the_bucket_keeps_stops_no_other_removal_and_is_named(
    workspace: Workspace, locked_bucket: Bucket, clock: Clock
) -> None:
    packs = [
        workspace.assemble(decision(number), memo=memo(), attachments={"a": f"{number}".encode()})
        for number in (1, 2, 3)
    ]
    held = statement_of(workspace, packs[0].pack_id)
    key, version = place_of(workspace, held)
    of = {"Bucket": locked_bucket.name, "Key": key, "VersionId": version}
    locked_bucket.client().put_object_legal_hold(**of, LegalHold={"Status": "ON"})
    with pytest.raises(UsageError, match=r"entry 2 is erased \(entry 7 records it\).*hold on it"):
        workspace.trail.erase(2, reason="law", by="counsel")
    clock.pass_years(8)
    assert len(workspace.packs.sweep()) == 2
    assert list(lake_of(workspace).digests()) == [held]
    (said,) = {part.name: part.findings for part in workspace.audit().parts}["lake"]
    assert said.startswith(f"file {held} was erased, and is still in the lake: the next erasure or")
    locked_bucket.client().put_object_legal_hold(**of, LegalHold={"Status": "OFF"})
    assert workspace.packs.sweep() == []
    assert list(lake_of(workspace).digests()) == []


def test_a_sweep_that_leaves_files_says_so_behind_it(
    workspace: Workspace, locked_bucket: Bucket, clock: Clock
) -> None:
    for number in (1, 2):
        workspace.assemble(decision(number), memo=memo())
    key, version = place_of(workspace, workspace.packs.find("dec_1").statement_sha256)
    of = {"Bucket": locked_bucket.name, "Key": key, "VersionId": version}
    locked_bucket.client().put_object_legal_hold(**of, LegalHold={"Status": "ON"})
    clock.pass_years(8)
    with pytest.raises(
        UsageError, match=r"^2 packs are removed, as the trail says, and files of 1"
    ):
        workspace.packs.sweep()
    assert workspace.packs.list() == []


def test_a_file_that_another_server_locks_for_longer_meanwhile_is_locked(
    workspace: Workspace, locked_bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    retain = ObjectLock.retain

    def later(locks: ObjectLock, place: Placed, mode: Any, until: str, *, anew: bool) -> None:
        if place.digest == DIGEST:
            retain(locks, place, mode, until.replace("2033", "2034"))
        retain(locks, place, mode, until, anew=anew)

    monkeypatch.setattr(ObjectLock, "retain", later)
    sealed(workspace)
    assert lock_of(workspace, locked_bucket)[1].year == 2034
    assert problems(workspace) == []


def test_a_release_ends_the_hold_on_a_version_that_a_later_one_hides(
    workspace: Workspace, place: Place, locked_bucket: Bucket, clock: Clock
) -> None:
    pack_id = sealed(workspace)
    workspace.packs.hold(pack_id, reason="a dispute")
    client, of = locked_bucket.client(), {"Bucket": locked_bucket.name}
    key, version = place_of(workspace)
    client.delete_object(**of, Key=key)
    sealed(opened(place, clock=clock, lake=locked_bucket.url), 2)
    newer = place_of(workspace)[1]
    assert newer != version
    held = [
        client.head_object(**of, Key=key, VersionId=one)["ObjectLockLegalHoldStatus"]
        for one in (version, newer)
    ]
    assert held == ["ON", "ON"]
    workspace.packs.release(pack_id, reason="it is settled")
    clock.pass_years(8)
    assert len(workspace.packs.sweep()) == 2
    assert lake_of(workspace).locks.versions(key) == []  # type: ignore[attr-defined]


def test_a_version_that_the_bucket_keeps_keeps_no_other_of_its_object(
    workspace: Workspace, place: Place, locked_bucket: Bucket
) -> None:
    entry = workspace.packs.find(sealed(workspace)).entry
    key, version = place_of(workspace)
    client, of = locked_bucket.client(), {"Bucket": locked_bucket.name, "Key": key}
    client.delete_object(**of)
    client.put_object(**of, Body=b"another")
    newest = client.head_object(**of)["VersionId"]
    client.put_object_legal_hold(**of, VersionId=newest, LegalHold={"Status": "ON"})
    with pytest.raises(UsageError, match=f"version {newest} of .* is locked by the bucket"):
        workspace.trail.erase(entry, reason="law", by="counsel")
    (left,) = lake_of(workspace).locks.versions(key)  # type: ignore[attr-defined]
    assert (left.version, version != newest) == (newest, True)


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

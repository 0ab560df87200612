"""A workspace whose files are in a bucket: everything works, and no lock waits for the network."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from evidentia.bundles.model import EvidenceBundle
from evidentia.bundles.policy import EvidencePolicy
from evidentia.canonical import sha256_hex
from evidentia.errors import GoneError, UsageError
from evidentia.store.database import Database
from evidentia.store.keeping import KeptFiles
from evidentia.store.object_lock import ObjectLock
from evidentia.store.objects import ObjectLake
from evidentia.store.sql import uses
from evidentia.workspace import Workspace
from evidentia.workspace.reading_ahead import NotReadError
from packing import Clock, decision, memo, opened
from places import Place, lake_of
from seaweed import Bucket
from workspace.made_bundles import LONG, erase, job
from workspace.policies import read_here

SHARED = b"a file that two packs have attached"
LEAVE = "# Leave\n\nEmployees get 15 days of leave.\n"
CLAIM = "Employees get 15 days of leave."


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def workspace(place: Place, bucket: Bucket, clock: Clock) -> Workspace:
    return opened(place, clock=clock, lake=bucket.url)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note the calls to the bucket, and refuse those that are made inside a writing transaction.

    Each goes through `_asking`. Several at once are made by other threads: what begins them is
    looked at, too.
    """
    inside, made = threading.local(), list[str]()
    write = Database.write

    @contextmanager
    def writing(database: Database, *, sequencing: bool = False) -> Iterator[Connection]:
        with write(database, sequencing=sequencing) as connection:
            inside.depth = getattr(inside, "depth", 0) + 1
            try:
                yield connection
            finally:
                inside.depth -= 1

    def watch(of: type[ObjectLake | ObjectLock], name: str) -> None:
        call = getattr(of, name)

        def called(one: ObjectLake | ObjectLock, *given: Any, **named: Any) -> Any:
            assert not getattr(inside, "depth", 0), f"{name} is called while a lock is held"
            made.append(name)
            return call(one, *given, **named)

        monkeypatch.setattr(of, name, called)

    monkeypatch.setattr(Database, "write", writing)
    for name in ("_asking", "_send", "_fetch", "put_all", "get", "remove"):
        watch(ObjectLake, name)
    watch(ObjectLock, "_asking")
    return made


def files_of(bucket: Bucket) -> list[str]:
    found = bucket.client().list_objects_v2(Bucket=bucket.name)
    return [one["Key"] for one in found.get("Contents", ())]


def wrong(workspace: Workspace) -> dict[str, Any]:
    return {part.name: part.findings for part in workspace.audit().parts if part.findings}


def test_the_whole_flow_asks_the_bucket_under_no_lock(
    workspace: Workspace, bucket: Bucket, asked: list[str], tmp_path: Path, clock: Clock
) -> None:
    folder = tmp_path / "policies"
    folder.mkdir()
    (folder / "leave.md").write_text(LEAVE)
    (document,) = workspace.ingest(folder).documents
    ledger = workspace.check(CLAIM, judges=["quote"])
    bundle = workspace.bundle({"extra_params": {"evidence": ["one"]}})
    pack = workspace.assemble(decision(), memo=memo(), ledger=ledger, attachments={"a.txt": SHARED})
    held = workspace.assemble(decision(2), memo=memo(), ledger=ledger)
    assert workspace.packs.attachment(pack.pack_id, sha256_hex(SHARED))[1] == SHARED
    assert workspace.ledgers.get(ledger.id).summary == ledger.summary
    assert wrong(workspace) == {}
    assert all(key.startswith("evidence/default/sha256/") for key in files_of(bucket))
    assert not workspace.opened.home.lake.exists() or not any(
        path.is_file() for path in workspace.opened.home.lake.rglob("*")
    )

    workspace.packs.review(pack.pack_id, "approved", reviewer="sami")
    revised = workspace.packs.revise(held.pack_id, {}, attachments={"b.txt": b"new", "c": b"newer"})
    assert workspace.packs.attachment_link(revised.pack_id, sha256_hex(b"new")) is not None
    workspace.packs.hold(held.pack_id, reason="a dispute")
    with pytest.raises(UsageError, match="rests on it, and is on legal hold"):
        workspace.documents.remove(document.id, reason="law", erase=True)
    workspace.packs.release(held.pack_id, reason="it is settled")
    workspace.documents.remove(document.id, reason="law", erase=True)
    with pytest.raises(GoneError):
        lake_of(workspace).get(document.sha256)
    workspace.trail.erase(workspace.bundles.find(bundle.bundle_id).entry, reason="law", by="me")
    clock.pass_years(8)
    assert len(workspace.packs.sweep()) == 4
    left = {workspace.ledgers.find(ledger.id).statement_sha256}
    assert {key.rpartition("/")[2] for key in files_of(bucket)} == left
    assert wrong(workspace) == {}
    assert {"get", "remove", "_send"} <= set(asked)


def test_what_reads_the_bucket_under_a_lock_is_refused(workspace: Workspace) -> None:
    acting = workspace.packs._acting
    digest = acting.lake.put(b"read")
    with pytest.raises(NotReadError), acting.writing():
        acting.lake.get(digest)
    with pytest.raises(RuntimeError, match="while a lock is held"), acting.writing():
        acting.lake.put(b"kept")
    assert acting.writing_ahead(lambda _: acting.lake.get(digest)) == b"read"


def test_a_slow_removal_takes_nothing_that_was_sealed_meanwhile(
    workspace: Workspace,
    place: Place,
    bucket: Bucket,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sealed_while_removing(workspace, place, bucket, clock, monkeypatch)
    assert workspace.packs.audit().problems == ()
    assert lake_of(workspace).get(sha256_hex(SHARED)) == SHARED


def test_without_the_look_at_what_is_removed_the_file_would_be_lost(
    workspace: Workspace,
    place: Place,
    bucket: Bucket,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(KeptFiles, "rely", lambda *_: None)
    monkeypatch.setattr(uses, "copies", lambda *_: {})
    sealed_while_removing(workspace, place, bucket, clock, monkeypatch)
    (problem,) = workspace.packs.audit().problems
    assert "gone from the lake" in problem


def sealed_while_removing(
    workspace: Workspace,
    place: Place,
    bucket: Bucket,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sweep a pack, and seal another one with its file between its erasure and the removal."""
    workspace.assemble(decision(), memo=memo(), attachments={"a": SHARED})
    clock.pass_years(8)
    remove, sealed = ObjectLake.remove, list[str]()

    def seal_and_remove(lake: ObjectLake, digest: str, *, through: int = 0) -> None:
        if not sealed:
            sealed.append(digest)
            other = opened(place, clock=clock, lake=bucket.url)
            later = decision(2, decided_at="2034-03-01T11:00:00Z")
            other.assemble(later, memo=memo(), attachments={"b": SHARED})
        remove(lake, digest, through=through)

    monkeypatch.setattr(ObjectLake, "remove", seal_and_remove)
    assert len(workspace.packs.sweep()) == 1
    assert sealed


def test_a_file_that_is_swept_between_its_keeping_and_the_seal_is_kept_anew(
    workspace: Workspace,
    place: Place,
    bucket: Bucket,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workspace.assemble(decision(), memo=memo(), attachments={"a": SHARED})
    clock.pass_years(8)
    put_all, swept = ObjectLake.put_all, list[str]()

    def put_and_lose(lake: ObjectLake, data: Any, **copies: Any) -> list[str]:
        digests = put_all(lake, data, **copies)
        if not swept:
            gone = opened(place, clock=clock, lake=bucket.url).packs.sweep()
            swept.extend(one.decision_id for one in gone)
        return digests

    monkeypatch.setattr(ObjectLake, "put_all", put_and_lose)
    later = decision(2, decided_at="2034-03-01T11:00:00Z")
    workspace.assemble(later, memo=memo(), attachments={"b": SHARED})
    assert swept == ["dec_1"]
    assert workspace.packs.audit().problems == ()
    clock.pass_years(8)
    assert len(workspace.packs.sweep()) == 1  # all copies go with it
    assert not lake_of(workspace).holds(sha256_hex(SHARED))


def test_a_removal_that_a_crash_cut_short_is_finished_by_the_next(
    workspace: Workspace, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.assemble(decision(), memo=memo(), attachments={"a": SHARED})
    workspace.assemble(decision(2), memo=memo())
    clock.pass_years(8)
    with monkeypatch.context() as killed:
        killed.setattr(ObjectLake, "remove", _end)
        with pytest.raises(KeyboardInterrupt):
            workspace.packs.sweep()
    assert lake_of(workspace).holds(sha256_hex(SHARED))
    assert len(workspace.packs.sweep()) == 1
    assert list(lake_of(workspace).digests()) == []


@pytest.mark.parametrize("live", [False, True], ids=["cut", "live"])
def test_what_a_cut_short_removal_would_take_is_kept_anew_for_a_bundle(
    workspace: Workspace, crm: str, monkeypatch: pytest.MonkeyPatch, *, live: bool
) -> None:
    result = {"query_key": "cards", "sql": "SELECT * FROM cards", "connection": "crm"}
    refs = {"sql_results": [result]} if live else None

    def built(*texts: str) -> EvidenceBundle:
        shown = EvidencePolicy(max_item_bytes=40)
        return workspace.bundle(job(*texts), refs, shown, connections={"crm": crm})

    with monkeypatch.context() as killed:
        first = built(LONG)
        killed.setattr(ObjectLake, "remove", _end)
        with pytest.raises(KeyboardInterrupt):
            erase(workspace, first)
    second = built(LONG, "more")
    erase(workspace, workspace.bundle(job("another")))  # which finishes all removals
    assert workspace.bundles.verify(second.bundle_id).holds
    erase(workspace, second)
    assert list(lake_of(workspace).digests()) == []


def _end(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_a_tenant_erases_its_own_copy_alone(place: Place, bucket: Bucket) -> None:
    one, other = (opened(place, name, lake=bucket.url) for name in ("acme", "globex"))
    for workspace in (one, other):
        made = decision(tenant_id=workspace.tenant)
        workspace.assemble(made, memo=memo(), attachments={"a": SHARED})
    one.trail.erase(one.packs.find("dec_1").entry, reason="law", by="me")
    assert not lake_of(one).holds(sha256_hex(SHARED))
    assert lake_of(other).get(sha256_hex(SHARED)) == SHARED
    assert other.packs.audit().problems == ()


def test_what_was_kept_in_the_folder_before_stays_readable_and_goes_when_it_is_erased(
    place: Place, bucket: Bucket
) -> None:
    before = opened(place)
    before.assemble(decision(), memo=memo(), attachments={"a": SHARED})
    workspace = opened(place, lake=bucket.url)
    workspace.assemble(decision(2), memo=memo())
    assert workspace.packs.attachment("dec_1", sha256_hex(SHARED))[1] == SHARED
    assert wrong(workspace) == {}
    workspace.trail.erase(workspace.packs.find("dec_1").entry, reason="law", by="me")
    assert not lake_of(before).holds(sha256_hex(SHARED))

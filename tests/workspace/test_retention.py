"""How long packs are kept: policies, holds, sweeps, and sweeps that race holds."""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from evidentia.canonical import canonical_json
from evidentia.errors import (
    ConflictError,
    InputError,
    IntegrityError,
    NotFoundError,
    UsageError,
)
from evidentia.packs.retention import DEFAULT_RETENTION, RETENTION_PRESETS, RetentionPolicy
from evidentia.store.lake import FileLake
from evidentia.trail.entry import EntryKind
from evidentia.verifying import verify
from evidentia.workspace import Workspace, sealing
from evidentia.workspace import packs as packs_part
from forking import Child
from packing import Clock, decision, make_pack, memo, opened
from places import Place
from vandal import vandal_at
from workspace.policies import LEAVE, count, lake_files, read_here, write_policies


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def workspace(place: Place, clock: Clock) -> Workspace:
    """Give an empty workspace, on each kind of database in turn, whose clock can be moved."""
    return opened(place, clock=clock)


@pytest.fixture
def acme(sqlite_place: Place, clock: Clock) -> Workspace:
    return opened(sqlite_place, clock=clock)


# Policies


def test_packs_are_kept_for_seven_years_unless_it_is_set(place: Place) -> None:
    one, other = opened(place), opened(place, "other")
    assert one.packs.retention() == DEFAULT_RETENTION
    assert DEFAULT_RETENTION.years == 7
    one.packs.set_retention(RETENTION_PRESETS["saudi-financial"])
    assert one.packs.retention().years == 10
    assert other.packs.retention().years == 7  # each tenant has its own
    one.packs.set_retention(RetentionPolicy(years=1, basis="as agreed"))
    assert place.open().packs.retention() == RetentionPolicy(years=1, basis="as agreed")


def test_a_policy_that_was_changed_in_the_database_is_found(place: Place) -> None:
    workspace = opened(place)
    make_pack(workspace)
    workspace.packs.set_retention(RETENTION_PRESETS["saudi-financial"])
    with vandal_at(place.url or place.home.database, "seed") as vandal:
        body = canonical_json({"years": 1, "basis": "mine", "by": "me"})
        vandal.change("UPDATE trail_bodies SET body = ? WHERE seq = 3", body)
    for read in (workspace.packs.retention, workspace.packs.sweep, workspace.packs.held):
        with pytest.raises(IntegrityError, match="entry 3: its body is not what it commits to"):
            read()


def test_a_row_that_was_backdated_removes_nothing(place: Place) -> None:
    workspace = opened(place)
    pack = make_pack(workspace)
    with vandal_at(place.url or place.home.database, "seed") as vandal:
        vandal.change("UPDATE evidence_packs SET created_at = ?", "2010-01-01T00:00:00.000000Z")
    with pytest.raises(IntegrityError, match=f"pack {pack.pack_id}: its row says that it was made"):
        workspace.packs.sweep()
    assert workspace.packs.audit().problems
    assert not [one for one in workspace.trail.entries() if one.entry.kind == "erasure"]


# Holds


def test_a_hold_has_a_reason_and_an_actor_and_ends(workspace: Workspace) -> None:
    pack = make_pack(workspace)
    workspace.packs.hold("dec_1", reason="case 7")
    (hold,) = workspace.packs.held().values()
    assert (hold.pack_id, hold.reason, hold.actor) == (pack.pack_id, "case 7", "owner")
    with pytest.raises(InputError, match=f"pack {pack.pack_id} is on hold already"):
        workspace.packs.hold("dec_1", reason="case 8")
    workspace.packs.release("dec_1", reason="closed")
    assert workspace.packs.held() == {}
    with pytest.raises(InputError, match=f"pack {pack.pack_id} is not on hold"):
        workspace.packs.release("dec_1", reason="closed")
    with pytest.raises(InputError, match="need a reason"):
        workspace.packs.hold("dec_1", reason=" ")
    with pytest.raises(NotFoundError):
        workspace.packs.hold("dec_2", reason="case 7")
    assert [one.body["action"] for one in workspace.trail.entries(kind="retention")] == [
        "hold",
        "release",
    ]


@pytest.mark.parametrize("act", ["hold", "release"])
def test_a_reason_that_is_too_long_is_refused_where_it_is_given(acme: Workspace, act: str) -> None:
    make_pack(acme)
    if act == "release":
        acme.packs.hold("dec_1", reason="case 7")
    before = acme.trail.size
    said = "the reason has 1,001 characters, 1,000 at most: shorten it, and say where the rest can"
    with pytest.raises(InputError, match=said):
        getattr(acme.packs, act)("dec_1", reason="x" * 1_001)
    assert acme.trail.size == before
    getattr(acme.packs, act)("dec_1", reason="x" * 1_000)
    assert acme.trail.entries(newest_first=True, limit=1)[0].body["reason"] == "x" * 1_000


def test_a_longer_reason_that_was_recorded_before_still_holds(
    acme: Workspace, clock: Clock
) -> None:
    pack = make_pack(acme)
    body = {"action": "hold", "reason": "x" * 5_000, "by": "owner"}
    acme._acting.record(EntryKind.RETENTION, pack.pack_id, body)
    assert acme.packs.held()[pack.pack_id].reason == "x" * 5_000
    clock.pass_years(8)
    assert acme.packs.sweep() == []
    acme.packs.release("dec_1", reason="closed")
    assert acme.packs.held() == {}


def test_a_hold_is_on_all_versions(workspace: Workspace, clock: Clock) -> None:
    first = make_pack(workspace)
    workspace.packs.hold(first.pack_id, reason="case 7")
    second = workspace.packs.review("dec_1", "approved")
    assert workspace.packs.held().keys() == {first.pack_id, second.pack_id}
    clock.pass_years(8)
    assert workspace.packs.sweep() == []
    workspace.packs.release(second.pack_id, reason="closed")
    assert workspace.packs.held() == {}
    assert len(workspace.packs.sweep()) == 2


def test_what_is_on_hold_is_not_erased_either(workspace: Workspace) -> None:
    pack = make_pack(workspace)
    listed = workspace.packs.find("dec_1")
    held = workspace.packs.hold("dec_1", reason="case 7").seq
    with pytest.raises(
        UsageError, match=f"pack {pack.pack_id} is on legal hold since .* by .*, and stays: "
    ):
        workspace.trail.erase(listed.entry, reason="law", by="counsel")
    with pytest.raises(UsageError, match=f"entry {held} is of kind retention and is never erased"):
        workspace.trail.erase(held, reason="law", by="counsel")
    assert workspace.packs.get("dec_1") == pack
    workspace.packs.release("dec_1", reason="closed")
    workspace.trail.erase(listed.entry, reason="law", by="counsel")
    with pytest.raises(NotFoundError, match=rf"{pack.pack_id} \(entry {listed.entry}\) was erased"):
        workspace.packs.get(pack.pack_id)
    assert workspace.trail.audit().holds
    assert workspace.packs.audit().holds  # it was made, and its removal is on record


def test_what_was_done_to_packs_is_never_erased(acme: Workspace) -> None:
    make_pack(acme)
    entries = [
        acme.packs.approve_export("dec_1"),
        acme.access.grant("ann", "viewer").seq,
        acme.packs.set_retention(DEFAULT_RETENTION).seq,
    ]
    for entry in entries:
        with pytest.raises(UsageError, match="is never erased"):
            acme.trail.erase(entry, reason="law", by="counsel")
    assert acme.trail.audit().holds


# Sweeps


def test_a_sweep_removes_what_is_due_and_not_held(workspace: Workspace, clock: Clock) -> None:
    due, held = make_pack(workspace, 1), make_pack(workspace, 2)
    workspace.packs.hold("dec_2", reason="case 7")
    clock.pass_years(6)
    young = make_pack(workspace, 3, decided_at="2032-03-01T11:00:00Z")
    clock.pass_years(2)
    before = workspace.trail.size
    for _ in range(2):
        (would,) = workspace.packs.sweep(dry_run=True)
        assert (would.pack_id, would.erasure) == (due.pack_id, None)
    assert workspace.trail.size == before
    assert workspace.packs.get("dec_1") == due

    told: list[tuple[int, int]] = []
    (swept,) = workspace.packs.sweep(progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 1)]
    assert (swept.pack_id, swept.decision_id) == (due.pack_id, "dec_1")
    assert swept.kept_until == due.created_at.replace("2026", "2033")
    assert swept.erasure == before
    erasure, removed = workspace.trail.entries(after=before - 1)
    assert erasure.body["reason"] == f"kept until {swept.kept_until}: 7 years, commercial records"
    assert removed.entry.subject == due.pack_id
    assert removed.body["action"] == "removed"
    assert removed.body["decision_id"] == "dec_1"
    with pytest.raises(NotFoundError, match="was erased"):
        workspace.packs.get(due.pack_id)
    with pytest.raises(NotFoundError):
        workspace.packs.get("dec_1")
    assert [one.id for one in workspace.packs.list()] == [young.pack_id, held.pack_id]
    assert workspace.packs.sweep() == []
    assert workspace.trail.audit().holds
    found = workspace.packs.audit()
    assert (found.problems, found.missing) == ((), ())


def test_a_swept_pack_is_not_missing_under_a_longer_policy(
    workspace: Workspace, clock: Clock
) -> None:
    make_pack(workspace)
    clock.pass_years(8)
    assert len(workspace.packs.sweep()) == 1
    workspace.packs.set_retention(RETENTION_PRESETS["saudi-financial"])
    workspace.packs.record_decision(decision(2))
    assert workspace.packs.audit().missing == ("dec_2",)


@pytest.mark.parametrize(
    ("years", "passed", "removed"), [(7, 6.9, 0), (7, 7.1, 1), (10, 9.9, 0), (10, 10.1, 1)]
)
def test_a_pack_is_kept_as_long_as_the_policy_says(
    acme: Workspace, clock: Clock, years: int, passed: float, removed: int
) -> None:
    acme.packs.set_retention(RetentionPolicy(years=years))
    make_pack(acme)
    clock.pass_years(passed)
    assert len(acme.packs.sweep()) == removed


def test_a_sweep_of_one_tenant_leaves_the_others(place: Place, clock: Clock) -> None:
    one, other = opened(place, clock=clock), opened(place, "other", clock=clock)
    make_pack(one)
    kept = make_pack(other)
    clock.pass_years(8)
    assert len(one.packs.sweep()) == 1
    assert other.packs.get("dec_1") == kept
    assert other.packs.audit().problems == ()


def test_the_statement_and_what_no_one_shares_are_gone(
    workspace: Workspace, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_here(monkeypatch)
    workspace.ingest(write_policies(tmp_path / "docs"))
    files = {"own": b"own", "shared": b"shared", "leave.md": LEAVE.encode()}
    workspace.assemble(decision(1), memo=memo(), attachments=files)
    clock.pass_years(6)
    workspace.assemble(
        decision(2, decided_at="2032-03-01T11:00:00Z"),
        memo=memo(),
        attachments={"also": b"shared"},
    )
    clock.pass_years(2)
    before = {path.name for path in lake_files(workspace)}
    listed = workspace.packs.find("dec_1")
    own = listed.attachments[0].rpartition("/")[2]
    assert len(workspace.packs.sweep()) == 1
    assert before - {path.name for path in lake_files(workspace)} == {
        listed.statement_sha256,
        own,
    }
    assert workspace.packs.audit().problems == ()
    assert workspace.documents.list()
    assert count(workspace, "evidence_packs") == 1


def test_proofs_of_a_swept_pack_and_of_the_rest_still_hold(
    workspace: Workspace, clock: Clock, tmp_path: Path
) -> None:
    make_pack(workspace)
    file = workspace.packs.export("dec_1", tmp_path / "pack.json")
    note = workspace.trail.checkpoint()
    entry = workspace.packs.find("dec_1").entry
    clock.pass_years(8)
    (swept,) = workspace.packs.sweep()
    assert swept.erasure is not None
    key = workspace.trail.public_key()
    assert verify(file, key=key).holds  # who has it can still show that it was there
    for seq in (0, entry, swept.erasure, swept.erasure + 1):
        proof = workspace.prove(seq)
        assert verify(canonical_json(proof.as_json()), key=key).holds
    assert workspace.trail.entry(entry).erased
    assert workspace.trail.audit(since=note).holds


def test_a_revision_of_a_pack_that_was_swept_meanwhile_is_refused(
    place: Place, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = opened(place, clock=clock)
    make_pack(workspace)
    clock.pass_years(8)
    read = sealing.read_pack

    def read_and_lose(acting: Any, listed: Any) -> Any:
        pack = read(acting, listed)
        assert len(opened(place, clock=clock).packs.sweep()) == 1
        return pack

    monkeypatch.setattr(packs_part, "read_pack", read_and_lose)
    with pytest.raises(NotFoundError, match="was erased"):
        workspace.packs.revise("dec_1", {})
    assert lake_files(workspace) == []


def test_a_file_that_a_sweep_removes_while_it_is_attached_is_kept(
    place: Place, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = opened(place, clock=clock)
    workspace.assemble(decision(1), memo=memo(), attachments={"a": b"shared"})
    clock.pass_years(8)
    put_all = FileLake.put_all
    swept: list[str] = []

    def put_and_lose(lake: FileLake, data: Collection[bytes], **copies: Any) -> list[str]:
        digests = put_all(lake, data, **copies)
        if b"shared" in data and not swept:
            gone = opened(place, clock=clock).packs.sweep()
            swept.extend(one.decision_id for one in gone)
        return digests

    monkeypatch.setattr(FileLake, "put_all", put_and_lose)
    workspace.assemble(
        decision(2, decided_at="2034-03-01T11:00:00Z"), memo=memo(), attachments={"b": b"shared"}
    )
    assert swept == ["dec_1"]
    assert workspace.packs.audit().problems == ()


# Races


def race(place: Place, clock: Clock, rounds: int) -> tuple[int, int]:
    """Sweep and hold at once, many times; return how often each came first."""
    maker = opened(place, clock=clock)
    for number in range(1, rounds + 1):
        make_pack(maker, number)
    clock.pass_years(8)
    sweeper, holder = opened(place, clock=clock), opened(place, clock=clock)

    def hold_all() -> set[str]:
        held = set()
        for number in range(rounds, 0, -1):  # the sweep begins at the other end
            try:
                holder.packs.hold(f"dec_{number}", reason="case")
            except NotFoundError:
                continue
            held.add(f"dec_{number}")
        return held

    with ThreadPoolExecutor(2) as pool:
        sweeping = pool.submit(sweeper.packs.sweep)
        holding = pool.submit(hold_all)
        swept = {one.decision_id for one in sweeping.result()}
        held = holding.result()
    assert not swept & held
    assert swept | held == {f"dec_{number}" for number in range(1, rounds + 1)}
    for name in held:
        maker.packs.get(name)
    assert maker.trail.audit().holds
    assert maker.packs.audit().problems == ()
    return len(swept), len(held)


def test_a_sweep_that_races_holds_removes_nothing_that_is_held(place: Place, clock: Clock) -> None:
    swept, held = race(place, clock, 24)
    assert swept + held == 24


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_sweeps_that_race_holds_in_processes_remove_nothing_that_is_held(
    place: Place, clock: Clock, tmp_path: Path
) -> None:
    maker = opened(place, clock=clock)
    for number in range(1, 13):
        make_pack(maker, number)
    clock.pass_years(8)

    def hold() -> None:
        workspace = opened(place, clock=clock)
        for number in range(12, 0, -1):
            try:
                workspace.packs.hold(f"dec_{number}", reason="case")
            except (NotFoundError, InputError):
                continue
            (tmp_path / f"held dec_{number}").touch()

    def sweep() -> None:
        for one in opened(place, clock=clock).packs.sweep():
            (tmp_path / f"swept {one.decision_id}").touch()

    children = [Child(work) for work in (sweep, hold, sweep)]
    for child in children:
        child.end()
    held = {path.name.removeprefix("held ") for path in tmp_path.glob("held *")}
    swept = {path.name.removeprefix("swept ") for path in tmp_path.glob("swept *")}
    assert not held & swept
    assert len(held | swept) == 12
    assert {one.decision_id for one in maker.packs.list()} == held
    assert maker.trail.audit().holds
    assert maker.packs.audit().problems == ()


def test_revisions_that_race_a_sweep_leave_nothing_broken(place: Place, clock: Clock) -> None:
    maker = opened(place, clock=clock)
    for number in range(1, 9):
        maker.assemble(decision(number), memo=memo(), attachments={"a": b"shared"})
    clock.pass_years(8)
    reviser, sweeper = opened(place, clock=clock), opened(place, clock=clock)

    def revise_all() -> None:
        for number in range(8, 0, -1):
            try:
                reviser.packs.review(f"dec_{number}", "approved")
            except (NotFoundError, ConflictError):
                continue

    with ThreadPoolExecutor(2) as pool:
        revising, sweeping = pool.submit(revise_all), pool.submit(sweeper.packs.sweep)
        revising.result()
        sweeping.result()
    assert maker.trail.audit().holds
    assert maker.packs.audit().problems == ()

"""How long packs are kept: policies, holds, sweeps, and sweeps that race holds."""

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
from evidentia.store.lake import Lake
from evidentia.trail.entry import EntryKind
from evidentia.verifying import verify
from evidentia.workspace import Workspace
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
    assert one.retention() == DEFAULT_RETENTION
    assert DEFAULT_RETENTION.years == 7
    one.set_retention(RETENTION_PRESETS["saudi-financial"])
    assert one.retention().years == 10
    assert other.retention().years == 7  # each tenant has its own
    one.set_retention(RetentionPolicy(years=1, basis="as agreed"))
    assert place.open().retention() == RetentionPolicy(years=1, basis="as agreed")


def test_a_policy_that_was_changed_in_the_database_is_found(place: Place) -> None:
    workspace = opened(place)
    make_pack(workspace)
    workspace.set_retention(RETENTION_PRESETS["saudi-financial"])
    with vandal_at(place.url or place.home.database, "seed") as vandal:
        body = canonical_json({"years": 1, "basis": "mine", "by": "me"})
        vandal.change("UPDATE trail_bodies SET body = ? WHERE seq = 2", body)
    for read in (workspace.retention, workspace.sweep_packs, workspace.held_packs):
        with pytest.raises(IntegrityError, match="entry 2: its body is not what it commits to"):
            read()


# Holds


def test_a_hold_has_a_reason_and_an_actor_and_ends(workspace: Workspace) -> None:
    pack = make_pack(workspace)
    workspace.hold_pack("dec_1", reason="case 7")
    (hold,) = workspace.held_packs().values()
    assert (hold.pack_id, hold.reason, hold.actor) == (pack.pack_id, "case 7", "owner")
    with pytest.raises(InputError, match=f"pack {pack.pack_id} is on hold already"):
        workspace.hold_pack("dec_1", reason="case 8")
    workspace.release_pack("dec_1", reason="closed")
    assert workspace.held_packs() == {}
    with pytest.raises(InputError, match=f"pack {pack.pack_id} is not on hold"):
        workspace.release_pack("dec_1", reason="closed")
    with pytest.raises(InputError, match="need a reason"):
        workspace.hold_pack("dec_1", reason=" ")
    with pytest.raises(NotFoundError):
        workspace.hold_pack("dec_2", reason="case 7")
    assert [one.body["action"] for one in workspace.entries(kind="retention")] == [
        "hold",
        "release",
    ]


@pytest.mark.parametrize("act", ["hold_pack", "release_pack"])
def test_a_reason_that_is_too_long_is_refused_where_it_is_given(acme: Workspace, act: str) -> None:
    make_pack(acme)
    if act == "release_pack":
        acme.hold_pack("dec_1", reason="case 7")
    before = acme.size
    said = "the reason has 1,001 characters, 1,000 at most: shorten it, and say where the rest can"
    with pytest.raises(InputError, match=said):
        getattr(acme, act)("dec_1", reason="x" * 1_001)
    assert acme.size == before
    getattr(acme, act)("dec_1", reason="x" * 1_000)
    assert acme.entries(newest_first=True, limit=1)[0].body["reason"] == "x" * 1_000


def test_a_longer_reason_that_was_recorded_before_still_holds(
    acme: Workspace, clock: Clock
) -> None:
    pack = make_pack(acme)
    body = {"action": "hold", "reason": "x" * 5_000, "by": "owner"}
    acme.record(EntryKind.RETENTION, pack.pack_id, body)
    assert acme.held_packs()[pack.pack_id].reason == "x" * 5_000
    clock.pass_years(8)
    assert acme.sweep_packs() == []
    acme.release_pack("dec_1", reason="closed")
    assert acme.held_packs() == {}


def test_a_hold_is_on_all_versions(workspace: Workspace, clock: Clock) -> None:
    first = make_pack(workspace)
    workspace.hold_pack(first.pack_id, reason="case 7")
    second = workspace.review_pack("dec_1", "approved")
    assert workspace.held_packs().keys() == {first.pack_id, second.pack_id}
    clock.pass_years(8)
    assert workspace.sweep_packs() == []
    workspace.release_pack(second.pack_id, reason="closed")
    assert workspace.held_packs() == {}
    assert len(workspace.sweep_packs()) == 2


def test_what_is_on_hold_is_not_erased_either(workspace: Workspace) -> None:
    pack = make_pack(workspace)
    listed = workspace.find_pack("dec_1")
    held = workspace.hold_pack("dec_1", reason="case 7").seq
    with pytest.raises(UsageError, match=f"pack {pack.pack_id} is on legal hold: release it first"):
        workspace.erase(listed.entry, reason="law", by="counsel")
    with pytest.raises(UsageError, match=f"entry {held} is of kind retention and is never erased"):
        workspace.erase(held, reason="law", by="counsel")
    assert workspace.pack("dec_1") == pack
    workspace.release_pack("dec_1", reason="closed")
    workspace.erase(listed.entry, reason="law", by="counsel")
    with pytest.raises(NotFoundError, match=rf"{pack.pack_id} \(entry {listed.entry}\) was erased"):
        workspace.pack(pack.pack_id)
    assert workspace.audit().holds
    assert workspace.audit_packs().holds  # it was made, and its removal is on record


def test_what_was_done_to_packs_is_never_erased(acme: Workspace) -> None:
    make_pack(acme)
    entries = [
        acme.approve_export("dec_1"),
        acme.grant_role("ann", "viewer").seq,
        acme.set_retention(DEFAULT_RETENTION).seq,
    ]
    for entry in entries:
        with pytest.raises(UsageError, match="is never erased"):
            acme.erase(entry, reason="law", by="counsel")
    assert acme.audit().holds


# Sweeps


def test_a_sweep_removes_what_is_due_and_not_held(workspace: Workspace, clock: Clock) -> None:
    due, held = make_pack(workspace, 1), make_pack(workspace, 2)
    workspace.hold_pack("dec_2", reason="case 7")
    clock.pass_years(6)
    young = make_pack(workspace, 3, decided_at="2032-03-01T11:00:00Z")
    clock.pass_years(2)
    before = workspace.size
    for _ in range(2):
        (would,) = workspace.sweep_packs(dry_run=True)
        assert (would.pack_id, would.erasure) == (due.pack_id, None)
    assert workspace.size == before
    assert workspace.pack("dec_1") == due

    told: list[tuple[int, int]] = []
    (swept,) = workspace.sweep_packs(progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 1)]
    assert (swept.pack_id, swept.decision_id) == (due.pack_id, "dec_1")
    assert swept.kept_until == due.created_at.replace("2026", "2033")
    assert swept.erasure == before
    erasure, removed = workspace.entries(after=before - 1)
    assert erasure.body["reason"] == f"kept until {swept.kept_until}: 7 years, commercial records"
    assert removed.entry.subject == due.pack_id
    assert removed.body["action"] == "removed"
    assert removed.body["decision_id"] == "dec_1"
    with pytest.raises(NotFoundError, match="was erased"):
        workspace.pack(due.pack_id)
    with pytest.raises(NotFoundError):
        workspace.pack("dec_1")
    assert [one.id for one in workspace.packs()] == [young.pack_id, held.pack_id]
    assert workspace.sweep_packs() == []
    assert workspace.audit().holds
    found = workspace.audit_packs()
    assert (found.problems, found.missing) == ((), ())


def test_a_swept_pack_is_not_missing_under_a_longer_policy(
    workspace: Workspace, clock: Clock
) -> None:
    make_pack(workspace)
    clock.pass_years(8)
    assert len(workspace.sweep_packs()) == 1
    workspace.set_retention(RETENTION_PRESETS["saudi-financial"])
    workspace.record_decision(decision(2))
    assert workspace.audit_packs().missing == ("dec_2",)


@pytest.mark.parametrize(
    ("years", "passed", "removed"), [(7, 6.9, 0), (7, 7.1, 1), (10, 9.9, 0), (10, 10.1, 1)]
)
def test_a_pack_is_kept_as_long_as_the_policy_says(
    acme: Workspace, clock: Clock, years: int, passed: float, removed: int
) -> None:
    acme.set_retention(RetentionPolicy(years=years))
    make_pack(acme)
    clock.pass_years(passed)
    assert len(acme.sweep_packs()) == removed


def test_a_sweep_of_one_tenant_leaves_the_others(place: Place, clock: Clock) -> None:
    one, other = opened(place, clock=clock), opened(place, "other", clock=clock)
    make_pack(one)
    kept = make_pack(other)
    clock.pass_years(8)
    assert len(one.sweep_packs()) == 1
    assert other.pack("dec_1") == kept
    assert other.audit_packs().problems == ()


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
    listed = workspace.find_pack("dec_1")
    own = listed.attachments[0].rpartition("/")[2]
    assert len(workspace.sweep_packs()) == 1
    assert before - {path.name for path in lake_files(workspace)} == {
        listed.statement_sha256,
        own,
    }
    assert workspace.audit_packs().problems == ()
    assert workspace.documents()
    assert count(workspace, "evidence_packs") == 1


def test_proofs_of_a_swept_pack_and_of_the_rest_still_hold(
    workspace: Workspace, clock: Clock, tmp_path: Path
) -> None:
    make_pack(workspace)
    file = workspace.export_pack("dec_1", tmp_path / "pack.json")
    note = workspace.checkpoint()
    entry = workspace.find_pack("dec_1").entry
    clock.pass_years(8)
    (swept,) = workspace.sweep_packs()
    assert swept.erasure is not None
    key = workspace.public_key()
    assert verify(file, key=key).holds  # who has it can still show that it was there
    for seq in (0, entry, swept.erasure, swept.erasure + 1):
        proof = workspace.prove(seq)
        assert verify(canonical_json(proof.as_json()), key=key).holds
    assert workspace.entry(entry).erased
    assert workspace.audit(since=note).holds


def test_a_revision_of_a_pack_that_was_swept_meanwhile_is_refused(
    place: Place, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = opened(place, clock=clock)
    make_pack(workspace)
    clock.pass_years(8)
    read = workspace._read_pack

    def read_and_lose(listed: Any) -> Any:
        pack = read(listed)
        assert len(opened(place, clock=clock).sweep_packs()) == 1
        return pack

    monkeypatch.setattr(workspace, "_read_pack", read_and_lose)
    with pytest.raises(NotFoundError, match="was erased"):
        workspace.revise_pack("dec_1", {})
    assert lake_files(workspace) == []


def test_a_file_that_a_sweep_removes_while_it_is_attached_is_kept(
    place: Place, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = opened(place, clock=clock)
    workspace.assemble(decision(1), memo=memo(), attachments={"a": b"shared"})
    clock.pass_years(8)
    put = Lake.put
    swept: list[str] = []

    def put_and_lose(lake: Lake, data: bytes) -> str:
        digest = put(lake, data)
        if data == b"shared" and not swept:
            gone = opened(place, clock=clock).sweep_packs()
            swept.extend(one.decision_id for one in gone)
        return digest

    monkeypatch.setattr(Lake, "put", put_and_lose)
    workspace.assemble(
        decision(2, decided_at="2034-03-01T11:00:00Z"), memo=memo(), attachments={"b": b"shared"}
    )
    assert swept == ["dec_1"]
    assert workspace.audit_packs().problems == ()


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
                holder.hold_pack(f"dec_{number}", reason="case")
            except NotFoundError:
                continue
            held.add(f"dec_{number}")
        return held

    with ThreadPoolExecutor(2) as pool:
        sweeping = pool.submit(sweeper.sweep_packs)
        holding = pool.submit(hold_all)
        swept = {one.decision_id for one in sweeping.result()}
        held = holding.result()
    assert not swept & held
    assert swept | held == {f"dec_{number}" for number in range(1, rounds + 1)}
    for name in held:
        maker.pack(name)
    assert maker.audit().holds
    assert maker.audit_packs().problems == ()
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
                workspace.hold_pack(f"dec_{number}", reason="case")
            except (NotFoundError, InputError):
                continue
            (tmp_path / f"held dec_{number}").touch()

    def sweep() -> None:
        for one in opened(place, clock=clock).sweep_packs():
            (tmp_path / f"swept {one.decision_id}").touch()

    children = [Child(work) for work in (sweep, hold, sweep)]
    for child in children:
        child.end()
    held = {path.name.removeprefix("held ") for path in tmp_path.glob("held *")}
    swept = {path.name.removeprefix("swept ") for path in tmp_path.glob("swept *")}
    assert not held & swept
    assert len(held | swept) == 12
    assert {one.decision_id for one in maker.packs()} == held
    assert maker.audit().holds
    assert maker.audit_packs().problems == ()


def test_revisions_that_race_a_sweep_leave_nothing_broken(place: Place, clock: Clock) -> None:
    maker = opened(place, clock=clock)
    for number in range(1, 9):
        maker.assemble(decision(number), memo=memo(), attachments={"a": b"shared"})
    clock.pass_years(8)
    reviser, sweeper = opened(place, clock=clock), opened(place, clock=clock)

    def revise_all() -> None:
        for number in range(8, 0, -1):
            try:
                reviser.review_pack(f"dec_{number}", "approved")
            except (NotFoundError, ConflictError):
                continue

    with ThreadPoolExecutor(2) as pool:
        revising, sweeping = pool.submit(revise_all), pool.submit(sweeper.sweep_packs)
        revising.result()
        sweeping.result()
    assert maker.audit().holds
    assert maker.audit_packs().problems == ()

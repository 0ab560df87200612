"""Looking up what decides: signed snapshots, what was appended since, and what becomes of both."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from evidentia.errors import EnvironmentProblem, IntegrityError
from evidentia.proof.keys import SigningKey
from evidentia.store import listing, lookups
from evidentia.store.database import Database, run
from evidentia.store.known import Known, read_on
from evidentia.store.sql import log, snapshots
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.deciding import Snapshot, read_snapshot
from evidentia.trail.entry import EntryKind
from evidentia.trail.keyed import EMPTY_MAP
from evidentia.workspace import Workspace, open_workspace
from forking import Child
from insider import append_unsigned, cut_back
from places import Place, record
from postgres import PostgresServer

pytestmark = pytest.mark.as_owner

FEW = 8


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have snapshots signed after a few entries, so that short logs have some."""
    monkeypatch.setattr(lookups, "EVERY", FEW)
    monkeypatch.setattr(lookups, "_FAR", 4 * FEW)


def note_of(workspace: Workspace) -> str | None:
    return workspace.opened.database.of(workspace.tenant).ask(
        snapshots.snapshot_note, workspace.tenant
    )


def covered(workspace: Workspace) -> int:
    note = note_of(workspace)
    return 0 if note is None else read_snapshot(note)[0].size


def users(workspace: Workspace) -> list[str]:
    return [grant.user for grant in workspace.access.grants()]


def grant(workspace: Workspace, start: int, end: int) -> list[str]:
    for number in range(start, end):
        workspace.access.grant(f"user-{number}", "approver")
    return [f"user-{number}" for number in range(end)]


def execute(workspace: Workspace, sql: str, *values: Any) -> None:
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        run(connection, sql, values)


@contextmanager
def nothing_read(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have every reading of entries one after the other fail."""

    def refuse(*_: object) -> None:
        raise AssertionError("the log is read")

    with monkeypatch.context() as patched:
        patched.setattr(log, "entry_bytes", refuse)
        yield


def test_a_snapshot_is_signed_every_so_many_entries_by_the_logs_key(place: Place) -> None:
    workspace = place.open()
    workspace.trail.append_many([record(number) for number in range(FEW - 2)])
    assert note_of(workspace) is None  # with the key's announcement, one less than it takes
    workspace.append(record(99))
    assert covered(workspace) == FEW
    workspace.trail.append_many([record(number) for number in range(3 * FEW)])
    note = note_of(workspace)
    assert note is not None
    snapshot, parsed = read_snapshot(note)
    assert snapshot.size == 4 * FEW
    assert parsed.signed_by([workspace.trail.public_key()]) is not None
    assert workspace.trail.audit().holds


def test_a_snapshot_is_no_checkpoint_and_a_checkpoint_no_snapshot(place: Place) -> None:
    workspace = place.open()
    workspace.trail.append_many([record(number) for number in range(FEW)])
    note = note_of(workspace)
    assert note is not None
    with pytest.raises(Exception, match="not a checkpoint"):
        read_checkpoint(note)
    with pytest.raises(Exception, match="not a snapshot"):
        read_snapshot(workspace.trail.checkpoint())


def test_who_appends_knows_what_it_appended_and_reads_nothing_back(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = place.open()
    with nothing_read(monkeypatch):
        expected = grant(workspace, 0, 20)
        workspace.trail.append_many([record(number) for number in range(20)])
        workspace.access.revoke("user-3", "approver")
        expected.remove("user-3")
        assert users(workspace) == expected
    assert users(place.open()) == expected


def test_a_look_up_reads_no_more_than_what_came_since_the_snapshot(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = grant(place.open(), 0, 50)
    read: list[tuple[int, int]] = []
    real = log.entry_bytes

    def seen(connection: Any, tenant: str, start: int, end: int) -> Any:
        read.append((start, end))
        return real(connection, tenant, start, end)

    monkeypatch.setattr(log, "entry_bytes", seen)
    again = place.open()
    assert users(again) == expected
    assert [end - start for start, end in read] == [51 % FEW]
    assert users(again) == expected
    assert len(read) == 1


def signing_key(workspace: Workspace) -> SigningKey:
    public = workspace.trail.public_key()
    key = workspace.opened.home.keys.load("default", public.key_id, public.name)
    assert key is not None
    return key


def restore(workspace: Workspace, note: str, nodes: list[tuple[bytes, bytes]]) -> None:
    execute(workspace, "DELETE FROM trail_snapshot_nodes")
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        snapshots.keep_nodes(connection, "default", dict(nodes))
        snapshots.keep_snapshot(connection, "default", note)


def stored_nodes(workspace: Workspace) -> list[tuple[bytes, bytes]]:
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        return list(snapshots.nodes(connection, workspace.tenant))


def forged(workspace: Workspace, **changes: Any) -> str:
    """Return a snapshot that another key signed: that nothing is granted."""
    note = note_of(workspace)
    assert note is not None
    found = read_snapshot(note)[0]
    key = SigningKey.from_seed(found.origin, bytes(range(32)))
    fields = {name: getattr(found, name) for name in found.__slots__} | {"entries": EMPTY_MAP}
    return Snapshot(**(fields | changes)).sign(key.private_key)


def forget(workspace: Workspace) -> None:
    """Have a database as an older version left it: without snapshots."""
    execute(workspace, "DELETE FROM trail_snapshots")
    execute(workspace, "DELETE FROM trail_snapshot_nodes")


ALTERED: dict[str, Callable[[Workspace], object]] = {
    "removed": lambda ws: execute(ws, "DELETE FROM trail_snapshots"),
    "removed with its nodes": forget,
    "without its nodes": lambda ws: execute(ws, "DELETE FROM trail_snapshot_nodes"),
    "nodes altered": lambda ws: execute(ws, "UPDATE trail_snapshot_nodes SET data = ?", b"x"),
    "no note": lambda ws: execute(ws, "UPDATE trail_snapshots SET note = 'x'"),
    "by another key": lambda ws: execute(ws, "UPDATE trail_snapshots SET note = ?", forged(ws)),
    "of another log": lambda ws: execute(
        ws, "UPDATE trail_snapshots SET note = ?", forged(ws, origin="evidentia/x/default")
    ),
    "of more entries": lambda ws: execute(
        ws, "UPDATE trail_snapshots SET note = ?", forged(ws, size=10**9)
    ),
    "altered": lambda ws: execute(
        ws, "UPDATE trail_snapshots SET note = replace(note, ?, ?)", "entries 2", "entries 1"
    ),
}


@pytest.mark.parametrize("how", ALTERED)
def test_a_snapshot_that_is_removed_or_altered_changes_no_answer(place: Place, how: str) -> None:
    workspace = place.open()
    expected = grant(workspace, 0, 40)
    ALTERED[how](workspace)
    for again in (workspace, place.open()):
        assert users(again) == expected
    # The next one is whole again, from whoever appends.
    other = place.open()
    expected = grant(other, 40, 40 + 2 * FEW)
    assert users(other) == users(place.open()) == users(workspace) == expected
    assert covered(other) > 40
    assert other.trail.audit().holds


FOUND = {
    "removed": "is missing, and nodes of its map are there",
    "removed with its nodes": None,
    "without its nodes": "nodes of its map are missing",
    "nodes altered": "nodes of its map were altered",
    "no note": "not a signed note",
    "by another key": "which could not sign this size",
    "of another log": "is of another log: evidentia/x/default",
    "of more entries": "covers 1,000,000,000 entries, and the log has 41",
    "altered": "not a snapshot of the entries that decide",
}


@pytest.mark.parametrize("how", ALTERED)
def test_an_audit_says_what_was_done_to_a_snapshot(sqlite_place: Place, how: str) -> None:
    workspace = sqlite_place.open()
    grant(workspace, 0, 40)
    ALTERED[how](workspace)
    findings, expected = workspace.trail.audit().findings, FOUND[how]
    assert [one.what for one in findings] == (["snapshot of what decides"] if expected else [])
    assert (expected or "") in str(findings)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"entries": EMPTY_MAP}, "its map is not that of the entries"),
        ({"root": bytes(32)}, "does not match: the entries that it covers changed"),
    ],
)
def test_an_audit_does_not_take_the_keys_word_for_a_snapshot(
    sqlite_place: Place, changes: dict[str, Any], expected: str
) -> None:
    workspace = sqlite_place.open()
    grant(workspace, 0, 40)
    note = note_of(workspace)
    assert note is not None
    found = read_snapshot(note)[0]
    fields = {name: getattr(found, name) for name in found.__slots__} | changes
    signed = Snapshot(**fields).sign(signing_key(workspace).private_key)
    execute(workspace, "UPDATE trail_snapshots SET note = ?", signed)
    assert expected in str(workspace.trail.audit().findings)


def test_an_audit_finds_nodes_that_should_not_be_there(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    grant(workspace, 0, 40)
    insert = "INSERT INTO trail_snapshot_nodes (tenant, hash, data) VALUES ('default', ?, ?)"
    execute(workspace, insert, b"x" * 32, b"y")
    (finding,) = workspace.trail.audit().findings
    assert str(finding) == "snapshot of what decides: 1 node of its map should not be there"
    assert workspace.audit(quick=True).holds
    execute(workspace, "UPDATE trail_snapshots SET note = 'x'")
    assert not workspace.audit(quick=True).holds


def test_a_node_that_is_gone_is_written_again_once_someone_missed_it(place: Place) -> None:
    workspace = place.open()
    expected = grant(workspace, 0, 40)
    key = workspace.trail.public_key().key_id
    for at in range(0, 40, 9):
        name, _ = stored_nodes(workspace)[at]
        execute(workspace, "DELETE FROM trail_snapshot_nodes WHERE hash = ?", name)
        again = place.open()
        assert users(again) == expected
        found = [again._acting.entries(EntryKind.ACCESS, f"user/{user}") for user in expected]
        found.append(again._acting.entries(EntryKind.KEY, key))
        assert [len(one) for one in found] == [1] * 41
        assert not again.trail.audit().holds
        again.append(record(1))
        assert again.trail.audit().holds


def test_an_older_snapshot_with_its_nodes_costs_time_alone(place: Place) -> None:
    workspace = place.open()
    grant(workspace, 0, 10)
    note, nodes = note_of(workspace), stored_nodes(workspace)
    assert note is not None
    expected = grant(workspace, 10, 40)
    workspace.access.revoke("user-20", "approver")
    expected.remove("user-20")
    restore(workspace, note, nodes)
    assert users(place.open()) == expected
    other = place.open()
    other.trail.append_many([record(number) for number in range(FEW)])
    assert covered(other) == other.trail.size
    assert users(place.open()) == expected
    assert other.trail.audit().holds


def test_a_snapshot_of_more_than_a_log_has_left_says_nothing_of_it(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    expected = grant(workspace, 0, 40)
    cut_back(workspace, 20)
    assert covered(workspace) == 40
    again = sqlite_place.open()
    assert users(again) == expected[:19]
    assert "covers 40 entries, and the log has 20" in str(again.trail.audit().findings)


def test_nothing_is_read_on_from_a_root_that_the_log_did_not_have(place: Place) -> None:
    workspace = place.open()
    grant(workspace, 0, 10)
    appending = workspace.opened.appending
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        head = log.require_head(connection, "default")
        for size, root in ((4, bytes(32)), (9, head.root)):
            wrong = Known(head.origin, size, root)
            with pytest.raises(IntegrityError, match=f"does not go on from the first {size} "):
                read_on(
                    connection,
                    head,
                    partial(appending.basis, connection, head),
                    wrong,
                    workspace.opened.tiles,
                )


def test_a_view_of_before_sees_what_was_there_before(place: Place) -> None:
    workspace = place.open()
    grant(workspace, 0, 10)
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        log.require_head(connection, "default")
        grant(workspace, 10, 13)
        assert len(workspace._acting.entries(EntryKind.ACCESS, connection=connection)) == 10
    assert len(workspace._acting.entries(EntryKind.ACCESS)) == 13


def test_processes_that_append_in_turns_know_of_each_other(place: Place) -> None:
    one, other = place.open(), place.open()
    expected = []
    for number in range(30):
        workspace = (one, other)[number % 2]
        workspace.access.grant(f"user-{number}", "approver")
        expected.append(f"user-{number}")
        if number % 5 == 0:
            assert users(one) == users(other) == expected
    for workspace in (one, other, place.open()):
        assert users(workspace) == expected
        for user in expected:
            assert len(workspace._acting.entries(EntryKind.ACCESS, f"user/{user}")) == 1
        assert not workspace.opened.appending.lookups._spoiled  # a newer map is no damage
    assert one.trail.audit().holds


def test_processes_that_append_at_once_leave_one_map(place: Place) -> None:
    place.open().append(record(0))
    place.close()

    def work(name: str) -> None:
        mine = place.open()
        for number in range(15):
            mine.access.grant(f"{name}-{number}", "approver")
            assert f"{name}-{number}" in users(mine)

    with Child(partial(work, "one")) as one, Child(partial(work, "other")) as other:
        one.end()
        other.end()
    again = place.open()
    assert sorted(users(again)) == sorted(f"{n}-{i}" for n in ("one", "other") for i in range(15))
    assert covered(again) > 0
    assert again.trail.audit().holds


def test_threads_that_look_up_and_append_see_whole_states(place: Place) -> None:
    workspace = place.open()

    def work(name: int) -> None:
        for number in range(8):
            workspace.access.grant(f"{name}-{number}", "approver")
            assert f"{name}-{number}" in users(workspace)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert len(users(workspace)) == len(users(place.open())) == 32
    assert workspace.trail.audit().holds


def test_snapshots_go_on_when_the_key_is_rotated(place: Place) -> None:
    workspace = place.open()
    grant(workspace, 0, 10)
    workspace.trail.rotate_key()
    assert len(users(place.open())) == 10  # the old key's snapshot still counts
    grant(workspace, 10, 20)
    note = note_of(workspace)
    assert note is not None
    assert read_snapshot(note)[1].signed_by([workspace.trail.public_key()]) is not None
    assert len(users(place.open())) == 20
    assert workspace.trail.audit().holds


def test_a_snapshot_by_a_key_that_could_not_sign_its_size_is_not_believed(place: Place) -> None:
    workspace = place.open()
    expected = grant(workspace, 0, 10)
    retired = signing_key(workspace)
    workspace.trail.rotate_key()
    expected = grant(workspace, 10, 30)
    note = note_of(workspace)
    assert note is not None
    found = read_snapshot(note)[0]
    late = Snapshot(found.origin, found.size, found.root, EMPTY_MAP).sign(retired.private_key)
    execute(workspace, "UPDATE trail_snapshots SET note = ?", late)
    assert users(place.open()) == expected
    assert "snapshot" in str(workspace.trail.audit().findings)


def test_adopted_entries_are_in_snapshots_and_still_grant_nothing(place: Place) -> None:
    workspace = place.open()
    expected = grant(workspace, 0, 10)
    body = {
        "action": "grant",
        "user": "mallory",
        "tenant_id": "default",
        "role": "admin",
        "granted_by": "owner",
        "granted_at": "2026-11-01T09:00:00.000000Z",
        "expires_at": None,
    }
    append_unsigned(workspace, (EntryKind.ACCESS, "user/mallory", body))
    for again in (workspace, place.open()):
        assert users(again) == expected
    workspace.trail.adopt(reason="written by 0.1")
    workspace.trail.append_many([record(number) for number in range(2 * FEW)])
    assert covered(workspace) == workspace.trail.size
    for again in (workspace, place.open()):
        assert users(again) == expected


def test_a_log_that_cannot_be_read_is_appended_to_and_not_decided_by(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    grant(workspace, 0, 10)
    for trigger in ("trail_entries_delete", "trail_snapshots_delete"):
        execute(workspace, f"DROP TRIGGER IF EXISTS {trigger}")
    execute(workspace, "DELETE FROM trail_entries WHERE seq = 4")
    execute(workspace, "DELETE FROM trail_snapshots")
    again = sqlite_place.open()
    again.trail.append_many([record(number) for number in range(3 * FEW)])
    assert covered(again) == 0
    with pytest.raises(IntegrityError, match="entry 4 is missing, and nothing is decided by such"):
        again.access.grants()


def test_an_older_database_is_read_once_before_anyone_waits(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = place.open()
    expected = grant(workspace, 0, 50)
    forget(workspace)
    other = place.open()
    assert users(other) == expected
    again = place.open()
    again._acting.refuse_to_fork()
    with nothing_read(monkeypatch):
        again.append(record(1))
    assert covered(again) == again.trail.size
    assert again.trail.audit().holds


def test_a_subject_has_as_many_entries_as_it_takes(place: Place) -> None:
    workspace = place.open()
    for _ in range(40):
        workspace.access.grant("noor", "approver")
        workspace.access.revoke("noor", "approver")
    for again in (workspace, place.open()):
        found = again._acting.entries(EntryKind.ACCESS, "user/noor")
        assert len(found) == len(again._acting.entries(EntryKind.ACCESS)) == 80
        later = again._acting.entries(EntryKind.ACCESS, "user/noor", after=found[70].entry.seq)
        assert later == found[71:]
        assert again._acting.entries(EntryKind.ACCESS, "user/sami") == []


def test_the_applications_role_can_spoil_snapshots_and_decide_nothing_by_it(
    postgres: PostgresServer, postgres_place: Place
) -> None:
    assert postgres_place.url is not None
    expected = grant(postgres_place.open(), 0, 30)
    with postgres.fresh_role(postgres_place.url) as (role, url):
        owner = Database.server(postgres_place.url)
        listing.grant(owner, role)
        owner.close()
        workspace = open_workspace(url, home=postgres_place.home.folder)
        workspace.access.revoke("user-3", "approver")
        expected.remove("user-3")
        with pytest.raises(EnvironmentProblem, match="permission denied"):
            execute(workspace, "DELETE FROM trail_snapshots")
        for spoil in (
            partial(execute, workspace, "UPDATE trail_snapshots SET note = 'x'"),
            partial(execute, workspace, "DELETE FROM trail_snapshot_nodes"),
            partial(ALTERED["nodes altered"], workspace),
        ):
            spoil()
            for again in (workspace, postgres_place.open()):
                assert users(again) == expected
            assert not workspace.trail.audit().holds
            workspace.trail.append_many([record(number) for number in range(2 * FEW)])
            assert workspace.trail.audit().holds
        workspace.close()

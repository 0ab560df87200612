"""Timelines: what is about a thing, when it was, and the checkpoints that cover it, by the page."""

from datetime import date, timedelta

import pytest
from sqlalchemy import Connection

from evidentia.errors import InputError
from evidentia.store.database import run
from evidentia.trail.checkpoint import read_checkpoint
from evidentia.trail.entry import EntryKind
from evidentia.workspace import Workspace
from insider import append_unsigned, without_guards
from packing import Clock, make_pack, opened, tool_call
from places import Place, record


def numbers(workspace: Workspace, about: str | None = None, **asked: object) -> list[int]:
    found = workspace.trail.timeline(about, **asked)  # type: ignore[arg-type]  # as given
    return [one.logged.entry.seq for one in found]


def kinds(workspace: Workspace, about: str) -> list[str]:
    return [one.logged.entry.kind for one in workspace.trail.timeline(about, newest_first=False)]


def test_a_pack_its_decision_and_its_entity_have_one_timeline(workspace: Workspace) -> None:
    pack = make_pack(workspace)
    workspace.tools.record(pack.decision_id, tool_call())
    workspace.packs.hold(pack.pack_id, reason="case")
    make_pack(workspace, 2)
    expected = ["decision", "pack", "tool_call", "retention"]
    for name in (pack.pack_id, pack.decision_id, pack.entity_id):
        assert kinds(workspace, name) == expected, name


def test_an_id_is_found_without_what_its_subject_begins_with(workspace: Workspace) -> None:
    workspace.trail.append_many([record(1), record(2)])
    workspace.access.grant("ann", "viewer")
    bundle = workspace.bundles.build({"extra_params": {"evidence": ["One."]}})
    workspace.bundles.record_run("run/1", bundle.bundle_id)
    assert kinds(workspace, record(2).obligation_id) == ["evidence_record"]
    assert kinds(workspace, "ann") == ["access"]
    assert kinds(workspace, bundle.bundle_id) == ["bundle"]
    assert kinds(workspace, "run/1") == ["run"]
    assert kinds(workspace, "nobody") == []


def test_pages_go_on_where_the_last_one_ended(workspace: Workspace) -> None:
    workspace.trail.append_many([record(number) for number in range(7)])
    size = workspace.trail.size
    first = numbers(workspace, limit=3)
    assert first == [size - 1, size - 2, size - 3]
    assert numbers(workspace, limit=3, before=first[-1]) == [size - 4, size - 5, size - 6]
    assert numbers(workspace, limit=2, after=size - 4, newest_first=False) == [size - 3, size - 2]
    assert set(numbers(workspace, kind="key")) < set(numbers(workspace))


def test_days_are_found_by_halves(sqlite_place: Place) -> None:
    clock = Clock()
    workspace = opened(sqlite_place, clock=clock)
    by_day: dict[date, list[int]] = {}
    for number in range(6):
        clock.at += timedelta(days=1 + number % 2)
        receipt = workspace.trail.append(record(number))
        by_day.setdefault(clock.at.date(), []).append(receipt.seq)
    days = sorted(by_day)
    for since in (None, days[0], days[2], days[-1], days[-1] + timedelta(days=9)):
        for until in (None, days[0], days[3], days[-1], date.max):
            expected = [
                seq
                for day, found in by_day.items()
                if (since is None or day >= since) and (until is None or day <= until)
                for seq in found
            ]
            found = workspace.trail.timeline(
                kind="evidence_record", since=since, until=until, newest_first=False
            )
            assert [one.logged.entry.seq for one in found] == expected


def test_what_is_no_question_is_refused(workspace: Workspace) -> None:
    for asked in ({"kind": "nothing"}, {"limit": 0}, {"limit": 1_001}, {"about": "a\0b"}):
        with pytest.raises(InputError):
            workspace.trail.timeline(**asked)
    with pytest.raises(InputError):
        workspace.trail.checkpoints(limit=0)
    assert workspace.trail.timeline("anything") == []
    assert workspace.trail.checkpoints() == []


def test_an_entry_that_was_never_signed_says_so_and_the_others_are_shown(
    workspace: Workspace,
) -> None:
    workspace.trail.append(record(1))
    body = {"action": "grant", "role": "admin"}
    append_unsigned(workspace, (EntryKind.ACCESS, "user/mallory", body))
    newest, *others = workspace.trail.timeline()
    assert (newest.is_signed, newest.logged.body) == (False, body)
    assert all(one.is_signed and one.problem is None for one in others)
    assert workspace.trail.signed_size == workspace.trail.size - 1


def test_an_entry_that_was_changed_comes_with_its_problem(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    receipt = workspace.trail.append(record(1))

    def change(connection: Connection) -> None:
        sql = "UPDATE trail_bodies SET body = ? WHERE seq = ?"
        run(connection, sql, (b'{"by":"mallory"}', receipt.seq))

    without_guards(workspace, change)
    [found] = workspace.trail.timeline(kind="evidence_record")
    assert found.logged.body == {"by": "mallory"}
    assert "not what it commits to" in str(found.problem)


def test_checkpoints_come_by_the_page_with_the_keys_that_signed(workspace: Workspace) -> None:
    for number in range(3):
        workspace.trail.append(record(number))
    old = workspace.trail.public_key().key_id
    new = workspace.trail.rotate_key().key_id
    found = workspace.trail.checkpoints()
    assert [one.size for one in found] == sorted((one.size for one in found), reverse=True)
    assert {one.key_id for one in found} == {old, new}
    assert all(read_checkpoint(one.note)[0].size == one.size for one in found)
    assert found[0].cosigners == ()
    last = workspace.trail.entry(found[0].size - 1)
    assert found[0].at == last.entry.at
    assert workspace.trail.checkpoints(before=3, limit=1)[0].size < 3

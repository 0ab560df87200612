"""What destroys or permits decides from entries that were proved, whatever finds them."""

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from pysqlite3 import dbapi2 as sqlite
from sqlalchemy import Connection

from evidentia.errors import AccessError, IntegrityError, UsageError
from evidentia.store import lookups
from evidentia.store.database import run
from evidentia.trail.entry import EntryKind
from evidentia.trail.merkle import leaf_hash
from evidentia.trail.tiles import Frontier
from evidentia.workspace import Workspace
from insider import append_unsigned, cut_back, disagreeing_index, without_guards
from packing import Clock, make_pack, opened
from places import Place, record

if TYPE_CHECKING:
    from collections.abc import Callable


def hide(place: Place, index: str, seq: int) -> None:
    """Have an index of the entries lack one of them, and statistics that steer queries to it."""
    place.close()
    database = place.home.database
    with closing(sqlite.connect(str(database))) as connection:
        connection.execute("ANALYZE")
    disagreeing_index(database, index, f"seq <> {seq}")


def plan_of(place: Place, kind: EntryKind) -> str:
    with closing(sqlite.connect(str(place.home.database))) as connection:
        sql = "EXPLAIN QUERY PLAN SELECT entry FROM trail_entries WHERE tenant = ? AND kind = ?"
        return str(connection.execute(sql, ("default", kind.value)).fetchall())


def filled(place: Place) -> Workspace:
    workspace = place.open()
    workspace.trail.append_many([record(number) for number in range(300)])
    return workspace


# Indexes


def test_a_revoked_admin_stays_revoked_whatever_an_index_leaves_out(sqlite_place: Place) -> None:
    workspace = filled(sqlite_place)
    workspace.access.grant("mallory", "admin")
    revoked = workspace.access.revoke("mallory", "admin").seq
    hide(sqlite_place, "trail_entries_kind", revoked)
    assert "trail_entries_kind" in plan_of(sqlite_place, EntryKind.ACCESS)
    again = sqlite_place.open()
    assert len(again.trail.entries(kind="access")) == 1  # what only shows is misled
    assert again.access.grants() == []
    with pytest.raises(AccessError):
        again.opened.for_(user="mallory").access.grant("mallory", "approver")


def test_a_log_that_was_cut_back_gives_no_role_back(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    workspace.access.grant("mallory", "admin")
    size = workspace.trail.size
    workspace.access.revoke("mallory", "admin")
    cut_back(workspace, size)
    again = sqlite_place.open()
    with pytest.raises(IntegrityError, match="rolled back"):
        again.opened.for_(user="mallory").packs.list()


def test_roles_of_another_tenant_are_none_here_whoever_exchanges_their_rows(
    sqlite_place: Place,
) -> None:
    sqlite_place.open().trail.append(record(0))
    sqlite_place.open("other").access.grant("mallory", "admin")

    def exchange(connection: Connection) -> None:
        for (table,) in run(
            connection,
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'trail%'",
        ).fetchall():
            for old, new in (("default", "x"), ("other", "default"), ("x", "other")):
                run(connection, f"UPDATE {table} SET tenant = ? WHERE tenant = ?", (new, old))

    without_guards(sqlite_place.open(), exchange)
    again = sqlite_place.open()
    for attempt in (again.access.grants, lambda: again.trail.entry(0)):
        with pytest.raises(IntegrityError, match="belongs to another tenant"):
            attempt()


@pytest.mark.parametrize("index", ["trail_entries_kind", "trail_entries_subject"])
def test_a_held_pack_is_not_erased_whatever_an_index_leaves_out(
    sqlite_place: Place, index: str
) -> None:
    workspace = filled(sqlite_place)
    pack = make_pack(workspace)
    entry = workspace.packs.find("latest").entry
    held = workspace.packs.hold(pack.pack_id, reason="a case").seq
    hide(sqlite_place, index, held)
    again = sqlite_place.open()
    with pytest.raises(UsageError, match="is on legal hold"):
        again.trail.erase(entry, reason="law", by="counsel")
    assert again.packs.sweep() == []
    assert again.packs.get(pack.pack_id) == pack


# Rows


def revoked_admin(place: Place) -> tuple[Workspace, int]:
    workspace = place.open()
    workspace.access.grant("mallory", "admin")
    return workspace, workspace.access.revoke("mallory", "admin").seq


def refused(place: Place, match: str) -> None:
    """Check that nothing is decided by the roles, in a process that knows nothing yet."""
    again = place.open()
    steps: list[Callable[[], Any]] = [
        again.access.grants,
        partial(again.opened.for_(user="mallory").access.grant, "mallory", "approver"),
    ]
    for step in steps:
        with pytest.raises(IntegrityError, match=match):
            step()


@pytest.mark.parametrize("often", [False, True])
@pytest.mark.parametrize(
    ("sql", "match"),
    [
        ("DELETE FROM trail_bodies WHERE seq = ?", "has no body, though no entry erased it"),
        ("DELETE FROM trail_entries WHERE seq = ?", "entry 2 is missing"),
        (
            "UPDATE trail_entries SET entry = replace(entry, 'mallory', 'malvina') WHERE seq = ?",
            "is not what was signed|do not lead to the root",
        ),
        ("UPDATE trail_bodies SET body = '{}' WHERE seq = ?", "its body is not what it commits to"),
    ],
)
def test_a_revocation_that_is_removed_or_altered_gives_nothing_back(
    sqlite_place: Place, monkeypatch: pytest.MonkeyPatch, sql: str, match: str, *, often: bool
) -> None:
    if often:  # the entry is in a snapshot, and not among those read on from it
        monkeypatch.setattr(lookups, "EVERY", 2)
    workspace, seq = revoked_admin(sqlite_place)
    workspace.append(record(1))
    if "entry = replace" in sql:
        sql = sql.replace("replace(entry", "CAST(replace(CAST(entry AS TEXT)").replace(
            "'malvina')", "'malvina') AS BLOB)"
        )
    if "body = '{}'" in sql:
        sql = sql.replace("'{}'", "CAST('{}' AS BLOB)")
    without_guards(workspace, lambda connection: run(connection, sql, (seq,)))
    refused(sqlite_place, match)


def test_an_unsigned_entry_behind_does_not_hide_that_a_signed_one_was_altered(
    sqlite_place: Place,
) -> None:
    """The head's root is over altered entries, and its edge still shows the old ones."""
    workspace, seq = revoked_admin(sqlite_place)
    append_unsigned(workspace, (EntryKind.PACK, "pack-1", {"pack": 1}))

    def work(connection: Any) -> None:
        altered = "CAST(replace(CAST(entry AS TEXT), 'mallory', 'malvina') AS BLOB)"
        run(connection, f"UPDATE trail_entries SET entry = {altered} WHERE seq = ?", (seq,))
        rows = run(connection, "SELECT entry FROM trail_entries ORDER BY seq").scalars()
        frontier = Frontier()
        frontier.extend(leaf_hash(bytes(entry)) for entry in rows)
        run(connection, "UPDATE trail_heads SET root = ?", (frontier.root(),))

    without_guards(workspace, work)
    refused(sqlite_place, "the first 3 entries do not lead to the root that is signed")


def test_a_hold_is_on_all_versions_of_a_pack_whatever_their_rows_say(sqlite_place: Place) -> None:
    clock = Clock()
    workspace = opened(sqlite_place, clock=clock)
    first = make_pack(workspace)
    second = workspace.packs.review(first.pack_id, "approved", reviewer="ann")
    workspace.packs.hold(first.pack_id, reason="a case")
    entry = workspace.packs.find(second.pack_id).entry
    without_guards(
        workspace,
        lambda connection: run(
            connection,
            "UPDATE evidence_packs SET decision_id = 'dec_2', replaces_id = NULL WHERE id = ?",
            (second.pack_id,),
        ),
    )
    for again in (workspace, opened(sqlite_place, clock=clock)):
        with pytest.raises(UsageError, match="is on legal hold"):
            again.trail.erase(entry, reason="law", by="counsel")
        with pytest.raises(IntegrityError, match="is of decision"):
            again.packs.hold(second.pack_id, reason="again")


def test_an_entry_that_was_altered_is_not_erased_as_another(sqlite_place: Place) -> None:
    workspace = sqlite_place.open()
    pack = make_pack(workspace)
    entry = workspace.packs.find("latest").entry
    workspace.packs.hold(pack.pack_id, reason="a case")
    altered = f"CAST(replace(CAST(entry AS TEXT), '{pack.pack_id}', 'pack_other') AS BLOB)"
    without_guards(
        workspace,
        lambda connection: run(
            connection, f"UPDATE trail_entries SET entry = {altered} WHERE seq = ?", (entry,)
        ),
    )
    for again in (workspace, sqlite_place.open()):
        with pytest.raises(
            IntegrityError, match=r"is not what was signed|do not lead to the root that is signed"
        ):
            again.trail.erase(entry, reason="law", by="counsel")

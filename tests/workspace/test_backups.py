"""Backups: what is restored is what was there, damage is found, and nothing half-done passes."""

import random
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url

import tiers
from evidentia.canonical import sha256_hex
from evidentia.errors import (
    BusyError,
    ConflictError,
    EnvironmentProblem,
    EvidentiaError,
    GoneError,
    InputError,
    IntegrityError,
    NotFoundError,
    ProofError,
)
from evidentia.proof.files import read_key
from evidentia.store import backing_up, restoring, schema
from evidentia.store.backing_up import KeysTaken, MadeBackup
from evidentia.store.backup_places import BackupPlace, name_of
from evidentia.store.database import Database
from evidentia.store.home import Home
from evidentia.store.lake import FileLake
from evidentia.store.pruning import prune
from evidentia.store.sql import copying, uses
from evidentia.store.tables import metadata
from evidentia.store.witnesses import Witnesses
from evidentia.trail.backup import BackupManifest
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.backups import (
    Target,
    make_backup,
    prune_backups,
    restore_backup,
    verify_backup,
)
from evidentia.workspace.opened import Opened, open_all
from forking import Child
from packing import make_pack, opened
from places import Place, lake_folder, lake_of, record
from postgres import ROLES, PostgresServer
from seaweed import Bucket
from workspace.one_of_everything import fill
from workspace.policies import read_here

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
OTHER = {"sqlite": "postgresql", "postgresql": "sqlite"}


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


@pytest.fixture
def store(tmp_path: Path) -> BackupPlace:
    return BackupPlace(str(tmp_path / "store"))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a home with one of everything, and a backup of it beside; copy them before a change."""
    folder = tmp_path_factory.mktemp("backups")
    with pytest.MonkeyPatch.context() as patched:
        read_here(patched)
        with open_workspace(folder / "home") as workspace:
            fill(workspace, folder / "docs")
            make_backup(workspace.opened, BackupPlace(str(folder / "store")))
    return folder


@contextmanager
def empty(kind: str, postgres: PostgresServer) -> Iterator[str | None]:
    """Give an empty database to restore to: none for a folder, or the URL of one without tables."""
    if kind == "sqlite":
        yield None
        return
    with postgres.fresh_database("template0") as url:
        yield url


def back_up(workspace: Workspace, store: BackupPlace, **how: Any) -> MadeBackup:
    return make_backup(workspace.opened, store, **how)


def public_key(workspace: Workspace) -> Any:
    return read_key(workspace.trail.public_key())


def all_rows(database: Database, tenant: str = "default") -> dict[str, list[list[Any]]]:
    """Return all that a tenant has of what is backed up."""
    with database.of(tenant).read() as connection:
        return {
            table.name: sorted(
                (_plain(row, table) for row in copying.rows(connection, tenant, table)), key=repr
            )
            for table in copying.copied()
        }


def _plain(row: list[Any], table: Any) -> list[Any]:
    return [
        bool(value) if kind == "truth" else bytes(value) if kind == "bytes" and value else value
        for value, kind in zip(row, table.kinds, strict=True)
    ]


# What comes back


@pytest.mark.parametrize("to", ["other", pytest.param("same", marks=pytest.mark.whole)])
def test_all_that_was_there_comes_back_also_in_another_kind_of_database(
    place: Place, store: BackupPlace, tmp_path: Path, postgres: PostgresServer, to: str
) -> None:
    own = "sqlite" if place.is_sqlite else "postgresql"
    workspace = fill(place.open(), tmp_path / "docs")
    made = back_up(workspace, store)
    assert (made.problems, made.notes) == ((), ())
    assert verify_backup(store, trusted=[public_key(workspace)]).holds
    rows, digests = all_rows(place_database(workspace)), list(lake_of(workspace).digests())
    assert all(
        rows[name] for name in ("documents", "claims", "evidence_packs", "llm.evidence_item")
    )
    with empty(own if to == "same" else OTHER[own], postgres) as url:
        home = Home(tmp_path / "new")
        report = restore_backup(store, Target(home, url), trusted=[public_key(workspace)])
        assert (report.findings, report.lost) == ((), ())
        shutil.copytree(place.home.folder / "keys", home.folder / "keys")
        with open_workspace(url or home.folder, home=home.folder, create=False) as again:
            assert all_rows(place_database(again)) == rows
            assert list(lake_of(again).digests()) == digests
            assert again.append(record(2)).seq == workspace.trail.size
            assert again.audit().holds


def place_database(workspace: Workspace) -> Database:
    return workspace.opened.database


@pytest.mark.parametrize("to", ["sqlite", "postgresql"])
def test_a_bucket_is_backed_up_to_a_bucket_and_restored_to_another(
    bucket: Bucket, tmp_path: Path, sqlite_place: Place, postgres: PostgresServer, to: str
) -> None:
    workspace = opened(sqlite_place, lake=bucket.url)
    make_pack(workspace)
    back_up(workspace, BackupPlace(f"s3://{bucket.name}/backups/nightly"))
    workspace.append(record(1))
    store = BackupPlace(f"s3://{bucket.name}/backups/nightly/")
    again = back_up(workspace, store)
    assert again.sent.files == 0
    assert store.names()[-1] == again.name
    key = public_key(workspace)
    assert verify_backup(store, trusted=[key]).holds
    lake = f"s3://{bucket.name}/restored"
    with empty(to, postgres) as url:
        target = Target(Home(tmp_path / "new"), url, lake)
        assert restore_backup(store, target, trusted=[key]).holds
        with open_workspace(url or target.home.folder, home=target.home.folder, lake=lake) as back:
            packs = [one.id for one in back.packs.list()]
            assert packs == [one.id for one in workspace.packs.list()]
            assert not list(FileLake(target.home.lake).digests()), "the files are in the bucket"
            placed = "SELECT count(*) FROM lake_objects WHERE object_key LIKE 'restored/default/%%'"
            with place_database(back).read() as connection:
                sql = placed if url else placed.replace("%%", "%")
                assert connection.exec_driver_sql(sql).scalar()
    digest = again.manifest.tenants[0].tables[-1].parts[0].sha256
    store.parts.remove(digest)
    with pytest.raises(EvidentiaError, match=digest):
        verify_backup(store, trusted=[key])


def test_what_is_restored_to_a_bucket_with_object_lock_is_locked_there(
    locked_bucket: Bucket, tmp_path: Path, sqlite_place: Place
) -> None:
    workspace = opened(sqlite_place)
    make_pack(workspace)
    store = BackupPlace(str(tmp_path / "backups"))
    back_up(workspace, store)
    home = Home(tmp_path / "new")
    target = Target(home, None, locked_bucket.url)
    assert restore_backup(store, target, trusted=[public_key(workspace)]).holds
    with open_workspace(home.folder, lake=locked_bucket.url) as back:
        assert back.packs.lock() == []
        assert back.packs.audit().holds


def test_all_tenants_are_backed_up_or_one_alone_with_nothing_of_the_others(
    place: Place, tmp_path: Path
) -> None:
    ours, theirs = opened(place, "ours"), place.open("theirs")
    make_pack(ours)
    theirs.append(record(1))
    lake_of(theirs).put(b"theirs alone")
    make_pack(theirs, 2)
    both, one = BackupPlace(str(tmp_path / "both")), BackupPlace(str(tmp_path / "one"))
    assert [t.tenant for t in back_up(ours, both).manifest.tenants] == ["ours", "theirs"]
    back_up(ours, one, tenant="ours")
    key = public_key(ours)
    assert verify_backup(both, trusted=[key, public_key(theirs)]).holds
    assert not verify_backup(both, trusted=[key]).holds, "no one says whose the other one is"
    assert verify_backup(one, trusted=[key]).holds
    with theirs.opened.database.of(theirs.tenant).read() as connection:
        used = set(uses.used(connection, "theirs"))
    assert used, "or there would be nothing to leave out"
    assert not used & set(one.parts.digests())
    with pytest.raises(NotFoundError, match="'nobody' has nothing here"):
        back_up(ours, one, tenant="nobody")


def test_postings_that_wait_and_spans_that_wait_come_back(
    postgres_place: Place, store: BackupPlace, tmp_path: Path, postgres: PostgresServer
) -> None:
    workspace = postgres_place.open()
    workspace.append(record(1))
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        connection.exec_driver_sql(
            "INSERT INTO trail_inbox (tenant, ticket, until, entries, content, code) "
            "VALUES ('default', 'tkt_1', '2026-01-01T00:00:00Z', 1, 'x', 'y')"
        )
        connection.exec_driver_sql(
            "INSERT INTO waiting_traces (tenant, trace_id, actor, spans, root, recorded) "
            "VALUES ('default', 'ab', 'owner', 1, 0, 0)"
        )
    back_up(workspace, store)
    with empty("postgresql", postgres) as url:
        target = Target(Home(tmp_path / "new"), url)
        restore_backup(store, target, trusted=[public_key(workspace)])
        database = Database.server(str(url))
        rows = all_rows(database)
        database.close()
    assert rows["trail_inbox"] == [["tkt_1", "2026-01-01T00:00:00Z", 1, b"x", b"y"]]
    assert len(rows["waiting_traces"]) == 1


@pytest.mark.parametrize("role", [*ROLES.as_json(), "postgres"])
def test_all_is_backed_up_under_whichever_role_or_nothing(
    postgres: PostgresServer, store: BackupPlace, tmp_path: Path, role: str
) -> None:
    """A role that row-level security hides something from would give a part, as if it were all."""
    name = ROLES.as_json().get(role, role)
    with postgres.fresh_database() as url:
        with open_workspace(postgres.as_application(url), home=tmp_path / "home") as workspace:
            make_pack(workspace)
        with open_workspace(url, home=tmp_path / "home", tenant="another") as workspace:
            workspace.append(record(1))
        sql = "INSERT INTO trail_inbox VALUES ('early', 'tkt_1', '2099-01-01', 1, 'x', 'y')"
        postgres.execute(sql, str(make_url(url).database))
        as_role = make_url(url).update_query_dict({"options": f"-c role={name}"})
        address = as_role.render_as_string(hide_password=False)
        with open_all(address, home=tmp_path / "home", create=False, read_only=True) as opened:
            made = make_backup(opened, store)
            alone = make_backup(opened, store, tenant="early").manifest.tenants
        superuser = Database.server(url)
        rows = {one: all_rows(superuser, one) for one in ("another", "default", "early")}
        superuser.close()
    parts = [one for one in made.manifest.tenants if one.tenant == "early"]
    assert made.problems == ()
    assert alone == parts, "nothing of it is missing where it is asked for by itself"
    assert {
        one.tenant: {table.name: sum(part.rows for part in table.parts) for table in one.tables}
        for one in made.manifest.tenants
    } == {
        tenant: {table: len(found) for table, found in tables.items()}
        for tenant, tables in rows.items()
    }


def test_a_role_that_may_read_tables_but_not_ask_for_tenants_makes_no_backup(
    postgres: PostgresServer, store: BackupPlace, tmp_path: Path
) -> None:
    """As one that was made by hand, and that row-level security shows nothing."""
    with postgres.fresh_database() as url, postgres.fresh_role(url) as (role, address):
        with open_workspace(url, home=tmp_path / "home") as workspace:
            workspace.append(record(1))
        name = str(make_url(url).database)
        postgres.execute(f"GRANT USAGE ON SCHEMA llm TO {role}", name)
        postgres.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public, llm TO {role}", name)
        with (
            open_all(address, home=tmp_path / "home", create=False, read_only=True) as opened,
            pytest.raises(EnvironmentProblem, match=r"may not read all .+ auditor"),
        ):
            make_backup(opened, store)
    assert store.names() == []


def test_every_table_is_copied_or_left_out_for_a_reason() -> None:
    copied = [table.name for table in copying.copied()]
    assert sorted([*copied, *copying.LEFT_OUT]) == sorted(metadata.tables)
    assert copied[-1] == "trail_heads", "without its head there is no log, until all is there"
    assert all(len(reason) > 15 for reason in copying.LEFT_OUT.values())
    for table in copying.copied():
        columns = [column.name for column in metadata.tables[table.name].columns]
        assert ["tenant", *(column.name for column in table.columns)] == columns


def test_what_is_listed_as_used_is_what_is_found_used(filled: Path) -> None:
    with open_workspace(filled / "home") as workspace:
        with workspace.opened.database.of(workspace.tenant).read() as connection:
            listed = list(uses.used(connection, "default"))
        asked = [
            digest
            for digest in lake_of(workspace).digests()
            if workspace.opened.database.of(workspace.tenant).ask(uses.is_used, "default", digest)
        ]
        assert listed == asked


# Only what is new is sent


def test_a_second_backup_sends_only_what_is_new(
    place: Place, store: BackupPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backing_up, "ALIGNED", 64)
    workspace = place.open()
    workspace.trail.append_many([record(number) for number in range(700)])
    lake_of(workspace).put(b"a file that nothing refers to")
    first = back_up(workspace, store)
    entries = first.manifest.tenants[0].table("trail_entries")
    assert entries is not None
    assert (entries.rows, len(entries.parts)) == (701, 11)
    assert first.sent.files == 1
    second = back_up(workspace, store)
    assert (second.sent.parts, second.sent.files, second.sent.bytes) == (0, 0, 0)
    workspace.append(record(1))
    third = back_up(workspace, store)
    again = third.manifest.tenants[0].table("trail_entries")
    assert again is not None
    assert again.parts[:-1] == entries.parts[:-1]
    assert third.sent.parts < 8, "the last part of the log's tables, and small ones"
    assert third.sent.bytes < first.sent.bytes / 4
    for name in store.names():
        assert verify_backup(store, name, trusted=[public_key(workspace)]).holds


def test_an_erased_body_goes_with_the_older_backups(place: Place, store: BackupPlace) -> None:
    workspace = place.open()
    secret = "what is to be erased by law"
    receipt = workspace.append(record(1, source_clause=secret))
    back_up(workspace, store)
    workspace.trail.erase(receipt.seq, reason="law", by="counsel")
    back_up(workspace, store)
    assert says(store, secret), "it stands in the older backup"
    pruned = prune_backups(store, 1)
    assert len(pruned.backups) == 1
    assert not says(store, secret)
    assert verify_backup(store, trusted=[public_key(workspace)]).holds


def test_a_file_that_is_still_to_be_removed_is_in_no_backup(
    place: Place, store: BackupPlace
) -> None:
    """The erasure is recorded, and the bucket did not answer yet."""
    workspace = place.open()
    workspace.append(record(1))
    lake = lake_of(workspace)
    gone, lying = lake.put(b"erased by law"), lake.put(b"referred to by no one")
    with workspace.opened.database.of("default").write() as connection:
        uses.condemn(connection, "default", [gone])
    back_up(workspace, store)
    assert not store.parts.holds(gone)
    assert store.parts.holds(lying)


def test_what_was_erased_since_is_named_when_an_older_backup_is_restored(
    sqlite_place: Place, store: BackupPlace, tmp_path: Path
) -> None:
    workspace = sqlite_place.open()
    receipts = workspace.trail.append_many([record(number) for number in range(4)])
    workspace.trail.erase(receipts[3].seq, reason="law", by="counsel")
    older = back_up(workspace, store).name
    workspace.trail.erase(receipts[1].seq, reason="law", by="counsel")
    late = workspace.append(record(9))
    workspace.trail.erase(late.seq, reason="law", by="counsel")
    key = public_key(workspace)
    back_up(workspace, store)
    report = restore_backup(store, Target(Home(tmp_path / "older")), older, trusted=[key])
    (note,) = report.notes
    assert note.startswith("entry 1 of tenant 'default' was erased since, by entry 6 of")
    report = restore_backup(store, Target(Home(tmp_path / "newest")), trusted=[key])
    assert report.notes == ()


def test_a_text_that_was_erased_since_is_named_by_a_newer_backup_whoever_the_newest_is_of(
    sqlite_place: Place, store: BackupPlace, tmp_path: Path
) -> None:
    workspace, docs = sqlite_place.open(), tmp_path / "docs"
    docs.mkdir()
    for name in ("secret", "removed", "kept"):
        (docs / f"{name}.md").write_text(f"# {name}\n\nThe {name} fee is 30 days.\n")
    _, removed, secret = workspace.ingest(docs).documents
    older = back_up(workspace, store, tenant="default").name
    (docs / "late.md").write_text("The late fee is 40 days.\n")
    late = next(one for one in workspace.ingest(docs).documents if one.filename == "late.md")
    workspace.documents.remove(secret.id, late.id, reason="law", erase=True)
    workspace.documents.remove(removed.id, reason="no longer in force")
    back_up(workspace, store, tenant="default")
    other = sqlite_place.open("other")
    other.append(record(1))
    back_up(other, store, tenant="other")
    home, key = Home(tmp_path / "older"), public_key(workspace)
    report = restore_backup(store, Target(home), older, trusted=[key])
    (note,) = report.notes
    assert f"the text of document {secret.id} of tenant 'default' was erased since" in note
    with open_workspace(home.folder, create=False) as restored:
        assert len(restored.documents.list()) == 3, "as it was then"


def says(store: BackupPlace, text: str) -> bool:
    import json  # noqa: PLC0415 - the same
    from base64 import b64decode  # noqa: PLC0415 - for this alone

    for digest in store.parts.digests():
        for line in store.parts.get(digest).splitlines():
            values = json.loads(line) if line.startswith(b"[") else []
            if any(isinstance(v, str) and text.encode() in _decoded(b64decode, v) for v in values):
                return True
    return False


def _decoded(decode: Any, value: str) -> bytes:
    try:
        return bytes(decode(value, validate=True))
    except ValueError:
        return b""


def test_pruning_keeps_what_the_newer_backups_name(filled: Path, tmp_path: Path) -> None:
    shutil.copytree(filled / "store", tmp_path / "store")
    store = BackupPlace(str(tmp_path / "store"))
    with open_workspace(filled / "home") as workspace:
        key = public_key(workspace)
        back_up(workspace, store)
        store.parts.put(b"left behind by a backup that was killed")
        pruned = prune_backups(store, 1)
    assert (len(pruned.backups), pruned.parts) == (1, 1)
    assert len(store.names()) == 1
    assert verify_backup(store, trusted=[key]).holds
    assert prune_backups(store, 1).parts == 0
    with pytest.raises(InputError, match="at least one"):
        prune_backups(store, 0)


def test_the_last_backup_of_a_log_is_not_pruned_for_those_of_others(
    place: Place, store: BackupPlace
) -> None:
    ours, theirs = place.open("ours"), place.open("theirs")
    ours.append(record(1))
    theirs.append(record(1))
    first = back_up(ours, store, tenant="ours").name
    for _ in range(2):
        back_up(theirs, store, tenant="theirs")
    for keep in (1, 2):
        with pytest.raises(ConflictError, match=f"{first} is the newest of tenant 'ours'"):
            prune_backups(store, keep)
    assert len(store.names()) == 3
    assert prune_backups(store, 3).backups == ()
    store.forget(first)
    _, manifest = store.manifest()
    value = manifest.model_dump(mode="json") | {"created_at": "2000-01-01T00:00:00.000000Z"}
    value["tenants"][0] |= {"tenant": "waits", "log": None}
    store.finish(BackupManifest.model_validate(value))  # what waited for a log, and is gone
    assert len(prune_backups(store, 1).backups) == 2


def test_nothing_is_pruned_while_a_backup_is_made_nor_the_reverse(
    filled: Path, tmp_path: Path
) -> None:
    shutil.copytree(filled / "store", tmp_path / "store")
    store = BackupPlace(str(tmp_path / "store"))
    with open_workspace(filled / "home", create=False) as workspace:
        now = workspace.opened.now()
        with store.making(now, "ab"), pytest.raises(BusyError, match="a backup is being made"):
            prune_backups(store, 1)
        with store.pruning(now, "ab"), pytest.raises(BusyError, match="being pruned"):
            back_up(workspace, store)
        long_ago = "2020-01-01T00:00:00.000000Z"
        with store.making(long_ago, "cd"):
            assert prune_backups(store, 1).backups == ()
        assert back_up(workspace, store).problems == ()
        assert not list((tmp_path / "store" / "working").iterdir())


def test_a_backup_that_was_pruned_under_is_none(filled: Path, tmp_path: Path) -> None:
    """It is taken for one that was killed after two days; what it relies on may be gone."""
    shutil.copytree(filled / "store", tmp_path / "store")
    store = BackupPlace(str(tmp_path / "store"))
    (name,) = store.names()
    _, manifest = store.manifest()
    later = manifest.model_copy(update={"created_at": "2099-01-01T00:00:00.000000Z"})
    with store.making("2020-01-01T00:00:00.000000Z", "ab") as finish:
        prune_backups(store, 1)
        with pytest.raises(BusyError, match="more than 48 hours"):
            finish(later)
    assert store.names() == [name]
    with store.making("2020-01-01T00:00:00.000000Z", "ab") as finish:
        assert finish(later) in store.names()


def test_what_is_pruned_for_days_takes_nothing_from_a_backup_that_was_begun_meanwhile(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(filled / "store", tmp_path / "store")
    store = BackupPlace(str(tmp_path / "store"))
    left = store.parts.put(b"a part that the next backup has, too")
    forget = BackupPlace.names

    def begin(place: BackupPlace) -> list[str]:
        with place.making("2099-01-01T00:00:00.000000Z", "ab"):
            return forget(place)

    monkeypatch.setattr(BackupPlace, "names", begin)
    with pytest.raises(BusyError, match="a backup was begun meanwhile"):
        prune(store, 1, now="2020-01-01T00:00:00.000000Z", token="cd")
    monkeypatch.undo()
    assert store.parts.holds(left)
    assert prune_backups(store, 1).parts == 1


# While others write


def test_a_backup_while_others_write_is_one_view_of_the_log(
    place: Place, store: BackupPlace
) -> None:
    workspace, ends = place.open(), threading.Event()
    workspace.append(record(0))

    def write() -> None:
        number = 0
        while not ends.is_set():
            number += 1
            receipts = workspace.trail.append_many([record(number), record(number)])
            if number % 7 == 0:
                workspace.trail.erase(receipts[0].seq, reason="law", by="counsel")

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        made = [back_up(workspace, store) for _ in range(tiers.count(12, short=3))]
    finally:
        ends.set()
        for writer in writers:
            writer.join()
    sizes = [one.manifest.tenants[0].log.size for one in made if one.manifest.tenants[0].log]
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]
    for one in made:
        assert one.problems == ()
        report = verify_backup(store, one.name, trusted=[public_key(workspace)])
        assert report.findings == ()


@pytest.mark.parametrize("tries", [3, 1])
def test_a_file_that_is_erased_while_it_is_backed_up_is_no_damage(
    place: Place, store: BackupPlace, monkeypatch: pytest.MonkeyPatch, tries: int
) -> None:
    monkeypatch.setattr(backing_up, "_TRIES", tries)
    workspace = place.open()
    bundle = workspace.bundle({"extra_params": {"evidence": ["What the model saw."]}})
    erased, open_file = sha256_hex(bundle.encode()), FileLake.open

    @contextmanager
    def erase_first(lake: FileLake, digest: str) -> Iterator[BufferedReader]:
        if lake is not store.parts and digest == erased:
            workspace.trail.erase(0, reason="the law demands it", by="counsel")
        with open_file(lake, digest) as file:
            yield file

    monkeypatch.setattr(FileLake, "open", erase_first)
    made = back_up(workspace, store)
    monkeypatch.undo()
    assert made.problems == ()
    missing = [one.why for one in made.manifest.tenants[0].missing]
    assert missing == ([] if tries > 1 else ["erased"]), "where it can be, all is read anew"
    assert len(made.notes) == len(missing)
    report = verify_backup(store, trusted=[public_key(workspace)])
    assert (report.findings, bool(report.notes)) == ((), bool(missing))


def test_a_damaged_workspace_is_backed_up_and_said_to_be(place: Place, store: BackupPlace) -> None:
    workspace = place.open()
    gone, changed = (make_pack(workspace, number) for number in (1, 2))
    digests = {one.id: one.statement_sha256 for one in workspace.packs.list()}
    lake = lake_of(workspace)
    lake.remove(digests[gone.pack_id])
    from places import kept_file  # noqa: PLC0415 - for this alone

    kept_file(workspace, digests[changed.pack_id]).write_bytes(b"another")
    made = back_up(workspace, store)
    assert {one.sha256: one.why for one in made.manifest.tenants[0].missing} == {
        digests[gone.pack_id]: "gone",
        digests[changed.pack_id]: "changed",
    }
    assert len(made.problems) == 2
    assert not verify_backup(store, trusted=[public_key(workspace)]).holds


# Damage


def test_one_flipped_bit_anywhere_is_found(filled: Path, tmp_path: Path) -> None:
    with open_workspace(filled / "home", create=False) as workspace:
        key = public_key(workspace)
    chance = random.Random(7)
    files = sorted(one for one in (filled / "store").rglob("*") if one.is_file())
    assert len(files) > 20
    for number, file in enumerate(tiers.sample(files, 4)):
        copy = tmp_path / str(number)
        shutil.copytree(filled / "store", copy)
        damaged = copy / file.relative_to(filled / "store")
        data = bytearray(damaged.read_bytes())
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        damaged.write_bytes(data)
        assert is_found(BackupPlace(str(copy)), key), f"{file} was changed"


def is_found(store: BackupPlace, key: Any) -> bool:
    try:
        return not verify_backup(store, trusted=[key]).holds
    except IntegrityError:
        return True


def test_a_missing_part_is_named_and_nothing_is_restored(filled: Path, tmp_path: Path) -> None:
    shutil.copytree(filled / "store", tmp_path / "store")
    store = BackupPlace(str(tmp_path / "store"))
    _, manifest = store.manifest()
    table = manifest.tenants[0].table("trail_bodies")
    assert table is not None
    digest = table.parts[0].sha256
    store.parts.remove(digest)
    home = Home(tmp_path / "new")
    with pytest.raises(GoneError, match=f"part {digest} is missing"):
        restore_backup(store, Target(home))
    assert not home.database.exists()
    assert not list(home.folder.glob("restoring*"))
    shutil.rmtree(tmp_path / "store" / "sha256")
    shutil.copytree(filled / "store" / "sha256", tmp_path / "store" / "sha256")
    with open_workspace(filled / "home") as workspace:
        assert restore_backup(store, Target(home), trusted=[public_key(workspace)]).holds


def test_a_backup_is_mended_by_the_next_one(filled: Path, tmp_path: Path) -> None:
    shutil.copytree(filled / "store", tmp_path / "store")
    store = BackupPlace(str(tmp_path / "store"))
    _, manifest = store.manifest()
    table = manifest.tenants[0].table("trail_entries")
    assert table is not None
    path = tmp_path / "store" / f"sha256/{table.parts[0].sha256[:2]}/{table.parts[0].sha256[2:4]}"
    (path / table.parts[0].sha256).write_bytes(b"damaged")
    with open_workspace(filled / "home") as workspace:
        back_up(workspace, store)
        assert verify_backup(store, trusted=[public_key(workspace)]).holds


def test_a_manifest_of_another_log_is_told_by_the_key(
    filled: Path, tmp_path: Path, sqlite_place: Place
) -> None:
    store = BackupPlace(str(tmp_path / "store"))
    other = sqlite_place.open()
    other.append(record(1))
    back_up(other, store)
    with open_workspace(filled / "home") as workspace:
        report = verify_backup(store, trusted=[public_key(workspace)])
    assert any("was named for log" in one for one in report.findings)


def forged(store: BackupPlace, *, revision: str | None = None, **changes: Any) -> None:
    """Put a manifest in place of the newest, with another log or other parts, well named."""
    _, manifest = store.manifest()
    value = manifest.model_dump(mode="json")
    value["revision"] = revision or value["revision"]
    for path, changed in changes.items():
        at: Any = value["tenants"][0]
        *above, last = path.split("__")
        for step in above:
            at = at[int(step) if step.isdigit() else step]
        at[last] = changed
    value["created_at"] = "2099-01-01T00:00:00.000000Z"
    store.finish(BackupManifest.model_validate(value))


def test_a_manifest_that_says_other_than_its_parts_is_refused(
    filled: Path, tmp_path: Path, sqlite_place: Place
) -> None:
    other = sqlite_place.open()
    other.append(record(1))
    note = other.trail.checkpoint()
    origin = note.split("\n")[0]
    cases: list[tuple[dict[str, Any], str]] = [
        ({"log__size": 3}, "not those that its manifest says"),
        ({"log__root": "0" * 64}, "not those that its manifest says"),
        ({"log__checkpoint": note}, "checkpoint of tenant 'default' is not of its entries"),
        ({"log": None, "kept": None}, "not those that its manifest says"),
        ({"log__origin": origin, "log__checkpoint": note}, "is not of its entries"),
    ]
    for number, (changes, said) in enumerate(cases):
        copy = tmp_path / str(number)
        shutil.copytree(filled / "store", copy)
        store = BackupPlace(str(copy))
        forged(store, **changes)
        with pytest.raises(IntegrityError, match=said):
            verify_backup(store)


def test_rows_that_the_log_does_not_bear_out_are_found(filled: Path, tmp_path: Path) -> None:
    """Whoever can write the backups can name other parts; the audit compares them with the log."""
    shutil.copytree(filled / "store", tmp_path / "store")
    store = BackupPlace(str(tmp_path / "store"))
    _, manifest = store.manifest()
    tables = manifest.model_dump(mode="json")["tenants"][0]["tables"]
    at, table = next((n, t) for n, t in enumerate(tables) if t["name"] == "evidence_ledger")
    data = store.parts.get(table["parts"][0]["sha256"]).replace(b"not_found", b"supported")
    digest = store.parts.put(data)
    part = table["parts"][0] | {"sha256": digest, "bytes": len(data)}
    tables[at] = table | {"parts": [part]}
    forged(store, tables=tables)
    with open_workspace(filled / "home") as workspace:
        key = public_key(workspace)
    report = verify_backup(store, trusted=[key])
    assert any("led_" in one for one in report.findings)
    home = Home(tmp_path / "new")
    assert not restore_backup(store, Target(home), trusted=[key]).holds
    assert not home.database.exists()
    assert not restore_backup(store, Target(home), trusted=[key], anyway=True).holds
    assert home.database.exists()


def test_a_backup_of_a_later_program_is_refused(filled: Path, tmp_path: Path) -> None:
    shutil.copytree(filled / "store", tmp_path / "store")
    store = BackupPlace(str(tmp_path / "store"))
    _, manifest = store.manifest()
    store.finish(
        manifest.model_copy(
            update={"revision": "9999", "created_at": "2099-01-01T00:00:00.000000Z"}
        )
    )
    with pytest.raises(EnvironmentProblem, match="made by a newer program"):
        verify_backup(store)
    later = manifest.encode().replace(b'"v":1', b'"v":2').replace(b"2026-", b"2099-", 1)
    name = name_of("2099-12-31T00:00:00.000000Z", later)
    (tmp_path / "store" / "backups" / f"{name}.json").write_bytes(later)
    with pytest.raises(ProofError, match="version 2, and this program reads 1"):
        verify_backup(store)


def test_a_log_that_its_head_does_not_fit_is_backed_up_and_said(
    sqlite_place: Place, store: BackupPlace
) -> None:
    from vandal import vandal_at  # noqa: PLC0415 - for this alone

    workspace = sqlite_place.open()
    workspace.trail.append_many([record(number) for number in range(5)])
    sqlite_place.close()
    with vandal_at(sqlite_place.home.database, "seed") as vandal:
        vandal.change("DELETE FROM trail_entries WHERE seq = 5")
    made = back_up(sqlite_place.open(), store)
    assert any("its entries are not those of its head" in one for one in made.problems)


# Whose log it is


def test_without_a_key_from_outside_no_one_says_whose_log_it_is(
    filled: Path, tmp_path: Path
) -> None:
    store = BackupPlace(str(filled / "store"))
    report = verify_backup(store)
    assert (report.holds, report.verdict) == (False, "is consistent, signer unknown")
    assert verify_backup(store, keys=Home(filled / "home").keys).holds
    home = Home(tmp_path / "new")
    assert not restore_backup(store, Target(home)).holds
    assert not home.database.exists()
    home.keep_checkpoint("default", str(store.manifest()[1].tenants[0].log.checkpoint))  # type: ignore[union-attr]
    assert restore_backup(store, Target(home)).holds, "what was kept of it says whose it is"


def test_private_keys_are_taken_along_only_if_it_is_said(
    sqlite_place: Place, store: BackupPlace, tmp_path: Path
) -> None:
    workspace = sqlite_place.open()
    workspace.append(record(1))
    keys = workspace.opened.home.keys
    keys.secret("default")
    assert back_up(workspace, store).manifest.tenants[0].keys == []
    with pytest.raises(InputError, match="this private key is plain"):
        back_up(workspace, store, keys=KeysTaken.ENCRYPTED)
    keys.protect("default", "a passphrase that is long")
    made = back_up(workspace, store, keys=KeysTaken.ENCRYPTED)
    assert [one.name.rpartition(".")[2] for one in made.manifest.tenants[0].keys] == ["pem"]
    assert "redaction.key is a plain secret" in made.notes[0]
    back_up(workspace, store, keys=KeysTaken.ALL)
    home = Home(tmp_path / "new")
    assert not restore_backup(store, Target(home)).holds, "its own keys do not speak for it"
    assert not (home.folder / "keys").exists()
    report = restore_backup(store, Target(home), trusted=[public_key(workspace)])
    assert len(report.keys) == 2
    assert home.keys.secret("default") == keys.secret("default")
    assert home.keys.is_protected("default")
    with open_workspace(home.folder, passphrase="a passphrase that is long") as again:
        again.append(record(2))


@pytest.mark.parametrize("to", ["sqlite", "postgresql"])
def test_a_backup_that_does_not_hold_brings_no_keys_and_no_checkpoint(
    filled: Path, tmp_path: Path, sqlite_place: Place, postgres: PostgresServer, to: str
) -> None:
    """Else a forged one would vouch for itself: the home's keys are those that count next time."""
    forger, store = sqlite_place.open(), BackupPlace(str(tmp_path / "store"))
    forger.append(record(1))
    back_up(forger, store, keys=KeysTaken.ALL)
    with open_workspace(filled / "home", create=False) as workspace:
        key = public_key(workspace)
    for trusted in ([key], []):
        home = Home(tmp_path / f"new-{len(trusted)}")
        with empty(to, postgres) as url:
            report = restore_backup(store, Target(home, url), trusted=trusted)
        assert (report.holds, report.keys) == (False, ())
        assert not (home.folder / "keys").exists()
        assert home.kept_checkpoint("default") is None
    with empty(to, postgres) as url:
        report = restore_backup(store, Target(home, url), anyway=True)
        assert report.keys, "it was said that all of it is to be put there"


# A log that was restored too short


def test_a_log_that_is_shorter_than_what_was_kept_takes_no_entries(
    place: Place, store: BackupPlace, tmp_path: Path, postgres: PostgresServer
) -> None:
    workspace = place.open()
    workspace.append(record(1))
    back_up(workspace, store)
    workspace.append(record(2))
    newer, key = workspace.trail.checkpoint(), public_key(workspace)
    place.close()
    kept = place.home.kept_checkpoint("default")
    if place.is_sqlite:
        place.home.database.unlink()
    with empty("sqlite" if place.is_sqlite else "postgresql", postgres) as url:
        report = restore_backup(store, Target(place.home, url), trusted=[key])
        assert report.holds, "it is whole, as old as it is"
        assert [(one.size, one.kept) for one in report.lost] == [(2, 3)]
        assert "entry 2 is missing" in str(report.lost[0])
        assert place.home.kept_checkpoint("default") == kept, "the newer one stays"
        with open_workspace(url or place.home.folder, home=place.home.folder) as restored:
            with pytest.raises(IntegrityError, match="accept-loss"):
                restored.append(record(3))
            with pytest.raises(InputError, match="needs a reason"):
                restored.trail.accept_loss(reason=" ")
            receipt = restored.trail.accept_loss(reason="the disk of Monday is gone")
            assert receipt.seq == 2
            assert restored.append(record(3)).seq == 3
            said = restored.trail.entry(2)
            assert said.entry.kind == "status_change"
            assert said.body["amendment_history"][0] | {"changed_by_doc_id": ""} == {
                "old_status": "3 entries",
                "new_status": "2 entries",
                "reason": "the disk of Monday is gone",
                "changed_by_doc_id": "",
            }
            assert restored.audit().holds
            aside = place.home.folder / "checkpoints" / "default.lost-3.txt"
            assert aside.read_text() == kept
            with pytest.raises(InputError, match="there is no loss to accept"):
                restored.trail.accept_loss(reason="again")
        with open_workspace(url or place.home.folder, home=place.home.folder) as restored:
            found = restored.trail.audit(since=newer).findings
            assert any("changed" in str(one) for one in found), "others see it for good"


@pytest.mark.parametrize("how", ["cut back", "another past", "another log", "damaged"])
def test_a_log_that_does_not_go_on_with_what_was_kept_is_backed_up_and_said(
    sqlite_place: Place, store: BackupPlace, tmp_path: Path, how: str
) -> None:
    """As where someone has put an older copy of the database in its place."""
    home = sqlite_place.home
    workspace = sqlite_place.open()
    workspace.append(record(1))
    sqlite_place.close()
    shutil.copy(home.database, tmp_path / "older.db")
    workspace = sqlite_place.open()
    workspace.append(record(2))
    key, note = public_key(workspace), home.kept_checkpoint("default")
    sqlite_place.close()
    if how in {"cut back", "another past"}:
        shutil.copy(tmp_path / "older.db", home.database)
    if how == "another past":
        (home.folder / "checkpoints" / "default.txt").unlink()
        home.close()
        workspace = sqlite_place.open()
        workspace.append(record(3))
        workspace.append(record(4))
        sqlite_place.close()
    said = "it has 2 entries, and a checkpoint was kept of 3"
    if how == "another log":
        with open_workspace(tmp_path / "other") as other:
            other.append(record(1))
            note = Home(tmp_path / "other").kept_checkpoint("default")
        said = "a checkpoint was kept of another log, evidentia/"
    elif how == "another past":
        said = "a checkpoint was kept of another past"
    elif how == "damaged":
        note, said = "no checkpoint", "the checkpoint that was kept of tenant 'default' is none"
    (home.folder / "checkpoints" / "default.txt").write_text(str(note))
    fresh = Place(home.folder)
    made = back_up(fresh.open(), store)
    fresh.close()
    assert len(made.problems) == 1
    assert said in made.problems[0]
    report = verify_backup(store, trusted=[key])
    assert report.holds
    assert [(one.size, one.kept) for one in report.lost] == {
        "cut back": [(2, 3)],
        "another past": [(4, 3)],
        "another log": [],
        "damaged": [],
    }[how]


def test_a_checkpoint_that_someone_else_kept_is_compared_too(
    sqlite_place: Place, store: BackupPlace, tmp_path: Path
) -> None:
    workspace = sqlite_place.open()
    workspace.append(record(1))
    back_up(workspace, store)
    workspace.trail.append_many([record(2), record(3)])
    newer, key = workspace.trail.checkpoint(), public_key(workspace)
    home = Home(tmp_path / "new")
    report = restore_backup(store, Target(home), trusted=[key], since=[newer])
    assert "entries 2 to 3 are missing" in str(report.lost[0])
    shutil.copytree(sqlite_place.home.folder / "keys", home.folder / "keys")
    with (
        open_workspace(home.folder) as restored,
        pytest.raises(IntegrityError, match="accept-loss"),
    ):
        restored.append(record(4))
    stranger = Place(tmp_path / "stranger").open()
    stranger.append(record(1))
    target = Target(Home(tmp_path / "newer"))
    with pytest.raises(ConflictError, match="none of this backup"):
        restore_backup(store, target, since=[stranger.trail.checkpoint()])
    stranger.close()


def test_what_witnesses_cosigned_and_a_bucket_keeps_is_compared_too(
    sqlite_place: Place, store: BackupPlace, tmp_path: Path, bucket: Bucket
) -> None:
    kept = f"s3://{bucket.name}/checkpoints"
    workspace = Opened(
        Database.sqlite(sqlite_place.home.database), sqlite_place.home, checkpoints=kept
    ).for_()
    sqlite_place.keep(workspace)
    workspace.append(record(1))
    back_up(workspace, store)
    home = Home(tmp_path / "new")
    for number in (2, 3):
        workspace.append(record(number))
        Witnesses(home, "default").keep(workspace.trail.checkpoint())
    key = public_key(workspace)
    sqlite_place.close()  # what has not followed yet is brought now
    target = Target(home, checkpoints=kept)
    report = restore_backup(store, target, trusted=[key])
    assert [(one.size, one.kept) for one in report.lost] == [(2, 4)]
    shutil.copytree(sqlite_place.home.folder / "keys", home.folder / "keys")
    with open_workspace(home.folder, checkpoints=kept) as restored:
        with pytest.raises(ConflictError, match="name another prefix in EVIDENTIA_CHECKPOINTS"):
            restored.trail.accept_loss(reason="the disk is gone")
        with pytest.raises(IntegrityError, match="accept-loss"):
            restored.append(record(4))
    with open_workspace(home.folder, checkpoints=f"{kept}-2") as restored:
        assert restored.trail.accept_loss(reason="the disk is gone").seq == 2
        assert restored.append(record(4)).seq == 3
        assert restored.audit().holds


def test_a_loss_is_not_accepted_where_something_else_is_wrong(
    sqlite_place: Place, store: BackupPlace
) -> None:
    from vandal import vandal_at  # noqa: PLC0415 - for this alone

    workspace = sqlite_place.open()
    workspace.append(record(1))
    back_up(workspace, store)
    workspace.append(record(2))
    key = public_key(workspace)
    sqlite_place.close()
    sqlite_place.home.database.unlink()
    restore_backup(store, Target(sqlite_place.home), trusted=[key])
    with vandal_at(sqlite_place.home.database, "seed") as vandal:
        vandal.change("UPDATE trail_bodies SET body = x'7b7d' WHERE seq = 0")
    kept = sqlite_place.home.kept_checkpoint("default")
    with pytest.raises(IntegrityError, match="something else is wrong"):
        sqlite_place.open().trail.accept_loss(reason="the disk is gone")
    assert sqlite_place.home.kept_checkpoint("default") == kept


# Into an empty place alone, and whole or not at all


def test_nothing_is_restored_over_anything(
    place: Place, store: BackupPlace, tmp_path: Path
) -> None:
    workspace = place.open()
    workspace.append(record(1))
    back_up(workspace, store)
    with pytest.raises(ConflictError, match=r"there already|has rows already"):
        restore_backup(store, Target(place.home, place.url))
    assert workspace.audit().holds


def test_nothing_is_restored_beside_the_log_of_another_database(
    filled: Path, tmp_path: Path
) -> None:
    """A write-ahead file that was left would be read as the restored database's own."""
    home = Home(tmp_path / "new")
    home.create()
    left = home.folder / "evidentia.db-wal"
    left.write_bytes(b"of another database")
    with pytest.raises(ConflictError, match="db-wal is of a database that was there"):
        restore_backup(BackupPlace(str(filled / "store")), Target(home))
    assert not home.database.exists()


def test_what_a_backup_has_can_be_restored_to_a_database_with_its_schema(
    filled: Path, postgres_place: Place
) -> None:
    store = BackupPlace(str(filled / "store"))
    keys = Home(filled / "home").keys
    with open_workspace(filled / "home", create=False) as workspace:
        key = public_key(workspace)
    del keys
    target = Target(postgres_place.home, postgres_place.url)
    assert restore_backup(store, target, trusted=[key]).holds


def test_no_backup_is_made_among_the_files_of_the_lake(place: Place) -> None:
    """Pruning would take files for parts that no backup needs."""
    workspace = place.open()
    workspace.append(record(1))
    folder = lake_folder(workspace)
    folder.mkdir(parents=True, exist_ok=True)
    with pytest.raises(InputError, match="where the lake has its files"):
        back_up(workspace, BackupPlace(f"{folder}/../{folder.name}"))


def test_no_backup_is_made_among_the_objects_of_the_lake(
    bucket: Bucket, sqlite_place: Place
) -> None:
    workspace = opened(sqlite_place, lake=bucket.url)
    workspace.append(record(1))
    with pytest.raises(InputError, match="where the lake has its files"):
        back_up(workspace, BackupPlace(f"{bucket.url}/default/"))


def test_a_place_without_backups_says_so(tmp_path: Path, sqlite_place: Place) -> None:
    store = BackupPlace(str(tmp_path / "nothing"))
    assert store.names() == []
    with pytest.raises(NotFoundError, match="there is no backup here"):
        verify_backup(store)
    with pytest.raises(NotFoundError, match=r"there is no backup '\.\./secret'"):
        verify_backup(store, "../secret")
    with pytest.raises(NotFoundError, match="nothing here yet that could be backed up"):
        back_up(sqlite_place.open(), store)
    assert store.names() == []


def test_a_backup_that_is_killed_is_none_and_the_next_one_is_whole(
    place: Place, store: BackupPlace
) -> None:
    workspace = place.open()
    workspace.trail.append_many([record(number) for number in range(400)])
    make_pack(workspace)
    key, chance = public_key(workspace), random.Random(3)
    place.close()
    for _ in range(tiers.count(25, short=4)):
        before = len(store.names())
        with Child(lambda: back_up(place.open(), store)) as child:
            time.sleep(chance.uniform(0, 0.15))
            child.kill()
        for name in store.names()[before:]:
            assert verify_backup(store, name, trusted=[key]).holds
    back_up(place.open(), store)
    assert verify_backup(store, trusted=[key]).holds
    shutil.rmtree(Path(store.address) / "working", ignore_errors=True)
    prune_backups(store, 1)
    assert verify_backup(store, trusted=[key]).holds


@pytest.mark.parametrize("to", ["sqlite", "postgresql"])
def test_restoring_that_is_killed_leaves_nothing_that_passes_for_whole(
    filled: Path, tmp_path: Path, postgres: PostgresServer, to: str
) -> None:
    store = BackupPlace(str(filled / "store"))
    with open_workspace(filled / "home", create=False) as workspace:
        key, rows = public_key(workspace), all_rows(workspace.opened.database)
    home, chance = Home(tmp_path / "new"), random.Random(5)
    with empty(to, postgres) as url:
        target = Target(home, url)
        for _ in range(tiers.count(12, short=2)):
            with Child(lambda: restore_backup(store, target, trusted=[key])) as child:
                time.sleep(chance.uniform(0.05, 0.6))
                child.kill()
            if to == "sqlite" and home.database.exists():
                break
            if to == "postgresql" and _heads(str(url)):
                database = Database.server(str(url))
                schema.upgrade(database)  # which its error asks for, where that was not done yet
                database.close()
                break
        else:
            assert restore_backup(store, target, trusted=[key]).holds
        with open_workspace(url or home.folder, home=home.folder, create=False) as restored:
            assert all_rows(restored.opened.database) == rows
            assert restored.audit(keys=[key]).holds


def test_a_restore_that_ended_before_its_rows_is_begun_again(
    filled: Path, tmp_path: Path, postgres: PostgresServer
) -> None:
    """The schema is there then, as old as the backup's: that of SQLite is."""
    store = BackupPlace(str(filled / "store"))
    _, manifest = store.manifest()
    with open_workspace(filled / "home", create=False) as workspace:
        key = public_key(workspace)
    with empty("postgresql", postgres) as url:
        database = Database.server(str(url))
        restoring.prepare(database, manifest)
        with database.read() as connection:
            assert schema.revision(connection) == manifest.revision < schema.HEAD
        database.close()
        assert restore_backup(store, Target(Home(tmp_path / "new"), url), trusted=[key]).holds


@pytest.mark.parametrize("to", ["sqlite", "postgresql"])
def test_a_backup_of_before_a_table_was_there_is_restored(
    filled: Path, tmp_path: Path, postgres: PostgresServer, to: str
) -> None:
    """A database has no more tables than the backup's program knew until its rows are in it."""
    shutil.copytree(filled / "store", tmp_path / "store")
    store, later = BackupPlace(str(tmp_path / "store")), {"trail_inbox", "trail_receipts"}
    _, manifest = store.manifest()
    assert later < {table.name for table in manifest.tenants[0].tables}
    later |= {"lake_removals", "pack_attachments"}
    tables = [
        one.model_dump(mode="json") for one in manifest.tenants[0].tables if one.name not in later
    ]
    forged(store, revision="0015", tables=tables)
    with open_workspace(filled / "home", create=False) as workspace:
        key, rows = public_key(workspace), all_rows(workspace.opened.database)
    assert verify_backup(store, trusted=[key]).holds
    with empty(to, postgres) as url:
        home = Home(tmp_path / "new")
        assert restore_backup(store, Target(home, url), trusted=[key]).holds
        with open_workspace(url or home.folder, home=home.folder, create=False) as restored:
            assert all_rows(restored.opened.database) == rows


def _heads(url: str) -> int:
    """Return how many logs a database has, which may have no tables yet."""
    database = Database.server(url)
    try:
        with database.read() as connection:
            return int(connection.exec_driver_sql("SELECT count(*) FROM trail_heads").scalar_one())
    except EnvironmentProblem:
        return 0
    finally:
        database.close()

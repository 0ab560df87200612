"""Never update, never delete: what plain SQL is refused, by triggers and by privileges."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from evidentia.bundles.policy import EvidencePolicy
from evidentia.canonical import canonical_json
from evidentia.errors import EnvironmentProblem, IntegrityError
from evidentia.store import listing, lookups, schema
from evidentia.store.database import Database, insert_rows, run
from evidentia.store.home import Home
from evidentia.store.sql import inbox, log, snapshots
from evidentia.store.sql.embeddings import remove_embeddings, store_embeddings, stored_embeddings
from evidentia.store.sql.ledger_pages import keep_pages
from evidentia.store.tables import metadata
from evidentia.verifying import verify
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.opened import Opened
from packing import make_pack
from places import Place, record
from postgres import PostgresServer
from workspace.policies import (
    ANSWER,
    SUPPORTED,
    VERDICTS,
    count,
    read_here,
    rows,
    verdicts,
    write_policies,
)

pytestmark = pytest.mark.as_owner

TABLES = (
    "trail_entries",
    "trail_bodies",
    "trail_tiles",
    "trail_checkpoints",
    "trail_keys",
    "trail_idempotency",
    "trail_heads",
    "documents",
    "document_chunks",
    "citation_anchors",
    "sessions",
    "claims",
    "ledgers",
    "evidence_ledger",
    "llm.evidence_bundle",
    "llm.run_evidence",
    "llm.evidence_item",
    "evidence_packs",
)
REMOVED = "chunk_embeddings"
"""The only table whose rows an application removes: they can be made again from others."""
SNAPSHOTS = ("trail_snapshots", "trail_snapshot_nodes", "corpus_nodes", "ledger_pages")
"""What an application replaces now and then: it follows from the entries, and is signed."""
ANSWERED = "idempotency"
"""What the server writes down of its answers, for a day: no evidence."""
WORK = (
    "jobs",
    "job_items",
    "job_events",
    "job_runners",
    "waiting_spans",
    "waiting_traces",
    "trail_inbox",
    "trail_receipts",
)
"""What is to be done, and how far it is: no evidence."""
FILES = ("lake_objects", "lake_removals", "pack_attachments", "openfga_followed", "openfga_outbox")
"""Where files are, and which of them what has: an audit compares them with packs and the bucket."""
COLUMNS = {table: tuple(metadata.tables[table].columns.keys()) for table in TABLES}
KEYS = {table: tuple(metadata.tables[table].primary_key.columns.keys()) for table in TABLES}
OTHER_KEYS = sorted(
    (table, tuple(index.columns.keys()))
    for table in TABLES
    for index in metadata.tables[table].indexes
    if index.unique
)
"""What else no two rows of a table have in common."""
MODEL = "0" * 64


def fill(workspace: Workspace) -> None:
    """Leave rows in every table."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lookups, "EVERY", 256)  # in so short a log there would be no snapshot
        workspace.trail.append_many(
            [record(number) for number in range(300)],
            idempotency_keys=[f"key {number}" for number in range(300)],
        )
    with pytest.MonkeyPatch.context() as patched:
        read_here(patched)
        ledger = workspace.check(
            ANSWER, against=write_policies(workspace.opened.home.folder / "docs")
        )
    assert verdicts(ledger) == VERDICTS
    build_bundle(workspace, "run 1", "one", "two")
    make_pack(workspace)
    workspace.packs.review("latest", "approved", reviewer="ann")
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        store_embeddings(connection, workspace.tenant, MODEL, {"a" * 64: b"one", "b" * 64: b"two"})
        keep_pages(connection, workspace.tenant, ledger.id, [(b"{}", b"")])
    workspace.trail.checkpoint()


def build_bundle(workspace: Workspace, run_id: str, *texts: str) -> None:
    """Build a bundle in which the last text is dropped, for a run."""
    job = {"extra_params": {"evidence": list(texts)}}
    bundle = workspace.bundle(job, policy=EvidencePolicy(max_items=len(texts) - 1))
    workspace.bundles.record_run(run_id, bundle.bundle_id)


@pytest.fixture(scope="module")
def sqlite_untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Give a filled embedded database, for tests that try to change it and must not manage."""
    place = Place(tmp_path_factory.mktemp("untouched"))
    workspace = place.open()
    fill(workspace)
    yield workspace
    place.close()


@pytest.fixture(scope="module")
def postgres_untouched(
    tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer
) -> Iterator[Workspace]:
    """Give the same on the server."""
    with postgres.fresh_database() as url:
        place = Place(tmp_path_factory.mktemp("untouched"), url)
        workspace = place.open()
        fill(workspace)
        yield workspace
        place.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def untouched(request: pytest.FixtureRequest) -> Workspace:
    name = "sqlite_untouched" if request.param == "sqlite" else "postgres_untouched"
    found: Workspace = request.getfixturevalue(name)
    return found


@pytest.fixture
def filled(place: Place) -> Workspace:
    workspace = place.open()
    fill(workspace)
    return workspace


def refuse(workspace: Workspace, *statements: str, match: str = "append-only") -> None:
    """Check that each statement is refused, and that nothing is changed."""
    for sql in statements:
        with (
            pytest.raises(IntegrityError, match=match),
            workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection,
        ):
            run(connection, sql)
    assert workspace.trail.audit().holds


def test_every_table_of_the_trail_is_tried(untouched: Workspace) -> None:
    with untouched.opened.database.of(untouched.tenant).read() as connection:
        lines = listing.describe(connection)
        for table in (*TABLES, REMOVED, *SNAPSHOTS):
            assert run(connection, f"SELECT count(*) FROM {table}").scalar()
    found = {line.split()[1].rstrip(":") for line in lines if line.startswith("table ")}
    names = {table.removeprefix("llm.") for table in TABLES}
    assert found == {*names, REMOVED, *SNAPSHOTS, ANSWERED, *WORK, *FILES, "alembic_version"}
    assert [table for table, _ in OTHER_KEYS] == [
        "citation_anchors",
        "document_chunks",
        "evidence_ledger",
        "evidence_packs",
        "evidence_packs",
        "ledgers",
        "llm.evidence_bundle",
    ]


@pytest.mark.parametrize("table", TABLES)
def test_no_column_can_be_updated(untouched: Workspace, table: str) -> None:
    refuse(untouched, *(f"UPDATE {table} SET {column} = {column}" for column in COLUMNS[table]))


@pytest.mark.parametrize("table", TABLES)
def test_no_row_can_be_deleted(untouched: Workspace, table: str) -> None:
    refuse(untouched, f"DELETE FROM {table}")


@pytest.mark.parametrize("table", TABLES)
def test_the_same_row_cannot_be_inserted_again(untouched: Workspace, table: str) -> None:
    columns = ", ".join(COLUMNS[table])
    sql = f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {table}"
    with (
        pytest.raises((IntegrityError, EnvironmentProblem), match=r"append-only|duplicate key"),
        untouched.opened.database.of(untouched.tenant).write(sequencing=True) as connection,
    ):
        run(connection, sql)
    assert untouched.trail.audit().holds


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("words", ["INSERT OR REPLACE", "REPLACE", "INSERT OR IGNORE"])
def test_replacing_on_insert_is_refused(
    sqlite_untouched: Workspace, table: str, words: str
) -> None:
    columns = ", ".join(COLUMNS[table])
    refuse(sqlite_untouched, f"{words} INTO {table} ({columns}) SELECT {columns} FROM {table}")


@pytest.mark.parametrize(("table", "shared"), OTHER_KEYS)
@pytest.mark.parametrize("words", ["INSERT OR REPLACE", "REPLACE", "INSERT OR IGNORE"])
def test_replacing_a_row_by_what_else_is_unique_of_it_is_refused(
    sqlite_untouched: Workspace, table: str, shared: tuple[str, ...], words: str
) -> None:
    """A row under a new key must not push an old one out that it shares another key with."""
    others = [KEYS[table], *(key for name, key in OTHER_KEYS if name == table)]
    free = {column for key in others for column in key if column not in shared}
    new = {column: f"'new ' || {column}" for column in free}
    new |= {"trail_seq": "trail_seq + 1000"} if "trail_seq" in free else {}
    names = ", ".join(COLUMNS[table])
    values = ", ".join(new.get(column, column) for column in COLUMNS[table])
    refuse(sqlite_untouched, f"{words} INTO {table} ({names}) SELECT {values} FROM {table}")


@pytest.mark.parametrize("table", TABLES)
def test_replacing_on_update_is_refused(sqlite_untouched: Workspace, table: str) -> None:
    words = f"UPDATE OR REPLACE {table} SET"
    refuse(sqlite_untouched, *(f"{words} {column} = {column}" for column in COLUMNS[table]))


@pytest.mark.parametrize("table", TABLES)
def test_updating_on_a_conflict_is_refused(untouched: Workspace, table: str) -> None:
    columns, changed = COLUMNS[table], COLUMNS[table][-1]
    refuse(
        untouched,
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(columns)} FROM {table} "
        f"WHERE true ON CONFLICT ({', '.join(KEYS[table])}) "
        f"DO UPDATE SET {changed} = excluded.{changed}",
    )


@pytest.mark.parametrize("table", TABLES)
def test_no_table_can_be_truncated(postgres_untouched: Workspace, table: str) -> None:
    refuse(postgres_untouched, f"TRUNCATE {table} CASCADE")
    refuse(postgres_untouched, f"TRUNCATE {', '.join(TABLES)} CASCADE")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param("size = size - 1", id="fewer entries"),
        pytest.param("size = size", id="nothing"),
        pytest.param("root = edge", id="another root"),
        pytest.param("edge = root", id="another edge"),
        pytest.param("size = size + 1, origin = 'evidentia/0/default'", id="another origin"),
        pytest.param("size = size + 1, tenant = 'other'", id="another tenant"),
        pytest.param("checkpoints = checkpoints - 1", id="fewer checkpoints"),
        pytest.param("checkpoints = checkpoints + 1", id="a checkpoint of no more entries"),
        pytest.param("size = size + 1, checkpoints = checkpoints + 3", id="three checkpoints"),
        pytest.param("size = size + 1, checkpoints = checkpoints - 1", id="more, and fewer"),
        pytest.param("checkpoints = checkpoints + 1, root = edge", id="checkpoint and root"),
        pytest.param("checkpoints = checkpoints + 1, size = size - 1", id="checkpoint and size"),
    ],
)
def test_a_head_only_moves_forward(untouched: Workspace, change: str) -> None:
    refuse(untouched, f"UPDATE trail_heads SET {change}")


def test_a_body_is_deleted_only_after_an_erasure_entry_of_its_own(filled: Workspace) -> None:
    filled.trail.erase(7, reason="law", by="counsel")
    with filled.opened.database.of(filled.tenant).read() as connection:
        sql = "SELECT count(*) FROM trail_bodies WHERE seq = 7"
        assert run(connection, sql).scalar() == 0
    for seq in (6, 8, 70, 77):
        refuse(filled, f"DELETE FROM trail_bodies WHERE seq = {seq}")


def test_an_erasure_entry_of_another_tenant_erases_nothing(place: Place) -> None:
    one, other = place.open("one"), place.open("other")
    one.append(record(1))
    other.append(record(1))
    one.trail.erase(0, reason="law", by="counsel")
    refuse(other, "DELETE FROM trail_bodies WHERE tenant = 'other' AND seq = 0")


def test_an_erased_body_can_be_deleted_by_plain_sql_too(filled: Workspace) -> None:
    with filled.opened.database.of(filled.tenant).write(sequencing=True) as connection:
        run(
            connection,
            "INSERT INTO trail_entries (tenant, seq, kind, subject, entry) "
            "SELECT tenant, 9999, 'erasure', 'entry/5', entry FROM trail_entries WHERE seq = 5",
        )
        run(connection, "DELETE FROM trail_bodies WHERE seq = 5")
    assert "entry 9999" in {finding.what for finding in filled.trail.audit().findings}


def test_embeddings_may_be_removed(filled: Workspace) -> None:
    with filled.opened.database.of(filled.tenant).write(sequencing=True) as connection:
        run(connection, f"DELETE FROM {REMOVED} WHERE content_sha256 = ?", ("a" * 64,))
    assert filled.trail.audit().holds
    kept = [bytes(row["data"]) for row in rows(filled, f"SELECT data FROM {REMOVED}")]
    assert b"two" in kept
    assert b"one" not in kept


def test_snapshots_may_be_replaced_and_removed(filled: Workspace) -> None:
    with filled.opened.database.of(filled.tenant).write(sequencing=True) as connection:
        run(connection, "UPDATE trail_snapshot_nodes SET data = ?", (b"no node",))
        run(connection, "DELETE FROM trail_snapshot_nodes")
        run(connection, "UPDATE trail_snapshots SET note = 'no note'")
    assert {one.what for one in filled.trail.audit().findings} == {"snapshot of what decides"}
    with filled.opened.database.of(filled.tenant).write(sequencing=True) as connection:
        run(connection, "DELETE FROM trail_snapshots")
    assert filled.trail.audit().holds


def test_a_runs_row_is_deleted_only_after_an_erasure_entry_of_its_own(filled: Workspace) -> None:
    receipt = filled.bundles.record_run("run 2", "latest")
    filled.trail.erase(receipt.seq, reason="law", by="counsel")
    assert [row["run_id"] for row in rows(filled, "SELECT run_id FROM llm.run_evidence")] == [
        "run 1"
    ]
    for table in ("run_evidence", "evidence_item", "evidence_bundle"):
        refuse(filled, f"DELETE FROM llm.{table}")


def test_an_erasure_entry_of_another_tenants_run_erases_nothing(place: Place) -> None:
    one, other = place.open("one"), place.open("other")
    for workspace in (one, other):
        build_bundle(workspace, "run 1", "one", "two")
    one.trail.erase(2, reason="law", by="counsel")
    refuse(other, "DELETE FROM llm.run_evidence WHERE tenant = 'other'")
    assert other.bundles.runs("latest") == ["run 1"]


# PostgreSQL: the application's own role


Application = tuple[Workspace, Database]


@contextmanager
def as_application(postgres: PostgresServer, place: Place) -> Iterator[Application]:
    """Give a workspace, and a database to try things on, both connected as a granted role."""
    assert place.url is not None
    fill(place.open())
    with postgres.fresh_role(place.url) as (role, url):
        owner = Database.server(place.url)
        listing.grant(owner, role)
        owner.close()
        workspace = open_workspace(url, home=place.home.folder)
        database = Database.server(url).of("default")
        yield workspace, database
        workspace.close()
        database.close()


@pytest.fixture
def application(postgres: PostgresServer, postgres_place: Place) -> Iterator[Application]:
    with as_application(postgres, postgres_place) as found:
        yield found


@pytest.fixture(scope="module")
def application_untouched(
    postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Application]:
    """Give the same to tests that try to change something and must not manage."""
    with postgres.fresh_database() as url:
        place = Place(tmp_path_factory.mktemp("application"), url)
        with as_application(postgres, place) as found:
            yield found
        place.close()


def test_the_application_role_appends_proves_erases_rotates_and_audits(
    application: Application,
) -> None:
    workspace, _ = application
    receipts = workspace.trail.append_many([record(1), record(2)], idempotency_keys=["x", "y"])
    assert workspace.append(record(1), idempotency_key="x").repeated
    key = workspace.trail.rotate_key()
    proof = workspace.prove(receipts[0].seq)
    assert verify(canonical_json(proof.as_json()), key=key).holds
    workspace.trail.erase(receipts[0].seq, reason="law", by="counsel")
    assert workspace.trail.entry(receipts[0].seq).erased
    assert workspace.trail.audit().holds


def test_the_application_role_ingests_checks_and_proves(
    application: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_here(monkeypatch)
    workspace, database = application
    before = {table: count(workspace, table) for table in TABLES}
    docs = write_policies(tmp_path / "docs", {"pets.md": "# Pets\n\nPets stay at home.\n"})
    ledger = workspace.check(SUPPORTED, against=docs)
    proof = workspace.ledgers.prove(ledger.id)
    assert verify(canonical_json(proof.as_json()), key=workspace.trail.public_key()).holds
    build_bundle(workspace, "run 2", "three", "four")
    make_pack(workspace, 2)
    after = {table: count(workspace, table) for table in TABLES}
    assert all(after[table] > before[table] for table in TABLES if not table.startswith("trail"))
    again = open_workspace(str(database.address), home=workspace.opened.home.folder)
    assert verdicts(again.check(ANSWER))[:2] == VERDICTS[:2]
    again.close()
    assert workspace.trail.audit().holds


def test_the_application_role_keeps_and_removes_embeddings(application: Application) -> None:
    workspace, database = application
    made = {"b" * 64: b"other", "c" * 64: b"three"}
    with database.write() as connection:
        store_embeddings(connection, workspace.tenant, MODEL, made)
        remove_embeddings(connection, workspace.tenant, MODEL, ["a" * 64])
    with database.read() as connection:
        kept = stored_embeddings(connection, workspace.tenant, MODEL, ["a" * 64, *made])
    assert kept == {"b" * 64: b"two", "c" * 64: b"three"}


@pytest.mark.parametrize("words", ["UPDATE {} SET data = data", "TRUNCATE {}", "DROP TABLE {}"])
def test_the_application_role_may_not_change_embeddings(
    application_untouched: Application, words: str
) -> None:
    _, database = application_untouched
    with (
        pytest.raises(EnvironmentProblem, match=r"permission denied|must be owner"),
        database.write() as connection,
    ):
        run(connection, words.format(REMOVED))


@pytest.mark.parametrize("table", TABLES)
def test_the_application_role_may_not_change_remove_or_empty(
    application_untouched: Application, table: str
) -> None:
    workspace, database = application_untouched
    statements = [f"DELETE FROM {table}", f"TRUNCATE {table}", f"DROP TABLE {table}"]
    statements += [
        f"UPDATE {table} SET {column} = {column}"
        for column in COLUMNS[table]
        if table != "trail_heads" or column in {"tenant", "origin"}
    ]
    statements.append(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
    for statement in statements:
        with (
            pytest.raises(EnvironmentProblem, match=r"permission denied|must be owner"),
            database.write() as connection,
        ):
            run(connection, statement)
    assert workspace.trail.audit().holds


def test_the_application_role_may_not_turn_triggers_off_or_change_the_guards(
    application_untouched: Application,
) -> None:
    workspace, database = application_untouched
    nothing = "RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$"
    for statement in (
        "SET session_replication_role = replica",
        f"CREATE OR REPLACE FUNCTION trail_refuse() {nothing}",
        "DROP TRIGGER trail_entries_update ON trail_entries",
        "UPDATE alembic_version SET version_num = '9999'",
    ):
        with pytest.raises(EnvironmentProblem), database.write() as connection:
            run(connection, statement)
    assert workspace.trail.audit().holds


def test_the_application_role_erases_no_body_without_an_erasure_entry(
    application_untouched: Application,
) -> None:
    workspace, database = application_untouched
    with (
        pytest.raises(IntegrityError, match="append-only"),
        database.write() as connection,
    ):
        run(connection, "SELECT trail_erase_body('default', 5)")
    assert not workspace.trail.entry(5).erased


def test_the_application_role_erases_runs_and_bundles(application: Application) -> None:
    workspace, database = application
    build_bundle(workspace, "run 2", "three", "four")
    receipt = workspace.bundles.record_run("run 3", "latest")
    workspace.trail.erase(receipt.seq, reason="law", by="counsel")
    assert workspace.bundles.runs("latest") == ["run 2"]
    erased = workspace.bundles.find("latest")
    workspace.trail.erase(erased.entry, reason="law", by="counsel")
    assert workspace.bundles.of_run("run 2") == []
    assert workspace.bundles.runs("latest") == ["run 1"]
    assert count(workspace, "llm.evidence_item") == 1
    with database.write() as connection:
        for function, seq in (("run", receipt.seq), ("bundle", erased.entry)):
            again = run(connection, f"SELECT trail_erase_{function}('default', ?)", (seq,))
            assert again.scalar() == 0
    assert workspace.trail.audit().holds
    assert workspace.bundles.audit() == []


def test_the_application_role_erases_no_run_or_bundle_without_an_erasure_entry(
    application_untouched: Application,
) -> None:
    workspace, database = application_untouched
    entry = workspace.bundles.find("latest").entry
    before = [count(workspace, table) for table in TABLES]
    for call in (
        f"trail_erase_bundle('default', {entry})",
        f"trail_erase_run('default', {entry + 1})",
    ):
        with (
            pytest.raises(IntegrityError, match="append-only"),
            database.write() as connection,
        ):
            run(connection, f"SELECT {call}")
    assert [count(workspace, table) for table in TABLES] == before
    assert workspace.bundles.runs("latest") == ["run 1"]


def test_a_temporary_table_does_not_fool_the_guard(application: Application) -> None:
    workspace, database = application
    entry = workspace.bundles.find("latest").entry
    database.engine.dispose()
    with database.write() as connection:
        run(connection, "SET search_path = pg_temp, public")  # which our connections don't have
        run(connection, "CREATE TEMP TABLE trail_entries (tenant text, kind text, subject text)")
        run(connection, "INSERT INTO trail_entries VALUES ('default', 'erasure', 'entry/5')")
        for seq in (entry, entry + 1):
            row = f"('default', 'erasure', 'entry/{seq}')"
            run(connection, f"INSERT INTO trail_entries VALUES {row}")
    for call in (
        "trail_erase_body('default', 5)",
        f"trail_erase_bundle('default', {entry})",
        f"trail_erase_run('default', {entry + 1})",
    ):
        with pytest.raises(IntegrityError, match="append-only"), database.write() as connection:
            run(connection, f"SELECT {call}")
    assert not workspace.trail.entry(5).erased
    assert workspace.bundles.runs("latest") == ["run 1"]


def test_a_role_without_a_grant_may_nothing(
    postgres: PostgresServer, postgres_place: Place
) -> None:
    assert postgres_place.url is not None
    fill(postgres_place.open())
    with postgres.fresh_role(postgres_place.url) as (_, url):
        database = Database.server(url).of("default")
        with pytest.raises(EnvironmentProblem, match="permission denied"):
            schema.require_current(database)
        for statement in (
            "SELECT * FROM trail_bodies",
            "SELECT * FROM llm.run_evidence",
            "SELECT trail_erase_body('default', 5)",
            "SELECT trail_erase_bundle('default', 5)",
            "SELECT trail_erase_run('default', 5)",
        ):
            with (
                pytest.raises(EnvironmentProblem, match="permission denied"),
                database.write() as connection,
            ):
                run(connection, statement)
        database.close()


def test_the_server_role_named_with_care_is_quoted(
    postgres: PostgresServer, postgres_place: Place
) -> None:
    assert postgres_place.url is not None
    owner = Database.server(postgres_place.url)
    with pytest.raises(EnvironmentProblem, match="does not exist"):
        listing.grant(owner, 'x; DROP TABLE trail_bodies; --"')
    owner.close()
    assert postgres_place.open().trail.size == 0


def test_sqlite_has_no_roles_to_grant(sqlite_place: Place) -> None:
    with pytest.raises(EnvironmentProblem, match="no roles"):
        listing.grant(sqlite_place.open().opened.database, "application")


# A database of an older program


def upgrade_to_first(database: Database) -> None:
    """Give a database the schema of revision 0001, which had a trail and nothing else."""
    config = Config()
    config.set_main_option("script_location", str(schema._migrations()))
    with database.write() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")


@contextmanager
def without_snapshots() -> Iterator[None]:
    """Append as a program did that knew no snapshots."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(snapshots, "snapshot_note", lambda *_: None)
        yield


@pytest.fixture
def sqlite_old(tmp_path: Path) -> Iterator[Database]:
    (tmp_path / "home").mkdir()
    database = Database.sqlite(Home(tmp_path / "home").database)
    yield database
    database.close()


@pytest.fixture
def postgres_old(postgres: PostgresServer) -> Iterator[Database]:
    with postgres.fresh_database(template="template1") as url:
        database = Database.server(url).of("default")
        yield database
        database.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request: pytest.FixtureRequest) -> Database:
    """Give a database with the trail of revision 0001 and nothing else."""
    name = "sqlite_old" if request.param == "sqlite" else "postgres_old"
    database: Database = request.getfixturevalue(name)
    upgrade_to_first(database)
    return database


@contextmanager
def older_program() -> Iterator[None]:
    """Write heads as programs did up to revision 0006: each checkpoint was counted by itself."""
    move = log.move_head

    def moved(
        connection: Connection, old: log.Head, new: log.Head, notes: Sequence[tuple[str, str]]
    ) -> None:
        move(connection, old, new)
        for key_id, note in notes:
            sql = "UPDATE trail_heads SET checkpoints = checkpoints + 1 WHERE tenant = ?"
            run(connection, sql, (new.tenant,))
            row = (new.tenant, new.size, key_id, note)
            insert_rows(connection, "trail_checkpoints", tuple(log.CHECKPOINT_COLUMNS), [row])

    with pytest.MonkeyPatch.context() as older:
        older.setattr(log, "move_head", moved)
        older.setattr(inbox, "take", lambda *_: ([], {}))  # it knew no inbox
        older.setattr(inbox, "forget", lambda *_: None)
        yield


def test_an_upgrade_keeps_the_trail_as_it_is(
    old: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_here(monkeypatch)
    home = Home(tmp_path / "home")
    before = Opened(old, home).for_()
    keys = [f"key {number}" for number in range(300)]
    with older_program(), without_snapshots():
        before.trail.append_many([record(number) for number in range(300)], idempotency_keys=keys)
        before.trail.erase(7, reason="law", by="counsel")
    note = before.trail.checkpoint()
    proof = canonical_json(before.prove(5).as_json())
    entries = before.trail.entries()
    assert {finding.what for finding in before.trail.audit().findings} == {"schema"}
    with pytest.raises(
        EnvironmentProblem, match=f"has schema 0001, this program needs {schema.head(old)}"
    ):
        schema.require_current(old)

    assert schema.upgrade(old)
    schema.require_current(old)
    after = Opened(old, home).for_()
    assert after.trail.entries() == entries
    assert after.trail.checkpoint() == note
    assert after.trail.entry(7).erased
    assert after.append(record(3), idempotency_key="key 3").repeated
    assert verify(proof, key=after.trail.public_key()).holds
    assert after.trail.audit().holds
    ledger = after.check(ANSWER, against=write_policies(tmp_path / "docs"))
    assert after.ledgers.find(ledger.id).entry == after.trail.size - 1
    assert after.trail.audit(since=note).holds
    build_bundle(after, "run 1", "one", "two")
    refuse(after, "DELETE FROM ledgers")
    refuse(after, "DELETE FROM llm.evidence_bundle")
    refuse(after, "DELETE FROM trail_entries")


def test_a_folder_of_an_older_program_is_brought_up_to_date_when_it_is_opened(
    tmp_path: Path, sqlite_old: Database
) -> None:
    upgrade_to_first(sqlite_old)
    with older_program(), without_snapshots():
        Opened(sqlite_old, Home(tmp_path / "home")).for_().append(record(1))
    with pytest.raises(EnvironmentProblem, match="run 'evidentia db upgrade'"):
        open_workspace(tmp_path / "home", create=False)
    with open_workspace(tmp_path / "home") as workspace:
        assert workspace.trail.size == 2
        assert workspace.trail.audit().holds


def test_the_drivers_own_refusal_is_what_sql_sees(untouched: Workspace) -> None:
    with (
        pytest.raises(DBAPIError, match="trail_entries is append-only: no delete"),
        untouched.opened.database.engine.connect() as connection,
    ):
        connection.exec_driver_sql("DELETE FROM trail_entries")

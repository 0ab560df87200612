from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Column, Index, MetaData
from sqlalchemy.dialects import mssql
from sqlalchemy.schema import BLANK_SCHEMA, CreateIndex, CreateTable

from evidentia.errors import EnvironmentProblem
from evidentia.store import listing, schema
from evidentia.store.database import Database, run
from evidentia.store.tables import BUNDLE_SCHEMA, ONLY_ON, metadata
from evidentia.workspace import open_workspace
from forking import Child
from places import Place, record
from postgres import PostgresServer

pytestmark = [
    pytest.mark.as_owner,
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded"),
]

Opened = Callable[[], Database]


@pytest.fixture
def sqlite_empty(tmp_path: Path) -> Opened:
    return lambda: Database.sqlite(tmp_path / "evidentia.db")


@pytest.fixture
def postgres_empty(postgres: PostgresServer) -> Iterator[Opened]:
    with postgres.fresh_database(template="template1") as url:
        yield lambda: Database.server(url)


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest) -> Opened:
    """Give a way to open a database that has no schema yet, on each kind in turn."""
    name = "sqlite_empty" if request.param == "sqlite" else "postgres_empty"
    found: Opened = request.getfixturevalue(name)
    return found


def listed(name: str) -> list[str]:
    return (files("evidentia.store.migrations") / f"{name}.schema").read_text().splitlines()


def test_the_migrations_end_at_the_revision_that_the_program_works_with() -> None:
    scripts = ScriptDirectory(str(schema._migrations()))
    assert scripts.get_heads() == [schema.HEAD]


def phased() -> list[tuple[str, str, str]]:
    """Return revision, phase and serves of the migrations that say so."""
    scripts = ScriptDirectory(str(schema._migrations())).walk_revisions()
    return sorted(
        (script.revision, phase, script.module.serves)
        for script in scripts
        if (phase := getattr(script.module, "phase", None)) is not None
    )


def test_a_migration_is_an_expansion_or_a_contraction_and_says_whom_it_serves() -> None:
    served = ""
    for revision, phase, serves in phased():
        assert phase in {"expansion", "contraction"}, revision
        assert served <= serves <= revision, "it says whom it serves, no fewer than the one before"
        assert phase == "contraction" or serves < revision, "an expansion serves the one before it"
        served = serves


def test_the_program_works_with_the_schema_before_a_contraction_that_waits() -> None:
    phases = {revision: phase for revision, phase, _ in phased()}
    oldest = min(schema.OLDEST, schema.HEAD)
    waiting = [one for one in phases if oldest < one <= schema.HEAD]
    assert all(phases[one] == "contraction" for one in waiting)
    for dialect, head in (("sqlite", schema._SQLITE_HEAD), ("postgresql", schema.HEAD)):
        older = min(oldest, head)
        assert (older == head) is not schema.listing_of(dialect, older).exists()


def test_migrations_make_exactly_the_tables(empty: Opened) -> None:
    database = empty()
    schema.upgrade(database)
    with database.read() as connection:
        options = {"compare_type": True, "compare_server_default": True, "include_schemas": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, as_in(connection.dialect.name)) == []
    database.close()


_UNTYPED: tuple[Any, Any] = (None, BLANK_SCHEMA)
"""What `to_metadata` takes, and its types do not know."""


def as_in(dialect: str) -> MetaData:
    """Return the tables as a database has them; SQLite has no schemas."""
    copied = MetaData()
    none, blank = _UNTYPED
    for table in metadata.sorted_tables:
        if dialect == "sqlite":
            one = table.to_metadata(copied, schema=none, referred_schema_fn=lambda *_: blank)
        else:
            one = table.to_metadata(copied)
        elsewhere = {index.name for index in table.indexes if not is_on(dialect, index)}
        one.indexes -= {index for index in one.indexes if index.name in elsewhere}
        for column in one.columns:
            if not is_on(dialect, column):
                column.server_default = None
    return copied


def is_on(dialect: str, item: Index | Column[Any]) -> bool:
    return item.info.get(ONLY_ON) in (None, dialect)


def test_sql_server_would_take_the_bundles_tables() -> None:
    dialect = mssql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy's own
    for table in metadata.sorted_tables:
        if table.schema == BUNDLE_SCHEMA:
            statement = str(CreateTable(table).compile(dialect=dialect))
            assert f"CREATE TABLE llm.{table.name}" in statement
            assert "NVARCHAR(200) NOT NULL" in statement
            for index in table.indexes:
                assert f"ON llm.{table.name}" in str(CreateIndex(index).compile(dialect=dialect))


def test_a_fresh_migration_gives_exactly_the_listing(empty: Opened) -> None:
    database = empty()
    schema.upgrade(database)
    with database.read() as connection:
        assert listing.describe(connection) == listed(connection.dialect.name)
        assert listing.differences(connection) == []
    database.close()


def test_upgrading_twice_changes_nothing(empty: Opened) -> None:
    database = empty()
    assert schema.upgrade(database)
    with database.read() as connection:
        before = listing.describe(connection)
    assert not schema.upgrade(database)
    with database.read() as connection:
        assert listing.describe(connection) == before
        assert schema.revision(connection) == schema.head(database)
    schema.require_current(database)
    database.close()


def test_processes_that_upgrade_at_once_do_it_once(empty: Opened, tmp_path: Path) -> None:
    upgraded = tmp_path / "upgraded"
    upgraded.touch()

    def work() -> None:
        database = empty()
        if schema.upgrade(database):
            with upgraded.open("a") as file:
                file.write("x")
        schema.require_current(database)
        database.close()

    children = [Child(work) for _ in range(4)]
    for child in children:
        child.end()
    assert len(upgraded.read_text()) >= 1
    database = empty()
    with database.read() as connection:
        assert listing.differences(connection) == []
    database.close()


def test_a_database_without_a_schema_is_said_to_have_none(empty: Opened) -> None:
    database = empty()
    with database.read() as connection:
        assert schema.revision(connection) is None
    with pytest.raises(EnvironmentProblem, match="has no schema yet: run 'evidentia db upgrade'"):
        schema.require_current(database)
    database.close()


@pytest.mark.parametrize(
    ("revision", "message"),
    [
        (
            "9999",
            "has schema 9999, made by a newer program; this one knows {head}: upgrade evidentia",
        ),
        ("0000", "has schema 0000, this program needs {head}: run 'evidentia db upgrade'"),
    ],
)
def test_another_revision_is_refused_and_the_message_says_what_to_do(
    place: Place, revision: str, message: str
) -> None:
    database = place.open().opened.database
    with database.write() as connection:
        run(connection, "UPDATE alembic_version SET version_num = ?", (revision,))
    with pytest.raises(EnvironmentProblem) as refused:
        schema.require_current(database)
    assert message.format(head=schema.head(database)) in str(refused.value)


def test_a_newer_database_is_not_downgraded(place: Place) -> None:
    database = place.open().opened.database
    with database.write() as connection:
        run(connection, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(EnvironmentProblem, match="upgrade evidentia"):
        schema.upgrade(database)
    with database.read() as connection:
        assert schema.revision(connection) == "9999"


def test_opening_a_home_made_by_a_newer_program_is_refused(sqlite_place: Place) -> None:
    database = sqlite_place.open().opened.database
    with database.write() as connection:
        run(connection, "UPDATE alembic_version SET version_num = '9999'")
    for create in (True, False):
        with pytest.raises(EnvironmentProblem, match="made by a newer program"):
            open_workspace(sqlite_place.home.folder, create=create)


def test_a_trail_is_never_taken_down() -> None:
    revision = ScriptDirectory(str(schema._migrations())).get_revision(schema.HEAD)
    assert revision is not None
    with pytest.raises(NotImplementedError, match="never taken down"):
        revision.module.downgrade()


def test_a_trail_may_live_in_a_schema_of_any_name(postgres: PostgresServer) -> None:
    with postgres.fresh_database(template="template1") as url:
        name = url.split("/")[3].split("?")[0]
        postgres.execute('CREATE SCHEMA "My Schema"', name)
        postgres.execute(f'ALTER DATABASE {name} SET search_path = "My Schema"')
        database = Database.server(url)
        schema.upgrade(database)
        with database.read() as connection:
            assert listing.differences(connection) == []
            count = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
            assert run(connection, count).scalar() == 0
        database.close()


# What an audit says of a schema that was changed


def guards(name: str) -> list[str]:
    """Return the names of the triggers."""
    words = [line.split() for line in listed(name) if line.startswith("trigger ")]
    return [line[1].rstrip(":") if name == "sqlite" else line[4] for line in words]


def found(place: Place, *statements: str) -> list[str]:
    """Return what an audit says of the schema after these statements, and of nothing else."""
    workspace = place.open()
    workspace.append(record(1))
    with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
        for statement in statements:
            run(connection, statement)
    report = workspace.trail.audit()
    assert {finding.what for finding in report.findings} <= {"schema"}
    assert report.holds is not bool(report.findings)
    return [finding.problem for finding in report.findings]


@pytest.mark.parametrize("name", guards("sqlite"))
def test_a_trigger_that_was_dropped_is_named(sqlite_place: Place, name: str) -> None:
    (problem,) = found(sqlite_place, f"DROP TRIGGER {name}")
    assert problem.startswith(f"-trigger {name}: CREATE TRIGGER {name}")


@pytest.mark.parametrize("name", guards("sqlite"))
def test_a_trigger_that_was_altered_is_named(sqlite_place: Place, name: str) -> None:
    table, _, action = name.rpartition("_")
    problems = found(
        sqlite_place,
        f"DROP TRIGGER {name}",
        f"CREATE TRIGGER {name} BEFORE {action} ON {table} WHEN 0 "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only: no {action}'); END",
    )
    assert [problem[:9] for problem in problems] == ["+trigger ", "-trigger "]
    assert all(f"trigger {name}:" in problem for problem in problems)


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        (
            "CREATE TRIGGER extra AFTER INSERT ON trail_entries BEGIN SELECT 1; END",
            "+trigger extra: CREATE TRIGGER extra AFTER INSERT",
        ),
        (
            "CREATE TRIGGER sqlitex AFTER INSERT ON trail_entries BEGIN SELECT 1; END",
            "+trigger sqlitex: CREATE TRIGGER",
        ),
        ("CREATE TABLE extra (a)", "+table extra: CREATE TABLE extra (a)"),
        ("CREATE TABLE sqlite3_extra (a)", "+table sqlite3_extra: CREATE TABLE"),
        ("CREATE VIEW extra AS SELECT 1", "+view extra: CREATE VIEW"),
        ("CREATE INDEX extra ON trail_keys (seq)", "+index extra: CREATE INDEX"),
        ("DROP INDEX trail_entries_kind", "-index trail_entries_kind: CREATE INDEX"),
        ("DROP TABLE trail_idempotency", "-table trail_idempotency: CREATE TABLE"),
        ("ALTER TABLE trail_keys ADD COLUMN extra TEXT", "+table trail_keys: CREATE TABLE"),
    ],
)
def test_what_was_added_or_taken_away_is_named(
    sqlite_place: Place, statement: str, named: str
) -> None:
    problems = found(sqlite_place, statement)
    assert any(problem.startswith(named) for problem in problems)


@pytest.mark.parametrize("name", guards("postgresql"))
def test_a_trigger_dropped_or_turned_off_on_the_server_is_named(
    postgres_place: Place, name: str
) -> None:
    table = name.rpartition("_")[0]
    if f"llm.{table}" in metadata.tables:
        table = f"llm.{table}"
    off, on = found(postgres_place, f"ALTER TABLE {table} DISABLE TRIGGER {name}")
    assert off.startswith(f"+trigger D CREATE TRIGGER {name}")
    assert on.startswith(f"-trigger O CREATE TRIGGER {name}")
    (problem,) = found(postgres_place, f"DROP TRIGGER {name} ON {table}")
    assert problem.startswith(f"-trigger O CREATE TRIGGER {name}")


NOTHING = "LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$"


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        (
            f"CREATE OR REPLACE FUNCTION trail_refuse() RETURNS trigger {NOTHING}",
            "+function trail_refuse() plpgsql as called: BEGIN RETURN NEW",
        ),
        (
            "ALTER FUNCTION trail_refuse_unerased() RESET ALL",
            "+function trail_refuse_unerased() plpgsql as called: BEGIN",
        ),
        (
            "ALTER FUNCTION trail_refuse() SECURITY DEFINER",
            "+function trail_refuse() plpgsql as its owner",
        ),
        (
            "CREATE TRIGGER extra AFTER INSERT ON trail_entries EXECUTE FUNCTION trail_refuse()",
            "+trigger O CREATE TRIGGER extra",
        ),
        (
            "CREATE RULE extra AS ON DELETE TO trail_keys DO INSTEAD NOTHING",
            "+rule extra on trail_keys",
        ),
        ("ALTER TABLE trail_keys SET UNLOGGED", "+table trail_keys: ru"),
        ("ALTER TABLE trail_keys ADD COLUMN extra text", "+column trail_keys.extra: text"),
        ("ALTER TABLE trail_heads ALTER checkpoints SET DEFAULT 9", "+column trail_heads.checkp"),
        ("DROP INDEX trail_entries_kind", "-index CREATE INDEX trail_entries_kind"),
        ("CREATE VIEW trail_extra AS SELECT 1 AS a", "+table trail_extra: vp"),
        (
            "ALTER TABLE trail_keys DROP CONSTRAINT trail_keys_pkey",
            "-constraint trail_keys: PRIMARY KEY (tenant, seq)",
        ),
    ],
)
def test_what_was_changed_on_the_server_is_named(
    postgres_place: Place, statement: str, named: str
) -> None:
    problems = found(postgres_place, statement)
    assert any(problem.startswith(named) for problem in problems), problems

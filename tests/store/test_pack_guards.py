"""A pack's row is never updated, replaced or removed, but where the trail says it was erased."""

from collections.abc import Iterator

import pytest

from evidentia.errors import EnvironmentProblem, IntegrityError
from evidentia.store import listing
from evidentia.store.database import Database, run
from evidentia.store.sql.packs import ListedPack
from evidentia.store.sql.uses import is_used
from evidentia.store.tables import metadata
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.opened import Opened
from packing import Clock, decision, make_pack, memo, opened
from places import Place, kept_file
from postgres import PostgresServer

pytestmark = pytest.mark.as_owner

COLUMNS = tuple(metadata.tables["evidence_packs"].columns.keys())


@pytest.fixture
def filled(place: Place) -> Workspace:
    """Give a pack with two versions, on each kind of database in turn."""
    workspace = opened(place)
    make_pack(workspace)
    workspace.packs.review("dec_1", "rejected")
    return workspace


def refuse(workspace: Workspace, *statements: str) -> None:
    """Check that statements are refused and change nothing."""
    before = workspace.packs.list(all_versions=True)
    for sql in statements:
        with (
            pytest.raises((IntegrityError, EnvironmentProblem), match=r"append-only|duplicate key"),
            workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection,
        ):
            run(connection, sql)
    assert workspace.packs.list(all_versions=True) == before
    assert workspace.packs.audit().holds


def test_no_column_is_updated_and_no_row_deleted(filled: Workspace) -> None:
    refuse(
        filled,
        *(f"UPDATE evidence_packs SET {column} = {column}" for column in COLUMNS),
        "DELETE FROM evidence_packs",
        "DELETE FROM evidence_packs WHERE version = 2",
    )


def inserted(words: str, **changes: str) -> str:
    values = ", ".join(changes.get(column, column) for column in COLUMNS)
    columns = ", ".join(COLUMNS)
    return (
        f"{words} INTO evidence_packs ({columns}) SELECT {values} FROM evidence_packs "
        "WHERE version = 2"
    )


def test_no_row_is_put_in_place_of_another(filled: Workspace) -> None:
    new = {"id": "'pack_x'", "trail_seq": "trail_seq + 9", "replaces_id": "'pack_y'"}
    replacing = ("INSERT OR REPLACE", "REPLACE", "INSERT OR IGNORE")  # which SQLite alone has
    for words in ("INSERT", *(replacing if filled.opened.database.is_sqlite else ())):
        for kept in new:
            others = {name: value for name, value in new.items() if name != kept}
            refuse(filled, inserted(words, **others))


def test_a_row_goes_only_after_an_erasure_entry_of_its_own(place: Place) -> None:
    one, other = opened(place), opened(place, "other")
    for workspace in (one, other):
        make_pack(workspace)
        workspace.packs.review("dec_1", "approved")
    first, second = one.packs.versions("dec_1")
    one.trail.erase(second.entry, reason="law", by="counsel")
    assert [listed.id for listed in one.packs.list()] == [first.id]
    refuse(one, "DELETE FROM evidence_packs WHERE tenant = 'default'")
    refuse(other, "DELETE FROM evidence_packs WHERE tenant = 'other'")


def test_attachments_of_other_packs_and_tenants_are_in_use(place: Place) -> None:
    one, other = opened(place), opened(place, "other")
    one.assemble(decision(), memo=memo(), attachments={"a": b"shared"})
    listed = one.packs.find("dec_1")
    digest = listed.attachments[0].rpartition("/")[2]
    with one.opened.database.of("default").read() as connection:
        assert is_used(connection, "default", digest)
        assert is_used(connection, "default", listed.statement_sha256)
        assert not is_used(connection, "default", "0" * 64)
        assert not is_used(connection, "other", digest)
    other.assemble(decision(tenant_id="other"), memo=memo(), attachments={"b": b"shared"})
    one.trail.erase(listed.entry, reason="law", by="counsel")
    assert other.packs.audit().holds
    other.trail.erase(other.packs.find("dec_1").entry, reason="law", by="counsel")
    assert not kept_file(one, digest).exists()


def test_a_listed_pack_is_a_json_object(filled: Workspace) -> None:
    listed = filled.packs.find("dec_1")
    assert listed.as_json().keys() == set(ListedPack.__slots__)
    assert listed.as_json()["attachments"] == []


# PostgreSQL: the application's own role


@pytest.fixture
def application(
    postgres: PostgresServer, postgres_place: Place
) -> Iterator[tuple[Workspace, Database]]:
    """Give a workspace, and a database to try things on, both connected as a granted role."""
    assert postgres_place.url is not None
    maker = postgres_place.open()
    make_pack(maker)
    maker.packs.review("dec_1", "rejected")
    with postgres.fresh_role(postgres_place.url) as (role, url):
        owner = Database.server(postgres_place.url)
        listing.grant(owner, role)
        owner.close()
        workspace = open_workspace(url, home=postgres_place.home.folder)
        database = Database.server(url).of("default")
        yield workspace, database
        workspace.close()
        database.close()


Application = tuple[Workspace, Database]


def test_the_application_role_changes_removes_and_empties_nothing(
    application: Application,
) -> None:
    workspace, database = application
    for sql in (
        *(f"UPDATE evidence_packs SET {column} = {column}" for column in COLUMNS),
        "DELETE FROM evidence_packs",
        "TRUNCATE evidence_packs",
        "DROP TABLE evidence_packs",
        "ALTER TABLE evidence_packs DISABLE TRIGGER ALL",
        "DROP TRIGGER evidence_packs_delete ON evidence_packs",
    ):
        with (
            pytest.raises(EnvironmentProblem, match=r"permission denied|must be owner"),
            database.write() as connection,
        ):
            run(connection, sql)
    assert workspace.packs.audit().holds
    assert workspace.trail.audit().holds


def test_the_application_role_makes_reviews_holds_and_sweeps(
    application: Application, postgres_place: Place
) -> None:
    workspace, database = application
    make_pack(workspace, 2)
    workspace.packs.review("dec_2", "approved")
    workspace.packs.hold("dec_2", reason="case")
    later = Clock()
    later.pass_years(9)
    then = Opened(database, postgres_place.home, clock=later).for_()
    assert {one.decision_id for one in then.packs.sweep()} == {"dec_1"}
    assert [one.decision_id for one in workspace.packs.list()] == ["dec_2"]
    assert workspace.trail.audit().holds
    assert workspace.packs.audit().problems == ()


def test_the_application_role_erases_no_pack_without_an_erasure_entry(
    application: Application,
) -> None:
    workspace, database = application
    entry = workspace.packs.find("dec_1").entry
    call = f"SELECT trail_erase_pack('default', {entry})"
    with pytest.raises(IntegrityError, match="append-only"), database.write() as connection:
        run(connection, call)
    database.engine.dispose()
    with database.write() as connection:
        run(connection, "SET search_path = pg_temp, public")  # which our connections don't have
        run(connection, "CREATE TEMP TABLE trail_entries (tenant text, kind text, subject text)")
        row = f"('default', 'erasure', 'entry/{entry}')"
        run(connection, f"INSERT INTO trail_entries VALUES {row}")
    with pytest.raises(IntegrityError, match="append-only"), database.write() as connection:
        run(connection, call)
    with database.write() as connection:
        assert run(connection, "SELECT trail_erase_pack('default', 99)").scalar() == 0
    assert workspace.packs.get("dec_1").version == 2


def test_a_role_without_a_grant_sees_no_packs(
    postgres: PostgresServer, postgres_place: Place
) -> None:
    assert postgres_place.url is not None
    make_pack(postgres_place.open())
    with postgres.fresh_role(postgres_place.url) as (_, url):
        database = Database.server(url).of("default")
        for sql in ("SELECT * FROM evidence_packs", "SELECT trail_erase_pack('default', 1)"):
            with (
                pytest.raises(EnvironmentProblem, match="permission denied"),
                database.write() as connection,
            ):
                run(connection, sql)
        database.close()

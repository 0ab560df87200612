"""`evidentia db roles`: the SQL that sets roles up, printed or run, and what they can do then."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from cli_running import Cli
from evidentia.store import listing, schema
from evidentia.store.database import Database, run
from evidentia.workspace import open_workspace
from places import record
from postgres import PostgresServer

NAMES = {of: f"{of}_{os.getpid()}" for of in ("owner", "application", "sequencer", "auditor")}
GIVEN = [word for of, name in NAMES.items() for word in (f"--{of}", name)]


@pytest.fixture
def url(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give an empty database, which the environment names, and take the roles away afterwards."""
    with postgres.fresh_database("template1") as url:
        monkeypatch.setenv("EVIDENTIA_DATABASE_URL", url)
        yield url
        name = str(make_url(url).database)
        for role in NAMES.values():
            with psycopg.connect(postgres.url(name), autocommit=True) as connection:
                found = connection.execute(
                    "SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)
                ).fetchone()
            if found:
                postgres.execute(f"DROP OWNED BY {role} CASCADE", name)
                postgres.execute(f"DROP ROLE {role}")


def test_one_command_sets_all_up_and_may_be_run_again(
    cli: Cli, postgres: PostgresServer, url: str, tmp_path: Path
) -> None:
    name = str(make_url(url).database)
    for _ in range(2):
        said = cli("db", "roles", "--run", *GIVEN)
        assert said.code == 0, said.err
        assert f"application: {NAMES['application']}" in said.out
    again = json.loads(cli("db", "roles", "--json").out)  # as they are named now
    assert again["roles"] == NAMES
    assert not any(sql.startswith(("ALTER POLICY", "DROP POLICY")) for sql in again["statements"])
    home, as_app = tmp_path / "home", postgres.url(name, NAMES["application"])
    with open_workspace(as_app, home=home) as workspace:
        workspace.append(record(1))
        report = workspace.audit()
        assert report.holds
        assert report.part("database").notes == ()
    with open_workspace(
        postgres.url(name, NAMES["auditor"]), home=home, create=False, read_only=True
    ) as workspace:
        assert workspace.trail.audit().holds
    database = Database.server(as_app)
    with database.read() as connection:
        assert run(connection, "SELECT count(*) FROM trail_entries").scalar() == 0
        assert listing.differences(connection) == []
    database.close()


def test_who_may_not_is_told_who_may(
    cli: Cli, postgres: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("db", "roles", "--run", *GIVEN).code == 0
    name = str(make_url(url).database)
    monkeypatch.setenv("EVIDENTIA_DATABASE_URL", postgres.url(name, NAMES["auditor"]))
    for words in (("db", "upgrade"), ("db", "roles", "--run")):
        refused = cli(*words)
        assert refused.code == 3
        assert "permission denied" in refused.err
        assert "connect as a role that may" in refused.err
    monkeypatch.setenv("EVIDENTIA_DATABASE_URL", postgres.url(name, NAMES["application"]))
    refused = cli("db", "roles", "--run")
    assert (refused.code, refused.err.count("\n")) == (3, 1)
    assert "roles are set up by a superuser" in refused.err
    assert "U+000A" not in refused.err


def test_status_says_what_to_do_where_there_is_no_schema_or_another(cli: Cli, url: str) -> None:
    none = cli("db", "status")
    assert (none.code, none.out.count("\n")) == (1, 1)
    assert "has no schema yet: run 'evidentia db upgrade'" in none.out
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num text)")
        connection.execute("INSERT INTO alembic_version VALUES ('9999')")
    newer = cli("db", "status")
    assert (newer.code, newer.out.count("\n")) == (1, 1)
    assert "made by a newer program" in newer.out


def test_what_is_printed_does_the_same(cli: Cli, postgres: PostgresServer, url: str) -> None:
    name = str(make_url(url).database)
    refused = cli("db", "roles", *GIVEN)
    assert (refused.code, "has no schema yet" in refused.err) == (3, True)
    assert cli("db", "upgrade").code == 0
    said = cli("db", "roles", *GIVEN)
    assert said.code == 0, said.err
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT to_regrole(%s)", (NAMES["owner"],)).fetchone() == (None,)
    postgres.execute(said.out, name)
    with psycopg.connect(url) as connection:
        sql = "SELECT DISTINCT relowner::regrole::text FROM pg_class WHERE relname LIKE 'trail%'"
        assert connection.execute(sql).fetchall() == [(NAMES["owner"],)]
    printed = json.loads(cli("db", "roles", "--json").out)["statements"]
    assert not any(" OWNER TO " in sql and "SCHEMA" not in sql for sql in printed)
    assert cli("db", "status").code == 0


def test_an_upgrade_gives_the_roles_what_a_new_table_needs(
    cli: Cli, postgres: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("db", "roles", "--run", *GIVEN).code == 0
    name = str(make_url(url).database)
    # As before the last revision: one table has no rights and no policies yet.
    application, auditor = NAMES["application"], NAMES["auditor"]
    postgres.execute(f"REVOKE ALL ON jobs FROM {application}", name)
    postgres.execute("DROP POLICY all_tenants ON jobs", name)
    database = Database.server(url)
    with database.across.write() as connection:
        from evidentia.store.sql import roles  # noqa: PLC0415 - as a migration's end does

        roles.act_as_owner(connection)
        assert run(connection, "SELECT current_user").scalar() == NAMES["owner"]
        roles.renew(connection)
    with database.read() as connection:
        sql = "SELECT has_table_privilege(?, 'jobs', 'INSERT')"
        assert run(connection, sql, (application,)).scalar()
        sql = (
            "SELECT count(*) FROM pg_policy WHERE polname = 'all_tenants' "
            "AND polroles[1] = ?::regrole"
        )
        assert run(connection, sql, (auditor,)).scalar() == len(
            [table for table in listing.TABLES if table != "job_runners"]
        )
    assert schema.HEAD
    database.close()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--application", "postgres"], "is a superuser or has BYPASSRLS"),
        (["--auditor", NAMES["owner"], "--owner", NAMES["owner"]], "four roles need four names"),
        (["--owner", "x" * 64], "can't be a role"),
    ],
)
def test_roles_that_would_hold_nothing_back_are_refused(
    cli: Cli, url: str, given: list[str], says: str
) -> None:
    assert url
    assert cli("db", "upgrade").code == 0
    said = cli("db", "roles", *given)
    assert said.code != 0
    assert says in said.err


def test_the_embedded_database_has_no_roles(cli: Cli) -> None:
    said = cli("db", "roles")
    assert said.code != 0
    assert "SQLite has no roles" in said.err

"""`evidentia db roles`: the SQL that sets roles up, printed or run, and what they can do then."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from cli_running import Cli
from evidentia.jobs import queue
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


@pytest.mark.parametrize("who", ["owner", "postgres"])
def test_an_upgrade_gives_the_roles_what_the_queue_of_jobs_made_anew(
    cli: Cli, postgres: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    """Its tables are made by its own package, after ours, as whoever connects."""
    assert cli("db", "roles", "--run", *GIVEN).code == 0
    name, user = str(make_url(url).database), NAMES.get(who, who)
    postgres.execute(f"ALTER ROLE {NAMES['owner']} LOGIN")
    with psycopg.connect(postgres.url(name, user), autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {queue.SCHEMA}.added (id text)".encode())
    monkeypatch.setenv("EVIDENTIA_DATABASE_URL", postgres.url(name, user))
    said = cli("db", "upgrade")
    assert said.code == 0, said.err
    with psycopg.connect(url) as connection:
        sql = (
            "SELECT relowner::regrole::text, has_table_privilege(%s, oid, 'INSERT') FROM pg_class "
            "WHERE relname = 'added'"
        )
        found = connection.execute(sql, (NAMES["application"],)).fetchone()
    assert found == (NAMES["owner"], True)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--application", "postgres"], "role postgres, which is a superuser"),
        (["--auditor", NAMES["owner"], "--owner", NAMES["owner"]], "four roles need four names"),
        (["--owner", "x" * 64], "can't be a role"),
        (["--owner", "x'"], "can't be a role"),
        (["--auditor", "x$$"], "can't be a role"),
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


REACHES = {
    "the owner": (
        ["GRANT {owner} TO {application}"],
        "{application}, which may become {owner}, which owns the tables",
    ),
    "the owner, through another role": (
        ["CREATE ROLE {between}", "GRANT {owner} TO {between}", "GRANT {between} TO {sequencer}"],
        "{application}, which may become {owner}, which owns the tables",
    ),
    "a role with BYPASSRLS": (
        ["CREATE ROLE {between} BYPASSRLS", "GRANT {between} TO {application}"],
        "{application}, which may become {between}, which has BYPASSRLS",
    ),
    "the auditor": (
        ["GRANT {auditor} TO {application}"],
        "{application}, which may become {auditor}, which is another of these roles",
    ),
    "who writes": (
        ["GRANT {application} TO {auditor}"],
        "{auditor}, which may become {application}, which is another of these roles",
    ),
    "the database": (
        ["ALTER DATABASE {database} OWNER TO {application}"],
        "{application}, which owns schema public, or the database that it is in",
    ),
}
"""What a role was given by hand that gets it past row-level security, and what is said of it."""


@pytest.mark.parametrize("what", REACHES)
def test_a_role_that_reaches_what_is_not_bound_is_refused_and_named(
    cli: Cli, postgres: PostgresServer, url: str, tmp_path: Path, what: str
) -> None:
    """By no table's rights: it need only become another role, or owns what the tables are in."""
    assert cli("db", "roles", "--run", *GIVEN).code == 0
    name = str(make_url(url).database)
    named = NAMES | {"between": f"between_{os.getpid()}", "database": name}
    statements, says = REACHES[what]
    for sql in statements:
        postgres.execute(sql.format(**named), name)
    try:
        said = cli("db", "roles")
        assert said.code != 0
        assert says.format(**named) in said.err
        with open_workspace(postgres.url(name, NAMES["application"]), home=tmp_path) as workspace:
            notes = workspace.audit(quick=True).part("database").notes
        is_another = "another of these" in says
        assert [says.format(**named) in note for note in notes] == [True] * (not is_another)
    finally:
        postgres.execute(f"ALTER DATABASE {name} OWNER TO postgres")
        postgres.execute(f"DROP ROLE IF EXISTS {named['between']}")


def test_what_the_owner_notes_is_no_sql_of_a_superuser(
    cli: Cli, postgres: PostgresServer, url: str
) -> None:
    """It is noted in the database which roles there are, and who owns the tables may note it."""
    assert cli("db", "roles", "--run", *GIVEN).code == 0
    name, role = str(make_url(url).database), f"r{os.getpid() % 1000}"
    postgres.execute(f"CREATE ROLE {role}")
    postgres.execute(f"ALTER DATABASE {name} OWNER TO {NAMES['owner']}")
    put = f"\\') ISNULL THEN END IF;END $$;ALTER ROLE {role} SUPERUSER;END;--"
    assert len(put) < 64
    note = json.dumps(NAMES | {"application": put}).replace("'", "''")
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(f"SET ROLE {NAMES['owner']}")
        owner.execute(f"COMMENT ON TABLE trail_heads IS '{note}'".encode())
        owner.execute(f"ALTER DATABASE {name} SET standard_conforming_strings = off")
    try:
        said = cli("db", "roles", "--run")
        with psycopg.connect(url) as connection:
            found = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", (role,))
            assert found.fetchone() == (False,)
        assert said.code == 0, "a note that is none of ours is none"
        database = Database.server(url)
        with database.read() as connection:
            assert run(connection, "SHOW standard_conforming_strings").scalar() == "on"
        database.close()
    finally:
        postgres.execute(f"ALTER DATABASE {name} OWNER TO postgres")
        postgres.execute(f"DROP ROLE {role}")


def test_who_may_set_up_no_roles_is_told_in_a_line(
    cli: Cli, postgres: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("db", "roles", "--run", *GIVEN).code == 0
    postgres.execute(f"ALTER ROLE {NAMES['owner']} LOGIN")
    address = postgres.url(str(make_url(url).database), NAMES["owner"])
    monkeypatch.setenv("EVIDENTIA_DATABASE_URL", address)
    said = cli("db", "roles", "--run")
    assert said.code == 3
    assert said.err.rstrip().endswith(f'denied to grant role "{NAMES["sequencer"]}"')


def test_a_right_to_make_things_beside_the_tables_is_noted_and_taken(
    cli: Cli, postgres: PostgresServer, url: str, tmp_path: Path
) -> None:
    """What guards and functions of the owner's call could be put before PostgreSQL's own."""
    name, application = str(make_url(url).database), NAMES["application"]

    def notes() -> tuple[str, ...]:
        with open_workspace(postgres.url(name, application), home=tmp_path) as workspace:
            return workspace.audit(quick=True).part("database").notes

    assert cli("db", "roles", "--run", *GIVEN).code == 0
    postgres.execute(f"GRANT ALL ON SCHEMA public TO {application}", name)
    assert f"{application}, which may put functions before PostgreSQL's own" in str(notes())
    assert cli("db", "roles", "--run").code == 0
    assert notes() == ()


def test_who_owned_everything_may_be_the_application_once_another_owns_it(
    cli: Cli, postgres: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, application = str(make_url(url).database), NAMES["application"]
    postgres.execute(f"CREATE ROLE {application} LOGIN")
    postgres.execute(f"GRANT CREATE ON DATABASE {name} TO {application}")
    postgres.execute(f"GRANT CREATE ON SCHEMA public TO {application}", name)
    monkeypatch.setenv("EVIDENTIA_DATABASE_URL", postgres.url(name, application))
    assert cli("db", "upgrade").code == 0
    monkeypatch.setenv("EVIDENTIA_DATABASE_URL", url)
    said = cli("db", "roles", "--run", *GIVEN)
    assert said.code == 0, said.err
    with psycopg.connect(postgres.url(name, application)) as connection:
        sql = "SELECT has_schema_privilege('public', 'CREATE')"
        assert connection.execute(sql).fetchone() == (False,), "what it could put there is run"


def test_the_embedded_database_has_no_roles(cli: Cli) -> None:
    said = cli("db", "roles")
    assert said.code != 0
    assert "SQLite has no roles" in said.err

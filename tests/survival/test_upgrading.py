"""Upgrades that are killed at random moments leave the older database or the newer one, whole.

The whole campaign is `scripts/fuzz faults upgrades`."""

import random
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic import command
from alembic.config import Config

import tiers
from evidentia.store import listing, schema
from evidentia.store.database import Database, _sqlite_module, insert_rows
from evidentia.store.tables import metadata
from postgres import PostgresServer
from survival import older
from survival.test_faults import campaign
from survival.upgrading import Upgrades, killed, state
from unpacking import unpack

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")

TYPED = "0006"
"""From this revision on, columns on the server have types of their own: rows are not the same."""
OLD = Path(__file__).parents[1] / "old" / "v0.1.0" / "workspace.tar.gz"


def test_upgrades_that_are_killed_leave_the_older_database_or_the_newer() -> None:
    said = campaign("upgrades", "--kills", str(tiers.count(20, short=3)))
    assert re.search(r"\d+ upgrades: .*\n0 problems", said)
    assert "between" not in said


def test_a_database_between_two_revisions_would_be_seen(tmp_path: Path) -> None:
    """What the campaign calls half-made is told apart from both ends."""
    home = tmp_path / "0004" / "home"
    unpack(OLD, tmp_path)
    shutil.copytree(tmp_path / ".evidentia", home)
    older.take_back(home / "evidentia.db", "0004")
    upgrades = Upgrades(tmp_path)
    known = upgrades._whole(home)
    upgrades._copy(home)
    connection = _sqlite_module().connect(str(tmp_path / "upgraded" / "evidentia.db"))
    connection.execute("CREATE TABLE evidence_packs (half TEXT)")
    connection.commit()
    connection.close()
    assert state(tmp_path / "upgraded") not in {known.older, known.newer}


# PostgreSQL


def migrate(database: Database, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(schema._migrations()))
    with database.write() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def told(url: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the schema and every stored value of a database on the server."""
    database = Database.server(url)
    with database.read() as connection:
        described = listing.describe(connection)
    database.close()
    rows: dict[str, list[str]] = {}
    with psycopg.connect(url) as asking:
        sql = (
            "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables "
            "WHERE schemaname IN ('public', 'llm') ORDER BY 1"
        )
        for (table,) in asking.execute(sql).fetchall():
            found: list[Any] = asking.execute(f"SELECT * FROM {table}".encode()).fetchall()
            rows[table] = sorted(map(repr, found))
    return described, rows


def wait_alone(url: str) -> None:
    """Wait until the server has noticed that its client is gone."""
    sql = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
        "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    with psycopg.connect(url, autocommit=True) as asking:
        while asking.execute(sql).fetchall() != [(0,)]:
            time.sleep(0.01)


@contextmanager
def older_server(postgres: PostgresServer, home: Path, revision: str) -> Iterator[str]:
    """Give the URL of a database of an older revision, with the rows of a workspace that fit."""
    with postgres.fresh_database(template="template1") as url:
        database = Database.server(url)
        migrate(database, revision)
        old = _sqlite_module().connect(str(home / "evidentia.db"))
        with database.write() as connection:
            for table in metadata.sorted_tables:
                sql = (
                    "SELECT column_name FROM information_schema.columns WHERE table_name = "
                    f"'{table.name}' AND table_schema IN ('public', 'llm')"
                )
                there = {name for (name,) in connection.exec_driver_sql(sql)}
                columns = [column.name for column in table.columns if column.name in there]
                if columns:
                    kept = old.execute(f"SELECT {', '.join(columns)} FROM {table.name}").fetchall()
                    insert_rows(connection, table.fullname, columns, kept)
        old.close()
        database.close()
        yield url


@pytest.fixture
def home(tmp_path: Path) -> Path:
    unpack(OLD, tmp_path)
    return tmp_path / ".evidentia"


def upgrade(url: str) -> None:
    database = Database.server(url)
    schema.upgrade(database)
    database.close()


@pytest.mark.parametrize("revision", [*(one for one in older.revisions() if one < TYPED), "0005"])
def test_an_upgrade_on_a_server_that_is_killed_is_taken_back_or_whole(
    postgres: PostgresServer, home: Path, revision: str
) -> None:
    with older_server(postgres, home, revision) as base:
        name = base.split("/")[3].split("?")[0]
        before = told(base)
        with postgres.fresh_database(template=name) as url:
            began = time.monotonic()
            upgrade(url)
            took = time.monotonic() - began
            after = told(url)
        assert after != before
        chance = random.Random(f"server/{revision}")
        for _ in range(tiers.count(15, short=1)):
            with postgres.fresh_database(template=name) as url:
                killed(lambda url=url: upgrade(url), chance.uniform(0, 1.5 * took))  # type: ignore[misc]
                wait_alone(url)
                assert told(url) in (before, after)
                upgrade(url)
                assert told(url) == after

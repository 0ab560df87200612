"""On PostgreSQL, columns have the types, defaults and indexes that its users write SQL for."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pysqlite3
import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from evidentia.store import listing, schema
from evidentia.store.database import Database, insert_rows
from evidentia.store.tables import metadata
from evidentia.workspace import Workspace
from packing import decision, memo
from places import Place
from postgres import PostgresServer
from unpacking import unpack
from workspace.made_bundles import job
from workspace.policies import ANSWER, NOT_FOUND, read_here, rows, write_policies

pytestmark = pytest.mark.as_owner

ROOT = Path(__file__).parents[2]
OLD = ROOT / "tests" / "old" / "v0.1.0" / "workspace.tar.gz"
BUNDLED = ROOT / "examples" / "policies"
"""The documents of the old bundle, which lay elsewhere when it was built; others are in place."""


@pytest.fixture(autouse=True)
def _read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    read_here(monkeypatch)


def fill(workspace: Workspace, folder: Path) -> None:
    """Make a row in every table that has a time, a truth value or a list."""
    workspace.ingest(write_policies(folder))
    workspace.check(f"{ANSWER}\nOften, hotels are cheaper in winter.\n")
    workspace.bundle(job("Fifteen."))
    workspace.bundles.record_run("run-1", "latest")
    workspace.assemble(decision(), memo=memo())


@pytest.fixture
def filled(postgres_place: Place, tmp_path: Path) -> Place:
    fill(postgres_place.open(), tmp_path / "docs")
    return postgres_place


def asked(place: Place, sql: str) -> list[Any]:
    """Return what any tool would be answered."""
    with psycopg.connect(str(place.url)) as connection:
        return connection.execute(sql.encode()).fetchall()


def test_a_truth_value_is_a_condition_by_itself(filled: Place) -> None:
    everything = asked(filled, "SELECT requires_citation FROM claims")
    assert {type(value) for (value,) in everything} == {bool}
    found = asked(filled, "SELECT requires_citation FROM claims WHERE requires_citation")
    assert 0 < len(found) < len(everything)
    assert len(asked(filled, "SELECT id FROM claims WHERE NOT requires_citation")) == (
        len(everything) - len(found)
    )
    assert asked(filled, "SELECT conflicted, resolved FROM evidence_packs") == [(False, False)]


def test_the_entries_that_rest_on_a_passage_are_found_by_its_anchor(filled: Place) -> None:
    ledger = filled.open().ledgers.get("latest")
    anchor = next(one for entry in ledger.entries for one in entry.evidence_chunk_ids)
    resting = {entry.id for entry in ledger.entries if anchor in entry.evidence_chunk_ids}
    sql = f"SELECT id FROM evidence_ledger WHERE '{anchor}' = ANY(chunk_ids)"
    assert {identity for (identity,) in asked(filled, sql)} == resting
    found = dict(asked(filled, "SELECT id, chunk_ids FROM evidence_ledger"))
    assert found == {entry.id: list(entry.evidence_chunk_ids) for entry in ledger.entries}
    assert [] in found.values()


def test_the_queries_of_the_how_to_are_answered(filled: Place) -> None:
    page = (ROOT / "docs" / "how-to" / "use-postgresql.md").read_text()
    asking = page.partition("## Ask with SQL")[2].partition("```sql\n")[2].partition("```")[0]
    missing, resting = asking.rstrip(";\n").split(";\n")
    assert asked(filled, missing) == [(NOT_FOUND.rstrip("."),)]
    (anchor,) = asked(
        filled, "SELECT chunk_ids[1] FROM evidence_ledger WHERE verdict = 'supported'"
    )
    found = asked(filled, resting.replace("a1b2c3d4", *anchor))
    assert [verdict for _, verdict in found] == ["supported"]


def test_times_can_be_compared_and_reckoned_with(filled: Place) -> None:
    for column, table in (
        ("created_at", "documents"),
        ("created_at", "sessions"),
        ("created_at", "claims"),
        ("created_at", "ledgers"),
        ("created_at", "evidence_ledger"),
        ("created_at", "evidence_packs"),
        ("created_utc", "llm.evidence_bundle"),
        ("recorded_utc", "llm.run_evidence"),
    ):
        sql = f"SELECT now() - {column} < interval '1 hour' FROM {table} LIMIT 1"
        assert asked(filled, sql) == [(True,)], table


def test_what_has_a_default_may_be_left_out(filled: Place) -> None:
    asked(
        filled,
        "INSERT INTO claims (tenant, session_id, id, claim_text, claim_type, importance, "
        "start_offset, end_offset) SELECT tenant, id, 'clm_new', 'x', 'fact', 'minor', 0, 1 "
        "FROM sessions RETURNING id",
    )
    asked(
        filled,
        "INSERT INTO evidence_ledger (tenant, id, ledger_id, session_id, claim_id, verdict, "
        "confidence_score, evidence_snippet, notes) SELECT tenant, 'ent_new', id, session_id, "
        "'clm_new', 'not_found', 0, '', '' FROM ledgers RETURNING id",
    )
    sql = "SELECT requires_citation, now() - created_at < interval '1 hour' FROM claims"
    assert asked(filled, f"{sql} WHERE id = 'clm_new'") == [(True, True)]
    sql = "SELECT chunk_ids, now() - created_at < interval '1 hour' FROM evidence_ledger"
    assert asked(filled, f"{sql} WHERE id = 'ent_new'") == [([], True)]


def test_indexes_have_the_names_that_the_ledgers_specification_gives_them(
    postgres_place: Place,
) -> None:
    sql = (
        "SELECT indexname, tablename FROM pg_indexes WHERE indexname LIKE 'idx%' "
        "AND schemaname = 'public' ORDER BY 1"
    )
    assert asked(postgres_place, sql) == [
        ("idx_claims_session", "claims"),
        ("idx_ledger_session", "evidence_ledger"),
        ("idx_ledger_verdict", "evidence_ledger"),
    ]


@pytest.mark.parametrize("setting", ["TimeZone = 'Asia/Riyadh'", "DateStyle = 'German'"])
def test_times_are_read_as_they_were_written_however_the_server_shows_them(
    postgres_place: Place, postgres: PostgresServer, tmp_path: Path, setting: str
) -> None:
    name = str(postgres_place.url).split("/")[3].split("?")[0]
    postgres.execute(f"ALTER DATABASE {name} SET {setting}")
    workspace = postgres_place.open()
    fill(workspace, tmp_path / "docs")
    ledger = workspace.ledgers.get("latest")
    assert workspace.ledgers.find("latest").created_at == ledger.created_at
    pack = workspace.packs.get("latest")
    assert workspace.packs.find("latest").created_at == pack.created_at
    assert all(holds(postgres_place).values())


@pytest.mark.parametrize(
    "time",
    [
        "0001-01-01T00:00:00.000000Z",
        "1969-12-31T23:59:59.999999Z",
        "2026-03-01T12:00:00.000000Z",
        "2026-03-01T12:00:00.100000Z",
        "9999-12-31T23:59:59.999999Z",
    ],
)
def test_every_time_that_can_be_kept_reads_as_it_was_written(place: Place, time: str) -> None:
    workspace = place.open()
    moment = datetime.fromisoformat(time)
    workspace.opened._clock = lambda: moment
    bundle = workspace.bundle(job("Fifteen."))
    assert bundle.created_utc == workspace.bundles.find("latest").created_utc == time
    assert workspace.bundles.verify("latest").holds


def holds(place: Place) -> dict[str, bool]:
    """Return what the audits of a place say."""
    workspace = place.open()
    return {
        "trail": workspace.trail.audit().holds,
        "ledgers": workspace.ledgers.audit() == [],
        "bundles": not {*workspace.bundles.audit()} & {*workspace.bundles.audit(lake_root=BUNDLED)},
        "packs": workspace.packs.audit().holds,
    }


# A database that the code before made, with rows in it


def migrate(connection: Connection, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(schema._migrations()))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


@pytest.fixture
def older(postgres: PostgresServer, tmp_path: Path) -> Iterator[Place]:
    """Give a database of the schema before, with the rows of a workspace of that time."""
    unpack(OLD, tmp_path)
    home = tmp_path / ".evidentia"
    with postgres.fresh_database(template="template1") as url:
        database = Database.server(url)
        with database.write() as connection:
            migrate(connection, "0005")
            old = pysqlite3.connect(home / "evidentia.db")
            listed = "SELECT name FROM sqlite_master WHERE type = 'table'"
            there = {name for (name,) in old.execute(listed)}
            for table in metadata.sorted_tables:
                if table.name not in there:
                    continue
                had = {row[1] for row in old.execute(f"PRAGMA table_info({table.name})")}
                columns = [column.name for column in table.columns if column.name in had]
                kept = old.execute(f"SELECT {', '.join(columns)} FROM {table.name}").fetchall()
                insert_rows(connection, table.fullname, columns, kept)
            old.close()
        database.close()
        place = Place(home, url)
        yield place
        place.close()


CLAIM = (
    "INSERT INTO claims SELECT tenant, session_id, 'clm_{0}', claim_text, claim_type, 'minor', 0, "
    "0, 1, created_at FROM claims LIMIT 1 RETURNING id"
)
VERDICT = (
    "INSERT INTO evidence_ledger SELECT tenant, 'ent_{0}', ledger_id, session_id, 'clm_{0}', "
    "verdict, 0, '{1}', '', '', created_at FROM evidence_ledger LIMIT 1 RETURNING id"
)


def upgrade(place: Place) -> None:
    database = Database.server(str(place.url))
    assert schema.upgrade(database)
    with database.read() as connection:
        assert listing.differences(connection) == []
    database.close()


def test_an_older_database_is_upgraded_with_all_of_its_rows(older: Place) -> None:
    queries = {
        "ids": "SELECT id, chunk_ids FROM evidence_ledger ORDER BY id",
        "claims": "SELECT id, requires_citation FROM claims ORDER BY id",
        "packs": "SELECT id, conflicted, resolved FROM evidence_packs ORDER BY id",
        "times": "SELECT created_at FROM ledgers UNION ALL SELECT created_utc "
        "FROM llm.evidence_bundle UNION ALL SELECT recorded_utc FROM llm.run_evidence",
    }
    for at, anchors in enumerate(("[]", '["b2","a1","c3"]')):
        for sql in (CLAIM, VERDICT):
            asked(older, sql.format(at, anchors))
    before = {name: asked(older, sql) for name, sql in queries.items()}
    upgrade(older)
    after = {name: asked(older, sql) for name, sql in queries.items()}
    assert after["ids"] == [(one, json.loads(chunks)) for one, chunks in before["ids"]]
    assert {("ent_0", ()), ("ent_1", ("b2", "a1", "c3"))} <= {
        (one, tuple(chunks)) for one, chunks in after["ids"]
    }
    assert after["claims"] == [(one, bool(cited)) for one, cited in before["claims"]]
    assert after["packs"] == [(one, bool(a), bool(b)) for one, a, b in before["packs"]]
    times = [
        moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ") for (moment,) in after["times"]
    ]
    assert times == [time for (time,) in before["times"]]


def test_all_of_an_upgraded_database_holds_and_it_goes_on(older: Place, tmp_path: Path) -> None:
    upgrade(older)
    assert all(holds(older).values())
    workspace = older.open()
    listed = workspace.ledgers.find("latest")
    assert listed.created_at == workspace.ledgers.get("latest").created_at
    assert [one.resolved for one in workspace.packs.list(all_versions=True)] == [True, False]
    workspace.documents.record_missing()
    fill(workspace, tmp_path / "docs")
    workspace.trail.erase(listed.entry, reason="law", by="counsel")
    assert listed.id not in {row["id"] for row in rows(workspace, "SELECT id FROM ledgers")}
    assert all(holds(older).values())


def test_an_embedded_database_is_as_it_was(sqlite_place: Place) -> None:
    database = sqlite_place.open().opened.database
    with database.write() as connection:
        before = listing.describe(connection)
        migrate(connection, "0006")
        assert listing.describe(connection) == before

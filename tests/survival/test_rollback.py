"""The loss of a tail is found against a checkpoint that was kept outside the database."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pysqlite3
import pytest
from sqlalchemy import make_url

from evidentia.errors import EnvironmentProblem, IntegrityError
from evidentia.store.database import Database, fetch
from evidentia.workspace import Workspace
from places import Place, record
from postgres import PostgresServer

pytestmark = pytest.mark.as_owner


class Past:
    """A log of 21 entries as it was, and its home as it is now: the log had grown to 41."""

    def __init__(self, place: Place, early: str, late: str) -> None:
        self.place = place
        self.early = early
        self.late = late


@pytest.fixture
def sqlite_past(sqlite_place: Place) -> Past:
    early = grow(sqlite_place)
    database = sqlite_place.home.database
    old = database.with_suffix(".old")
    shutil.copy(database, old)
    late = grow(sqlite_place)
    for file in database.parent.glob("evidentia.db*"):
        if file != old:
            file.unlink()
    old.rename(database)
    return Past(sqlite_place, early, late)


@pytest.fixture
def postgres_past(postgres: PostgresServer, postgres_place: Place) -> Iterator[Past]:
    assert postgres_place.url is not None
    early = grow(postgres_place)
    name = make_url(postgres_place.url).database
    with postgres.fresh_database(template=str(name)) as old:
        late = grow(postgres_place)
        place = Place(postgres_place.home.folder, old)
        yield Past(place, early, late)
        place.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def past(request: pytest.FixtureRequest) -> Past:
    name = "sqlite_past" if request.param == "sqlite" else "postgres_past"
    found: Past = request.getfixturevalue(name)
    return found


def grow(place: Place) -> str:
    """Append twenty records, sign the log, and close all that is open."""
    workspace = place.open()
    workspace.trail.append_many([record(number) for number in range(20)])
    note = workspace.trail.checkpoint()
    place.close()
    return note


def problems(workspace: Workspace, since: str | None = None) -> list[str]:
    return [str(finding) for finding in workspace.trail.audit(since=since).findings]


GONE = "covers 41 entries, the log has 21: entries 21 to 40 are gone"


def test_an_older_copy_is_found_against_the_checkpoint_kept_at_home(past: Past) -> None:
    workspace = past.place.open()
    kept = past.place.home.checkpoint_file("default")
    assert problems(workspace) == [f"checkpoint kept in {kept}: {GONE}"]


def test_an_older_copy_is_neither_signed_nor_continued(past: Past, tmp_path: Path) -> None:
    workspace = past.place.open()
    for attempt in (
        workspace.trail.checkpoint,
        lambda: workspace.prove(3),
        lambda: workspace.trail.publish(tmp_path / "public"),
        lambda: workspace.append(record(1)),
        lambda: workspace.trail.erase(3, reason="law", by="counsel"),
        workspace.trail.rotate_key,
    ):
        with pytest.raises(IntegrityError, match="rolled back or rewritten"):
            attempt()
    assert workspace.trail.size == 21
    assert past.place.home.kept_checkpoint("default") == past.late


def test_an_older_copy_that_went_another_way_is_found(past: Past, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    shutil.copytree(past.place.home.folder / "keys", folder / "keys")
    elsewhere = past.place.open(home=folder)
    elsewhere.trail.append_many([record(number) for number in range(100, 140)])
    (problem,) = problems(past.place.open())
    assert problem.endswith("does not match: the first 41 entries changed")


def test_a_checkpoint_from_outside_finds_what_the_home_does_not_know(past: Past) -> None:
    past.place.home.checkpoint_file("default").unlink()
    workspace = past.place.open()
    assert problems(workspace, since=past.early) == []
    assert problems(workspace, since=past.late) == [f"checkpoint given with --since: {GONE}"]


def test_an_audit_says_with_what_it_compared(past: Past) -> None:
    workspace = past.place.open()
    kept = past.place.home.checkpoint_file("default")
    both = workspace.trail.audit(since=past.early).compared_with
    assert both == (f"checkpoint kept in {kept}", "checkpoint given with --since")
    kept.unlink()
    alone = workspace.trail.audit()
    assert alone.compared_with == ()
    assert alone.holds


def test_a_checkpoint_of_another_log_or_of_no_log_is_told_apart(place: Place, past: Past) -> None:
    past.place.home.checkpoint_file("default").unlink()
    workspace = past.place.open()
    other = past.place.open("other", home=past.place.home.folder).trail.checkpoint()
    (problem,) = problems(workspace, since=other)
    assert problem.startswith("checkpoint given with --since: is of another log: evidentia/")
    (problem,) = problems(workspace, since="nonsense")
    assert problem.startswith("checkpoint given with --since: not a signed note")


def test_a_checkpoint_signed_by_a_stranger_is_not_believed(past: Past, tmp_path: Path) -> None:
    forger = past.place.open(home=tmp_path / "forger")
    forger.trail.rotate_key(lost="so they say")
    forged = forger.trail.checkpoint()
    past.place.close()
    note = past.late.rpartition("\n\n")[0] + "\n\n" + forged.rpartition("\n\n")[2]
    honest = past.place.open(home=tmp_path / "honest")
    assert any("does not match the text" in problem for problem in problems(honest, since=note))


def test_one_entry_that_is_gone_is_named_as_one(sqlite_place: Place, tmp_path: Path) -> None:
    database = sqlite_place.home.database
    workspace = sqlite_place.open()
    workspace.append(record(1))
    workspace.trail.checkpoint()
    sqlite_place.close()
    shutil.copy(database, tmp_path / "old")
    workspace = sqlite_place.open()
    workspace.append(record(2))
    workspace.trail.checkpoint()
    sqlite_place.close()
    for file in database.parent.glob("evidentia.db*"):
        file.unlink()
    shutil.copy(tmp_path / "old", database)
    (problem,) = problems(sqlite_place.open())
    assert problem.endswith("covers 3 entries, the log has 2: entry 2 is gone")


def test_a_log_that_is_gone_altogether_is_found(past: Past) -> None:
    if past.place.is_sqlite:
        past.place.home.database.unlink()
        workspace = past.place.open()
    else:
        workspace = past.place.open()
        with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
            connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
            for table in ("heads", "entries", "bodies", "tiles", "checkpoints", "keys"):
                connection.exec_driver_sql(f"DELETE FROM trail_{table}")
    (problem,) = problems(workspace)
    assert problem.endswith("covers 41 entries, and the log is gone: entries 0 to 40")
    (first, second) = problems(workspace, since="nonsense")
    assert "not a signed note" in first
    assert "the log is gone" in second


def test_a_checkpoint_at_home_that_was_damaged_is_reported(past: Past) -> None:
    file = past.place.home.checkpoint_file("default")
    file.write_bytes(file.read_bytes()[:-20] + b"\xff\xfe")
    (problem,) = problems(past.place.open())
    assert problem.startswith(f"checkpoint kept in {file}: not a signed")


@pytest.mark.parametrize("seed", range(12))
def test_what_a_damaged_wal_file_loses_is_found(
    sqlite_place: Place, tmp_path: Path, seed: int
) -> None:
    workspace = sqlite_place.open()
    for number in range(40):
        workspace.append(record(number))
    workspace.trail.checkpoint()
    copy = tmp_path / "copy"
    shutil.copytree(sqlite_place.home.folder, copy)
    (copy / "evidentia.db-shm").unlink()
    wal = copy / "evidentia.db-wal"
    data = bytearray(wal.read_bytes())
    chance = random.Random(seed)
    at = chance.randrange(32, len(data)) if seed else 33
    data[at] ^= 1 << chance.randrange(8)
    wal.write_bytes(data)
    damaged = Place(copy)
    try:
        report = damaged.open().trail.audit()
    except (IntegrityError, EnvironmentProblem):
        return
    finally:
        damaged.close()
    assert report.size < 41
    assert all(finding.what.startswith("checkpoint kept in") for finding in report.findings)
    assert any("gone" in finding.problem for finding in report.findings)


def test_what_was_not_finished_is_taken_back_in_a_copy_that_is_only_read(
    sqlite_place: Place,
) -> None:
    """A file with a rollback journal is never read without: what it takes back was not done."""
    workspace = sqlite_place.open()
    workspace.trail.append(record(0))
    sqlite_place.close()
    path = sqlite_place.home.database
    journal = path.with_name(f"{path.name}-journal")
    writing = pysqlite3.connect(path, isolation_level=None)
    for sql in ("PRAGMA journal_mode = DELETE", "PRAGMA cache_size = 1", "BEGIN IMMEDIATE"):
        writing.execute(sql)
    writing.execute("CREATE TABLE half_made (data)")
    rows = [(bytes(4_000),) for _ in range(200)]
    writing.executemany("INSERT INTO half_made VALUES (?)", rows)
    before, kept = path.read_bytes(), journal.read_bytes()
    writing.close()
    path.write_bytes(before)
    journal.write_bytes(kept)
    database = Database.copied(path)
    with database.read() as connection:
        found = fetch(connection, "SELECT name FROM sqlite_master WHERE name = 'half_made'")
    database.close()
    assert found == []

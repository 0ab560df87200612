"""Two neighbouring versions of the program on one schema, with a made-up next version."""

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Self

import psycopg
import pytest
from sqlalchemy import make_url

import tiers
from evidentia.errors import EnvironmentProblem, IntegrityError
from evidentia.proof.files import read_key
from evidentia.store import listing, schema
from evidentia.store.backup_places import BackupPlace
from evidentia.store.database import Database, LockWaitError, ServerOptions, run, stamp
from evidentia.store.opening import open_database
from evidentia.store.sql import activity
from evidentia.workspace.backups import make_backup, verify_backup
from evidentia.workspace.opened import Opened
from forking import Child
from next_program import CONTRACTED, EXPANDED, NAME, NextProgram
from places import Place, record
from postgres import ROLES, PostgresServer

pytestmark = [
    pytest.mark.as_owner,
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded"),
]

AFTER = f"has schema {CONTRACTED}, made by a newer program; this one knows"
WRITERS = 3
"""How many threads of each program append."""


@pytest.fixture(scope="module")
def following(tmp_path_factory: pytest.TempPathFactory) -> NextProgram:
    """Give the next program, without its listings."""
    return NextProgram(tmp_path_factory.mktemp("next"))


@pytest.fixture(scope="module")
def following_sqlite(
    following: NextProgram, tmp_path_factory: pytest.TempPathFactory
) -> NextProgram:
    for head in (EXPANDED, CONTRACTED):
        folder = tmp_path_factory.mktemp("listed")
        following.list_schema(head, Database.sqlite(folder / "evidentia.db"))
    return following


@pytest.fixture(scope="module")
def following_postgres(following: NextProgram, postgres: PostgresServer) -> NextProgram:
    for head in (EXPANDED, CONTRACTED):
        with postgres.fresh_database() as url:
            following.list_schema(head, Database.server(url))
    return following


def upgraded(place: Place, *, contract: bool, tell: schema.Tell = lambda _: None) -> bool:
    """Upgrade as `evidentia db upgrade` does, as whichever program this process is now."""
    database, _ = open_database(place.url, home=place.home.folder)
    try:
        return schema.upgrade(database, contract=contract, tell=tell)
    finally:
        database.close()


class Appending:
    """A process with some threads that append until it is told to stop; then it audits."""

    def __init__(
        self, place: Place, name: str, folder: Path, following: NextProgram | None
    ) -> None:
        self.said = folder / f"{name}.said"
        self._stop = folder / f"{name}.stop"
        self._ready = folder / f"{name}.ready"
        self._place, self._following = place, following
        self._child = Child(self._work)

    def __enter__(self) -> Self:
        wait_until(self._ready.exists)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None and self._child.pid:
            self._child.kill()

    def end(self) -> int:
        """Have it stop; return how many records it appended, none of which may have failed."""
        self._stop.touch()
        self._child.end()
        count, problems = self.said.read_text().split("\n", 1)
        assert not problems, problems
        return int(count)

    def _work(self) -> None:
        with ExitStack() as stack:
            if self._following is not None:
                stack.enter_context(self._following.become(EXPANDED))
            workspace = Place(self._place.home.folder, self._place.url).open()
            counts, problems = [0] * WRITERS, list[str]()

            def append(number: int) -> None:
                while not self._stop.exists():
                    try:
                        workspace.append(record(counts[number]))
                    except Exception as error:  # noqa: BLE001 - any at all is told
                        problems.append(repr(error))
                        return
                    counts[number] += 1
                    if sum(counts) > WRITERS:
                        self._ready.touch()

            threads = [threading.Thread(target=append, args=(n,)) for n in range(WRITERS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            workspace.close()
            self.said.write_text("\n".join((str(sum(counts)), *problems, *([""] * (not problems)))))


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def signed_by_next(place: Place) -> int:
    """Return how many checkpoints the next program wrote."""
    database, _ = open_database(place.url, home=place.home.folder)
    sql = "SELECT count(*) FROM trail_checkpoints WHERE program = ?"
    with database.read() as connection:
        found: int = run(connection, sql, (NAME,)).scalar_one()
    database.close()
    return found


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_neighbours_append_at_once_while_the_schema_is_upgraded_and_both_audits_know_it(
    request: pytest.FixtureRequest, kind: str, tmp_path: Path
) -> None:
    place: Place = request.getfixturevalue(f"{kind}_place")
    following: NextProgram = request.getfixturevalue(f"following_{kind}")
    place.open().append(record(0))
    place.close()
    with Appending(place, "old", tmp_path, None) as old:
        with following.become(EXPANDED):
            assert upgraded(place, contract=False)
            assert not upgraded(place, contract=False)
        with Appending(place, "next", tmp_path, following) as newer:
            time.sleep(tiers.count(30, short=1) / 10)
            count = old.end() + newer.end()
    assert count >= 2 * WRITERS

    workspace = place.open()
    rows = "SELECT count(*) FROM trail_checkpoints WHERE program = ?"
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        by_next = run(connection, rows, (NAME,)).scalar_one()
        assert (
            0
            < by_next
            < connection.exec_driver_sql("SELECT count(*) FROM trail_checkpoints").scalar_one()
        )
    report = workspace.trail.audit()
    assert report.size == count + 2  # the first one, and the log's key
    assert report.findings == ()
    assert not report.holds
    assert f"the schema is {EXPANDED}, and this program knows" in str(report.unjudged)
    assert "trail_checkpoints_named" in str(report.unjudged)
    parts = workspace.audit().findings
    assert len(parts) == 1
    assert f"the schema is {EXPANDED}" in parts[0]
    place.close()
    for head in (EXPANDED, CONTRACTED) if kind == "postgres" else (EXPANDED,):
        with following.become(head):
            report = place.open().trail.audit()
            assert report.holds, report.findings
            assert [EXPANDED in note for note in report.notes] == [True] * (head == CONTRACTED)
            place.close()


def test_a_contraction_waits_for_older_programs_to_be_gone_and_then_tells_them(
    postgres_place: Place, following_postgres: NextProgram
) -> None:
    old = postgres_place.open()
    old.append(record(1))
    with following_postgres.become():
        with pytest.raises(
            EnvironmentProblem, match="would stop programs that are connected"
        ) as no:
            upgraded(postgres_place, contract=True)
        assert f"evidentia schema {int(EXPANDED) - 1:04d} at this machine: " in str(no.value)
    old.append(record(2))  # the expansion is there, and nothing else
    old.close()
    with following_postgres.become():
        assert upgraded(postgres_place, contract=True)
        assert not upgraded(postgres_place, contract=True)
        newer = postgres_place.open()
        newer.append(record(3))
        assert newer.trail.audit().holds
        postgres_place.close()
    with pytest.raises(EnvironmentProblem, match=AFTER):
        postgres_place.open()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_program_that_runs_while_the_schema_is_contracted_is_told_to_be_upgraded(
    request: pytest.FixtureRequest, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place: Place = request.getfixturevalue(f"{kind}_place")
    following: NextProgram = request.getfixturevalue(f"following_{kind}")
    old = place.open()
    old.append(record(1))
    with following.become():
        monkeypatch.setattr(activity, "programs", lambda _: [])
        assert upgraded(place, contract=True)
    with pytest.raises(EnvironmentProblem, match=AFTER):
        old.append(record(2))
    with pytest.raises(EnvironmentProblem, match=AFTER):
        schema.require_current(old.opened.database)
    with following.become():
        newer = place.open()
        newer.append(record(2))
        assert newer.trail.audit().holds


@pytest.mark.parametrize(
    ("role", "where"),
    [(ROLES.owner, "a machine that this role is not told"), ("postgres", "this machine")],
)
def test_whoever_upgrades_sees_who_is_connected_and_no_place_that_is_made_up(
    postgres_place: Place, postgres: PostgresServer, role: str, where: str
) -> None:
    """PostgreSQL tells the owner of the application's connections, and not from where."""
    url = str(postgres_place.url)
    running = Database.server(postgres.as_application(url), ServerOptions(schema="0019"))
    asking = make_url(url).update_query_dict({"options": f"-c role={role}"})
    database = Database.server(asking.render_as_string(hide_password=False))
    with running.read(), database.read() as connection:
        (found,) = activity.programs(connection)
    assert (found.schema, found.host, found.connections) == ("0019", where, 1)
    running.close()
    database.close()


def test_a_program_before_its_contraction_is_done_says_so_and_works(
    postgres_place: Place, following_postgres: NextProgram
) -> None:
    with following_postgres.become():
        database = Database.server(str(postgres_place.url))
        now, later = schema.planned(database, contract=False)
        assert [(one.revision, one.phase) for one in now] == [(EXPANDED, "expansion")]
        assert [(one.revision, one.phase) for one in later] == [(CONTRACTED, "contraction")]
        assert "older than schema" in str(later[0])
        with pytest.raises(EnvironmentProblem, match=f"needs {CONTRACTED}: run 'evidentia db"):
            schema.require_current(database)
        assert schema.upgrade(database, contract=False)
        schema.require_current(database)
        database.close()
        workspace = postgres_place.open()
        workspace.append(record(1))
        report = workspace.trail.audit()
        assert report.holds
        assert "'evidentia db upgrade --contract'" in report.notes[0]
        with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
            run(connection, "DROP TRIGGER trail_checkpoints_named ON trail_checkpoints")
        report = workspace.trail.audit()
        assert [one.what for one in report.findings] == ["schema"]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_backup_from_before_a_contraction_is_restored_to_what_was_there_then(
    request: pytest.FixtureRequest, kind: str, tmp_path: Path
) -> None:
    """Its rows need not have what the contraction demands of new ones."""
    place: Place = request.getfixturevalue(f"{kind}_place")
    following: NextProgram = request.getfixturevalue(f"following_{kind}")
    workspace = place.open()
    workspace.append(record(1))
    key = read_key(workspace.trail.public_key())
    place.close()
    store = BackupPlace(str(tmp_path / "store"))
    with following.become(EXPANDED):
        assert upgraded(place, contract=False)
    with following.become():
        home, server = place.home, ServerOptions()
        database, _ = open_database(place.url, home=home.folder, server=server)
        with closing(Opened(database, home)) as opened:
            made = make_backup(opened, store)
        assert made.manifest.revision == EXPANDED
        report = verify_backup(store, trusted=[key])
        assert (report.manifest.revision, report.findings) == (EXPANDED, ())


def test_an_upgrade_waits_for_no_lock_for_long_and_tries_again(
    postgres_place: Place, following_postgres: NextProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "_LOCK_SECONDS", 0.1)
    monkeypatch.setattr(schema, "_PAUSE_SECONDS", 0.05)
    told: list[str] = []
    reading = psycopg.connect(str(postgres_place.url))
    reading.execute("SELECT count(*) FROM trail_checkpoints")

    def tell(said: str) -> None:
        told.append(said)
        if "trying again" in said and len(told) > 2:
            reading.close()

    with following_postgres.become(EXPANDED):
        assert upgraded(postgres_place, contract=False, tell=tell)
        assert any("others hold what it needs" in said for said in told)
        monkeypatch.setattr(schema, "_TRIES", 1)
    with following_postgres.become(), psycopg.connect(str(postgres_place.url)) as again:
        again.execute("SELECT count(*) FROM trail_checkpoints")
        with pytest.raises(LockWaitError, match="another connection held a lock"):
            upgraded(postgres_place, contract=True)


def test_processes_that_expand_at_once_do_it_once(
    postgres_place: Place, following_postgres: NextProgram, tmp_path: Path
) -> None:
    done = tmp_path / "done"

    def work() -> None:
        with following_postgres.become(EXPANDED):
            if upgraded(postgres_place, contract=False):
                with done.open("a") as file:
                    file.write("x")

    for child in [Child(work) for _ in range(3)]:
        child.end()
    assert done.read_text() == "x"


# A schema that only pretends to be newer


def pretend(place: Place, *statements: str) -> None:
    """Have the database say that it is of a newer program, and serves this one."""
    database, _ = open_database(place.url, home=place.home.folder)
    with database.write() as connection:
        run(connection, "UPDATE alembic_version SET version_num = '9998'")
        stamp(connection, 9998_0001)
        for statement in statements:
            run(connection, statement)
    database.close()


def test_whoever_pretends_a_newer_schema_hides_no_guard_and_gets_no_clean_audit(
    place: Place,
) -> None:
    place.open().append(record(1))
    place.close()
    on = "" if place.is_sqlite else " ON trail_keys"
    pretend(place)
    report = place.open().trail.audit()
    assert (report.findings, report.holds) == ((), False)
    assert "the schema is 9998" in str(report.unjudged)
    assert place.open().audit().holds is False
    with pytest.raises(IntegrityError, match="gets no checkpoint: the schema is 9998"):
        place.open().trail.keep_checkpoint(report)
    pretend(place, f"DROP TRIGGER trail_keys_update{on}", "CREATE INDEX extra ON trail_keys (seq)")
    report = place.open().trail.audit()
    assert ["trigger" in one.problem and one.problem[0] for one in report.findings] == ["-"]
    assert "+index" in str(report.unjudged)


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE trail_keys RENAME COLUMN public_key TO key",
        "DROP TABLE trail_keys",
    ],
)
def test_what_a_pretended_schema_lacks_is_wrong(sqlite_place: Place, statement: str) -> None:
    sqlite_place.open().append(record(1))
    sqlite_place.close()
    database, _ = open_database(home=sqlite_place.home.folder)
    pretend(sqlite_place, statement)
    with database.read() as connection:
        found = listing.compared(connection)
    database.close()
    assert any(line.startswith("-table trail_keys") for line in found.wrong)
    assert found.left is not None


def test_a_column_that_a_newer_schema_added_is_not_judged(sqlite_place: Place) -> None:
    pretend(sqlite_place, "ALTER TABLE trail_keys ADD COLUMN extra TEXT")
    with sqlite_place.open().opened.database.read() as connection:
        found = listing.compared(connection)
    assert found.wrong == ()
    assert [line[:17] for line in found.unjudged] == ["+table trail_keys"]


def test_what_a_schema_says_of_programs_counts_for_its_own_revision(place: Place) -> None:
    database = place.open().opened.database
    with database.write() as connection:
        assert schema.state(connection) == (schema.head(database), schema.head(database))
        run(connection, "UPDATE alembic_version SET version_num = '9998'")
        assert schema.state(connection) == ("9998", None)
        stamp(connection, 9998_0019)
        assert schema.state(connection) == ("9998", "0019")


@pytest.mark.parametrize("said", ["", "evidentia x", "evidentia 1234567890", "other 99980001"])
def test_a_comment_of_others_says_nothing_of_programs(postgres_place: Place, said: str) -> None:
    database = postgres_place.open().opened.database
    with database.write() as connection:
        run(connection, f"COMMENT ON TABLE alembic_version IS '{said}'")
        assert schema.state(connection).serves is None

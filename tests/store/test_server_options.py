"""How PostgreSQL is connected to, for how long, and what is said when that is not enough."""

import socket
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from evidentia.errors import EnvironmentProblem, IntegrityError
from evidentia.loading import auditor
from evidentia.loading.pieces import ByProcesses
from evidentia.store import database as databases
from evidentia.store.database import Database, LockWaitError, ServerOptions, run, unhurried
from evidentia.store.ranges import Reading
from evidentia.workspace import bulk, judging, open_workspace, trail
from evidentia.workspace.acting import Acting
from evidentia.workspace.reopening import reopening
from forking import Child
from places import Place, record
from postgres import PostgresServer

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")

SETTING = "SELECT current_setting(?)"
LONG = "SELECT pg_sleep(1.5)"


@pytest.fixture
def url(postgres_place: Place) -> str:
    return str(postgres_place.url)


def setting(database: Database, name: str) -> str:
    with database.read() as connection:
        return str(run(connection, SETTING, (name,)).scalar())


def test_what_is_said_of_connections_is_so(url: str) -> None:
    options = ServerOptions(connections=12, lock_seconds=7, statement_seconds=9, schema="0042")
    database = Database.server(url, options)
    assert database.connections == 12
    said = {
        "lock_timeout": "7s",
        "statement_timeout": "9s",
        "application_name": "evidentia schema 0042",
        "client_connection_check_interval": "2s",
    }
    assert {name: setting(database, name) for name in said} == said
    with database.read() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        parameters = driver.info.get_parameters()
    assert (parameters["connect_timeout"], parameters["keepalives_idle"]) == ("10", "30")
    database.close()


def test_what_the_address_says_counts_more(url: str) -> None:
    more = "&application_name=shop&options=-clock_timeout%3D3s%20-cstatement_timeout%3D4s"
    database = Database.server(url + more, ServerOptions(statement_seconds=9, schema="0042"))
    assert setting(database, "lock_timeout") == "3s"
    assert setting(database, "statement_timeout") == "4s"
    assert setting(database, "application_name") == "shop schema 0042"
    again = Database.at(database.address)
    assert setting(again, "application_name") == "shop schema 0042"
    for one in (database, again):
        one.close()


def test_a_statement_has_its_time_unless_it_was_said_to_take_long(url: str) -> None:
    database = Database.server(url, ServerOptions(statement_seconds=1))
    for block in (database.read, database.write):
        with (
            pytest.raises(
                EnvironmentProblem, match=r"took longer than it may .* have it done as a"
            ),
            block() as connection,
        ):
            run(connection, LONG)
    with unhurried(), database.read() as connection:
        run(connection, LONG)
    assert setting(database, "statement_timeout") == "1s"
    database.close()


def test_an_audit_takes_as_long_as_it_takes(
    postgres_place: Place, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ServerOptions(statement_seconds=1)
    workspace = open_workspace(url, home=postgres_place.home.folder, server=options)
    postgres_place.keep(workspace)
    workspace.append(record(1))
    audit = trail.audit_log_of

    def slow(*arguments: object, **named: object) -> object:
        with workspace.opened.database.of(workspace.tenant).read() as connection:
            run(connection, LONG)
        return audit(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(trail, "audit_log_of", slow)
    assert workspace.trail.audit().holds


@pytest.mark.as_owner
def test_whoever_waits_for_a_lock_is_told_after_its_time(url: str) -> None:
    database = Database.server(url, ServerOptions(lock_seconds=1))
    with psycopg.connect(url) as holding:
        holding.execute("LOCK TABLE trail_keys")
        with pytest.raises(LockWaitError, match="held a lock for longer"), database.read() as one:
            run(one, "SELECT count(*) FROM trail_keys")
    database.close()


def test_whoever_wants_one_connection_too_many_is_told_what_to_do(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "_POOL_SECONDS", 0.1)
    database = Database.server(url, ServerOptions(connections=2))
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(database.read())
        with pytest.raises(EnvironmentProblem, match=r"all 2 connections .*DATABASE_CONNECTIONS"):
            stack.enter_context(database.read())
    database.ask(lambda connection: run(connection, "SELECT 1").scalar())
    database.close()


@pytest.mark.as_owner
def test_a_role_without_a_connection_left_is_told(postgres: PostgresServer, url: str) -> None:
    name = make_url(url).database
    postgres.execute(
        f"ALTER ROLE locked CONNECTION LIMIT 0; GRANT CONNECT ON DATABASE {name} TO locked"
    )
    database = Database.server(url.replace("postgres@", "locked:right@"))
    with pytest.raises(EnvironmentProblem, match="too many connections for role"):
        database.ask(lambda connection: run(connection, "SELECT 1").scalar())
    postgres.execute("ALTER ROLE locked CONNECTION LIMIT -1")
    database.close()


def test_a_server_that_does_not_answer_is_waited_for_no_longer_than_said(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        database = Database.server(
            f"postgresql://u@127.0.0.1:{port}/d", ServerOptions(connect_seconds=1)
        )
        with pytest.raises(EnvironmentProblem, match=r"failed: .*timeout"):
            database.ask(lambda connection: run(connection, "SELECT 1").scalar())
        database.close()


@pytest.mark.as_owner
def test_what_a_killed_client_held_is_free_again(url: str, tmp_path: Path) -> None:
    """It is killed inside a statement: the server would notice when that ends, in ten minutes."""
    holds = tmp_path / "holds"

    def hold_it() -> None:
        database = Database.server(url)
        with database.write() as connection:
            run(connection, "LOCK TABLE trail_keys")
            threading.Timer(0.3, holds.touch).start()
            run(connection, "SELECT pg_sleep(600)")

    with Child(hold_it) as child:
        while not holds.exists():
            time.sleep(0.02)
        child.kill()
    database = Database.server(url, ServerOptions(lock_seconds=30))
    with database.read() as connection:
        assert run(connection, "SELECT count(*) FROM trail_keys").scalar() == 0
    database.close()


def test_connections_that_the_server_ended_are_made_again(postgres_place: Place, url: str) -> None:
    workspace = postgres_place.open()
    workspace.append(record(1))
    with psycopg.connect(url, autocommit=True) as ending:
        sql = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        ending.execute(sql)
    workspace.append(record(2))
    assert len(workspace.trail.records()) == 2


@pytest.mark.parametrize("fresh", [60.0, 0.0])
def test_a_server_is_asked_whether_a_connection_is_there_only_where_it_waited_long(
    url: str, monkeypatch: pytest.MonkeyPatch, fresh: float
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(databases, "_FRESH_SECONDS", fresh)
    database = Database.server(url)
    setting(database, "server_version")
    ping = database.engine.dialect.do_ping

    def asking(connection: Any) -> bool:
        asked.append("asked")
        return ping(connection)

    monkeypatch.setattr(database.engine.dialect, "do_ping", asking)
    for _ in range(3):
        setting(database, "server_version")
    database.close()
    assert asked == ([] if fresh else ["asked"] * 3)


def test_a_connection_that_is_closed_while_no_one_uses_it_is_made_again(url: str) -> None:
    database = Database.server(url)
    with database.read() as connection:
        driver = connection.connection.driver_connection
    assert driver is not None
    driver.close()
    assert setting(database, "server_version")
    database.close()


def test_a_transaction_begins_on_another_connection_where_the_server_has_just_ended_its_own(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "said_at", lambda _files, _seconds: [])  # it is not heard yet
    database = Database.server(url)
    setting(database, "server_version")
    with psycopg.connect(url, autocommit=True) as ending:
        ending.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert setting(database, "server_version")
    database.close()


def test_a_kept_connection_that_the_server_ended_is_not_replaced(url: str) -> None:
    database = Database.server(url)
    with database.keeping() as begin:
        with begin() as connection:
            pid = run(connection, "SELECT pg_backend_pid()").scalar()
        with psycopg.connect(url, autocommit=True) as ending:
            ending.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
        with pytest.raises(EnvironmentProblem), begin():
            pass
    database.close()


def test_after_a_failover_the_new_primary_is_asked_and_a_lost_receipt_is_noticed(
    postgres: PostgresServer, postgres_place: Place, url: str
) -> None:
    postgres_place.open().append(record(1))
    postgres_place.close()
    name = make_url(url).database
    with postgres.standby() as one, postgres.standby() as other:
        other.promote()
        hosts = f"postgresql://postgres@/{name}?host={one.folder},{other.folder}"
        workspace = open_workspace(hosts, home=postgres_place.home.folder)
        workspace.append(record(2))
        other.stop()
        one.promote()
        with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
            run(connection, "DELETE FROM trail_receipts")
        with pytest.raises(IntegrityError, match="it was cut back while it was open"):
            workspace.append(record(3))  # on the one that follows, what was promised is not there
        workspace.close()


@pytest.fixture
def tuned(postgres_place: Place) -> Acting:
    """Give a workspace whose server is connected to in a way of its own."""
    options = ServerOptions(
        connections=12,
        lock_seconds=7,
        statement_seconds=9,
        read_url=f"{postgres_place.url}&application_name=a-replica",
    )
    workspace = open_workspace(
        str(postgres_place.url), home=postgres_place.home.folder, server=options
    )
    postgres_place.keep(workspace)
    workspace.append(record(1))
    return workspace._acting


def is_tuned(database: Database) -> bool:
    """Whether a worker connects as the process that asks, takes its time, and has no replica."""
    said = [setting(database, name) for name in ("lock_timeout", "statement_timeout")]
    return (database.connections, said, database.replica) == (12, ["7s", "0"], None)


def test_workers_of_this_machine_connect_as_who_asks_them(tuned: Acting) -> None:
    told = reopening(tuned)
    assert "a-replica" not in str((told, told.server, told.server and told.server.read_url))
    acting = told.open()
    assert is_tuned(acting.database)
    acting.opened.close()


def test_workers_of_a_cluster_connect_as_who_asks_them(
    tuned: Acting, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Database] = []
    connect = Database.at

    def noted(address: str, options: ServerOptions | None = None) -> Database:
        opened.append(connect(address, options))
        return opened[-1]

    monkeypatch.setattr(Database, "at", noted)
    monkeypatch.setattr(bulk, "limit_threads", lambda _: None)
    place = bulk.place_of(tuned, ByProcesses(1))
    acting = bulk._acting(place)
    bulk._opened.cache_clear()
    bulk.auditing((place, tuned.database.address, False))
    reading = Reading(tuned.database, tuned.tenant)
    (found,) = auditor.share_out(reading, [(0, 1)], 1)  # in a process of its own
    setup = (reading.database.address, reading.database.worker_options, tuned.tenant, False, 0, 1)
    assert auditor._work(setup) == found
    auditor._opened.clear()
    assert len(opened) == 2
    for database in (acting.database, *opened):
        assert is_tuned(database.of(tuned.tenant))
        database.close()


def test_processes_of_a_server_connect_as_it_does(
    tuned: Acting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "limit_threads", lambda _: None)
    place = judging._place(tuned)
    assert place is not None
    opened = judging._opened(place.folder, place.address, place.lake, place.server)
    judging._opened.cache_clear()
    assert is_tuned(opened.database)
    opened.close()

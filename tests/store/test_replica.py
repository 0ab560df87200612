"""What may be old is read from a real replica, and never older than when it was asked for."""

import time
from dataclasses import replace

import psycopg
import pytest
from sqlalchemy import make_url

from evidentia.access.actions import Action
from evidentia.access.guard import TABLE
from evidentia.errors import EnvironmentProblem, InputError
from evidentia.store import replica as replicas
from evidentia.store.database import Database, ServerOptions, run
from evidentia.store.replica import Replica, may_be_old
from evidentia.store.sql import log
from evidentia.workspace import Workspace, open_workspace
from evidentia.workspace.opened import open_all
from places import Place, record
from postgres import PostgresServer, Standby

IS_STANDBY = "SELECT pg_is_in_recovery()"


def name_of(place: Place) -> str:
    return str(place.url).split("/")[3].split("?")[0]


@pytest.fixture
def copied(postgres_place: Place, standby: Standby, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Give a workspace that reads from a replica, which has its database."""
    monkeypatch.setattr(replicas, "_AGAIN_SECONDS", 0.0)
    monkeypatch.setattr(replicas, "_WAIT_SECONDS", 30.0)
    read_url = standby.url(name_of(postgres_place))
    wait_for(read_url)
    options = ServerOptions(read_url=read_url)
    home = postgres_place.home.folder
    workspace = open_workspace(str(postgres_place.url), home=home, server=options)
    postgres_place.keep(workspace)
    workspace.append(record(1))
    assert len(workspace.trail.records()) == 1
    return workspace


def wait_for(url: str) -> None:
    """Wait until a replica has a database that was just made."""
    end = time.monotonic() + 30
    while True:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            assert time.monotonic() < end
            time.sleep(0.02)
        else:
            return


def replica_of(workspace: Workspace) -> Replica:
    found = workspace.opened.database.replica
    assert found is not None
    return found


def test_what_may_be_old_is_read_from_the_replica_and_has_what_was_just_written(
    copied: Workspace,
) -> None:
    replica = replica_of(copied)
    for number in range(2, 12):
        copied.append(record(number))
        used = replica.used
        assert len(copied.trail.records()) == number
        assert replica.used > used
    assert replica.passed_over == 0


def test_another_program_sees_what_was_just_written(
    copied: Workspace, postgres_place: Place
) -> None:
    other = postgres_place.open()
    for number in range(2, 6):
        other.append(record(number))
        assert len(copied.trail.records()) == number
    assert replica_of(copied).passed_over == 0


def test_only_what_was_said_to_be_old_is_read_there(copied: Workspace) -> None:
    database = copied.opened.database
    used = replica_of(copied).used
    for read in (copied.trail.audit, lambda: copied.trail.prove(1)):
        read()
    with database.read() as connection:
        assert run(connection, IS_STANDBY).scalar() is False
    assert replica_of(copied).used == used
    with may_be_old(), database.read() as connection:
        assert run(connection, IS_STANDBY).scalar() is True
    with may_be_old(), may_be_old(old=False), database.read() as connection:
        assert run(connection, IS_STANDBY).scalar() is False


def test_what_is_read_after_a_write_in_the_same_block_is_read_where_it_was_written(
    copied: Workspace,
) -> None:
    database = copied.opened.database
    with may_be_old():
        with database.read() as connection:
            assert run(connection, IS_STANDBY).scalar() is True
        with database.write() as connection:
            run(connection, "SELECT 1")
        with database.read() as connection:
            assert run(connection, IS_STANDBY).scalar() is False


def test_a_replica_that_is_behind_is_passed_over(
    copied: Workspace, standby: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "_WAIT_SECONDS", 0.05)
    with standby.paused():
        copied.append(record(2))
        used = replica_of(copied).used
        assert len(copied.trail.records()) == 2
        assert replica_of(copied).used == used
        monkeypatch.setattr(replicas, "_AGAIN_SECONDS", 3_600.0)
        assert len(copied.trail.records()) == 2
        passed = replica_of(copied).passed_over
    assert len(copied.trail.records()) == 2  # it is not asked again so soon
    assert replica_of(copied).passed_over > passed
    assert replica_of(copied).used == used


def test_a_replica_that_is_stopped_is_passed_over_and_used_again_when_it_is_back(
    copied: Workspace, standby: Standby
) -> None:
    standby.stop()
    copied.append(record(2))
    used = replica_of(copied).used
    assert len(copied.trail.records()) == 2
    assert replica_of(copied).used == used
    standby.start()
    end = time.monotonic() + 30
    while replica_of(copied).used == used:  # until it has caught up
        assert len(copied.trail.records()) == 2
        assert time.monotonic() < end


def test_a_query_that_the_replica_ends_is_asked_of_the_primary(
    copied: Workspace, standby: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[bool] = []
    read_head = log.require_head

    def ending(connection: object, tenant: str) -> object:
        sql = "SELECT pg_backend_pid(), pg_is_in_recovery()"
        pid, is_standby = run(connection, sql).one()  # type: ignore[arg-type]
        ended.append(is_standby)
        if is_standby:
            standby.execute(f"SELECT pg_terminate_backend({pid})")
        return read_head(connection, tenant)  # type: ignore[arg-type]

    monkeypatch.setattr(log, "require_head", ending)
    assert copied.trail.entry(1).entry.seq == 1
    assert ended[0] is True
    assert set(ended[1:]) == {False}


def test_another_database_is_no_replica(
    postgres_place: Place, postgres: PostgresServer, standby: Standby
) -> None:
    with postgres.fresh_database() as other:
        for address in (other, str(postgres_place.url), standby.url("template1")):
            options = ServerOptions(read_url=address)
            workspace = open_workspace(
                str(postgres_place.url), home=postgres_place.home.folder, server=options
            )
            postgres_place.keep(workspace)
            workspace.append(record(1))
            assert workspace.trail.records()
            assert replica_of(workspace).used == 0
            workspace.close()


def test_a_replica_with_another_past_is_passed_over(
    postgres_place: Place, postgres: PostgresServer, standby: Standby
) -> None:
    """As behind a failover: it has more of what was lost than the new primary has of anything."""
    postgres_place.open().append(record(1))
    postgres_place.close()
    name, folder = name_of(postgres_place), postgres_place.home.folder
    wait_for(standby.url(name))
    with postgres.standby() as promoted:
        promoted.promote()
        for number in range(3):
            postgres.execute(f"CREATE TABLE lost_{number} ()", name)
            postgres.execute("SELECT pg_switch_wal()")
        options = ServerOptions(read_url=standby.url(name))
        with open_workspace(promoted.url(name), home=folder, server=options) as workspace:
            workspace.append(record(2))
            assert len(workspace.trail.records()) == 2
            assert replica_of(workspace).used == 0
            assert replica_of(workspace).passed_over


def test_an_audit_of_a_replica_itself_reads_and_changes_nothing(
    copied: Workspace, postgres_place: Place, standby: Standby
) -> None:
    url = standby.url(name_of(postgres_place))
    with open_workspace(url, home=postgres_place.home.folder, create=False) as auditing:
        assert auditing.trail.audit(workers=2).holds
        with pytest.raises(EnvironmentProblem, match="takes no writes: it is a standby"):
            auditing.append(record(2))
    assert copied.trail.size == 2


def test_what_may_be_old_proves_and_permits_nothing() -> None:
    old = {row for row, need in TABLE.items() if need.old}
    assert old
    for row in old:
        part, _, method = row.partition(".")
        assert TABLE[row].action in {Action.LIST, Action.VIEW}, row
        assert part not in {"access", "jobs", "judges", "spans", "whole"}, row
        assert not any(word in method for word in ("prove", "verify", "sign", "key", "hold")), row


def test_whatever_may_be_old_writes_nothing(
    copied: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is asked of a standby alone, where no write would be possible, is answered."""
    database = copied.opened.database
    wrote: list[str] = []
    write = Database.write

    def noted(self: Database) -> object:
        wrote.append("written")
        return write(self)

    monkeypatch.setattr(Database, "write", noted)
    copied.trail.records()
    copied.trail.timeline()
    copied.documents.list()
    copied.documents.search("anything")
    copied.bundles.list()
    copied.ledgers.list()
    copied.ledgers.statistics()
    copied.packs.list()
    copied.packs.queue()
    assert wrote == []
    assert database.replica is not None


def test_options_of_a_replica_are_the_primarys_but_for_its_haste() -> None:
    options = ServerOptions(connections=12, connect_seconds=60, read_url="postgresql://secret@h/d")
    assert options.of_replica() == replace(options, read_url=None, connect_seconds=2)
    assert "secret" not in repr(options)


def test_a_replicas_address_that_cannot_be_read_is_said(postgres_place: Place) -> None:
    with pytest.raises(InputError, match="a 'mysql' database is not supported"):
        Database.server(str(postgres_place.url), ServerOptions(read_url="mysql://h/d"))


def test_the_applications_role_reads_its_tenants_rows_from_the_replica(
    postgres_place: Place, standby: Standby
) -> None:
    url = str(postgres_place.url)
    role = make_url(url).username
    read_url = standby.url(name_of(postgres_place)).replace("postgres@", f"{role}@")
    wait_for(read_url)
    options = ServerOptions(read_url=read_url)
    opened = open_all(url, home=postgres_place.home.folder, server=options)
    for number, tenant in enumerate(("acme", "globex"), 1):
        workspace = opened.for_(tenant)
        workspace.append(record(number))
        found = workspace.trail.records()
        assert [one.obligation_id for one in found] == [f"ob-{number:04d}"]
    assert opened.database.replica is not None
    assert opened.database.replica.used >= 2
    assert opened.database.replica.passed_over == 0
    opened.close()

import importlib
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evidentia.errors import EnvironmentProblem, InputError, IntegrityError
from evidentia.store import database
from evidentia.store.database import Database, is_safe_sqlite, run
from evidentia.store.files import make_folder, write_durably
from evidentia.store.home import Home
from evidentia.store.sql import across, log
from evidentia.workspace import open_workspace
from places import Place, record
from postgres import LOCKED_ROLE, PostgresServer

SECRET = "hunter2"


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ((3, 40, 1), False),
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 44, 9), True),
        ((3, 45, 3), False),
        ((3, 49, 9), False),
        ((3, 50, 6), False),
        ((3, 50, 7), True),
        ((3, 51, 0), False),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 52, 0), True),
        ((3, 53, 4), True),
        ((4, 0, 0), True),
    ],
)
def test_a_release_with_the_wal_reset_bug_is_told_from_one_without(
    version: tuple[int, int, int], *, safe: bool
) -> None:
    assert is_safe_sqlite(version) is safe


def with_sqlites(monkeypatch: pytest.MonkeyPatch, **versions: tuple[int, int, int]) -> None:
    """Have these SQLite modules, and no others."""
    real = importlib.import_module

    def pretend(name: str, package: str | None = None) -> Any:
        if name not in {"sqlite3", "pysqlite3.dbapi2"}:
            return real(name, package)
        version = versions.get(name.split(".", maxsplit=1)[0])
        if version is None:
            raise ImportError(name)
        text = ".".join(map(str, version))
        module = real("pysqlite3.dbapi2")
        known = {"sqlite_version_info": version, "sqlite_version": text}
        return SimpleNamespace(**{**vars(module), **known, "name": name})

    monkeypatch.setattr(importlib, "import_module", pretend)


def test_an_unsafe_sqlite_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_sqlites(monkeypatch, pysqlite3=(3, 51, 1), sqlite3=(3, 40, 1))
    with pytest.raises(EnvironmentProblem) as refused:
        open_workspace(tmp_path)
    message = str(refused.value)
    assert "pysqlite3.dbapi2 has 3.51.1; sqlite3 has 3.40.1" in message
    assert "pip install 'pysqlite3>=0.6.1'" in message
    assert not (tmp_path / "evidentia.db").exists()


def test_pythons_own_sqlite_is_used_where_it_is_the_safe_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for versions in ({"sqlite3": (3, 53, 0)}, {"pysqlite3": (3, 50, 4), "sqlite3": (3, 53, 0)}):
        with monkeypatch.context() as patched:
            with_sqlites(patched, **versions)
            database = Database.sqlite(tmp_path / "a.db")
        assert vars(database.engine.dialect.loaded_dbapi)["name"] == "sqlite3"


def test_what_is_committed_to_sqlite_survives_a_power_cut(sqlite_place: Place) -> None:
    database = sqlite_place.open().opened.database
    for give in (database.read, database.write):
        with give() as connection:
            assert run(connection, "PRAGMA journal_mode").scalar() == "wal"
            assert run(connection, "PRAGMA synchronous").scalar() == 2  # FULL
            assert run(connection, "PRAGMA trusted_schema").scalar() == 0


@pytest.mark.parametrize("name", ["a b", "100%", "what?", "#1", "ü—漢", "a&mode=memory", "';--"])
def test_a_home_may_have_any_name(tmp_path: Path, name: str) -> None:
    with open_workspace(tmp_path / name) as workspace:
        workspace.append(record(1))
        assert workspace.trail.audit(workers=2).holds
    assert (tmp_path / name / "evidentia.db").stat().st_size > 0
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_opening_to_read_never_makes_a_file(tmp_path: Path) -> None:
    database = Database.sqlite(tmp_path / "absent.db", read_only=True)
    with pytest.raises(EnvironmentProblem, match="unable to open"), database.read():
        pass
    assert list(tmp_path.iterdir()) == []


def test_what_was_opened_to_read_cannot_be_written(sqlite_place: Place) -> None:
    sqlite_place.open().append(record(1))
    database = Database.at(str(sqlite_place.home.database))
    with database.read() as connection:
        assert log.require_head(connection, "default").size == 2
    with (
        pytest.raises(EnvironmentProblem, match="readonly"),
        database.write() as connection,
    ):
        run(connection, "CREATE TABLE x (y)")
    database.close()


def test_a_home_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentProblem, match=r"file/home: cannot be made \(Not a directory\)"):
        open_workspace(tmp_path / "file" / "home")


def test_a_file_that_is_no_database_is_said_to_be_damaged(tmp_path: Path) -> None:
    make_folder(tmp_path)
    (tmp_path / "evidentia.db").write_bytes(b"this is no database" * 1000)
    database = Database.sqlite(tmp_path / "evidentia.db")
    with pytest.raises(IntegrityError, match=r"damaged: file is not a database"), database.read():
        pass
    database.close()


def test_a_folder_in_the_place_of_the_database_is_an_environment_problem(tmp_path: Path) -> None:
    database = Database.sqlite(tmp_path)
    with pytest.raises(EnvironmentProblem, match="unable to open"), database.read():
        pass


def test_a_reader_sees_one_moment_whatever_is_appended_meanwhile(place: Place) -> None:
    workspace, other = place.open(), place.open()
    workspace.append(record(1))
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        before = log.require_head(connection, "default")
        other.trail.append_many([record(2), record(3)])
        assert log.require_head(connection, "default") == before
        assert len(log.find_entries(connection, "default")) == 2
    assert workspace.trail.size == 4


def test_what_fails_inside_a_transaction_is_undone(place: Place) -> None:
    workspace = place.open()
    workspace.append(record(1))

    def insert_and_fail() -> None:
        with workspace.opened.database.of(workspace.tenant).write(sequencing=True) as connection:
            run(
                connection,
                "INSERT INTO trail_idempotency (tenant, key, seq) VALUES ('default', 'b', 0)",
            )
            raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        insert_and_fail()
    assert workspace.trail.audit().holds


def test_rows_are_streamed_from_the_first_to_the_last(place: Place) -> None:
    workspace = place.open()
    workspace.trail.append_many([record(number) for number in range(2_500)])
    with workspace.opened.database.of(workspace.tenant).read() as connection:
        rows = [row[0] for row in log.entries_between(connection, "default", 0, 2_500)]
        first = next(log.entries_between(connection, "default", 7, 9))
    assert rows == list(range(2_500))
    assert first[0] == 7


def test_a_statement_that_makes_no_sense_is_an_environment_problem(place: Place) -> None:
    database = place.open().opened.database
    with pytest.raises(EnvironmentProblem, match="failed:"), database.read() as connection:
        run(connection, "SELECT nothing FROM nowhere")
    with pytest.raises(EnvironmentProblem, match="failed:"), database.read() as connection:
        run(connection, "SELECT 1 WHERE 1 = 0").scalar_one()


# The server's address


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://user:{SECRET}@host:port/name",
        f"postgresql://user:{SECRET}@[::1/name",
        f"mysql://user:{SECRET}@host/name",
        f"sqlite:///{SECRET}",
        f"://{SECRET}",
        f"postgresql://user:a@{SECRET}@host/name",
        f"postgresql://user:a@{SECRET}/b@host/name",
        f"postgresql://user:a/b@{SECRET}@host/name",
        f"postgresql://user:a:b@c/{SECRET}@host/name",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(InputError, match="postgresql://") as refused:
        open_workspace(url)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://user:{SECRET}@127.0.0.1:1/name",
        f"postgresql+psycopg://user:{SECRET}@127.0.0.1:1/name",
        f"postgresql://user@127.0.0.1:1/name?password={SECRET}&connect_timeout=2",
    ],
)
def test_a_server_that_cannot_be_reached_is_named_without_its_password(url: str) -> None:
    with pytest.raises(EnvironmentProblem, match=r"127\.0\.0\.1.*onnection refused") as refused:
        open_workspace(url)
    assert SECRET not in str(refused.value)


def test_a_wrong_password_is_said_to_be_wrong_and_not_shown(postgres: PostgresServer) -> None:
    url = postgres.url("postgres", f"{LOCKED_ROLE}:{SECRET}")
    with pytest.raises(EnvironmentProblem, match="password authentication failed") as refused:
        open_workspace(url)
    assert SECRET not in str(refused.value)
    database = Database.server(postgres.url("postgres", f"{LOCKED_ROLE}:right"))
    with database.read() as connection:
        assert run(connection, "SELECT current_user").scalar() == LOCKED_ROLE
    assert "right" not in database.where
    assert "right" in database.address
    database.close()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("locked:wrong@/postgres?host={}", r"look at the user and the password"),
        ("postgres@/not_there?host={}", r'"not_there" does not exist: make it'),
        ("postgres@/postgres?host={}&sslmod=x", r"correct what stands behind the '\?'"),
        ("postgres@/postgres?host=/nowhere", r"is that where PostgreSQL is, and does it run\?"),
        ("postgres@127.0.0.1:1/postgres", r"is that where PostgreSQL is, and does it run\?"),
    ],
)
def test_who_cannot_connect_is_told_what_to_do(
    postgres: PostgresServer, address: str, said: str
) -> None:
    with pytest.raises(EnvironmentProblem, match=said):
        open_workspace(f"postgresql://{address.format(postgres.data)}")


def test_without_the_driver_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(EnvironmentProblem, match=r"pip install 'evidentia\[postgres\]'"):
        open_workspace("postgresql://user@host/name")


def test_a_connection_that_the_server_ended_is_replaced(
    postgres: PostgresServer, postgres_place: Place
) -> None:
    workspace = postgres_place.open()
    workspace.append(record(1))
    name = workspace.opened.database.engine.url.database
    postgres.execute(
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    )
    workspace.append(record(2))
    assert workspace.trail.size == 3


# Files


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    write_durably(path, b"one")
    write_durably(path, b"two", mode=0o600)
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_a_write_that_fails_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_durably(path, b"old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(EnvironmentProblem, match=r"file: cannot be written \(No space left"):
        write_durably(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_stands_in_the_way_at_home_is_named(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for file in (home.checkpoint_file("default"), home.keys.file("default", "00000000")):
        file.mkdir(parents=True)
    with pytest.raises(EnvironmentProblem, match=r"default\.txt: cannot be read"):
        home.kept_checkpoint("default")
    with pytest.raises(EnvironmentProblem, match=r"00000000\.pem: cannot be read"):
        home.keys.load("default", "00000000", "name")


# Waiting


def test_an_append_does_not_wait_for_ever_behind_a_held_lock(
    postgres_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres_place.open().append(record(1))
    postgres_place.close()
    monkeypatch.setattr(database, "_LOCK_SECONDS", 1)
    workspace, other = postgres_place.open(), postgres_place.open()
    with other.opened.database.of(other.tenant).write(sequencing=True) as holding:
        log.lock_head(holding, "default", other.opened.new_origin)
        with pytest.raises(EnvironmentProblem, match=r"held a lock .*pg_blocking_pids.* try again"):
            workspace.append(record(2))
    assert workspace.append(record(2)).seq == workspace.trail.size - 1
    assert workspace.trail.audit().holds


def test_how_long_is_waited_can_be_said_in_the_url(postgres_place: Place) -> None:
    url = f"{postgres_place.url}{'&' if '?' in str(postgres_place.url) else '?'}"
    for said, meant in (("options=-clock_timeout%3D7s", "7s"), ("", "1min")):
        opened = Database.server(f"{url}{said}")
        with opened.read() as connection:
            assert run(connection, "SHOW lock_timeout").scalar() == meant
        opened.close()


def test_a_database_that_cannot_be_opened_says_why(tmp_path: Path) -> None:
    opened = Database.sqlite(tmp_path / "absent" / "evidentia.db")
    with pytest.raises(EnvironmentProblem, match=r"unable to open .* \(No such file or directory"):
        opened.ask(across.tenants)


def test_closing_works_where_no_turn_can_be_taken(
    sqlite_place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = sqlite_place.open()
    workspace.append(record(1))

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        with pytest.raises(EnvironmentProblem, match="No space left on device"):
            workspace.append(record(2))
        workspace.close()
    assert open_workspace(sqlite_place.home.folder).trail.size == 2  # with the announced key

"""Where a workspace is: what the settings say, and the home that is named, which wins over them."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import anyio
import pytest

from cli_running import Cli, ndjson, record
from evidentia import cli as commands
from evidentia.jobs.ray_workers import RayWorkers
from evidentia.server import listening
from evidentia.store.database import Database, ServerOptions
from evidentia.workspace.opened import Opened
from places import Place
from postgres import PostgresServer
from seaweed import Bucket

NOWHERE = "postgresql://nobody@127.0.0.1:1/none"
CLUSTER = "ray://127.0.0.1:1"
ELSEWHERE = {
    "DATABASE_URL": NOWHERE,
    "DATABASE_READ_URL": NOWHERE,
    "LAKE": "s3://not-there/lake",
    "KEYS": "other-keys",
    "CHECKPOINTS": "s3://not-there/checkpoints",
    "RAY": CLUSTER,
    "OPENFGA_URL": "http://127.0.0.1:1",
    "OPENFGA_STORE_ID": "01STBB00000000000000000001",
    "OPENFGA_MODEL_ID": "01STBB00000000000000000002",
}
PAIR: dict[str, object] = {"evidence": "It is red.", "claim": "It is red.", "label": "supported"}
OPENING: dict[str, list[tuple[str, ...]]] = {
    "options.py": [("trail", "append", "records.ndjson"), ("verify",)],
    "serve.py": [("serve", "--port", "0")],
    "mcp.py": [("mcp",)],
    "backup.py": [("backup", "new"), ("backup", "verify", "nightly")],
    "restoring.py": [("restore", "nightly")],
    "database.py": [("db", "status"), ("db", "upgrade")],
    "judge.py": [("judge", "eval", "pairs.jsonl", "--judge", "quote")],
}
"""Commands for each module that opens something by itself; all others ask `options.workspace`."""


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Opened]:
    """Give what is opened; whatever would serve it until it is stopped ends at once."""
    found: list[Opened] = []
    made = Opened.__init__

    def noted(self: Opened, *given: Any, **named: Any) -> None:
        made(self, *given, **named)
        found.append(self)

    monkeypatch.setattr(Opened, "__init__", noted)
    monkeypatch.setattr(listening, "listen", lambda *_: None)
    monkeypatch.setattr(anyio, "run", lambda *_: None)
    return found


@pytest.fixture
def say(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have settings say something, in an environment that says nothing else."""

    def told(**given: str) -> None:
        for name, value in given.items():
            monkeypatch.setenv(f"EVIDENTIA_{name}", value)

    return told


@pytest.mark.parametrize("command", [*chain(*OPENING.values())], ids=" ".join)
def test_a_home_that_is_named_wins_over_what_is_said_of_elsewhere(
    filled: Cli,
    folder: Path,
    opened: list[Opened],
    say: Callable[..., None],
    command: tuple[str, ...],
) -> None:
    assert filled("backup", "nightly").code == 0
    trusting = ("--key", filled("keys", "show").out.strip()) if "nightly" in command else ()
    (folder / "pairs.jsonl").write_bytes(ndjson(PAIR))
    (folder / ".evidentia").rename(folder / "named")
    home = folder / ("empty" if command[0] == "restore" else "named")
    say(**ELSEWHERE)
    opened.clear()
    ran = filled(*command, *trusting, "--home", home)
    assert ran.code == 0, ran.err
    assert (home / "evidentia.db").exists()
    for one in opened:
        assert one.database.is_sqlite
        assert (one.lake_address, one.keys_address, one.checkpoints_address) == (None, None, None)
        assert (one.authorizer, one.bulk) == (None, None)
    assert not (folder / "other-keys").exists()
    assert not (folder / ".evidentia").exists()


def test_no_other_module_opens_anything_by_itself() -> None:
    """Whoever adds one adds its commands above."""
    opens = ("open_all(", "open_workspace(", "open_database(", "Home(", "cluster(")
    folder = Path(str(commands.__file__)).parent
    found = {
        one.name for one in folder.glob("*.py") if any(name in one.read_text() for name in opens)
    }
    assert found - {"passphrases.py"} == set(OPENING)  # which goes by what they found


def test_a_home_that_is_named_keeps_a_cluster_of_this_machine(
    filled: Cli, opened: list[Opened], say: Callable[..., None]
) -> None:
    say(RAY="local")
    for command in (("trail", "log"), ("serve", "--port", "0")):
        assert filled(*command, "--home", ".evidentia").code == 0
        assert isinstance(opened[-1].bulk, RayWorkers)
        assert opened[-1].bulk.address == "local"


@pytest.mark.as_owner
def test_what_the_settings_say_reaches_each_command(
    cli: Cli,
    opened: list[Opened],
    say: Callable[..., None],
    postgres_place: Place,
    bucket: Bucket,
) -> None:
    url, kept = str(postgres_place.url), f"s3://{bucket.name}/checkpoints"
    say(
        DATABASE_URL=url,
        DATABASE_READ_URL=f"{url}&application_name=replica",
        LAKE=bucket.url,
        KEYS="other-keys",
        CHECKPOINTS=kept,
        RAY=CLUSTER,
        DATABASE_CONNECTIONS="12",
    )
    Path("records.ndjson").write_bytes(ndjson(record(1)))
    assert cli("trail", "append", "records.ndjson").code == 0
    found = bucket.client().list_objects_v2(Bucket=bucket.name, Prefix="checkpoints/")
    assert found["KeyCount"] > 0
    assert any(Path("other-keys").rglob("*.pem"))
    assert cli("token", "new", "ann").code == 0
    for command in (("trail", "log"), ("serve", "--port", "0"), ("mcp",), ("backup", "new")):
        ran = cli(*command)
        assert ran.code == 0, ran.err
        one = opened[-1]
        assert not one.database.is_sqlite
        assert one.database.replica is not None
        assert one.database.connections == 12
        assert (one.lake_address, one.keys_address) == (bucket.url, "other-keys")
        if command[0] != "backup":  # which keeps none
            assert one.checkpoints_address == kept
        if command[0] in {"trail", "serve"}:
            assert isinstance(one.bulk, RayWorkers)
            assert one.bulk.address == CLUSTER


def test_a_restored_database_is_connected_to_as_the_settings_say(
    filled: Cli,
    say: Callable[..., None],
    postgres: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert filled("backup", "nightly").code == 0
    found: list[ServerOptions | None] = []
    connect = Database.server

    def noted(url: str, options: ServerOptions | None = None) -> Database:
        found.append(options)
        return connect(url, options)

    monkeypatch.setattr(Database, "server", noted)
    say(DATABASE_CONNECTIONS="12", DATABASE_LOCK_SECONDS="7", DATABASE_READ_URL=NOWHERE)
    with postgres.fresh_database("template0") as url:
        assert filled("restore", "nightly", "--to-database", url).code == 0
    assert found == [ServerOptions(connections=12, lock_seconds=7)]


@pytest.mark.parametrize("address", ["auto", "10.0.0.5:6379"])
def test_a_server_is_no_part_of_a_cluster(
    cli: Cli, opened: list[Opened], say: Callable[..., None], address: str
) -> None:
    """Ray ends each process that is, where the cluster does not answer for a minute."""
    say(RAY=address)
    ran = cli("serve", "--port", "0")
    assert (ran.code, "such as ray://host:10001" in " ".join(ran.err.split())) == (2, True), ran.err
    assert [one.bulk for one in opened] == [None]


def test_a_cluster_is_asked_for_what_it_does(
    cli: Cli, folder: Path, say: Callable[..., None]
) -> None:
    say(RAY="127.0.0.1:1")
    (folder / "pairs.jsonl").write_bytes(ndjson(PAIR))
    ran = cli("judge", "eval", "pairs.jsonl", "--judge", "quote")
    assert (ran.code, "ray" in ran.err.lower()) == (3, True), ran.err

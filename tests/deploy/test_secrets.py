"""Secrets lie in files, are made at random, and reach the program from there."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import yaml

import deploying

WITH, NEW = deploying.DEPLOY / "with-secrets", deploying.DEPLOY / "new-secrets"
HARD = 'it\'s "$HOME" `x` \\ é $(id)'
SHOW = "import os, sys; print([os.environ.get(one) for one in sys.argv[1:]])"


def ran(environment: dict[str, str], *names: str) -> "subprocess.CompletedProcess[str]":
    command = [str(WITH), sys.executable, "-c", SHOW, *names]
    plain = {"PATH": os.environ["PATH"], **environment}
    return subprocess.run(command, env=plain, capture_output=True, text=True, check=False)


def test_a_secret_in_a_file_is_given_to_the_program(tmp_path: Path) -> None:
    for name, text in {"password": HARD, "key": "AKIA\n"}.items():
        (tmp_path / name).write_text(text)
    given = {
        "PGPASSWORD_FILE": str(tmp_path / "password"),
        "AWS_ACCESS_KEY_ID_FILE": str(tmp_path / "key"),
    }
    done = ran(given, "PGPASSWORD", "AWS_ACCESS_KEY_ID", "PGPASSWORD_FILE", "AWS_SESSION_TOKEN")
    assert done.stdout == f"{[HARD, 'AKIA', None, None]}\n", done.stderr


def test_without_files_everything_stays_as_it_is() -> None:
    kept = {"PGPASSWORD": "given", "EVIDENTIA_SERVER_SECRET_FILE": "/run/secrets/server-secret"}
    done = ran(kept, *kept)
    assert done.stdout == f"{list(kept.values())}\n"


def test_a_secret_that_cannot_be_read_stops_the_program(tmp_path: Path) -> None:
    done = ran({"PGPASSWORD_FILE": str(tmp_path / "absent")}, "PGPASSWORD")
    assert done.returncode != 0
    assert done.stdout == ""
    assert "absent" in done.stderr


def test_new_secrets_are_random_and_kept(tmp_path: Path) -> None:
    made = {}
    for place in ("one", "two"):
        done = subprocess.run([NEW, tmp_path / place], capture_output=True, text=True, check=True)
        assert done.stdout == done.stderr == ""
        folder = tmp_path / place
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        made[place] = {path.name: path.read_text() for path in folder.iterdir()}
    names = set(made["one"])
    assert names == set(deploying.compose()["secrets"])
    words = [text for place in made.values() for text in place.values() if " " not in text]
    assert len(set(words)) == len(words) == 2 * (len(names) - 2)
    assert all(re.fullmatch(r"[A-Za-z0-9]{43}", word) for word in words)
    subprocess.run([NEW, tmp_path / "one"], check=True)
    assert {path.name: path.read_text() for path in (tmp_path / "one").iterdir()} == made["one"]


def test_a_made_configuration_has_the_secrets_that_were_made(tmp_path: Path) -> None:
    subprocess.run([NEW, tmp_path], check=True)

    def read(name: str) -> str:
        return (tmp_path / name).read_text()

    objects = yaml.safe_load(read("objects.json"))["identities"][0]
    keys = {"accessKey": read("objects-key-id"), "secretKey": read("objects-secret")}
    assert objects["credentials"] == [keys]
    assert "BypassGovernanceRetention" in objects["actions"], "or nothing could be erased by law"
    openfga = yaml.safe_load(read("openfga.yaml"))
    assert f":{read('database-openfga')}@" in openfga["datastore"]["uri"]


def test_secrets_are_left_out_of_the_repository_and_of_images() -> None:
    assert "deploy/secrets/\n" in (deploying.ROOT / ".gitignore").read_text("utf-8")
    let_in = (deploying.ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert let_in[1] == "*"
    assert [one for one in let_in if one.startswith("!deploy")] == ["!deploy/with-secrets"]

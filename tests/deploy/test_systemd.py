"""The systemd units: read and weighed by systemd's own tool."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import deploying

LEAST_SAFE = 2.0
"""What `systemd-analyze security` may say at most, of 10: a server of the network is at 9."""
TOOL = "systemd-analyze"


@pytest.fixture
def tool() -> str:
    found = shutil.which(TOOL)
    if found is None:
        pytest.skip(f"there is no {TOOL}: the units are not read by systemd")
    return found


def installed(folder: Path) -> list[Path]:
    """Return copies of the units that name programs that are there."""
    program = str(deploying.DEPLOY / "with-secrets")
    places = []
    for path in sorted((deploying.DEPLOY / "systemd").glob("*.[st]*e[r]*")):
        if path.suffix in {".service", ".timer"}:
            text = path.read_text("utf-8").replace("/opt/evidentia/bin/with-secrets", program)
            places.append(folder / path.name)
            places[-1].write_text(text)
    return places


def test_systemd_reads_every_unit(tool: str, tmp_path: Path) -> None:
    units = installed(tmp_path)
    assert [one.suffix for one in units] == [".service", ".timer", ".service"]
    done = subprocess.run(
        [tool, "verify", "--man=no", *units], capture_output=True, text=True, check=False
    )
    ours = [line for line in done.stderr.splitlines() if "evidentia" in line]
    assert (done.returncode, ours) == (0, []), done.stderr


def test_a_setting_that_systemd_does_not_know_is_seen(tool: str, tmp_path: Path) -> None:
    """What the test above relies on."""
    unit = next(one for one in installed(tmp_path) if one.name == "evidentia.service")
    unit.write_text(unit.read_text().replace("ProtectSystem=", "ProtectSytem="))
    done = subprocess.run(
        [tool, "verify", "--man=no", unit], capture_output=True, text=True, check=False
    )
    assert "ProtectSytem" in done.stderr


@pytest.mark.parametrize("unit", deploying.UNITS, ids=lambda path: path.name)
def test_a_service_may_do_little(tool: str, unit: Path) -> None:
    command = [tool, "security", "--offline=yes", "--no-pager", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    assert found, done.stderr
    assert float(found[1]) <= LEAST_SAFE


@pytest.mark.parametrize("unit", deploying.UNITS, ids=lambda path: path.name)
def test_every_secret_of_a_unit_is_loaded_and_is_one_that_is_made(unit: Path) -> None:
    loaded = {
        value.partition(":")[0] for name, value in deploying.unit(unit) if name == "LoadCredential"
    }
    named = {
        value.removeprefix("%d/")
        for value in deploying.of_unit(unit).values()
        if value.startswith("%d/")
    }
    assert loaded == named
    assert loaded < set(deploying.compose()["secrets"])
